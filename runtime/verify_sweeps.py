"""Exhaustive sweeps over small instances, and single computations, that claims name as evidence.

The optimum here is found by plain enumeration, without the solver that the rest of the project uses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, permutations, product

from lp_bounds.mean_busy_time import burst_mean_busy_time_bound, mean_busy_time_bound, output_bound, volume_bound
from runtime.reference import reference_simulate
from theory.burst import volume_order
from theory.burst_bounds import BOUNDS
from theory.errors import InputError
from theory.model import PAPER, Instance, Request, Schedule
from theory.waiting import instance_guarantee, integrated_violation, waiting_violation

#: (memory, largest peak, number of requests): all multisets of that many requests are gone through.
_BOUND_SIZES = ((5, 5, 3), (6, 6, 3), (8, 4, 4), (5, 5, 4))
_POLICY_SIZES = ((5, 5, 3), (8, 4, 3), (6, 3, 4))
_ARRIVAL_SIZES = ((5, 5, 2), (4, 4, 3))
#: T7 asks for volumes far below M^2, which no instance here has.
_BOUNDS = tuple(bound for bound in BOUNDS if bound.id != "T7")


class CounterexampleError(Exception):
    """A sweep met an instance on which the claim fails; the message shows it."""


def optimum(instance: Instance, horizon: int | None = None) -> int:
    """Least total latency by enumeration of schedules that end by `horizon`.

    By default the horizon is the last arrival plus the sum of the outputs. Exponential: for a handful of short
    requests.

    Examples
    --------
    >>> optimum(Instance(10, [Request(1, 4), Request(1, 3), Request(6, 4), Request(2, 4)]))
    24
    """
    latest = max(r.arrival for r in instance.requests) + instance.total_output if horizon is None else horizon
    requests = sorted(instance.requests, key=lambda r: -r.output)
    least = [0]
    for r in reversed(requests):
        least.append(least[-1] + r.output)
    usage = [0] * (latest + max(r.output for r in requests) + 1)
    best = [len(requests) * 2 * latest + 1]

    def place(k: int, cost: int) -> None:
        if k == len(requests):
            best[0] = min(best[0], cost)
            return
        r, rest = requests[k], least[len(requests) - k - 1]
        tokens = range(r.prompt + 1, r.prompt + r.output + 1)
        for start in range(r.arrival, latest - r.output + 1):
            latency = start + r.output - r.arrival
            if cost + latency + rest >= best[0]:
                return
            if all(usage[start + j] + held <= instance.memory for j, held in enumerate(tokens)):
                for j, held in enumerate(tokens):
                    usage[start + j] += held
                place(k + 1, cost + latency)
                for j, held in enumerate(tokens):
                    usage[start + j] -= held

    place(0, 0)
    return best[0]


def lower_bounds(deadline: float) -> str:
    """L1, L2 and L3 are at most the optimum, and some optimal schedule ends by the sum of the output lengths."""
    count = 0
    for instance in _bursts(_BOUND_SIZES, deadline):
        best = optimum(instance)
        later = optimum(instance, instance.total_output + max(r.output for r in instance.requests))
        bounds = (output_bound(instance), volume_bound(instance), burst_mean_busy_time_bound(instance))
        if max(bounds) > best or later != best:
            raise CounterexampleError(f"{_shown(instance)}: optimum {best}, {later} with more time, bounds {bounds}")
        count += 1
    return f"{count} bursts: all with (M, P, n) in {_BOUND_SIZES}"


def arrival_bound(deadline: float) -> str:
    """L4 is at most the optimum when requests arrive in the first three steps."""
    count = 0
    for burst in _bursts(_ARRIVAL_SIZES, deadline):
        for arrivals in product(range(3), repeat=len(burst)):
            requests = [Request(r.prompt, r.output, a) for r, a in zip(burst.requests, arrivals, strict=True)]
            instance = Instance(burst.memory, requests)
            if (bound := mean_busy_time_bound(instance)) > (best := optimum(instance)):
                raise CounterexampleError(f"{_shown(instance)}: optimum {best}, bound {bound}")
            count += 1
    return f"{count} instances: all with (M, P, n) in {_ARRIVAL_SIZES} and arrivals 0, 1, 2"


def burst_bounds(deadline: float) -> str:
    """The waiting lemma and every bound of :mod:`theory.burst_bounds`, for all orders (n <= 3).

    Strict admission and conservative backfilling, look-ahead and peak reservation.
    """
    runs = 0
    for instance in _bursts(_POLICY_SIZES, deadline):
        best, indices = optimum(instance), range(len(instance))
        by_volume = volume_order(instance)
        orders = {by_volume} if len(instance) > 3 else set(permutations(indices))
        for order in sorted(orders):
            proved = {}
            for bound in _BOUNDS:
                try:
                    proved[bound] = bound.evaluate(instance, order) * best
                except InputError:  # outside the hypotheses of this bound
                    continue
            promised = instance_guarantee(instance, order)
            for admission, fit in product(("strict", "conservative"), ("lookahead", "peak")):
                starts = _run(instance, order, admission, fit)
                latency = Schedule(tuple(starts)).total_latency(instance)
                where = f"{_shown(instance)}, order {order}, {admission}, {fit}: latency {latency}, optimum {best}"
                if fault := waiting_violation(instance, order, starts) or integrated_violation(instance, order, starts):
                    raise CounterexampleError(f"{where}: {fault}")
                if latency > promised.latency or promised.optimum > best:
                    raise CounterexampleError(f"{where}: exceeds {promised}")
                for bound, most in proved.items():
                    covered = admission in bound.hypotheses.admissions and fit in bound.hypotheses.fits
                    if covered and latency > most:
                        raise CounterexampleError(f"{where}: more than {bound.id} allows, {most}")
                runs += 1
    return f"{runs} runs on all bursts with (M, P, n) in {_POLICY_SIZES}, all orders for n <= 3"


def memory_in_use(deadline: float) -> str:
    """Three requests (0, 50) at M = 100: the third waits while 2 of 100 tokens are in use."""
    instance = Instance(100, [Request(0, 50)] * 3)
    for fit in ("lookahead", "peak"):
        starts = _run(instance, (0, 1, 2), "strict", fit)
        in_use = Schedule(tuple(starts)).usage(instance)[1]
        if 2 * instance.peak > 100 or starts[2] < 1 or 2 * in_use > 100:
            raise CounterexampleError(f"{_shown(instance)}: starts {starts}, {in_use} tokens in step 1")
    return "M = 100, three requests (0, 50): the third waits for 50 steps, in the first with 2 tokens in use"


def oracle_trap(deadline: float) -> str:
    """Earliest fit in the best of all orders has total latency 25 where the optimum is 24."""
    instance = Instance(10, [Request(1, 4), Request(1, 3), Request(6, 4), Request(2, 4)])
    serial = min(
        Schedule(tuple(_run(instance, order, "conservative", "lookahead"))).total_latency(instance)
        for order in permutations(range(4))
    )
    better = Schedule((1, 0, 6, 2))
    if serial != 25 or better.violation(instance) or better.total_latency(instance) != 24:
        raise CounterexampleError(f"{_shown(instance)}: {serial} in order, {better.total_latency(instance)} not")
    return "M = 10, (1,4), (1,3), (6,4), (2,4): all 24 orders give 25 or more, the starts 1, 0, 6, 2 give 24"


#: Evidence by name: what decides it, given the time (``time.monotonic()``) at which to give up with TimeoutError.
SWEEPS: dict[str, Callable[[float], str]] = {
    "lower-bounds": lower_bounds,
    "arrival-bound": arrival_bound,
    "burst-bounds": burst_bounds,
    "memory-in-use": memory_in_use,
    "oracle-trap": oracle_trap,
}


def _bursts(sizes: tuple[tuple[int, int, int], ...], deadline: float) -> Iterator[Instance]:
    """All multisets of requests of the given sizes, until the deadline."""
    for memory, peak, n in sizes:
        kinds = [Request(s, o) for o in range(1, peak + 1) for s in range(peak - o + 1)]
        for chosen in combinations_with_replacement(kinds, n):
            if time.monotonic() > deadline:
                raise TimeoutError("the time limit is over")
            yield Instance(memory, chosen)


def _run(instance: Instance, order: tuple[int, ...], admission: str, fit: str) -> list[int]:
    """Start times of a policy that serves in this order."""
    ranks = [order.index(i) for i in range(len(order))]
    prompts, outputs = [r.prompt for r in instance.requests], [r.output for r in instance.requests]
    starts, _, _ = reference_simulate(
        prompts, outputs, [0] * len(order), ranks, outputs, instance.memory, PAPER, admission, fit
    )
    return starts


def _shown(instance: Instance) -> str:
    sizes = ", ".join(f"({r.prompt},{r.output}){f'@{r.arrival}' if r.arrival else ''}" for r in instance.requests)
    return f"M = {instance.memory}: {sizes}"
