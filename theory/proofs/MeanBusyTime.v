(** * The mean-busy-time lower bound: L3

    The mean busy time of request [k] is
      [B_k = (1 / v_k) * sum over slots T of (T + 1/2) * held_k (T)].
    Its completion time is [C_k = B_k + d_k] exactly, with
      [d_k = (1 / v_k) * sum over j = 1 .. o_k of (s_k + j) (o_k - j + 1/2)].
    Since at most [M] tokens are held per slot, the mean busy times of any feasible
    schedule satisfy [sum B_k >= (1 / M) sum (V_(k-1) + v_k / 2)], requests taken in
    ascending order of volume.  Hence
      [OPT >= (1 / M) sum (V_(k-1) + v_k / 2) + sum d_k].
   To stay with natural numbers we multiply by a common multiple [K] of the
    volumes: [w_k = K / v_k]; [MeanBusyTimeQ.v] restates the bound in rationals. *)

Require Import Arith Lia Bool.
Require Import Sums Model.

(** [moment = 2 v B] and [lag = 2 v d]. *)
Definition moment (r : request) (t H : nat) := \sum_(T < H) ((2 * T + 1) * held r t T).
Definition lag (r : request) :=
  \sum_(j < output r) ((prompt r + S j) * (2 * (output r - S j) + 1)).

(** Closed form: 12 v d = 6 s o^2 + o (o + 1) (2 o + 1). *)
Lemma lag_closed_aux s m :
  6 * (\sum_(j < m) ((s + S j) * (2 * (m - S j) + 1))) = 6 * s * m * m + m * (m + 1) * (2 * m + 1).
Proof.
  induction m as [|m IH]; [cbn [sum]; lia|]. cbn [sum].
  rewrite (sum_ext m _ (fun j => (s + S j) * (2 * (m - S j) + 1) + 2 * (s + S j))).
  2:{ intros j Hj. replace (S m - S j) with (m - S j + 1) by lia. lia. }
  rewrite sum_plus, sum_scal, sum_plus, sum_const. pose proof (sum_S_double m).
  replace (S m - S m) with 0 by lia. nia.
Qed.

Lemma lag_closed r :
  6 * lag r = 6 * prompt r * output r * output r + output r * (output r + 1) * (2 * output r + 1).
Proof. apply lag_closed_aux. Qed.

(** d >= o / 3 + 1 / 6, with equality when the prompt is empty. *)
Lemma lag_third r : (2 * output r + 1) * volume r <= 3 * lag r.
Proof.
  pose proof (lag_closed r) as A. pose proof (volume_double r) as B.
  destruct r as [s [|o]]; cbn [prompt output] in *; [lia|].
  assert (0 <= s * S o * o) by lia. nia.
Qed.

Lemma lag_third_tight r : prompt r = 0 -> (2 * output r + 1) * volume r = 3 * lag r.
Proof.
  intros E. pose proof (lag_closed r) as A. pose proof (volume_double r) as B.
  rewrite E in A, B. nia.
Qed.

(** A weighted sum over time of the memory held is a sum over the steps of the
    request. *)
Lemma held_weighted (g : nat -> nat) r t H : t + output r <= H ->
  \sum_(T < H) (g T * held r t T) = \sum_(j < output r) (g (t + j) * (prompt r + S j)).
Proof.
  intros HH. replace H with (t + (output r + (H - t - output r))) by lia.
  rewrite sum_add, sum_add.
  rewrite (sum_zero t), (sum_zero (H - t - output r)).
  - rewrite Nat.add_0_l, Nat.add_0_r. apply sum_ext; intros j Hj. unfold held.
    replace (active r t (t + j)) with true by (symmetry; apply active_spec; lia).
    replace (t + j - t) with j by lia. reflexivity.
  - intros j _. unfold held.
    replace (active r t _) with false by (symmetry; apply inactive_spec; lia). lia.
  - intros j Hj. unfold held.
    replace (active r t _) with false by (symmetry; apply inactive_spec; lia). lia.
Qed.

(** C_k = B_k + d_k, multiplied by 2 v_k. *)
Lemma moment_lag r t H : t + output r <= H ->
  moment r t H + lag r = 2 * (t + output r) * volume r.
Proof.
  intros HH. unfold moment, lag, volume.
  rewrite (held_weighted (fun T => 2 * T + 1)) by exact HH.
  rewrite <- sum_plus, <- sum_scal. apply sum_ext; intros j Hj. nia.
