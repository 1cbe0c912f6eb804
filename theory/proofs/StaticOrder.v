(** * T5 and T6: other static orders

    If an order is volume-sorted up to a factor [D] ([i] before [j] implies
    [v_i <= D v_j]), any certified policy in that order has ratio at most
    [1 + 8 sqrt D] when [2 P <= M].  [D] is given as [(a / b)^2].
    - T5: any order at all, FCFS included, with D = max volume / min volume.
    - T6: volumes predicted within a factor; in particular one perfect bit per
      request gives O(sqrt T) for outputs up to T. *)

Require Import Arith Lia Bool.
Require Import Sums Model LowerBounds Policies Waiting.

(** ** An inequality: sum of min (x v_i, y v_j) over ordered pairs, squared, is at
    most x y (sum of min (v_i, v_j))^2.

    [min (x v_i, y v_j)] integrates [1 (u < x v_i) 1 (u < y v_j)] over [u]; so the
    left side is the inner product of two counting functions, and Cauchy-Schwarz
    applies. *)
Section ScaledMinimum.
Variables (n : nat) (v : nat -> nat).

Definition pair_min (x y : nat) := \sum_(i < n) \sum_(j < n) Nat.min (x * v i) (y * v j).
Definition count_above (x u : nat) := \sum_(i < n) \1(u <? x * v i).

Lemma pair_min_integral x y U : (forall i, i < n -> x * v i <= U) ->
  pair_min x y = \sum_(u < U) (count_above x u * count_above y u).
Proof.
  intros HU. unfold pair_min, count_above.
  rewrite (sum_ext U _ (fun u => \sum_(i < n) \sum_(j < n) (\1(u <? x * v i) * \1(u <? y * v j))))
    by (intros; rewrite sum_mul; reflexivity).
  symmetry. rewrite sum_swap. apply sum_ext; intros i Hi.
  rewrite sum_swap. apply sum_ext; intros j Hj.
  rewrite (min_indicator U) by (apply HU; exact Hi). reflexivity.
Qed.

Lemma pair_min_scaled x : pair_min x x = x * pair_min 1 1.
Proof.
  unfold pair_min. rewrite <- sum_scal. apply sum_ext; intros i Hi.
  rewrite <- sum_scal. apply sum_ext; intros j Hj. rewrite !Nat.mul_1_l.
  apply Nat.mul_min_distr_l.
Qed.

Lemma pair_min_square x y :
  pair_min x y * pair_min x y <= (x * y) * (pair_min 1 1 * pair_min 1 1).
Proof.
  destruct (bounded_by n (fun i => x * v i)) as [U1 H1].
  destruct (bounded_by n (fun i => y * v i)) as [U2 H2].
  assert (HX : forall i, i < n -> x * v i <= U1 + U2) by (intros i Hi; specialize (H1 i Hi); cbv beta in H1; lia).
  assert (HY : forall i, i < n -> y * v i <= U1 + U2) by (intros i Hi; specialize (H2 i Hi); cbv beta in H2; lia).
  pose proof (cauchy_schwarz (U1 + U2) (count_above x) (count_above y)) as C.
  rewrite <- (pair_min_integral x y), <- (pair_min_integral x x), <- (pair_min_integral y y) in C
    by assumption.
  rewrite (pair_min_scaled x), (pair_min_scaled y) in C. nia.
Qed.

(** With perfect squares the root can be taken. *)
Lemma pair_min_root a b : pair_min (b * b) (a * a) <= a * b * pair_min 1 1.
Proof. pose proof (pair_min_square (b * b) (a * a)). nia. Qed.
End ScaledMinimum.

