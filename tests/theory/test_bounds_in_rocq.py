"""The bounds in Python are those proved in Rocq: same hypotheses, same numbers, on sampled instances.

For each sample a Rocq file states either that the policy's total latency is at most the value computed in Python
times that of every feasible schedule, proved by the general theorem with its hypotheses decided by computation;
or, where Python refuses, that a hypothesis of the theorem fails. A hypothesis dropped in Python alone makes Rocq
reject the file.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count

import pytest

from runtime.reference import reference_simulate
from runtime.rocq import ProofError, built_proofs, check_source
from theory.burst import root_above, volume_order, volumes_of
from theory.burst_bounds import BOUNDS, BurstBound
from theory.errors import InputError
from theory.model import PAPER, Instance, Request, Schedule

pytestmark = [
    pytest.mark.bounds,
    pytest.mark.rocq,
    pytest.mark.skipif(shutil.which("coqc") is None, reason="proofs not checked: coqc not found on the path"),
]

Sizes = Sequence[tuple[int, int]]
BY_ID = {bound.id: bound for bound in BOUNDS}
CHECKED = ("T1", "T2", "T4", "T5")
IS_STRICT = {"strict": "true", "conservative": "false"}
CHARGE = {"lookahead": "held", "peak": "reserved"}

PREAMBLE = """
From Burst Require Import Sums Model MeanBusyTime Policies Waiting BurstBounds Multiset SqrtBound StaticOrder.
Require Import Arith Lia Bool List.
Import ListNotations.

(** What a bound of Python promises: latency at most num / den times that of any feasible schedule. *)
Definition promised (M : nat) (u : charge) (is_strict : bool) (l : list request) (num den : nat) : Prop :=
  forall t', feasible M (length l) (numbered l) t' ->
    den * policy_latency M u is_strict l <= num * latency (length l) (numbered l) t'.

(** The hypotheses, decided. *)
Definition each (p : request -> bool) (l : list request) := forallb (fun i => p (numbered l i)) (seq 0 (length l)).
Definition by_volume (l : list request) := forallb (fun j => forallb (fun i =>
  volume (numbered l i) <=? volume (numbered l j)) (seq 0 (S j))) (seq 0 (length l)).
Definition peaks_at_most (P : nat) := each (fun r => peak r <=? P).
Definition outputs_positive := each (fun r => 1 <=? output r).
Definition volumes_within (a b : nat) := each (fun r => (a <=? volume r) && (volume r <=? b)).

Lemma each_spec p l : each p l = true <-> forall i, i < length l -> p (numbered l i) = true.
Proof.
  unfold each. rewrite forallb_forall. split; intros H i Hi; apply H; [apply in_seq; lia|].
  apply in_seq in Hi. lia.
Qed.
Lemma by_volume_spec l : by_volume l = true <-> volume_sorted (length l) (numbered l).
Proof.
  unfold by_volume, volume_sorted. rewrite forallb_forall. split; intros H.
  - intros i j Hij Hj. specialize (H j ltac:(apply in_seq; lia)). rewrite forallb_forall in H.
    apply Nat.leb_le, H, in_seq. lia.
  - intros j Hj. apply forallb_forall. intros i Hi. apply in_seq in Hi, Hj. apply Nat.leb_le, H; lia.
Qed.
Lemma peaks_spec P l : peaks_at_most P l = true <-> forall i, i < length l -> peak (numbered l i) <= P.
Proof. unfold peaks_at_most. rewrite each_spec. split; intros H i Hi; apply Nat.leb_le, H, Hi. Qed.
Lemma outputs_spec l : outputs_positive l = true -> forall i, i < length l -> 1 <= output (numbered l i).
Proof. unfold outputs_positive. rewrite each_spec. intros H i Hi. apply Nat.leb_le, H, Hi. Qed.
Lemma volumes_spec a b l : volumes_within a b l = true ->
  forall i, i < length l -> a <= volume (numbered l i) /\\ volume (numbered l i) <= b.
