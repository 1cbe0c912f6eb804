"""The symbolic checks: all pass, the techniques refuse what is false, and the families are what policies do."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from runtime.policies import SJF, SVF
from runtime.simulator import simulate
from theory.model import Instance, Request, Schedule
from theory.symbolic import SymbolicCheck, all_checks
from theory.symbolic_core import identity, limit, nonnegative, telescoping, unsatisfiable

CHECKS = all_checks()
x, y = sp.symbols("x y", nonnegative=True)


@pytest.mark.bounds
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_symbolic_check_passes(check: SymbolicCheck) -> None:
    assert check.ok is True, f"{check.statement}: {check.detail}"


def test_checks_have_unique_names_and_say_what_they_check() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert all(check.statement and check.detail for check in CHECKS)


@pytest.mark.parametrize(
    "check",
    [
        identity("n", "s", (x + 1) ** 2, x**2 + 1),
        nonnegative("n", "s", x - y, {x: 0, y: 0}),
        nonnegative("n", "s", x**2 - 2, {x: 1}),
        nonnegative("n", "s", x * y, {x: 0}),
        telescoping("n", "s", x * (x + 1) / 2 + 1, x, x),
        telescoping("n", "s", x * (x - 1) / 2, x, x),
        limit("n", "s", x / (x + 1), x, sp.oo, 2),
        unsatisfiable("n", "s", lambda z3: ([z3.Real("a") >= 0], z3.Real("a") >= 1)),
        unsatisfiable("n", "s", lambda z3: ([z3.Real("a") > 1, z3.Real("a") < 0], z3.Real("a") >= 1)),
    ],
    ids=lambda check: check.method,
)
def test_false_or_empty_statements_are_not_confirmed(check: SymbolicCheck) -> None:
    assert check.ok is False


def test_without_z3_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    found = {check.name: check for check in all_checks()}
    assert found["z3.combine"].ok is None
    assert found["z3.combine"].detail == "not checked here: z3 missing"
    assert found["T2.half"].ok is True


def run(inst: Instance, policy: Any = SVF) -> int:
    return simulate(inst, policy, admission="strict", fit="lookahead").total_latency


def checked(inst: Instance, starts: list[int]) -> int:
    assert Schedule(tuple(starts)).violation(inst) is None
    return Schedule(tuple(starts)).total_latency(inst)


def long_then_fat(length: int, fat: int) -> tuple[Instance, int, int]:
    """R1, R2."""
    memory = length * (length + 3) // 2 + 1
    inst = Instance(memory, [Request(1, length)] + [Request(memory - 1, 1)] * fat)
    svf = length + fat * length + fat * (fat + 1) // 2
    assert checked(inst, [fat, *range(fat)]) == fat * (fat + 1) // 2 + fat + length
    return inst, svf, fat * (fat + 1) // 2 + fat + length


def half_memory(length: int) -> tuple[Instance, int, int]:
    """R4 at alpha = 1/2, even length."""
    v = length * (length + 3) // 2
    inst = Instance(2 * v, [Request(1, length)] + [Request(v - 1, 1)] * length)
    other = checked(inst, [length // 2, *(j // 2 for j in range(length))])
    return inst, length * (length + 3) // 2, other


def full_memory(length: int, rounds: int) -> tuple[Instance, int, int]:
    """R4 with peaks near M."""
    memory = length * (length + 3) // 2
    inst = Instance(memory, [Request(1, length), Request(memory - 1, 1)] * rounds)
    other = checked(inst, [t for j in range(rounds) for t in (rounds + j, j)])
    return inst, rounds * (rounds + 1) * (length + 1) - rounds, other


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("family", "ratio"),
    [
        (long_then_fat(47, 12), Fraction(689, 137)),
        (long_then_fat(139, 12), Fraction(1885, 229)),
        (long_then_fat(2 * (2 * 3 + 2) + 1, 2), Fraction(54, 22)),
        (half_memory(20), Fraction(230, 140)),
        (half_memory(80), Fraction(3320, 1760)),
        (full_memory(14, 16), Fraction(4064, 736)),
    ],
)
def test_families_do_what_their_polynomials_say(family: tuple[Instance, int, int], ratio: Fraction) -> None:
    inst, svf, other = family
    assert run(inst) == svf
    assert Fraction(svf, other) == ratio


@pytest.mark.bounds
def test_the_memory_of_the_published_families_fits() -> None:
    """The ratio 1885/229 needs only 9870 tokens; in M = 10000 the fat requests leave room for nothing else."""
    inst = Instance(10000, [Request(1, 139)] + [Request(9999, 1)] * 12)
    assert run(inst) == 1885
    assert checked(inst, [12, *range(12)]) == 229


@pytest.mark.bounds
@pytest.mark.parametrize("batches", [1, 5, 12])
def test_equal_requests_finish_in_batches(batches: int) -> None:
    """R5: N o B (B + 1)/2."""
    n, o = 10, 8
    inst = Instance(n * o, [Request(0, o)] * (n * batches))
    assert run(inst) == n * o * batches * (batches + 1) // 2


@pytest.mark.bounds
@pytest.mark.parametrize("root", [8, 16])
def test_shortest_job_first_grows_with_the_root_of_the_memory(root: int) -> None:
    """R6."""
    memory = root**2
    inst = Instance(memory, [Request(memory // 2 - 1, 1)] * (4 * root) + [Request(0, 2)] * (2 * memory))
    assert run(inst, SJF) == 4 * root**3 + 14 * root**2 + 2 * root
    assert run(inst, SVF) == 14 * root**2 + 32 * root - 1
