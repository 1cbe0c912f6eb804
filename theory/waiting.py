"""The waiting lemma as an executable check on a run, and what it guarantees for one instance.

Time is integer; at time `y` a request is active when ``t_i <= y < t_i + o_i`` (it runs in step ``y + 1``). The
lemma holds for a burst under every static key order, for strict admission and for conservative backfilling (each
request in order gets the earliest start that fits with the ones before it), with look-ahead or peak reservation,
in every memory model of :mod:`theory.model`.

    While a request waits at time y, let f be the first request in the key order that has not started by y. Then
    the peaks of the active predecessors of f sum to at least M + 1 - p_f.

Proof: all predecessors of f have started by y, and f did not start at y, so some step x in (y, y + o_f] would hold
more than M by f and its predecessors alone. Those alive at x are active at y; each holds at most its peak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.errors import InputError
from theory.model import Instance

#: Reciprocals are rounded to this denominator, to the safe side: exact sums over a trace have huge denominators.
_SCALE = 2**64


def _peaks(instance: Instance) -> list[int]:
    return [instance.memory_model.peak(r.prompt, r.output) for r in instance.requests]


def _require_burst(instance: Instance, order: Sequence[int]) -> None:
    if not instance.is_burst:
        raise InputError("requests", "do not all arrive at time 0", "the waiting lemma holds for bursts only")
    if sorted(order) != list(range(len(instance))):
        raise InputError("order", "is not a permutation of the requests", "name each request once")


def waiting_violation(instance: Instance, order: Sequence[int], starts: Sequence[int]) -> str | None:
    """Say where a run breaks the waiting lemma, or None when it holds for every request in every step it waits.

    Parameters
    ----------
    instance : Instance
        A burst.
    order : sequence of int
        Request indices in key order, first served first.
    starts : sequence of int
        Start times in steps, by request index.

    Raises
    ------
    InputError
        If the instance is no burst or `order` no permutation.

    Examples
    --------
    >>> from theory.model import Request
    >>> inst = Instance(4, [Request(1, 2), Request(1, 2)])
    >>> waiting_violation(inst, (0, 1), (0, 2)), waiting_violation(inst, (0, 1), (0, 3))
    (None, 'at time 2 request 1 waits with active predecessors of peak mass 0, less than 2')
    """
    _require_burst(instance, order)
    peaks = _peaks(instance)
    ends = [t + r.output for t, r in zip(starts, instance.requests, strict=True)]
    last = max(starts, default=0)
    # Nothing changes between two starts or ends, so one look at each of them covers every step.
    for y in sorted({0, *starts, *ends}):
        if y >= last:
            break
        mass = 0
        for f in order:
            if starts[f] > y:
                break
            if ends[f] > y:
                mass += peaks[f]
        required = instance.memory + 1 - peaks[f]
        if mass < required:
            return f"at time {y} request {f} waits with active predecessors of peak mass {mass}, less than {required}"
    return None


def integrated_violation(instance: Instance, order: Sequence[int], starts: Sequence[int]) -> str | None:
    """Say which start breaks ``(M + 1 - P) t_k <= sum of p_i o_i over i before k``, or None.

    The sum of the waiting lemma over the steps in which request `k` waits; parameters as in
    :func:`waiting_violation`.
    """
    _require_burst(instance, order)
    peaks, used = _peaks(instance), 0
    for k in order:
        if (instance.memory + 1 - instance.peak) * starts[k] > used:
            return f"request {k} starts at {starts[k]}, later than {used} / {instance.memory + 1 - instance.peak}"
        used += peaks[k] * instance.requests[k].output
    return None


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Upper bound on a policy's total latency and lower bound on the optimum, in steps, for one instance."""

    latency: Fraction
    optimum: Fraction

    @property
    def ratio(self) -> Fraction:
        """Upper bound on the ratio of the policy to the optimum."""
        return self.latency / self.optimum


def latency_bound(instance: Instance, order: Sequence[int]) -> Fraction:
    """Upper bound on the total latency of a burst, from the waiting lemma alone: no simulation.

    ``sum_k o_k + sum_i p_i o_i sum_{k after i} 1 / (M + 1 - P_ik)``, where ``P_ik`` is the largest peak among
    the requests after `i` up to and including `k`. Each reciprocal is rounded up to a multiple of 2**-64.

    Proof: at a time ``y < t_k`` let f be the first request not started. It is `k` or before `k`, and the active
    requests that block it are before f. So ``1 <= sum p_i / (M + 1 - p_f) <= sum p_i / (M + 1 - P_ik)`` over
    the active i before f. Sum over the ``t_k`` such times: each i is active in ``o_i`` of them at most. Then sum
    over k.

    Complexity: O(n), by the next larger peak.
    """
    _require_burst(instance, order)
    n = len(order)
    all_peaks = _peaks(instance)
    peaks = [all_peaks[k] for k in order]
    # tail[j] = sum over k >= j of the (rounded) 1 / (M + 1 - max peak of j..k)
    tail, larger = [0] * (n + 1), [n] * (n + 1)
    total = 0
    for j in range(n - 1, -1, -1):
        total += peaks[j] * instance.requests[order[j]].output * tail[j + 1]
        nxt = j + 1
        while nxt < n and peaks[nxt] <= peaks[j]:
            nxt = larger[nxt]
        larger[j] = nxt
        tail[j] = (nxt - j) * -(-_SCALE // (instance.memory + 1 - peaks[j])) + tail[nxt]
    return instance.total_output + Fraction(total, _SCALE)


def optimum_bound(instance: Instance) -> Fraction:
    """Lower bound on the optimum of a burst: the larger of L1 (sum of outputs) and L3 (mean busy time).

    ``L3 = (1/M) sum_k (V_{k-1} + v_k / 2) + sum_k d_k`` over the requests in ascending volume, where ``d_k`` is
    the moment over twice the volume, rounded down to a multiple of 2**-64. A request that never holds a token
    (possible with lag 1) counts its output.
    """
    _require_burst(instance, range(len(instance)))
    model, shift, area, before = instance.memory_model, 0, 0, 0
    for v, s, o in sorted((model.volume(r.prompt, r.output), r.prompt, r.output) for r in instance.requests):
        shift += _SCALE * model.moment(s, o) // (2 * v) if v else _SCALE * o
        area += 2 * before + v
        before += v
    return max(Fraction(instance.total_output), Fraction(area, 2 * instance.memory) + Fraction(shift, _SCALE))


def instance_guarantee(instance: Instance, order: Sequence[int]) -> Guarantee:
    """A-posteriori guarantee: how far a static order can be from the optimum on this very burst.

    Holds for strict admission and conservative backfilling, look-ahead or peak reservation. With the volume
    order it is at most T2: ``p_i o_i <= 2 v_i`` and ``P_ik <= P`` turn the latency bound into ``c A + B``, and
    the lower bound is at least ``max(B, A + B / 3)``.

    Examples
    --------
    >>> from theory.model import Request
    >>> inst = Instance(100, [Request(20, 10)] * 12)
    >>> round(float(instance_guarantee(inst, range(12)).ratio), 3)
    1.664
    """
    return Guarantee(latency_bound(instance, order), optimum_bound(instance))
