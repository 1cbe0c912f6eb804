"""Exact lower bounds on the optimum: outputs, volumes and mean busy times (L1 to L4).

OPT is the least total end-to-end latency of any feasible schedule, offline and non-preemptive. Every bound here
holds for every memory model and for every online or offline policy, hence without hypotheses on peaks, lengths or
predictions.

Let request ``k`` have volume ``v_k`` (token-steps) and run in a feasible schedule with completion ``C_k``.
Its mean busy time is ``B_k = sum over steps t of (t - 1/2) held_k(t) / v_k``, and ``C_k = B_k + d_k`` exactly,
where ``d_k = moment_k / (2 v_k)`` does not depend on the schedule. As at most M tokens are held in a step, the
``B_k`` are those of a preemptive schedule of a server with speed M, work ``v_k`` and release dates ``a_k``; so
the least sum of ``B_k`` over such schedules bounds the optimum. A unit of work of ``k`` has the weight
``1 / v_k``: the least sum is attained by serving, at any time, the released request of smallest *whole* volume
(ties do not change the sum) [goemans2002]_. A request that never holds a token (prompt 0, output 1, lag 1) has no
mean busy time and counts its output length.

References
----------
.. [goemans2002] Goemans, Queyranne, Schulz, Skutella, Wang, "Single machine scheduling with release dates",
   SIAM J. Discrete Math. 15(2), 2002 (the mean busy time relaxation).
.. [kong2026] Kong, Qi, Ye, Zhou, "Geometry-Aware Online Scheduling for LLM Serving", arXiv 2606.22327,
   proposition 3.1.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from theory.model import Instance


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower bound on OPT: its value in steps and the name of the bound that gives it ("L1" or "L4")."""

    value: Fraction
    name: str

    @property
    def rounded_up(self) -> int:
        """The value rounded up: still a lower bound, because OPT is an integer."""
        return ceil(self.value)


def output_bound(instance: Instance) -> Fraction:
    """L1: no request takes less than its output length, so ``OPT >= sum of o_k``.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> output_bound(Instance(2, [Request(0, 1), Request(0, 2)]))
    Fraction(3, 1)
    """
    return Fraction(instance.total_output)


def volume_bound(instance: Instance) -> Fraction:
    """L2: ``M (OPT + sum of a_k) >= sum_k V_k``, with ``V_k`` the sum of the k smallest volumes [kong2026]_.

    The requests completed by time C have a total volume of at most M C; summed over the requests, each unordered
    pair contributes at least the smaller of its two volumes. Release dates only shrink what can be done by C.

    Examples
    --------
    Volumes 1 and 3: the sums are 1 and 4, not 3 and 4.

    >>> from theory.model import Instance, Request
    >>> volume_bound(Instance(2, [Request(0, 1), Request(0, 2)]))
    Fraction(5, 2)
    """
    volumes = sorted(_volumes(instance))
    total = sum(v * (len(volumes) - k) for k, v in enumerate(volumes))
    return Fraction(total, instance.memory) - _arrivals(instance)


def burst_mean_busy_time_bound(instance: Instance) -> Fraction:
    """L3: ``sum_k (V_k - v_k / 2) / M + sum_k d_k - sum_k a_k``, in closed form; never below L2.

    Release dates are ignored except in the latency: with a burst this equals L4, else it is at most L4.

    Examples
    --------
    Attained: two requests that fill the memory run one after the other, 1 + 2 steps.

    >>> from theory.model import Instance, Request
    >>> burst_mean_busy_time_bound(Instance(4, [Request(3, 1), Request(3, 1)]))
    Fraction(3, 1)
    """
    volumes = sorted(_volumes(instance))
    twice = sum(v * (2 * (len(volumes) - k) - 1) for k, v in enumerate(volumes))
    return Fraction(twice, 2 * instance.memory) + _exact_sum(tail_terms(instance)) - _arrivals(instance)


