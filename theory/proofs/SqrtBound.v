(** * T4: peaks up to the whole memory

    Smallest volume first, any greedy admission (strict or conservative, look-ahead
    or peak reservation), peaks at most [M]:
      [ALG <= (5 + 2 M / r) OPT] for every [r] with [r^2 <= M],
    that is 5 + O(sqrt M).  [Refutations.v] shows that the order sqrt M is right.

    A slot in which a request waits is charged to the first waiting request [h]
    (all requests before it have started).  If [2 p_h <= M] the active peaks sum to
    more than [M / 2], as in T2.  If not, [h] waits at most as long as the longest
    request before it, which bounds the square of the wait by [2 v_h]; and
    [M < 2 v_h]. *)

Require Import Arith Lia Bool.
Require Import Sums Model LowerBounds Policies Waiting.

(** Latest start among the first [k] requests. *)
Fixpoint front (t : starts) (k : nat) : nat :=
  match k with 0 => 0 | S k' => Nat.max (front t k') (t k') end.

Lemma front_ge t k i : i < k -> t i <= front t k.
Proof.
  induction k as [|k IH]; intros Hi; [lia|]. cbn [front].
  destruct (Nat.eq_dec i k) as [->|]; [lia|]. specialize (IH ltac:(lia)). lia.
Qed.

Lemma front_le t k T : (forall i, i < k -> t i <= T) -> front t k <= T.
Proof.
  induction k as [|k IH]; intros H; cbn [front]; [lia|].
  pose proof (H k ltac:(lia)). specialize (IH ltac:(intros; apply H; lia)). lia.
Qed.

Section SqrtBound.
Variables (M n : nat) (u : charge) (q : requests) (t t' : starts).
Hypothesis u_sound : sound u.
Hypothesis output_pos : forall i, i < n -> 1 <= output (q i).
Hypothesis sorted : volume_sorted n q.
Hypothesis peak_M : forall i, i < n -> peak (q i) <= M.
Hypothesis policy : greedy M n u q t.

Definition big (h : nat) : bool := M <? 2 * peak (q h).
(** How long [h] waits at the head. *)
Definition head_wait (h : nat) : nat := t h - front t h.

(** A head waits at most until everything before it has completed. *)
Lemma head_wait_output k b : k < n -> (forall i, i < k -> output (q i) <= b) -> head_wait k <= b.
Proof.
  intros Hk Hb. unfold head_wait. destruct (Nat.le_gt_cases (t k) (front t k + b)) as [|H]; [lia|].
  exfalso. destruct (policy k Hk) as [_ NF]. apply (NF (front t k + b) H).
  - intros i Hi. pose proof (front_ge t k i Hi). lia.
  - apply (fits_idle M u q u_sound n peak_M); [exact Hk|].
    intros i Hi. pose proof (front_ge t k i Hi). specialize (Hb i Hi). lia.
Qed.

Lemma head_wait_square k : k < n -> head_wait k * head_wait k <= 2 * volume (q k).
Proof.
  intros Hk. destruct (Nat.eq_dec (head_wait k) 0) as [E|E]; [rewrite E; lia|].
  destruct (first_exception (fun i => output (q i) <? head_wait k) k) as [A|[i [Hi [B _]]]].
  - assert (head_wait k <= head_wait k - 1); [|lia].
    apply head_wait_output; [exact Hk|]. intros i Hi. specialize (A i Hi). cbv beta in A.
    apply Nat.ltb_lt in A. lia.
  - cbv beta in B. apply Nat.ltb_ge in B. pose proof (sorted i k ltac:(lia) Hk).
    pose proof (volume_double (q i)). nia.
Qed.

Lemma big_volume k : k < n -> big k = true -> M < 2 * volume (q k).
Proof.
  intros Hk B. apply Nat.ltb_lt in B. pose proof (volume_double (q k)).
  pose proof (output_pos k Hk). unfold peak in B. nia.
Qed.

Lemma big_head_wait k r : k < n -> big k = true -> r * r <= M -> r * head_wait k <= 2 * volume (q k).
Proof.
  intros Hk B Hr. pose proof (big_volume k Hk B). pose proof (head_wait_square k Hk).
  set (w := head_wait k) in *. set (v := volume (q k)) in *. clearbody w v.
  destruct (Nat.le_gt_cases (r * w) (2 * v)) as [|C]; [assumption|exfalso].
  assert ((2 * v) * (2 * v) < (r * w) * (r * w)) by nia.
  assert ((r * r) * (w * w) <= (2 * v) * (2 * v)) by nia. nia.
Qed.

(** The charge of one slot. *)
Lemma slot_charge k T : k < n -> T < t k ->
  M <= 2 * active_peaks q t k T
       + M * (\sum_(h < S k) (\1(big h) * \1((front t h <=? T) && (T <? t h)))).
Proof.
  intros Hk HT. destruct (head_exists t k T HT) as [h [A [B C]]].
  pose proof (greedy_certifying M n u q t u_sound policy h T ltac:(lia) B C) as W.
  pose proof (sum_mono h k (fun i => reserved (q i) (t i) T) A) as Mo.
  unfold active_peaks in *.
  destruct (big h) eqn:E.
  - pose proof (sum_term (S k) (fun h => \1(big h) * \1((front t h <=? T) && (T <? t h))) h ltac:(lia)) as X.
    cbv beta in X. rewrite E in X. pose proof (front_le t h T C) as Y.
    apply Nat.leb_le in Y. apply Nat.ltb_lt in B. rewrite Y, B in X. cbn [andb Nat.b2n] in X. nia.
  - apply Nat.ltb_ge in E. lia.
Qed.

Lemma start_sqrt k r : k < n -> r * r <= M ->
  r * (M * t k) <= 4 * r * volume_before q k + 2 * M * volume_before q (S k).
Proof.
  intros Hk Hr.
  assert (A : M * t k <= 2 * (\sum_(T < t k) active_peaks q t k T)
    + M * (\sum_(h < S k) (\1(big h) * head_wait h))).
  { transitivity (\sum_(T < t k) (2 * active_peaks q t k T
       + M * (\sum_(h < S k) (\1(big h) * \1((front t h <=? T) && (T <? t h)))))).
    - rewrite Nat.mul_comm, <- sum_const. apply sum_le; intros T HT. apply slot_charge; assumption.
    - rewrite sum_plus, !sum_scal, sum_swap. apply Nat.add_le_mono_l, Nat.mul_le_mono_l.
      apply sum_le; intros h Hh. rewrite sum_scal. apply Nat.mul_le_mono_l. apply interval_slots. }
  assert (B : \sum_(T < t k) active_peaks q t k T <= 2 * volume_before q k).
  { unfold active_peaks, reserved, volume_before. rewrite sum_swap, <- sum_scal.
    apply sum_le; intros i Hi.
    rewrite (sum_ext _ _ (fun T => peak (q i) * \1(active (q i) (t i) T))) by (intros; lia).
    rewrite sum_scal, active_slots. pose proof (peak_output (q i)). nia. }
  assert (C : r * (\sum_(h < S k) (\1(big h) * head_wait h)) <= 2 * volume_before q (S k)).
  { unfold volume_before. rewrite <- !sum_scal. apply sum_le; intros h Hh.
    destruct (big h) eqn:E; cbn [Nat.b2n]; [|lia].
    pose proof (big_head_wait h r ltac:(lia) E Hr). lia. }
  remember (\sum_(h < S k) (\1(big h) * head_wait h)) as X.
  remember (\sum_(T < t k) active_peaks q t k T) as W.
  assert (r * (M * t k) <= r * (2 * W + M * X)) by (apply Nat.mul_le_mono_l; exact A). nia.
Qed.

Theorem T4 r : r * r <= M -> feasible M n q t' ->
  r * latency n q t <= (5 * r + 2 * M) * latency n q t'.
Proof.
  intros Hr F.
  pose proof (L2_volume M n q t' sorted F) as V. pose proof (L1_output n q t') as L.
  assert (A : r * (M * sum n t) <= (4 * r + 2 * M) * (\sum_(k < n) volume_before q (S k))).
  { rewrite <- !sum_scal. apply sum_le; intros k Hk. pose proof (start_sqrt k r Hk Hr).
    unfold volume_before in *. cbn [sum] in *. nia. }
  rewrite latency_split.
  destruct (Nat.eq_dec M 0) as [E|E].
  { replace r with 0 by nia. lia. }
  set (S1 := \sum_(k < n) volume_before q (S k)) in *.
  set (opt := latency n q t') in *. set (S2 := \sum_(i < n) output (q i)) in *.
  clearbody S1 opt S2.
  assert (A2 : M * (r * sum n t) <= M * ((4 * r + 2 * M) * opt)) by nia.
  apply Nat.mul_le_mono_pos_l in A2; [|lia]. nia.
Qed.
End SqrtBound.
