"""What a symbolic check returns, and the few complete proof techniques the checks use.

- *identity*: the difference of two rational functions has the canonical form 0.
- *coefficients*: after shifting every variable by its least value, a polynomial has no negative coefficient, so
  it is at least 0 for all real (hence all integer) values from there on.
- *telescoping*: a closed form is 0 at 0 and grows by the summand, so it is the sum for every integer (induction).
- *limit*: the limit of a rational function, as computed by sympy.
- *z3*: the negation over the reals, a superset of the integers, is unsatisfiable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp


@dataclass(frozen=True, slots=True)
class SymbolicCheck:
    """Result of one check.

    Parameters
    ----------
    name : str
        Short and unique, for example ``T2.first-branch``.
    statement : str
        What was checked, readable without this program.
    method : {"identity", "coefficients", "telescoping", "limit", "z3"}
        See the module docstring.
    ok : bool or None
        None: not checked here (the tool is missing).
    detail : str
        The canonical form that decided, or why it failed.
    """

    name: str
    statement: str
    method: str
    ok: bool | None
    detail: str


def identity(name: str, statement: str, left: Any, right: Any) -> SymbolicCheck:
    """Check that two rational functions are equal.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> identity("square", "(x + 1)^2 = x^2 + 2 x + 1", (x + 1) ** 2, x**2 + 2 * x + 1).ok
    True
    """
    rest = sp.cancel(sp.together(sp.sympify(left) - sp.sympify(right)))
    return SymbolicCheck(name, statement, "identity", bool(rest == 0), f"difference {rest}")


def nonnegative(name: str, statement: str, polynomial: Any, least: Mapping[Any, int]) -> SymbolicCheck:
    """Check that a polynomial is at least 0 wherever each variable is at least `least[variable]`.

    Sound, and incomplete: a nonnegative polynomial may fail.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> nonnegative("square", "x^2 >= x for x >= 1", x**2 - x, {x: 1}).ok
    True
    >>> nonnegative("square", "x^2 >= x for x >= 0", x**2 - x, {x: 0}).ok
    False
    """
    expression = sp.sympify(polynomial)
    if not expression.free_symbols <= set(least):
        return SymbolicCheck(name, statement, "coefficients", False, "a variable has no least value")
    shifted = sp.Poly(expression.subs({x: x + low for x, low in least.items()}, simultaneous=True), *least)
    good = all(c >= 0 for c in shifted.coeffs())
    return SymbolicCheck(name, statement, "coefficients", good, f"shifted form {shifted.as_expr()}")


def telescoping(name: str, statement: str, closed: Any, summand: Any, index: Any) -> SymbolicCheck:
    """Check that ``closed(n) = sum of summand(j) over j = 1, ..., n`` for every n, by induction on n.

    Examples
    --------
    >>> n = sp.Symbol("n")
    >>> telescoping("sum", "1 + ... + n = n (n + 1) / 2", n * (n + 1) / 2, n, n).ok
    True
    """
    closed = sp.sympify(closed)
    start = sp.expand(closed.subs(index, 0))
    step = sp.expand(closed - closed.subs(index, index - 1) - summand)
    return SymbolicCheck(name, statement, "telescoping", bool(start == 0 and step == 0), f"at 0: {start}; step: {step}")


def limit(name: str, statement: str, expression: Any, variable: Any, point: Any, value: Any) -> SymbolicCheck:
    """Check a limit of a rational function.

    Examples
    --------
    >>> n = sp.Symbol("n", positive=True)
    >>> limit("half", "n / (2 n + 1) -> 1/2", n / (2 * n + 1), n, sp.oo, sp.Rational(1, 2)).ok
    True
    """
    found = sp.limit(sp.cancel(sp.together(expression)), variable, point)
    return SymbolicCheck(name, statement, "limit", bool(sp.simplify(found - value) == 0), f"limit {found}")


def unsatisfiable(name: str, statement: str, build: Callable[[Any], tuple[list[Any], Any]]) -> SymbolicCheck:
    """Check with z3 that hypotheses imply a goal over the reals; `build` gets the z3 module and returns both.

    The hypotheses themselves must be satisfiable, so that the implication is not empty.
    """
    try:
        import z3  # only the tests need it: an optional extra
    except ImportError:
        return SymbolicCheck(name, statement, "z3", None, "not checked here: z3 missing")
    hypotheses, goal = build(z3)
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(*hypotheses)
    alive = solver.check()
    solver.add(z3.Not(goal))
    answer = solver.check()
    good = alive == z3.sat and answer == z3.unsat
    return SymbolicCheck(name, statement, "z3", good, f"hypotheses {alive}, with the negated goal {answer}")
