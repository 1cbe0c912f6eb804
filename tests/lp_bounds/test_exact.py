"""The exact search: never wrong on what brute force can decide, and honest when time runs out."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from lp_bounds.certificate import lower_bound_certificate, optimum_certificate
from lp_bounds.checker import check
from lp_bounds.exact import solve
from theory.instance_json import instance_to_dict
from theory.model import PAPER, Instance, MemoryModel, Request, Schedule, vllm_memory

TRAP = Instance(10, [Request(1, 4), Request(1, 3), Request(6, 4), Request(2, 4)])
MODELS = (PAPER, PAPER, MemoryModel(1, 1), vllm_memory(2), MemoryModel(0, 3))


def random_instance(draw: random.Random, most: int, memory: int, longest: int) -> Instance:
    """Up to `most` requests, half of the time in a burst, some of the time in few types."""
    model, memory = draw.choice(MODELS), draw.randint(3, memory)
    late = draw.choice((0, 0, 3, 8))
    requests: list[Request] = []
    size = draw.randint(1, most)
    while len(requests) < size:
        request = Request(draw.randint(0, memory), draw.randint(1, longest), draw.randint(0, late))
        if model.peak(request.prompt, request.output) <= memory:
            requests.append(request)
    if draw.random() < 0.3:
        requests = [draw.choice(requests[:2]) for _ in requests]
    return Instance(memory, requests, model)


@pytest.mark.bounds
@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_is_that_of_trying_all_schedules(seed: int, least_latency: Callable[[Any], int]) -> None:
    draw = random.Random(f"exact {seed}")
    for _ in range(60):
        instance = random_instance(draw, 5, 13, 4)
        result = solve(instance)
        assert result.status == "optimal"
        assert result.schedule.violation(instance) is None
        assert result.schedule.total_latency(instance) == result.upper_bound == result.lower_bound
        assert result.upper_bound == least_latency(instance_to_dict(instance)), instance


def test_no_order_with_earliest_starts_reaches_the_optimum_of_the_trap() -> None:
    def serial(order: tuple[int, ...]) -> int:
        usage: dict[int, int] = {}
        total = 0
        for i in order:
            request, start = TRAP.requests[i], 0
            held = [PAPER.held(request.prompt, j) for j in range(1, request.output + 1)]
            while any(usage.get(start + j, 0) + h > TRAP.memory for j, h in enumerate(held, 1)):
                start += 1
            for j, h in enumerate(held, 1):
                usage[start + j] = usage.get(start + j, 0) + h
            total += start + request.output
        return total

    assert min(map(serial, permutations(range(4)))) == 25
    assert solve(TRAP).upper_bound == 24
    assert Schedule((1, 0, 6, 2)).violation(TRAP) is None
    assert Schedule((1, 0, 6, 2)).total_latency(TRAP) == 24


@pytest.mark.parametrize("seed", range(6))
def test_optima_of_middle_size_have_certificates_that_check(seed: int) -> None:
    draw = random.Random(f"middle {seed}")
    memory = (20, 30, 40, 60, 80, 100)[seed]
    requests = [Request(draw.randint(1, memory // 4), draw.randint(1, memory // 6)) for _ in range(12)]
    instance = Instance(memory, requests)
    result = solve(instance, time_limit=60)
    assert result.status == "optimal"
    verdict = check(optimum_certificate(instance, result.schedule, result.multipliers, result.denominator), 60)
    assert verdict.accepted, verdict.reason


def test_a_search_out_of_time_returns_proved_bounds_around_the_optimum() -> None:
    draw = random.Random("late")
    instance = Instance(100, [Request(draw.randint(1, 25), draw.randint(1, 16)) for _ in range(40)])
    begin = time.monotonic()
    result = solve(instance, time_limit=2)
    assert time.monotonic() - begin < 20
    assert result.status == "bounded"
    assert result.lower_bound < result.upper_bound
    assert result.schedule.total_latency(instance) == result.upper_bound
    assert result.schedule.violation(instance) is None
    proof = lower_bound_certificate(instance, result.lower_bound, result.multipliers[0], result.denominator)
    assert check(proof).accepted
    above = lower_bound_certificate(
        instance, result.lower_bound + Fraction(1, 1000), result.multipliers[0], result.denominator
    )
    assert not check(above).accepted


def test_thousands_of_requests_get_bounds_quickly() -> None:
    draw = random.Random("large")
    instance = Instance(5000, [Request(draw.randint(1, 900), draw.randint(1, 300)) for _ in range(3000)])
    begin = time.monotonic()
    result = solve(instance, time_limit=3)
    assert time.monotonic() - begin < 30
    assert result.schedule.violation(instance) is None
    assert result.lower_bound <= result.upper_bound <= 2 * result.lower_bound


def test_equal_requests_are_searched_by_type() -> None:
    instance = Instance(40, [Request(3, 5)] * 20 + [Request(8, 2)] * 20)
    result = solve(instance, time_limit=60)
    assert result.status == "optimal"
