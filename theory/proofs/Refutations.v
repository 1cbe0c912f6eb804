(** * What is false when peaks may reach the whole memory: R1, R2, and T4 is sharp

    - R1: the constant 5 is false: 13 requests, M = 1176, 689 against 137.
    - R2: no constant holds: for each [c], an instance on which every greedy policy
      (strict or conservative, look-ahead or peak reservation) is worse than [c]
      times a feasible schedule.  No two different requests have the same volume, so
      ties play no part.
    - R2': the order sqrt M of T4 is right: for each [b], all volumes equal to
      [M = b (2 b + 3)], strict policies have ratio at least (6 b + 5) / 9. *)

Require Import Arith Lia Bool List.
Require Import Sums Model Policies.
Import ListNotations.

(** Case analysis on everything that [held] depends on. *)
Ltac held_cases :=
  unfold held, active in *;
  repeat match goal with
  | |- context [?a <=? ?b] => destruct (Nat.leb_spec a b)
  | |- context [?a <? ?b] => destruct (Nat.ltb_spec a b)
  end; cbn [andb prompt output] in *.

(** A request that asks for all the memory for one step does not fit beside anything. *)
Lemma one_active_blocks M u q t k T i : sound u -> i < k -> active (q i) (t i) T = true ->
  1 <= output (q k) -> M <= prompt (q k) + 1 -> ~ fits M u q t k T.
Proof.
  intros S Hi Ha Ho Hp F. specialize (F T ltac:(lia) ltac:(lia)).
  pose proof (sum_term k (fun i => u (q i) (t i) T) i Hi) as X. cbv beta in X.
  destruct (S (q i) (t i) T) as [A _]. destruct (S (q k) T T) as [B _].
  unfold held in A, B. rewrite Ha in A.
  replace (active (q k) T T) with true in B by (symmetry; apply active_spec; lia).
  unfold charged in F. apply active_spec in Ha. lia.
Qed.

(** ** R1 *)
Section R1.
Let q (i : nat) : request := match i with 0 => Req 1 47 | _ => Req 1175 1 end.
Let t' (i : nat) : nat := match i with 0 => 12 | S j => j end.

Lemma R1_svf : latency 13 q (run 1176 held q true) = 689.
Proof. vm_compute. reflexivity. Qed.
Lemma R1_other : latency 13 q t' = 137.
Proof. reflexivity. Qed.

Theorem R1 : exists M n q t t',
  volume_sorted n q /\ (forall i, i < n -> 1 <= prompt (q i) /\ 1 <= output (q i) /\ peak (q i) <= M)
  /\ strict M n held q t /\ feasible M n q t' /\ 5 * latency n q t' < latency n q t.
