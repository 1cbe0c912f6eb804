(** * Arbitrary request lists

    The theorems above number the requests in the order of the policy.  Here they
    become statements about lists: [order] is any permutation of the request list
    that is sorted by volume, whatever the order of ties; the competing schedule is
    any list of (request, start time) with the same requests. *)

Require Import Arith Lia Bool List Permutation.
Require Import Sums Model Policies Waiting BurstBounds.
Import ListNotations.

Definition placed := (request * nat)%type.

(** Feasibility and latency of a schedule given as a list. *)
Definition list_feasible (M : nat) (sch : list placed) : Prop :=
  forall T, lsum (fun p => held (fst p) (snd p) T) sch <= M.
Definition list_latency (sch : list placed) : nat :=
  lsum (fun p => snd p + output (fst p)) sch.

(** [sch] schedules exactly the requests of [l]. *)
Definition schedules (sch : list placed) (l : list request) : Prop :=
  Permutation (map fst sch) l.

Fixpoint ascending (f : request -> nat) (l : list request) : Prop :=
  match l with
  | [] => True
  | r :: l' => (forall r', In r' l' -> f r <= f r') /\ ascending f l'
  end.

(** The numbering of a list. *)
Definition numbered (l : list request) : requests := fun i => nth i l (Req 0 1).

Lemma ascending_sorted f l : ascending f l ->
  forall i j, i <= j -> j < length l -> f (numbered l i) <= f (numbered l j).
Proof.
  induction l as [|r l IH]; intros HA i j Hij Hj; cbn [length] in Hj; [lia|].
  destruct HA as [H1 H2]. destruct i as [|i], j as [|j]; cbn; try lia.
  - apply H1, nth_In. lia.
  - apply (IH H2); lia.
Qed.

Lemma numbered_all (P : request -> Prop) l : (forall r, In r l -> P r) ->
  forall i, i < length l -> P (numbered l i).
Proof. intros H i Hi. apply H, nth_In, Hi. Qed.

(** A list schedule of the requests of [order] is an indexed schedule of the same
    latency. *)
Lemma schedule_numbering M order sch : schedules sch order -> list_feasible M sch ->
  exists t', feasible M (length order) (numbered order) t'
    /\ latency (length order) (numbered order) t' = list_latency sch.
