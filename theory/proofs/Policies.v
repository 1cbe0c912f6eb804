(** * Scheduling policies

    A static-order policy considers the requests in the order [q 0, q 1, ...].
    It is given by two choices.

    The fit test.  A request fits at time [T] if, for each slot [x] of its run,
    what the requests before it are charged in slot [x], plus what it is charged
    itself, is at most [M].
    - look-ahead charges the memory held in slot [x] ([held]);
    - peak reservation charges the peak during the whole run ([reserved]).
    The theorems hold for every charge between these two ([sound]).

    The admission rule.
    - strict: start times are non-decreasing; request [k] starts as soon as all
      requests before it have started and it fits;
    - conservative backfilling (serial earliest fit): request [k] starts at the
      earliest time at which it fits with everything before it in the order,
      running or planned.  Start times need not be monotone.
    - skip-ahead is in [SkipAhead.v]: it is refuted, not proved.

    Both admission rules are [greedy]: the request fits at its start, and does not
    fit at any earlier time at which all requests before it have started. *)

Require Import Arith Lia Bool List.
Require Import Sums Model.
Import ListNotations.

Definition charge := request -> nat -> nat -> nat.

Definition sound (u : charge) : Prop :=
  forall r t T, held r t T <= u r t T /\ u r t T <= reserved r t T.

Lemma held_sound : sound held.
Proof. intros r t T. split; [lia|apply held_le_reserved]. Qed.
Lemma reserved_sound : sound reserved.
Proof. intros r t T. split; [apply held_le_reserved|lia]. Qed.

Lemma sound_inactive u r t T : sound u -> active r t T = false -> u r t T = 0.
Proof.
  intros S E. destruct (S r t T) as [_ B]. unfold reserved in B. rewrite E in B.
  cbn [Nat.b2n] in B. lia.
Qed.
Lemma sound_peak u r t T : sound u -> u r t T <= peak r.
Proof.
  intros S. destruct (S r t T) as [_ B]. unfold reserved in B.
  destruct (active r t T); cbn [Nat.b2n] in B; lia.
Qed.

(** ** Specifications *)

Definition charged (u : charge) (q : requests) (t : starts) (k x : nat) : nat :=
  \sum_(i < k) u (q i) (t i) x.

Definition fits (M : nat) (u : charge) (q : requests) (t : starts) (k T : nat) : Prop :=
  forall x, T <= x -> x < T + output (q k) -> charged u q t k x + u (q k) T x <= M.

Definition strict (M n : nat) (u : charge) (q : requests) (t : starts) : Prop :=
  forall k, k < n ->
    (forall i, i < k -> t i <= t k)
    /\ fits M u q t k (t k)
    /\ (forall T, T < t k -> (forall i, i < k -> t i <= T) -> ~ fits M u q t k T).

Definition conservative (M n : nat) (u : charge) (q : requests) (t : starts) : Prop :=
  forall k, k < n ->
    fits M u q t k (t k) /\ (forall T, T < t k -> ~ fits M u q t k T).

Definition greedy (M n : nat) (u : charge) (q : requests) (t : starts) : Prop :=
  forall k, k < n ->
    fits M u q t k (t k)
    /\ (forall T, T < t k -> (forall i, i < k -> t i <= T) -> ~ fits M u q t k T).

Lemma strict_greedy M n u q t : strict M n u q t -> greedy M n u q t.
Proof. intros H k Hk. destruct (H k Hk) as [_ G]. exact G. Qed.
Lemma conservative_greedy M n u q t : conservative M n u q t -> greedy M n u q t.
Proof. intros H k Hk. destruct (H k Hk) as [F G]. split; [exact F|]. intros T HT _. apply G, HT. Qed.

(** For strict peak reservation the test may look at the current slot alone. *)
Lemma fits_reserved_now M q t k T : 1 <= output (q k) -> (forall i, i < k -> t i <= T) ->
  fits M reserved q t k T <-> active_peaks q t k T + peak (q k) <= M.
Proof.
  intros Ho Hle. unfold fits, charged, active_peaks.
  assert (Own : forall x, T <= x -> x < T + output (q k) -> reserved (q k) T x = peak (q k)).
  { intros x A B. unfold reserved. replace (active (q k) T x) with true
      by (symmetry; apply active_spec; lia). cbn [Nat.b2n]. lia. }
  split.
  - intros F. specialize (F T ltac:(lia) ltac:(lia)). rewrite Own in F by lia. exact F.
  - intros F x A B. rewrite Own by assumption.
    etransitivity; [|exact F]. apply Nat.add_le_mono_r, sum_le; intros i Hi.
    specialize (Hle i Hi). unfold reserved.
    destruct (active (q i) (t i) x) eqn:E; cbn [Nat.b2n]; [|lia]. apply active_spec in E.
    replace (active (q i) (t i) T) with true by (symmetry; apply active_spec; lia).
    cbn [Nat.b2n]. lia.