Proof.
  exists 1176, 13, q, (run 1176 held q true), t'.
  assert (PK : forall i, i < 13 -> 1 <= prompt (q i) /\ 1 <= output (q i) /\ peak (q i) <= 1176).
  { intros [|i] _; unfold peak; cbn; lia. }
  split; [|split; [exact PK|split; [|split]]].
  - intros [|i] [|j] Hij _; try lia; apply Nat.leb_le; vm_compute; reflexivity.
  - apply run_strict; [apply held_sound|intros; apply PK; assumption|reflexivity].
  - intros T. destruct (Nat.le_gt_cases 60 T) as [L|L].
    + unfold memory. rewrite sum_zero; [lia|]. intros i Hi.
      unfold held. replace (active (q i) (t' i) T) with false; [reflexivity|].
      symmetry. apply inactive_spec. destruct i; cbn [q t' output]; lia.
    + assert (C : forallb (fun T => memory q t' 13 T <=? 1176) (seq 0 60) = true)
        by (vm_compute; reflexivity).
      rewrite forallb_forall in C. apply Nat.leb_le, C, in_seq. lia.
  - rewrite R1_svf, R1_other. lia.
Qed.
End R1.

(** ** R2: one long thin request, then [c] requests that need all the memory *)
Section R2.
Variable c : nat.
Definition r2_L := c * (c * (c + 1) + c) + 1.
Definition r2_M := r2_L * (r2_L + 3) / 2 + 1.
Definition r2_q (i : nat) : request := match i with 0 => Req 1 r2_L | _ => Req (r2_M - 1) 1 end.
(** Every greedy policy. *)
Definition r2_t (i : nat) : nat := match i with 0 => 0 | S j => r2_L + j end.
(** The large ones first. *)
Definition r2_t' (i : nat) : nat := match i with 0 => c | S j => j end.

Lemma r2_long : 1 <= r2_L /\ volume (r2_q 0) = r2_M - 1 /\ r2_L + 1 < r2_M.
Proof.
  assert (HL : 1 <= r2_L) by (unfold r2_L; lia). split; [exact HL|].
  pose proof (volume_double (r2_q 0)) as V. cbn [r2_q prompt output] in V.
  assert (E : 2 * volume (r2_q 0) = r2_L * (r2_L + 3)) by (cbn [r2_q]; nia).
  unfold r2_M. rewrite <- E, Nat.mul_comm, Nat.div_mul by lia. split; [lia|].
  cbn [r2_q]. nia.
Qed.

Lemma r2_short j : volume (r2_q (S j)) = r2_M.
Proof. pose proof r2_long. unfold volume. cbn. lia. Qed.

Lemma r2_no_earlier u k T : sound u -> T < r2_t k -> ~ fits r2_M u r2_q r2_t k T.
Proof.
  pose proof r2_long. intros S HT. destruct k as [|k]; cbn [r2_t] in HT; [lia|].
  assert (exists i, i < Datatypes.S k /\ active (r2_q i) (r2_t i) T = true) as [i [Hi Ha]].
  { destruct (Nat.le_gt_cases r2_L T).
    - exists (Datatypes.S (T - r2_L)). split; [lia|]. apply active_spec. cbn [r2_q r2_t output]. lia.
    - exists 0. split; [lia|]. apply active_spec. cbn [r2_q r2_t output]. lia. }
  apply (one_active_blocks _ _ _ _ _ _ i); auto; cbn [r2_q prompt output]; lia.
Qed.

Lemma r2_fits u k : sound u -> fits r2_M u r2_q r2_t k (r2_t k).
Proof.
  pose proof r2_long. intros S x A B.
  unfold charged. rewrite sum_zero.
  - pose proof (sound_peak u (r2_q k) (r2_t k) x S) as U. unfold peak in U.
    destruct k; cbn [r2_q prompt output] in *; lia.
  - intros i Hi. apply sound_inactive; [exact S|]. apply inactive_spec.
    destruct k as [|k]; [lia|]. destruct i as [|i]; cbn [r2_q r2_t output] in *; lia.
Qed.

Lemma r2_feasible : feasible r2_M (S c) r2_q r2_t'.
Proof.
  pose proof r2_long. intros T. unfold memory. rewrite sum_head.
  destruct (Nat.le_gt_cases c T).
  - rewrite sum_zero.
    + cbn [r2_q r2_t']. held_cases; lia.
    + intros j Hj. cbn [r2_q r2_t']. held_cases; lia.
  - pose proof (sum_support c (fun j => held (r2_q (S j)) (r2_t' (S j)) T) [T]) as X.
    cbn [fold_right] in X. etransitivity; [apply Nat.add_le_mono_l, X|].
    + intros j Hj HI. assert (j <> T) by (intros ->; apply HI; left; reflexivity).
      cbn [r2_q r2_t']. held_cases; lia.
    + cbn [r2_q r2_t']. held_cases; lia.
Qed.

Lemma r2_latencies : c * latency (S c) r2_q r2_t' < latency (S c) r2_q r2_t.
Proof.
  unfold latency. rewrite !sum_head. cbn [r2_q r2_t r2_t' output].
  assert (E : \sum_(j < c) (r2_L + j + 1) = c * r2_L + \sum_(j < c) (j + 1)).
  { rewrite <- sum_const, <- sum_plus. apply sum_ext; intros; lia. }
  rewrite E.
  assert (Q : \sum_(j < c) (j + 1) <= c * (c + 1)).
  { transitivity (\sum_(j < c) (c + 1)); [apply sum_le; intros; lia|rewrite sum_const; lia]. }
  assert (c * (\sum_(j < c) (j + 1)) <= c * (c * (c + 1))) by (apply Nat.mul_le_mono_l; exact Q).
  unfold r2_L. lia.
Qed.

Theorem R2 : exists M n q t t',
  (forall i j, i < j -> j < n -> volume (q i) < volume (q j) \/ (volume (q i) <= volume (q j) /\ q i = q j))
  /\ (forall i, i < n -> 1 <= prompt (q i) /\ 1 <= output (q i) /\ peak (q i) <= M)
  /\ (forall u, sound u -> strict M n u q t /\ conservative M n u q t)
  /\ feasible M n q t' /\ c * latency n q t' < latency n q t.
Proof.
  pose proof r2_long. exists r2_M, (S c), r2_q, r2_t, r2_t'.
  split; [|split; [|split; [|split; [exact r2_feasible|exact r2_latencies]]]].
  - intros [|i] [|j] Hij _; rewrite ?r2_short; [lia|left; lia|lia|right; split; [lia|reflexivity]].
  - intros [|i] _; unfold peak; cbn [r2_q prompt output]; lia.
  - intros u S. split; intros k Hk.
    + split; [|split; [apply r2_fits, S|]].
      * intros i Hi. destruct i, k; cbn [r2_t]; lia.
      * intros T HT _. apply r2_no_earlier; assumption.
    + split; [apply r2_fits, S|]. intros T HT. apply r2_no_earlier; assumption.
Qed.
End R2.

(** ** R2': long thin requests and requests that need all the memory, alternating *)
Section R2'.
Variable b : nat.
Hypothesis b_pos : 1 <= b.
Let M := b * (2 * b + 3).
Let q (i : nat) : request := if Nat.even i then Req 1 (2 * b) else Req (M - 1) 1.
(** Strict admission runs them one after the other. *)
Let t (i : nat) : nat := i / 2 * (2 * b + 1) + (if Nat.even i then 0 else 2 * b).
(** Better: the large ones first, then the thin ones in three batches. *)
Let batch (j : nat) : nat := if j <? b then 0 else if j <? 2 * b then 2 * b else 4 * b.
Let t' (i : nat) : nat := if Nat.even i then 3 * b + batch (i / 2) else i / 2.

Lemma r2'_even j : q (2 * j) = Req 1 (2 * b) /\ t (2 * j) = j * (2 * b + 1)
  /\ t' (2 * j) = 3 * b + batch j.
Proof.
  unfold q, t, t'. replace (Nat.even (2 * j)) with true by (symmetry; apply Nat.even_spec; exists j; lia).
  rewrite (Nat.mul_comm 2 j), Nat.div_mul by lia. repeat split; lia.
Qed.
Lemma r2'_odd j : q (2 * j + 1) = Req (M - 1) 1 /\ t (2 * j + 1) = j * (2 * b + 1) + 2 * b
  /\ t' (2 * j + 1) = j.
Proof.
  unfold q, t, t'. replace (Nat.even (2 * j + 1)) with false.
  2:{ symmetry. rewrite <- Nat.negb_odd. apply negb_false_iff, Nat.odd_spec. exists j; lia. }
  replace ((2 * j + 1) / 2) with j; [repeat split; lia|].
  apply (Nat.div_unique _ _ _ 1); lia.
Qed.
Lemma parity i : exists j, i = 2 * j \/ i = 2 * j + 1.
Proof. destruct (Nat.Even_or_Odd i) as [[j E]|[j E]]; exists j; auto. Qed.

Lemma r2'_M : 2 * b + 1 < M.
Proof. unfold M. nia. Qed.

Lemma r2'_volume i : volume (q i) = M.
Proof.
  pose proof r2'_M. destruct (parity i) as [j [->| ->]].
  - destruct (r2'_even j) as [-> _]. pose proof (volume_double (Req 1 (2 * b))) as V.
    cbn [prompt output] in V. unfold M. lia.
  - destruct (r2'_odd j) as [-> _]. unfold volume. cbn [prompt output sum]. lia.
Qed.

(** Each request starts when the one before it completes. *)
Lemma r2'_serial i : t (S i) = t i + output (q i).
Proof.
  destruct (parity i) as [j [->| ->]].
  - replace (S (2 * j)) with (2 * j + 1) by lia. destruct (r2'_even j) as [-> [-> _]].
    destruct (r2'_odd j) as [_ [-> _]]. reflexivity.
  - replace (S (2 * j + 1)) with (2 * (S j)) by lia. destruct (r2'_odd j) as [-> [-> _]].
    destruct (r2'_even (S j)) as [_ [-> _]]. cbn [output]. lia.
Qed.
Lemma r2'_after i k : i < k -> t i + output (q i) <= t k.
Proof. induction 1 as [|k H IH]; [rewrite r2'_serial; lia|]. rewrite r2'_serial. lia. Qed.

Lemma r2'_peak i : 1 <= prompt (q i) /\ 1 <= output (q i) /\ peak (q i) <= M.
Proof.
  pose proof r2'_M. unfold peak. destruct (parity i) as [j [->| ->]].
  - destruct (r2'_even j) as [-> _]. cbn. lia.
  - destruct (r2'_odd j) as [-> _]. cbn [prompt output]. lia.
Qed.

Lemma r2'_blocked u k T : sound u -> T < t (S k) -> t k <= T -> ~ fits M u q t (S k) T.
Proof.
  pose proof r2'_M. intros S HT HT'. rewrite r2'_serial in HT.
  assert (Ha : active (q k) (t k) T = true) by (apply active_spec; lia).
  destruct (parity k) as [j [->| ->]].
  - apply (one_active_blocks _ _ _ _ _ _ (2 * j)); [exact S|lia|exact Ha| |];
      replace (Datatypes.S (2 * j)) with (2 * j + 1) by lia;
      destruct (r2'_odd j) as [-> _]; cbn [prompt output]; lia.
  - intros F. specialize (F T ltac:(lia)).
    destruct (r2'_peak (Datatypes.S (2 * j + 1))) as [_ [Ho _]]. specialize (F ltac:(lia)).
    pose proof (sum_term (Datatypes.S (2 * j + 1)) (fun i => u (q i) (t i) T) (2 * j + 1) ltac:(lia)) as X.
    cbv beta in X. destruct (S (q (2 * j + 1)) (t (2 * j + 1)) T) as [A _].
    destruct (S (q (Datatypes.S (2 * j + 1))) T T) as [B _].
    unfold held in A, B. rewrite Ha in A.
    replace (active (q (Datatypes.S (2 * j + 1))) T T) with true in B
      by (symmetry; apply active_spec; lia).
    assert (E : prompt (q (2 * j + 1)) = M - 1)
      by (destruct (r2'_odd j) as [-> _]; reflexivity).
    rewrite E in A. destruct (r2'_peak (Datatypes.S (2 * j + 1))) as [Hp _].
    unfold charged in F. lia.
Qed.

Lemma r2'_strict u : sound u -> strict M (2 * (3 * b)) u q t.
Proof.
  intros S k Hk. split; [|split].
  - intros i Hi. pose proof (r2'_after i k Hi). lia.
  - apply (fits_idle M u q S (Datatypes.S k)); [|lia|].
    + intros i _. apply r2'_peak.
    + intros i Hi. apply r2'_after. lia.
  - intros T HT Hle. destruct k as [|k].
    + assert (E : t 0 = 0) by reflexivity. lia.
    + apply r2'_blocked; auto.
Qed.

Lemma r2'_feasible : feasible M (2 * (3 * b)) q t'.
Proof.
  pose proof r2'_M. intros T. unfold memory. rewrite sum_pairs.
  rewrite (sum_ext _ _ (fun j => held (Req 1 (2 * b)) (3 * b + batch j) T + held (Req (M - 1) 1) j T)).
  2:{ intros j _. destruct (r2'_even j) as [-> [_ ->]]. destruct (r2'_odd j) as [-> [_ ->]]. reflexivity. }
  rewrite sum_plus. destruct (Nat.le_gt_cases (3 * b) T) as [L|L].
  - rewrite (sum_zero _ (fun j => held (Req (M - 1) 1) j T)) by (intros; held_cases; lia).
    set (g := if T <? 5 * b then 0 else if T <? 7 * b then b else 2 * b).
    transitivity (\sum_(j < 3 * b) ((2 * b + 1) * \1((g <=? j) && (j <? g + b))) + 0).
    + apply Nat.add_le_mono_r, sum_le; intros j Hj. unfold batch, g.
      destruct (Nat.ltb_spec j b), (Nat.ltb_spec j (2 * b)), (Nat.ltb_spec T (5 * b)),
        (Nat.ltb_spec T (7 * b)); held_cases; cbn [Nat.b2n andb]; lia.
    + rewrite sum_scal. pose proof (interval_slots g (g + b) (3 * b)).
      replace (g + b - g) with b in * by lia. unfold M. nia.
  - rewrite (sum_zero _ (fun j => held (Req 1 (2 * b)) (3 * b + batch j) T)) by (intros; held_cases; lia).
    pose proof (sum_support (3 * b) (fun j => held (Req (M - 1) 1) j T) [T]) as X.
    cbn [fold_right] in X. etransitivity; [apply Nat.add_le_mono_l, X|].
    + intros j Hj HI. assert (j <> T) by (intros ->; apply HI; left; reflexivity). held_cases; lia.
    + held_cases; lia.
Qed.

Lemma r2'_sum_id m : 2 * (\sum_(j < m) j) + m = m * m.
Proof. induction m as [|m IH]; cbn [sum]; [reflexivity|]. nia. Qed.

Lemma r2'_svf : latency (2 * (3 * b)) q t = 3 * b * b * (6 * b + 5).
Proof.
  unfold latency. rewrite sum_pairs.
  rewrite (sum_ext _ _ (fun j => (4 * b + 2) * j + (4 * b + 1))).
  2:{ intros j _. destruct (r2'_even j) as [-> [-> _]]. destruct (r2'_odd j) as [-> [-> _]].
      cbn [output]. lia. }
  rewrite sum_plus, sum_scal, sum_const. pose proof (r2'_sum_id (3 * b)).
  change (sum (3 * b) (fun j => j)) with (\sum_(j < 3 * b) j).
  set (z := \sum_(j < 3 * b) j) in *. clearbody z. nia.
Qed.

Lemma r2'_other : latency (2 * (3 * b)) q t' <= 27 * b * b.
Proof.
  unfold latency. rewrite sum_pairs.
  rewrite (sum_ext _ _ (fun j => batch j + (j + (5 * b + 1)))).
  2:{ intros j _. destruct (r2'_even j) as [-> [_ ->]]. destruct (r2'_odd j) as [-> [_ ->]].
      cbn [output]. lia. }
  rewrite sum_plus.
  assert (B : sum (3 * b) batch = 6 * b * b).
  { assert (C : forall x c, (forall j, j < b -> batch (x + j) = c) -> \sum_(j < b) batch (x + j) = b * c).
    { intros x c H. rewrite <- sum_const. apply sum_ext. exact H. }
    replace (3 * b) with (b + (b + b)) by lia.
    rewrite (sum_add b (b + b) batch), (sum_add b b (fun j => batch (b + j))).
    rewrite (C b (2 * b)).
    2:{ intros j Hj. unfold batch. destruct (Nat.ltb_spec (b + j) b), (Nat.ltb_spec (b + j) (2 * b)); lia. }
    rewrite (sum_ext b (fun j => batch (b + (b + j))) (fun j => batch (2 * b + j)))
      by (intros; f_equal; lia).
    rewrite (C (2 * b) (4 * b)).
    2:{ intros j Hj. unfold batch.
        destruct (Nat.ltb_spec (2 * b + j) b), (Nat.ltb_spec (2 * b + j) (2 * b)); lia. }
    rewrite (sum_zero b batch); [lia|].
    intros j Hj. unfold batch. destruct (Nat.ltb_spec j b); lia. }
  rewrite sum_plus, sum_const. pose proof (r2'_sum_id (3 * b)).
  rewrite B.
  change (sum (3 * b) (fun j => j)) with (\sum_(j < 3 * b) j).
  set (z := \sum_(j < 3 * b) j) in *. clearbody z. nia.
Qed.

Theorem R2_sqrt : exists n q t t',
  (forall i, volume (q i) = b * (2 * b + 3))
  /\ (forall i, 1 <= prompt (q i) /\ 1 <= output (q i) /\ peak (q i) <= b * (2 * b + 3))
  /\ (forall u, sound u -> strict (b * (2 * b + 3)) n u q t)
  /\ feasible (b * (2 * b + 3)) n q t'
  /\ 0 < latency n q t' /\ (6 * b + 5) * latency n q t' <= 9 * latency n q t.
Proof.
  exists (2 * (3 * b)), q, t, t'.
  split; [exact r2'_volume|split; [exact r2'_peak|split; [exact r2'_strict|split; [exact r2'_feasible|split]]]].
  - pose proof (sum_term (2 * (3 * b)) (fun i => t' i + output (q i)) 0 ltac:(lia)) as X.
    destruct (r2'_peak 0) as [_ [Ho _]]. unfold latency. cbv beta in X. lia.
  - rewrite r2'_svf. pose proof r2'_other. nia.
Qed.
End R2'.
