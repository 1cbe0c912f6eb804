"""Long runs under Poisson arrivals: an exact latency and a certified lower bound on the same sample path.

What is rigorous and what is statistics:

* On a path of n requests the policy's total latency is exact and the bound (L1 or L4) is at most the latency of
  *any* schedule of these requests. Sums over paths inherit this. Nothing random is left in that statement.
* ``E[ALG]/E[OPT]`` over the n requests of a path, started with an empty memory, is at most
  ``E[ALG]/E[bound]``. That number is estimated from independent paths, with a confidence interval.
* The stationary mean wait is estimated from the middle of each path (:data:`TRIM` of the requests are left out at
  either end). That the start is forgotten by then is a judgement; :attr:`Totals.drift` tells when it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lp_bounds.mean_busy_time_fast import fast_bound
from runtime.poisson_law import Ints, Law, draw, mean, volume
from runtime.poisson_stats import Estimate, mean_estimate, ratio_estimate
from runtime.policies import Policy
from runtime.simulator import SimulationResult, ranks, simulate_arrays
from theory.errors import InputError

Path: TypeAlias = tuple[Ints, Ints, Ints]
#: Part of the requests, by arrival, that is left out at either end of a path when a stationary mean is estimated.
TRIM = Fraction(1, 10)


@dataclass(frozen=True)
class Queue:
    """Poisson arrivals (a Poisson number at each integer time) with lengths drawn independently from a law.

    Parameters
    ----------
    law : Law
        Of (prompt, output) in tokens; every peak at most `memory`.
    memory : int
        Capacity M in tokens.
    rate : Fraction
        lambda, the mean number of arrivals per step.

    Examples
    --------
    >>> queue = Queue({(1, 100): Fraction(1)}, 2000, Fraction(1, 10))
    >>> queue.load, queue.peak
    (Fraction(103, 400), 101)
    """

    law: Law
    memory: int
    rate: Fraction

    def __post_init__(self) -> None:
        if self.rate <= 0:
            raise InputError("rate", f"is {self.rate}", "give a positive number of arrivals per step")
        if self.peak > self.memory:
            raise InputError("law", f"has a peak of {self.peak} tokens", f"keep peaks within {self.memory}")

    @cached_property
    def peak(self) -> int:
        """P, the largest peak in tokens."""
        return max(s + o for s, o in self.law)

    @cached_property
    def mean_output(self) -> Fraction:
        """E[o] in steps: at most the mean latency of any schedule."""
        return mean(self.law, lambda _s, o: o)

    @cached_property
    def load(self) -> Fraction:
        """``lambda E[v] / M``: above 1 no policy is stable."""
        return self.rate * mean(self.law, volume) / self.memory

    @property
    def rho(self) -> Fraction:
        """The paper's ``lambda E[v] / ((1 - alpha) M/2)`` with ``alpha = P/M``."""
        return 2 * self.load / (1 - Fraction(self.peak, self.memory))

    def path(self, requests: int, seed: Sequence[int]) -> Path:
        """Prompts, outputs and arrivals of the first `requests` requests."""
        rng = np.random.default_rng(seed)
        prompt, output = draw(self.law, requests, rng)
        arrival = np.floor(np.cumsum(rng.exponential(float(1 / self.rate), requests))).astype(np.int64)
        return prompt, output, arrival


def with_load(law: Law, memory: int, load: Fraction) -> Queue:
    """The queue whose arrival rate gives the load ``lambda E[v] / M``."""
    return Queue(law, memory, load * memory / mean(law, volume))


def with_rho(law: Law, memory: int, rho: Fraction) -> Queue:
    """The queue whose arrival rate gives the paper's rho."""
    peak = max(s + o for s, o in law)
    return with_load(law, memory, rho * (1 - Fraction(peak, memory)) / 2)


@dataclass(frozen=True)
class Totals:
    """What a policy did on independent paths of equally many requests.

    Parameters
    ----------
    requests : int
        Per path.
    latency : tuple of int
        Total latency of each path in steps.
    bound : tuple of Fraction
        Certified lower bound on the total latency of any schedule, for each path.
    wait : tuple of float
        Mean wait in steps of the middle requests of each path.
    drift : tuple of float
        Mean wait of the last quarter of the middle minus that of its first quarter, for each path.
    """

    requests: int
    latency: tuple[int, ...]
    bound: tuple[Fraction, ...]
    wait: tuple[float, ...]
    drift: tuple[float, ...]

    @property
    def certified(self) -> Fraction:
        """Total latency over total bound: no schedule of these paths does better by more than this factor."""
        return sum(self.latency) / sum(self.bound, start=Fraction(0))

    @property
    def ratio_of_means(self) -> Estimate:
        """Estimate of ``E[ALG]/E[bound]``, which bounds ``E[ALG]/E[OPT]`` from above."""
        return ratio_estimate([float(x) for x in self.latency], [float(b) for b in self.bound])

    @property
    def mean_of_ratios(self) -> Estimate:
        """Estimate of ``E[ALG/bound]``, which bounds ``E[ALG/OPT]`` over paths from above."""
        return mean_estimate([float(x / b) for x, b in zip(self.latency, self.bound, strict=True)])

    @property
    def mean_wait(self) -> Estimate:
        """Estimate of the stationary mean wait in steps."""
        return mean_estimate(self.wait)

    @property
    def mean_drift(self) -> Estimate:
        """Estimate of the growth of the wait within a path: clearly above 0 when there is no stationary state."""
        return mean_estimate(self.drift)


