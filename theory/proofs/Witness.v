(** * Checking a witness by computation

    A witness against a policy is an instance and a better schedule.  The
    definitions here run on binary numbers, so that a file with one instance can be
    checked by [vm_compute] (see [WitnessExample.v] and the README).

    Memory in use is a profile: the tokens charged in the current slot and in the
    slots after it.  A request that starts now is charged [s + 1, ..., s + o]
    (look-ahead) or [s + o] in each of its [o] slots (peak reservation). *)

Require Import NArith List Bool.
Import ListNotations.
Local Open Scope N_scope.

(** (prompt, output) and (prompt, output, start). *)
Definition entry := (N * N)%type.
Definition placed_entry := (N * N * N)%type.

Inductive fit := Lookahead | Peak.
Inductive admission := Strict | SkipAhead | Easy | Conservative.

Definition key_volume (r : entry) : N := fst r * snd r + snd r * (snd r + 1) / 2.
Definition key_output (r : entry) : N := snd r.
Definition key_arrival (r : entry) : N := 0.

(** ** Placing a request in a profile *)

(** Charge [c, c + d, c + 2 d, ...] for [o] slots; [None] if some slot exceeds [M]. *)
Fixpoint place (M c d : N) (o : nat) (p : list N) : option (list N) :=
  match o with
  | O => Some p
  | S o' =>
      let (now, later) := match p with [] => (0, []) | x :: p' => (x, p') end in
      if now + c <=? M
      then match place M (c + d) d o' later with
           | Some p' => Some (now + c :: p')
           | None => None
           end
      else None
  end.

Definition place_request (M : N) (f : fit) (r : entry) (p : list N) : option (list N) :=
  let (s, o) := r in
  match f with
  | Lookahead => place M (s + 1) 1 (N.to_nat o) p
  | Peak => place M (s + o) 0 (N.to_nat o) p
  end.

(** Earliest slot of the profile in which the request fits; new profile and delay. *)
Fixpoint place_earliest (M : N) (f : fit) (r : entry) (p : list N) : list N * N :=
  match place_request M f r p with
  | Some p' => (p', 0)
  | None =>
      match p with
      | [] => ([], 0)
      | x :: later => let (p', d) := place_earliest M f r later in (x :: p', d + 1)
      end
  end.

(** ** One scan of the waiting requests at time [T]

    [p] is the profile of the running requests, [plan] the same with the reservation
    of the head under EASY (otherwise [plan = p]). *)
Definition scan_result := (list entry * list N * list placed_entry)%type.

(** After the head has been refused: who may still start? *)
Fixpoint scan_behind (M : N) (f : fit) (T : N) (q : list entry) (p plan : list N)
    (done : list placed_entry) : scan_result :=
  match q with
  | [] => ([], p, done)
  | r :: q' =>
      match place_request M f r plan, place_request M f r p with
      | Some plan', Some p' => scan_behind M f T q' p' plan' ((r, T) :: done)
      | _, _ => let '(rest, p2, done2) := scan_behind M f T q' p plan done in (r :: rest, p2, done2)
      end
  end.

Fixpoint scan (a : admission) (M : N) (f : fit) (T : N) (q : list entry) (p : list N)
    (done : list placed_entry) : scan_result :=
  match q with
  | [] => ([], p, done)
  | r :: q' =>
      match place_request M f r p with
      | Some p' => scan a M f T q' p' ((r, T) :: done)
      | None =>
          match a with
          | SkipAhead => let '(rest, p2, done2) := scan_behind M f T q' p p done in (r :: rest, p2, done2)
          | Easy =>
              let plan := fst (place_earliest M f r p) in
              let '(rest, p2, done2) := scan_behind M f T q' p plan done in (r :: rest, p2, done2)
          | _ => (q, p, done)
          end
      end
  end.

