"""Lower bounds on the optimum, re-derived for the certificate checker (standard library only, exact integers).

Two bounds: the larger of the outputs (L1) and the mean busy times under release dates (L4), and the Lagrangian
bound of multipliers of the memory rows. Both are valid for every feasible schedule.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from lp_bounds.checker_input import Clock, Job, Problem, UndecidedError

MAX_EXACT_TERMS = 50_000  #: different volumes up to which two almost equal numbers are compared exactly
MAX_WORK = 20_000_000  #: table entries, in total, that multipliers may need


class Growth(NamedTuple):
    """Holdings: `first` tokens in step 1, and `block` more from each of the `jumps` steps p, p + block, ... on."""

    first: int
    p: int
    jumps: int


def growth(problem: Problem, job: Job) -> Growth:
    """Holdings of a request as a first step and its increases."""
    first = problem.held(job.prompt, 1)
    p = first + 1 - job.prompt + problem.lag  # the first step whose tokens exceed the blocks of step 1
    return Growth(first, p, (job.output - p) // problem.block + 1 if p <= job.output else 0)


def volume_and_moment(problem: Problem, job: Job) -> tuple[int, int]:
    """Sum over j of held_j, and of held_j * (2 (o - j) + 1), in closed form.

    An increase in step q stays for a = o - q + 1 steps: it adds `block` times a to the first sum and a^2 to the
    second. The a are an arithmetic progression.
    """
    first, p, m = growth(problem, job)
    o, b, a = job.output, problem.block, job.output - p + 1
    ones, squares = m * (m - 1) // 2, (m - 1) * m * (2 * m - 1) // 6
    volume = first * o + b * (m * a - b * ones)
    moment = first * o * o + b * (m * a * a - 2 * a * b * ones + b * b * squares)
    return volume, moment


def mean_busy_time_reaches(problem: Problem, num: int, den: int, clock: Clock) -> bool:
    """Whether max(L1, L4) >= num / den.

    L4: let v_k be the volume of request k. Its mean busy time is B_k = sum over steps t of (t - 1/2) held_k(t) /
    v_k, and its completion is B_k + moment_k / (2 v_k) exactly. As at most M tokens are held at any time, the B_k
    are mean busy times of work v_k on a preemptive server of speed M with release dates; the sum of those is
    least if the server always works on the smallest v_k among the released (Goemans et al. 2002, theorem 2.1).
    A request without volume has output 1 and counts 1.
    """
    if sum(job.output for job in problem.jobs) * den >= num:
        return True
    numerators: dict[int, int] = {}  # volume -> numerator over 2 M volume
    work = []
    rest = 0  # the part of the bound that is an integer
    for job in problem.jobs:
        volume, moment = volume_and_moment(problem, job)
        rest -= job.arrival
        if volume == 0:
            rest += job.arrival + job.output
            continue
        numerators[volume] = numerators.get(volume, 0) + problem.memory * moment
        work.append((job.arrival * problem.memory, volume))
    for volume, twice_busy in _serve(sorted(work)):
        numerators[volume] += twice_busy
    clock.check()
    # is sum of numerators[v] / v >= 2 M (num / den - rest)?
    right = 2 * problem.memory * (num - rest * den)
    shift = 128
    low = sum((x << shift) // v for v, x in numerators.items())
    if low * den >= right << shift:
        return True
    if (low + len(numerators)) * den < right << shift:
        return False
    if len(numerators) > MAX_EXACT_TERMS:
        raise UndecidedError(f"the claimed bound is within 2^-{shift} of the bound with {len(numerators)} volumes")
    left_num, left_den = _exact_sum([(x, v) for v, x in sorted(numerators.items())], clock)
    return left_num * den >= right * left_den


def _serve(work: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Smallest volume first, preemptive: (volume, end^2 - begin^2) of each piece served.

    Time is scaled so that the server does one token-step per unit; releases are then multiples of M.
    """
    queue: list[tuple[int, int]] = []  # heap of (volume, work left)
    now, next_up = 0, 0
    while queue or next_up < len(work):
        if not queue:
            now = max(now, work[next_up][0])
        while next_up < len(work) and work[next_up][0] <= now:
            heappush(queue, (work[next_up][1], work[next_up][1]))
            next_up += 1
        volume, left = heappop(queue)
        end = now + left
        if next_up < len(work) and work[next_up][0] < end:
            end = work[next_up][0]
            heappush(queue, (volume, left - (end - now)))
        yield volume, end * end - now * now
        now = end


def _exact_sum(terms: list[tuple[int, int]], clock: Clock) -> tuple[int, int]:
    """Sum of the fractions as (numerator, denominator), by halves so that few products are long."""
    while len(terms) > 1:
        clock.check()
        pairs = zip(terms[::2], terms[1::2], strict=False)
        odd = terms[len(terms) & ~1 :]
        terms = [(a * d + c * b, b * d) for (a, b), (c, d) in pairs] + odd
    return terms[0] if terms else (0, 1)


class Prices:
    """Multipliers lam_1, ..., lam_H >= 0 of the memory rows, over the denominator D; 0 beyond H.

    Paying lam_x / D per token held in step x, and getting M * lam_x / D back, can only lower the cost of a
    feasible schedule. With the memory no longer limited, each request takes its own cheapest start: a lower bound.
    """

    def __init__(self, problem: Problem, denominator: int, lam: tuple[int, ...]) -> None:
        self.problem, self.denominator, self.lam = problem, denominator, lam
        self.horizon = len(lam)
        self.sums = [0, *accumulate(lam)]  # of lam up to a step
        self.moments = [0, *accumulate(x * price for x, price in enumerate(lam, 1))]

    def costs(self, job: Job) -> list[int]:
        """D (t - a) plus the price of what the request holds if started at t, for t = a, ..., max(a, H).

        At and after H no step has a price, so that the cost is D (t - a) from there on.
        """
        L, W, H, D, o = self.sums, self.moments, self.horizon, self.denominator, job.output
        if job.arrival >= H:
            return [0]
        first, p, count = growth(self.problem, job)
        result = []
        if self.problem.block == 1:  # holds first, first + 1, ... in steps t + 1, t + 2, ...
            for t in range(job.arrival, H + 1):
                e = min(t + o, H)
                result.append(D * (t - job.arrival) + (first - 1 - t) * (L[e] - L[t]) + W[e] - W[t])
            return result
        block = self.problem.block
        for t in range(job.arrival, H + 1):
            e = min(t + o, H)
            jumps = range(t + p - 1, min(e, t + p - 1 + count * block), block)
            held = first * (L[e] - L[t]) + block * sum(L[e] - L[x] for x in jumps)
            result.append(D * (t - job.arrival) + held)
        return result

    def work(self, job: Job) -> int:
        """Upper bound on the operations of `costs`."""
        steps = max(self.horizon - job.arrival, 0) + 1
        return steps if self.problem.block == 1 else steps * (min(job.output, self.horizon) // self.problem.block + 2)

    def bound(self, clock: Clock) -> int:
        """D times the lower bound on the total latency."""
        counts: dict[Job, int] = {}
        for job in self.problem.jobs:
            counts[job] = counts.get(job, 0) + 1
        if sum(map(self.work, counts)) > MAX_WORK:
            raise UndecidedError(f"the multipliers need more than {MAX_WORK} table entries")
        total = -self.problem.memory * self.sums[-1]
        for job, n in counts.items():
            clock.check()
            total += n * (min(self.costs(job)) + self.denominator * job.output)
        return total
