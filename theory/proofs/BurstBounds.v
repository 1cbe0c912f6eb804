(** * Upper bounds for smallest volume first: T1, T2, T3

    [t] is the schedule of any policy that considers the requests in ascending
    volume order (ties in any order) and has the waiting certificate; [t'] is any
    feasible schedule of the same requests.  [P] bounds the peaks, [D = M + 1 - P]
    and [c = 2 M / D].
    - T1: ALG <= (1 + c) OPT.
    - T2: ALG <= max (1 + 2 c / 3, c) OPT.  At [2 P <= M] that is 4; as [P / M]
      tends to 0 it tends to 7 / 3. *)

Require Import Arith Lia Bool.
Require Import Sums Model LowerBounds MeanBusyTime Policies Waiting.

Section BurstBounds.
Variables (M n P : nat) (q : requests) (t t' : starts).
Hypothesis sorted : volume_sorted n q.
Hypothesis peak_P : forall i, i < n -> peak (q i) <= P.
Hypothesis P_le_M : P <= M.
Hypothesis certificate : certifying M n q t.
Hypothesis feasible' : feasible M n q t'.

Let D := M + 1 - P.
Let A := \sum_(k < n) volume_before q k.
Let B := \sum_(k < n) output (q k).

Lemma alg_AB : D * latency n q t <= 2 * A + D * B.
Proof. apply waiting_total; assumption. Qed.

Lemma opt_B : B <= latency n q t'.
Proof. apply L1_output. Qed.

Lemma opt_A : A <= M * latency n q t'.
Proof.
  etransitivity; [|apply L2_volume; eassumption].
  apply sum_le; intros k Hk. unfold volume_before. cbn [sum]. lia.
Qed.

(** T1: (M+1-P) ALG <= (3M+1-P) OPT. *)
Theorem T1 : (M + 1 - P) * latency n q t <= (3 * M + 1 - P) * latency n q t'.
Proof.
  pose proof alg_AB. pose proof opt_A. pose proof opt_B.
  replace (3 * M + 1 - P) with (2 * M + D) by (unfold D; lia). fold D. nia.
Qed.

Corollary T1_half : 2 * P <= M -> latency n q t <= 5 * latency n q t'.
Proof.
  intros H. pose proof T1 as G. fold D in G.
  apply Nat.mul_le_mono_pos_l with (p := D); [unfold D; lia|].
  assert (3 * M + 1 - P <= 5 * D) by (unfold D; lia). nia.
Qed.

(** From here on outputs are positive (a request without output has no volume). *)
Hypothesis output_pos : forall i, i < n -> 1 <= output (q i).

Lemma opt_AB : 3 * A + M * B <= 3 * M * latency n q t'.
Proof. apply L3_third; assumption. Qed.

(** T2, additive form: ALG <= c OPT + (1 - c / 3) sum o. *)
Theorem T2_additive :
  3 * (M + 1 - P) * latency n q t + 2 * M * (\sum_(k < n) output (q k))
  <= 6 * M * latency n q t' + 3 * (M + 1 - P) * (\sum_(k < n) output (q k)).
Proof. pose proof alg_AB. pose proof opt_AB. fold D; fold B. nia. Qed.

(** T2 when c >= 3 (large peaks): ALG <= c OPT. *)
Theorem T2_large : 3 * (M + 1 - P) <= 2 * M ->
  (M + 1 - P) * latency n q t <= 2 * M * latency n q t'.
Proof. intros H. pose proof T2_additive as G. fold D B in G |- *. nia. Qed.

(** T2 when c <= 3 (small peaks): ALG <= (1 + 2 c / 3) OPT. *)
Theorem T2_small : 2 * M <= 3 * (M + 1 - P) ->
  3 * (M + 1 - P) * latency n q t <= (3 * (M + 1 - P) + 4 * M) * latency n q t'.
Proof.
  intros H. pose proof T2_additive as G. pose proof opt_B. fold D B in G |- *.
  assert ((3 * D - 2 * M) * B <= (3 * D - 2 * M) * latency n q t') by nia.
  replace (3 * D + 4 * M) with (6 * M + (3 * D - 2 * M)) by lia. nia.
Qed.

(** T2 in one formula. *)
Theorem T2 :
  3 * (M + 1 - P) * latency n q t
  <= Nat.max (3 * (M + 1 - P) + 4 * M) (6 * M) * latency n q t'.
Proof.
  destruct (Nat.le_ge_cases (2 * M) (3 * (M + 1 - P))) as [H|H].
  - rewrite Nat.max_l by lia. apply T2_small, H.
  - rewrite Nat.max_r by lia. pose proof (T2_large H). lia.
Qed.

(** Peaks at most half the memory: ratio 4. *)
Corollary T2_half : 2 * P <= M -> latency n q t <= 4 * latency n q t'.
Proof.
  intros H. pose proof T2 as G. fold D in G.
  apply Nat.mul_le_mono_pos_l with (p := 3 * D); [unfold D; lia|].
  assert (Nat.max (3 * D + 4 * M) (6 * M) <= 12 * D) by (unfold D; lia). nia.
Qed.

(** Peaks at most a k-th of the memory, k >= 3: ratio 7/3 + 4 / (3 (k - 1)).
    For k = 3 the ratio is 3; as k grows it tends to 7/3. *)
Corollary T2_fraction k : 3 <= k -> k * P <= M ->
  3 * (k - 1) * latency n q t <= (7 * (k - 1) + 4) * latency n q t'.
Proof.
  intros Hk H. pose proof T2 as G. fold D in G.
  destruct (Nat.eq_dec D 0) as [E|E]; [unfold D in E; lia|].
  destruct k as [|k]; [lia|]. replace (S k - 1) with k in * by lia.
  assert (HD : k * M <= S k * D).
  { assert (S k * D + S k * P = S k * (M + 1))
      by (rewrite <- Nat.mul_add_distr_l; f_equal; unfold D; lia). lia. }
  apply Nat.mul_le_mono_pos_l with (p := 3 * D); [lia|].
  assert (Mx : k * Nat.max (3 * D + 4 * M) (6 * M) <= D * (7 * k + 4)).
  { apply Nat.max_case_strong; intros _; nia. }
  nia.
Qed.

(** ** T3: the bound by shape

    [y_i = (o_i - 1) / (2 s_i + o_i + 1)] measures how response-heavy a request is:
    0 when the prompt dominates, almost 1 when it is empty.  Exactly
    [p o = (1 + y) v] and [d = o / 2 - y (o + 1) / 6].  If every [y_i <= a / b], then
    with [c = (1 + a / b) M / D]
      [ALG <= c OPT + (1 - c (1/2 - a / 6 b)) sum o + c (a / 6 b) n]. *)
Variables a b : nat.
Hypothesis b_pos : 1 <= b.
Hypothesis shape : forall i, i < n ->
  b * (output (q i) - 1) <= a * (2 * prompt (q i) + output (q i) + 1).

Lemma shape_volume i : i < n ->
  b * ((output (q i) - 1) * output (q i)) <= 2 * a * volume (q i).
Proof.
  intros Hi. pose proof (shape i Hi) as S. pose proof (volume_double (q i)) as V.
  assert (X : b * (output (q i) - 1) * output (q i)
    <= a * (2 * prompt (q i) + output (q i) + 1) * output (q i)) by (apply Nat.mul_le_mono_r; exact S).
  apply (f_equal (Nat.mul a)) in V.
  generalize dependent (output (q i) - 1). intros. lia.
Qed.

(** p o = v + o (o - 1) / 2. *)
Lemma shape_peak i : i < n -> b * (peak (q i) * output (q i)) <= (a + b) * volume (q i).
Proof.
  intros Hi. pose proof (shape_volume i Hi) as S. pose proof (output_pos i Hi) as O.
  pose proof (volume_double (q i)) as V.
  assert (E : 2 * (peak (q i) * output (q i))
    = 2 * volume (q i) + (output (q i) - 1) * output (q i)).
  { unfold peak. destruct (q i) as [s [|o]]; cbn [prompt output] in *; [lia|].
    replace (Datatypes.S o - 1) with o by lia. nia. }
  apply (f_equal (Nat.mul b)) in E.
  generalize dependent (output (q i) - 1). intros. lia.
Qed.

(** 6 v d = 3 v o - (o - 1) o (o + 1) / 2. *)
Lemma shape_lag i : i < n ->
  3 * b * (output (q i) * volume (q i))
  <= 3 * b * lag (q i) + a * ((output (q i) + 1) * volume (q i)).
Proof.
  intros Hi. pose proof (shape_volume i Hi) as S. pose proof (output_pos i Hi) as O.
  pose proof (volume_double (q i)) as V. pose proof (lag_closed (q i)) as L.
  assert (E : 6 * (output (q i) * volume (q i))
    = 6 * lag (q i) + (output (q i) - 1) * output (q i) * (output (q i) + 1)).
  { destruct (q i) as [s [|o]]; cbn [prompt output] in *; [lia|].
    replace (Datatypes.S o - 1) with o by lia. nia. }
  assert (b * ((output (q i) - 1) * output (q i)) * (output (q i) + 1)
    <= 2 * a * volume (q i) * (output (q i) + 1)) by (apply Nat.mul_le_mono_r; exact S).
  apply (f_equal (Nat.mul b)) in E.
  generalize dependent (output (q i) - 1). intros. lia.
Qed.

Lemma alg_shape : b * (D * latency n q t) <= (a + b) * A + b * (D * B).
Proof.
  rewrite latency_split, !Nat.mul_add_distr_l. apply Nat.add_le_mono_r.
  unfold A. rewrite <- !sum_scal. apply sum_le; intros k Hk.
  transitivity (b * (\sum_(i < k) (peak (q i) * output (q i)))).
  - apply Nat.mul_le_mono_l. apply (waiting_time M n P q t); assumption.
  - unfold volume_before. rewrite <- !sum_scal. apply sum_le; intros i Hi. apply shape_peak. lia.
Qed.

Lemma opt_shape : 6 * b * A + 3 * b * M * B <= 6 * b * M * latency n q t' + a * M * (B + n).
Proof.
  destruct (weights_exist n q output_pos) as [K [w [HK Hw]]].
  pose proof (L3_weighted M n q t' K w sorted feasible' Hw) as G.
  assert (E : K * (3 * b * B) <= 3 * b * (\sum_(k < n) (w k * lag (q k))) + K * (a * (B + n))).
  { replace (B + n) with (\sum_(k < n) (output (q k) + 1))
      by (rewrite sum_plus, sum_const; fold B; lia).
    unfold B. rewrite <- !sum_scal, <- sum_plus. apply sum_le; intros k Hk.
    pose proof (shape_lag k Hk). rewrite <- (Hw k Hk). nia. }
  rewrite sum_plus, (sum_scal n 2 (volume_before q)) in G.
  change (sum n (volume_before q)) with A in G.
  apply Nat.mul_le_mono_pos_l with (p := K); [lia|].
  set (W := \sum_(k < n) (w k * lag (q k))) in *. clearbody A B W. nia.
Qed.

Theorem T3_additive :
  6 * b * b * (M + 1 - P) * latency n q t + 3 * b * (a + b) * M * (\sum_(k < n) output (q k))
  <= 6 * b * (a + b) * M * latency n q t' + a * (a + b) * M * (\sum_(k < n) output (q k) + n)
     + 6 * b * b * (M + 1 - P) * (\sum_(k < n) output (q k)).
Proof.
  pose proof alg_shape as X. pose proof opt_shape as Y. fold D B. clearbody A B D.
  assert (X' : 6 * b * (b * (D * latency n q t)) <= 6 * b * ((a + b) * A + b * (D * B)))
    by (apply Nat.mul_le_mono_l; exact X).
  assert (Y' : (a + b) * (6 * b * A + 3 * b * M * B)
    <= (a + b) * (6 * b * M * latency n q t' + a * M * (B + n))) by (apply Nat.mul_le_mono_l; exact Y).
  lia.
Qed.

(** For small peaks: ALG <= (1 + c (1/2 + a / 6 b)) OPT + c (a / 6 b) n.  As [P / M]
    tends to 0 and outputs grow, the ratio tends to 1 + (1 + y)(1/2 + y/6), y = a / b:
    7/3 for empty prompts (y = 1), 3/2 for dominating prompts (y = 0). *)
Theorem T3 : 3 * b * (a + b) * M <= 6 * b * b * (M + 1 - P) + a * (a + b) * M ->
  6 * b * b * (M + 1 - P) * latency n q t
  <= (6 * b * b * (M + 1 - P) + (a + b) * (3 * b + a) * M) * latency n q t'
     + a * (a + b) * M * n.
Proof.
  intros H. pose proof T3_additive as G. pose proof opt_B as O. fold D B in G, H |- *.
  clearbody B D.
  set (X := 6 * b * b * D + a * (a + b) * M - 3 * b * (a + b) * M).
  assert (X * B <= X * latency n q t') by (apply Nat.mul_le_mono_l; exact O).
  assert (E : 6 * b * b * D + a * (a + b) * M = X + 3 * b * (a + b) * M) by lia.
  replace (6 * b * b * D + (a + b) * (3 * b + a) * M)
    with (X + 6 * b * (a + b) * M) by lia.
  assert (6 * b * b * D * B + a * (a + b) * M * B = X * B + 3 * b * (a + b) * M * B) by nia.
  nia.
Qed.
End BurstBounds.
