(** * The computed checks mean what the model says

    [Witness.v] computes with binary numbers; these lemmas carry its verdict on a
    schedule to the model: it is feasible there, schedules the same requests and has
    the same latency. *)

Require Import Arith Lia Bool List NArith Permutation.
Require Import Sums Model Multiset Witness.
Import ListNotations.

Definition to_request (r : entry) : request := Req (N.to_nat (fst r)) (N.to_nat (snd r)).
Definition to_placed (p : placed_entry) : placed := (to_request (fst p), N.to_nat (snd p)).

Lemma held_shift s o t T : held (Req s o) (S t) (S T) = held (Req s o) t T.
Proof. reflexivity. Qed.

Lemma raise_spec o c p T :
  N.to_nat (nth T (raise c o p) 0%N)
  = N.to_nat (nth T p 0%N) + (if T <? o then N.to_nat c + T else 0).
Proof.
  induction o as [|o IH] in c, p, T |- *; cbn [raise]; [cbn; lia|].
  destruct p as [|x p], T as [|T]; cbn [nth]; rewrite ?IH; try (destruct T); cbn [nth];
    rewrite ?N2Nat.inj_add; change (N.to_nat 1) with 1;
    repeat match goal with |- context [?a <? ?b] => destruct (Nat.ltb_spec a b) end;
    try lia.
Qed.

Lemma raise_at_spec t c o p T :
  N.to_nat (nth T (raise_at t c o p) 0%N)
  = N.to_nat (nth T p 0%N) + (if (t <=? T) && (T <? t + o) then N.to_nat c + (T - t) else 0).
Proof.
  induction t as [|t IH] in p, T |- *; cbn [raise_at].
  - rewrite raise_spec. cbn [Nat.leb Nat.add andb]. rewrite Nat.sub_0_r. reflexivity.
  - destruct p as [|x p], T as [|T]; cbn [nth]; rewrite ?IH; try (destruct T); cbn [nth];
      repeat match goal with
      | |- context [?a <=? ?b] => destruct (Nat.leb_spec a b)
      | |- context [?a <? ?b] => destruct (Nat.ltb_spec a b)
      end; cbn [andb]; try lia.
Qed.

Lemma usage_spec sch T :
  N.to_nat (nth T (usage sch) 0%N) = lsum (fun p => held (fst p) (snd p) T) (map to_placed sch).
Proof.
  induction sch as [|[[s o] t] sch IH]; [destruct T; reflexivity|].
  cbn [map]. unfold lsum in *. cbn [fold_right]. rewrite <- IH. clear IH.
  unfold usage at 1. cbn [fold_right]. fold (usage sch). rewrite raise_at_spec.
  unfold held, active, to_placed, to_request. cbn [fst snd prompt output].
  destruct ((N.to_nat t <=? T) && (T <? N.to_nat t + N.to_nat o)); [|lia].
  rewrite N2Nat.inj_add. change (N.to_nat 1) with 1. lia.
Qed.

Theorem is_feasible_sound M sch :
  is_feasible M sch = true -> list_feasible (N.to_nat M) (map to_placed sch).
Proof.
  intros H T. rewrite <- usage_spec. unfold is_feasible in H. rewrite forallb_forall in H.
  destruct (nth_in_or_default T (usage sch) 0%N) as [I|E]; [|rewrite E; cbn; lia].
  apply H, N.leb_le in I. lia.
Qed.

Theorem total_latency_sound sch :
  N.to_nat (total_latency sch) = list_latency (map to_placed sch).
Proof.
  induction sch as [|[[s o] t] sch IH]; [reflexivity|].
  unfold total_latency, list_latency, lsum in *. cbn [map fold_right].
  rewrite <- IH. unfold to_placed, to_request. cbn [fst snd output]. lia.
Qed.

Lemma insert_entry_permutation le r l : Permutation (insert_entry le r l) (r :: l).
Proof.
  induction l as [|r' l IH]; [apply Permutation_refl|]. cbn [insert_entry].
  destruct (le r r'); [apply Permutation_refl|].
  eapply Permutation_trans; [apply perm_skip, IH|apply perm_swap].
Qed.

Lemma sort_entries_permutation le l : Permutation (sort_entries le l) l.
Proof.
  induction l as [|r l IH]; [constructor|]. cbn [sort_entries fold_right].
  eapply Permutation_trans; [apply insert_entry_permutation|apply perm_skip, IH].
Qed.

Lemma equal_entries_spec l l' : equal_entries l l' = true -> l = l'.
Proof.
  induction l as [|[s o] l IH] in l' |- *; destruct l' as [|[s' o'] l']; cbn; try discriminate; auto.
  rewrite !andb_true_iff, !N.eqb_eq. intros [[-> ->] H]. rewrite (IH l' H). reflexivity.
Qed.

Theorem same_requests_sound sch l : same_requests (map fst sch) l = true ->
  schedules (map to_placed sch) (map to_request l).
Proof.
  intros H. apply equal_entries_spec in H.
  assert (P : Permutation (map fst sch) l).
  { eapply Permutation_trans; [apply Permutation_sym, (sort_entries_permutation entry_leb)|].
    rewrite H. apply sort_entries_permutation. }
  unfold schedules. rewrite map_map. apply (Permutation_map to_request) in P.
  rewrite map_map in P. exact P.
Qed.

(** What a successful check proves in the model: both the schedule of the policy and
    the other one are feasible schedules of the same requests, of the stated
    latencies.  (That the first is the one the policy produces is by computation.) *)
Theorem witness_sound a f key M order schedule alg other :
  witness a f key M order schedule alg other = true ->
  exists sch, policy a f M order = Some sch
    /\ (schedules (map to_placed sch) (map to_request order)
        /\ list_feasible (N.to_nat M) (map to_placed sch)
        /\ list_latency (map to_placed sch) = N.to_nat alg)
    /\ (schedules (map to_placed schedule) (map to_request order)
        /\ list_feasible (N.to_nat M) (map to_placed schedule)
        /\ list_latency (map to_placed schedule) = N.to_nat other).
Proof.
  unfold witness. rewrite !andb_true_iff. intros [[[[_ H] S] F] L].
  destruct (policy a f M order) as [sch|]; [|discriminate].
  rewrite !andb_true_iff in H. destruct H as [[F' S'] L'].
  apply N.eqb_eq in L, L'. exists sch. split; [reflexivity|].
  split; (split; [apply same_requests_sound; assumption|split; [apply is_feasible_sound; assumption|]]);
    rewrite <- total_latency_sound; congruence.
Qed.