Qed.

(** ** Every greedy schedule is feasible *)
Theorem greedy_feasible M n u q t : sound u -> greedy M n u q t -> feasible M n q t.
Proof.
  intros S G T.
  assert (C : forall k, k <= n -> charged u q t k T <= M).
  { induction k as [|k IH]; intros Hk; [unfold charged; cbn [sum]; lia|].
    specialize (IH ltac:(lia)). destruct (G k ltac:(lia)) as [F _].
    destruct (active (q k) (t k) T) eqn:E.
    - apply active_spec in E. apply F; lia.
    - unfold charged in *. cbn [sum]. rewrite (sound_inactive u _ _ _ S E). lia. }
  specialize (C n ltac:(lia)). etransitivity; [|exact C].
  apply sum_le; intros; apply S.
Qed.

(** ** The executable scheduler *)
Section Run.
Variables (M : nat) (u : charge) (q : requests) (is_strict : bool).

Definition fitsb (t : starts) (k T : nat) : bool :=
  forallb (fun x => charged u q t k x + u (q k) T x <=? M) (seq T (output (q k))).

(** Least [T' >= T] at which [k] fits, searched for at most [fuel] steps. *)
Fixpoint first_fit (t : starts) (k fuel T : nat) : nat :=
  match fuel with
  | 0 => T
  | S fuel' => if fitsb t k T then T else first_fit t k fuel' (S T)
  end.

Definition nth_start (l : list nat) : starts := fun i => nth i l 0.

(** Start times of the first [k] requests. *)
Fixpoint start_list (k : nat) : list nat :=
  match k with
  | 0 => []
  | S k' =>
      let l := start_list k' in
      let from := if is_strict then last l 0 else 0 in
      l ++ [first_fit (nth_start l) k' (\sum_(i < k') output (q i)) from]
  end.

Definition run : starts := fun k => nth_start (start_list (S k)) k.

Lemma fitsb_spec t k T : fitsb t k T = true <-> fits M u q t k T.
Proof.
  unfold fitsb, fits. rewrite forallb_forall. split.
  - intros H x A B. apply Nat.leb_le, H, in_seq. lia.
  - intros H x A. apply in_seq in A. apply Nat.leb_le, H; lia.
Qed.

Lemma fits_ext t t' k T : (forall i, i < k -> t i = t' i) -> fits M u q t k T -> fits M u q t' k T.
Proof.
  intros E F x A B. specialize (F x A B). unfold charged in *.
  rewrite (sum_ext k _ (fun i => u (q i) (t i) x)); [exact F|].
  intros i Hi. rewrite (E i Hi). reflexivity.
Qed.

Lemma start_list_length k : length (start_list k) = k.
Proof. induction k; simpl; auto. rewrite app_length; simpl; lia. Qed.

Lemma start_list_run k i : i < k -> nth_start (start_list k) i = run i.
Proof.
  induction k as [|k IH]; intros H; [lia|].
  destruct (Nat.eq_dec i k) as [->|]; [reflexivity|].
  rewrite <- IH by lia. cbn [start_list]. unfold nth_start.
  apply app_nth1. rewrite start_list_length. lia.
Qed.

(** Where the search for the start of [k] begins. *)
Definition origin (k : nat) : nat :=
  match k with 0 => 0 | S k' => if is_strict then run k' else 0 end.

Lemma run_unfold k :
  run k = first_fit (nth_start (start_list k)) k (\sum_(i < k) output (q i)) (origin k).
Proof.
  unfold run at 1, nth_start at 1. cbn [start_list].
  rewrite app_nth2; rewrite start_list_length; [|lia]. rewrite Nat.sub_diag. cbn [nth].
  f_equal. destruct k as [|k]; [destruct is_strict; reflexivity|].
  unfold origin. destruct is_strict eqn:E; [|reflexivity].
  unfold run. cbn [start_list]. rewrite last_last. unfold nth_start at 2.
  rewrite app_nth2; rewrite start_list_length; [|lia]. rewrite Nat.sub_diag. reflexivity.
Qed.

Lemma first_fit_spec t k fuel T0 U : T0 <= U <= T0 + fuel -> fits M u q t k U ->
  let T1 := first_fit t k fuel T0 in
  T0 <= T1 <= U /\ fits M u q t k T1 /\ (forall T, T0 <= T < T1 -> ~ fits M u q t k T).
