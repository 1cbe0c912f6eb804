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
NOW, BASE, END, NEXT_EVENT, WAITING, PLANNED, HEAD, HEAD_START = range(8)
STATE_SIZE = 8

#: Steps that are looked at together.
_WINDOW = 16

#: Size and output length of a request that does not wait.
NOTHING = 2**62


@njit(cache=True, nogil=True)
def _earliest(usage: Ints, at: int, end: int, memory: int, first: int, phase: int, growth: int, output: int) -> int:
    """Least index >= `at` at which a request fits: one pass, as in policies.earliest_delay.

    A whole window of steps is passed at once where the request fits throughout, or could not even begin.
    """
    start, x, held, grows = at, at, first, at + phase
    while True:
        stop = min(end, start + output)
        if x >= stop:
            return start
        if x + _WINDOW <= stop:
            most = least = usage[x]
            for y in range(x + 1, x + _WINDOW):
                most = max(most, usage[y])
                least = min(least, usage[y])
            past = x + _WINDOW - grows
            levels = max(0, past if growth == 1 else -(-past // growth))
            if most + held + levels * growth <= memory:
                x, held, grows = x + _WINDOW, held + levels * growth, grows + levels * growth
                continue
            if least + first > memory:
                x = start = x + _WINDOW
                held, grows = first, start + phase
                continue
            stop = x + _WINDOW
        while x < stop:
            if x == grows:
                held += growth
                grows += growth
            room = memory - usage[x]
            x += 1
            if held > room:
                if first > room:
                    start, held, grows = x, first, x + phase
                else:  # `levels` increments still fit: let x - 1 be the last step before the next one
                    levels = (room - first) // growth
                    start, held, grows = x - phase - levels * growth, first + levels * growth, x


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
    usage: Ints, at: int, length: int, memory: int, growth: int, lag: int, by_peak: bool, limit: Ints
) -> None:
    """Fill ``limit[j]``, j < `length`, with the largest size that fits at index `at` with output length j + 1.

    The size is the prompt length, or the peak with the fit ``peak``. A request fits exactly if its size is at most
    the limit for its output length; beyond the last reservation the limit stays (every peak is at most M).
    """
    least = NOTHING
    for j in range(length):
        room = memory - usage[at + j]
        if not by_peak:
            room = room // growth * growth - (j + 1) + lag
        least = min(least, room)
        limit[j] = least


@njit(cache=True, nogil=True)
def _next_fit(tree: Ints, limit: Ints, length: int) -> int:
    """Least rank of a waiting request within `limit` (any, if `length` is not positive), or -1."""
    leaves, k = len(tree) // 2, 1
    while True:
        size, output = tree[k, 0], tree[k, 1]
        if size < NOTHING and (length <= 0 or size <= limit[min(output, length) - 1]):
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
def backfill(
    first: Ints,
    phase: Ints,
    output: Ints,
    arrival: Ints,
    coming: Ints,
    growth: int,
    memory: int,
    starts: Ints,
    queue: Ints,
    size: Ints,
    lag: int,
    by_peak: bool,
    depth: int,
    tree: Ints,
    limit: Ints,
    usage: Ints,
    state: Ints,
    budget: int,
) -> int:
    """Start every request that fits and delays none of the first `depth` waiting requests.

    Depth 0 is skip-ahead admission, depth 1 EASY backfilling, depth n conservative backfilling. The first waiting
    requests, at most `depth`, have plans (``queue[:state[PLANNED]]``, ascending; when they start is in `starts`,
    what they reserve in `usage`); the other waiting ones are in `tree`. A plan is made only when one of the others
    would fit now: plans made later would be the same, and plans can only keep others from starting. An arrival
    voids the plans of those after it. Between events the clock jumps to the earliest time at which a request as
    small as the smallest and as short as the shortest could start.

    `usage` is at least eight times as long as the longest output, `limit` as long. Returns TOO_SHORT if `usage` is
    too short for the next plan: give a longer copy and resume.
    """
    n, longest = len(first), len(limit)
    while state[WAITING] or state[NEXT_EVENT] < n:
        if budget < 0:
            return PAUSED
        if not state[WAITING]:
            state[NOW] = max(state[NOW], arrival[coming[state[NEXT_EVENT]]])
        if 2 * (state[NOW] - state[BASE]) > len(usage):
            _rebase(usage, state)
        now, base = state[NOW], state[BASE]
        at = now - base
        while state[NEXT_EVENT] < n and arrival[coming[state[NEXT_EVENT]]] <= now:
            rank = coming[state[NEXT_EVENT]]
            _set_leaf(tree, rank, size[rank], output[rank])
            while state[PLANNED] and queue[state[PLANNED] - 1] > rank:
                state[PLANNED] -= 1
                void = queue[state[PLANNED]]
                _occupy(usage, starts[void] - base, first[void], phase[void], growth, output[void], -1)
                _set_leaf(tree, void, size[void], output[void])
                budget -= output[void]
            state[WAITING] += 1
            state[NEXT_EVENT] += 1
        kept = 0
        for k in range(state[PLANNED]):
            if starts[queue[k]] > now:
                queue[kept] = queue[k]
                kept += 1
        state[WAITING] -= state[PLANNED] - kept
        state[PLANNED] = kept
        while True:
            length = min(longest, state[END] - at)
            _largest_sizes(usage, at, length, memory, growth, lag, by_peak, limit)
            rank = _next_fit(tree, limit, length)
            if rank < 0:
                break
            if state[PLANNED] < depth:
                rank = _next_fit(tree, limit, 0)
            if max(at, state[END]) + output[rank] > len(usage):
                return TOO_SHORT
            start = at
            if state[PLANNED] < depth:
                start = _earliest(usage, at, state[END], memory, first[rank], phase[rank], growth, output[rank])
            _occupy(usage, start, first[rank], phase[rank], growth, output[rank], 1)
            state[END] = max(state[END], start + output[rank])
            starts[rank] = start + base
            _set_leaf(tree, rank, NOTHING, NOTHING)
            if start > at:
                queue[state[PLANNED]] = rank
                state[PLANNED] += 1
            else:
                state[WAITING] -= 1
            budget -= length + start - at + 2 * output[rank]
            if budget < 0:
                return PAUSED
        later = NOTHING
        if state[NEXT_EVENT] < n:
            later = arrival[coming[state[NEXT_EVENT]]]
        for k in range(state[PLANNED]):
            later = min(later, starts[queue[k]])
        if state[WAITING] > state[PLANNED]:
            least, shortest = tree[1, 0], tree[1, 1]
            if by_peak:
                tokens, steps = least, shortest
            else:
                tokens = -(-(least + 1 - lag) // growth) * growth
                steps = (lag - least - 1) % growth + 1
            start = _earliest(usage, at + 1, state[END], memory, tokens, steps, growth, shortest)
            later = min(later, start + base)
            budget -= start - at
        budget -= length + state[PLANNED] + (state[WAITING] - state[PLANNED]) // 4
        state[NOW] = min(later, 2**61)
    return FINISHED