Section StaticOrder.
Variables (M n P : nat) (q : requests) (t t' : starts).
Hypothesis peak_P : forall i, i < n -> peak (q i) <= P.
Hypothesis half : 2 * P <= M.
Hypothesis certificate : certifying M n q t.
Hypothesis feasible' : feasible M n q t'.

Variables a b : nat.
Hypothesis b_pos : 1 <= b.
(** The order is volume-sorted up to the factor (a / b)^2. *)
Hypothesis nearly_sorted : forall i j, i < j -> j < n ->
  (b * b) * volume (q i) <= (a * a) * volume (q j).

Lemma volumes_before : b * (\sum_(k < n) volume_before q k) <= a * (2 * M * latency n q t').
Proof.
  pose proof (pair_min_root n (fun i => volume (q i)) a b) as R.
  assert (L : (b * b) * (\sum_(k < n) volume_before q k)
    <= pair_min n (fun i => volume (q i)) (b * b) (a * a)).
  { unfold pair_min. rewrite sum_swap, <- sum_scal. apply sum_le; intros k Hk.
    unfold volume_before. rewrite <- sum_scal.
    transitivity (\sum_(i < k) Nat.min (b * b * volume (q i)) (a * a * volume (q k))).
    - apply sum_le; intros i Hi. specialize (nearly_sorted i k Hi Hk). lia.
    - apply sum_mono. lia. }
  assert (O : pair_min n (fun i => volume (q i)) 1 1 <= 2 * M * latency n q t').
  { pose proof (L2_ordered_pairs M n q t' feasible') as O. unfold pair_min.
    rewrite (sum_ext n _ (fun i => \sum_(j < n) Nat.min (volume (q i)) (volume (q j)))); [lia|].
    intros i Hi. apply sum_ext; intros j Hj. rewrite !Nat.mul_1_l. reflexivity. }
  set (X := \sum_(k < n) volume_before q k) in *.
  set (Y := pair_min n (fun i => volume (q i)) 1 1) in *.
  assert (a * b * Y <= a * b * (2 * M * latency n q t')) by (apply Nat.mul_le_mono_l; exact O).
  apply Nat.mul_le_mono_pos_l with (p := b); [lia|]. lia.
Qed.

(** ratio <= 1 + 8 a / b *)
Theorem nearly_sorted_bound : b * latency n q t <= (b + 8 * a) * latency n q t'.
Proof.
  pose proof (waiting_total M n P q t peak_P certificate) as W.
  pose proof volumes_before as V. pose proof (L1_output n q t') as L.
  set (X := \sum_(k < n) volume_before q k) in *.
  set (B := \sum_(k < n) output (q k)) in *.
  set (D := M + 1 - P) in *.
  assert (HD : M < 2 * D) by (unfold D; lia). clearbody X B D.
  apply Nat.mul_le_mono_pos_l with (p := D); [lia|].
  assert (b * (D * latency n q t) <= b * (2 * X + D * B)) by (apply Nat.mul_le_mono_l; exact W).
  assert (2 * (b * X) <= 2 * (a * (2 * M * latency n q t'))) by lia.
  assert (b * (D * B) <= b * (D * latency n q t')) by (apply Nat.mul_le_mono_l, Nat.mul_le_mono_l; exact L).
  assert (4 * a * latency n q t' * M <= 4 * a * latency n q t' * (2 * D)) by (apply Nat.mul_le_mono_l; lia).
  lia.
Qed.
End StaticOrder.

(** ** T5: any static order *)
Section AnyOrder.
Variables (M n P : nat) (q : requests) (t t' : starts).
Hypothesis peak_P : forall i, i < n -> peak (q i) <= P.
Hypothesis half : 2 * P <= M.
Hypothesis certificate : certifying M n q t.
Hypothesis feasible' : feasible M n q t'.

(** ALG <= (1 + 8 a / b) OPT whenever all volumes are within a factor (a / b)^2. *)
Theorem T5 a b vmin vmax : 1 <= b ->
  (forall i, i < n -> vmin <= volume (q i) /\ volume (q i) <= vmax) ->
  (b * b) * vmax <= (a * a) * vmin ->
  b * latency n q t <= (b + 8 * a) * latency n q t'.
Proof.
  intros Hb Hv Hab. apply (nearly_sorted_bound M n P); auto.
  intros i j Hij Hj. destruct (Hv i ltac:(lia)), (Hv j Hj).
  transitivity (b * b * vmax); [apply Nat.mul_le_mono_l; assumption|].
  transitivity (a * a * vmin); [exact Hab|apply Nat.mul_le_mono_l; assumption].
Qed.

(** Peaks at most P, prompts and outputs at least 1: ALG <= (4 P + 3) OPT. *)
Corollary T5_peak : (forall i, i < n -> 1 <= prompt (q i) /\ 1 <= output (q i)) ->
  latency n q t <= (4 * P + 3) * latency n q t'.
Proof.
  intros Hpos.
  assert (G : 4 * latency n q t <= (4 + 8 * (2 * P + 1)) * latency n q t').
  { apply (nearly_sorted_bound M n P); auto. intros i j Hij Hj.
    destruct (Hpos i ltac:(lia)) as [Hs Ho], (Hpos j Hj) as [Hs' Ho'].
    pose proof (peak_P i ltac:(lia)) as HP. unfold peak in HP.
    pose proof (volume_double (q i)) as V. pose proof (volume_double (q j)) as V'.
    assert (2 <= volume (q j)) by nia.
    assert (E : 2 * volume (q i) <= P * (P + 1)) by nia.
    assert (2 * (2 * P + 1) * (2 * P + 1) <= (2 * P + 1) * (2 * P + 1) * volume (q j)) by nia.
    nia. }
  lia.
Qed.
End AnyOrder.

(** ** T6: predicted lengths

    The order sorts by the volume of a predicted output length [pred i]; the true
    lengths are used for admission only.  If every prediction is within a factor
    [m] of the truth, both ways, the ratio is at most 1 + 8 m^2. *)
Section Predicted.
Variables (M n P : nat) (q : requests) (t t' : starts) (pred : nat -> nat) (m : nat).
Hypothesis peak_P : forall i, i < n -> peak (q i) <= P.
Hypothesis half : 2 * P <= M.
Hypothesis certificate : certifying M n q t.
Hypothesis feasible' : feasible M n q t'.
Hypothesis m_pos : 1 <= m.
Hypothesis accurate : forall i, i < n -> output (q i) <= m * pred i /\ pred i <= m * output (q i).

Definition predicted (i : nat) : request := Req (prompt (q i)) (pred i).
Hypothesis sorted_by_prediction : forall i j, i < j -> j < n ->
  volume (predicted i) <= volume (predicted j).

(** A length [m] times larger has at most [m^2] times the volume. *)
Lemma volume_scaled s o o' : 1 <= m -> o <= m * o' ->
  volume (Req s o) <= m * m * volume (Req s o').
Proof.
  intros Hm H. pose proof (volume_double (Req s o)) as A. pose proof (volume_double (Req s o')) as B.
  cbn [prompt output] in *.
  assert (o * (o + 1) <= m * o' * (m * o' + 1)) by (apply Nat.mul_le_mono; lia).
  assert (s * o <= s * (m * o')) by (apply Nat.mul_le_mono_l; exact H).
  assert (s * (m * o') <= m * m * (s * o')) by nia.
  assert (m * o' <= m * m * o') by nia.
  nia.
Qed.

Theorem T6_accuracy : latency n q t <= (1 + 8 * (m * m)) * latency n q t'.
Proof.
  assert (G : 1 * latency n q t <= (1 + 8 * (m * m)) * latency n q t'); [|lia].
  apply (nearly_sorted_bound M n P); auto. intros i j Hij Hj.
  destruct (accurate i ltac:(lia)) as [A _]. destruct (accurate j Hj) as [_ B].
  pose proof (volume_scaled (prompt (q i)) _ _ m_pos A) as X.
  pose proof (volume_scaled (prompt (q j)) _ _ m_pos B) as Y.
  pose proof (sorted_by_prediction i j Hij Hj) as Z. unfold predicted in Z.
  replace (Req (prompt (q i)) (output (q i))) with (q i) in X by (destruct (q i); reflexivity).
  replace (Req (prompt (q j)) (output (q j))) with (q j) in Y by (destruct (q j); reflexivity).
  assert (m * m * volume (Req (prompt (q i)) (pred i))
    <= m * m * (m * m * volume (q j))) by (apply Nat.mul_le_mono_l; lia).
  lia.
Qed.
End Predicted.

(** One perfect bit: outputs in [1, m^4], the bit says whether the output exceeds
    the threshold [m^2] (the square root of the range); proxies [m] and [m^3].  The
    ratio is at most 1 + 8 m^2 = 1 + 8 sqrt T with T = m^4. *)
Section OneBit.
Variables (M n P : nat) (q : requests) (t t' : starts) (m : nat).
Hypothesis peak_P : forall i, i < n -> peak (q i) <= P.
Hypothesis half : 2 * P <= M.
Hypothesis certificate : certifying M n q t.
Hypothesis feasible' : feasible M n q t'.
Hypothesis range : forall i, i < n -> 1 <= output (q i) /\ output (q i) <= m * m * (m * m).

Definition proxy (i : nat) : nat := if output (q i) <=? m * m then m else m * m * m.
Hypothesis sorted_by_proxy : forall i j, i < j -> j < n ->
  volume (Req (prompt (q i)) (proxy i)) <= volume (Req (prompt (q j)) (proxy j)).

Theorem T6_one_bit : latency n q t <= (1 + 8 * (m * m)) * latency n q t'.
Proof.
  destruct (Nat.eq_dec n 0) as [->|Hn]; [unfold latency; cbn [sum]; lia|].
  assert (Hm : 1 <= m) by (destruct (range 0 ltac:(lia)); destruct m; lia).
  apply (T6_accuracy M n P q t t' proxy m); auto.
  intros i Hi. destruct (range i Hi) as [A B]. unfold proxy.
  destruct (Nat.leb_spec (output (q i)) (m * m)) as [L|L]; split; nia.
Qed.
End OneBit.
