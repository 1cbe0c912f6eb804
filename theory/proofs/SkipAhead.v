(** * Skip-ahead admission has no constant: R3

    Skip-ahead scans the waiting requests in order and starts each one that fits,
    passing over those that do not.  So request [k] at time [T] sees the requests
    that started before [T], and those before it in the order that start at [T].

    R3: in volume order, with look-ahead, and even though all peaks are at most
    [M / 2], its latency is more than [c] times that of a feasible schedule, for
    every [c].  Wide short requests are passed over once, then starve behind two
    long thin ones that come later in the order:
      M = 4 m;  2 x (m, 1);  2 h + 1 wide ones (2 m - 1, 1);  2 x (m - 2, m + 2).
    At time 0 the two small requests leave no room for a wide one, but room for
    both thin ones, which from their third step on leave no room either. *)

Require Import Arith Lia Bool List ZArith ZifyNat.
Require Import Sums Model Policies Refutations.
Import ListNotations.

Local Ltac Zify.zify_post_hook ::= Z.to_euclidean_division_equations.

(** What request [k], scanned at time [T], sees of request [i]. *)
Definition seen (t : starts) (k T i : nat) : bool := (t i <? T) || ((t i =? T) && (i <? k)).

Definition fits_seen (M n : nat) (u : charge) (q : requests) (t : starts) (k T : nat) : Prop :=
  forall x, T <= x -> x < T + output (q k) ->
    \sum_(i < n) (\1(seen t k T i) * u (q i) (t i) x) + u (q k) T x <= M.

(** Each request starts at the first scan at which it fits. *)
Definition skip_ahead (M n : nat) (u : charge) (q : requests) (t : starts) : Prop :=
  forall k, k < n -> fits_seen M n u q t k (t k)
    /\ (forall T, T < t k -> ~ fits_seen M n u q t k T).

(** The specification has one solution at most: by induction on the scan (T, k),
    two skip-ahead schedules start the same requests at each scan. *)
Theorem skip_ahead_unique M n u q t t' :
  skip_ahead M n u q t -> skip_ahead M n u q t' -> forall i, i < n -> t i = t' i.
