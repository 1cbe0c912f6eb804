(** * The burst model of KV-cache scheduling

    A request has a prompt length [s >= 0] and an output length [o].  Started at
    time [t] it runs for [o] steps without preemption; slot [T] is the step from
    time [T] to time [T + 1], and in slot [t + j] ([j < o]) the request holds
    [s + j + 1] tokens of memory.  It completes at [t + o].

    All requests are present at time 0 (a burst), so the total end-to-end latency
    of a schedule is the sum of its completion times. *)

Require Import Arith Lia Bool.
Require Import Sums.

Record request := Req { prompt : nat; output : nat }.

(** The memory held in the last step. *)
Definition peak (r : request) := prompt r + output r.

(** The memory-time product: tokens held, summed over the steps of the request. *)
Definition volume (r : request) := \sum_(j < output r) (prompt r + S j).

Lemma sum_S_double k : 2 * sum k S = k * (k + 1).
Proof. induction k; cbn [sum] in *; lia. Qed.

Lemma volume_double r :
  2 * volume r = 2 * prompt r * output r + output r * (output r + 1).
Proof. unfold volume. rewrite sum_plus, sum_const. pose proof (sum_S_double (output r)). lia. Qed.

(** The closed form: volume = s o + o (o + 1) / 2. *)
Lemma volume_formula r :
  volume r = prompt r * output r + output r * (output r + 1) / 2.
Proof.
  unfold volume. rewrite sum_plus, sum_const, <- sum_S_double.
  rewrite (Nat.mul_comm 2), Nat.div_mul by lia. lia.
Qed.

(** peak * output = 2 volume - output (prompt + 1): at most twice the volume. *)
Lemma peak_output r : peak r * output r + output r * (prompt r + 1) = 2 * volume r.
Proof. rewrite volume_double. unfold peak. nia. Qed.

Lemma volume_pos r : 1 <= output r -> 1 <= volume r.
Proof. intros H. pose proof (volume_double r). nia. Qed.

Lemma output_le_volume r : output r <= volume r.
Proof. pose proof (volume_double r). nia. Qed.

(** Running, and the memory it holds, when started at [t]. *)
Definition active (r : request) (t T : nat) : bool := (t <=? T) && (T <? t + output r).
Definition held (r : request) (t T : nat) : nat :=
  if active r t T then prompt r + S (T - t) else 0.
(** The memory a cautious scheduler sets aside: the peak, for the whole run. *)
Definition reserved (r : request) (t T : nat) : nat := \1(active r t T) * peak r.

Lemma active_spec r t T : active r t T = true <-> t <= T < t + output r.
Proof. unfold active. rewrite andb_true_iff, Nat.leb_le, Nat.ltb_lt. lia. Qed.

Lemma inactive_spec r t T : active r t T = false <-> T < t \/ t + output r <= T.
Proof. unfold active. rewrite andb_false_iff, Nat.leb_gt, Nat.ltb_ge. lia. Qed.

Lemma held_le_reserved r t T : held r t T <= reserved r t T.
Proof.
  unfold held, reserved, peak. destruct (active r t T) eqn:E; cbn [Nat.b2n]; [|lia].
  apply active_spec in E. lia.
Qed.

(** A request is active in at most (eventually exactly) [output] slots. *)
Lemma active_slots r t C : \sum_(T < C) \1(active r t T) = Nat.min (output r) (C - t).
Proof.
  induction C as [|C IH]; cbn [sum]; [lia|]. rewrite IH.
  destruct (active r t C) eqn:E; [apply active_spec in E|apply inactive_spec in E];
    cbn [Nat.b2n]; lia.
Qed.

(** What it holds before time [C], summed, is a prefix of its volume ... *)
Lemma held_prefix r t C :
  \sum_(T < C) held r t T = \sum_(j < Nat.min (output r) (C - t)) (prompt r + S j).
Proof.
  induction C as [|C IH]; cbn [sum]; [rewrite Nat.min_0_r; reflexivity|].
  rewrite IH. unfold held.
  destruct (active r t C) eqn:E; [apply active_spec in E|apply inactive_spec in E].
  - replace (Nat.min (output r) (S C - t)) with (S (C - t)) by lia.
    replace (Nat.min (output r) (C - t)) with (C - t) by lia. reflexivity.
  - replace (Nat.min (output r) (S C - t)) with (Nat.min (output r) (C - t)) by lia. lia.
Qed.

(** ... and all of it once the request has completed. *)
Lemma held_total r t C : t + output r <= C -> \sum_(T < C) held r t T = volume r.
Proof.
  intros H. rewrite held_prefix. replace (Nat.min (output r) (C - t)) with (output r) by lia.
  reflexivity.
Qed.

(** ** Schedules

    Requests are numbered [q 0, q 1, ...] in the order in which the scheduler
    considers them; a schedule gives a start time [t i] to each. *)
Definition requests := nat -> request.
Definition starts := nat -> nat.

(** Memory held by the first [k] requests in slot [T]. *)
Definition memory (q : requests) (t : starts) (k T : nat) : nat :=
  \sum_(i < k) held (q i) (t i) T.

(** Feasible: never more than [M] tokens. *)
Definition feasible (M n : nat) (q : requests) (t : starts) : Prop :=
  forall T, memory q t n T <= M.

(** Total latency: the sum of the completion times. *)
Definition latency (n : nat) (q : requests) (t : starts) : nat :=
  \sum_(i < n) (t i + output (q i)).

(** Sum of the peaks of those of the first [k] requests that run in slot [T]. *)
Definition active_peaks (q : requests) (t : starts) (k T : nat) : nat :=
  \sum_(i < k) reserved (q i) (t i) T.

(** Numbered in the order of ascending volume (ties in any order). *)
Definition volume_sorted (n : nat) (q : requests) : Prop :=
  forall i j, i <= j -> j < n -> volume (q i) <= volume (q j).

(** Total volume of the first [k] requests. *)
Definition volume_before (q : requests) (k : nat) : nat := \sum_(i < k) volume (q i).

Lemma latency_split n q t : latency n q t = sum n t + \sum_(i < n) output (q i).
Proof. unfold latency. apply sum_plus. Qed.

Lemma memory_le_active_peaks q t k T : memory q t k T <= active_peaks q t k T.
Proof. apply sum_le; intros. apply held_le_reserved. Qed.