def run_queue(
    queue: Queue, policies: Sequence[Policy], requests: int, paths: int, seed: int, admission: str = "strict"
) -> list[Totals]:
    """Run policies on common independent paths, one path in memory at a time.

    Parameters
    ----------
    queue : Queue
    policies : sequence of Policy
    requests : int
        Per path; memory grows with it (about 0.2 GB per million), not with `paths`.
    paths : int
        Number of independent paths.
    seed : int
        Path r is drawn by ``numpy.random.default_rng((seed, r))``, whatever the policies.
    admission : {"strict", "skip", "conservative"}

    Returns
    -------
    list of Totals
        One for each policy.
    """
    kept: list[list[tuple[int, Fraction, float, float]]] = [[] for _ in policies]
    for path, bound in bounded_paths(queue, requests, paths, seed):
        for rows, policy in zip(kept, policies, strict=True):
            run = run_path(path, queue.memory, policy, admission)
            rows.append((run.total_latency, bound, *_middle(run)))
    return [Totals(requests, *zip(*rows, strict=True)) for rows in kept]


def bounded_paths(queue: Queue, requests: int, paths: int, seed: int) -> Iterator[tuple[Path, Fraction]]:
    """Independent paths, each with a certified lower bound on the latency of any schedule of it."""
    for replication in range(paths):
        path = queue.path(requests, (seed, replication))
        yield path, fast_bound(*path, queue.memory).value


def run_path(path: Path, memory: int, policy: Policy, admission: str = "strict") -> SimulationResult:
    """Run one policy on one path, with true lengths and the look-ahead fit test."""
    prompt, output, arrival = path
    rank = ranks(policy, prompt, output, arrival)
    return simulate_arrays(prompt, output, arrival, rank, memory, admission=admission)


def _middle(run: SimulationResult) -> tuple[float, float]:
    wait = run.starts - run.arrivals
    out = int(len(wait) * TRIM)
    middle = wait[out : len(wait) - out]
    quarter = max(1, len(middle) // 4)
    return float(middle.mean()), float(middle[-quarter:].mean() - middle[:quarter].mean())


def busy_periods(run: SimulationResult) -> NDArray[np.int64]:
    """Index of the first request of each busy period of a run, in order of arrival.

    A busy period lies between two times at which the system is empty under the policy: nothing is left from
    before, and what arrives then has not started. Periods are independent and alike, except the last, which ends
    for want of further requests.

    Examples
    --------
    >>> a, o = np.array([0, 1, 4, 9]), np.array([2, 3, 1, 1])
    >>> run = run_path((np.zeros_like(a), o, a), 9, Policy("fcfs", lambda s, o, a: a))
    >>> busy_periods(run).tolist()
    [0, 2, 3]
    """
    latest = np.maximum.accumulate(run.completions)
    return np.flatnonzero(np.concatenate([[True], run.arrivals[1:] >= latest[:-1]]))


@dataclass(frozen=True)
class Periods:
    """Complete busy periods of a run: their requests, latency, and certified bound on any schedule's latency."""

    requests: NDArray[np.int64]
    latency: NDArray[np.int64]
    bound: NDArray[np.float64]

    @property
    def mean_latency(self) -> Estimate:
        """Regenerative estimate of the stationary mean latency per request, in steps."""
        return ratio_estimate(self.latency.astype(float), self.requests.astype(float))

    @property
    def mean_of_ratios(self) -> Estimate:
        """Estimate of ``E[ALG/bound]`` over busy periods, which bounds ``E[ALG/OPT]`` from above."""
        return mean_estimate(self.latency / self.bound)

    @property
    def ratio_of_means(self) -> Estimate:
        """Estimate of ``E[ALG]/E[bound]`` over busy periods."""
        return ratio_estimate(self.latency.astype(float), self.bound)


def periods_of(path: Path, run: SimulationResult, memory: int) -> Periods:
    """Split a run into its complete busy periods and bound each on its own.

    The requests of a period alone cost at most what they cost among others, so the bounds may be added.
    """
    prompt, output, arrival = path
    first = busy_periods(run)
    size = np.diff(first)
    end = first[-1]
    latency = np.add.reduceat(run.latencies[:end], first[:-1]) if len(size) else np.zeros(0, np.int64)
    bound = np.add.reduceat(output[:end], first[:-1]).astype(float) if len(size) else np.zeros(0)
    # a period in which nobody waits costs the sum of its lengths, which is a bound already
    for i in np.flatnonzero(latency > bound):
        rows = slice(first[i], first[i + 1])
        bound[i] = float(fast_bound(prompt[rows], output[rows], arrival[rows], memory).value)
    return Periods(size, latency, bound)
