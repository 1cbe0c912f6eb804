"""Multipliers for the exact search: from the linear relaxation at the root, by dual ascent elsewhere.

Floating point is fine here: any nonnegative multipliers, rounded to integers, give a valid bound, and the bound itself
is computed in exact integers by the kernels. Good multipliers only make it sharp.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from lp_bounds.exact_kernels import Types, earliest

fast: Any = nb.njit(cache=True, nogil=True, fastmath=True)


@fast
def _dual(
    types: Any, t: int, left: Any, profile: Any, est: Any, price: Any, last: int, gradient: Any, work: Any
) -> float:
    """Value of the Lagrangian dual (in steps, start costs to come) and a supergradient; prices beyond `last` are 0."""
    value = 0.0
    for tau in range(t + 1, last):
        value -= types.memory * price[tau]
        gradient[tau] = -types.memory
    for i in range(min(len(profile), last - t - 1)):
        value += price[t + 1 + i] * profile[i]
        gradient[t + 1 + i] += profile[i]
    for k in range(len(left)):
        if left[k] == 0:
            continue
        begin = min(est[k], last)
        size = last + 1 - begin
        for i in range(size):
            work[i] = float(begin + i)
        for j in range(types.output[k]):
            held = float(types.held[k, j])
            for i in range(size):
                work[i] += held * price[begin + i + 1 + j]
        low, at = work[0], 0
        for i in range(1, size):
            if work[i] < low:
                low, at = work[i], i
        value += left[k] * low
        for j in range(types.output[k]):
            gradient[begin + at + 1 + j] += left[k] * types.held[k, j]
    return value


@fast
def ascend(types: Any, t: int, left: Any, profile: Any, price: Any, last: int, goal: float, steps: int) -> float:
    """Raise the dual of a state towards `goal` by subgradient steps; `price` is replaced by the best found.

    Returns the best value. `price` has ``last + 1 + longest output`` entries.
    """
    size = len(price)
    current, best = price.copy(), price
    gradient, direction = np.zeros(size), np.zeros(size)
    work = np.zeros(last + 2)
    est = np.zeros(len(left), np.int64)
    earliest(types, t, left, profile, est)
    top, length, stalled = -1e300, 1.0, 0
    for _ in range(steps):
        value = _dual(types, t, left, profile, est, current, last, gradient, work)
        stalled += 1
        if value > top:
            if value > top + 0.02 * (goal - top):
                stalled = 0
            top = value
            best[:] = current
            if top > goal + 1e-3:
                break
        if stalled >= 8:
            length *= 0.6
            stalled = 0
            if length < 0.05:
                break
            current[:] = best
            direction[:] = 0.0
            continue
        norm = 0.0
        for tau in range(t + 1, last):
            direction[tau] = 0.6 * direction[tau] + gradient[tau]
            if direction[tau] > 0 or current[tau] > 0:
                norm += direction[tau] * direction[tau]
        if norm == 0:
            break
        step = length * (1.1 * max(goal - value, 0.0) + 0.05) / norm
        for tau in range(t + 1, last):
            current[tau] = max(0.0, current[tau] + step * direction[tau])
    return top


def root_prices(types: Types, count: NDArray[np.int64], last: int) -> NDArray[np.float64]:
    """Prices of the memory rows in an optimal dual solution of the linear relaxation, by HiGHS."""
    columns, rows, values, costs, kinds = [], [], [], [], []
    total = 0
    for k in range(len(types.output)):
        output, arrival = int(types.output[k]), int(types.arrival[k])
        starts = np.arange(arrival, max(last - output, arrival + 1))
        number = len(starts)
        columns.append(np.repeat(np.arange(total, total + number), output))
        rows.append((starts[:, None] + np.arange(output)).ravel())
        values.append(np.tile(types.held[k, :output], number))
        costs.append(starts)
        kinds.append(np.full(number, k))
        total += number
    column = np.concatenate([np.arange(total), *columns])
    row = np.concatenate([*kinds, np.concatenate(rows) + len(types.output)])
    value = np.concatenate([np.ones(total), *values])
    height = int(row.max()) + 1
    matrix = sparse.csr_matrix((value, (row, column)), shape=(height, total))
    fixed = len(types.output)
    cost = np.concatenate(costs).astype(np.float64)
    # scipy's own HiGHS: highspy prints a banner on stdout, which belongs to the caller
    answer = linprog(
        cost,
        A_ub=matrix[fixed:],
        b_ub=np.full(height - fixed, float(types.memory)),
        A_eq=matrix[:fixed],
        b_eq=count.astype(np.float64),
        method="highs-ds",
    )
    price = np.zeros(last + 1)
    if answer.status != 0:  # any prices will do
        return price
    dual = -answer.ineqlin.marginals
    size = min(len(dual), last - 1)
    price[1 : size + 1] = np.maximum(dual[:size], 0.0)
    return price
