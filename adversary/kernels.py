"""Compiled evaluation of bursts with few types: what a policy costs, and how cheap a schedule can be.

Equal requests that start together are one *batch*, so the work depends on how many batches run at a time, not on
how long, wide or many the requests are. Between two completions the tokens held only grow (starts add, what runs
grows), so a start fits exactly if the memory suffices in every step in which a batch ends, its own included.

``rows[b] = (start, end, prompt, count, load)``: a batch and the tokens held (reserved, with `by_peak`) by all
batches in its last step. ``log[l] = (group, start, count)`` tells the schedule. Groups are lines of the instance:
`count` requests of one type. All kernels stop, with the cost `STOPPED`, once the cost reaches `cutoff` or
``spent[0]`` elementary operations exceed ``spent[1]``.

All of them live in one file because numba's cache on disk only looks at the file of the function it loads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adversary.compiled import jit

Ints = NDArray[np.int64]

START, END, PROMPT, COUNT, LOAD = range(5)
STRICT, SKIP, CONSERVATIVE, EASY = range(4)
#: Cost of a schedule that was not finished.
STOPPED = 1 << 62
NEVER = 1 << 62


@jit
def room(rows: Ints, size: int, memory: int, by_peak: bool, now: int, prompt: int, output: int) -> tuple[int, int]:
    """How many requests of a type can start together now; and a time before which, if none can, none will.

    If the memory left in the last step x of a batch is too small, a start before x must be so late that the
    request holds no more than that in step x.
    """
    end, most, later, load = now + output, NEVER, now, 0
    for b in range(size):
        last = rows[b, END]
        if last <= now:
            continue
        if last <= end:
            held = prompt + (output if by_peak else last - now)
            left = memory - rows[b, LOAD]
            if left < held:
                later = max(later, last if by_peak else last - max(0, left - prompt))
                most = 0
            else:
                most = min(most, left // held)
        if rows[b, START] < end <= last:
            reach = last if by_peak else end
            load += rows[b, COUNT] * (rows[b, PROMPT] + reach - rows[b, START])
    left, held = memory - load, prompt + output
    if left < held:
        later = max(later, end if by_peak else end - max(0, left - prompt))
        most = 0
    return min(most, left // held), later


@jit
def add(rows: Ints, size: int, by_peak: bool, now: int, prompt: int, output: int, count: int) -> int:
    """Add a batch; return the number of batches."""
    end, load = now + output, count * (prompt + output)
    for b in range(size):
        last = rows[b, END]
        if now < last <= end:
            rows[b, LOAD] += count * (prompt + (output if by_peak else last - now))
        if rows[b, START] < end <= last:
            reach = last if by_peak else end
            load += rows[b, COUNT] * (rows[b, PROMPT] + reach - rows[b, START])
    rows[size, START], rows[size, END], rows[size, PROMPT] = now, end, prompt
    rows[size, COUNT], rows[size, LOAD] = count, load
    return size + 1


@jit
def forget(rows: Ints, size: int, now: int) -> int:
    """Drop the batches that have ended; return how many are left."""
    kept = 0
    for b in range(size):
        if rows[b, END] > now:
            rows[kept] = rows[b]
            kept += 1
    return kept


@jit
def serial(
    order: Ints, kind: Ints, count: Ints, prompt: Ints, output: Ints, memory: int, monotone: bool, by_peak: bool,
    paced: Ints, rows: Ints, log: Ints, cutoff: int, spent: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Give every request, group by group, the earliest start that fits; return cost and number of log lines.

    With `monotone` no request starts before one that precedes it: strict admission. Without it, this is
    conservative backfilling of a burst. Types with ``paced[k]`` start no faster than an ideal server of speed M
    would do their volume, so that equal requests do not peak together.
    """
    size, lines, cost, floor = 0, 0, 0, 0
    for g in order:
        k, left, now, free = kind[g], count[g], floor, 0
        volume = prompt[k] * output[k] + output[k] * (output[k] + 1) // 2
        while left > 0:
            spent[0] += size + 4
            if cost >= cutoff or spent[0] > spent[1]:
                return STOPPED, lines
            if paced[k]:
                now = max(now, free // memory)
            most, later = room(rows, size, memory, by_peak, now, prompt[k], output[k])
            if most == 0:
                now = later
                continue
            if monotone:
                size, floor = forget(rows, size, now), now
            most = min(most, left)
            if paced[k]:
                free = max(free, now * memory)
                most = min(most, ((now + 1) * memory - free + volume - 1) // volume)
                free += most * volume
            size = add(rows, size, by_peak, now, prompt[k], output[k], most)
            log[lines, 0], log[lines, 1], log[lines, 2] = g, now, most
            lines += 1
            cost += most * (now + output[k])
            left -= most
    return cost, lines


@jit
def backfill(
    order: Ints, kind: Ints, count: Ints, prompt: Ints, output: Ints, memory: int, easy: bool, by_peak: bool,
    rows: Ints, log: Ints, cutoff: int, spent: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Skip-ahead admission, or with `easy` the rule that reserves a start for the head; cost and log lines."""
    left, refused = count.copy(), np.zeros(len(prompt), np.bool_)
    size, lines, cost, now, waiting, planned = 0, 0, 0, 0, count.sum(), 0
    while waiting > 0:
        size, wake = forget(rows, size, now), NEVER
        refused[:] = False
        if planned > now:
            wake = planned
        for g in order:
            k = kind[g]
            if left[g] == 0 or refused[k]:
                continue
            spent[0] += size + 4
            if cost >= cutoff or spent[0] > spent[1]:
                return STOPPED, lines
            most, later = room(rows, size, memory, by_peak, now, prompt[k], output[k])
            most = min(most, left[g])
            if most > 0:
                size = add(rows, size, by_peak, now, prompt[k], output[k], most)
                log[lines, 0], log[lines, 1], log[lines, 2] = g, now, most
                lines += 1
                cost += most * (now + output[k])
                left[g] -= most
                waiting -= most
                if left[g] == 0:
                    continue
                most, later = room(rows, size, memory, by_peak, now, prompt[k], output[k])
            refused[k] = True
            if easy and planned <= now:
                start, most = later, 0
                while most == 0:
                    spent[0] += size + 4
                    most, later = room(rows, size, memory, by_peak, start, prompt[k], output[k])
                    if most == 0:
                        start = later
                size = add(rows, size, by_peak, start, prompt[k], output[k], 1)
                log[lines, 0], log[lines, 1], log[lines, 2] = g, start, 1
                lines += 1
                cost += start + output[k]
                left[g] -= 1
                waiting -= 1
                planned = later = start
            wake = min(wake, later)
        now = wake
    return cost, lines


@jit
def run(
    order: Ints, kind: Ints, count: Ints, prompt: Ints, output: Ints, memory: int, admission: int, by_peak: bool,
    rows: Ints, log: Ints, spent: Ints,
) -> tuple[int, int]:  # fmt: skip
    """What a policy does: groups in key order under an admission rule; cost and log lines."""
    if admission in (SKIP, EASY):
        return backfill(
            order, kind, count, prompt, output, memory, admission == EASY, by_peak, rows, log, STOPPED, spent
        )
    paced = np.zeros(len(prompt), np.int64)
    return serial(
        order, kind, count, prompt, output, memory, admission == STRICT, by_peak, paced, rows, log, STOPPED, spent
    )


@jit
def good_schedule(
    orders: Ints, count: Ints, prompt: Ints, output: Ints, memory: int, rows: Ints, log: Ints, spent: Ints
) -> tuple[int, int, int, bool]:
    """The cheapest of a set of schedules: cost, row of `orders`, paced types as bits, whether monotone.

    Every order of the types in `orders`, by earliest fit with and without overtaking; then the best of them with
    every set of types paced. Here a group is a type, so ``kind[k] = k``.
    """
    types = len(prompt)
    kind, paced = np.arange(types), np.zeros(types, np.int64)
    best, best_order, best_mask, best_monotone = STOPPED, 0, 0, False
    for p in range(len(orders)):
        for monotone in (False, True):
            cost, _ = serial(
                orders[p], kind, count, prompt, output, memory, monotone, False, paced, rows, log, best, spent
            )
            if cost < best:
                best, best_order, best_monotone = cost, p, monotone
    if best < STOPPED:
        for mask in range(1, 1 << types):
            for k in range(types):
                paced[k] = mask >> k & 1
            cost, _ = serial(
                orders[best_order], kind, count, prompt, output, memory, best_monotone, False, paced, rows, log,
                best, spent,
            )  # fmt: skip
            if cost < best:
                best, best_mask = cost, mask
    return best, best_order, best_mask, best_monotone


@jit
def evaluate(
    order: Ints, kind: Ints, group_count: Ints, orders: Ints, count: Ints, prompt: Ints, output: Ints,
    memory: int, admission: int, by_peak: bool, rows: Ints, log: Ints, spent: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Cost of the policy and of a good schedule (0 and 1 if that took too many operations)."""
    cost, _ = run(order, kind, group_count, prompt, output, memory, admission, by_peak, rows, log, spent)
    if cost == STOPPED:
        return 0, 1
    best, _, _, _ = good_schedule(orders, count, prompt, output, memory, rows, log, spent)
    if best == STOPPED:
        return 0, 1
    return cost, min(cost, best)
