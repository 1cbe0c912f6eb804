(** * Lower bounds on the optimum: L1 and L2

    Both hold for every feasible schedule [t] of the requests.
    - L1: its latency is at least the sum of the output lengths.
    - L2: [M] times its latency is at least the sum of [min (v_i, v_j)] over all
      unordered pairs [{i, j}], [i = j] included.  In ascending volume order this
      is the sum over [k] of the [k] smallest volumes. *)

Require Import Arith Lia Bool.
Require Import Sums Model.

Section LowerBounds.
Variables (M n : nat) (q : requests).

Theorem L1_output t : \sum_(i < n) output (q i) <= latency n q t.
Proof. apply sum_le; intros; lia. Qed.

(** What a feasible schedule has completed by time [C] has total volume at most
    [M * C]. *)
Lemma volume_completed t C : feasible M n q t ->
  \sum_(j < n) \1(t j + output (q j) <=? C) * volume (q j) <= M * C.
Proof.
  intros F.
  transitivity (\sum_(j < n) \sum_(T < C) held (q j) (t j) T).
  { apply sum_le; intros j Hj.
    destruct (Nat.leb_spec (t j + output (q j)) C); cbn [Nat.b2n]; [rewrite held_total by lia|]; lia. }
  rewrite sum_swap.
  transitivity (\sum_(T < C) M); [apply sum_le; intros; apply F | rewrite sum_const; lia].
Qed.

(** Of two requests one completes first: whatever the completion times [c], each
    pair contributes at least the smaller volume. *)
Lemma pair_minimum (c v : nat -> nat) :
  \sum_(k < n) (\sum_(i < k) Nat.min (v i) (v k) + v k)
  <= \sum_(i < n) \sum_(j < n) (\1(c j <=? c i) * v j).
Proof.
  rewrite (sum_square n (fun i j => \1(c j <=? c i) * v j)). apply sum_le; intros k Hk.
  rewrite Nat.leb_refl. cbn [Nat.b2n].
  apply Nat.add_le_mono; [|lia]. apply sum_le; intros i Hi.
  destruct (Nat.leb_spec (c k) (c i)), (Nat.leb_spec (c i) (c k)); cbn [Nat.b2n]; lia.
Qed.

Theorem L2_pairs t : feasible M n q t ->
  \sum_(k < n) (\sum_(i < k) Nat.min (volume (q i)) (volume (q k)) + volume (q k))
  <= M * latency n q t.
Proof.
  intros F. unfold latency. rewrite <- sum_scal.
  etransitivity; [apply (pair_minimum (fun i => t i + output (q i)))|].
  apply sum_le; intros i Hi. apply volume_completed. exact F.
Qed.

(** The same, summed over ordered pairs: twice the bound, less the diagonal. *)
Corollary L2_ordered_pairs t : feasible M n q t ->
  \sum_(i < n) \sum_(j < n) Nat.min (volume (q i)) (volume (q j))
  + \sum_(k < n) volume (q k) <= 2 * M * latency n q t.
Proof.
  intros F. pose proof (L2_pairs t F) as H.
  rewrite (sum_square n (fun i j => Nat.min (volume (q i)) (volume (q j)))).
  rewrite <- sum_plus.
  transitivity (2 * \sum_(k < n) (\sum_(i < k) Nat.min (volume (q i)) (volume (q k)) + volume (q k)));
    [|lia].
  rewrite <- sum_scal. apply sum_le; intros k Hk.
  rewrite (sum_ext k _ (fun i => 2 * Nat.min (volume (q i)) (volume (q k)))) by (intros; lia).
  rewrite sum_scal. lia.
Qed.

Theorem L2_volume t : volume_sorted n q -> feasible M n q t ->
  \sum_(k < n) volume_before q (S k) <= M * latency n q t.
Proof.
  intros HS F. etransitivity; [|apply L2_pairs; exact F].
  apply sum_le; intros k Hk. unfold volume_before. cbn [sum].
  apply Nat.add_le_mono_r, sum_le; intros i Hi. specialize (HS i k). lia.
Qed.
End LowerBounds.
