"""Forged certificates: thousands of altered ones, of which none that is false may be accepted."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from lp_bounds.certificate import (
    lower_bound_certificate,
    optimum_certificate,
    policy_claim,
    ratio_certificate,
    witness_certificate,
)
from lp_bounds.checker import check
from lp_bounds.checker_bounds import Prices
from lp_bounds.checker_input import Clock, problem
from lp_bounds.mean_busy_time import best_bound
from theory.model import Instance, MemoryModel, Request, Schedule

pytestmark = pytest.mark.bounds
Data = dict[str, Any]
LeastLatency = Callable[[Data], int]
PolicyLatency = Callable[[Data, Data], int]
ScheduleLatency = Callable[[Data, list[int]], int | None]

MUTANTS = 24_000
BURST = Instance(10, [Request(1, 4), Request(1, 3), Request(6, 4), Request(2, 4)])
LATE = Instance(9, [Request(2, 3), Request(0, 4, 1), Request(2, 3, 2), Request(5, 1, 2)])
BLOCKS = Instance(6, [Request(1, 2), Request(1, 2), Request(3, 2), Request(0, 3)], MemoryModel(1, 3))
STARVED = Instance(9, [Request(0, 3), Request(8, 1), Request(0, 3), Request(7, 1)])
CASES = [  # instance, starts of an optimal schedule, policy, its latency
    (BURST, (1, 0, 6, 2), policy_claim("svf", "strict", "lookahead"), 25),
    (LATE, (0, 1, 4, 3), policy_claim("sjf", "skip", "peak"), 16),
    (BLOCKS, (0, 0, 3, 1), policy_claim("svf-1bit", "conservative", "lookahead", (2, 1, 3)), 14),
    (STARVED, (1, 0, 2, 1), policy_claim("fcfs", "conservative", "peak"), 15),
]
WRONG: list[Any] = [
    0,
    -1,
    1,
    2,
    3,
    True,
    False,
    None,
    1.0,
    2.5,
    "1",
    [],
    {},
    [1],
    float("nan"),
    10**12,
    2**31,
    10**18,
    -(10**18),
]


def originals() -> list[Data]:
    """True certificates of every kind."""
    result = []
    for instance, starts, policy, latency in CASES:
        schedule = Schedule(starts)
        optimum = optimum_certificate(instance, schedule, [[0, 1, 1], [2]], 9)
        lower = lower_bound_certificate(instance, best_bound(instance).value)
        priced = lower_bound_certificate(instance, Fraction(instance.total_output), [0, 1, 1, 1], 20)
        scaled = Prices(problem(priced["instance"]), 20, (0, 1, 1, 1)).bound(Clock(10))
        priced["bound"] = [*Fraction(scaled, 20).as_integer_ratio()]
        ratios = [ratio_certificate(policy, latency, proof) for proof in (optimum, lower, priced)]
        witness = witness_certificate(instance, policy, latency, schedule) | {"hypotheses": {"lengths": "known"}}
        result += [optimum, lower, priced, witness, *ratios]
    return result


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a certificate."""
    items = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    return [pair for key, value in items for pair in [(data, key), *places(value)]]


def improve(data: Data, rng: random.Random) -> None:
    """Alter some of the numbers that carry a claim by one."""
    claims = ("bound", "ratio", "optimum", "latency")
    numbers = [(c, key) for c, key in places(data) if key in claims]
    numbers += [(c[key], i) for c, key in numbers if isinstance(c[key], list) for i in range(len(c[key]))]
    for container, key in numbers:
        if type(container[key]) is int and rng.random() < 0.5:
            container[key] += rng.choice([-1, 1])


def mutate(data: Data, rng: random.Random) -> None:
    """Alter one place."""
    container, key = rng.choice(places(data))
    value = container[key]
    how = rng.randrange(8)
    if how <= 2 and type(value) is int:
        container[key] = value + rng.choice([-1, 1])
    elif how == 3:
        container[key] = rng.choice(WRONG)
    elif how == 4:
        del container[key]
    elif how == 5 and isinstance(container, list):
        container.insert(key, copy.deepcopy(value))
    elif how == 6:
        other, other_key = rng.choice(places(data))
        if type(other[other_key]) is type(value) is int:
            container[key], other[other_key] = other[other_key], value
    elif how == 7 and isinstance(value, str):
        words = ["svf", "sjf", "fcfs", "strict", "skip", "conservative", "lookahead", "peak", "optimum", "witness"]
        container[key] = rng.choice(words)
    else:
        improve(data, rng)


def test_no_false_mutant_is_accepted(
    least_latency: LeastLatency, policy_latency: PolicyLatency, schedule_latency: ScheduleLatency
) -> None:
    rng = random.Random(20260622)
    sound = originals()
    for certificate in sound:
        assert check(certificate, 10).accepted, check(certificate, 10).reason
    sources = [json.dumps(certificate) for certificate in sound]
    accepted: Counter[str] = Counter()
    for _ in range(MUTANTS):
        source = rng.choice(sources)
        mutant = json.loads(source)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            mutate(mutant, rng)
            if not mutant:
                break
        verdict = check(mutant, 10)
        if verdict.accepted and json.dumps(mutant) != source:
            accepted[mutant["kind"]] += 1
            assert holds(mutant, least_latency, policy_latency, schedule_latency), (mutant, verdict.statement)
        else:
            assert verdict.accepted or verdict.reason
    assert min(accepted[kind] for kind in ("lower-bound", "optimum", "witness", "ratio")) > 50, accepted
    assert sum(accepted.values()) < MUTANTS / 2, accepted


def holds(
    data: Data, least_latency: LeastLatency, policy_latency: PolicyLatency, schedule_latency: ScheduleLatency
) -> bool:
    """Whether what an accepted certificate claims is true, by trying everything."""
    instance = data["instance"]
    model = MemoryModel(**instance.get("memory_model", {}))
    peak = max(model.peak(r["prompt"], r["output"]) for r in instance["requests"])
    if data.get("peak", peak) != peak or Fraction(*data.get("alpha", [peak, instance["memory"]])) != Fraction(
        peak, instance["memory"]
    ):
        return False
    best = least_latency(instance)
    proof = data.get("proof", data)
    if "bound" in proof and best < Fraction(*proof["bound"]):
        return False
    if "optimum" in proof and not proof["optimum"] == best == schedule_latency(instance, proof["starts"]):
        return False
    if "policy" not in data:
        return True
    latency = policy_latency(instance, data["policy"])
    claimed = Fraction(*data["ratio"])
    if data["kind"] == "witness":
        better = schedule_latency(instance, data["starts"])
        return latency == data["latency"] and better is not None and claimed <= Fraction(latency, better)
    true_ratio = Fraction(latency, best)
    return latency == data["latency"] and (claimed == true_ratio if "optimum" in proof else claimed >= true_ratio)


@pytest.mark.parametrize("length", [0, 1, 50, 200, 300])
def test_a_truncated_file_is_refused_with_the_place(tmp_path: Any, length: int) -> None:
    text = json.dumps(optimum_certificate(BURST, Schedule((1, 0, 6, 2))))
    file = tmp_path / "c.json"
    file.write_text(text[:length])
    verdict = check(file)
    assert not verdict.accepted
    assert verdict.reason is not None
    assert verdict.reason.startswith("line 1 column")
