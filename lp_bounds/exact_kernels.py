"""Compiled kernels of the exact search: one layer of states at a time, in exact 64-bit integers.

A *state* at time t: requests of each type not yet started, tokens that the running ones will hold in each later
step. ``cost`` is the sum of the start times so far. A *type* is (prompt, output, arrival). Rules and proofs are in
:mod:`lp_bounds.exact_search`; arrays are indexed ``[time, type, vector]`` so that one loop serves all multiplier vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba as nb
import numpy as np

NEVER = 1 << 40  #: no deadline
DONE, SPENT, FULL, CUT = 0, 1, 2, 3  #: why a call of `expand` ended
jit: Any = nb.njit(cache=True, nogil=True, boundscheck=False)


class Types(NamedTuple):
    """The types: ``held[k, j]`` tokens in step ``j + 1``, output (steps), arrival (step); the memory; tight room (see left shift)."""

    held: Any
    output: Any
    arrival: Any
    memory: int
    tight: int


class Pool(NamedTuple):
    """Multiplier vectors ``price[tau, q] / scale`` and what follows from them.

    ``least[t, k, q]``: least cost of a start of type k at t or later; ``cost[t, k, q]``: cost of a start at t (both
    times `scale`); ``tail[t, q]``: memory times the prices after t. Times beyond the last row count as the last row.
    """

    price: Any
    least: Any
    cost: Any
    tail: Any
    scale: int


class Layer(NamedTuple):
    """States at one time: to start, tokens in later steps, cost, tokens in the step before, deadline, parent, score."""

    left: Any
    profile: Any
    cost: Any
    used: Any
    deadline: Any
    parent: Any
    score: Any


@jit
def fill_vector(types: Any, pool: Any, q: int) -> None:
    """Fill the tables of vector `q` from its prices."""
    last = pool.price.shape[0] - 1  # price[last] = 0 and so beyond
    pool.tail[last, q] = 0
    for t in range(last - 1, -1, -1):
        pool.tail[t, q] = pool.tail[t + 1, q] + types.memory * np.int64(pool.price[t + 1, q])
    for k in range(len(types.output)):
        low = np.int64(pool.scale) * last
        pool.least[last, k, q] = low
        pool.cost[last, k, q] = low
        for t in range(last - 1, -1, -1):
            value = np.int64(pool.scale) * t
            for j in range(min(types.output[k], last - t)):
                value += np.int64(pool.price[t + 1 + j, q]) * types.held[k, j]
            value = min(value, np.int64(4294967295))  # a cost cut short only weakens the bound
            if t >= types.arrival[k]:
                low = min(low, value)
            pool.cost[t, k, q] = value
            pool.least[t, k, q] = low


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
def _root_slack(
    pool: Any, vectors: int, t: int, cost: int, left: Any, profile: Any, est: Any, target: int, out: Any
) -> bool:
    """Write target minus bound of a state for each vector; return whether all are >= 0."""
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
def _hash(left: Any, profile: Any) -> int:
    h = np.uint64(1469598103934665603)
    for x in left:
        h = (h ^ np.uint64(x)) * np.uint64(1099511628211)
    for x in profile:
        h = (h ^ np.uint64(x)) * np.uint64(1099511628211)
    return h ^ (h >> np.uint64(29))


@jit
def expand(
    types: Any,
    pool: Any,
    vectors: int,
    t: int,
    states: Any,
    first: int,
    last_state: int,
    target: int,
    new: Any,
    filled: int,
    table: Any,
    budget: int,
    per_state: int,
    goal: Any,
) -> Any:
    """Expand states ``first, ..., last_state - 1``; return (next state, states filled, target, leaves, reason).

    Reason: DONE; SPENT, the leaf budget is; FULL, `new` is (the state named is to be expanded again); CUT, some
    state has more than `per_state` children and was expanded only so far.
    """
    kinds, length = states.left.shape[1], states.profile.shape[1]
    last = pool.price.shape[0] - 1
    now, then = min(t, last), min(t + 1, last)
    capacity, mask = len(new.cost), np.uint64(len(table) - 1)
    est, est_then = np.zeros(kinds, np.int64), np.zeros(kinds, np.int64)
    base = np.zeros(kinds, np.int64)
    due = np.zeros(kinds, np.int64)
    number = np.zeros(kinds + 1, np.int64)
    kind = np.zeros(kinds + 1, np.int64)
    slack = np.zeros((kinds + 2, vectors), np.int64)
    run = np.zeros((kinds + 1, length + 1), np.int64)
    leaves, reason = 0, DONE
    s = first
    while s < last_state:
        left = states.left[s]
        earliest(types, t, left, states.profile[s], est)
        if not _root_slack(pool, vectors, t, states.cost[s], left, states.profile[s], est, target, slack[0]):
            s += 1
            continue
        remaining, depth, unreleased = 0, 0, False
        for k in range(kinds):
            base[k] = max(est[k], t + 1)
            remaining += left[k]
            due[k] = NEVER
            if left[k] == 0:
                continue
            if types.arrival[k] > t:
                unreleased = True
            if est[k] > t:
                continue
            if t > types.arrival[k] and states.used[s] + types.held[k, 0] <= types.memory:  # left shift
                if types.output[k] == 1:
                    row0, row1 = pool.least[now, k], pool.least[then, k]
                    for q in range(vectors):
                        slack[0, q] -= np.int64(left[k]) * (np.int64(row1[q]) - np.int64(row0[q]))
                    continue
                due[k] = t + types.output[k] - 1
            kind[depth] = k
            number[depth] = -1
            depth += 1
        for i in range(length):
            run[0, i] = states.profile[s, i]
        run[0, length] = 0
        level, of_state = 0, 0
        while level >= 0:
            if level < depth:
                k = kind[level]
                if number[level] < 0:  # as many as fit
                    for i in range(length + 1):
                        run[level + 1, i] = run[level, i]
                    fit = 0
                    while fit < left[k]:
                        ok = True
                        for j in range(types.output[k]):
                            if run[level + 1, j] + types.held[k, j] > types.memory:
                                ok = False
                        if not ok:
                            break
                        for j in range(types.output[k]):
                            run[level + 1, j] += types.held[k, j]
                        fit += 1
                    number[level] = fit
                elif number[level] == 0:
                    number[level] = -1
                    level -= 1
                    continue
                else:
                    number[level] -= 1
                    for j in range(types.output[k]):
                        run[level + 1, j] -= types.held[k, j]
                started, waits = number[level], np.int64(left[k]) - number[level]
                worst = np.int64(0)
                row, row0, row1 = pool.cost[now, k], pool.least[now, k], pool.least[then, k]
                for q in range(vectors):
                    x = (
                        slack[level, q]
                        + (started + waits) * np.int64(row0[q])
                        - started * np.int64(row[q])
                        - waits * np.int64(row1[q])
                    )
                    slack[level + 1, q] = x
                    worst = min(worst, x)
                if worst >= 0:
                    level += 1
                    if level < depth:
                        number[level] = -1
                continue
            # a leaf: step t + 1 is decided
            level -= 1
            leaves += 1
            of_state += 1
            if of_state > per_state:
                reason = CUT
                break
            started, deadline = 0, states.deadline[s]
            for i in range(depth):
                started += number[i]
                if number[i] > 0:
                    deadline = min(deadline, due[kind[i]])
            cost = states.cost[s] + started * t
            if started == remaining:
                if pool.scale * cost <= target:
                    target = pool.scale * (cost - 1)
                    goal[0], goal[1], goal[2] = s, cost, t
                continue
            used = run[depth, 0]
            if not unreleased:
                idle = True
                for i in range(length):
                    if run[depth, i] != 0:
                        idle = False
                        break
                if idle:
                    continue
            if types.memory - used < types.tight:
                deadline = NEVER
            elif deadline <= t + 1:
                continue
            if filled >= capacity:
                reason = FULL
                break
            worst = np.int64(0)
            free = types.memory - used
            row = pool.price[then]
            for q in range(vectors):
                x = slack[depth, q] - free * np.int64(row[q])
                slack[depth + 1, q] = x
                worst = min(worst, x)
            if worst < 0:
                continue
            new_left, new_profile = new.left[filled], new.profile[filled]
            for k in range(kinds):
                new_left[k] = left[k]
            for i in range(depth):
                new_left[kind[i]] -= number[i]
            for i in range(length):
                new_profile[i] = run[depth, i + 1]
            earliest(types, t + 1, new_left, new_profile, est_then)
            for k in range(kinds):
                if new_left[k] and est_then[k] > base[k]:
                    number_k = np.int64(new_left[k])
                    row0, row1 = pool.least[min(base[k], last), k], pool.least[min(est_then[k], last), k]
                    for q in range(vectors):
                        slack[depth + 1, q] -= number_k * (np.int64(row1[q]) - np.int64(row0[q]))
            score = np.int64(1 << 62)
            for q in range(vectors):
                score = min(score, slack[depth + 1, q])
            if score < 0:
                continue
            spot = np.int64(_hash(new_left, new_profile) & mask)
            while True:
                other = table[spot]
                if other < 0:
                    table[spot] = filled
                    new.cost[filled], new.used[filled], new.deadline[filled] = cost, used, deadline
                    new.parent[filled], new.score[filled] = s, score
                    filled += 1
                    break
                same = True
                for k in range(kinds):
                    if new.left[other, k] != new_left[k]:
                        same = False
                        break
                if same:
                    for i in range(length):
                        if new.profile[other, i] != new_profile[i]:
                            same = False
                            break
                if same:
                    if cost < new.cost[other]:
                        new.cost[other], new.used[other], new.deadline[other] = cost, used, deadline
                        new.parent[other], new.score[other] = s, score
                    elif cost == new.cost[other]:
                        new.used[other] = min(new.used[other], used)
                        new.deadline[other] = min(new.deadline[other], deadline)
                    break
                spot = (spot + 1) & np.int64(mask)
        if reason == FULL:
            break
        s += 1
        if leaves >= budget and s < last_state:
            reason = max(reason, SPENT)
            break
    return s, filled, target, leaves, reason


@jit
def rehash(states: Any, filled: int, table: Any) -> None:
    """Enter the first `filled` states into an empty hash table."""
    mask = np.uint64(len(table) - 1)
    for s in range(filled):
        spot = np.int64(_hash(states.left[s], states.profile[s]) & mask)
        while table[spot] >= 0:
            spot = (spot + 1) & np.int64(mask)
        table[spot] = s


@jit
def filter_layer(
    types: Any, pool: Any, vectors: int, t: int, states: Any, indices: Any, target: int, hits: Any
) -> int:
    """Keep, in `indices`, the states that no vector drops; count what each vector drops; return how many are kept."""
    kinds = states.left.shape[1]
    est = np.zeros(kinds, np.int64)
    slack = np.zeros(vectors, np.int64)
    kept = 0
    for s in indices:
        earliest(types, t, states.left[s], states.profile[s], est)
        if _root_slack(pool, vectors, t, states.cost[s], states.left[s], states.profile[s], est, target, slack):
            indices[kept] = s
            kept += 1
            states.score[s] = slack.min()
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
def undominated(states: Any, keys: Any, order: Any, rivals: int, result: Any) -> int:
    """Write the states that no earlier one in `order` (grouped by `keys`, then by cost) dominates; return how many."""
    length, kinds = states.profile.shape[1], states.left.shape[1]
    kept, begin = 0, 0
    for x in range(len(order)):
        s = order[x]
        if x > 0 and keys[order[x - 1]] != keys[s]:
            begin = kept
        dominated = False
        for y in range(begin, min(kept, begin + rivals)):
            r = result[y]
            if states.cost[r] > states.cost[s]:
                continue
            ok = True
            for i in range(length):
                if states.profile[r, i] > states.profile[s, i]:
                    ok = False
                    break
            if ok:
                for k in range(kinds):
                    if states.left[r, k] != states.left[s, k]:
                        ok = False
                        break
            if ok:
                dominated = True
                break
        if not dominated:
            result[kept] = s
            kept += 1
    return kept
