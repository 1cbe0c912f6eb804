"""The linear relaxation of the time-indexed formulation, and exact bounds from its dual.

The relaxation is at least as strong as L1 and L4: a fractional schedule has mean busy times, too. A solver's
floating-point optimum proves nothing; its multipliers of the memory rows do, once they are rounded to non-negative
rationals and the Lagrangian bound is computed from them in integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from lp_bounds.time_indexed import TimeIndexed, formulate, held_tokens
from theory.errors import InputError
from theory.model import Instance

#: Denominator of rounded multipliers: with 10**9 the loss against the float optimum is below 1e-6.
DENOMINATOR = 10**9


@dataclass(frozen=True)
class Relaxation:
    """A solver's claim about the relaxation.

    Attributes
    ----------
    value : float
        Optimal value in steps.
    multipliers : float64 array
        Dual values of the memory rows, non-negative up to the solver's tolerance; entry i is step ``i + 1``.
    """

    value: float
    multipliers: NDArray[np.float64]


def solve_relaxation(instance: Instance, solver: str = "highs") -> Relaxation:
    """Solve the linear relaxation.

    Parameters
    ----------
    instance : Instance
        Any memory model, burst or release dates.
    solver : {"highs", "cvxpy"}
        HiGHS through SciPy, or CVXPY with its HiGHS interface.

    Raises
    ------
    InputError
        If the solver's name is unknown, its package is missing or the formulation would be huge.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> inst = Instance(4, [Request(3, 1), Request(3, 1)])
    >>> round(solve_relaxation(inst).value, 6)
    3.0
    """
    if solver not in ("highs", "cvxpy"):
        raise InputError("solver", f"is {solver!r}", "give highs or cvxpy")
    if not len(instance):
        return Relaxation(0.0, np.zeros(0))
    model = formulate(instance)
    return _with_cvxpy(model) if solver == "cvxpy" else _with_highs(model)


def round_multipliers(multipliers: NDArray[np.float64], denominator: int = DENOMINATOR) -> list[int]:
    """Numerators over `denominator`: negative values become 0, the rest is rounded to the nearest."""
    return [max(0, round(float(value) * denominator)) for value in multipliers]


def multiplier_bound(instance: Instance, numerators: Sequence[int], denominator: int) -> Fraction:
    """The Lagrangian lower bound on OPT for multipliers ``numerators[i] / denominator >= 0`` of step ``i + 1``.

    ``sum_k min over t >= a_k of (t + o_k - a_k + sum_j lambda_{t+j} held_j) - M sum_t lambda_t``, exactly. Steps
    beyond the given ones have multiplier 0; there the first start is the cheapest, so t need not go further.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> multiplier_bound(Instance(4, [Request(3, 1), Request(3, 1)]), [1, 0], denominator=4)
    Fraction(3, 1)
    """
    if denominator < 1 or any(value < 0 for value in numerators):
        raise InputError("multipliers", "are negative or have no positive denominator", "give values of 0 or more")
    counts: dict[tuple[int, int, int], int] = {}
    for r in instance.requests:
        key = (r.prompt, r.output, r.arrival)
        counts[key] = counts.get(key, 0) + 1
    total = -instance.memory * sum(numerators)
    for (s, o, a), count in counts.items():
        last = max(a, len(numerators))
        padded = [*numerators[a:last], *[0] * (o + last - max(a, len(numerators)))]
        held = held_tokens(instance, s, o)
        largest = max(padded, default=0) * int(held.sum()) + denominator * (last - a + o)
        dtype = np.int64 if largest < 2**62 else object
        paid = np.correlate(np.array(padded, dtype=dtype), held.astype(dtype), "valid")
        starts = np.arange(len(paid)).astype(dtype) * denominator
        total += count * (int((paid + starts).min()) + o * denominator)
    return Fraction(total, denominator)


def rational_bound(instance: Instance, multipliers: NDArray[np.float64], denominator: int = DENOMINATOR) -> Fraction:
    """An exact lower bound on OPT from a solver's multipliers, whatever they are worth."""
    return multiplier_bound(instance, round_multipliers(multipliers, denominator), denominator)


def _with_highs(model: TimeIndexed) -> Relaxation:
    result = linprog(
        model.cost, A_ub=model.usage, b_ub=model.capacity, A_eq=model.assignment, b_eq=model.count, method="highs"
    )
    if result.fun is None:
        raise RuntimeError(f"HiGHS did not solve the relaxation: {result.message}")
    return Relaxation(float(result.fun), -np.asarray(result.ineqlin.marginals, dtype=np.float64))


def _with_cvxpy(model: TimeIndexed) -> Relaxation:
    from lp_bounds.milp import optional_package

    cp = optional_package("cvxpy")
    x = cp.Variable(len(model.cost), nonneg=True)
    memory_rows = model.usage @ x <= model.capacity
    problem = cp.Problem(cp.Minimize(model.cost @ x), [model.assignment @ x == model.count, memory_rows])
    problem.solve(solver=cp.HIGHS)
    if problem.status != cp.OPTIMAL:
        raise RuntimeError(f"CVXPY did not solve the relaxation: {problem.status}")
    return Relaxation(float(problem.value), np.asarray(memory_rows.dual_value, dtype=np.float64))
