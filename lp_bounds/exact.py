"""The exact optimum of an instance, with what a checker needs to believe it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lp_bounds.exact_heuristic import good_starts
from lp_bounds.exact_kernels import Types
from lp_bounds.exact_search import Interrupted, Search
from theory.model import Instance, Schedule


@dataclass(frozen=True)
class ExactResult:
    """What :func:`solve` found.

    Attributes
    ----------
    status : {"optimal", "bounded"}
        Whether the optimum was found and proved, or the time or memory ran out before.
    schedule : Schedule
        The best schedule found.
    upper_bound : int
        Its total latency (steps).
    lower_bound : Fraction
        Proved bound on the total latency of any schedule (steps).
    multipliers : tuple of tuples of int
        Multipliers of the memory of steps 1, 2, ..., times `denominator`; 0 beyond. The first vector alone proves
        the root bound; a layered search with all of them proves an optimum.
    denominator : int
        Common denominator of the multipliers.
    states : int
        States expanded.
    seconds : float
        Time used.
    """

    status: str
    schedule: Schedule
    upper_bound: int
    lower_bound: Fraction
    multipliers: tuple[tuple[int, ...], ...]
    denominator: int
    states: int
    seconds: float


def solve(instance: Instance, *, time_limit: float | None = None) -> ExactResult:
    """Compute the optimum by layered search (see :mod:`lp_bounds.exact_search`).

    Parameters
    ----------
    instance : Instance
        Burst or release dates, any memory model.
    time_limit : float, optional
        Seconds after which the bounds found so far are returned; no limit by default. An interrupt from the keyboard does the same.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> result = solve(Instance(10, [Request(1, 4), Request(1, 3), Request(6, 4), Request(2, 4)]))
    >>> result.status, result.upper_bound
    ('optimal', 24)
    """
    begin = time.monotonic()
    deadline = begin + (float("inf") if time_limit is None else time_limit)
    grouped: dict[tuple[int, int, int], list[int]] = {}
    for i, r in enumerate(instance.requests):
        grouped.setdefault((r.prompt, r.output, r.arrival), []).append(i)
    model = instance.memory_model
    keys = sorted(grouped, key=lambda key: (model.volume(key[0], key[1]), key))
    types = _types(instance, keys)
    count = np.array([len(grouped[key]) for key in keys], dtype=np.int64)
    kind = np.repeat(np.arange(len(keys)), count)
    length = int(types.arrival.max()) + instance.total_output
    starts = good_starts(types, kind, length, 2000)
    best = int(starts.sum())
    by_type = [starts[kind == k].tolist() for k in range(len(keys))]
    constant = instance.total_output - sum(r.arrival for r in instance.requests)
    makespan = int((starts + types.output[kind]).max())
    search = Search(types, count, makespan + 2)
    bound = search.root_bound()
    status = "optimal"
    if search.scale * (best - 1) >= bound:
        try:
            for width in (50, None):
                found = search.run(best, width, deadline)
                if found is not None:
                    best, by_type = found.cost, found.starts
        except (Interrupted, KeyboardInterrupt):
            status = "bounded"
            if search.best is not None:
                best, by_type = search.best.cost, search.best.starts
    order = [0] * len(instance)
    for key, times in zip(keys, by_type, strict=True):
        for i, t in zip(grouped[key], times, strict=True):
            order[i] = t
    lower = Fraction(bound, search.scale) + constant
    upper = best + constant
    return ExactResult(
        status=status,
        schedule=Schedule(tuple(order)),
        upper_bound=upper,
        lower_bound=Fraction(upper) if status == "optimal" else lower,
        multipliers=tuple(tuple(search.pool.price[1:, q].tolist()) for q in range(search.vectors)),
        denominator=search.scale,
        states=search.states,
        seconds=time.monotonic() - begin,
    )


def _types(instance: Instance, keys: list[tuple[int, int, int]]) -> Types:
    """The arrays of the types (prompt, output, arrival)."""
    longest = max(output for _, output, _ in keys)
    held = np.zeros((len(keys), longest), dtype=np.int64)
    growth = 1
    for k, (prompt, output, _) in enumerate(keys):
        held[k, :output] = [instance.memory_model.held(prompt, j) for j in range(1, output + 1)]
        growth = max(growth, int(np.diff(held[k, :output]).max(initial=0)))
    return Types(
        held=held,
        output=np.array([output for _, output, _ in keys], dtype=np.int64),
        arrival=np.array([arrival for _, _, arrival in keys], dtype=np.int64),
        memory=instance.memory,
        tight=growth,
    )
