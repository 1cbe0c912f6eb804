"""The bounds L1 to L4 stay below every schedule, in the order that the theory says."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lp_bounds.mean_busy_time import (
    best_bound,
    burst_mean_busy_time_bound,
    mean_busy_time_bound,
    output_bound,
    preemptive_pieces,
    volume_bound,
)
from theory.model import PAPER, Instance, MemoryModel, Request, Schedule, vllm_memory

pytestmark = pytest.mark.bounds

MODELS = (PAPER, MemoryModel(lag=1), vllm_memory(2), MemoryModel(block=3))


@st.composite
def instances(draw: st.DrawFn, largest: int = 12, most: int = 6, latest: int = 10) -> Instance:
    model = draw(st.sampled_from(MODELS))
    sizes = st.tuples(st.integers(0, largest), st.integers(1, largest), st.integers(0, latest))
    rows = draw(st.lists(sizes, min_size=1, max_size=most))
    memory = draw(st.integers(0, 2 * largest)) + max(model.peak(s, o) for s, o, _ in rows)
    return Instance(max(memory, 1), [Request(*row) for row in rows], model)


def burst_of(instance: Instance) -> Instance:
    return Instance(instance.memory, [Request(r.prompt, r.output) for r in instance.requests], instance.memory_model)


def least_latency(instance: Instance) -> int:
    """The optimum by trying every start time below the last arrival plus all outputs."""
    horizon = max(r.arrival for r in instance.requests) + instance.total_output
    best = 10**9

    def place(index: int, free: list[int], latency: int) -> None:
        nonlocal best
        rest = sum(r.output for r in instance.requests[index:])
        if latency + rest >= best:
            return
        if index == len(instance):
            best = latency
            return
        r = instance.requests[index]
        held = [instance.memory_model.held(r.prompt, j) for j in range(1, r.output + 1)]
        for start in range(r.arrival, horizon - r.output + 1):
            left = free.copy()
            for j, tokens in enumerate(held):
                left[start + j] -= tokens
            if min(left[start : start + r.output]) >= 0:
                place(index + 1, left, latency + start + r.output - r.arrival)

    place(0, [instance.memory] * horizon, 0)
    return best


def test_volumes_are_summed_from_the_smallest_up() -> None:
    trap = Instance(2, [Request(0, 1), Request(0, 2)])
    assert volume_bound(trap) * 2 == 5  # volumes 1 and 3: 1 + 4; from the largest down it would be 3 + 4 = 7
    assert Schedule((0, 0)).violation(trap) is None
    assert Schedule((0, 0)).total_latency(trap) == 3  # below 7 / 2


@pytest.mark.parametrize(("prompt", "count"), [(3, 2), (9, 5)])
def test_l3_is_attained_by_requests_that_fill_the_memory_one_by_one(prompt: int, count: int) -> None:
    instance = Instance(prompt + 1, [Request(prompt, 1)] * count)
    assert burst_mean_busy_time_bound(instance) == Schedule(tuple(range(count))).total_latency(instance)


def test_l4_is_attained_with_release_dates_and_l3_is_not() -> None:
    instance = Instance(4, [Request(3, 1, 0), Request(3, 1, 0), Request(3, 1, 7)])
    assert mean_busy_time_bound(instance) == Schedule((0, 1, 7)).total_latency(instance) == 4
    assert burst_mean_busy_time_bound(instance) == 6 - 7


def test_a_request_that_never_holds_a_token_counts_its_output() -> None:
    instance = Instance(1, [Request(0, 1, 3), Request(0, 1, 3), Request(0, 2, 3)], MemoryModel(lag=1))
    assert mean_busy_time_bound(instance) == 3  # 1 + 1 + (1/2 of work + 1/2 to completion)
    assert best_bound(instance).value == 4


def test_no_requests_have_the_bound_zero() -> None:
    assert best_bound(Instance(5, [])).value == 0


@given(instances(largest=4, most=4, latest=4))
@settings(max_examples=150)
def test_every_bound_is_at_most_the_optimum(instance: Instance) -> None:
    optimum = least_latency(instance)
    for bound in (output_bound, volume_bound, burst_mean_busy_time_bound, mean_busy_time_bound):
        assert bound(instance) <= optimum
    assert best_bound(instance).rounded_up <= optimum


@given(instances())
def test_bounds_are_ordered_l2_l3_l4(instance: Instance) -> None:
    assert volume_bound(instance) <= burst_mean_busy_time_bound(instance) <= mean_busy_time_bound(instance)
    assert best_bound(instance).value == max(output_bound(instance), mean_busy_time_bound(instance))


@given(instances())
def test_l4_is_l3_on_a_burst(instance: Instance) -> None:
    burst = burst_of(instance)
    assert mean_busy_time_bound(burst) == burst_mean_busy_time_bound(burst)


@given(instances(), st.integers(1, 50))
def test_l4_does_not_change_when_all_arrivals_move(instance: Instance, shift: int) -> None:
    later = [Request(r.prompt, r.output, r.arrival + shift) for r in instance.requests]
    moved = Instance(instance.memory, later, instance.memory_model)
    assert mean_busy_time_bound(moved) == mean_busy_time_bound(instance)


@given(instances(), st.randoms(use_true_random=False))
def test_bounds_do_not_depend_on_the_order_of_requests(instance: Instance, random: object) -> None:
    shuffled = list(instance.requests)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    other = Instance(instance.memory, shuffled, instance.memory_model)
    for bound in (output_bound, volume_bound, burst_mean_busy_time_bound, mean_busy_time_bound):
        assert bound(other) == bound(instance)


@given(instances(), st.integers(1, 9))
def test_more_memory_never_raises_a_bound(instance: Instance, more: int) -> None:
    larger = Instance(instance.memory + more, instance.requests, instance.memory_model)
    for bound in (volume_bound, burst_mean_busy_time_bound, mean_busy_time_bound):
        assert bound(larger) <= bound(instance)


@given(instances())
def test_the_distance_to_completion_is_a_third_to_all_of_the_output(instance: Instance) -> None:
    for r in instance.requests:
        volume, moment = PAPER.volume(r.prompt, r.output), PAPER.moment(r.prompt, r.output)
        d = Fraction(moment, 2 * volume)
        assert Fraction(r.output, 3) + Fraction(1, 6) <= d <= Fraction(r.output, 2)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 12)), min_size=1, max_size=6))
def test_pieces_serve_all_work_once_and_always_the_smallest_volume(jobs: list[tuple[int, int]]) -> None:
    volumes, releases = [v for v, _ in jobs], [a for _, a in jobs]
    served = [0] * len(jobs)
    running: dict[int, int] = {}
    for k, begin, end in preemptive_pieces(volumes, releases):
        assert begin >= releases[k]
        for t in range(begin, end):
            assert t not in running
            running[t] = k
        served[k] += end - begin
    assert served == volumes
    left = volumes.copy()
    for t in range(max(running, default=-1) + 1):
        ready = [volumes[k] for k in range(len(jobs)) if releases[k] <= t and left[k]]
        assert (t in running) == bool(ready)
        if ready:
            assert volumes[running[t]] == min(ready)
            left[running[t]] -= 1


def test_no_order_of_unit_pieces_beats_the_preemptive_schedule() -> None:
    """Exhaustive: every way to hand out the unit time slots to small jobs, against L4's mean busy times."""
    for volumes, release in product(product((1, 2, 3), repeat=3), (0, 1, 2)):
        releases = [0, release, release]
        slots = [k for k, v in enumerate(volumes) for _ in range(v)]
        best = min(
            sum(Fraction(2 * t + 1, 2 * volumes[k]) for t, k in _with_idling(order, releases))
            for order in set(permutations(slots))
        )
        ours = sum(
            Fraction(end**2 - begin**2, 2 * volumes[k]) for k, begin, end in preemptive_pieces(volumes, releases)
        )
        assert ours == best


def _with_idling(order: tuple[int, ...], releases: list[int]) -> list[tuple[int, int]]:
    now, out = 0, []
    for k in order:
        now = max(now, releases[k])
        out.append((now, k))
        now += 1
    return out