Proof.
  intros H H'.
  assert (D : forall T k, forall i, i < n -> (seen t k T i = seen t' k T i)
    /\ (seen t k T i = true -> t i = t' i)).
  { assert (Step : forall T k, k < n -> (forall i, i < n -> seen t k T i = seen t' k T i
        /\ (seen t k T i = true -> t i = t' i)) -> T <= t k -> T <= t' k -> (t k = T <-> t' k = T)).
    { intros T k Hk E Ht Ht'.
      assert (X : fits_seen M n u q t k T <-> fits_seen M n u q t' k T).
      { assert (Y : forall x, \sum_(i < n) (\1(seen t k T i) * u (q i) (t i) x)
          = \sum_(i < n) (\1(seen t' k T i) * u (q i) (t' i) x)).
        { intros x. apply sum_ext. intros i Hi. destruct (E i Hi) as [E1 E2]. rewrite <- E1.
          destruct (seen t k T i); [rewrite E2 by reflexivity|]; reflexivity. }
        unfold fits_seen. split; intros F x A B; specialize (F x A B); specialize (Y x); lia. }
      destruct (H k Hk) as [F1 F2], (H' k Hk) as [G1 G2].
      destruct (Nat.eq_dec (t k) T) as [e|ne], (Nat.eq_dec (t' k) T) as [e'|ne']; try tauto.
      - exfalso. rewrite e in F1. apply (G2 T); [lia|tauto].
      - exfalso. rewrite e' in G1. apply (F2 T); [lia|tauto]. }
    assert (Cmp : forall T k i, i < n -> seen t k T i = true -> t i = t' i -> seen t' k T i = true)
      by (intros T k i _ A E; unfold seen in *; rewrite <- E; exact A).
    induction T as [T IHT] using lt_wf_ind. induction k as [k IHk] using lt_wf_ind.
    assert (Agree : forall i, i < n -> (seen t k T i = true -> t i = t' i)
                         /\ (seen t' k T i = true -> t i = t' i)).
    { intros i Hi. split; intros A; unfold seen in A; apply orb_true_iff in A;
      (destruct A as [A|A]; [apply Nat.ltb_lt in A|apply andb_true_iff in A; destruct A as [A B];
        apply Nat.eqb_eq in A; apply Nat.ltb_lt in B]).
      - destruct (IHT (t i) A (S i) i Hi) as [_ Q]. apply Q. unfold seen.
        rewrite Nat.eqb_refl, (proj2 (Nat.ltb_lt i (S i))) by lia. apply orb_true_r.
      - destruct (Nat.lt_trichotomy (t' i) T) as [L|[L|L]]; [|congruence|].
        + destruct (IHT (t' i) L (S i) i Hi) as [Q R]. apply R. rewrite Q. unfold seen.
          rewrite Nat.eqb_refl, (proj2 (Nat.ltb_lt i (S i))) by lia. apply orb_true_r.
        + pose proof (Step T i Hi (IHk i B) ltac:(lia) ltac:(lia)). lia.
      - destruct (IHT (t' i) A (S i) i Hi) as [Q R]. apply R. rewrite Q. unfold seen.
        rewrite Nat.eqb_refl, (proj2 (Nat.ltb_lt i (S i))) by lia. apply orb_true_r.
      - destruct (Nat.lt_trichotomy (t i) T) as [L|[L|L]]; [|congruence|].
        + destruct (IHT (t i) L (S i) i Hi) as [Q R]. apply R. unfold seen.
          rewrite Nat.eqb_refl, (proj2 (Nat.ltb_lt i (S i))) by lia. apply orb_true_r.
        + pose proof (Step T i Hi (IHk i B) ltac:(lia) ltac:(lia)). lia. }
    intros i Hi. destruct (Agree i Hi) as [A B]. split; [|exact A].
    destruct (seen t k T i) eqn:E.
    - symmetry. apply Cmp; auto.
    - destruct (seen t' k T i) eqn:E'; [|reflexivity]. specialize (B eq_refl).
      unfold seen in E, E'. rewrite B in E. congruence. }
  intros i Hi. destruct (D (t i) (S i) i Hi) as [_ Q]. apply Q. unfold seen.
  rewrite Nat.eqb_refl, (proj2 (Nat.ltb_lt i (S i))) by lia. apply orb_true_r.
Qed.

(** A lower bound on what is seen refutes a fit. *)
Lemma two_seen_block M n q t k T i j x : i < j -> j < n ->
  T <= x -> x < T + output (q k) -> seen t k T i = true -> seen t k T j = true ->
  M < held (q i) (t i) x + held (q j) (t j) x + held (q k) T x -> ~ fits_seen M n held q t k T.
Proof.
  intros Hij Hj A B Si Sj L F. specialize (F x A B).
  pose proof (sum_two_terms n (fun i => \1(seen t k T i) * held (q i) (t i) x) i j Hij Hj) as X.
  cbv beta in X. rewrite Si, Sj in X. cbn [Nat.b2n] in X. lia.
Qed.

Section R3.
Variables m h : nat.
Hypothesis m_large : 2 <= m.

Definition r3_n := 2 * h + 5.
Definition r3_q (i : nat) : request :=
  if i <? 2 then Req m 1 else if i <? 2 * h + 3 then Req (2 * m - 1) 1 else Req (m - 2) (m + 2).
(** Skip-ahead: one wide request at time 1, the others two by two after the thin ones. *)
Definition r3_t (i : nat) : nat :=
  if i <? 2 then 0 else if i =? 2 then 1
  else if i <? 2 * h + 3 then m + 2 + (i - 3) / 2 else 0.
(** Better: the wide ones first, two by two; then the rest. *)
Definition r3_t' (i : nat) : nat :=
  if i <? 2 then h + 1 else if i <? 2 * h + 3 then (i - 2) / 2 else h + 1.

Ltac r3_cases i :=
  unfold r3_q, r3_t, r3_t';
  destruct (Nat.ltb_spec i 2); [|destruct (Nat.eqb_spec i 2); destruct (Nat.ltb_spec i (2 * h + 3))];
  try lia.

Lemma r3_sorted : volume_sorted r3_n r3_q.
Proof.
  assert (V : 2 * volume (Req (m - 2) (m + 2)) >= 4 * m).
  { rewrite volume_double. cbn [prompt output]. nia. }
  intros i j Hij Hj. unfold r3_q.
  destruct (Nat.ltb_spec i 2), (Nat.ltb_spec j 2), (Nat.ltb_spec i (2 * h + 3)),
    (Nat.ltb_spec j (2 * h + 3)); try lia;
  change (volume (Req m 1)) with (0 + (m + 1)); change (volume (Req (2 * m - 1) 1)) with (0 + (2 * m - 1 + 1)); lia.
Qed.

Lemma r3_peaks i : 2 * peak (r3_q i) <= 4 * m /\ 1 <= output (r3_q i).
Proof. unfold peak. r3_cases i; cbn [prompt output]; lia. Qed.

(** Memory held, by kind of request. *)
Lemma held_small i x : i < 2 -> held (r3_q i) (r3_t i) x = if x =? 0 then m + 1 else 0.
Proof. intros Hi. r3_cases i. destruct (Nat.eqb_spec x 0); held_cases; lia. Qed.
Lemma held_first x : held (r3_q 2) (r3_t 2) x = if x =? 1 then 2 * m else 0.
Proof.
  unfold r3_q, r3_t. replace (2 <? 2 * h + 3) with true by (symmetry; apply Nat.ltb_lt; lia).
  cbn [Nat.ltb Nat.leb Nat.eqb]. destruct (Nat.eqb_spec x 1); held_cases; lia.
Qed.
Lemma held_wide i x : 3 <= i < 2 * h + 3 ->
  held (r3_q i) (r3_t i) x = if x =? m + 2 + (i - 3) / 2 then 2 * m else 0.
Proof. intros Hi. r3_cases i. destruct (Nat.eqb_spec x (m + 2 + (i - 3) / 2)); held_cases; lia. Qed.
Lemma held_thin i x : 2 * h + 3 <= i ->
  held (r3_q i) (r3_t i) x = if x <? m + 2 then m - 1 + x else 0.
Proof. intros Hi. r3_cases i. destruct (Nat.ltb_spec x (m + 2)); held_cases; lia. Qed.

Lemma kinds i : i < r3_n -> i < 2 \/ i = 2 \/ 3 <= i < 2 * h + 3 \/ 2 * h + 3 <= i < 2 * h + 5.
Proof. unfold r3_n. lia. Qed.

(** Start times, by kind. *)
Lemma start_small i : i < 2 -> r3_t i = 0.
Proof. intros; r3_cases i. Qed.
Lemma start_wide i : 3 <= i < 2 * h + 3 -> r3_t i = m + 2 + (i - 3) / 2.
Proof. intros; r3_cases i. Qed.
Lemma start_thin i : 2 * h + 3 <= i -> r3_t i = 0.
Proof. intros; r3_cases i. Qed.
Lemma wide_request i : 2 <= i < 2 * h + 3 -> r3_q i = Req (2 * m - 1) 1.
Proof. intros; r3_cases i; reflexivity. Qed.
Lemma thin_request i : 2 * h + 3 <= i -> r3_q i = Req (m - 2) (m + 2).
Proof. intros; r3_cases i; reflexivity. Qed.

Lemma seen_spec t k T i : seen t k T i = true <-> t i < T \/ (t i = T /\ i < k).
Proof. unfold seen. rewrite orb_true_iff, andb_true_iff, Nat.ltb_lt, Nat.eqb_eq, Nat.ltb_lt. tauto. Qed.

(** A request fits if the few requests that it can see running leave room. *)
Lemma fits_listed k T (l : nat -> list nat) :
  (forall x, T <= x -> x < T + output (r3_q k) ->
     (forall i, i < r3_n -> ~ In i (l x) -> (r3_t i < T \/ (r3_t i = T /\ i < k)) ->
        held (r3_q i) (r3_t i) x = 0)
     /\ lsum (fun a => held (r3_q a) (r3_t a) x) (l x) + held (r3_q k) T x <= 4 * m) ->
  fits_seen (4 * m) r3_n held r3_q r3_t k T.
Proof.
  intros H x A B. destruct (H x A B) as [H1 H2].
  etransitivity; [apply Nat.add_le_mono_r|exact H2].
  transitivity (\sum_(i < r3_n) (\1(seen r3_t k T i) * held (r3_q i) (r3_t i) x)); [lia|].
  etransitivity; [apply sum_support with (l := l x)|].
  - intros i Hi HI. destruct (seen r3_t k T i) eqn:E; cbn [Nat.b2n]; [|lia].
    rewrite H1; [lia|exact Hi|exact HI|apply seen_spec, E].
  - unfold lsum. generalize (l x). intros l'. induction l' as [|a l' IH]; cbn [fold_right]; [lia|].
    destruct (seen r3_t k T a); cbn [Nat.b2n]; lia.
Qed.

Lemma r3_fits k : k < r3_n -> fits_seen (4 * m) r3_n held r3_q r3_t k (r3_t k).
Proof.
  intros Hk. destruct (kinds k Hk) as [K|[->|[K|K]]].
  - rewrite (start_small k K). apply fits_listed with (l := fun _ => if k =? 0 then [] else [0]).
    intros x A B. split.
    + intros i Hi HI [S|[_ S]]; [lia|]. exfalso. destruct (Nat.eqb_spec k 0); [lia|].
      apply HI. left. lia.
    + replace (held (r3_q k) 0 x) with (held (r3_q k) (r3_t k) x) by (rewrite start_small; auto).
      rewrite held_small by exact K.
      destruct (Nat.eqb_spec k 0), (Nat.eqb_spec x 0); cbn [lsum fold_right];
        rewrite ?held_small by lia; destruct (Nat.eqb_spec x 0); lia.
  - change (r3_t 2) with 1. apply fits_listed with (l := fun _ => [2 * h + 3; 2 * h + 4]).
    rewrite wide_request by lia. cbn [output]. intros x A B. assert (x = 1) by lia. subst x. split.
    + intros i Hi HI S. destruct (kinds i Hi) as [I|[->|[I|I]]].
      * rewrite held_small by exact I. reflexivity.
      * change (r3_t 2) with 1 in S. lia.
      * rewrite start_wide in S by exact I. lia.
      * exfalso. apply HI. cbn [In]. lia.
    + cbn [lsum fold_right]. rewrite !held_thin by lia. held_cases; lia.
  - rewrite (start_wide k K). set (d := (k - 3) / 2).
    apply fits_listed with (l := fun _ => [3 + 2 * d]).
    rewrite wide_request by lia. cbn [output]. intros x A B. assert (x = m + 2 + d) by lia. subst x. split.
    + intros i Hi HI S. destruct (kinds i Hi) as [I|[->|[I|I]]].
      * rewrite held_small by exact I. destruct (Nat.eqb_spec (m + 2 + d) 0); lia.
      * rewrite held_first. destruct (Nat.eqb_spec (m + 2 + d) 1); lia.
      * rewrite held_wide by exact I. rewrite start_wide in S by exact I.
        destruct (Nat.eqb_spec (m + 2 + d) (m + 2 + (i - 3) / 2)) as [E|E]; [|reflexivity].
        exfalso. apply HI. left. unfold d in *. lia.
      * rewrite held_thin by lia. destruct (Nat.ltb_spec (m + 2 + d) (m + 2)); lia.
    + cbn [lsum fold_right]. rewrite held_wide by (unfold d in *; lia).
      held_cases; destruct (Nat.eqb_spec (m + 2 + d) (m + 2 + (3 + 2 * d - 3) / 2)); lia.
  - rewrite (start_thin k) by lia.
    apply fits_listed with (l := fun x => (if x =? 0 then [0; 1] else []) ++ (if k =? 2 * h + 4 then [2 * h + 3] else [])).
    rewrite thin_request by lia. cbn [output]. intros x A B. split.
    + intros i Hi HI [S|[S S']]; [lia|]. destruct (kinds i Hi) as [I|[->|[I|I]]].
      * rewrite held_small by exact I. destruct (Nat.eqb_spec x 0); [|reflexivity].
        exfalso. apply HI. cbn [app In]. lia.
      * discriminate S.
      * rewrite start_wide in S by exact I. lia.
      * exfalso. apply HI. apply in_app_iff. right. destruct (Nat.eqb_spec k (2 * h + 4)); [left; lia|lia].
    + destruct (Nat.eqb_spec x 0), (Nat.eqb_spec k (2 * h + 4)); cbn [app lsum fold_right];
        rewrite ?held_small, ?held_thin by lia; held_cases; destruct (Nat.eqb_spec x 0); lia.
Qed.

(** A wide request is blocked by two others seen that hold more than half. *)
Lemma wide_blocked k T i j : 2 <= k < 2 * h + 3 -> i < j -> j < r3_n ->
  r3_t i < T \/ (r3_t i = T /\ i < k) -> r3_t j < T \/ (r3_t j = T /\ j < k) ->
  2 * m < held (r3_q i) (r3_t i) T + held (r3_q j) (r3_t j) T ->
  ~ fits_seen (4 * m) r3_n held r3_q r3_t k T.
Proof.
  intros K Hij Hj Si Sj L. apply (two_seen_block _ _ _ _ _ _ i j T); auto;
    try (apply seen_spec; assumption); rewrite (wide_request k) by exact K; [cbn [output]; lia|].
  assert (held (Req (2 * m - 1) 1) T T = 2 * m) by (held_cases; lia). lia.
Qed.

Lemma r3_blocked k T : k < r3_n -> T < r3_t k -> ~ fits_seen (4 * m) r3_n held r3_q r3_t k T.
Proof.
  intros Hk HT. assert (N : 2 * h + 4 < r3_n) by (unfold r3_n; lia).
  assert (E2 : r3_t 2 = 1) by reflexivity.
  pose proof (start_small 0 ltac:(lia)) as E0. pose proof (start_small 1 ltac:(lia)) as E1.
  pose proof (start_thin (2 * h + 3) ltac:(lia)) as E3.
  pose proof (start_thin (2 * h + 4) ltac:(lia)) as E4.
  assert (C0 : 2 <= k < 2 * h + 3 -> T = 0 -> ~ fits_seen (4 * m) r3_n held r3_q r3_t k T).
  { intros K ->. apply (wide_blocked k 0 0 1); [exact K|lia|lia|right; split; [exact E0|lia]|right; split; [exact E1|lia]|].
    rewrite !held_small by lia. cbn [Nat.eqb]. lia. }
  destruct (kinds k Hk) as [K|[->|[K|K]]].
  - rewrite start_small in HT by exact K. lia.
  - apply C0; lia.
  - rewrite start_wide in HT by exact K.
    assert (C : T = 0 \/ T = 1 \/ 2 <= T < m + 2 \/ m + 2 <= T) by lia.
    destruct C as [C|[->|[C|C]]].
    + apply C0; lia.
    + apply (wide_blocked k 1 2 (2 * h + 3)); [lia|lia|lia|right; lia|left; lia|].
      rewrite held_first, held_thin by lia. cbn [Nat.eqb].
      destruct (Nat.ltb_spec 1 (m + 2)); lia.
    + apply (wide_blocked k T (2 * h + 3) (2 * h + 4)); [lia|lia|lia|left; lia|left; lia|].
      rewrite !held_thin by lia. destruct (Nat.ltb_spec T (m + 2)); lia.
    + set (d := T - (m + 2)).
      assert (D : T = m + 2 + d /\ 2 * d + 1 < k - 3) by (unfold d; lia). clearbody d.
      pose proof (start_wide (3 + 2 * d) ltac:(lia)). pose proof (start_wide (3 + 2 * d + 1) ltac:(lia)).
      apply (wide_blocked k T (3 + 2 * d) (3 + 2 * d + 1)); [lia|lia|lia|right; lia|right; lia|].
      rewrite !held_wide by lia. destruct (Nat.eqb_spec T (m + 2 + (3 + 2 * d - 3) / 2)),
        (Nat.eqb_spec T (m + 2 + (3 + 2 * d + 1 - 3) / 2)); lia.
  - rewrite start_thin in HT by lia. lia.
Qed.

Theorem r3_skip_ahead : skip_ahead (4 * m) r3_n held r3_q r3_t.
Proof. intros k Hk. split; [apply r3_fits, Hk|]. intros T HT. apply r3_blocked; assumption. Qed.

Lemma r3_feasible : feasible (4 * m) r3_n r3_q r3_t'.
Proof.
  intros x. unfold memory.
  etransitivity; [apply sum_support with
    (l := if x <? h + 1 then [2 + 2 * x; 3 + 2 * x] else [0; 1; 2 * h + 3; 2 * h + 4])|].
  - intros i Hi HI. unfold r3_n in Hi. unfold r3_q, r3_t'. destruct (Nat.ltb_spec x (h + 1)) as [L|L].
    + assert (i <> 2 + 2 * x /\ i <> 3 + 2 * x) by (cbn [In] in HI; lia).
      destruct (Nat.ltb_spec i 2); [|destruct (Nat.ltb_spec i (2 * h + 3))]; held_cases; lia.
    + assert (2 <= i < 2 * h + 3) by (cbn [In] in HI; lia).
      destruct (Nat.ltb_spec i 2); [|destruct (Nat.ltb_spec i (2 * h + 3))]; held_cases; lia.
  - assert (B : forall i, held (r3_q i) (r3_t' i) x <= peak (r3_q i)).
    { intros i. apply (sound_peak held), held_sound. }
    destruct (Nat.ltb_spec x (h + 1)) as [L|L]; cbn [fold_right].
    + pose proof (B (2 + 2 * x)). pose proof (B (3 + 2 * x)).
      destruct (r3_peaks (2 + 2 * x)), (r3_peaks (3 + 2 * x)). lia.
    + assert (S : forall i, i < 2 -> held (r3_q i) (r3_t' i) x = if x =? h + 1 then m + 1 else 0).
      { intros i Hi. r3_cases i. destruct (Nat.eqb_spec x (h + 1)); held_cases; lia. }
      assert (T : forall i, 2 * h + 3 <= i ->
        held (r3_q i) (r3_t' i) x = if x <? h + m + 3 then m - 1 + (x - (h + 1)) else 0).
      { intros i Hi. r3_cases i. destruct (Nat.ltb_spec x (h + m + 3)); held_cases; lia. }
      rewrite !S, !T by lia.
      destruct (Nat.eqb_spec x (h + 1)), (Nat.ltb_spec x (h + m + 3)); lia.
Qed.

Lemma r3_skip_latency : 2 * h * (m + 3) <= latency r3_n r3_q r3_t.
Proof.
  unfold latency, r3_n. replace (2 * h + 5) with (3 + (2 * h + 2)) by lia. rewrite !sum_add.
  transitivity (\sum_(j < 2 * h) (r3_t (3 + j) + output (r3_q (3 + j)))); [|lia].
  rewrite <- sum_const. apply sum_le; intros j Hj.
  rewrite start_wide, wide_request by lia. cbn [output]. lia.
Qed.

Lemma r3_other_latency : latency r3_n r3_q r3_t' <= (2 * h + 1) * (h + 1) + 4 * h + 2 * m + 10.
Proof.
  unfold latency, r3_n. replace (2 * h + 5) with (2 + ((2 * h + 1) + 2)) by lia.
  rewrite (sum_add 2 (2 * h + 1 + 2)), (sum_add (2 * h + 1) 2).
  assert (W : \sum_(j < 2 * h + 1) (r3_t' (2 + j) + output (r3_q (2 + j))) <= (2 * h + 1) * (h + 1)).
  { rewrite <- (sum_const (2 * h + 1)). apply sum_le; intros j Hj. rewrite wide_request by lia. cbn [output].
    unfold r3_t'. destruct (Nat.ltb_spec (2 + j) 2), (Nat.ltb_spec (2 + j) (2 * h + 3)); lia. }
  assert (S : sum 2 (fun i => r3_t' i + output (r3_q i)) = 2 * h + 4).
  { unfold r3_t', r3_q. cbn. lia. }
  assert (T : \sum_(j < 2) (r3_t' (2 + (2 * h + 1 + j)) + output (r3_q (2 + (2 * h + 1 + j))))
    = 2 * (h + m + 3)).
  { rewrite <- (sum_const 2 (h + m + 3)). apply sum_ext; intros j Hj. rewrite thin_request by lia. cbn [output].
    unfold r3_t'. destruct (Nat.ltb_spec (2 + (2 * h + 1 + j)) 2),
      (Nat.ltb_spec (2 + (2 * h + 1 + j)) (2 * h + 3)); lia. }
  lia.
Qed.
End R3.

(** With m = h^2 and h = 2 c + 2 the latencies differ by more than the factor c. *)
Lemma r3_ratio c : let h := 2 * c + 2 in let m := h * h in
  c * latency (r3_n h) (r3_q m h) (r3_t' h) < latency (r3_n h) (r3_q m h) (r3_t m h).
Proof.
  intros h m. assert (Hm : 2 <= m) by (unfold m, h; nia).
  pose proof (r3_skip_latency m h Hm). pose proof (r3_other_latency m h Hm) as O.
  apply (Nat.mul_le_mono_l _ _ c) in O. unfold m in *.
  assert (E : 2 * c + 2 = h) by reflexivity. clearbody h. subst h. nia.
Qed.

(** R3: no constant [c], although all peaks are at most half the memory. *)
Theorem R3 c : exists M n q t t',
  volume_sorted n q /\ (forall i, i < n -> 1 <= output (q i) /\ 2 * peak (q i) <= M)
  /\ skip_ahead M n held q t /\ feasible M n q t'
  /\ c * latency n q t' < latency n q t.
Proof.
  set (h := 2 * c + 2). set (m := h * h).
  assert (Hm : 2 <= m) by (unfold m, h; nia).
  exists (4 * m), (r3_n h), (r3_q m h), (r3_t m h), (r3_t' h).
  split; [apply r3_sorted, Hm|split; [|split; [apply r3_skip_ahead, Hm|split; [apply r3_feasible, Hm|]]]].
  - intros i _. destruct (r3_peaks m h Hm i). auto.
  - apply (r3_ratio c).
Qed.
