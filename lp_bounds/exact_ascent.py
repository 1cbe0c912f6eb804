"""Multipliers for the exact search: from the linear relaxation at the root, by dual ascent elsewhere.

Floating point is fine here: any nonnegative multipliers, rounded to integers, give a valid bound, and the bound
itself is computed in exact integers by the kernels. Good multipliers only make it sharp.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from lp_bounds.exact_kernels import Types, earliest

LARGE = 100_000  #: coefficients up to which the linear relaxation is solved by HiGHS
fast: Any = nb.njit(cache=True, nogil=True, fastmath=True)


@fast
def _dual(
    types: Any,
    t: int,
    left: Any,
    profile: Any,
    ends: Any,
    est: Any,
    price: Any,
    reward: Any,
    last: int,
    gradient: Any,
    finish: Any,
    work: Any,
    best: Any,
    chosen: Any,
) -> Any:
    """Value of the Lagrangian dual (in steps, start costs to come) and its supergradients; 0 beyond `last`.

    `gradient` is for the prices, `finish` for the rewards.
    """
    value = 0.0
    for tau in range(t + 1, last + 1):
        gradient[tau] = -types.memory
        finish[tau] = 0.0
    # the least waste and reward along a path of finish events, from the end back
    best[last] = 0.0
    for x in range(last - 1, t - 1, -1):
        low, step = best[x + 1] + types.memory * price[x + 1], 0
        for end in range(x + 1, min(x + len(types.waste) - 1, last) + 1):
            total = best[end] + reward[end]
            for tau in range(x + 1, end):
                total += price[tau] * types.waste[end - tau]
            if total < low:
                low, step = total, end
        best[x], chosen[x] = low, step
    x = t
    while x < last:
        if chosen[x] == 0:
            gradient[x + 1] += types.memory
            x += 1
        else:
            for tau in range(x + 1, chosen[x]):
                gradient[tau] += types.waste[chosen[x] - tau]
            x = chosen[x]
            finish[x] += 1.0
    value += best[t]
    for tau in range(t + 1, last):
        value -= types.memory * price[tau]
    for i in range(min(len(profile), last - t - 1)):
        value += price[t + 1 + i] * profile[i] - reward[t + 1 + i] * ends[i]
        gradient[t + 1 + i] += profile[i]
        finish[t + 1 + i] -= ends[i]
    for k in range(len(left)):
        if left[k] == 0:
            continue
        begin = min(est[k], last)
        size = last + 1 - begin
        output = types.output[k]
        for i in range(size):
            work[i] = float(begin + i) - reward[begin + i + output]
        for j in range(output):
            held = float(types.held[k, j])
            for i in range(size):
                work[i] += held * price[begin + i + 1 + j]
        low, at = work[0], 0
        for i in range(1, size):
            if work[i] < low:
                low, at = work[i], i
        value += left[k] * low
        for j in range(output):
            gradient[begin + at + 1 + j] += left[k] * types.held[k, j]
        finish[begin + at + output] -= left[k]
    return value


@fast
def ascend(
    types: Any,
    t: int,
    left: Any,
    profile: Any,
    ends: Any,
    price: Any,
    reward: Any,
    last: int,
    goal: float,
    steps: int,
) -> Any:
    """Raise the dual of a state towards `goal` by subgradient steps, and return the best value.

    `price` and `reward`, of ``last + 1 + longest output`` entries, are replaced by the best found.
    """
    size = len(price)
    prices, rewards = price.copy(), reward.copy()
    gradient, direction = np.zeros(size), np.zeros(size)
    finish, heading = np.zeros(size), np.zeros(size)
    work, path, chosen = np.zeros(last + 2), np.zeros(last + 2), np.zeros(last + 2, np.int64)
    est = np.zeros(len(left), np.int64)
    earliest(types, t, left, profile, est)
    # a reward is worth several tokens: in units of `unit` tokens both kinds of multipliers move at the same pace
    unit = types.memory / 8.0
    top, length, stalled = -1e300, 1.0, 0
    for _ in range(steps):
        value = _dual(types, t, left, profile, ends, est, prices, rewards, last, gradient, finish, work, path, chosen)
        stalled += 1
        if value > top:
            if value > top + 0.02 * (goal - top):
                stalled = 0
            top = value
            price[:] = prices
            reward[:] = rewards
            if top > goal + 1e-3:
                break
        if stalled >= 8:
            length *= 0.6
            stalled = 0
            if length < 0.05:
                break
            prices[:] = price
            rewards[:] = reward
            direction[:] = 0.0
            heading[:] = 0.0
            continue
        norm = 0.0
        for tau in range(t + 1, last):
            direction[tau] = 0.6 * direction[tau] + gradient[tau]
            heading[tau] = 0.6 * heading[tau] + finish[tau] * unit
            if direction[tau] > 0 or prices[tau] > 0:
                norm += direction[tau] * direction[tau]
            if heading[tau] > 0 or rewards[tau] > 0:
                norm += heading[tau] * heading[tau]
        if norm == 0:
            break
        step = length * (1.1 * max(goal - value, 0.0) + 0.05) / norm
        for tau in range(t + 1, last):
            prices[tau] = max(0.0, prices[tau] + step * direction[tau])
            rewards[tau] = max(0.0, rewards[tau] + step * unit * heading[tau])
    return top


class _Columns:
    """Columns of a linear program, collected in pieces."""

    def __init__(self) -> None:
        self.number = 0
        self.cost: list[NDArray[np.float64]] = []
        self.row: list[NDArray[np.int64]] = []
        self.column: list[NDArray[np.int64]] = []
        self.value: list[NDArray[np.float64]] = []

    def add(self, cost: NDArray[Any], entries: list[tuple[NDArray[Any], NDArray[Any]]]) -> None:
        """Add ``len(cost)`` columns; each entry is (rows, values) with one row per column."""
        at = np.arange(self.number, self.number + len(cost))
        self.cost.append(cost.astype(np.float64))
        for rows, values in entries:
            self.row.append(rows)
            self.column.append(at)
            self.value.append(values.astype(np.float64))
        self.number += len(cost)


def root_multipliers(
    types: Types, count: NDArray[np.int64], last: int, events: bool, seconds: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Prices and rewards in an optimal dual solution of the linear relaxation, or good ones if it is large.

    Variables: one per type and start time; with `events` also one per arc between two times at which a request
    finishes, which with idle steps form a path from time 0 to `last`. Without, all rewards are 0.
    """
    size = int((types.output * np.maximum(last - types.arrival, 1)).sum())
    if size > LARGE:
        return _ascended(types, count, last, events)
    kinds, steps = len(types.output), last - 1
    columns = _Columns()
    memory, finish, node = kinds - 1, kinds + steps - 1, kinds + 2 * steps  # add tau for the rows of time tau
    for k in range(kinds):
        output, arrival = int(types.output[k]), int(types.arrival[k])
        starts = np.arange(arrival, max(steps - output, arrival) + 1)
        ones = np.ones(len(starts))
        entries = [(np.full(len(starts), k), ones)]
        entries += [(memory + starts + 1 + j, types.held[k, j] * ones) for j in range(output)]
        columns.add(starts, [*entries, (finish + starts + output, -ones)] if events else entries)
    for gap in range(1, len(types.waste) if events else 0):
        begin = np.arange(0, steps - gap + 1)
        ones = np.ones(len(begin))
        entries = [(node + begin, ones), (node + begin + gap, -ones), (finish + begin + gap, ones)]
        entries += [(memory + begin + i, types.waste[gap - i] * ones) for i in range(1, gap)]
        columns.add(0 * begin, entries)
    begin = np.arange(0, steps)
    ones = np.ones(len(begin))
    path = [(node + begin, ones), (node + begin + 1, -ones)]  # idle steps; without events the path costs nothing
    columns.add(0 * begin, [*path, (memory + begin + 1, types.memory * ones)] if events else path)
    height = node + steps + 1
    entries_at = np.concatenate(columns.row), np.concatenate(columns.column)
    matrix: Any = sparse.csr_matrix((np.concatenate(columns.value), entries_at), shape=(height, columns.number))
    flow = np.zeros(steps + 1)
    flow[0], flow[steps] = 1.0, -1.0
    fixed = np.concatenate([np.arange(kinds), np.arange(node, height)])
    limit: Any = {"time_limit": max(seconds, 0.1)}
    # scipy's own HiGHS: highspy prints a banner on stdout, which belongs to the caller
    answer = linprog(
        np.concatenate(columns.cost),
        A_ub=matrix[kinds : kinds + 2 * steps],
        b_ub=np.concatenate([np.full(steps, float(types.memory)), np.zeros(steps)]),
        A_eq=matrix[fixed],
        b_eq=np.concatenate([count.astype(np.float64), flow]),
        method="highs-ds",
        options=limit,
    )
    if answer.status != 0:  # out of time: other multipliers will do
        return _ascended(types, count, last, events)
    price, reward = np.zeros(last + 1), np.zeros(last + 1)
    price[1:last] = np.maximum(-answer.ineqlin.marginals[:steps], 0.0)
    reward[1:last] = np.maximum(-answer.ineqlin.marginals[steps:], 0.0)
    return price, reward


def _ascended(
    types: Types, count: NDArray[np.int64], last: int, events: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Multipliers by dual ascent from prices that fall to 0 linearly, as they would for equal requests."""
    size = last + 1 + types.held.shape[1]
    price, reward = np.zeros(size), np.zeros(size)
    price[1:last] = int(count.sum()) / types.memory * (1 - np.arange(1, last) / last)
    start = int(types.arrival.min())
    nothing = np.zeros(types.held.shape[1], np.uint32)
    volume = types.held.sum(axis=1)
    goal = float(np.cumsum(np.repeat(volume, count)).sum()) / types.memory  # about the sum of the starts
    free = types if events else types._replace(waste=0 * types.waste)
    ascend(free, start, count.astype(np.uint32), nothing, nothing, price, reward, last, goal, 300)
    return price[: last + 1], (reward if events else 0 * reward)[: last + 1]
