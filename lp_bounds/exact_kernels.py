"""Compiled kernels of the exact search: layers of states and the pool of multipliers, in exact 64-bit integers.

A *state* at time t: requests of each type not yet started, tokens that the running ones will hold in each later
step. ``cost`` is the sum of the start times so far. A *type* is (prompt, output, arrival). Rules and proofs are
in :mod:`lp_bounds.exact_search`. Tables are indexed ``[time, type, vector]``: one loop serves all vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba as nb
import numpy as np

NEVER = 1 << 40  #: no deadline
jit: Any = nb.njit(cache=True, nogil=True)


class Types(NamedTuple):
    """The types: ``held[k, j]`` tokens in step ``j + 1``, output (steps), arrival (step).

    `memory` is the capacity, `tight` the most tokens by which a request grows in one step, and ``waste[r]`` the
    fewest tokens free in a step if the next one at whose end a request finishes comes r steps later.
    """

    held: Any
    output: Any
    arrival: Any
    memory: int
    tight: int
    waste: Any


class Pool(NamedTuple):
    """Multiplier vectors and what follows from them, all times `scale`.

    ``price[tau, q]`` is paid per token held in step tau, ``reward[tau, q]`` is got for each request that finishes
    at its end. ``cost[t, k, q]`` is the cost of a start of type k at t with both; ``least[t, k, q]`` the least of it
    over the starts at t or later; ``tail[t, q]`` the most that the memory after t can bring in. Times beyond the
    last row, where all prices are 0, count as the last row.
    """

    price: Any
    reward: Any
    least: Any
    cost: Any
    tail: Any
    scale: int


class Layer(NamedTuple):
    """States at one time.

    Requests to start, tokens held and requests that finish in later steps, cost, tokens in the step before,
    deadline (left shift), index of the parent in the layer before, least slack over the pool.
    """

    left: Any
    profile: Any
    ends: Any
    cost: Any
    used: Any
    deadline: Any
    parent: Any
    score: Any


@jit
def fill_vector(types: Any, pool: Any, q: int) -> None:
    """Fill the tables of vector `q` from its prices and rewards; rewards that make a cost negative are cut."""
    last = pool.price.shape[0] - 1
    for k in range(len(types.output)):
        for t in range(last - 1, -1, -1):
            value = np.int64(pool.scale) * t
            for j in range(min(types.output[k], last - t)):
                value += np.int64(pool.price[t + 1 + j, q]) * types.held[k, j]
            value = min(value, np.int64(4294967295))  # a cost cut short only weakens the bound
            pool.cost[t, k, q] = value
            end = t + types.output[k]
            if end < last and t >= types.arrival[k]:
                pool.reward[end, q] = min(np.int64(pool.reward[end, q]), value)
    for k in range(len(types.output)):
        low = np.int64(pool.scale) * last
        pool.cost[last, k, q] = low
        pool.least[last, k, q] = low
        for t in range(last - 1, -1, -1):
            end = t + types.output[k]
            if t >= types.arrival[k]:
                if end < last:
                    pool.cost[t, k, q] -= pool.reward[end, q]
                low = min(low, np.int64(pool.cost[t, k, q]))
            pool.least[t, k, q] = low
    pool.tail[last, q] = 0
    for t in range(last - 1, -1, -1):
        pool.tail[t, q] = income(types, pool, q, t)


@jit
def income(types: Any, pool: Any, q: int, t: int) -> Any:
    """The most that the memory after t brings in, from what it does after each later time (see Events)."""
    last = pool.price.shape[0] - 1
    most = pool.tail[t + 1, q]  # an idle step
    for end in range(t + 1, min(t + len(types.waste) - 1, last) + 1):
        value = pool.tail[end, q] - np.int64(pool.reward[end, q])
        for tau in range(t + 1, end + 1):
            value += np.int64(pool.price[tau, q]) * (types.memory - types.waste[end - tau])
        most = max(most, value)
    return most


@jit
def copy_vectors(source: Any, first: int, target: Any, at: Any) -> None:
    """Copy the vectors of `source` from index `first` on to the places `at` of `target`."""
    for i in range(len(at)):
        q = at[i]
        target.price[:, q] = source.price[:, first + i]
        target.reward[:, q] = source.reward[:, first + i]
        target.tail[:, q] = source.tail[:, first + i]
        target.least[:, :, q] = source.least[:, :, first + i]
        target.cost[:, :, q] = source.cost[:, :, first + i]


@jit
def earliest(types: Any, t: int, left: Any, profile: Any, result: Any) -> None:
    """For each type to start, the earliest time from t on at which one fits beside the profile."""
    length = len(profile)
    for k in range(len(left)):
        result[k] = t
        if left[k] == 0:
            continue
        start = max(t, types.arrival[k]) - t
        while start < length:
            clash = -1
            for j in range(min(types.output[k], length - start)):
                if profile[start + j] + types.held[k, j] > types.memory:
                    clash = start + j
            if clash < 0:
                break
            start += 1
        result[k] = t + start


@jit
def slacks(
    pool: Any, vectors: int, t: int, cost: int, left: Any, profile: Any, ends: Any, est: Any, target: int, out: Any
) -> Any:
    """Write, for each vector, target minus bound of a state; return whether all are >= 0."""
    last = pool.price.shape[0] - 1
    base = target - np.int64(pool.scale) * cost
    at = min(t, last)
    for q in range(vectors):
        out[q] = base + pool.tail[at, q]
    for i in range(min(len(profile), last - t - 1)):
        held = np.int64(profile[i])
        if held:
            row = pool.price[t + 1 + i]
            for q in range(vectors):
                out[q] -= held * np.int64(row[q])
        number = np.int64(ends[i])
        if number:
            row = pool.reward[t + 1 + i]
            for q in range(vectors):
                out[q] += number * np.int64(row[q])
    for k in range(len(left)):
        number = np.int64(left[k])
        if number:
            row = pool.least[min(est[k], last), k]
            for q in range(vectors):
                out[q] -= number * np.int64(row[q])
    worst = np.int64(0)
    for q in range(vectors):
        worst = min(worst, out[q])
    return worst >= 0


@jit
def filter_layer(types: Any, pool: Any, vectors: int, t: int, states: Any, indices: Any, target: int, hits: Any) -> int:
    """Keep, in `indices`, the states that no vector drops; count what each drops; return how many are kept."""
    kinds = states.left.shape[1]
    est = np.zeros(kinds, np.int64)
    slack = np.zeros(vectors, np.int64)
    kept = 0
    for s in indices:
        left, profile, ends = states.left[s], states.profile[s], states.ends[s]
        earliest(types, t, left, profile, est)
        if slacks(pool, vectors, t, states.cost[s], left, profile, ends, est, target, slack):
            indices[kept] = s
            kept += 1
            states.score[s] = min(states.score[s], slack.min())
        else:
            hits[slack.argmin()] += 1
    return kept


@jit
def group_keys(left: Any, result: Any) -> None:
    """Hash the requests to start of each state."""
    for s in range(len(left)):
        h = np.uint64(1469598103934665603)
        for x in left[s]:
            h = (h ^ np.uint64(x)) * np.uint64(1099511628211)
        result[s] = h


@jit
def undominated(
    states: Any, keys: Any, order: Any, first: int, end: int, kept: int, begin: int, rivals: int, result: Any
) -> Any:
    """Write the states of ``order[first:end]`` that none before them dominates.

    `order` groups the states by `keys` and sorts each group by cost. A state is compared with the first `rivals`
    that were kept of its group. Returns how many are kept, and where the group that `end` cuts begins among them.
    """
    length, kinds = states.profile.shape[1], states.left.shape[1]
    left, profile, cost = states.left, states.profile, states.cost
    for x in range(first, end):
        s = order[x]
        if x > 0 and keys[order[x - 1]] != keys[s]:
            begin = kept
        dominated = False
        for y in range(begin, min(kept, begin + rivals)):
            r = result[y]
            dominated = cost[r] <= cost[s]
            for i in range(length):
                if profile[r, i] > profile[s, i]:
                    dominated = False
                    break
            for k in range(kinds):
                if not dominated:
                    break
                dominated = left[r, k] == left[s, k]
            if dominated:
                break
        if not dominated:
            result[kept] = s
            kept += 1
    return kept, begin
