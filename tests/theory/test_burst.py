"""Burst bounds: against the brute-force optimum, lemma by lemma, and on instances that refute their neighbours.

The simulators here are a few lines each and share nothing with the engine of the project; they must agree with it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from math import isqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.policies import SVF
from runtime.simulator import simulate
from theory import burst
from theory.burst import order_distortion, root_above, volume_order, wait_factor
from theory.burst_bounds import BOUNDS, proved_bounds
from theory.errors import InputError
from theory.model import PAPER, Instance, MemoryModel, Request, Schedule, vllm_memory
from theory.waiting import (
    instance_guarantee,
    integrated_violation,
    latency_bound,
    optimum_bound,
    waiting_violation,
)

pytestmark = pytest.mark.bounds

HALF = Fraction(1, 2)
FITS = ("lookahead", "peak")
BY_ID = {bound.id: bound for bound in BOUNDS}


def serial(inst: Instance, order: Sequence[int], admission: str, fit: str) -> tuple[int, ...]:
    """Give each request in order its earliest start; strict: not before the start of its predecessor.

    For a burst this is strict admission, since whatever runs when a request is the head precedes it.
    """
    model, used, starts, floor = inst.memory_model, defaultdict[int, int](int), [0] * len(inst), 0
    for i in order:
        r = inst.requests[i]
        own = [model.held(r.prompt, j) for j in range(1, r.output + 1)]
        if fit == "peak":
            own = [own[-1]] * r.output
        t = floor
        while (bad := max((j for j, h in enumerate(own, 1) if used[t + j] + h > inst.memory), default=0)) > 0:
            t += 1 if fit == "lookahead" else bad
        for j, h in enumerate(own, 1):
            used[t + j] += h
        starts[i] = t
        if admission == "strict":
            floor = t
    return tuple(starts)


def scan(inst: Instance, order: Sequence[int], reserve_head: bool) -> tuple[int, ...]:
    """Skip-ahead look-ahead admission, or (reserve_head) EASY backfilling: nothing may delay the head."""
    model, used, starts, waiting, t = inst.memory_model, defaultdict[int, int](int), {}, list(order), 0

    def add(i: int, at: int, sign: int) -> None:
        for j in range(1, inst.requests[i].output + 1):
            used[at + j] += sign * model.held(inst.requests[i].prompt, j)

    def fits(i: int, at: int) -> bool:
        r = inst.requests[i]
        # The last step is the fullest of a request: look there first.
        return all(used[at + j] + model.held(r.prompt, j) <= inst.memory for j in range(r.output, 0, -1))

    while waiting:
        head: tuple[int, int] | None = None
        left: list[int] = []
        refused: set[Request] = set()
        for i in waiting:
            if inst.requests[i] not in refused and fits(i, t):
                add(i, t, 1)
                starts[i] = t
                continue
            refused.add(inst.requests[i])
            left.append(i)
            if reserve_head and head is None:
                at = t + 1
                while not fits(i, at):
                    at += 1
                head = (i, at)
                add(i, at, 1)
        if head is not None:
            add(*head, -1)
        waiting, t = left, t + 1
    return tuple(starts[i] for i in range(len(inst)))


def latency(inst: Instance, starts: tuple[int, ...]) -> int:
    assert Schedule(starts).violation(inst) is None
    return Schedule(starts).total_latency(inst)


def optimum(inst: Instance) -> int:
    """Brute force over all start times (horizon: the sum of the outputs)."""
    requests = sorted(inst.requests, key=lambda r: (r.prompt, r.output), reverse=True)
    best, used = [sum(range(1, len(requests) + 1)) * inst.total_output], [0] * (inst.total_output + 1)

    def place(k: int, cost: int, low: int) -> None:
        if k == len(requests):
            best[0] = min(best[0], cost)
            return
        r = requests[k]
        rest = sum(q.output for q in requests[k + 1 :])
        twin = k > 0 and requests[k - 1] == r
        for t in range(low if twin else 0, len(used) - r.output):
            if cost + t + r.output + rest >= best[0]:
                return
            if all(used[t + j] + r.prompt + j <= inst.memory for j in range(1, r.output + 1)):
                for j in range(1, r.output + 1):
                    used[t + j] += r.prompt + j
                place(k + 1, cost + t + r.output, t)
                for j in range(1, r.output + 1):
                    used[t + j] -= r.prompt + j

    place(0, 0, 0)
    return best[0]


def test_brute_force_finds_the_optimum_that_no_earliest_fit_order_reaches() -> None:
    inst = Instance(10, [Request(1, 4), Request(1, 3), Request(6, 4), Request(2, 4)])
    assert optimum(inst) == 24 == Schedule((1, 0, 6, 2)).total_latency(inst)


def small_bursts() -> Iterator[Instance]:
    """Every burst of at most 3 requests at M = 5 and of 4 requests at M = 4."""
    for memory, sizes in ((5, (1, 2, 3)), (4, (4,))):
        types = [Request(s, o) for o in range(1, memory + 1) for s in range(memory - o + 1)]
        for n in sizes:
            for requests in combinations_with_replacement(types, n):
                yield Instance(memory, requests)


def test_every_bound_holds_against_the_optimum_on_all_small_bursts() -> None:
    seen = set()
    for inst in small_bursts():
        best = optimum(inst)
        assert optimum_bound(inst) <= best
        reverse = tuple(reversed(range(len(inst))))
        for order in {volume_order(inst), tuple(range(len(inst))), reverse}:
            tel = max(latency(inst, serial(inst, order, a, f)) for a in ("strict", "conservative") for f in FITS)
            assert tel <= latency_bound(inst, order)
            for name, (bound, value) in proved_bounds(inst, order, "strict", "lookahead").items():
                assert bound.hypotheses.admissions == ("strict", "conservative")
                assert bound.hypotheses.fits == FITS
                assert tel <= value * best, (name, inst, order)
                seen.add(name)
    assert seen == BY_ID.keys() - {"T7"}


bursts = st.builds(
    lambda memory, raw, model: Instance(
        memory, [Request(s % (memory - 18), 1 + o % 3 if o > 40 else 1 + o % 17) for s, o in raw], model
    ),
    st.integers(20, 80),
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 50)), min_size=1, max_size=14),
    st.sampled_from([PAPER, vllm_memory(1), MemoryModel(0, 1)]),
)
blocked_bursts = st.builds(
    lambda raw, block: Instance(
        64, [Request(s, o) for s, o in raw if s + o <= 64 - 8] or [Request(1, 1)], vllm_memory(block)
    ),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20)), min_size=1, max_size=14),
    st.sampled_from([1, 4, 8]),
)
rules = st.tuples(st.sampled_from(["strict", "conservative"]), st.sampled_from(["lookahead", "peak"]))


@settings(max_examples=250)
@given(st.one_of(bursts, blocked_bursts), rules, st.randoms(use_true_random=False))
def test_the_waiting_lemma_holds_for_every_static_order(
    inst: Instance, rule: tuple[str, str], rng: random.Random
) -> None:
    order = list(range(len(inst)))
    rng.shuffle(order)
    starts = serial(inst, order, *rule)
    assert waiting_violation(inst, order, starts) is None
    assert integrated_violation(inst, order, starts) is None
    assert latency(inst, starts) <= latency_bound(inst, order)


@settings(max_examples=60)
@given(st.one_of(bursts, blocked_bursts), rules)
def test_the_engine_starts_every_request_as_these_simulators_do(inst: Instance, rule: tuple[str, str]) -> None:
    order = sorted(range(len(inst)), key=lambda i: (inst.requests[i].volume, i))
    assert tuple(simulate(inst, SVF, *rule).starts.tolist()) == serial(inst, order, *rule)
    for admission, easy in (("skip", False), ("easy", True)):
        assert tuple(simulate(inst, SVF, admission).starts.tolist()) == scan(inst, order, easy)


@given(bursts, rules)
def test_the_waiting_lemma_is_broken_by_idling(inst: Instance, rule: tuple[str, str]) -> None:
    order = volume_order(inst)
    late = tuple(t + 1 for t in serial(inst, order, *rule))
    assert waiting_violation(inst, order, late) is not None
    assert integrated_violation(inst, order, late) is not None


def test_the_waiting_lemma_counts_predecessors_only() -> None:
    """A later request that starts early may hold the memory, but it does not excuse the wait of an earlier one."""
    inst = Instance(4, [Request(2, 1), Request(0, 4)])
    assert waiting_violation(inst, (0, 1), (4, 0)) == (
        "at time 0 request 0 waits with active predecessors of peak mass 0, less than 2"
    )


def test_skip_ahead_breaks_the_waiting_lemma_and_every_constant() -> None:
    """R3: wide short requests starve behind later, long, thin ones."""
    shapes = [(150, o) for o in (1, 2, 3, 4) for _ in range(3 - (o % 2 == 0))] + [(749, 1)] * 80
    inst = Instance(1500, [Request(s, o) for s, o in shapes + [(150, 150)] * 10])
    order = volume_order(inst)
    starts = scan(inst, order, reserve_head=False)
    strict = latency(inst, serial(inst, order, "strict", "lookahead"))
    assert (latency(inst, starts), strict) == (28051, 4674)
    assert "request" in str(waiting_violation(inst, order, starts))


def test_easy_backfilling_is_refuted() -> None:
    """Only the head is reserved: wide requests behind it wait for long thin ones; far above T1's constant 5."""
    s = 2000 // 8 - 2
    memory, long = 8 * (s + 2), s + 3
    wide = [(memory // 4 - 1, 1), (memory // 4, 1)] + [(memory // 2 - 1, 1)] * (4 * isqrt(long))
    inst = Instance(memory, [Request(*x) for x in [*wide, *[(s, long)] * 4]])
    order = volume_order(inst)
    assert 2 * inst.peak <= memory
    easy = scan(inst, order, reserve_head=True)
    strict = serial(inst, order, "strict", "lookahead")
    assert latency(inst, easy) > 7 * latency(inst, strict)
    assert waiting_violation(inst, order, strict) is None
    assert waiting_violation(inst, order, serial(inst, order, "conservative", "lookahead")) is None
    assert waiting_violation(inst, order, easy) is not None


@given(bursts)
def test_the_guarantee_of_an_instance_is_between_the_truth_and_t2(inst: Instance) -> None:
    inst = Instance(inst.memory, inst.requests)
    order = volume_order(inst)
    found = instance_guarantee(inst, order)
    assert found.ratio <= burst.t2(inst.memory, inst.peak)
    for rule in (("strict", "lookahead"), ("strict", "peak"), ("conservative", "lookahead")):
        assert inst.total_output <= latency(inst, serial(inst, order, *rule)) <= found.latency
        assert found.optimum <= latency(inst, serial(inst, order, *rule))


@settings(max_examples=40)
@given(blocked_bursts.filter(lambda inst: len(inst) <= 3 and inst.total_output <= 24))
def test_the_lower_bound_holds_in_other_memory_models(inst: Instance) -> None:
    runs = (serial(inst, order, "strict", "lookahead") for order in permutations(range(len(inst))))
    assert optimum_bound(inst) <= min(latency(inst, starts) for starts in runs)


@given(bursts, st.randoms(use_true_random=False))
def test_the_latency_bound_is_the_double_sum_it_says(inst: Instance, rng: random.Random) -> None:
    order = list(range(len(inst)))
    rng.shuffle(order)
    peaks = [inst.memory_model.peak(r.prompt, r.output) for r in inst.requests]
    exact = Fraction(inst.total_output)
    for a, i in enumerate(order):
        for b in range(a + 1, len(order)):
            largest = max(peaks[k] for k in order[a + 1 : b + 1])
            exact += Fraction(peaks[i] * inst.requests[i].output, inst.memory + 1 - largest)
    assert exact <= latency_bound(inst, order) < exact + Fraction(1, 2**20)


# Lemmas behind T5, T6 and T7 (papers/burst-theorem.md), each in exact arithmetic.

volumes = st.lists(st.integers(1, 400), min_size=1, max_size=25)


def pairs(vs: Sequence[int]) -> Fraction:
    """``sum over pairs of min + sum / 2``: M (A + U / 2) in the write-up."""
    return sum((Fraction(min(a, b)) for k, a in enumerate(vs) for b in vs[:k]), Fraction(sum(vs), 2))


@given(volumes)
def test_lemma_order_any_static_order_costs_twice_the_root_of_the_spread(vs: list[int]) -> None:
    before = sum(sum(vs[:k]) for k in range(len(vs)))
    assert before <= (2 * root_above(Fraction(max(vs), min(vs))) - 1) * pairs(vs)


@given(volumes, st.sampled_from([1, 2, 5, 30]), st.randoms(use_true_random=False))
def test_lemma_order_a_distorted_order_costs_four_times_the_root(vs: list[int], d: int, rng: random.Random) -> None:
    order: list[int] = []
    for v in sorted(vs):  # insert as early as the distortion allows
        first = next((k for k in range(len(order) + 1) if all(v <= d * w for w in order[k:])), len(order))
        order.insert(rng.choice([first, len(order)]), v)
    assert all(a <= d * b for k, a in enumerate(order) for b in order[k:])
    before = sum(sum(order[:k]) for k in range(len(order)))
    assert before <= (4 * root_above(Fraction(d)) - 3) * pairs(order)


@given(volumes, st.integers(1, 50))
def test_lemma_far_volumes_sum_to_a_root_part(vs: list[int], d: int) -> None:
    far = sum(v for v in vs for w in vs if d * v < w)
    assert far**2 * d <= (2 * pairs(vs)) ** 2


@given(bursts, rules)
def test_lemma_count_few_large_volumes_run_at_once(inst: Instance, rule: tuple[str, str]) -> None:
    inst = Instance(inst.memory, inst.requests)
    starts = serial(inst, volume_order(inst), *rule)
    for y in starts:
        active = sorted(
            (r.volume for t, r in zip(starts, inst.requests, strict=True) if t <= y < t + r.output), reverse=True
        )
        for count, x in enumerate(active, 1):  # count volumes are at least x
            assert count**2 * x <= 16 * inst.memory**2


@given(bursts, st.sampled_from(["strict", "conservative"]))
def test_lemma_growth_holds_for_look_ahead(inst: Instance, admission: str) -> None:
    inst = Instance(inst.memory, inst.requests)
    order = volume_order(inst)
    starts = serial(inst, order, admission, "lookahead")
    for y in range(max(starts)):
        f = next(i for i in order if starts[i] > y)
        head, mass = inst.requests[f], 0
        for i in order[: order.index(f)]:
            r = inst.requests[i]
            left = starts[i] + r.output - y
            if left > 0:
                mass += r.prompt + (y - starts[i]) + min(left, head.output)
        assert mass >= inst.memory + 1 - head.peak


@given(st.integers(0, 60), st.integers(1, 60), st.fractions(0, 1), st.fractions(0, 1))
def test_lemma_charge_a_request_costs_at_most_its_volume_times_k(s: int, o: int, x: Fraction, y: Fraction) -> None:
    a, b = sorted((max(x, Fraction(1, 50)), max(y, Fraction(1, 50))))
    cost = sum(max((s + o) / b, m / a) for m in range(s, s + o))
    assert cost <= (a / b**2 + 1 / a) * Request(s, o).volume


def test_t8_separates_peak_reservation_from_look_ahead() -> None:
    """At alpha = 1/2 peak reservation is worse than T7's 8/3 on volumes that are small against M^2."""
    length, rounds = 40, 40
    v = length * (length + 1) // 2
    memory = 2 * v
    thin = (memory - v) // length + 1
    requests = ([Request(0, length)] * thin + [Request(v - 1, 1)]) * rounds
    inst = Instance(memory, requests)
    order = volume_order(inst)
    assert order == tuple(range(len(inst)))
    # Another schedule: thin ones at a steady rate of (M - L) / v per step, fat ones after them.
    other, k = [0] * len(inst), 0
    for i, r in enumerate(requests):
        if r.output > 1:
            other[i], k = k * v // (memory - length), k + 1
    fat = [i for i, r in enumerate(requests) if r.output == 1]
    for j, i in enumerate(fat):
        other[i] = max(other) + length if j == 0 else other[fat[0]] + j
    peak = latency(inst, serial(inst, order, "strict", "peak"))
    assert peak >= (thin + 1) * length * rounds * (rounds - 1) // 2
    assert peak > Fraction(29, 10) * latency(inst, tuple(other)) > burst.t7_limit(HALF) * latency(inst, tuple(other))
    assert latency(inst, serial(inst, order, "strict", "lookahead")) < Fraction(2, 3) * peak


# Values, monotonicity, refusals.


def test_the_bounds_have_the_published_values() -> None:
    assert [burst.t1_limit(Fraction(0)), burst.t1_limit(HALF)] == [3, 5]
    assert [burst.t2_limit(Fraction(0)), burst.t2_limit(HALF)] == [Fraction(7, 3), 4]
    assert [burst.t3_limit(Fraction(0), Fraction(y)) for y in (0, 1)] == [Fraction(3, 2), Fraction(7, 3)]
    assert [burst.t7_limit(HALF), burst.t8_lower(HALF), burst.r4_lower(HALF)] == [Fraction(8, 3), 4, 2]
    assert burst.r4_lower(Fraction(9, 10)) == 10
    assert burst.t8_lower(Fraction(1, 3)) == burst.t2_limit(Fraction(1, 3)) == 3


@given(st.fractions(0, Fraction(99, 100)), st.integers(1, 10**6))
def test_finite_bounds_stay_below_their_limits_and_in_order(alpha: Fraction, memory: int) -> None:
    peak = max(1, int(alpha * memory))
    alpha = max(alpha, Fraction(peak, memory))
    assert burst.t2(memory, peak) <= burst.t1(memory, peak)
    if alpha < 1:
        assert burst.t1(memory, peak) < burst.t1_limit(alpha)
        assert burst.t2(memory, peak) < burst.t2_limit(alpha) <= burst.t1_limit(alpha)
        assert burst.r4_lower(alpha) <= burst.t7_limit(alpha) <= burst.t2_limit(alpha)
        assert burst.t8_lower(alpha) <= burst.t2_limit(alpha)


@given(st.integers(1, 10**4), st.integers(1, 10**4), st.fractions(0, 1), st.fractions(0, 1), st.integers(1, 99))
def test_bounds_grow_with_the_peak_the_shape_and_the_disorder(
    p: int, q: int, x: Fraction, y: Fraction, spread: int
) -> None:
    low, high = sorted((p, q))
    flat, round_ = sorted((x, y))
    for bound in (burst.t1, burst.t2, lambda m, k: burst.t3(m, k, flat), lambda m, k: burst.t6(m, k, 1 + y)):
        assert bound(10**4, low) <= bound(10**4, high)
    assert burst.t3(10**4, low, flat) <= burst.t3(10**4, low, round_) <= burst.t2(10**4, low)
    assert burst.t6(10**4, low, 1 + flat) <= burst.t6(10**4, low, 1 + round_)
    assert burst.t2(10**4, low) <= burst.t5_sharp(10**4, low, 1, spread) <= burst.t6(10**4, low, Fraction(spread))
    assert burst.t5_sharp(10**4, low // 2 + 1, 1, spread) <= burst.t5(10**4, low // 2 + 1, 1, spread) or low > 9998


def test_t7_tends_to_its_limit_from_above_as_the_memory_grows() -> None:
    values = [burst.t7(10**e, 10**e // 2, 10**6, 2 ** (e // 2), Fraction(1, 2 ** (e // 4))) for e in range(12, 41, 4)]
    assert values == sorted(values, reverse=True)
    assert burst.t7_limit(HALF) < values[-1] < burst.t7_limit(HALF) + Fraction(1, 50)
    inst = Instance(10**9, [Request(5, 5), Request(5 * 10**8 - 1, 1)])
    assert burst.t7_limit(HALF) < BY_ID["T7"].evaluate(inst, (0, 1)) < burst.t2(inst.memory, inst.peak)


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_roots_are_rounded_up_to_the_next_multiple(x: Fraction) -> None:
    step = Fraction(1, 2**20)
    root = root_above(x)
    assert root**2 >= x and (root - step) ** 2 < x


@pytest.mark.parametrize(
    "call",
    [
        lambda: wait_factor(10, 11),
        lambda: wait_factor(10, 0),
        lambda: wait_factor(0, 1),
        lambda: burst.t1_limit(Fraction(1)),
        lambda: burst.t2_limit(Fraction(-1, 2)),
        lambda: burst.t3(10, 5, Fraction(3, 2)),
        lambda: burst.t3_limit(HALF, Fraction(-1)),
        lambda: burst.t4(0),
        lambda: burst.t5(10, 6, 1, 2),
        lambda: burst.t5(10, 5, 3, 2),
        lambda: burst.t5_sharp(10, 5, 0, 2),
        lambda: burst.t6(10, 5, HALF),
        lambda: burst.t7(10, 5, 100, 2, HALF),
        lambda: burst.t7(10**9, 5, 100, 0, HALF),
        lambda: burst.t7(10**9, 5, 100, 2, Fraction(1)),
        lambda: burst.t8_lower(Fraction(1)),
        lambda: burst.r4_lower(Fraction(2)),
    ],
)
def test_values_outside_the_hypotheses_are_refused(call: Callable[[], Fraction]) -> None:
    with pytest.raises(InputError, match=r"give|keep"):
        call()


def test_instances_outside_the_hypotheses_are_refused() -> None:
    two = [Request(0, 3), Request(0, 1)]
    t2 = BY_ID["T2"]
    with pytest.raises(InputError, match="volume order"):
        t2.evaluate(Instance(9, two), (0, 1))
    with pytest.raises(InputError, match="bursts only"):
        t2.evaluate(Instance(9, [Request(0, 1, 2)]), (0,))
    with pytest.raises(InputError, match="model"):
        t2.evaluate(Instance(9, two, vllm_memory(1)), (1, 0))
    with pytest.raises(InputError, match="permutation"):
        t2.evaluate(Instance(9, two), (1, 1))
    with pytest.raises(InputError, match="at least one"):
        t2.evaluate(Instance(9, []), ())
    with pytest.raises(InputError, match="at most 1/2"):
        BY_ID["T5"].evaluate(Instance(5, two), (0, 1))
    with pytest.raises(InputError, match=r"M\^2"):
        BY_ID["T7"].evaluate(Instance(9, two), (1, 0))
    for check in (waiting_violation, integrated_violation):
        with pytest.raises(InputError, match="bursts only"):
            check(Instance(9, [Request(0, 1, 2)]), (0,), (2,))
        with pytest.raises(InputError, match="permutation"):
            check(Instance(9, two), (0, 0), (0, 0))
    with pytest.raises(InputError, match="model"):
        order_distortion(Instance(9, two, vllm_memory(1)), (0, 1))
    assert proved_bounds(Instance(9, two), (1, 0), "skip", "lookahead") == {}
