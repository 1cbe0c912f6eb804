"""A bound on the wait for any strict static order under Poisson arrivals, charged by peaks instead of volumes.

The waiting lemma counts the peaks of the active requests. Kong et al. replace peak times length by twice the
volume and the largest peak by ``alpha M``; nothing forces either step. With ``X_k = lambda E[p o; level <= k]``,
``x_k`` its last term, ``P_k`` the largest peak up to level k, and ``D_k = M + 1 - P_k``, the largest mean wait
``w_k`` of a type in level k satisfies

    (D_k - X_k) w_k <= lambda E[p o (o - 1)/2] + X_{k-1} + x_k/2 + sum_{i < k} x_i w_i .

The proof is in papers/poisson.md, "A sharper bound on the wait". It needs no geometric law and no monotonicity,
and tells orders apart. First come, first served is the case of one level:
``E[W] <= lambda E[p o^2]/(2 (M + 1 - P - lambda E[p o]))``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from theory.errors import InputError

#: Waits are rounded up to this grid, level by level: exact ones would have denominators of thousands of digits.
_GRID = 2**64


def peak_waits(
    law: Mapping[tuple[int, int], Fraction],
    memory: int,
    rate: Fraction,
    key: Callable[[int, int], int],
) -> dict[int, Fraction]:
    """Proven bound on the stationary mean wait of every level of a strict static order, in steps.

    Discrete time, a Poisson number of arrivals (mean `rate`) at each integer time, lengths drawn independently
    from a finite law and known to the fit test; look-ahead or peak-reservation fit, strict admission, the paper's
    memory model.

    Parameters
    ----------
    law : mapping of (prompt, output) to probability
        Token counts; the probabilities sum to 1.
    memory : int
        M, in tokens.
    rate : Fraction
        Mean number of arrivals per step.
    key : callable
        ``key(prompt, output)``: smaller keys go first, ties in the order of arrival. A constant gives FCFS.

    Returns
    -------
    dict of int to Fraction
        For each value of the key, a bound on the mean wait of every type (prompt, output) with that key, rounded
        up to a multiple of ``2**-64``.

    Raises
    ------
    InputError
        If the probabilities do not sum to 1, or the load is too high: ``rate E[p o] >= M + 1 - P``.

    Examples
    --------
    >>> law = {(1, 100): Fraction(1)}
    >>> round(float(peak_waits(law, 2000, Fraction(1, 10), lambda s, o: 0)[0]), 2)
    56.74
    """
    if sum(law.values(), start=Fraction(0)) != 1:
        raise InputError("law", "has probabilities that do not sum to 1", "normalise it")
    levels: dict[int, list[tuple[int, int]]] = {}
    for s, o in law:
        levels.setdefault(key(s, o), []).append((s, o))
    residual = rate * sum((law[s, o] * ((s + o) * o * (o - 1) // 2) for s, o in law), start=Fraction(0))
    largest, ahead, paid = 0, Fraction(0), Fraction(0)
    waits: dict[int, Fraction] = {}
    for level in sorted(levels):
        types = levels[level]
        largest = max(largest, *(s + o for s, o in types))
        own = rate * sum((law[s, o] * (s + o) * o for s, o in types), start=Fraction(0))
        slack = memory + 1 - largest - ahead - own
        if slack <= 0:
            room = f"M + 1 - P = {memory + 1 - largest}"
            raise InputError("rate", f"is {rate}, but rate E[p o] >= {room}", "lower the rate")
        exact = (residual + ahead + own / 2 + paid) / slack
        waits[level] = Fraction(-(-exact.numerator * _GRID // exact.denominator), _GRID)
        ahead += own
        paid += own * waits[level]
    return waits


def peak_wait_bound(
    law: Mapping[tuple[int, int], Fraction],
    memory: int,
    rate: Fraction,
    key: Callable[[int, int], int],
) -> Fraction:
    """Proven bound on the stationary mean wait of a strict static order, in steps: the mean of :func:`peak_waits`.

    Parameters and errors are those of :func:`peak_waits`.

    Examples
    --------
    >>> law = {(0, 1): Fraction(9, 10), (0, 10): Fraction(1, 10)}
    >>> svf = peak_wait_bound(law, 40, Fraction(1), lambda s, o: s * o + o * (o + 1) // 2)
    >>> fcfs = peak_wait_bound(law, 40, Fraction(1), lambda s, o: 0)
    >>> round(float(svf), 3), round(float(fcfs), 3)
    (1.305, 2.51)
    """
    waits = peak_waits(law, memory, rate, key)
    return sum((law[s, o] * waits[key(s, o)] for s, o in law), start=Fraction(0))
