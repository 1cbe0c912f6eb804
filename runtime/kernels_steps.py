"""A compiled kernel for wrong known lengths: step by step, with overruns, early ends and preemptions.

The same rules as :mod:`runtime.policies` and :mod:`runtime.reference`, which see for what they mean. Requests are
numbered by rank (position in key order). ``usage[x]`` is what is reserved ``x + 1`` steps from now.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: What the kernel returns, as in runtime.kernels.
FINISHED, PAUSED, TOO_SHORT = 0, 1, 2
#: Indices into the state.
NOW, NEXT_EVENT, WAITING, RUNNING = range(4)
STATE_SIZE = 4


@njit(cache=True, nogil=True)
def _held(prompt: int, step: int, lag: int, block: int) -> int:
    tokens = prompt + step - lag
    return tokens if block == 1 else -(-tokens // block) * block


@njit(cache=True, nogil=True)
def _reserve(
    usage: Ints, delay: int, prompt: int, known: int, done: int, memory: int, lag: int, block: int, by_peak: bool
) -> None:
    last = max(known, done + 1)
    for step in range(done + 1, last + 1):
        tokens = _held(prompt, last if by_peak else step, lag, block)
        usage[delay + step - done - 1] += min(tokens, memory)


@njit(cache=True, nogil=True)
def _delay(
    usage: Ints,
    end: int,
    patience: int,
    prompt: int,
    known: int,
    done: int,
    memory: int,
    lag: int,
    block: int,
    by_peak: bool,
) -> int:
    """Least delay with which a request fits, or some delay above `patience` if it is above."""
    last = max(known, done + 1)
    delay, x = 0, 0
    while x < end and x < delay + last - done and delay <= patience:
        tokens = _held(prompt, last if by_peak else done + 1 + x - delay, lag, block)
        room = memory - usage[x]
        if min(tokens, memory) > room:
            young = 0 if by_peak else room // block * block - prompt + lag - done  # steps in which it would fit
            delay = x + 1 - max(0, young)
        x += 1
    return delay


@njit(cache=True, nogil=True)
def _insert(queue: Ints, size: int, rank: int) -> None:
    k = size
    while k > 0 and queue[k - 1] > rank:
        queue[k] = queue[k - 1]
        k -= 1
    queue[k] = rank


@njit(cache=True, nogil=True)
def run(
    prompt: Ints,
    output: Ints,
    arrival: Ints,
    known: Ints,
    coming: Ints,
    memory: int,
    lag: int,
    block: int,
    by_peak: bool,
    stop_at_first: bool,
    depth: int,
    starts: Ints,
    completions: Ints,
    preemptions: Ints,
    done: Ints,
    queue: Ints,
    running: Ints,
    chosen: Ints,
    usage: Ints,
    state: Ints,
    budget: int,
) -> int:
    """Run all requests; about `budget` elementary operations a call, then resume.

    `stop_at_first` (with `depth` 0) is strict admission; else `depth` waiting requests get reservations (0
    skip-ahead, 1 EASY, n conservative backfilling). As in runtime.kernels.backfill nobody is planned unless
    somebody fits now. `usage` is all 0 between steps. Returns TOO_SHORT if it is too short for a plan: give a
    longer one and resume.
    """
    n = len(prompt)
    while state[WAITING] or state[RUNNING] or state[NEXT_EVENT] < n:
        if budget < 0:
            return PAUSED
        if not state[WAITING] and not state[RUNNING]:
            state[NOW] = max(state[NOW], arrival[coming[state[NEXT_EVENT]]])
        while state[NEXT_EVENT] < n and arrival[coming[state[NEXT_EVENT]]] <= state[NOW]:
            _insert(queue, state[WAITING], coming[state[NEXT_EVENT]])
            state[WAITING] += 1
            state[NEXT_EVENT] += 1
        need, stay = 0, 0
        while stay < state[RUNNING]:
            rank = running[stay]
            need += _held(prompt[rank], done[rank] + 1, lag, block)
            if need > memory:
                break
            stay += 1
        waiting = state[WAITING]
        if stay < state[RUNNING]:
            for k in range(stay, state[RUNNING]):
                preemptions[running[k]] += 1
                _insert(queue, state[WAITING], running[k])
                state[WAITING] += 1
            state[RUNNING] = stay
        elif waiting:
            end = 0
            for k in range(stay):
                rank = running[k]
                _reserve(usage, 0, prompt[rank], known[rank], done[rank], memory, lag, block, by_peak)
                end = max(end, known[rank] - done[rank], 1)
                budget -= max(known[rank] - done[rank], 1)
            chosen[:waiting] = 0
            head, at, plans, short = 0, 0, 0, False  # `head` is the first without start or plan, `at` may fit now
            while True:
                while at < waiting:
                    rank = queue[at]
                    if not _delay(usage, end, 0, prompt[rank], known[rank], done[rank], memory, lag, block, by_peak):
                        break
                    if stop_at_first:
                        at = waiting
                    at += 1
                    budget -= 4
                if at >= waiting:
                    break
                delay, position = 0, at
                if plans < depth:
                    position, rank = head, queue[head]
                    delay = _delay(usage, end, end, prompt[rank], known[rank], done[rank], memory, lag, block, by_peak)
                    budget -= delay
                rank = queue[position]
                left = max(known[rank] - done[rank], 1)
                if delay + left > len(usage):
                    short = True
                    break
                _reserve(usage, delay, prompt[rank], known[rank], done[rank], memory, lag, block, by_peak)
                end = max(end, delay + left)
                budget -= 2 * left
                plans += delay > 0
                chosen[position] = delay == 0
                head = max(head, position + 1) if plans < depth else head
                at = max(at, position + 1)
            usage[:end] = 0
            if short:
                return TOO_SHORT
            kept = 0
            for k in range(waiting):
                rank = queue[k]
                if chosen[k]:
                    running[state[RUNNING]] = rank
                    state[RUNNING] += 1
                    if starts[rank] < 0:
                        starts[rank] = state[NOW]
                else:
                    queue[kept] = rank
                    kept += 1
            state[WAITING] = kept
        state[NOW] += 1
        left = 0
        for k in range(state[RUNNING]):
            rank = running[k]
            done[rank] += 1
            if done[rank] == output[rank]:
                completions[rank] = state[NOW]
            else:
                running[left] = rank
                left += 1
        state[RUNNING] = left
        budget -= 10 + waiting
    return FINISHED