Fixpoint steps (a : admission) (M : N) (f : fit) (fuel : nat) (T : N) (q : list entry) (p : list N)
    (done : list placed_entry) : option (list placed_entry) :=
  match fuel with
  | O => None
  | S fuel' =>
      let '(q', p', done') := scan a M f T q p done in
      match q' with
      | [] => Some done'
      | _ => steps a M f fuel' (T + 1) q' (tl p') done'
      end
  end.

(** Serial earliest fit, from an empty machine. *)
Fixpoint serial (M : N) (f : fit) (q : list entry) (p : list N) : list placed_entry :=
  match q with
  | [] => []
  | r :: q' => let (p', t) := place_earliest M f r p in (r, t) :: serial M f q' p'
  end.

(** The schedule of a policy on requests given in the order of the policy. *)
Definition policy (a : admission) (f : fit) (M : N) (order : list entry) : option (list placed_entry) :=
  match a with
  | Conservative => Some (serial M f order [])
  | _ => steps a M f (S (N.to_nat (fold_right (fun r z => snd r + z) 0 order))) 0 order [] []
  end.

(** ** Checking a schedule *)

Definition total_latency (sch : list placed_entry) : N :=
  fold_right (fun '((_, o), t) z => t + o + z) 0 sch.

(** Add [c, c + 1, ...] for [o] slots from slot [t] on. *)
Fixpoint raise (c : N) (o : nat) (p : list N) : list N :=
  match o with
  | O => p
  | S o' =>
      match p with
      | [] => c :: raise (c + 1) o' []
      | x :: p' => x + c :: raise (c + 1) o' p'
      end
  end.
Fixpoint raise_at (t : nat) (c : N) (o : nat) (p : list N) : list N :=
  match t with
  | O => raise c o p
  | S t' => match p with
            | [] => 0 :: raise_at t' c o []
            | x :: p' => x :: raise_at t' c o p'
            end
  end.
Definition usage (sch : list placed_entry) : list N :=
  fold_right (fun '((s, o), t) p => raise_at (N.to_nat t) (s + 1) (N.to_nat o) p) [] sch.
Definition is_feasible (M : N) (sch : list placed_entry) : bool :=
  forallb (fun x => x <=? M) (usage sch).

(** The same requests, in any order. *)
Definition entry_leb (a b : entry) : bool :=
  (fst a <? fst b) || ((fst a =? fst b) && (snd a <=? snd b)).
Fixpoint insert_entry (le : entry -> entry -> bool) (r : entry) (l : list entry) : list entry :=
  match l with
  | [] => [r]
  | r' :: l' => if le r r' then r :: l else r' :: insert_entry le r l'
  end.
Definition sort_entries (le : entry -> entry -> bool) (l : list entry) : list entry :=
  fold_right (insert_entry le) [] l.
Fixpoint equal_entries (l l' : list entry) : bool :=
  match l, l' with
  | [], [] => true
  | (s, o) :: l, (s', o') :: l' => (s =? s') && (o =? o') && equal_entries l l'
  | _, _ => false
  end.
Definition same_requests (l l' : list entry) : bool :=
  equal_entries (sort_entries entry_leb l) (sort_entries entry_leb l').

(** Stable order by a key, and the test that an explicit order respects it. *)
Definition order_by (key : entry -> N) (l : list entry) : list entry :=
  sort_entries (fun a b => key a <=? key b) l.
Fixpoint ordered_by (key : entry -> N) (l : list entry) : bool :=
  match l with
  | a :: ((b :: _) as l') => (key a <=? key b) && ordered_by key l'
  | _ => true
  end.

(** Largest peak, and the regime test [d * peak <= M] for all requests. *)
Definition peaks_within (M d : N) (l : list entry) : bool :=
  forallb (fun r => d * (fst r + snd r) <=? M) l.

(** The whole check: on [order], sorted by [key], the policy has latency [alg]; the
    schedule is feasible, has the same requests and latency [other]. *)
Definition witness (a : admission) (f : fit) (key : entry -> N) (M : N) (order : list entry)
    (schedule : list placed_entry) (alg other : N) : bool :=
  ordered_by key order
  && forallb (fun r => (1 <=? snd r) && (fst r + snd r <=? M)) order
  && match policy a f M order with
     | Some sch => is_feasible M sch && same_requests (map fst sch) order && (total_latency sch =? alg)
     | None => false
     end
  && same_requests (map fst schedule) order
  && is_feasible M schedule
  && (total_latency schedule =? other).
