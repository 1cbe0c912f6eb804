"""The compiled L4 is a true lower bound, rounded down by almost nothing, for small and for huge numbers."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lp_bounds.mean_busy_time_fast as fast
from lp_bounds.mean_busy_time import Bound, best_bound, mean_busy_time_bound
from lp_bounds.mean_busy_time_fast import fast_bound, moments, volumes
from theory.errors import InputError
from theory.model import PAPER, Instance, MemoryModel, Request, vllm_memory

pytestmark = pytest.mark.bounds

MODELS = (PAPER, MemoryModel(lag=1), vllm_memory(2), vllm_memory(16), MemoryModel(block=3))


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Up to 12 requests, some with huge numbers, the memory hardly above the largest peak."""
    scale = draw(st.sampled_from([4, 30, 3000, 200_000, 2_000_000, 2**31 - 1]))
    model = draw(st.sampled_from([m for m in MODELS if scale <= 3000 or m.block == 1]))
    latest = draw(st.sampled_from([0, 5, scale, 1000 * scale, 2**40]))
    sizes = st.tuples(st.integers(0, scale), st.integers(1, scale), st.integers(0, min(latest, 2**40)))
    rows = draw(st.lists(sizes, min_size=1, max_size=12))
    peak = max(model.peak(s, o) for s, o, _ in rows)
    return Instance(max(1, draw(st.integers(peak, peak + peak // 4))), [Request(*row) for row in rows], model)


def arrays(instance: Instance) -> tuple[fast.Array, fast.Array, fast.Array]:
    rows = np.array([(r.prompt, r.output, r.arrival) for r in instance.requests], dtype=np.int64)
    return rows[:, 0], rows[:, 1], rows[:, 2]


def fast_of(instance: Instance) -> Bound:
    return fast_bound(*arrays(instance), instance.memory, instance.memory_model)


@given(instances())
@settings(max_examples=250)
def test_fast_bound_is_at_most_the_exact_one_and_close(instance: Instance) -> None:
    lost = best_bound(instance).value - fast_of(instance).value
    assert 0 <= lost <= Fraction(len(instance), 2**19)


@given(instances())
def test_the_path_for_huge_numbers_is_as_close(instance: Instance) -> None:
    plain = fast._rounded_down(*arrays(instance), instance.memory, instance.memory_model)
    assert 0 <= mean_busy_time_bound(instance) - plain <= Fraction(len(instance), 2**19)


@pytest.mark.parametrize("scale", [10**3, 10**5, 10**6, 2**31 - 1])
def test_both_paths_are_taken(scale: int) -> None:
    lengths, arrival = np.array([scale, scale]), np.array([0, 0])
    assert fast._fits_64_bits(lengths, lengths, arrival, 2 * scale, PAPER) == (scale < 10**6)


@given(st.integers(1, 2**42 - 1).flatmap(lambda v: st.tuples(st.integers(0, v), st.integers(0, v - 1), st.just(v))))
@settings(max_examples=300)
def test_long_division_is_exact(abv: tuple[int, int, int]) -> None:
    a, b, v = map(np.int64, abv)
    quotient, remainder = fast._times_over(a, b, v)
    assert (int(quotient), int(remainder)) == divmod(abv[0] * abv[1], abv[2])


@pytest.mark.parametrize("model", MODELS)
def test_array_volumes_and_moments_equal_the_model(model: MemoryModel) -> None:
    """Exhaustive over all prompts below 40 and outputs up to 40."""
    prompt, output = (grid.ravel() for grid in np.meshgrid(np.arange(40), np.arange(1, 41)))
    pairs = list(zip(prompt.tolist(), output.tolist(), strict=True))
    assert volumes(prompt, output, model).tolist() == [model.volume(s, o) for s, o in pairs]
    assert moments(prompt, output, model).tolist() == [model.moment(s, o) for s, o in pairs]


def test_a_million_requests_take_less_than_seconds() -> None:
    rng = np.random.default_rng(1)
    n = 10**6
    prompt, output = rng.integers(1, 4000, n), rng.geometric(1 / 300, n)
    arrival = np.sort(rng.integers(0, 3_000_000, n))
    fast_bound(prompt[:9], output[:9], arrival[:9], 200_000)  # compile
    begin = time.perf_counter()
    bound = fast_bound(prompt, output, arrival, 200_000)
    assert time.perf_counter() - begin < 5  # a guard against quadratic time only: 0.5 s on two busy cores
    assert bound.name == "L4"


@pytest.mark.parametrize(
    ("rows", "memory", "message"),
    [
        ([(1, 2, 0), (-1, 2, 0)], 9, "requests[1].prompt: is -1"),
        ([(1, 0, 0)], 9, "requests[0].output: is 0"),
        ([(1, 2, 0), (1, 2, -3)], 9, "requests[1].arrival: is -3"),
        ([(1, 2, 0), (5, 5, 0)], 9, "requests[1]: holds 10 tokens"),
        ([(1, 2, 0)], 0, "memory: is 0"),
    ],
)
def test_bad_arrays_name_the_request(rows: list[tuple[int, int, int]], memory: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        prompt, output, arrival = np.array(rows).T
        fast_bound(prompt, output, arrival, memory)
    assert str(caught.value).startswith(message)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="shapes"):
        fast_bound(np.array([1, 2]), np.array([1]), np.array([0, 0]), 9)


def test_no_rows_have_the_bound_zero() -> None:
    empty = np.array([], dtype=np.int64)
    assert fast_bound(empty, empty, empty, 9).value == 0
