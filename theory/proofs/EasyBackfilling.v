(** * EASY backfilling has no constant

    EASY backfilling scans the waiting requests in order.  The first that does not
    fit, the head, is reserved at the earliest time at which it fits beside those
    running; a later request may start now if it fits beside those running and the
    head's reservation.  On the instance of R3 this protects one wide request, and
    nothing else: the schedule is the one of skip-ahead. *)

Require Import Arith Lia Bool List ZArith ZifyNat.
Require Import Sums Model Policies Refutations SkipAhead.

(** The reservation [R] of head [g], scanned at time [T]. *)
Definition reserved_at (M n : nat) (q : requests) (t : starts) (g T R : nat) : Prop :=
  let fits_at R' := forall x, R' <= x -> x < R' + output (q g) ->
    \sum_(i < n) (\1(seen t g T i) * held (q i) (t i) x) + held (q g) R' x <= M in
  T <= R /\ fits_at R /\ (forall R', T <= R' -> R' < R -> ~ fits_at R').

(** [g] is the head when [k] is scanned at time [T]. *)
Definition is_head (t : starts) (k T g : nat) : Prop :=
  g < k /\ T < t g /\ (forall i, i < g -> t i <= T).

(** [k] may start at [T]. *)
Definition may_start (M n : nat) (q : requests) (t : starts) (k T : nat) : Prop :=
  fits_seen M n held q t k T
  /\ (forall g R, is_head t k T g -> reserved_at M n q t g T R ->
      forall x, T <= x -> x < T + output (q k) ->
        \sum_(i < n) (\1(seen t k T i) * held (q i) (t i) x) + held (q k) T x + held (q g) R x <= M).

Definition easy (M n : nat) (q : requests) (t : starts) : Prop :=
  forall k, k < n -> may_start M n q t k (t k)
    /\ (forall T, T < t k -> ~ may_start M n q t k T).

Section Easy.
Variables m h : nat.
Hypothesis m_large : 2 <= m.
Let M := 4 * m.
Let n := r3_n h.
Let q := r3_q m h.
Let t := r3_t m h.

(** At time 0 the head is the first wide request, reserved at time 1. *)
Lemma r3_reservation g R : is_head t (2 * h + 3) 0 g \/ is_head t (2 * h + 4) 0 g ->
  reserved_at M n q t g 0 R -> g = 2 /\ R = 1.
Proof.
  intros H HR.
  assert (g = 2).
  { destruct H as [[A [B C]]|[A [B C]]].
    - destruct (Nat.le_gt_cases g 2) as [L|L].
      + destruct (Nat.eq_dec g 2); [assumption|]. unfold t in B.
        rewrite (start_small m h) in B by lia. lia.
      + specialize (C 2 L). unfold t in C. change (r3_t m h 2) with 1 in C. lia.
    - destruct (Nat.le_gt_cases g 2) as [L|L].
      + destruct (Nat.eq_dec g 2); [assumption|]. unfold t in B.
        rewrite (start_small m h) in B by lia. lia.
      + specialize (C 2 L). unfold t in C. change (r3_t m h 2) with 1 in C. lia. }
  subst g. split; [reflexivity|]. destruct HR as [_ [F NF]].
  assert (Q : q 2 = Req (2 * m - 1) 1) by (apply wide_request; lia).
  destruct (Nat.lt_trichotomy R 1) as [L|[L|L]]; [|exact L|].
  - exfalso. assert (R = 0) by lia. subst R.
    apply (r3_blocked m h m_large 2 0); [unfold r3_n; lia|change (r3_t m h 2) with 1; lia|].
    exact F.
  - exfalso. apply (NF 1); [lia|exact L|]. intros x A B. rewrite Q in *. cbn [output] in B.
    assert (x = 1) by lia. subst x.
    rewrite sum_zero; [held_cases; unfold M; lia|].
    intros i Hi. destruct (seen t 2 0 i) eqn:E; [|reflexivity]. apply seen_spec in E.
    assert (i < 2) by lia. unfold q, t. rewrite held_small by lia. reflexivity.
Qed.

