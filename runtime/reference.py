"""The simulator that defines the semantics: one loop turn is one step, every decision a call of the pure policies.

Slow on purpose. The compiled kernels must agree with it start for start (tests/runtime/test_simulator.py).

At time ``t``, before step ``t + 1``: requests that are done leave; requests with arrival at most ``t`` join the
waiting queue; if the running ones need more than M tokens in step ``t + 1``, those started last are preempted and
nothing starts; otherwise the admission rule says which waiting requests start.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from runtime.policies import Job, admit, victims
from theory.model import MemoryModel


def reference_simulate(
    prompts: Sequence[int],
    outputs: Sequence[int],
    arrivals: Sequence[int],
    ranks: Sequence[int],
    known: Sequence[int],
    memory: int,
    memory_model: MemoryModel,
    admission: str,
    fit: str,
) -> tuple[list[int], list[int], list[int]]:
    """Start (the first one), completion and number of preemptions of every request.

    Parameters
    ----------
    prompts, outputs, arrivals : sequences of int
        Prompt lengths, true output lengths (tokens) and arrivals (steps).
    ranks : sequence of int
        Position of every request in key order; smaller ranks go first.
    known : sequence of int
        Output lengths that the admission rule sees (tokens).
    memory, memory_model, admission, fit
        As in :func:`runtime.policies.admit`.

    Examples
    --------
    >>> from theory.model import PAPER
    >>> reference_simulate([1, 1], [2, 2], [0, 0], [1, 0], [2, 2], 4, PAPER, "strict", "lookahead")
    ([2, 0], [4, 2], [0, 0])
    """
    n = len(prompts)
    starts, completions, preemptions, done = [-1] * n, [0] * n, [0] * n, [0] * n
    coming = sorted(range(n), key=lambda i: (arrivals[i], ranks[i]), reverse=True)
    waiting: list[int] = []
    running: list[int] = []
    now = 0
    while coming or waiting or running:
        if not waiting and not running:
            now = max(now, arrivals[coming[-1]])
        while coming and arrivals[coming[-1]] <= now:
            insort(waiting, coming.pop(), key=lambda i: ranks[i])
        active = [Job(prompts[i], known[i], done[i]) for i in running]
        stay = len(running) - victims(active, memory, memory_model)
        if stay < len(running):
            for i in running[stay:]:
                preemptions[i] += 1
                insort(waiting, i, key=lambda i: ranks[i])
            del running[stay:]
        elif waiting:
            queue = [Job(prompts[i], known[i], done[i]) for i in waiting]
            started = [waiting[k] for k in admit(queue, active, memory, memory_model, admission, fit)]
            for i in started:
                starts[i] = now if starts[i] < 0 else starts[i]
                waiting.remove(i)
            running += started
        now += 1
        for i in running:
            done[i] += 1
            completions[i] = now
        running = [i for i in running if done[i] < outputs[i]]
    return starts, completions, preemptions
