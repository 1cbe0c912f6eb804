"""The compiled kernel that expands a layer of the exact search: all that can start at t, then one step of time.

From a state, requests are started one by one in the order of their types. A node of this small tree is a multiset
of starts. Its slack supposes that all others wait; what starting more can win back at most, its potential, decides
whether to go on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lp_bounds.exact_kernels import NEVER, Types, earliest, jit, slacks

DONE, SPENT, FULL, CUT = 0, 1, 2, 3  #: why a call of `expand` ended


class Scratch(NamedTuple):
    """Working memory of `expand`; the first index of the lower group is the number of requests started."""

    est: Any
    est_then: Any
    base: Any
    due: Any
    gain: Any
    potential: Any
    look: Any
    slack: Any
    run: Any
    ends: Any
    options: Any
    size: Any
    next: Any
    kind: Any


def scratch(types: Types, requests: int, vectors: int) -> Scratch:
    """Allocate working memory for instances of `requests` requests and pools of `vectors` vectors."""
    kinds, length = types.held.shape
    smallest = max(1, int(types.held[:, 0].min()))
    depth = min(requests, int(types.memory) // smallest) + 2 if types.held[:, 0].min() > 0 else requests + 2
    return Scratch(
        est=np.zeros(kinds, np.int64),
        est_then=np.zeros(kinds, np.int64),
        base=np.zeros(kinds, np.int64),
        due=np.zeros(kinds, np.int64),
        gain=np.zeros((kinds, vectors), np.int64),
        potential=np.zeros((kinds + 1, vectors), np.int64),
        look=np.zeros(vectors, np.int64),
        slack=np.zeros((depth, vectors), np.int64),
        run=np.zeros((depth, length + 1), np.int64),
        ends=np.zeros((depth, length + 1), np.int64),
        options=np.zeros((depth, kinds), np.int64),
        size=np.zeros(depth, np.int64),
        next=np.zeros(depth, np.int64),
        kind=np.zeros(depth, np.int64),
    )


@jit
def _hash(left: Any, profile: Any, s: int) -> Any:
    h = np.uint64(1469598103934665603)
    for k in range(left.shape[1]):
        h = (h ^ np.uint64(left[s, k])) * np.uint64(1099511628211)
    for i in range(profile.shape[1]):
        h = (h ^ np.uint64(profile[s, i])) * np.uint64(1099511628211)
    return h ^ (h >> np.uint64(29))


@jit
def rehash(states: Any, filled: int, table: Any) -> None:
    """Enter the first `filled` states into an empty hash table."""
    left, profile = states.left, states.profile
    mask = np.uint64(len(table) - 1)
    for s in range(filled):
        spot = np.int64(_hash(left, profile, s) & mask)
        while table[spot] >= 0:
            spot = (spot + 1) & np.int64(mask)
        table[spot] = s


@jit
def _find(left: Any, profile: Any, s: int, table: Any) -> Any:
    """Index of a state equal to state `s`, which is entered and returned itself if there is none."""
    mask = np.uint64(len(table) - 1)
    spot = np.int64(_hash(left, profile, s) & mask)
    while True:
        other = table[spot]
        if other < 0:
            table[spot] = s
            return s
        same = True
        for k in range(left.shape[1]):
            if left[other, k] != left[s, k]:
                same = False
                break
        if same:
            for i in range(profile.shape[1]):
                if profile[other, i] != profile[s, i]:
                    same = False
                    break
        if same:
            return np.int64(other)
        spot = (spot + 1) & np.int64(mask)


@jit
def _fits(held: Any, output: Any, memory: int, k: int, run: Any, level: int) -> bool:
    for j in range(output[k]):  # noqa: SIM110 - compiled
        if run[level, j] + held[k, j] > memory:
            return False
    return True


@jit
def _prepare(types: Any, pool: Any, vectors: int, t: int, states: Any, s: int, target: int, w: Any) -> bool:
    """Set up the root of the tree of state `s`; return False if the state is dropped."""
    left, profile = states.left[s], states.profile[s]
    earliest(types, t, left, profile, w.est)
    slack = w.slack[0]
    if not slacks(pool, vectors, t, states.cost[s], left, profile, states.ends[s], w.est, target, slack):
        return False
    last = pool.price.shape[0] - 1
    now, then = min(t, last), min(t + 1, last)
    size = 0
    for k in range(len(left)):
        w.base[k] = max(w.est[k], t + 1)
        if left[k] == 0 or w.est[k] > t:
            continue
        number = np.int64(left[k])
        row, row_now, row_then = pool.cost[now, k], pool.least[now, k], pool.least[then, k]
        gain = w.gain[k]
        for q in range(vectors):
            slack[q] -= number * (np.int64(row_then[q]) - np.int64(row_now[q]))
            gain[q] = np.int64(row_then[q]) - np.int64(row[q])
        w.due[k] = NEVER
        if t > types.arrival[k] and states.used[s] + types.held[k, 0] <= types.memory:  # left shift
            if types.output[k] == 1:
                continue
            w.due[k] = t + types.output[k] - 1
        w.options[0, size] = k
        size += 1
    w.size[0], w.next[0], w.kind[0] = size, 0, -1
    for q in range(vectors):
        w.potential[len(left), q] = 0
    below = len(left)
    for i in range(size - 1, -1, -1):
        k = w.options[0, i]
        number = np.int64(left[k])
        for q in range(vectors):
            w.potential[k, q] = w.potential[below, q] + number * max(np.int64(0), w.gain[k, q])
        below = k
    for i in range(len(profile)):
        w.run[0, i] = profile[i]
        w.ends[0, i] = states.ends[s, i]
    w.run[0, len(profile)] = 0
    w.ends[0, len(profile)] = 0
    return True


@jit
def _start(
    held: Any,
    output: Any,
    memory: int,
    vectors: int,
    left: Any,
    s: int,
    level: int,
    gain: Any,
    potential: Any,
    slack: Any,
    run: Any,
    ends: Any,
    options: Any,
    size: Any,
    following: Any,
    kind: Any,
) -> bool:
    """Start the next option of the node at `level`; return whether the child is worth a visit."""
    at = following[level]
    following[level] += 1
    k = options[level, at]
    worst = np.int64(0)
    for q in range(vectors):
        worst = min(worst, slack[level, q] + potential[k, q])
    if worst < 0:  # nor is any later option
        following[level] = size[level]
        return False
    for q in range(vectors):
        x = slack[level, q] + gain[k, q]
        slack[level + 1, q] = x
        worst = min(worst, x + potential[k, q])
    if worst < 0:
        return False
    for i in range(run.shape[1]):
        run[level + 1, i] = run[level, i]
        ends[level + 1, i] = ends[level, i]
    ends[level + 1, output[k] - 1] += 1
    for j in range(output[k]):
        run[level + 1, j] += held[k, j]
    kind[level + 1] = k
    number, up = 1, level
    while up > 0 and kind[up] == k:
        number += 1
        up -= 1
    count = 0
    for i in range(at, size[level]):
        other = options[level, i]
        if (i > at or number < left[s, k]) and _fits(held, output, memory, other, run, level + 1):
            options[level + 1, count] = other
            count += 1
    size[level + 1], following[level + 1] = count, 0
    return True


@jit
def _look_ahead(
    held: Any,
    output: Any,
    arrival: Any,
    memory: int,
    least: Any,
    vectors: int,
    t: int,
    base: Any,
    left: Any,
    profile: Any,
    s: int,
    slack: Any,
) -> None:
    """Take from `slack` what waiting beyond ``base[k]`` costs the types that do not fit into state `s` before."""
    last, length = least.shape[0] - 1, profile.shape[1]
    for k in range(left.shape[1]):
        if left[s, k] == 0:
            continue
        begin = max(t, arrival[k]) - t
        while begin < length:
            clash = False
            for j in range(min(output[k], length - begin)):
                if profile[s, begin + j] + held[k, j] > memory:
                    clash = True
                    break
            if not clash:
                break
            begin += 1
        if t + begin > base[k]:
            number, low, high = np.int64(left[s, k]), min(base[k], last), min(t + begin, last)
            for q in range(vectors):
                slack[q] -= number * (np.int64(least[high, k, q]) - np.int64(least[low, k, q]))


@jit
def _idle(arrival: Any, t: int, left: Any, s: int, run: Any, level: int) -> bool:
    """Whether nothing is held from now on although all that remain are released."""
    for i in range(run.shape[1]):
        if run[level, i]:
            return False
    for k in range(left.shape[1]):  # noqa: SIM110 - compiled
        if left[s, k] and arrival[k] > t:
            return False
    return True


@jit
def expand(
    types: Any,
    pool: Any,
    vectors: int,
    t: int,
    states: Any,
    first: int,
    end: int,
    target: int,
    w: Any,
    new: Any,
    filled: int,
    table: Any,
    budget: int,
    per_state: int,
    goal: Any,
) -> Any:
    """Expand the states ``first, ..., end - 1`` at time t into `new`, until `budget` nodes are visited.

    Returns (next state, states filled, target, why it ended). FULL: `new` is, and the next state is to be
    expanded again; CUT: a state has more than `per_state` nodes and was expanded only so far. A complete
    schedule below the target lowers it and is written to `goal` as (state, cost).
    """
    held, output, arrival, memory = types.held, types.output, types.arrival, types.memory
    left, cost, due_before = states.left, states.cost, states.deadline
    new_left, new_profile, new_ends, new_cost, new_used = new.left, new.profile, new.ends, new.cost, new.used
    new_deadline, new_parent, new_score = new.deadline, new.parent, new.score
    price, reward, tail, least, scale = pool.price, pool.reward, pool.tail, pool.least, pool.scale
    base, due, gain, potential, look, slack = w.base, w.due, w.gain, w.potential, w.look, w.slack
    run, ends, options, size, following, kind = w.run, w.ends, w.options, w.size, w.next, w.kind
    kinds, length, last = left.shape[1], new_profile.shape[1], price.shape[0] - 1
    now, then = min(t, last), min(t + 1, last)
    visited, reason, s = 0, DONE, first
    while s < end:
        of_state, level, fresh = 0, 0, True
        if not _prepare(types, pool, vectors, t, states, s, target, w):
            level = -1
        remaining = 0
        for k in range(kinds):
            remaining += left[s, k]
        while level >= 0:
            if fresh:
                fresh = False
                of_state += 1
                if of_state > per_state:
                    reason = CUT
                    break
                value = cost[s] + level * t
                deadline = due_before[s]
                for i in range(1, level + 1):
                    deadline = min(deadline, due[kind[i]])
                free = memory - run[level, 0]
                if free < types.tight:
                    deadline = NEVER
                if level == remaining:
                    if scale * value <= target:
                        target = scale * (value - 1)
                        goal[0], goal[1] = s, value
                elif deadline > t + 1 and not _idle(arrival, t, left, s, run, level):
                    if filled >= len(new_cost):
                        return s, filled, target, FULL
                    worst = np.int64(0)
                    for q in range(vectors):
                        x = slack[level, q] - (tail[now, q] - tail[then, q])
                        x += run[level, 0] * np.int64(price[then, q]) - ends[level, 0] * np.int64(reward[then, q])
                        look[q] = x
                        worst = min(worst, x)
                    if worst >= 0:
                        for k in range(kinds):
                            new_left[filled, k] = left[s, k]
                        for i in range(1, level + 1):
                            new_left[filled, kind[i]] -= 1
                        for i in range(length):
                            new_profile[filled, i] = run[level, i + 1]
                            new_ends[filled, i] = ends[level, i + 1]
                        _look_ahead(
                            held,
                            output,
                            arrival,
                            memory,
                            least,
                            vectors,
                            t + 1,
                            base,
                            new_left,
                            new_profile,
                            filled,
                            look,
                        )
                        score = np.int64(1 << 62)
                        for q in range(vectors):
                            score = min(score, look[q])
                        if score >= 0:
                            x = _find(new_left, new_profile, filled, table)
                            if x == filled or value < new_cost[x]:
                                new_cost[x], new_used[x], new_deadline[x] = value, run[level, 0], deadline
                                new_parent[x], new_score[x] = s, score
                                for i in range(length):
                                    new_ends[x, i] = ends[level, i + 1]
                                filled = max(filled, x + 1)
                            elif value == new_cost[x]:
                                new_used[x] = min(new_used[x], run[level, 0])
                                new_deadline[x] = min(new_deadline[x], deadline)
            if following[level] == size[level]:
                level -= 1
            elif _start(
                held,
                output,
                memory,
                vectors,
                left,
                s,
                level,
                gain,
                potential,
                slack,
                run,
                ends,
                options,
                size,
                following,
                kind,
            ):
                level += 1
                fresh = True
        visited += of_state
        s += 1
        if visited >= budget and s < end:
            return s, filled, target, max(reason, SPENT)
    return s, filled, target, reason
