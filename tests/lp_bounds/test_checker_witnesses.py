"""Refutations as witness certificates, stored in ``tests/data/witnesses``.

Running this file writes them anew; the tests ask that what is stored is what is built here, that the checker
accepts it, and that the latencies are those published with the refutation.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lp_bounds.certificate import policy_claim, read_certificate, witness_certificate, write_certificate
from lp_bounds.checker import check
from runtime.policies import FCFS, SJF, SVF
from runtime.simulator import simulate
from theory.model import Instance, Request, Schedule

pytestmark = pytest.mark.bounds
FOLDER = Path(__file__).resolve().parent.parent / "data" / "witnesses"
POLICIES = {"svf": SVF, "sjf": SJF, "fcfs": FCFS}


class Refutation(NamedTuple):
    """An instance on which a policy is bad, its total latency and that of a better schedule (steps)."""

    claim: str
    policy: str
    admission: str
    instance: Instance
    better: Callable[[Instance], Schedule]
    latency: int
    better_latency: int


def strict_svf(instance: Instance) -> Schedule:
    return simulate(instance, SVF, "strict", "lookahead").schedule()


def fat_first(instance: Instance) -> Schedule:
    """One long and thin request comes last; the others, of one step each, run one after the other before it."""
    n = len(instance)
    return Schedule((n - 1, *range(n - 1)))


def one_per_step(instance: Instance) -> Schedule:
    return Schedule(tuple(range(len(instance))))


def thin_and_fat(memory: int, long: int) -> Instance:
    return Instance(memory, [Request(1, long), *[Request(memory - 1, 1)] * 12])


def requests(*sizes: tuple[int, int, int]) -> list[Request]:
    """Requests from (how many, prompt, output)."""
    return [Request(prompt, output) for n, prompt, output in sizes for _ in range(n)]


def wide_and_short(memory: int) -> Instance:
    """4 sqrt(M) requests of half the memory for one step, and 2 M tiny ones of two steps."""
    return Instance(memory, requests((4 * isqrt(memory), memory // 2 - 1, 1), (2 * memory, 0, 2)))


def equal(output: int, batches: int) -> Instance:
    """As many equal requests without a prompt as SVF runs in so many full batches."""
    return Instance(output * (output + 1) // 2, requests((batches * (output + 1) // 2, 0, output)))


CONSTANT = "no constant competitive ratio: the bound 5 fails when peaks may reach the memory"
STARVING = "skip-ahead SVF has no constant competitive ratio, even with peaks of at most half the memory"
HALF = "as peaks vanish against the memory, SVF is no better than 2 (B + 1) / (B + 4) with B batches, in the limit"
SHORT = "the competitive ratio of shortest job first is unbounded"
SMALL = [(3, 150, 1), (2, 150, 2), (3, 150, 3), (2, 150, 4), (80, 749, 1), (10, 150, 150)]

REFUTATIONS = {
    "r1-strict": Refutation(CONSTANT, "svf", "strict", thin_and_fat(1176, 47), fat_first, 689, 137),
    "r1-skip": Refutation(CONSTANT, "svf", "skip", thin_and_fat(1176, 47), fat_first, 689, 137),
    "r1-large": Refutation(CONSTANT, "svf", "strict", thin_and_fat(10_000, 139), fat_first, 1885, 229),
    "r3": Refutation(
        STARVING, "svf", "skip",
        Instance(10_000, requests((1, 2500, 1), (1, 2499, 1), (70, 4999, 1), (4, 1248, 1251))),
        strict_svf, 92552, 6480,
    ),
    "r3-small": Refutation(STARVING, "svf", "skip", Instance(1500, requests(*SMALL)), strict_svf, 28051, 4674),
    "r5": Refutation(HALF, "svf", "strict", equal(39, 40), one_per_step, 639600, 350800),
    "r6": Refutation(SHORT, "sjf", "strict", wide_and_short(256), strict_svf, 20000, 4095),
    "r6-large": Refutation(SHORT, "sjf", "strict", wide_and_short(1024), strict_svf, 145472, 15359),
}  # fmt: skip


def built(refutation: Refutation) -> dict[str, Any]:
    """The certificate of a refutation."""
    instance, policy = refutation.instance, POLICIES[refutation.policy]
    latency = simulate(instance, policy, refutation.admission, "lookahead").total_latency
    claim = policy_claim(refutation.policy, refutation.admission, "lookahead")
    certificate = witness_certificate(instance, claim, latency, refutation.better(instance))
    return certificate | {"hypotheses": {"refutes": refutation.claim}}


@pytest.mark.parametrize("name", REFUTATIONS)
def test_the_stored_refutation_is_accepted_and_has_the_published_ratio(name: str) -> None:
    refutation, certificate = REFUTATIONS[name], read_certificate(FOLDER / f"{name}.json")
    verdict = check(FOLDER / f"{name}.json")
    assert verdict.accepted, verdict.reason
    assert certificate == built(refutation)
    assert certificate["latency"] == refutation.latency
    assert Fraction(*certificate["ratio"]) == Fraction(refutation.latency, refutation.better_latency)


def test_every_stored_witness_is_tested() -> None:
    assert {file.stem for file in FOLDER.glob("*")} == set(REFUTATIONS)


@pytest.mark.parametrize("name", REFUTATIONS)
def test_a_better_ratio_or_latency_is_refused(name: str) -> None:
    certificate = read_certificate(FOLDER / f"{name}.json")
    num, den = certificate["ratio"]
    assert not check(certificate | {"ratio": [num * 10**6 + 1, den * 10**6]}).accepted
    assert not check(certificate | {"latency": certificate["latency"] + 1}).accepted


if __name__ == "__main__":
    for stem, entry in REFUTATIONS.items():
        write_certificate(FOLDER / f"{stem}.json", built(entry))
