"""Compiled event-driven kernels for true lengths: the same schedules as the pure policies, step for step.

What makes them fast: with true lengths the tokens reserved in a given step only grow, by new starts. So the
earliest start of a request, once computed, is a lower bound for ever, and nothing happens between two such times.

Requests are numbered by rank (position in key order). A request reserves ``first`` tokens in its first ``phase``
steps, then `growth` more in every further `growth` steps (the block size); with the fit ``peak`` it reserves its
peak from the first step on. ``usage[x]`` is reserved in step ``base + x + 1``, and is 0 from index ``end`` on.

Every kernel keeps what it needs in arrays, works about `budget` elementary operations and returns; calling it
again resumes. So the caller can watch the clock, and Ctrl-C works. All kernels live in this one file because
numba's cache on disk only looks at the file of the function it loads.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: What a kernel returns.
FINISHED, PAUSED, TOO_SHORT = 0, 1, 2
#: Indices into the kernels' state.
NOW, BASE, END, NEXT_EVENT, WAITING, HEAD, HEAD_START, POSITION = range(8)
STATE_SIZE = 8

#: Size and output length of a request that does not wait.
NOTHING = 2**62


@njit(cache=True, nogil=True)
def _earliest(
    usage: Ints, at: int, end: int, memory: int, first: int, phase: int, growth: int, output: int
) -> int:
    """Least index >= `at` at which a request fits: one pass, as in policies.earliest_delay."""
    start, x, held, grows = at, at, first, at + phase
    while x < end and x < start + output:
        if x == grows:
            held += growth
            grows += growth
        room = memory - usage[x]
        if held > room:
            if first > room:
                start, held, grows = x + 1, first, x + 1 + phase
            else:  # `levels` increments still fit: let x be the last step before the next one
                levels = (room - first) // growth
                start = x + 1 - phase - levels * growth
                held = first + levels * growth
                grows = x + 1
        x += 1
    return start


@njit(cache=True, nogil=True)
def _occupy(usage: Ints, at: int, first: int, phase: int, growth: int, output: int, sign: int) -> None:
    """Add (sign 1) or remove (sign -1) the reservation of a request that starts at index `at`."""
    if growth == 1 and phase == 1:
        for j in range(output):
            usage[at + j] += sign * (first + j)
        return
    x, held, level_end, stop = at, sign * first, at + phase, at + output
    while x < stop:
        for y in range(x, min(level_end, stop)):
            usage[y] += held
        x, level_end, held = level_end, level_end + growth, held + sign * growth


@njit(cache=True, nogil=True)
def _rebase(usage: Ints, state: Ints) -> None:
    """Forget the past: move index 0 to the present."""
    at, end = state[NOW] - state[BASE], state[END]
    left = max(0, end - at)
    for x in range(left):
        usage[x] = usage[at + x]
    usage[left:end] = 0
    state[BASE], state[END] = state[NOW], left


@njit(cache=True, nogil=True)
def _push(heap: Ints, size: int, item: int) -> None:
    k = size
    while k > 0 and heap[(k - 1) >> 1] > item:
        heap[k] = heap[(k - 1) >> 1]
        k = (k - 1) >> 1
    heap[k] = item


@njit(cache=True, nogil=True)
def _pop(heap: Ints, size: int) -> None:
    """Remove the least item of a heap of `size` items."""
    size -= 1
    item, k = heap[size], 0
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= item:
            break
        heap[k] = heap[child]
        k = child
    heap[k] = item


@njit(cache=True, nogil=True)
def strict(
    first: Ints,
    phase: Ints,
    output: Ints,
    arrival: Ints,
    coming: Ints,
    growth: int,
    memory: int,
    starts: Ints,
    heap: Ints,
    usage: Ints,
    state: Ints,
    budget: int,
) -> int:
    """Strict admission: the head starts at its earliest, unless another becomes the head first.

    `coming` lists the ranks by arrival; `heap` holds the waiting ranks. `usage` is at least four times as long as
    the longest output.
    """
    n = len(first)
    while state[WAITING] or state[NEXT_EVENT] < n:
        if budget < 0:
            return PAUSED
        if not state[WAITING]:
            state[NOW] = max(state[NOW], arrival[coming[state[NEXT_EVENT]]])
        while state[NEXT_EVENT] < n and arrival[coming[state[NEXT_EVENT]]] <= state[NOW]:
            _push(heap, state[WAITING], coming[state[NEXT_EVENT]])
            state[WAITING] += 1
            state[NEXT_EVENT] += 1
        head = heap[0]
        if head != state[HEAD]:
            if 2 * (state[NOW] - state[BASE]) > len(usage):
                _rebase(usage, state)
            at = state[NOW] - state[BASE]
            start = _earliest(usage, at, state[END], memory, first[head], phase[head], growth, output[head])
            state[HEAD], state[HEAD_START] = head, start + state[BASE]
            budget -= start - at + 2 * output[head]
        if state[NEXT_EVENT] < n and arrival[coming[state[NEXT_EVENT]]] <= state[HEAD_START]:
            state[NOW] = arrival[coming[state[NEXT_EVENT]]]
            budget -= 1
            continue
        state[NOW] = starts[head] = state[HEAD_START]
        at = state[NOW] - state[BASE]
        _occupy(usage, at, first[head], phase[head], growth, output[head], 1)
        state[END] = max(state[END], at + output[head])
        _pop(heap, state[WAITING])
        state[WAITING] -= 1
        state[HEAD] = -1
    return FINISHED


@njit(cache=True, nogil=True)
def _set_leaf(tree: Ints, rank: int, size: int, output: int) -> None:
    """Set a leaf to (size, output), and every node above to the least size and the least output below it."""
    k = rank + len(tree) // 2
    tree[k, 0], tree[k, 1] = size, output
    k >>= 1
    while k:
        tree[k, 0] = min(tree[2 * k, 0], tree[2 * k + 1, 0])
        tree[k, 1] = min(tree[2 * k, 1], tree[2 * k + 1, 1])
        k >>= 1


@njit(cache=True, nogil=True)
def _largest_sizes(
    usage: Ints, at: int, end: int, memory: int, growth: int, lag: int, by_peak: bool, limit: Ints
) -> int:
    """Fill ``limit[j]`` with the largest size that fits at index `at` with output length j + 1; return its length.

    The size is the prompt length, or the peak with the fit ``peak``. A request fits exactly if its size is at most
    the limit for its output length; beyond the last reservation the limit stays (every peak is at most M).
    """
    least = NOTHING
    for x in range(at, end):
        room = memory - usage[x]
        if not by_peak:
            room = room // growth * growth - (x - at + 1) + lag
        least = min(least, room)
        limit[x - at] = least
    return max(0, end - at)


@njit(cache=True, nogil=True)
def _next_fit(tree: Ints, rank: int, limit: Ints, length: int) -> int:
    """Least rank >= `rank` of a waiting request within `limit`, or -1."""
    leaves = len(tree) // 2
    if rank >= leaves:
        return -1
    k = rank + leaves
    while k > 1 and not k & 1:
        k >>= 1
    while True:
        size, output = tree[k, 0], tree[k, 1]
        if size < NOTHING and (length == 0 or size <= limit[min(output, length) - 1]):
            if k >= leaves:
                return k - leaves
            k *= 2
            continue
        while k & 1:
            k >>= 1
        if k == 0:
            return -1
        k += 1


@njit(cache=True, nogil=True)
def skip(
    first: Ints,
    phase: Ints,
    output: Ints,
    arrival: Ints,
    coming: Ints,
    growth: int,
    memory: int,
    starts: Ints,
    size: Ints,
    lag: int,
    by_peak: bool,
    reserve_head: bool,
    tree: Ints,
    limit: Ints,
    usage: Ints,
    state: Ints,
    budget: int,
) -> int:
    """Skip-ahead admission, and EASY backfilling if `reserve_head`.

    `tree` holds the waiting requests by rank. Between events the clock jumps to the earliest time at which a
    request as small as the smallest and as short as the shortest could start. `usage` is at least eight times, and
    `limit` at least four times, as long as the longest output. With `reserve_head` the first that does not fit
    (``state[HEAD]``, -1 if none) is in `usage` at its earliest start ``state[HEAD_START]``.
    """
    n = len(first)
    while state[WAITING] or state[NEXT_EVENT] < n:
        if budget < 0:
            return PAUSED
        if not state[WAITING]:
            state[NOW] = max(state[NOW], arrival[coming[state[NEXT_EVENT]]])
        while state[NEXT_EVENT] < n and arrival[coming[state[NEXT_EVENT]]] <= state[NOW]:
            rank = coming[state[NEXT_EVENT]]
            _set_leaf(tree, rank, size[rank], output[rank])
            state[WAITING] += 1
            state[NEXT_EVENT] += 1
        if 2 * (state[NOW] - state[BASE]) > len(usage):
            _rebase(usage, state)
        now, base, rank = state[NOW], state[BASE], 0
        at = now - base
        changed, length = True, 0
        while state[WAITING]:
            if reserve_head:
                head = _next_fit(tree, 0, limit, 0)
                if head != state[HEAD]:
                    if state[HEAD] >= 0:
                        old = state[HEAD]
                        _occupy(usage, state[HEAD_START] - base, first[old], phase[old], growth, output[old], -1)
                    start = _earliest(
                        usage, at, state[END], memory, first[head], phase[head], growth, output[head]
                    )
                    state[HEAD], state[HEAD_START] = head, start + base
                    _occupy(usage, start, first[head], phase[head], growth, output[head], 1)
                    state[END] = max(state[END], start + output[head])
                    changed = True
                    budget -= start - at + 2 * output[head]
                if state[HEAD_START] == now:
                    starts[head] = now
                    _set_leaf(tree, head, NOTHING, NOTHING)
                    state[WAITING] -= 1
                    state[HEAD] = -1
                    continue
                rank = max(rank, head + 1)
            if changed:
                length = _largest_sizes(usage, at, state[END], memory, growth, lag, by_peak, limit)
                budget -= length
                changed = False
            rank = _next_fit(tree, rank, limit, length)
            if rank < 0:
                break
            starts[rank] = now
            _occupy(usage, at, first[rank], phase[rank], growth, output[rank], 1)
            state[END] = max(state[END], at + output[rank])
            changed = True
            _set_leaf(tree, rank, NOTHING, NOTHING)
            state[WAITING] -= 1
            rank += 1
        if state[WAITING]:
            least, shortest = tree[1, 0], tree[1, 1]
            if by_peak:
                tokens, steps = least, shortest
            else:
                tokens = -(-(least + 1 - lag) // growth) * growth
                steps = (lag - least - 1) % growth + 1
            start = _earliest(usage, at + 1, state[END], memory, tokens, steps, growth, shortest)
            budget -= start - at + shortest + state[WAITING] // 4
            state[NOW] = start + base
            if state[HEAD] >= 0:
                state[NOW] = min(state[NOW], state[HEAD_START])
            if state[NEXT_EVENT] < n:
                state[NOW] = min(state[NOW], arrival[coming[state[NEXT_EVENT]]])
    return FINISHED


@njit(cache=True, nogil=True)
def conservative(
    first: Ints,
    phase: Ints,
    output: Ints,
    arrival: Ints,
    coming: Ints,
    growth: int,
    memory: int,
    starts: Ints,
    queue: Ints,
    usage: Ints,
    state: Ints,
    budget: int,
) -> int:
    """Conservative backfilling: at every arrival, plan afresh those that it precedes; in between, plans stand.

    `queue` holds the waiting ranks in order and `starts` their plans; from ``state[POSITION]`` on they are still
    to be planned. Returns TOO_SHORT if `usage` is too short for the next plan: give a longer copy and resume.
    """
    n = len(first)
    while True:
        while state[POSITION] < state[WAITING]:
            if budget < 0:
                return PAUSED
            rank = queue[state[POSITION]]
            if state[END] + output[rank] > len(usage):
                if 2 * (state[NOW] - state[BASE]) <= len(usage):
                    return TOO_SHORT
                _rebase(usage, state)
                continue
            at = state[NOW] - state[BASE]
            start = _earliest(
                usage, at, max(at, state[END]), memory, first[rank], phase[rank], growth, output[rank]
            )
            if start + output[rank] > len(usage):
                return TOO_SHORT
            _occupy(usage, start, first[rank], phase[rank], growth, output[rank], 1)
            state[END] = max(state[END], start + output[rank])
            starts[rank] = start + state[BASE]
            state[POSITION] += 1
            budget -= start - at + 2 * output[rank]
        if state[NEXT_EVENT] == n:
            return FINISHED
        state[NOW] = max(state[NOW], arrival[coming[state[NEXT_EVENT]]])
        if state[NOW] - state[BASE] >= state[END]:
            _rebase(usage, state)
        kept = 0
        for k in range(state[WAITING]):
            if starts[queue[k]] >= state[NOW]:
                queue[kept] = queue[k]
                kept += 1
        state[POSITION] = kept
        while state[NEXT_EVENT] < n and arrival[coming[state[NEXT_EVENT]]] <= state[NOW]:
            rank = coming[state[NEXT_EVENT]]
            k = kept
            while k > 0 and queue[k - 1] > rank:
                queue[k] = queue[k - 1]
                k -= 1
            queue[k] = rank
            kept += 1
            state[POSITION] = min(state[POSITION], k)
            state[NEXT_EVENT] += 1
        state[WAITING] = kept
        for k in range(state[POSITION], kept):
            rank = queue[k]
            if starts[rank] >= 0:
                start = starts[rank] - state[BASE]
                _occupy(usage, start, first[rank], phase[rank], growth, output[rank], -1)
        budget -= kept
