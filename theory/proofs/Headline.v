(** * The theorems, written out

    Everything below is about a finite list [l] of requests, all present at time 0,
    and memory for [M] tokens.  A request (s, o) started at time t holds s + j + 1
    tokens in slot t + j, 0 <= j < o, and completes at t + o.  A schedule is a list
    [sch] of requests with start times; it is a schedule of [l] if its requests are
    those of [l], in any order and with multiplicity; it is feasible if in no slot the
    running requests hold more than [M] tokens; its latency is the sum of the
    completion times.  [volume (s, o) = s o + o (o + 1) / 2].

    [policy_latency M charge is_strict order] is the latency of the executable
    scheduler that takes the requests in the given order:
    - charge [held]: it looks ahead; charge [reserved]: it reserves peaks;
    - [is_strict = true]: strict admission; [false]: conservative backfilling. *)

Require Import Arith Lia List Permutation.
Require Import Sums Model LowerBounds MeanBusyTime Policies Waiting BurstBounds Multiset
  SqrtBound StaticOrder Refutations SkipAhead.
Import ListNotations.

(** The scheduler is real: both admission rules meet their specification. *)
Theorem scheduler_strict M u q n : sound u -> (forall i, i < n -> prompt (q i) + output (q i) <= M) ->
  forall k, k < n -> let t := run M u q true in
    (forall i, i < k -> t i <= t k)
    /\ fits M u q t k (t k)
    /\ (forall T, T < t k -> (forall i, i < k -> t i <= T) -> ~ fits M u q t k T).
Proof. intros S H k Hk. exact (run_strict M u q true S n H eq_refl k Hk). Qed.

Theorem scheduler_conservative M u q n : sound u -> (forall i, i < n -> prompt (q i) + output (q i) <= M) ->
  forall k, k < n -> let t := run M u q false in
    fits M u q t k (t k) /\ (forall T, T < t k -> ~ fits M u q t k T).
Proof. intros S H k Hk. exact (run_conservative M u q false S n H eq_refl k Hk). Qed.

(** T1.  Prompts at least 0, outputs at least 1, peaks at most P <= M:
    (M + 1 - P) ALG <= (3 M + 1 - P) OPT. *)
Theorem headline_T1 : forall (M P : nat) (is_strict : bool)
    (order l : list request) (sch : list (request * nat)),
  Permutation order l -> ascending volume order ->
  (forall r, In r l -> 1 <= output r) -> (forall r, In r l -> prompt r + output r <= P) -> P <= M ->
  Permutation (map fst sch) l ->
  (forall T, lsum (fun p => held (fst p) (snd p) T) sch <= M) ->
  (M + 1 - P) * policy_latency M held is_strict order
  <= (3 * M + 1 - P) * lsum (fun p => snd p + output (fst p)) sch.
Proof. intros. apply (list_T1 M P held is_strict order l sch held_sound); assumption. Qed.

(** T2.  With c = 2 M / (M + 1 - P): ALG <= max (1 + 2 c / 3, c) OPT, look-ahead or
    peak reservation, strict or conservative, ties in any order. *)
Theorem headline_T2 : forall (M P : nat) (u : charge) (is_strict : bool)
    (order l : list request) (sch : list (request * nat)),
  u = held \/ u = reserved ->
  Permutation order l -> ascending volume order ->
  (forall r, In r l -> 1 <= output r) -> (forall r, In r l -> prompt r + output r <= P) -> P <= M ->
  Permutation (map fst sch) l ->
  (forall T, lsum (fun p => held (fst p) (snd p) T) sch <= M) ->
  3 * (M + 1 - P) * policy_latency M u is_strict order
  <= Nat.max (3 * (M + 1 - P) + 4 * M) (6 * M) * lsum (fun p => snd p + output (fst p)) sch.
Proof.
  intros M P u is_strict order l sch [->| ->]; intros;
    [apply (list_T2 M P held is_strict order l sch held_sound)
    |apply (list_T2 M P reserved is_strict order l sch reserved_sound)]; assumption.
Qed.

(** T2 at alpha = 1/2: ratio 4. *)
Theorem headline_T2_half : forall (M : nat) (u : charge) (is_strict : bool)
    (order l : list request) (sch : list (request * nat)),
  u = held \/ u = reserved ->
  Permutation order l -> ascending volume order ->
  (forall r, In r l -> 1 <= output r) -> (forall r, In r l -> 2 * (prompt r + output r) <= M) ->
  Permutation (map fst sch) l ->
  (forall T, lsum (fun p => held (fst p) (snd p) T) sch <= M) ->
  policy_latency M u is_strict order <= 4 * lsum (fun p => snd p + output (fst p)) sch.
Proof.
  intros M u is_strict order l sch Hu HP HA HO HM HS HF.
  assert (S : sound u) by (destruct Hu as [->| ->]; [apply held_sound|apply reserved_sound]).
  apply (list_T2_half M (M / 2) u is_strict order l sch S); auto;
    try (pose proof (Nat.mul_div_le M 2); lia).
  intros r Hr. specialize (HM r Hr). unfold peak. apply Nat.div_le_lower_bound; lia.
Qed.