Lemma r3_thin_may_start k : k = 2 * h + 3 \/ k = 2 * h + 4 -> may_start M n q t k 0.
Proof.
  intros Hk. assert (T0 : t k = 0) by (apply start_thin; lia).
  split.
  - rewrite <- T0. apply (r3_fits m h m_large). unfold r3_n. lia.
  - intros g R Hg HR. destruct (r3_reservation g R) as [-> ->].
    { destruct Hk as [E|E]; rewrite E in Hg; [left|right]; exact Hg. }
    { exact HR. }
    intros x A B. pose proof (r3_fits m h m_large k ltac:(unfold r3_n; lia) x) as F.
    fold M n q t in F. rewrite T0 in F. specialize (F A B).
    assert (W : held (q 2) 1 x = if x =? 1 then 2 * m else 0) by (apply (held_first m h); exact m_large).
    rewrite W. destruct (Nat.eqb_spec x 1) as [->|]; [|lia].
    assert (S : \sum_(i < n) (\1(seen t k 0 i) * held (q i) (t i) 1) <= m).
    { etransitivity; [apply sum_support with (l := (2 * h + 3) :: nil)|].
      - intros i Hi HI. destruct (seen t k 0 i) eqn:E; [|reflexivity]. apply seen_spec in E.
        destruct (kinds m h m_large i Hi) as [I|[->|[I|I]]].
        + unfold q, t. rewrite held_small by (assumption || lia). reflexivity.
        + destruct E as [E|[E _]]; [lia|discriminate E].
        + unfold t in E. rewrite start_wide in E by (assumption || lia). lia.
        + exfalso. apply HI. left. lia.
      - cbn [fold_right]. unfold q, t. rewrite held_thin by lia.
        destruct (seen _ _ _ _), (Nat.ltb_spec 1 (m + 2)); cbn [Nat.b2n]; clear - m_large; lia. }
    assert (O : held (q k) 0 1 = m).
    { replace (held (q k) 0 1) with (held (q k) (t k) 1) by (rewrite T0; reflexivity).
      unfold q, t. rewrite held_thin by lia. destruct (Nat.ltb_spec 1 (m + 2)); lia. }
    rewrite O. unfold M. lia.
Qed.

(** The other starts are monotone, so those requests are their own heads. *)
Lemma r3_monotone g k : g < k -> k < 2 * h + 3 -> t g <= t k.
Proof.
  intros Hgk Hk. unfold t, r3_t.
  destruct (Nat.ltb_spec g 2), (Nat.ltb_spec k 2), (Nat.eqb_spec g 2), (Nat.eqb_spec k 2),
    (Nat.ltb_spec g (2 * h + 3)), (Nat.ltb_spec k (2 * h + 3)); lia.
Qed.

Theorem r3_easy : easy M n q t.
Proof.
  intros k Hk. split.
  - destruct (Nat.le_gt_cases (2 * h + 3) k) as [K|K].
    + replace (t k) with 0 by (symmetry; apply start_thin; lia).
      apply r3_thin_may_start. unfold n, r3_n in Hk. lia.
    + split; [apply (r3_fits m h m_large); exact Hk|]. intros g R [A [B _]].
      pose proof (r3_monotone g k A K). lia.
  - intros T HT [F _]. revert F. apply (r3_blocked m h m_large); assumption.
Qed.
End Easy.

(** EASY backfilling in volume order has no constant, with peaks at most [M / 2]. *)
Theorem EASY c : exists M n q t t',
  volume_sorted n q /\ (forall i, i < n -> 1 <= output (q i) /\ 2 * peak (q i) <= M)
  /\ easy M n q t /\ feasible M n q t'
  /\ c * latency n q t' < latency n q t.
Proof.
  set (h := 2 * c + 2). set (m := h * h).
  assert (Hm : 2 <= m) by (unfold m, h; nia).
  exists (4 * m), (r3_n h), (r3_q m h), (r3_t m h), (r3_t' h).
  split; [apply r3_sorted, Hm|split; [|split; [apply r3_easy, Hm|split; [apply r3_feasible, Hm|]]]].
  - intros i _. destruct (r3_peaks m h Hm i). auto.
  - apply (r3_ratio c).
Qed.
