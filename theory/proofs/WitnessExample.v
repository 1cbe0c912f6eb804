(** * Computed witnesses: the shape of a generated file

    Each witness is an instance in the order of the policy, a schedule, and one
    theorem proved by [vm_compute].  [WitnessSound.witness_sound] says what the
    theorem means in the model. *)

From Burst Require Import Witness.
Require Import NArith List.
Import ListNotations.
Local Open Scope N_scope.

(** ** R1 at M = 10000: strict SVF 1885, another schedule 229, ratio 8.23 > 8 *)
Definition r1_order : list entry := [(1, 139)] ++ repeat (9999, 1) 12.
Definition r1_schedule : list placed_entry :=
  [((1, 139), 12);
   ((9999, 1), 0); ((9999, 1), 1); ((9999, 1), 2); ((9999, 1), 3); ((9999, 1), 4); ((9999, 1), 5);
   ((9999, 1), 6); ((9999, 1), 7); ((9999, 1), 8); ((9999, 1), 9); ((9999, 1), 10); ((9999, 1), 11)].

Theorem r1_witness :
  witness Strict Lookahead key_volume 10000 r1_order r1_schedule 1885 229 = true
  /\ 8 * 229 < 1885 * 1.
Proof. vm_compute. split; reflexivity. Qed.

(** A schedule may also be the one of another policy. *)
Definition schedule_of (a : admission) (f : fit) (M : N) (order : list entry) : list placed_entry :=
  match policy a f M order with Some sch => sch | None => [] end.

(** ** R3, computed: skip-ahead SVF, peaks at most M / 2, more than 6 times strict *)
Definition skip_order : list entry :=
  repeat (150, 1) 3 ++ repeat (150, 2) 2 ++ repeat (150, 3) 3 ++ repeat (150, 4) 2
  ++ repeat (749, 1) 80 ++ repeat (150, 150) 10.

Theorem skip_ahead_witness :
  peaks_within 1500 2 skip_order = true
  /\ witness SkipAhead Lookahead key_volume 1500 skip_order
       (schedule_of Strict Lookahead 1500 skip_order) 28051 4674 = true
  /\ 6 * 4674 < 28051 * 1.
Proof. vm_compute. repeat split; reflexivity. Qed.

(** ** EASY backfilling (only the head reserved), peaks at most M / 2: more than 7
    times full conservative backfilling, which equals strict here.  The parametric
    statement is in [EasyBackfilling.v]. *)
Definition easy_order : list entry :=
  [(399, 1); (400, 1)] ++ repeat (799, 1) 50 ++ repeat (198, 201) 4.

Theorem easy_witness :
  peaks_within 1600 2 easy_order = true
  /\ witness Easy Lookahead key_volume 1600 easy_order
       (schedule_of Conservative Lookahead 1600 easy_order) 11282 1610 = true
  /\ 7 * 1610 < 11282 * 1.
Proof. vm_compute. repeat split; reflexivity. Qed.

(** ** T8, computed: strict SVF with peak reservation, alpha = 1/2, ratio above 3

    All volumes are 210 and M = 420.  As the number of groups and the output length
    grow, the ratio tends to 4 (T2); for look-ahead it is at most 8/3 in the limit of
    short outputs (T7). *)
Definition t8_order : list entry :=
  concat (repeat (repeat (0, 20) 11 ++ [(209, 1)]) 60).
Definition t8_schedule : list placed_entry :=
  map (fun j => ((209, 1), N.of_nat j / 2)) (seq 0 60)
  ++ map (fun j => ((0, 20), 30 + N.of_nat j / 2)) (seq 0 660).

Theorem t8_witness :
  peaks_within 420 2 t8_order = true
  /\ witness Strict Peak key_volume 420 t8_order t8_schedule 441165 142500 = true
  /\ 3 * 142500 < 441165 * 1.
Proof. vm_compute. repeat split; reflexivity. Qed.
