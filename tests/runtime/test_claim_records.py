"""The witnesses that claims rest on, stored in ``adversary/records``.

Running this file writes them anew; the tests ask that what is stored is what is built here and that the latencies
are those on record. Whether the checker accepts them is the business of ``geosched verify`` and its tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lp_bounds.certificate import policy_claim, read_certificate, witness_certificate, write_certificate
from runtime.policies import FCFS, SJF, SVF, Policy, one_bit
from runtime.simulator import simulate
from theory.claim import CERTIFICATE
from theory.claims import CLAIMS
from theory.model import Instance, Request, Schedule

pytestmark = pytest.mark.bounds
FOLDER = Path(__file__).resolve().parents[2] / "adversary" / "records"


class Record(NamedTuple):
    """A policy, an instance on which it is bad, and how to do better; total latencies in steps."""

    policy: Policy
    admission: str
    fit: str
    instance: Instance
    better: Callable[[Instance], Schedule]
    latency: int
    better_latency: int


def requests(*sizes: tuple[int, int, int]) -> list[Request]:
    """Requests from (how many, prompt, output)."""
    return [Request(prompt, output) for n, prompt, output in sizes for _ in range(n)]


def run(policy: Policy, admission: str = "strict") -> Callable[[Instance], Schedule]:
    return lambda instance: simulate(instance, policy, admission, "lookahead").schedule()


def fat_first(instance: Instance) -> Schedule:
    """The first request, long and thin, comes last; the others, of one step each, run one after the other."""
    n = len(instance)
    return Schedule((n - 1, *range(n - 1)))


def one_per_step(instance: Instance) -> Schedule:
    return Schedule(tuple(range(len(instance))))


def as_they_come(instance: Instance) -> Schedule:
    """What arrives later starts at once; the two long requests that are there from the start wait for the end."""
    end = max(r.arrival for r in instance.requests) + 1
    return Schedule(tuple(r.arrival if r.output == 1 else end for r in instance.requests))


def two_per_step(instance: Instance) -> Schedule:
    """Fat requests two per step, then thin ones two per step, all in the order of the instance."""
    fat = [i for i, r in enumerate(instance.requests) if r.output == 1]
    thin = [i for i, r in enumerate(instance.requests) if r.output > 1]
    starts = {i: k // 2 for k, i in enumerate(fat)} | {i: len(fat) // 2 + k // 2 for k, i in enumerate(thin)}
    return Schedule(tuple(starts[i] for i in range(len(instance))))


def long_and_fat(memory: int, long: int, fat: int) -> Instance:
    return Instance(memory, requests((1, 1, long), (fat, memory - 1, 1)))


def rounds(memory: int, n: int, *one: tuple[int, int, int]) -> Instance:
    return Instance(memory, requests(*one) * n)


def equal(output: int, batches: int) -> Instance:
    """As many equal requests without a prompt as SVF runs in so many full batches."""
    return Instance(output * (output + 1) // 2, requests((batches * (output + 1) // 2, 0, output)))


def half_memory_and_tiny(root: int) -> Instance:
    """4 sqrt(M) requests of half the memory for one step, and 2 M tiny ones of two steps; M = root^2."""
    memory = root * root
    return Instance(memory, requests((4 * root, memory // 2 - 1, 1), (2 * memory, 0, 2)))


def long_queue_of_tiny(memory: int) -> Instance:
    """Four requests that fill the memory twice, one fat one, and 4 M tiny ones behind them."""
    return Instance(memory, requests((4, 1, memory // 2 - 1), (1, memory // 2 - 1, 1), (4 * memory, 0, 1)))


def one_class(longest: int) -> Instance:
    """Long requests with the smaller prompts: without a bit between them and the short ones they go first."""
    return Instance(2 * longest, requests((40, 1, longest - 1), (16 * longest, 2, 1)))


def coming(length: int) -> Instance:
    """Two long requests that nearly fill the memory from time 0 on, then one fat request in every step."""
    memory = 4 * length
    later = [Request(memory // 2 - 1, 1, t) for t in range(1, length + 1)]
    return Instance(memory, requests((2, memory // 2 - length, length)) + later)


STARVING = Instance(10_000, requests((1, 2500, 1), (1, 2499, 1), (70, 4999, 1), (4, 1248, 1251)))
LOOK, PEAK = "lookahead", "peak"
RECORDS = {
    "r1-strict": Record(SVF, "strict", LOOK, long_and_fat(1176, 47, 12), fat_first, 689, 137),
    "r1-skip": Record(SVF, "skip", LOOK, long_and_fat(1176, 47, 12), fat_first, 689, 137),
    "r1-large": Record(SVF, "strict", LOOK, long_and_fat(10_000, 139, 12), fat_first, 1885, 229),
    "r3": Record(SVF, "skip", LOOK, STARVING, run(SVF), 92_552, 6480),
    "r4-alpha": Record(SVF, "strict", LOOK, rounds(20_160, 20, (11, 183, 81), (1, 18_143, 1)),
                       run(SJF, "skip"), 204_535, 37_932),
    "r4-half": Record(SVF, "strict", LOOK, Instance(6640, requests((1, 1, 80), (80, 3319, 1))),
                      run(SJF), 3320, 1760),
    "r4-full": Record(SVF, "strict", LOOK, rounds(119, 16, (1, 1, 14), (1, 118, 1)), run(SJF), 4064, 730),
    "r5": Record(SVF, "strict", LOOK, equal(39, 40), one_per_step, 639_600, 350_800),
    "r6-256": Record(SJF, "strict", LOOK, half_memory_and_tiny(16), run(SVF), 20_000, 4095),
    "r6-1024": Record(SJF, "strict", LOOK, half_memory_and_tiny(32), run(SVF), 145_472, 15_359),
    "fcfs-100": Record(FCFS, "strict", LOOK, long_queue_of_tiny(100), run(SVF), 21_204, 1315),
    "fcfs-200": Record(FCFS, "strict", LOOK, long_queue_of_tiny(200), run(SVF), 82_354, 2615),
    "fcfs-400": Record(FCFS, "strict", LOOK, long_queue_of_tiny(400), run(SVF), 324_654, 5215),
    "one-bit-16": Record(one_bit(15, 8, 16), "strict", LOOK, one_class(16), run(SVF), 84_380, 10_706),
    "one-bit-64": Record(one_bit(63, 32, 64), "strict", LOOK, one_class(64), run(SVF), 1_268_000, 40_420),
    "arrivals-strict": Record(SVF, "strict", LOOK, coming(100), as_they_come, 7700, 502),
    "arrivals-conservative": Record(SVF, "conservative", LOOK, coming(100), as_they_come, 7700, 502),
    "t8": Record(SVF, "strict", PEAK, rounds(420, 60, (11, 0, 20), (1, 209, 1)), two_per_step, 441_165, 142_500),
}  # fmt: skip


def built(record: Record) -> dict[str, Any]:
    """The certificate of a record."""
    latency = simulate(record.instance, record.policy, record.admission, record.fit).total_latency
    parameters: Sequence[int] = record.policy.parameters
    claim = policy_claim(record.policy.name, record.admission, record.fit, parameters)
    return witness_certificate(record.instance, claim, latency, record.better(record.instance))


@pytest.mark.parametrize("name", RECORDS)
def test_the_stored_witness_is_the_one_built_here_and_has_the_latencies_on_record(name: str) -> None:
    record, certificate = RECORDS[name], read_certificate(FOLDER / f"{name}.json")
    assert certificate == built(record)
    assert certificate["latency"] == record.latency
    assert Schedule(tuple(certificate["starts"])).total_latency(record.instance) == record.better_latency


def test_every_witness_built_here_is_evidence_of_a_claim_and_the_other_way_round() -> None:
    named = {e.name for claim in CLAIMS for e in claim.evidence if e.kind == CERTIFICATE}
    assert named == set(RECORDS)


if __name__ == "__main__":
    for stem, entry in RECORDS.items():
        write_certificate(FOLDER / f"{stem}.json", built(entry))
