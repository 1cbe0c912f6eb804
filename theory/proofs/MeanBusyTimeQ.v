(** * L3 in rationals

      [OPT >= (1 / M) sum_k (V_(k-1) + v_k / 2) + sum_k d_k],
      [d = (6 s o^2 + o (o + 1) (2 o + 1)) / (12 v)],

    requests in ascending volume order, [V_(k-1)] the volume of those before [k]. *)

Require Import Arith Lia QArith.
Require Import Sums Model MeanBusyTime.
Local Open Scope nat_scope.
Delimit Scope Q_scope with Q.

Definition nat_to_Q (x : nat) : Q := inject_Z (Z.of_nat x).
Arguments nat_to_Q _%nat_scope.

Fixpoint qsum (n : nat) (f : nat -> Q) : Q :=
  match n with 0 => 0%Q | S m => (qsum m f + f m)%Q end.

(** The lag between mean busy time and completion. *)
Definition lag_Q (r : request) : Q :=
  (nat_to_Q (6 * prompt r * output r * output r + output r * (output r + 1) * (2 * output r + 1))
   / nat_to_Q (12 * volume r))%Q.

Lemma nat_to_Q_add a b : (nat_to_Q (a + b) == nat_to_Q a + nat_to_Q b)%Q.
Proof. unfold nat_to_Q. rewrite Nat2Z.inj_add, inject_Z_plus. reflexivity. Qed.
Lemma nat_to_Q_mul a b : (nat_to_Q (a * b) == nat_to_Q a * nat_to_Q b)%Q.
Proof. unfold nat_to_Q. rewrite Nat2Z.inj_mul, inject_Z_mult. reflexivity. Qed.
Lemma nat_to_Q_le a b : (a <= b) -> (nat_to_Q a <= nat_to_Q b)%Q.
Proof. intros H. unfold nat_to_Q. rewrite <- Zle_Qle. lia. Qed.
Lemma nat_to_Q_pos a : (1 <= a) -> (0 < nat_to_Q a)%Q.
Proof. intros H. unfold nat_to_Q. change 0%Q with (inject_Z 0). rewrite <- Zlt_Qlt. lia. Qed.
Lemma nonzero a : (1 <= a) -> ~ (nat_to_Q a == 0)%Q.
Proof. intros H E. pose proof (nat_to_Q_pos a H) as P. rewrite E in P. discriminate P. Qed.

(** lag / (2 v), written with the weight w = K / v, is w lag / (2 K). *)
Lemma lag_Q_weight r K w : (1 <= output r) -> (1 <= K) -> (w * volume r = K) ->
  (lag_Q r == nat_to_Q (w * lag r) / nat_to_Q (2 * K))%Q.
Proof.
  intros Ho HK Hw. pose proof (volume_pos r Ho) as V. pose proof (nonzero _ V) as V'.
  assert (W : (1 <= w)) by (destruct w; lia). pose proof (nonzero _ W) as W'.
  unfold lag_Q. rewrite <- lag_closed, <- Hw. rewrite !nat_to_Q_mul.
  change (nat_to_Q 6) with (6#1). change (nat_to_Q 12) with (12#1). change (nat_to_Q 2) with (2#1).
  field. split; assumption.
Qed.

Theorem L3_rational M n q t : (1 <= M) -> (forall i, (i < n) -> (1 <= output (q i))) ->
  volume_sorted n q -> feasible M n q t ->
  (nat_to_Q (\sum_(k < n) (2 * volume_before q k + volume (q k))%nat) / nat_to_Q (2 * M)
   + qsum n (fun k => lag_Q (q k))
   <= nat_to_Q (latency n q t))%Q.
Proof.
  intros HM Ho HS F. destruct (weights_exist n q Ho) as [K [w [HK Hw]]].
  pose proof (L3_weighted M n q t K w HS F Hw) as G.
  assert (E : (qsum n (fun k => lag_Q (q k))
    == nat_to_Q (\sum_(k < n) (w k * lag (q k))%nat) / nat_to_Q (2 * K))%Q).
  { pose proof (nonzero (2 * K) ltac:(lia)) as K2.
    assert (D : forall m, m <= n -> (qsum m (fun k => lag_Q (q k))
      == nat_to_Q (\sum_(k < m) (w k * lag (q k))%nat) / nat_to_Q (2 * K))%Q).
    { induction m as [|m IH]; intros Hm; cbn [qsum sum].
      - change (nat_to_Q 0) with 0%Q. field. exact K2.
      - rewrite IH by lia. rewrite (lag_Q_weight (q m) K (w m)), nat_to_Q_add; [field; exact K2|..];
          [apply Ho; lia|exact HK|apply Hw; lia]. }
    apply D. lia. }
  rewrite E. apply nat_to_Q_le in G. rewrite nat_to_Q_add, !nat_to_Q_mul in G.
  set (A := nat_to_Q (\sum_(k < n) (2 * volume_before q k + volume (q k)))) in *.
  set (W := nat_to_Q (\sum_(k < n) (w k * lag (q k)))) in *.
  set (L := nat_to_Q (latency n q t)) in *.
  rewrite !nat_to_Q_mul. pose proof (nat_to_Q_pos K HK) as PK. pose proof (nat_to_Q_pos M HM) as PM.
  set (k := nat_to_Q K) in *. set (m := nat_to_Q M) in *. change (nat_to_Q 2) with (2#1) in *.
  assert (NK : ~ (k == 0)%Q) by (intros Z; rewrite Z in PK; discriminate PK).
  assert (NM : ~ (m == 0)%Q) by (intros Z; rewrite Z in PM; discriminate PM).
  assert (PP : (0 < (2#1) * m * k)%Q).
  { apply Qmult_lt_0_compat; [apply Qmult_lt_0_compat; [reflexivity|exact PM]|exact PK]. }
  apply Qmult_le_l with (z := ((2#1) * m * k)%Q); [exact PP|].
  setoid_replace ((2#1) * m * k * (A / ((2#1) * m) + W / ((2#1) * k)))%Q with (k * A + m * W)%Q
    by (field; split; assumption).
  exact G.
Qed.
