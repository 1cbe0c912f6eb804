"""Good schedules fast: serial earliest fit over a list, improved by local search over the list and over delays.

Earliest fit in the best order is not always optimal, because memory grows while a request runs; with a delay (a
least start time) per request every schedule is within reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lp_bounds.exact_kernels import Types, jit

WARMTH = 0.7  #: steps of latency by which a trial may be worse at first, on average


@jit
def earliest_fit(types: Any, order: Any, kind: Any, delay: Any, usage: Any, starts: Any, limit: int) -> Any:
    """Give each request of `order` the earliest start from its delay on that fits; return the sum of the starts.

    `usage` is scratch (tokens per step, from step 1 at index 0). Stops early, with a number above `limit`, once
    the sum exceeds it or a request would run beyond the scratch.
    """
    usage[:] = 0
    total, previous, start, front = 0, -1, 0, 0
    least = types.held[:, 0].min()
    for request in order:
        k = kind[request]
        output = types.output[k]
        while front < len(usage) and usage[front] + least > types.memory:
            front += 1  # nothing fits before
        t = max(types.arrival[k], delay[request], front)
        if k == previous and delay[request] == 0:
            t = max(t, start)  # one of this type did not fit before
        while True:
            if t + output > len(usage):
                return limit + 1
            clash = -1
            for j in range(output - 1, -1, -1):
                if usage[t + j] + types.held[k, j] > types.memory:
                    clash = j
                    break
            if clash < 0:
                break
            # the least later start with room in step t + clash + 1, or after that step
            step = t + clash
            t += 1
            while t <= step and usage[step] + types.held[k, step - t] > types.memory:
                t += 1
        for j in range(output):
            usage[t + j] += types.held[k, j]
        starts[request] = t
        total += t
        if total > limit:
            return total
        start, previous = t, k if delay[request] == 0 else -1
    return total


@jit
def local_search(types: Any, order: Any, kind: Any, usage: Any, best: Any, rounds: int, seed: int) -> Any:
    """Swap, move and delay at random, by simulated annealing; `best` receives the starts; returns their sum."""
    np.random.seed(seed)
    n = len(order)
    delay, starts, current = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    value = earliest_fit(types, order, kind, delay, usage, current, 1 << 60)
    least = value
    best[:] = current
    trial, wait = order.copy(), delay.copy()
    for step in range(rounds):
        trial[:] = order
        wait[:] = delay
        for _ in range(1 + (np.random.random() < 0.3)):
            i, j = np.random.randint(n), np.random.randint(n)
            choice = np.random.random()
            if choice < 0.4:
                trial[i], trial[j] = trial[j], trial[i]
            elif choice < 0.75:
                moved = trial[i]
                if i < j:
                    for x in range(i, j):
                        trial[x] = trial[x + 1]
                else:
                    for x in range(i, j, -1):
                        trial[x] = trial[x - 1]
                trial[j] = moved
            elif np.random.random() < 0.5:
                wait[i] = 0
            else:
                wait[i] = current[i] + np.random.randint(1, 4)
        heat = WARMTH * (1.0 - step / rounds)
        allowed = value + np.int64(-heat * np.log(1.0 - np.random.random()))
        result = earliest_fit(types, trial, kind, wait, usage, starts, allowed)
        if result <= allowed:
            value = result
            order[:] = trial
            delay[:] = wait
            current[:] = starts
            if value < least:
                least = value
                best[:] = starts
    return least


def good_starts(types: Types, kind: NDArray[np.int64], length: int, rounds: int) -> NDArray[np.int64]:
    """Start times of a good schedule (steps), one per request.

    Parameters
    ----------
    types : Types
        The types; `kind` gives the type of each request.
    length : int
        Steps by which serial earliest fit is sure to be done.
    rounds : int
        Local search trials for each of three first orders (by volume, by output, by peak).
    """
    volume = types.held.sum(axis=1)[kind]
    output, peak, arrival = types.output[kind], types.held.max(axis=1)[kind], types.arrival[kind]
    usage = np.zeros(length + 1, dtype=np.int64)
    found: tuple[int, NDArray[np.int64]] | None = None
    for seed, key in enumerate((volume, output * peak, output, arrival * peak.sum() + volume)):
        order = np.lexsort((kind, key)).astype(np.int64)
        starts = np.zeros(len(kind), dtype=np.int64)
        value = int(local_search(types, order, kind, usage, starts, rounds, seed))
        if found is None or value < found[0]:
            found = (value, starts)
    assert found is not None
    return found[1]