Qed.

Section PairForm.
Variables (M n : nat) (q : requests) (t : starts) (H : nat).
Local Notation use i T := (held (q i) (t i) T).

(** How much of [i] lies before [k]: each token-step of [k] counts, twice, the
    token-steps of [i] before it (simultaneous ones once). *)
Definition before i k := \sum_(T < H) (use k T * (2 * (\sum_(U < T) use i U) + use i T)).

Lemma before_exchange i k :
  before i k + before k i = 2 * ((\sum_(T < H) use i T) * (\sum_(T < H) use k T)).
Proof.
  unfold before. induction H as [|h IH]; [reflexivity|]. cbn [sum]. nia.
Qed.

(** At most [M (2 T + 1)] doubled token-steps lie before the middle of slot [T]. *)
Lemma before_moment k : feasible M n q t ->
  \sum_(i < n) before i k <= M * moment (q k) (t k) H.
Proof.
  intros F. unfold before, moment. rewrite sum_swap, <- sum_scal. apply sum_le; intros T HT.
  assert (A : \sum_(i < n) (2 * (\sum_(U < T) use i U) + use i T) <= M * (2 * T + 1)).
  { rewrite sum_plus, sum_scal, sum_swap. pose proof (F T) as FT. unfold memory in FT.
    assert (B : \sum_(U < T) \sum_(i < n) use i U <= \sum_(U < T) M)
      by (apply sum_le; intros; apply F).
    rewrite sum_const in B. nia. }
  rewrite sum_scal. nia.
Qed.
End PairForm.

Section MeanBusyTime.
Variables (M n : nat) (q : requests).

(** Integer weights [w_k = K / v_k] exist. *)
Lemma weights_exist : (forall i, i < n -> 1 <= output (q i)) ->
  exists K (w : nat -> nat), 1 <= K /\ forall k, k < n -> w k * volume (q k) = K.
Proof.
  intros Hpos. assert (D : forall m, m <= n -> exists K (w : nat -> nat),
    1 <= K /\ forall k, k < m -> w k * volume (q k) = K).
  { induction m as [|m IH]; intros Hm. { exists 1, (fun _ => 0). split; [lia|intros; lia]. }
    destruct (IH ltac:(lia)) as [K [w [HK Hw]]].
    exists (K * volume (q m)), (fun k => if k =? m then K else w k * volume (q m)). split.
    - pose proof (volume_pos (q m) (Hpos m ltac:(lia))). nia.
    - intros k Hk. destruct (Nat.eqb_spec k m); [subst; lia|].
      rewrite <- (Hw k) by lia. lia. }
  apply D; lia.
Qed.

(** Pair by pair: with weights 1/v, the pair {i, k} contributes at least twice the
    smaller volume. *)
Lemma weighted_pair K wi wk vi vk bik bki :
  wi * vi = K -> wk * vk = K -> bik + bki = 2 * (vi * vk) ->
  2 * K * Nat.min vi vk <= wk * bik + wi * bki.
Proof.
  intros Hi Hk B.
  destruct (Nat.le_ge_cases vi vk) as [L|L].
  - rewrite Nat.min_l by exact L.
    assert (wk * bki <= wi * bki \/ vi * vk = 0) as [W|W] by (destruct (Nat.le_gt_cases wk wi); nia).
    + assert (E : wk * (bik + bki) = 2 * K * vi) by (rewrite B, <- Hk; ring). nia.
    + nia.
  - rewrite Nat.min_r by exact L.
    assert (wi * bik <= wk * bik \/ vi * vk = 0) as [W|W] by (destruct (Nat.le_gt_cases wi wk); nia).
    + assert (E : wi * (bik + bki) = 2 * K * vk) by (rewrite B, <- Hi; ring). nia.
    + nia.
Qed.

(** L3, exact, for any numbering of the requests. *)
Theorem L3_pairs t K w : feasible M n q t ->
  (forall k, k < n -> w k * volume (q k) = K) ->
  K * (\sum_(k < n) (2 * (\sum_(i < k) Nat.min (volume (q i)) (volume (q k))) + volume (q k)))
  + M * (\sum_(k < n) (w k * lag (q k)))
  <= 2 * M * K * latency n q t.