Proof.
  unfold volumes_within. rewrite each_spec. intros H i Hi. specialize (H i Hi).
  apply andb_true_iff in H. rewrite !Nat.leb_le in H. exact H.
Qed.

(** a x <= b y, where b / a is num / den exactly. *)
Lemma scaled a b num den x y : (0 <? a) && (den * b =? num * a) = true -> a * x <= b * y -> den * x <= num * y.
Proof.
  rewrite andb_true_iff, Nat.ltb_lt, Nat.eqb_eq. intros [A E] H.
  apply Nat.mul_le_mono_pos_l with (p := a); [exact A|].
  assert (den * (a * x) <= den * (b * y)) by (apply Nat.mul_le_mono_l; exact H).
  assert (den * (b * y) = num * a * y) by (rewrite <- E; lia). lia.
Qed.

Section Use.
Variables (M P : nat) (u : charge) (is_strict : bool) (l : list request) (num den : nat).
Hypothesis u_sound : sound u.
Hypothesis fit_memory : (P <=? M) = true.
Hypothesis peaks : peaks_at_most P l = true.

Lemma inside : P <= M.
Proof. apply Nat.leb_le, fit_memory. Qed.

Lemma runs : greedy M (length l) u (numbered l) (run M u (numbered l) is_strict).
Proof.
  pose proof inside. apply run_greedy; [exact u_sound|]. intros i Hi.
  apply (peaks_spec P l) in Hi; [lia|exact peaks].
Qed.

Lemma use_T1 : by_volume l = true ->
  (0 <? M + 1 - P) && (den * (3 * M + 1 - P) =? num * (M + 1 - P)) = true -> promised M u is_strict l num den.
Proof.
  intros V E t' F. apply (scaled _ _ _ _ _ _ E). apply by_volume_spec in V. pose proof inside.
  apply T1; auto; [apply peaks_spec, peaks|apply (greedy_certifying M _ u); [exact u_sound|apply runs]].
Qed.

Lemma use_T2 : by_volume l = true -> outputs_positive l = true ->
  (0 <? 3 * (M + 1 - P)) && (den * Nat.max (3 * (M + 1 - P) + 4 * M) (6 * M) =? num * (3 * (M + 1 - P))) = true ->
  promised M u is_strict l num den.
Proof.
  intros V O E t' F. apply (scaled _ _ _ _ _ _ E). apply by_volume_spec in V. pose proof inside.
  apply T2; auto; [apply peaks_spec, peaks|apply (greedy_certifying M _ u); [exact u_sound|apply runs]|].
  apply outputs_spec, O.
Qed.

Lemma use_T4 r : by_volume l = true -> outputs_positive l = true -> (r * r <=? M) = true ->
  (0 <? r) && (den * (5 * r + 2 * M) =? num * r) = true -> promised M u is_strict l num den.
