"""The exact optimum of an instance, with what a checker needs to believe it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lp_bounds.exact_ascent import root_multipliers
from lp_bounds.exact_heuristic import good_starts
from lp_bounds.exact_search import VECTORS, InterruptedSearchError, Search
from lp_bounds.exact_types import Grouped, group
from lp_bounds.mean_busy_time import best_bound
from theory.model import Instance, Schedule

#: Gap at the root, in steps of latency, from which on more time goes into a good schedule before the exact search.
HARD = 8
#: Entries that the tables of the multipliers may have. Beyond, only bounds are computed.
TABLES = 60_000_000
#: Requests and steps up to which schedules are searched for; beyond, requests run one after the other.
REQUESTS, STEPS = 200_000, 20_000_000


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
        the lower bound of a result that is not optimal (mean busy times do if there is none); a layered search
        with all of them proves an optimum.
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
        Seconds after which the bounds found so far are returned; no limit by default. An interrupt from the
        keyboard does the same.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> result = solve(Instance(10, [Request(1, 4), Request(1, 3), Request(6, 4), Request(2, 4)]))
    >>> result.status, result.upper_bound
    ('optimal', 24)
    """
    begin = time.monotonic()
    run = _Run(instance, float("inf") if time_limit is None else begin + time_limit)
    try:
        run.bounds()
        run.search()
    except (InterruptedSearchError, KeyboardInterrupt):
        run.take_best()
    upper = run.best + run.grouped.constant
    return ExactResult(
        status="optimal" if run.proved else "bounded",
        schedule=run.grouped.schedule(run.starts),
        upper_bound=upper,
        lower_bound=Fraction(upper) if run.proved else run.lower_bound(),
        multipliers=run.multipliers(),
        denominator=run.root.scale if run.root else 1,
        states=run.exact.states if run.exact else 0,
        seconds=time.monotonic() - begin,
    )


class _Run:
    """One computation: the best schedule so far (starts by type, and their sum) and whether it is proved."""

    def __init__(self, instance: Instance, deadline: float) -> None:
        self.instance, self.deadline = instance, deadline
        self.grouped: Grouped = group(instance)
        self.root: Search | None = None  # multipliers of the plain relaxation
        self.exact: Search | None = None
        self.proved = len(instance) == 0
        self.starts, self.best = self._one_by_one()

    def _one_by_one(self) -> tuple[list[list[int]], int]:
        """A schedule that runs one request at a time, in the order of arrival."""
        types, kind = self.grouped.types, self.grouped.kind
        starts, now = np.zeros(len(kind), dtype=np.int64), 0
        for i in np.argsort(types.arrival[kind], kind="stable"):
            starts[i] = max(now, int(types.arrival[kind[i]]))
            now = int(starts[i] + types.output[kind[i]])
        return self.grouped.by_type(starts), int(starts.sum())

    def _improve(self, rounds: int) -> None:
        """Look for a better schedule by local search."""
        types, kind = self.grouped.types, self.grouped.kind
        length = int(types.arrival.max()) + self.instance.total_output
        starts = good_starts(types, kind, length, rounds)
        if int(starts.sum()) < self.best:
            self.starts, self.best = self.grouped.by_type(starts), int(starts.sum())

    def bounds(self) -> None:
        """Find a good schedule, and multipliers of the plain relaxation."""
        types, count = self.grouped.types, self.grouped.count
        number = int(count.sum())
        steps = int(types.arrival.max(initial=0)) + self.instance.total_output
        if self.proved or number > REQUESTS or steps > STEPS:
            return
        self._improve(min(150 * number, 100_000 // number))
        last = max(t + int(o) for times, o in zip(self.starts, types.output, strict=True) for t in times) + 2
        if (last + 1) * (len(count) + 1) * 2 * VECTORS > TABLES or types.memory >= 2**31 or number >= 2**15:
            return
        self.root = self._search(last, events=False)
        self.proved = self.root.root_bound() > self.root.scale * (self.best - 1)

    def _search(self, last: int, events: bool) -> Search:
        types, count = self.grouped.types, self.grouped.count
        root = root_multipliers(types, count, last, events, self.deadline - time.monotonic())
        return Search(types, count, last, root)

    def search(self) -> None:
        """Prove the schedule optimal or find the optimum."""
        if self.root is None or self.proved:
            return
        self.exact = self._search(self.root.last, events=True)
        gap = self.best - self.exact.root_bound() / self.exact.scale
        if gap > HARD:
            self._improve(min(50_000, 1_250_000 // int(self.grouped.count.sum())))
        for width in (300 if gap > HARD else 50, None):
            self.exact.run(self.best, width, self.deadline)
            self.take_best()
        self.proved = True

    def take_best(self) -> None:
        """Take over a better schedule that the search found."""
        if self.exact and self.exact.best and self.exact.best.cost < self.best:
            self.starts, self.best = self.exact.best

    def lower_bound(self) -> Fraction:
        """The larger of what the first multipliers and mean busy times prove (without multipliers, the latter)."""
        if self.root is None:
            return best_bound(self.instance).value
        return Fraction(self.root.root_bound(), self.root.scale) + self.grouped.constant

    def multipliers(self) -> tuple[tuple[int, ...], ...]:
        """All vectors, that of the plain relaxation first."""
        found = [s.pool.price[1:, : s.vectors].T.tolist() for s in (self.root, self.exact) if s]
        return tuple(tuple(vector) for vectors in found for vector in vectors)
