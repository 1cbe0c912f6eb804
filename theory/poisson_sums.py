"""Expectations under geometric lengths, exactly: polynomial times power, summed by telescoping.

For a polynomial p there is one polynomial P with ``q P(n + 1) - P(n) = p(n)``, so ``sum_{n=a}^{b} p(n) q^n`` is
``P(b + 1) q^(b + 1) - P(a) q^a`` and, since P(n) q^n tends to 0 for ``0 < q < 1``, the whole series is
``-P(a) q^a``. The defining equation is re-checked each time: the proof of a sum is its antidifference.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from theory.poisson_check import PROVED, REFUTED, Identity, equal, fraction, mu, q

n = sp.Symbol("n", integer=True, positive=True)

#: Agreement asked of the exact partial sums: 30 digits, with room.
TOLERANCE = Fraction(1, 10**32)


def antidifference(polynomial: Any) -> Any:
    """The polynomial P in `n` with ``q P(n + 1) - P(n) = polynomial``.

    Examples
    --------
    >>> sp.factor(antidifference(sp.Integer(1)))
    1/(q - 1)
    """
    others = sorted(sp.sympify(polynomial).free_symbols - {n, q}, key=str)
    domain = sp.QQ.frac_field(q, *others)
    claim = rest = sp.Poly(polynomial, n, domain=domain)
    ratio, shifted = sp.Poly(q, n, domain=domain), sp.Poly(n + 1, n, domain=domain)
    found = sp.Poly(0, n, domain=domain)
    while not rest.is_zero:
        # the leading coefficient of q P(n + 1) - P(n) is (q - 1) times that of P
        term = sp.Poly(rest.LC() / (q - 1) * n ** rest.degree(), n, domain=domain)
        found += term
        rest += term - ratio * term.compose(shifted)
    if not (ratio * found.compose(shifted) - found - claim).is_zero:
        raise ArithmeticError(f"no antidifference of {polynomial}")
    return found.as_expr()


def mean(polynomial: Any) -> Any:
    """E[polynomial(o)] for ``P(o = n) = mu (1 - mu)^(n - 1)``, ``n = 1, 2, ...``; closed form in q.

    Examples
    --------
    >>> sp.factor(mean(n))
    -1/(q - 1)
    """
    return sp.cancel(-mu * antidifference(polynomial).subs(n, 1))


def short_mean(polynomial: Any, threshold: Any) -> Any:
    """E[polynomial(o) | o <= threshold] (the length conditioned to a class or to a cap)."""
    anti = antidifference(polynomial)
    total = anti.subs(n, threshold + 1) * q**threshold - anti.subs(n, 1)
    return mu * total / (1 - q**threshold)


def long_mean(polynomial: Any, threshold: Any) -> Any:
    """E[polynomial(o) | o > threshold]: a geometric length is memoryless, so o - threshold is geometric again."""
    return mean(sp.expand(sp.sympify(polynomial).subs(n, n + threshold)))


def capped_mean(polynomial: Any, limit: Any) -> Any:
    """E[polynomial(min(o, limit))]: the length cut at a cap that carries the remaining mass."""
    value = sp.sympify(polynomial)
    return (1 - q**limit) * short_mean(value, limit) + q**limit * value.subs(n, limit)


def partial_mean(value: Callable[[int], Fraction], ratio: Fraction, degree: int) -> tuple[Fraction, Fraction]:
    """Exact partial sum of E[value(o)] and a proven bound on the rest of the series.

    Parameters
    ----------
    value : callable
        A polynomial of the given degree with non-negative coefficients.
    ratio : Fraction
        q, in (0, 1).
    degree : int
        Its degree; past ``k`` the terms shrink at least by ``ratio * (1 + 1/k)**degree``.

    Returns
    -------
    tuple of Fraction
        The sum of the first terms, and a bound below :data:`TOLERANCE` on what is left out.
    """
    power = 1 - ratio
    total = Fraction(0)
    k = 0
    while True:
        k += 1
        term = value(k) * power
        total += term
        power *= ratio
        shrink = ratio * Fraction(k + 1, k) ** degree
        if shrink < 1 and term * shrink / (1 - shrink) < TOLERANCE:
            return total, term * shrink / (1 - shrink)


def moment(id: str, statement: str, source: str, polynomial: Any, closed: Any, detail: str = "") -> Identity:
    """Decide a claimed closed form of E[polynomial(o)], by antidifference and by exact partial sums to 30 digits.

    A wrong closed form is refuted with a point where it differs; the two ways must agree.

    Examples
    --------
    >>> moment("m", "E[o] = 1/mu", "textbook", n, 1 / mu).status
    'proved symbolically'
    >>> moment("m", "E[o] = 1/mu^2", "textbook", n, 1 / mu**2).status
    'refuted'
    """
    decided = equal(id, statement, source, mean(polynomial), closed, detail)
    if series_agrees(polynomial, closed) != (decided.status == PROVED):
        raise ArithmeticError(f"{id}: the symbolic and the summed series disagree")
    method = "telescoping series, partial sums to 30 digits" if decided.status == PROVED else "exact partial sums"
    return Identity(
        id, statement, source, method, decided.status if decided.status == PROVED else REFUTED, decided.detail
    )


def series_agrees(polynomial: Any, closed: Any) -> bool:
    """Whether exact partial sums confirm a closed form to 30 digits at several rational points."""
    others = sorted((sp.sympify(polynomial).free_symbols | sp.sympify(closed).free_symbols) - {n, q}, key=str)
    for ratio in (Fraction(1, 2), Fraction(3, 4), Fraction(5, 7)):
        point = {x: sp.Integer(3 + 2 * i) for i, x in enumerate(others)}
        poly = sp.Poly(sp.sympify(polynomial).subs(point).subs(q, fraction(ratio)), n)
        coefficients = [Fraction(int(c.p), int(c.q)) for c in reversed(poly.all_coeffs())]

        def value(k: int, coefficients: list[Fraction] = coefficients) -> Fraction:
            return sum((c * k**i for i, c in enumerate(coefficients)), start=Fraction(0))

        total, rest = partial_mean(value, ratio, poly.degree())
        exact = sp.sympify(closed).subs(point).subs(q, fraction(ratio))
        if not 0 <= Fraction(int(exact.p), int(exact.q)) - total <= rest:
            return False
    return True
