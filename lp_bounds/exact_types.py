"""An instance as arrays by type for the exact search. Equal prompt, output and arrival make one type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lp_bounds.exact_kernels import Types
from theory.model import Instance, Schedule


@dataclass(frozen=True)
class Grouped:
    """The types of an instance in ascending volume, and which requests are of each.

    Attributes
    ----------
    types : Types
        Arrays for the kernels.
    members : tuple of tuples of int
        For each type, the indices of its requests.
    count : int64 array
        How many these are.
    kind : int64 array
        The types, each repeated `count` times: one entry per request.
    constant : int
        Total latency less the sum of the start times (steps).
    """

    types: Types
    members: tuple[tuple[int, ...], ...]
    count: NDArray[np.int64]
    kind: NDArray[np.int64]
    constant: int

    def schedule(self, starts: list[list[int]]) -> Schedule:
        """The schedule with these start times, given by type."""
        order = [0] * len(self.kind)
        for members, times in zip(self.members, starts, strict=True):
            for i, t in zip(members, times, strict=True):
                order[i] = t
        return Schedule(tuple(order))

    def by_type(self, starts: NDArray[np.int64]) -> list[list[int]]:
        """Start times by type from start times per entry of `kind`."""
        ends = np.cumsum(self.count)
        return [starts[end - n : end].tolist() for end, n in zip(ends, self.count, strict=True)]


def group(instance: Instance) -> Grouped:
    """Group the requests of an instance into types.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> grouped = group(Instance(9, [Request(3, 2), Request(1, 1), Request(3, 2)]))
    >>> grouped.members, grouped.types.held.tolist(), grouped.types.waste.tolist()
    (((1,), (0, 2)), [[2, 0], [4, 5]], [0, 2, 9])
    """
    model = instance.memory_model
    indices: dict[tuple[int, int, int], list[int]] = {}
    for i, r in enumerate(instance.requests):
        indices.setdefault((r.prompt, r.output, r.arrival), []).append(i)
    keys = sorted(indices, key=lambda key: (model.volume(key[0], key[1]), key))
    count = np.array([len(indices[key]) for key in keys], dtype=np.int64)
    longest = max((output for _, output, _ in keys), default=1)
    held = np.zeros((len(keys), longest), dtype=np.int64)
    growth = 1
    for k, (prompt, output, _) in enumerate(keys):
        held[k, :output] = [model.held(prompt, j) for j in range(1, output + 1)]
        growth = max(growth, int(np.diff(held[k, :output]).max(initial=0)))
    types = Types(
        held=held,
        output=np.array([output for _, output, _ in keys], dtype=np.int64),
        arrival=np.array([arrival for _, _, arrival in keys], dtype=np.int64),
        memory=instance.memory,
        tight=growth,
        waste=np.zeros(longest + 1, dtype=np.int64),
    )
    for gap in range(1, longest + 1):
        types.waste[gap] = _least_waste(types, count, gap)
    return Grouped(
        types=types,
        members=tuple(tuple(indices[key]) for key in keys),
        count=count,
        kind=np.repeat(np.arange(len(keys)), count),
        constant=instance.total_output - sum(r.arrival for r in instance.requests),
    )


def _least_waste(types: Types, count: NDArray[np.int64], gap: int) -> int:
    """Fewest tokens free in a step if no request finishes at its end nor at those of the next ``gap - 1`` steps.

    The m requests that run hold at most the m largest holdings of requests with `gap` steps to go, and must have
    room to grow for `gap` steps. All is free if none runs.
    """
    held, number, growth = [], [], types.memory
    for k in np.flatnonzero(types.output > gap):
        now, later = types.held[k, : types.output[k] - gap], types.held[k, gap : types.output[k]]
        held.append(int(now.max()))
        number.append(int(count[k]))
        growth = min(growth, int((later - now).min()))
    largest = np.repeat(np.array(held, dtype=np.int64), number)
    totals = np.cumsum(np.sort(largest)[::-1])
    fits = types.memory - growth * np.arange(1, len(totals) + 1)
    return int(types.memory - max(0, np.minimum(totals, fits).max(initial=0)))