Proof.
  revert T0; induction fuel as [|fuel IH]; intros T0 H F; simpl.
  - replace U with T0 in * by lia. repeat split; auto; intros; lia.
  - destruct (fitsb t k T0) eqn:E.
    + apply fitsb_spec in E. repeat split; auto; try lia; intros; lia.
    + assert (NF : ~ fits M u q t k T0) by (rewrite <- fitsb_spec; congruence).
      assert (T0 <> U) by (intros ->; contradiction).
      destruct (IH (S T0) ltac:(lia) F) as [A [B C]].
      repeat split; auto; try lia. intros T HT.
      destruct (Nat.eq_dec T T0) as [->|]; [exact NF|apply C; lia].
Qed.

Hypothesis u_sound : sound u.
Variable n : nat.
Hypothesis peak_M : forall i, i < n -> peak (q i) <= M.

(** When everything before it has completed, a request fits. *)
Lemma fits_idle t k T : k < n -> (forall i, i < k -> t i + output (q i) <= T) -> fits M u q t k T.
Proof.
  intros Hk H x A B. unfold charged. rewrite sum_zero.
  - pose proof (sound_peak u (q k) T x u_sound). specialize (peak_M k Hk). lia.
  - intros i Hi. apply sound_inactive; [exact u_sound|]. apply inactive_spec. specialize (H i Hi). lia.
Qed.

Lemma run_first_fit k : k < n ->
  origin k <= run k <= \sum_(i < k) output (q i)
  /\ fits M u q run k (run k)
  /\ (forall T, origin k <= T < run k -> ~ fits M u q run k T).
Proof.
  induction k as [k IH] using lt_wf_ind; intros Hk.
  assert (Hb : forall i, i < k -> run i + output (q i) <= \sum_(i < k) output (q i)).
  { intros i Hi. destruct (IH i Hi ltac:(lia)) as [A _].
    pose proof (sum_mono (S i) k (fun i => output (q i)) ltac:(lia)) as B. cbn [sum] in B. lia. }
  assert (HT0 : origin k <= \sum_(i < k) output (q i)).
  { unfold origin. destruct k; [lia|]. destruct is_strict; [|lia]. specialize (Hb k ltac:(lia)). lia. }
  assert (EX : forall i, i < k -> run i = nth_start (start_list k) i)
    by (intros; symmetry; apply start_list_run; assumption).
  assert (EX' : forall i, i < k -> nth_start (start_list k) i = run i)
    by (intros; apply start_list_run; assumption).
  assert (F : fits M u q (nth_start (start_list k)) k (\sum_(i < k) output (q i))).
  { apply (fits_ext run); auto. apply fits_idle; auto. }
  pose proof (first_fit_spec _ k (\sum_(i < k) output (q i)) (origin k) _ ltac:(split; [exact HT0|lia]) F) as R.
  cbv zeta in R. rewrite <- run_unfold in R. destruct R as [A [B C]].
  repeat split; try lia.
  - apply (fits_ext (nth_start (start_list k))); auto.
  - intros T HT G. apply (C T HT). apply (fits_ext run); auto.
Qed.

Lemma run_monotone i k : is_strict = true -> i <= k -> k < n -> run i <= run k.
Proof.
  intros E. induction 1 as [|k Hik IH]; intros Hk; [lia|].
  destruct (run_first_fit (S k) Hk) as [A _]. unfold origin in A. rewrite E in A.
  specialize (IH ltac:(lia)). lia.
Qed.

Theorem run_strict : is_strict = true -> strict M n u q run.
Proof.
  intros E k Hk. destruct (run_first_fit k Hk) as [A [B C]]. split; [|split; [exact B|]].
  - intros; apply run_monotone; [exact E|lia|exact Hk].
  - intros T HT Hle. apply C. split; [|exact HT]. unfold origin. rewrite E.
    destruct k; [lia|apply Hle; lia].
Qed.

Theorem run_conservative : is_strict = false -> conservative M n u q run.
Proof.
  intros E k Hk. destruct (run_first_fit k Hk) as [A [B C]]. split; [exact B|].
  intros T HT. apply C. split; [|exact HT]. unfold origin. rewrite E. destruct k; lia.
Qed.

Theorem run_greedy : greedy M n u q run.
Proof.
  destruct is_strict eqn:E.
  - apply strict_greedy. subst. apply run_strict. exact E.
  - apply conservative_greedy. apply run_conservative. exact E.
Qed.
End Run.