(** T2 for small peaks: k P <= M gives ratio 7/3 + 4 / (3 (k - 1)). *)
Theorem headline_T2_limit : forall (M P k : nat) (u : charge) (is_strict : bool)
    (order l : list request) (sch : list (request * nat)),
  u = held \/ u = reserved -> 3 <= k -> k * P <= M -> P <= M ->
  Permutation order l -> ascending volume order ->
  (forall r, In r l -> 1 <= output r) -> (forall r, In r l -> prompt r + output r <= P) ->
  Permutation (map fst sch) l ->
  (forall T, lsum (fun p => held (fst p) (snd p) T) sch <= M) ->
  3 * (k - 1) * policy_latency M u is_strict order
  <= (7 * (k - 1) + 4) * lsum (fun p => snd p + output (fst p)) sch.
Proof.
  intros M P k u is_strict order l sch Hu Hk HkP HPM HP HA HO HM HS HF.
  assert (S : sound u) by (destruct Hu as [->| ->]; [apply held_sound|apply reserved_sound]).
  apply (list_T2_fraction M P u is_strict order l sch S); auto.
Qed.

(** T4.  Peaks only at most M: r ALG <= (5 r + 2 M) OPT for r^2 <= M; [q] numbers the
    requests in ascending volume order. *)
Theorem headline_T4 : forall (M n r : nat) (u : charge)
    (q : nat -> request) (is_strict : bool) (t' : nat -> nat),
  u = held \/ u = reserved ->
  (forall i, i < n -> 1 <= output (q i) /\ prompt (q i) + output (q i) <= M) ->
  (forall i j, i <= j -> j < n -> volume (q i) <= volume (q j)) ->
  (forall T, \sum_(i < n) held (q i) (t' i) T <= M) -> r * r <= M ->
  r * (\sum_(i < n) (run M u q is_strict i + output (q i)))
  <= (5 * r + 2 * M) * (\sum_(i < n) (t' i + output (q i))).
Proof.
  intros M n r u q is_strict t' Hu Hq HS HF Hr.
  assert (S : sound u) by (destruct Hu as [->| ->]; [apply held_sound|apply reserved_sound]).
  assert (HM : forall i, i < n -> peak (q i) <= M) by (intros; apply Hq; assumption).
  apply (T4 M n u q (run M u q is_strict) t'); auto; [intros; apply Hq; assumption|].
  apply run_greedy; assumption.
Qed.

(** T5, T6.  Any static order, 2 P <= M; if whenever i comes before j,
    v_i <= (a / b)^2 v_j, then ALG <= (1 + 8 a / b) OPT. *)
Theorem headline_T6 : forall (M n P a b : nat) (u : charge)
    (q : nat -> request) (is_strict : bool) (t' : nat -> nat),
  u = held \/ u = reserved ->
  (forall i, i < n -> prompt (q i) + output (q i) <= P) -> 2 * P <= M -> 1 <= b ->
  (forall i j, i < j -> j < n -> (b * b) * volume (q i) <= (a * a) * volume (q j)) ->
  (forall T, \sum_(i < n) held (q i) (t' i) T <= M) ->
  b * (\sum_(i < n) (run M u q is_strict i + output (q i)))
  <= (b + 8 * a) * (\sum_(i < n) (t' i + output (q i))).
Proof.
  intros M n P a b u q is_strict t' Hu HP H2 Hb HS HF.
  assert (S : sound u) by (destruct Hu as [->| ->]; [apply held_sound|apply reserved_sound]).
  apply (nearly_sorted_bound M n P q (run M u q is_strict) t'); auto.
  apply (greedy_certifying M n u); [exact S|]. apply run_greedy; [exact S|].
  intros i Hi. specialize (HP i Hi). unfold peak. lia.
Qed.

(** R2.  When peaks may reach M, no constant c holds for strict SVF. *)
Theorem headline_R2 : forall c : nat, exists (M n : nat) (q : nat -> request) (t t' : nat -> nat),
  (forall i j, i <= j -> j < n -> volume (q i) <= volume (q j))
  /\ (forall i, i < n -> 1 <= prompt (q i) /\ 1 <= output (q i) /\ prompt (q i) + output (q i) <= M)
  /\ strict M n held q t
  /\ (forall T, \sum_(i < n) held (q i) (t' i) T <= M)
  /\ c * (\sum_(i < n) (t' i + output (q i))) < \sum_(i < n) (t i + output (q i)).
Proof.
  intros c. destruct (R2 c) as [M [n [q [t [t' [A [B [C [D E]]]]]]]]].
  exists M, n, q, t, t'. split; [|split; [exact B|split; [apply C, held_sound|split; [exact D|exact E]]]].
  intros i j Hij Hj. destruct (Nat.eq_dec i j) as [->|]; [lia|].
  destruct (A i j ltac:(lia) Hj) as [G|[G _]]; lia.
Qed.

(** R3.  Skip-ahead SVF has no constant although 2 P <= M. *)
Theorem headline_R3 : forall c : nat, exists (M n : nat) (q : nat -> request) (t t' : nat -> nat),
  (forall i j, i <= j -> j < n -> volume (q i) <= volume (q j))
  /\ (forall i, i < n -> 1 <= output (q i) /\ 2 * (prompt (q i) + output (q i)) <= M)
  /\ skip_ahead M n held q t
  /\ (forall T, \sum_(i < n) held (q i) (t' i) T <= M)
  /\ c * (\sum_(i < n) (t' i + output (q i))) < \sum_(i < n) (t i + output (q i)).
Proof. exact R3. Qed.

Print Assumptions scheduler_strict.
Print Assumptions scheduler_conservative.
Print Assumptions headline_T1.
Print Assumptions headline_T2.
Print Assumptions headline_T2_half.
Print Assumptions headline_T2_limit.
Print Assumptions headline_T4.
Print Assumptions headline_T6.
Print Assumptions headline_R2.
Print Assumptions headline_R3.
