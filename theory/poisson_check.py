"""Statements as data, and the few ways in which one is decided: rational identity, exact series, limit, sign.

Every decision is exact. An identity is tested by bringing the difference of its two sides to a reduced fraction of
polynomials (a decision procedure, not a heuristic), a sign by writing an expression as a quotient of polynomials
with non-negative coefficients in positive unknowns. A refutation always comes with the rational point that shows
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

PROVED = "proved symbolically"
REFUTED = "refuted"
CONDITIONAL = "conditional"
UNDECIDED = "undecided"

#: Probability that a request needs another step; the success probability mu is ``1 - q``.
q = sp.Symbol("q", positive=True)
mu = 1 - q
#: Arrival rate (requests per step), mean and second moment of the prompt length.
lam, S, S2 = sp.symbols("lambda S S_2", positive=True)
#: Threshold of the one-bit classifier and cap on the output length (positive integers).
theta, cap = sp.symbols("theta L", positive=True, integer=True)
alpha, rho, M = sp.symbols("alpha rho M", positive=True)

#: Rational points at which a failed identity is looked at for a counterexample.
_VALUES: dict[Any, tuple[Fraction, ...]] = {
    q: (Fraction(1, 2), Fraction(9, 10)),
    theta: (Fraction(2), Fraction(5)),
    cap: (Fraction(3), Fraction(7)),
    alpha: (Fraction(1, 3), Fraction(1, 2)),
    rho: (Fraction(2, 5),),
}


@dataclass(frozen=True, slots=True)
class Identity:
    """One statement about Poisson arrivals and how it stands.

    Parameters
    ----------
    id : str
        Short name, unique.
    statement : str
        The statement, in text.
    source : str
        Where it comes from: the paper (with version), a textbook fact, or "here".
    method : str
        How it was decided.
    status : str
        ``"proved symbolically"``, ``"refuted"`` or ``"conditional"`` (true under hypotheses named in `detail`,
        with a proof by hand whose algebra is checked); ``"undecided"`` if a check could not decide.
    detail : str
        The counterexample, the hypotheses, or what the statement means.
    expected : str
        The status on record; a check fails when `status` differs from it.
    """

    id: str
    statement: str
    source: str
    method: str
    status: str
    detail: str = ""
    expected: str = PROVED

    @property
    def ok(self) -> bool:
        """Whether the statement stands as recorded."""
        return self.status == self.expected


def fraction(value: Fraction) -> Any:
    """A ``Fraction`` as a sympy rational."""
    return sp.Rational(value.numerator, value.denominator)


def is_zero(expression: Any) -> bool:
    """Whether an expression, rational in its symbols and in ``q**theta`` and ``q**L``, is identically zero.

    Examples
    --------
    >>> is_zero(q ** (theta + 1) / q - q**theta), is_zero(q**theta - q)
    (True, False)
    """
    z_theta, z_cap = sp.symbols("z_theta z_cap", positive=True)
    flat = sp.expand_power_exp(sp.sympify(expression)).subs({q**theta: z_theta, q**cap: z_cap})
    return bool(sp.cancel(sp.together(flat)) == 0)


def counterexample(difference: Any) -> str:
    """A rational point at which an expression is not zero, in words; empty if none was found."""
    unknowns = sorted(difference.free_symbols, key=str)
    for values in product(*(_VALUES.get(x, (Fraction(1), Fraction(3))) for x in unknowns)):
        gap = difference.subs({x: fraction(v) for x, v in zip(unknowns, values, strict=True)})
        if gap.is_rational and gap != 0:
            point = ", ".join(f"{x} = {v}" for x, v in zip(unknowns, values, strict=True))
            return f"at {point or 'every point'} the sides differ by {gap}"
    return ""


def equal(
    id: str, statement: str, source: str, left: Any, right: Any, detail: str = "", expected: str = PROVED
) -> Identity:
    """Decide ``left = right`` as rational functions; a failure names a point where they differ.

    Examples
    --------
    >>> equal("a", "(1-q)(1+q) = 1 - q^2", "algebra", (1 - q) * (1 + q), 1 - q**2).status
    'proved symbolically'
    >>> equal("b", "1 - q = 1 - q^2", "algebra", 1 - q, 1 - q**2).detail
    'at q = 1/2 the sides differ by -1/4'
    """
    difference = sp.sympify(left) - sp.sympify(right)
    if is_zero(difference):
        return Identity(id, statement, source, "reduced fraction is 0", PROVED, detail, expected)
    witness = counterexample(difference)
    status = REFUTED if witness else UNDECIDED
    return Identity(
        id, statement, source, "exact evaluation", status, "; ".join(filter(None, (witness, detail))), expected
    )


def limit(
    id: str,
    statement: str,
    source: str,
    expression: Any,
    value: Any,
    at: Any = sp.oo,
    detail: str = "",
    expected: str = PROVED,
) -> Identity:
    """Decide the limit of an expression in `theta`, with ``q = exp(-x)`` and ``x > 0`` so that powers decay."""
    x, t = sp.symbols("x t", positive=True)
    real = sp.sympify(expression).subs(theta, t).subs(q, sp.exp(-x))
    found = sp.limit(sp.simplify(real), t, at)
    gap = sp.simplify(found - sp.sympify(value).subs(q, sp.exp(-x)))
    if gap == 0:
        return Identity(id, statement, source, "limit", PROVED, detail, expected)
    note = f"the limit is {sp.simplify(found.subs(x, -sp.log(q)))}"
    return Identity(id, statement, source, "limit", REFUTED, "; ".join(filter(None, (note, detail))), expected)


def is_positive(expression: Any, positive: Mapping[Any, Any]) -> bool:
    """Whether the expression is a quotient of polynomials with non-negative coefficients in positive unknowns.

    Parameters
    ----------
    expression : sympy expression
        Rational in its symbols.
    positive : mapping
        Substitution that writes constrained symbols by free positive ones, such as ``q -> x / (1 + x)``.

    Returns
    -------
    bool
        True proves the expression positive; False proves nothing.
    """
    top, bottom = sp.fraction(sp.cancel(sp.together(sp.sympify(expression).subs(positive, simultaneous=True))))
    if any(not x.is_positive for x in (top * bottom).free_symbols):
        return False
    for sign in (1, -1):
        parts = [sp.Poly(sign * part, *sorted((top * bottom).free_symbols, key=str)) for part in (top, bottom)]
        if all(c > 0 for part in parts for c in part.coeffs()):
            return True
    return False


def positive(
    id: str,
    statement: str,
    source: str,
    expression: Any,
    substitution: Mapping[Any, Any],
    detail: str = "",
) -> Identity:
    """Decide that an expression is positive on the image of a substitution by positive unknowns."""
    status = PROVED if is_positive(expression, substitution) else UNDECIDED
    return Identity(id, statement, source, "all coefficients positive", status, detail)