Proof.
  intros F Hw.
  destruct (bounded_by n (fun k => t k + output (q k))) as [H HH].
  assert (A : K * (\sum_(k < n) (2 * (\sum_(i < k) Nat.min (volume (q i)) (volume (q k))) + volume (q k)))
    <= \sum_(k < n) \sum_(i < n) (w k * before q t H i k)).
  { rewrite (sum_square n (fun k i => w k * before q t H i k)), <- sum_scal.
    apply sum_le; intros k Hk.
    assert (V : forall i, i < n -> \sum_(T < H) held (q i) (t i) T = volume (q i))
      by (intros; apply held_total, HH; assumption).
    assert (D : w k * before q t H k k = K * volume (q k)).
    { pose proof (before_exchange q t H k k) as X. rewrite !V in X by exact Hk.
      rewrite <- (Hw k Hk). nia. }
    assert (P : 2 * K * (\sum_(i < k) Nat.min (volume (q i)) (volume (q k)))
      <= \sum_(i < k) (w i * before q t H k i + w k * before q t H i k)).
    { rewrite <- sum_scal. apply sum_le; intros i Hi.
      pose proof (before_exchange q t H i k) as X. rewrite !V in X by lia.
      rewrite (Nat.add_comm (w i * _)). apply weighted_pair; [apply Hw; lia|apply Hw; lia|exact X]. }
    lia. }
  etransitivity; [apply Nat.add_le_mono_r, A|].
  unfold latency. rewrite <- !sum_scal, <- sum_plus. apply sum_le; intros k Hk.
  rewrite sum_scal.
  pose proof (before_moment M n q t H k F) as B.
  pose proof (moment_lag (q k) (t k) H (HH k Hk)) as E.
  transitivity (M * (w k * (moment (q k) (t k) H + lag (q k)))).
  - rewrite Nat.mul_add_distr_l. nia.
  - rewrite E, <- (Hw k Hk). nia.
Qed.

(** L3 in ascending volume order, exact. *)
Theorem L3_weighted t K w : volume_sorted n q -> feasible M n q t ->
  (forall k, k < n -> w k * volume (q k) = K) ->
  K * (\sum_(k < n) (2 * volume_before q k + volume (q k))) + M * (\sum_(k < n) (w k * lag (q k)))
  <= 2 * M * K * latency n q t.
Proof.
  intros HS F Hw. etransitivity; [|apply (L3_pairs t K w F Hw)].
  apply Nat.add_le_mono_r, Nat.mul_le_mono_l, sum_le; intros k Hk.
  apply Nat.add_le_mono_r, Nat.mul_le_mono_l. unfold volume_before.
  apply sum_le; intros i Hi. specialize (HS i k). lia.
Qed.

(** L3 with d >= o / 3 + 1 / 6, multiplied by 6 M:
    6 M OPT >= sum (6 V_(k-1) + 3 v_k) + M sum (2 o_k + 1). *)
Theorem L3 t : (forall i, i < n -> 1 <= output (q i)) -> volume_sorted n q -> feasible M n q t ->
  \sum_(k < n) (6 * volume_before q k + 3 * volume (q k))
  + M * (\sum_(k < n) (2 * output (q k) + 1)) <= 6 * M * latency n q t.
Proof.
  intros Hpos HS F. destruct (weights_exist Hpos) as [K [w [HK Hw]]].
  pose proof (L3_weighted t K w HS F Hw) as G.
  assert (E : K * (\sum_(k < n) (2 * output (q k) + 1)) <= 3 * \sum_(k < n) (w k * lag (q k))).
  { rewrite <- !sum_scal. apply sum_le; intros k Hk.
    pose proof (lag_third (q k)). rewrite <- (Hw k Hk). nia. }
  rewrite (sum_ext n _ (fun k => 3 * (2 * volume_before q k + volume (q k)))) by (intros; lia).
  rewrite sum_scal.
  apply Nat.mul_le_mono_pos_l with (p := K); [lia|]. nia.
Qed.

(** The form used below: sum V_(k-1) + (M / 3) sum o_k <= M OPT. *)
Corollary L3_third t : (forall i, i < n -> 1 <= output (q i)) -> volume_sorted n q ->
  feasible M n q t ->
  3 * (\sum_(k < n) volume_before q k) + M * (\sum_(k < n) output (q k)) <= 3 * M * latency n q t.
Proof.
  intros Hpos HS F. pose proof (L3 t Hpos HS F) as G.
  rewrite (sum_plus n (fun k => 6 * volume_before q k)), !sum_plus, !sum_scal, sum_const in G.
  change (fun k => volume_before q k) with (volume_before q). nia.
Qed.
End MeanBusyTime.