Proof.
  intros V O R E t' F. apply (scaled _ _ _ _ _ _ E). apply by_volume_spec in V. apply Nat.leb_le in R.
  pose proof inside.
  apply (T4 M _ u (numbered l) _ t'); auto; [apply outputs_spec, O| |apply runs].
  intros i Hi. apply (peaks_spec P l) in Hi; [lia|exact peaks].
Qed.

Lemma use_T5 a b vmin vmax : (2 * P <=? M) && (1 <=? b) && (b * b * vmax <=? a * a * vmin) = true ->
  volumes_within vmin vmax l = true -> (0 <? b) && (den * (b + 8 * a) =? num * b) = true ->
  promised M u is_strict l num den.
Proof.
  intros HBR W E t' F. rewrite !andb_true_iff, !Nat.leb_le in HBR. destruct HBR as [[H B] R].
  apply scaled with (a := b) (b := b + 8 * a); [exact E|].
  apply (T5 M _ P (numbered l) _ t') with (vmin := vmin) (vmax := vmax); auto.
  - apply peaks_spec, peaks.
  - apply (greedy_certifying M _ u); [exact u_sound|apply runs].
  - apply volumes_spec, W.
Qed.
End Use.

Ltac by_computation := vm_compute; reflexivity.
"""


def rocq_list(sizes: Sizes) -> str:
    return "[" + "; ".join(f"Req {s} {o}" for s, o in sizes) + "]"


def promise(bound: BurstBound, instance: Instance, order: Sequence[int], value: Fraction) -> str:
    """A Rocq proof, by the theorem of this id, that `value` bounds the ratio: each admission rule and fit test."""
    volumes, memory, peak = volumes_of(instance), instance.memory, instance.peak
    sizes = [(instance.requests[i].prompt, instance.requests[i].output) for i in order]
    root = root_above(Fraction(max(volumes), min(volumes)))
    lemma = {
        "T1": "use_T1",
        "T2": "use_T2",
        "T4": f"use_T4 with (r := {int(memory**0.5)})",
        "T5": f"use_T5 with (a := {root.numerator}) (b := {root.denominator}) (vmin := {min(volumes)}) "
        f"(vmax := {max(volumes)})",
    }[bound.id]
    lemma += f"{'' if 'with' in lemma else ' with'} (P := {peak})"
    return "".join(
        f"Goal promised {memory} {CHARGE[fit]} {IS_STRICT[admission]} {rocq_list(sizes)} {value.numerator} "
        f"{value.denominator}.\nProof. apply {lemma}; [apply {CHARGE[fit]}_sound|by_computation..]. Qed.\n"
        for admission in bound.hypotheses.admissions
        for fit in bound.hypotheses.fits
    )


def refusal(bound: BurstBound, memory: int, sizes: Sizes) -> str:
    """A Rocq proof that the theorem of this id does not apply to requests in this order."""
    failing = "~ (forall i, i < length l -> peak (numbered l i) <= M)"
    if bound.id == "T5":
        failing += " \\/ ~ (forall i, i < length l -> peak (numbered l i) <= M / 2)"
    else:
        failing += " \\/ ~ volume_sorted (length l) (numbered l)"
    half = "rewrite <- peaks_spec" if bound.id == "T5" else "rewrite <- by_volume_spec"
    return (
        f"Goal let M := {memory} in let l := {rocq_list(sizes)} in {failing}.\nProof. intros M l.\n"
        "first [left; rewrite <- peaks_spec; vm_compute; discriminate"
        f"|right; {half}; vm_compute; discriminate]. Qed.\n"
    )


def behaviour(instance: Instance, order: Sequence[int]) -> str:
    """Rocq computes the latencies of the policies and the volume and moment of every request as Python does."""
    lines = []
    for r in instance.requests:
        volume, moment = r.volume, PAPER.moment(r.prompt, r.output)
        lines.append(
            f"Goal volume (Req {r.prompt} {r.output}) = {volume} /\\ lag (Req {r.prompt} {r.output}) = {moment}."
        )
        lines.append("Proof. split; by_computation. Qed.")
    prompts, outputs = [r.prompt for r in instance.requests], [r.output for r in instance.requests]
    ranks = [order.index(i) for i in range(len(order))]
    zeros = [0] * len(order)
    sizes = rocq_list([(prompts[i], outputs[i]) for i in order])
    for admission, is_strict in IS_STRICT.items():
        for fit, charge in CHARGE.items():
            starts, _, _ = reference_simulate(
                prompts, outputs, zeros, ranks, outputs, instance.memory, PAPER, admission, fit
            )
            latency = Schedule(tuple(starts)).total_latency(instance)
            lines.append(f"Goal policy_latency {instance.memory} {charge} {is_strict} {sizes} = {latency}.")
            lines.append("Proof. by_computation. Qed.")
    return "\n".join(lines) + "\n"


def samples(seed: int) -> Iterator[tuple[int, Sizes]]:
    """Memory and sizes: some requests exceed the memory, some half of it, some volume ratios are squares."""
    generator = random.Random(seed)
    for k in count():
        memory = generator.randint(4, 24)
        n = generator.randint(1, 4)
        if k % 2:
            yield memory, [(generator.choice((0, 3, 8)), 1) for _ in range(n)]
        else:
            yield (
                memory,
                [(generator.randint(0, memory // 2), generator.randint(1, memory // 2 + 1)) for _ in range(n)],
            )


def statements(bound: BurstBound, memory: int, sizes: Sizes, order: Sequence[int]) -> tuple[str, str]:
    """What Rocq must prove about this sample, and whether Python accepts or refuses it."""
    try:
        instance = Instance(memory, [Request(*size) for size in sizes])
        value = bound.evaluate(instance, order)
    except InputError:
        return refusal(bound, memory, [sizes[i] for i in order]), "refused"
    if value.denominator > 1000:  # a root rounded up: unary numbers are no place for it
        return "", "rounded"
    return promise(bound, instance, order, value), "accepted"


def test_python_and_rocq_agree_on_hypotheses_and_values_of_the_burst_bounds() -> None:
    text, seen = PREAMBLE, {(id, answer): 0 for id in CHECKED for answer in ("accepted", "refused", "rounded")}
    generator, stream = random.Random(1), samples(seed=2)
    for _ in range(24):
        memory, sizes = next(stream)
        order = list(range(len(sizes)))
        if generator.random() < 0.3:
            generator.shuffle(order)
        else:
            order.sort(key=lambda i: PAPER.volume(*sizes[i]))
        for id in CHECKED:
            statement, answer = statements(BY_ID[id], memory, sizes, order)
            text += statement
            seen[id, answer] += 1
    assert all(seen[id, answer] >= 3 for id in CHECKED for answer in ("accepted", "refused")), seen
    assert check_source(text, built_proofs()) == ""


def test_python_and_rocq_compute_the_same_latencies_volumes_and_moments() -> None:
    text, stream = PREAMBLE, samples(seed=3)
    for _ in range(12):
        memory, sizes = next(stream)
        kept = [Request(*size) for size in sizes if sum(size) <= memory]
        instance = Instance(memory, kept or [Request(0, 1)])
        text += behaviour(instance, volume_order(instance)) + behaviour(instance, tuple(range(len(instance))))
    assert check_source(text, built_proofs()) == ""


def assert_rejected(statement: str) -> None:
    """Rocq accepts the preamble and rejects the statement."""
    with pytest.raises(ProofError, match=r"line \d+") as error:
        check_source(PREAMBLE + statement, built_proofs())
    where = re.search(r"line (\d+)", str(error.value))
    assert where and int(where[1]) > PREAMBLE.count("\n")


ANY_ORDER = BY_ID["T5"].hypotheses.order


@pytest.mark.parametrize(
    ("bound", "memory", "sizes"),
    [
        (replace(BY_ID["T5"], value=lambda i, _: Fraction(25)), 10, [(0, 1), (3, 1), (8, 1)]),
        (replace(BY_ID["T2"], hypotheses=replace(BY_ID["T2"].hypotheses, order=ANY_ORDER)), 12, [(2, 3), (0, 1)]),
        (replace(BY_ID["T2"], value=lambda i, _: Fraction(2)), 12, [(0, 1), (2, 3)]),
        (replace(BY_ID["T1"], value=lambda i, _: Fraction(9)), 12, [(0, 1), (2, 3)]),
    ],
    ids=["T5-beyond-half", "T2-any-order", "T2-too-good", "T1-not-the-theorem's"],
)
def test_a_hypothesis_or_a_value_changed_in_python_alone_is_noticed(
    bound: BurstBound, memory: int, sizes: Sizes
) -> None:
    statement, answer = statements(bound, memory, sizes, range(len(sizes)))
    assert answer == "accepted"
    assert_rejected(statement)


def test_a_hypothesis_added_in_python_alone_is_noticed() -> None:
    def refuse(instance: Instance, order: Sequence[int]) -> Fraction:
        raise InputError("requests", "are refused", "give others")

    statement, answer = statements(replace(BY_ID["T1"], value=refuse), 12, [(0, 1), (2, 3)], (0, 1))
    assert answer == "refused"
    assert_rejected(statement)
