"""The checker's search, bounds and policy runs against literal answers on small instances."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lp_bounds.certificate import (
    lower_bound_certificate,
    optimum_certificate,
    policy_claim,
    ratio_certificate,
    witness_certificate,
)
from lp_bounds.checker import check
from lp_bounds.checker_bounds import Prices, mean_busy_time_reaches, volume_and_moment
from lp_bounds.checker_input import Clock, Job, Problem, RefusedError, problem
from lp_bounds.checker_schedule import Policy, latency_of, simulate
from lp_bounds.checker_search import refute_better
from lp_bounds.exact import solve
from lp_bounds.mean_busy_time import best_bound
from runtime.policies import FCFS, SJF, SVF, one_bit
from runtime.simulator import simulate as project_simulate
from theory.instance_json import instance_from_dict
from theory.model import Instance, MemoryModel, Request, Schedule

pytestmark = pytest.mark.bounds
Data = dict[str, Any]
LeastLatency = Callable[[Data], int]
PolicyLatency = Callable[[Data, Data], int]

POLICIES = [
    (name, admission, fit)
    for name, admission, fit in product(
        ("svf", "sjf", "fcfs", "svf-1bit"), ("strict", "skip", "conservative"), ("lookahead", "peak")
    )
]


@st.composite
def instances(draw: st.DrawFn, most: int = 4) -> Data:
    """Instances with few sizes (so that equal requests are common), with and without arrivals and blocks."""
    lag, block = draw(st.sampled_from([(0, 1), (0, 1), (1, 1), (1, 3), (0, 2)]))
    model = MemoryModel(lag, block)
    late = draw(st.sampled_from([0, 0, 2, 6]))
    sizes = st.tuples(st.integers(0, 6), st.integers(1, 5), st.integers(0, late))
    kinds = draw(st.lists(sizes, min_size=1, max_size=3))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=most))
    least = max(model.peak(s, o) for s, o, _ in chosen)
    memory = draw(st.integers(max(1, least), max(1, 2 * least) + 3))
    requests = [{"prompt": s, "output": o, "arrival": a} for s, o, a in chosen]
    return {"memory": memory, "memory_model": {"lag": lag, "block": block}, "requests": requests}


multipliers = st.tuples(st.lists(st.sampled_from([0, 0, 1, 2, 5]), max_size=12), st.integers(1, 20))


@settings(max_examples=400)
@given(instances(), st.lists(multipliers, max_size=2))
def test_the_search_accepts_the_optimum_and_nothing_above_it(
    least_latency: LeastLatency, instance: Data, vectors: list[tuple[list[int], int]]
) -> None:
    parsed, optimum = problem(instance), least_latency(instance)
    prices = [Prices(parsed, denominator, tuple(lam)) for lam, denominator in vectors]
    refute_better(parsed, optimum, prices, Clock(60))
    for more in (1, 2, 5):
        with pytest.raises(RefusedError, match=f"a schedule with a total latency below {optimum + more} exists"):
            refute_better(parsed, optimum + more, prices, Clock(60))


def test_idling_while_a_request_waits_can_be_optimal_when_others_are_to_arrive() -> None:
    instance = Instance(10, [Request(0, 10), Request(9, 1, 1), Request(9, 1, 1), Request(9, 1, 1)])
    assert check(optimum_certificate(instance, Schedule((4, 1, 2, 3)))).accepted
    verdict = check(optimum_certificate(instance, Schedule((0, 10, 11, 12))))
    assert verdict.reason == "optimum: a schedule with a total latency below 43 exists"


@given(instances(), multipliers)
def test_the_bound_of_any_multipliers_is_the_formula_and_below_the_optimum(
    least_latency: LeastLatency, instance: Data, vector: tuple[list[int], int]
) -> None:
    lam, denominator = vector
    price = dict(enumerate(lam, 1))
    total = Fraction(-instance["memory"] * sum(lam), denominator)
    model = MemoryModel(**instance["memory_model"])
    for r in instance["requests"]:
        costs = []
        for start in range(r["arrival"], r["arrival"] + len(lam) + 1):
            paid = sum(price.get(start + j, 0) * model.held(r["prompt"], j) for j in range(1, r["output"] + 1))
            costs.append(start + r["output"] - r["arrival"] + Fraction(paid, denominator))
        total += min(costs)
    assert Fraction(Prices(problem(instance), denominator, tuple(lam)).bound(Clock(60)), denominator) == total
    assert total <= least_latency(instance)


@given(instances(most=8))
def test_mean_busy_times_are_the_solver_s_to_the_last_digit(instance: Data) -> None:
    value = best_bound(instance_from_dict(instance, "test")).value
    num, den = value.as_integer_ratio()
    parsed = problem(instance)
    assert mean_busy_time_reaches(parsed, num, den, Clock(60))
    assert not mean_busy_time_reaches(parsed, num * 10**60 + 1, den * 10**60, Clock(60))


@given(st.integers(0, 40), st.integers(1, 60), st.integers(0, 1), st.integers(1, 20))
def test_volume_and_moment_are_the_sums_over_the_steps(prompt: int, output: int, lag: int, block: int) -> None:
    parsed = Problem(10**6, (Job(prompt, output, 0),), lag, block)
    held = [parsed.held(prompt, j) for j in range(1, output + 1)]
    moment = sum(h * (2 * (output - j) + 1) for j, h in enumerate(held, 1))
    assert volume_and_moment(parsed, parsed.jobs[0]) == (sum(held), moment)


@pytest.mark.parametrize(("name", "admission", "fit"), POLICIES)
def test_a_policy_run_is_that_of_a_literal_reading_and_of_the_simulator(
    policy_latency: PolicyLatency, name: str, admission: str, fit: str
) -> None:
    bit = (2, 1, 4) if name == "svf-1bit" else ()
    policy = {"svf": SVF, "sjf": SJF, "fcfs": FCFS, "svf-1bit": one_bit(2, 1, 4)}[name]

    @given(instances(most=9))
    def agrees(instance: Data) -> None:
        parsed = problem(instance)
        starts = simulate(parsed, Policy(name, admission, fit, *bit), Clock(60))
        latency = latency_of(parsed, starts, "run", Clock(60))
        assert latency == policy_latency(instance, policy_claim(name, admission, fit, bit))
        run = project_simulate(instance_from_dict(instance, "test"), policy, admission, fit)
        assert run.schedule().starts == starts

    agrees()


@given(instances(), st.sampled_from(POLICIES), multipliers, st.floats(0.1, 1))
def test_true_claims_of_every_kind_are_accepted_and_better_ones_are_not(
    least_latency: LeastLatency,
    policy_latency: PolicyLatency,
    data: Data,
    choice: tuple[str, str, str],
    vector: tuple[list[int], int],
    part: float,
) -> None:
    instance = instance_from_dict(data, "test")
    policy = policy_claim(*choice, (2, 1, 4) if choice[0] == "svf-1bit" else ())
    latency, optimum = policy_latency(data, policy), least_latency(data)
    schedule = Schedule(_best_starts(data, optimum))
    lam, denominator = vector
    multiplied = Fraction(Prices(problem(data), denominator, tuple(lam)).bound(Clock(60)), denominator)
    best = best_bound(instance).value
    proofs = [optimum_certificate(instance, schedule, [lam], denominator), lower_bound_certificate(instance, best)]
    if multiplied > 0:
        proofs.append(lower_bound_certificate(instance, multiplied, lam, denominator))
    ratios = [ratio_certificate(policy, latency, proof) for proof in proofs]
    witness = witness_certificate(instance, policy, latency, schedule)
    for certificate in [*proofs, *ratios, witness]:
        verdict = check(certificate, 60)
        assert verdict.accepted, verdict.reason
    for certificate in proofs[1:]:
        weaker = Fraction(*certificate["bound"]) * Fraction(part)
        assert check(certificate | {"bound": [*weaker.as_integer_ratio()]}, 60).accepted
        num, den = certificate["bound"]
        assert not check(certificate | {"bound": [num * 1000 + 1, den * 1000]}, 60).accepted
    for certificate, nearer in zip([*ratios, witness], [*[-1] * len(ratios), 1], strict=True):
        num, den = certificate["ratio"]
        assert not check(certificate | {"ratio": [num * 1000 + nearer, den * 1000]}, 60).accepted


def _best_starts(data: Data, optimum: int) -> tuple[int, ...]:
    """Starts of a schedule with this total latency."""
    instance = instance_from_dict(data, "test")
    wait = optimum - instance.total_output

    def place(starts: tuple[int, ...], left: int) -> tuple[int, ...] | None:
        if len(starts) == len(instance):
            return starts if Schedule(starts).violation(instance) is None else None
        arrival = instance.requests[len(starts)].arrival
        for later in range(left + 1):
            if found := place((*starts, arrival + later), left - later):
                return found
        return None

    found = place((), wait)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(12))
def test_what_the_exact_search_proves_the_checker_accepts(seed: int) -> None:
    rng = random.Random(seed)
    memory, late = rng.choice([20, 40, 60]), rng.choice([0, 10])
    model = rng.choice([MemoryModel(), MemoryModel(), MemoryModel(1, 4)])
    sizes = [(rng.randint(1, memory // 4), rng.randint(1, memory // 6)) for _ in range(rng.randint(8, 14))]
    instance = Instance(memory, [Request(s, o, rng.randint(0, late)) for s, o in sizes], model)
    result = solve(instance)
    certificate = optimum_certificate(instance, result.schedule, result.multipliers, result.denominator)
    verdict = check(certificate, 60)
    assert verdict.accepted, verdict.reason
    assert certificate["optimum"] == result.upper_bound
    early = solve(instance, time_limit=1e-6)
    lower = lower_bound_certificate(instance, early.lower_bound, early.multipliers[0], early.denominator)
    assert early.status == "optimal" or check(lower, 60).accepted