def mean_busy_time_bound(instance: Instance) -> Fraction:
    """L4: the least sum of mean busy times under release dates, plus ``sum_k d_k - sum_k a_k``.

    Exact, in O(n log n) steps; the common denominator of many different volumes is long, so for more than some
    thousand requests use :func:`lp_bounds.mean_busy_time_fast.fast_bound`, which rounds down.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> mean_busy_time_bound(Instance(4, [Request(3, 1), Request(3, 1, arrival=5)]))
    Fraction(2, 1)
    """
    return _exact_sum(delay_terms(instance)) + _exact_sum(tail_terms(instance))


def best_bound(instance: Instance) -> Bound:
    """The larger of L1 and L4 (L2 and L3 are never above L4)."""
    return larger(output_bound(instance), mean_busy_time_bound(instance))


def larger(l1: Fraction, l4: Fraction) -> Bound:
    """The larger of the two bounds, with its name."""
    return Bound(l1, "L1") if l1 >= l4 else Bound(l4, "L4")


def tail_terms(instance: Instance) -> Iterator[tuple[int, int]]:
    """Yield ``d_k``, completion minus mean busy time, as (numerator, denominator), in steps."""
    model = instance.memory_model
    for r in instance.requests:
        volume = model.volume(r.prompt, r.output)
        yield (model.moment(r.prompt, r.output), 2 * volume) if volume else (r.output, 1)


def delay_terms(instance: Instance) -> Iterator[tuple[int, int]]:
    """Yield ``B*_k - a_k``, mean busy time minus arrival in the optimal relaxed schedule, as fractions.

    In no particular order, as (numerator, denominator) in steps; requests of volume 0 are left out.
    """
    volumes = _volumes(instance)
    releases = [instance.memory * r.arrival for r in instance.requests]
    doubled = [0] * len(volumes)
    for k, begin, end in preemptive_pieces(volumes, releases):
        doubled[k] += (end - begin) * (begin + end - 2 * releases[k])
    for moment, volume in zip(doubled, volumes, strict=True):
        if volume:
            yield moment, 2 * volume * instance.memory


def preemptive_pieces(volumes: Sequence[int], releases: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Run a server of speed 1 on the released job of smallest volume; yield pieces (job, begin, end).

    With ``releases[k] = M a_k`` this is the server of speed M in time scaled by M, where all events are integers.

    Examples
    --------
    >>> list(preemptive_pieces([5, 2], [0, 1]))
    [(0, 0, 1), (1, 1, 3), (0, 3, 7)]
    """
    order = sorted(range(len(volumes)), key=releases.__getitem__)
    remaining = list(volumes)
    waiting: list[tuple[int, int]] = []
    now = 0
    for position, job in enumerate(order):
        now = max(now, releases[job])
        heapq.heappush(waiting, (volumes[job], job))
        is_last = position + 1 == len(order)
        while waiting and (is_last or now < releases[order[position + 1]]):
            k = waiting[0][1]
            end = now + remaining[k]
            if not is_last:
                end = min(end, releases[order[position + 1]])
            if end > now:
                yield k, now, end
            remaining[k] -= end - now
            now = end
            if not remaining[k]:
                heapq.heappop(waiting)


def _volumes(instance: Instance) -> list[int]:
    return [instance.memory_model.volume(r.prompt, r.output) for r in instance.requests]


def _arrivals(instance: Instance) -> int:
    return sum(r.arrival for r in instance.requests)


def _exact_sum(terms: Iterable[tuple[int, int]]) -> Fraction:
    """Sum fractions given as (numerator, denominator): equal denominators first, then pairwise (short numbers)."""
    by_denominator: dict[int, int] = {}
    for numerator, denominator in terms:
        by_denominator[denominator] = by_denominator.get(denominator, 0) + numerator
    layer = [Fraction(numerator, denominator) for denominator, numerator in by_denominator.items()]
    while len(layer) > 1:
        layer = [sum(layer[i : i + 2], Fraction()) for i in range(0, len(layer), 2)]
    return layer[0] if layer else Fraction()
