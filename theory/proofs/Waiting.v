(** * The waiting lemma

    Static order, no assumption on what the order is.  While a request [h] waits
    although all requests before it have started, the peaks of the active ones
    among them sum to at least [M + 1 - peak h].  This certificate is all that the
    upper bounds use of a policy; it holds for every greedy policy: strict or
    conservative backfilling, look-ahead or peak reservation. *)

Require Import Arith Lia Bool.
Require Import Sums Model Policies.

(** The certificate. *)
Definition certifying (M n : nat) (q : requests) (t : starts) : Prop :=
  forall h T, h < n -> T < t h -> (forall i, i < h -> t i <= T) ->
    M + 1 <= active_peaks q t h T + peak (q h).

(** A failed fit test names a slot in which the memory would overflow. *)
Lemma fits_fails M u q t k T : ~ fits M u q t k T ->
  exists x, T <= x /\ x < T + output (q k) /\ M < charged u q t k x + u (q k) T x.
Proof.
  intros NF.
  destruct (first_exception
    (fun d => charged u q t k (T + d) + u (q k) T (T + d) <=? M) (output (q k))) as [A|[d [A [B _]]]].
  - exfalso. apply NF. intros x Hx Hx'. specialize (A (x - T) ltac:(lia)).
    cbv beta in A. apply Nat.leb_le in A. replace (T + (x - T)) with x in A by lia. exact A.
  - exists (T + d). cbv beta in B. apply Nat.leb_gt in B. repeat split; lia.
Qed.

(** Requests that have started by [T] and are active later were active at [T]. *)
Lemma charged_le_active_peaks u q t k T x : sound u -> T <= x -> (forall i, i < k -> t i <= T) ->
  charged u q t k x <= active_peaks q t k T.
Proof.
  intros S HT Hle. apply sum_le; intros i Hi. specialize (Hle i Hi).
  etransitivity; [apply S|]. unfold reserved.
  destruct (active (q i) (t i) x) eqn:E; cbn [Nat.b2n]; [|lia]. apply active_spec in E.
  replace (active (q i) (t i) T) with true by (symmetry; apply active_spec; lia).
  cbn [Nat.b2n]. lia.
Qed.

Theorem greedy_certifying M n u q t : sound u -> greedy M n u q t -> certifying M n q t.
Proof.
  intros S G h T Hh HT Hle. destruct (G h Hh) as [_ NF].
  destruct (fits_fails M u q t h T (NF T HT Hle)) as [x [A [B C]]].
  pose proof (charged_le_active_peaks u q t h T x S A Hle).
  pose proof (sound_peak u (q h) T x S). lia.
Qed.

Corollary strict_certifying M n u q t : sound u -> strict M n u q t -> certifying M n q t.
Proof. intros S H. apply (greedy_certifying M n u); [exact S|apply strict_greedy, H]. Qed.
Corollary conservative_certifying M n u q t : sound u -> conservative M n u q t -> certifying M n q t.
Proof. intros S H. apply (greedy_certifying M n u); [exact S|apply conservative_greedy, H]. Qed.

(** While [k] waits, some first request [h <= k] waits with all before it started. *)
Lemma head_exists (t : starts) k T : T < t k ->
  exists h, h <= k /\ T < t h /\ (forall i, i < h -> t i <= T).
Proof.
  intros HT. destruct (first_exception (fun i => t i <=? T) (S k)) as [A|[h [A [B C]]]].
  - specialize (A k ltac:(lia)). cbv beta in A. apply Nat.leb_le in A. lia.
  - exists h. cbv beta in B, C. apply Nat.leb_gt in B. repeat split; try lia.
    intros i Hi. apply Nat.leb_le, C, Hi.
Qed.

Section Waiting.
Variables (M n P : nat) (q : requests) (t : starts).
Hypothesis peak_P : forall i, i < n -> peak (q i) <= P.
Hypothesis certificate : certifying M n q t.

(** The waiting lemma, slot by slot. *)
Theorem waiting_slot k T : k < n -> T < t k -> M + 1 - P <= active_peaks q t k T.
Proof.
  intros Hk HT. destruct (head_exists t k T HT) as [h [A [B C]]].
  pose proof (certificate h T ltac:(lia) B C). pose proof (peak_P h ltac:(lia)).
  pose proof (sum_mono h k (fun i => reserved (q i) (t i) T) A). unfold active_peaks in *. lia.
Qed.

(** Summed over the wait: each earlier request is active in at most [output] slots. *)
Theorem waiting_time k : k < n ->
  (M + 1 - P) * t k <= \sum_(i < k) (peak (q i) * output (q i)).
Proof.
  intros Hk. transitivity (\sum_(T < t k) active_peaks q t k T).
  { rewrite Nat.mul_comm, <- sum_const. apply sum_le; intros T HT. apply waiting_slot; assumption. }
  unfold active_peaks, reserved. rewrite sum_swap. apply sum_le; intros i Hi.
  rewrite (sum_ext _ _ (fun T => peak (q i) * \1(active (q i) (t i) T))) by (intros; lia).
  rewrite sum_scal, active_slots. nia.
Qed.

(** In volumes. *)
Corollary waiting_volume k : k < n -> (M + 1 - P) * t k <= 2 * volume_before q k.
Proof.
  intros Hk. etransitivity; [apply waiting_time, Hk|]. unfold volume_before.
  rewrite <- sum_scal. apply sum_le; intros i Hi. pose proof (peak_output (q i)). lia.
Qed.

(** In total: [(M+1-P) ALG <= 2 sum_k V_(k-1) + (M+1-P) sum_k o_k], in the order of
    the policy. *)
Theorem waiting_total :
  (M + 1 - P) * latency n q t
  <= 2 * (\sum_(k < n) volume_before q k) + (M + 1 - P) * (\sum_(k < n) output (q k)).
Proof.
  rewrite latency_split, Nat.mul_add_distr_l. apply Nat.add_le_mono_r.
  rewrite <- !sum_scal. apply sum_le; intros k Hk. apply waiting_volume, Hk.
Qed.
End Waiting.
