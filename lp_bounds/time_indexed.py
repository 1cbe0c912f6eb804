"""The one time-indexed formulation of the optimum that every linear and integer solver here gets.

Requests with the same prompt, output and arrival form a *type*. The variable ``x[type, t]`` says how many requests
of the type start at time t: their sum over t is the number of requests of the type, and in each step what all
started requests hold is at most the memory. The cost of a start is ``t + output - arrival``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from theory.errors import InputError
from theory.model import Instance, Schedule

#: Most nonzero coefficients of the memory rows that are worth building (about 2 GB).
MAX_NONZEROS = 50_000_000


@dataclass(frozen=True)
class TimeIndexed:
    """Columns (one per type and start time) and rows (one per type, one per step).

    Attributes
    ----------
    members : tuple of tuples of int
        For each type, the indices of its requests.
    kind, start, cost : int64 arrays, one entry per column
        Type, start time (steps) and latency (steps) of a start.
    assignment : sparse array (types, columns)
        ``assignment @ x = count``.
    count : int64 array
        Number of requests of each type.
    usage : sparse array (steps, columns)
        ``usage @ x <= capacity``; row i is step ``i + 1``, entries in tokens.
    capacity : int64 array
        The memory, for each step.
    """

    members: tuple[tuple[int, ...], ...]
    kind: NDArray[np.int64]
    start: NDArray[np.int64]
    cost: NDArray[np.int64]
    assignment: Any
    count: NDArray[np.int64]
    usage: Any
    capacity: NDArray[np.int64]

    def schedule(self, x: NDArray[np.int64]) -> Schedule | None:
        """The schedule that starts ``x[c]`` requests per column, or None if the numbers do not add up."""
        starts = [0] * int(self.count.sum())
        for k, requests in enumerate(self.members):
            times = np.repeat(self.start[self.kind == k], np.maximum(x[self.kind == k], 0))
            if len(times) != len(requests):
                return None
            for request, t in zip(requests, times.tolist(), strict=True):
                starts[request] = t
        return Schedule(tuple(starts))


def horizon(instance: Instance) -> int:
    """A time by which some optimal schedule has finished: the last arrival plus all outputs (steps).

    After the last arrival an optimal schedule has no empty step before its end (else all later starts could be one
    step earlier), and a step that is not empty uses up at least one step of one request.
    """
    return max((r.arrival for r in instance.requests), default=0) + instance.total_output


def formulate(instance: Instance, upper_bound: int | None = None) -> TimeIndexed:
    """Build the formulation with starts up to the horizon.

    Parameters
    ----------
    instance : Instance
        Any memory model, burst or release dates.
    upper_bound : int, optional
        The total latency of a known schedule. Starts that no schedule as good can have are left out: as every
        other request costs at least its output, ``t_k - a_k <= upper_bound - sum of all outputs``. The integer
        optimum stays; the linear relaxation may rise, and bounds OPT only if `upper_bound` does.

    Raises
    ------
    InputError
        If the formulation would be huge.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> model = formulate(Instance(4, [Request(3, 1), Request(3, 1), Request(0, 2)]))
    >>> model.count.tolist(), model.members, model.kind.tolist(), model.start.tolist(), model.cost.tolist()
    ([1, 2], ((2,), (0, 1)), [0, 0, 0, 1, 1, 1, 1], [0, 1, 2, 0, 1, 2, 3], [2, 3, 4, 1, 2, 3, 4])
    """
    end = horizon(instance)
    slack = end if upper_bound is None else max(0, upper_bound - instance.total_output)
    grouped: dict[tuple[int, int, int], list[int]] = {}
    for i, r in enumerate(instance.requests):
        grouped.setdefault((r.prompt, r.output, r.arrival), []).append(i)
    types = sorted(grouped)
    windows = [np.arange(a, min(end - o, a + slack) + 1) for _, o, a in types]
    nonzeros = sum(o * len(window) for (_, o, _), window in zip(types, windows, strict=True))
    if nonzeros > MAX_NONZEROS:
        raise InputError(
            "time-indexed formulation",
            f"would have {nonzeros} coefficients, more than {MAX_NONZEROS}",
            "use the mean busy time bound, or fewer or shorter requests",
        )
    kind = np.repeat(np.arange(len(types)), [len(window) for window in windows])
    start = np.concatenate([np.zeros(0, dtype=np.int64), *windows])
    outputs = np.array([o for _, o, _ in types], dtype=np.int64)
    arrivals = np.array([a for _, _, a in types], dtype=np.int64)
    return TimeIndexed(
        members=tuple(tuple(grouped[t]) for t in types),
        kind=kind,
        start=start,
        cost=start + outputs[kind] - arrivals[kind],
        assignment=_matrix(np.ones(len(kind)), kind, np.arange(len(kind)), (len(types), len(kind))),
        count=np.array([len(grouped[t]) for t in types], dtype=np.int64),
        usage=_usage(instance, types, windows, end),
        capacity=np.full(end, instance.memory, dtype=np.int64),
    )


def serial_schedule(instance: Instance) -> Schedule:
    """Place the requests by ascending volume, each at its earliest feasible start: a quick upper bound on OPT.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> serial_schedule(Instance(4, [Request(3, 1), Request(3, 1), Request(0, 2)]))
    Schedule(starts=(2, 3, 0))
    """
    model = instance.memory_model
    free = np.full(horizon(instance), instance.memory, dtype=np.int64)
    starts = [0] * len(instance)
    volumes = [model.volume(r.prompt, r.output) for r in instance.requests]
    for i in sorted(range(len(starts)), key=volumes.__getitem__):
        r = instance.requests[i]
        held = held_tokens(instance, r.prompt, r.output)
        t = r.arrival
        while (free[t : t + r.output] < held).any():
            t += 1
        free[t : t + r.output] -= held
        starts[i] = t
    return Schedule(tuple(starts))


def held_tokens(instance: Instance, prompt: int, output: int) -> NDArray[np.int64]:
    """Tokens held in the steps 1, ..., output of a request."""
    return np.array([instance.memory_model.held(prompt, j) for j in range(1, output + 1)], dtype=np.int64)


def _usage(instance: Instance, types: list[tuple[int, int, int]], windows: list[NDArray[np.int64]], end: int) -> Any:
    """Tokens held in each step (row) by one start of each column."""
    values, rows = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    lengths = [np.zeros(0, dtype=np.int64)]
    for (s, o, _), window in zip(types, windows, strict=True):
        values.append(np.tile(held_tokens(instance, s, o), len(window)))
        rows.append((window[:, None] + np.arange(o)).ravel())
        lengths.append(np.full(len(window), o))
    per_column = np.concatenate(lengths)
    columns = np.repeat(np.arange(len(per_column)), per_column)
    return _matrix(np.concatenate(values), np.concatenate(rows), columns, (end, len(per_column)))


def _matrix(values: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    return sparse.csr_array((values.astype(np.float64), (rows, columns)), shape=shape)