Proof.
  intros HP HF. destruct (Permutation_map_inv fst sch (Permutation_sym HP)) as [sch' [E P']].
  set (d := (Req 0 1, 0)). exists (fun i => snd (nth i sch' d)).
  assert (Len : length order = length sch') by (rewrite E, map_length; reflexivity).
  assert (Nth : forall i, numbered order i = fst (nth i sch' d)).
  { intros i. unfold numbered. rewrite E. change (Req 0 1) with (fst d). apply map_nth. }
  split.
  - intros T. specialize (HF T). rewrite (lsum_perm _ _ _ P'), (lsum_nth _ d), <- Len in HF.
    unfold memory. rewrite (sum_ext _ _ (fun i => held (fst (nth i sch' d)) (snd (nth i sch' d)) T));
      [exact HF|]. intros i _. rewrite Nth. reflexivity.
  - unfold list_latency. rewrite (lsum_perm _ _ _ P'), (lsum_nth _ d), <- Len.
    apply sum_ext; intros i _. rewrite Nth. reflexivity.
Qed.

(** ** The scheduler on lists *)

(** Latency of the executable policy: [is_strict] (otherwise conservative
    backfilling), fit test [u]. *)
Definition policy_latency (M : nat) (u : charge) (is_strict : bool) (order : list request) : nat :=
  latency (length order) (numbered order) (run M u (numbered order) is_strict).

Section Transfer.
Variables (M P : nat) (u : charge) (is_strict : bool) (order l : list request) (sch : list placed).
Hypothesis u_sound : sound u.
Hypothesis same : Permutation order l.
Hypothesis sorted : ascending volume order.
Hypothesis output_pos : forall r, In r l -> 1 <= output r.
Hypothesis peak_P : forall r, In r l -> peak r <= P.
Hypothesis P_le_M : P <= M.
Hypothesis sch_schedules : schedules sch l.
Hypothesis sch_feasible : list_feasible M sch.

Lemma transfer_setup (C : nat -> nat -> Prop) :
  (forall q t t', volume_sorted (length order) q ->
     (forall i, i < length order -> 1 <= output (q i)) ->
     (forall i, i < length order -> peak (q i) <= P) ->
     greedy M (length order) u q t -> feasible M (length order) q t' ->
     C (latency (length order) q t) (latency (length order) q t')) ->
  C (policy_latency M u is_strict order) (list_latency sch).
Proof.
  intros H.
  assert (HS : schedules sch order) by (eapply Permutation_trans; [exact sch_schedules|apply Permutation_sym, same]).
  destruct (schedule_numbering M order sch HS sch_feasible) as [t' [F E]].
  assert (In' : forall r, In r order -> In r l) by (intros r; apply Permutation_in, same).
  rewrite <- E. apply H; auto.
  - intros i j. apply (ascending_sorted volume), sorted.
  - apply (numbered_all (fun r => 1 <= output r)). auto.
  - apply (numbered_all (fun r => peak r <= P)). auto.
  - apply run_greedy; [exact u_sound|]. apply (numbered_all (fun r => peak r <= M)). intros r Hr. specialize (peak_P r (In' r Hr)). lia.
Qed.

Theorem list_T1 :
  (M + 1 - P) * policy_latency M u is_strict order <= (3 * M + 1 - P) * list_latency sch.
Proof.
  apply (transfer_setup (fun a b => (M + 1 - P) * a <= (3 * M + 1 - P) * b)).
  intros q t t' HS HO HP HG HF. apply T1; auto. apply (greedy_certifying M _ u); auto.
Qed.

Theorem list_T2 :
  3 * (M + 1 - P) * policy_latency M u is_strict order
  <= Nat.max (3 * (M + 1 - P) + 4 * M) (6 * M) * list_latency sch.
Proof.
  apply (transfer_setup (fun a b => 3 * (M + 1 - P) * a
    <= Nat.max (3 * (M + 1 - P) + 4 * M) (6 * M) * b)).
  intros q t t' HS HO HP HG HF. apply T2; auto. apply (greedy_certifying M _ u); auto.
Qed.

Theorem list_T2_half : 2 * P <= M ->
  policy_latency M u is_strict order <= 4 * list_latency sch.
Proof.
  intros H2. apply (transfer_setup (fun a b => a <= 4 * b)).
  intros q t t' HS HO HP HG HF. apply (T2_half M _ P q t t'); auto.
  apply (greedy_certifying M _ u); auto.
Qed.

Theorem list_T2_fraction k : 3 <= k -> k * P <= M ->
  3 * (k - 1) * policy_latency M u is_strict order <= (7 * (k - 1) + 4) * list_latency sch.
Proof.
  intros H3 Hk. apply (transfer_setup (fun a b => 3 * (k - 1) * a <= (7 * (k - 1) + 4) * b)).
  intros q t t' HS HO HP HG HF. apply (T2_fraction M _ P q t t'); auto.
  apply (greedy_certifying M _ u); auto.
Qed.

(** The scheduler itself is a feasible schedule. *)
Theorem list_run_feasible :
  feasible M (length order) (numbered order) (run M u (numbered order) is_strict).
Proof.
  apply (greedy_feasible _ _ u); [exact u_sound|]. apply run_greedy; [exact u_sound|].
  apply (numbered_all (fun r => peak r <= M)). intros r Hr.
  specialize (peak_P r (Permutation_in _ same Hr)). lia.
Qed.
End Transfer.

(** ** One such order: stable insertion sort *)

Fixpoint insert (f : request -> nat) (r : request) (l : list request) : list request :=
  match l with
  | [] => [r]
  | r' :: l' => if f r <=? f r' then r :: l else r' :: insert f r l'
  end.
Fixpoint sort_by (f : request -> nat) (l : list request) : list request :=
  match l with [] => [] | r :: l' => insert f r (sort_by f l') end.

Lemma insert_permutation f r l : Permutation (insert f r l) (r :: l).
Proof.
  induction l as [|r' l IH]; [constructor; constructor|]. cbn [insert].
  destruct (f r <=? f r'); [apply Permutation_refl|].
  eapply Permutation_trans; [apply perm_skip, IH|apply perm_swap].
Qed.

Lemma sort_by_permutation f l : Permutation (sort_by f l) l.
Proof.
  induction l as [|r l IH]; [constructor|]. cbn [sort_by].
  eapply Permutation_trans; [apply insert_permutation|apply perm_skip, IH].
Qed.

Lemma insert_ascending f r l : ascending f l -> ascending f (insert f r l).
Proof.
  induction l as [|r' l IH]; intros HA; [cbn; auto; split; [intros ? []|exact I]|].
  cbn [insert]. destruct (Nat.leb_spec (f r) (f r')) as [L|L].
  - split; [|exact HA]. destruct HA as [H1 H2]. intros x [<-|Hx]; [exact L|].
    specialize (H1 x Hx). lia.
  - destruct HA as [H1 H2]. split; [|apply IH, H2]. intros x Hx.
    apply (Permutation_in _ (insert_permutation f r l)) in Hx. destruct Hx as [<-|Hx]; [lia|auto].
Qed.

Lemma sort_by_ascending f l : ascending f (sort_by f l).
Proof. induction l; [exact I|]. apply insert_ascending. exact IHl. Qed.

(** Smallest volume first, as a function of the request list. *)
Definition svf_latency (M : nat) (u : charge) (is_strict : bool) (l : list request) : nat :=
  policy_latency M u is_strict (sort_by volume l).

Corollary svf_T2_half M u is_strict l sch :
  sound u -> (forall r, In r l -> 1 <= output r) -> (forall r, In r l -> 2 * peak r <= M) ->
  schedules sch l -> list_feasible M sch ->
  svf_latency M u is_strict l <= 4 * list_latency sch.
Proof.
  intros Hu HO HP HS HF. apply (list_T2_half M (M / 2) u is_strict _ l); auto.
  - apply sort_by_permutation.
  - apply sort_by_ascending.
  - intros r Hr. specialize (HP r Hr). apply Nat.div_le_lower_bound; lia.
  - pose proof (Nat.mul_div_le M 2); lia.
  - pose proof (Nat.mul_div_le M 2); lia.
Qed.
