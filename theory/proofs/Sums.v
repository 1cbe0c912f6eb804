(** * Finite sums of natural numbers

    Everything here is elementary.  [\sum_(i < n) f i] is the sum of
    [f 0 .. f (n - 1)]. *)

Require Import Arith Lia Bool List Permutation.
Import ListNotations.

Fixpoint sum (n : nat) (f : nat -> nat) : nat :=
  match n with 0 => 0 | S m => sum m f + f m end.

Notation "\sum_ ( i < n ) F" := (sum n (fun i => F))
  (at level 41, F at level 41, i name, n at level 50, right associativity).

(** The indicator of a decidable statement. *)
Notation "\1( b )" := (Nat.b2n b) (at level 9, format "\1( b )").

Lemma sum_ext n f g : (forall i, i < n -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; simpl; intros H; auto.
  rewrite IH, H by (intros; try apply H; lia). reflexivity.
Qed.

Lemma sum_le n f g : (forall i, i < n -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; simpl; intros H; auto.
  apply Nat.add_le_mono; [apply IH; intros; apply H; lia | apply H; lia].
Qed.

Lemma sum_plus n f g : \sum_(i < n) (f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; lia. Qed.

Lemma sum_scal n c f : \sum_(i < n) (c * f i) = c * sum n f.
Proof. induction n; simpl; lia. Qed.

Lemma sum_const n c : \sum_(i < n) c = n * c.
Proof. induction n; simpl; lia. Qed.

Lemma sum_zero n f : (forall i, i < n -> f i = 0) -> sum n f = 0.
Proof. intros H. rewrite (sum_ext n f (fun _ => 0)) by exact H. rewrite sum_const. lia. Qed.

Lemma sum_swap n m f : \sum_(i < n) \sum_(j < m) f i j = \sum_(j < m) \sum_(i < n) f i j.
Proof.
  induction n as [|n IH]; simpl. { rewrite sum_const; lia. }
  rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_mono n m f : n <= m -> sum n f <= sum m f.
Proof. induction 1; simpl; lia. Qed.

Lemma sum_head m f : sum (S m) f = f 0 + \sum_(j < m) f (S j).
Proof. induction m; [simpl; lia|]. cbn [sum] in *. lia. Qed.

Lemma sum_add a b f : sum (a + b) f = sum a f + \sum_(j < b) f (a + j).
Proof.
  induction b as [|b IH]; [simpl; rewrite Nat.add_0_r; lia|].
  rewrite Nat.add_succ_r. cbn [sum]. lia.
Qed.

Lemma sum_term n f i : i < n -> f i <= sum n f.
Proof.
  induction n as [|n IH]; intros H; [lia|]. cbn [sum].
  destruct (Nat.eq_dec i n) as [->|]; [lia|]. specialize (IH ltac:(lia)). lia.
Qed.

Lemma sum_two_terms n f i j : i < j -> j < n -> f i + f j <= sum n f.
Proof.
  induction n as [|n IH]; intros Hij Hj; [lia|]. cbn [sum].
  destruct (Nat.eq_dec j n) as [->|]; [pose proof (sum_term n f i Hij); lia|].
  specialize (IH Hij ltac:(lia)). lia.
Qed.

(** A sum is at most the sum over a list that contains its support. *)
Lemma sum_support n f (l : list nat) :
  (forall i, i < n -> ~ In i l -> f i = 0) -> sum n f <= fold_right (fun a z => f a + z) 0 l.
Proof.
  intros H. induction n as [|n IH] in l, H |- *; [cbn [sum]; lia|]. cbn [sum].
  destruct (in_dec Nat.eq_dec n l) as [I|I].
  - destruct (in_split n l I) as [l1 [l2 E]].
    assert (G : sum n f <= fold_right (fun a z => f a + z) 0 (l1 ++ l2)).
    { apply IH. intros i Hi HI. apply H; [lia|]. rewrite E, in_app_iff. intros J.
      apply HI, in_app_iff. destruct J as [J|[J|J]]; auto. lia. }
    assert (F : forall l1 l2, fold_right (fun a z => f a + z) 0 (l1 ++ n :: l2)
      = f n + fold_right (fun a z => f a + z) 0 (l1 ++ l2)).
    { clear. induction l1 as [|a l1 IH]; intros l2; [reflexivity|]. cbn [app fold_right].
      rewrite IH. lia. }
    rewrite E, F. lia.
  - rewrite (H n) by (try lia; exact I). rewrite Nat.add_0_r. apply IH. intros; apply H; auto.
Qed.

(** A sum of an even number of terms, two by two. *)
Lemma sum_pairs n f : sum (2 * n) f = \sum_(j < n) (f (2 * j) + f (2 * j + 1)).
Proof.
  induction n as [|n IH]; [reflexivity|].
  replace (2 * S n) with (S (S (2 * n))) by lia. cbn [sum]. rewrite IH.
  replace (2 * n + 1) with (S (2 * n)) by lia. lia.
Qed.

(** Products of sums are double sums. *)
Lemma sum_mul n m f g : \sum_(i < n) \sum_(j < m) (f i * g j) = sum n f * sum m g.
Proof.
  rewrite (sum_ext n _ (fun i => sum m g * f i)) by (intros; rewrite sum_scal; lia).
  rewrite sum_scal. lia.
Qed.

(** A square array, summed over ordered pairs, is its lower triangle, its upper
    triangle and its diagonal. *)
Lemma sum_square n f :
  \sum_(i < n) \sum_(j < n) f i j = \sum_(k < n) (\sum_(i < k) (f i k + f k i) + f k k).
Proof.
  induction n as [|n IH]; [reflexivity|]. cbn [sum].
  rewrite sum_plus, IH, (sum_plus n (fun i => f i n) (fun i => f n i)). lia.
Qed.

Lemma two_ab a b : 2 * (a * b) <= a * a + b * b.
Proof. destruct (Nat.le_ge_cases a b); nia. Qed.

(** Cauchy-Schwarz. *)
Lemma cauchy_schwarz n x y :
  (\sum_(i < n) (x i * y i)) * (\sum_(i < n) (x i * y i))
  <= (\sum_(i < n) (x i * x i)) * (\sum_(i < n) (y i * y i)).
Proof.
  assert (H : 2 * (\sum_(i < n) \sum_(j < n) ((x i * y i) * (x j * y j)))
    <= \sum_(i < n) \sum_(j < n) ((x i * x i) * (y j * y j))
     + \sum_(i < n) \sum_(j < n) ((y i * y i) * (x j * x j))).
  { rewrite <- sum_scal, <- sum_plus. apply sum_le; intros i Hi.
    rewrite <- sum_scal, <- sum_plus. apply sum_le; intros j Hj.
    pose proof (two_ab (x i * y j) (x j * y i)). lia. }
  rewrite (sum_mul n n (fun i => x i * y i) (fun i => x i * y i)) in H.
  rewrite (sum_mul n n (fun i => x i * x i) (fun i => y i * y i)) in H.
  rewrite (sum_mul n n (fun i => y i * y i) (fun i => x i * x i)) in H.
  lia.
Qed.

(** [min] is an integral of indicators. *)
Lemma min_indicator U a b : a <= U -> \sum_(u < U) (\1(u <? a) * \1(u <? b)) = Nat.min a b.
Proof.
  intros HU.
  assert (E : forall W, \sum_(u < W) (\1(u <? a) * \1(u <? b)) = Nat.min W (Nat.min a b)).
  { induction W as [|W IH]; [reflexivity|]. cbn [sum]. rewrite IH.
    destruct (Nat.ltb_spec W a), (Nat.ltb_spec W b); cbn [Nat.b2n]; lia. }
  rewrite E. lia.
Qed.

(** An interval [[a, b)] meets [[0, C)] in at most [b - a] points. *)
Lemma interval_slots a b C : \sum_(T < C) \1((a <=? T) && (T <? b)) <= b - a.
Proof.
  assert (E : \sum_(T < C) \1((a <=? T) && (T <? b)) = Nat.min b C - Nat.min a (Nat.min b C)).
  { induction C as [|C IH]; cbn [sum]; [lia|]. rewrite IH.
    destruct (Nat.leb_spec a C), (Nat.ltb_spec C b); cbn [andb Nat.b2n]; lia. }
  lia.
Qed.

Lemma bounded_by n f : exists U, forall i, i < n -> f i <= U.
Proof.
  exists (sum n f). intros i Hi. apply sum_term. exact Hi.
Qed.

(** Either a property holds below [n], or there is a first exception. *)
Lemma first_exception (p : nat -> bool) n :
  (forall i, i < n -> p i = true)
  \/ exists i, i < n /\ p i = false /\ forall j, j < i -> p j = true.
Proof.
  induction n as [|n [IH|[i [A [B C]]]]]; [left; intros; lia| |right; exists i; auto].
  destruct (p n) eqn:E.
  - left; intros i Hi. destruct (Nat.eq_dec i n) as [->|]; [exact E|apply IH; lia].
  - right; exists n; auto.
Qed.

(** Sums over lists, invariant under permutation. *)
Definition lsum {A} (f : A -> nat) (l : list A) : nat := fold_right (fun a z => f a + z) 0 l.

Lemma lsum_perm {A} (f : A -> nat) l l' : Permutation l l' -> lsum f l = lsum f l'.
Proof. induction 1; simpl; lia. Qed.

Lemma lsum_nth {A} (f : A -> nat) d l : lsum f l = \sum_(i < length l) f (nth i l d).
Proof.
  induction l as [|a l IH]; [reflexivity|]. cbn [length lsum fold_right].
  rewrite sum_head. cbn [nth]. unfold lsum in IH. rewrite IH. reflexivity.
Qed.
