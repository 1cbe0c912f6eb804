"""Exact search for the optimum through time, layer by layer, with Lagrangian bounds from a pool of multipliers.

A state at time t is (requests of each type not yet started, tokens the running ones will hold in each later step); with
its cost so far, the sum of the start times, nothing else matters. All multisets of requests that fit can start at t;
then time moves on by one step. A state is dropped only if no schedule with a latency below the best known one, or no optimal
one, goes through it, or if a state that is kept has such a completion whenever the dropped one has:

* **Bound.** For multipliers lam >= 0 of the memory rows, any completion costs at least: cost so far, plus for each request to
  start the least of ``t' + sum_j lam_{t'+j} held_j`` over its starts t', plus lam times the tokens that the running ones will
  hold, minus memory times all lam after t. It holds for each vector of a pool; the pool grows at each layer by vectors
  that dual ascent finds for states picked at random.
* **Look-ahead.** A request that does not fit beside the running ones before time e starts at e or later.
* **Idling.** If nothing runs, nothing starts and all that remain are released, all can move one step earlier.
* **Left shift.** In an optimal schedule no request can start one step earlier, the others unmoved. The step before a start at t
  that has room for the first tokens of the request (released by then) obliges some step from t + 1 to t + output - 1 to have less room
  than a request grows by in one step at most (`Types.tight`): moved, the request holds its first tokens
  one step earlier and at most so much more in each of its steps but the last. The state keeps the first deadline.
* **Dominance.** Of two states with the same requests to start, one that has cost no more and holds no more in any step is
  enough. This agrees with the other rules: if the dropped one has an optimal completion, so has the kept one, and a
  schedule that is optimal passes every rule above. So a state also keeps the tighter of two histories of equal cost.

Every comparison that drops a state is between 64-bit integers that cannot overflow (see :func:`scale_for`).
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lp_bounds import exact_kernels as kernels
from lp_bounds.exact_ascent import ascend, root_prices
from lp_bounds.exact_kernels import NEVER, Layer, Pool, Types

VECTORS = 64  #: multiplier vectors in use at a time
ROOM = 2 << 30  #: bytes of states kept
CHUNK = 100_000  #: states generated between two looks at the clock
RIVALS = 64  #: states that a state is compared with for dominance


class Interrupted(Exception):
    """The time or the memory allowed is used up."""


class Found(NamedTuple):
    """A better schedule: start times by type, and their sum."""

    starts: list[list[int]]
    cost: int


def scale_for(types: Types, count: NDArray[np.int64], last: int) -> int:
    """Return the denominator of the multipliers: as fine as 31-bit start costs and 62-bit sums allow."""
    number = int(count.sum())
    longest = types.held.shape[1]
    bits = 31 - (last + 1).bit_length()
    weight = (number + longest) * max(int(types.memory), number, 1)
    return 1 << max(0, min(20, bits, 61 - 31 - weight.bit_length()))


class Search:
    """Layered search over one instance; multipliers found in one run serve the next.

    Parameters
    ----------
    types : Types
        The types; `count` gives the number of requests of each.
    last : int
        Time from which on all multipliers are 0 (steps).
    prices : float array
        First multipliers, one per step from 0 to `last`.
    """

    def __init__(self, types: Types, count: NDArray[np.int64], last: int, seed: int = 0) -> None:
        kinds = len(count)
        self.types, self.count, self.last = types, count, last
        self.scale = scale_for(types, count, last)
        self.pool = Pool(
            price=np.zeros((last + 1, VECTORS), np.uint32),
            least=np.zeros((last + 1, kinds, VECTORS), np.uint32),
            cost=np.zeros((last + 1, kinds, VECTORS), np.uint32),
            tail=np.zeros((last + 1, VECTORS), np.int64),
            scale=self.scale,
        )
        self.vectors, self.states = 0, 0
        self.hits = np.zeros(VECTORS, np.int64)
        self.seed = seed
        self.root = root_prices(types, count, last)
        self.add(self.root)

    def add(self, prices: NDArray[np.float64]) -> None:
        """Add a vector to the pool, in place of the one that dropped the fewest states once the pool is full."""
        if self.vectors < VECTORS:
            q = self.vectors
            self.vectors += 1
        else:
            q = 1 + int(np.argmin(self.hits[1:]))
        self.hits[q] = np.iinfo(np.int64).max  # not to be replaced before it was tried
        whole = np.rint(np.minimum(prices[: self.last + 1] * self.scale, 2.0**31)).astype(np.uint32)
        whole[0] = whole[self.last] = 0
        self.pool.price[:, q] = whole
        kernels.fill_vector(self.types, self.pool, q)

    def root_bound(self) -> int:
        """`scale` times the bound of the first vector on the sum of the start times."""
        first = [int(self.pool.least[0, k, 0]) * int(c) for k, c in enumerate(self.count)]
        return sum(first) - int(self.pool.tail[0, 0])

    def run(self, upper_bound: int, width: int | None, deadline: float) -> Found | None:
        """Find a schedule whose starts sum to less than `upper_bound`: the best one if `width` is None, else by beam search.

        Raises
        ------
        Interrupted
            At `deadline` (time.monotonic) or when memory is used up; ``self.best`` holds what was found.
        """
        types, pool = self.types, self.pool
        random = np.random.default_rng(self.seed)
        self.best: Found | None = None
        target = self.scale * (upper_bound - 1)
        t = int(types.arrival.min())
        layer = self._new(1)
        layer.left[0], layer.used[0], layer.deadline[0] = self.count, types.memory, NEVER
        trail: list[tuple[int, NDArray[np.uint16], NDArray[np.int32]]] = []
        per_state = 1 << 60 if width is None else 8 * width
        capacity, held = 1 << 12, 0
        goal = np.zeros(3, np.int64)
        size = 1
        while size:
            trail.append((t, layer.left[:size].astype(np.uint16), layer.parent[:size].copy()))
            held += trail[-1][1].nbytes + trail[-1][2].nbytes
            new, table = self._new(capacity), np.full(4 * capacity, -1, np.int32)
            state = filled = 0
            while state < size:
                state, filled, target, _, reason = kernels.expand(
                    types,
                    pool,
                    self.vectors,
                    t,
                    layer,
                    state,
                    size,
                    target,
                    new,
                    filled,
                    table,
                    CHUNK,
                    per_state,
                    goal,
                )
                if goal[1]:
                    self.best = self._trace(trail, int(goal[0]), int(goal[1]))
                    goal[1] = 0
                if time.monotonic() > deadline:
                    raise Interrupted
                if reason == kernels.FULL:
                    capacity *= 2
                    if held + 3 * capacity * self._bytes() > ROOM:
                        raise Interrupted
                    new, table = self._grown(new, filled, capacity)
            t += 1
            chosen = self._prune(t, new, filled, target, random, width)
            layer = Layer(*(a[chosen] for a in new))
            size = len(chosen)
            self.states += size
        return self.best

    def _prune(
        self, t: int, new: Layer, filled: int, target: int, random: np.random.Generator, width: int | None
    ) -> NDArray[np.int64]:
        """Indices of the states to go on with: not dominated, not dropped by the pool, which grows; the best if `width`."""
        keys, chosen = np.zeros(filled, np.uint64), np.zeros(filled, np.int64)
        kernels.group_keys(new.left[:filled], keys)
        order = np.lexsort((new.profile[:filled].sum(axis=1), new.cost[:filled], keys))
        chosen = chosen[: kernels.undominated(new, keys, order, RIVALS, chosen)]
        self.hits //= 2
        for _ in range(3 if width is None else 1):
            before = len(chosen)
            picks = min(12, before // 40)
            if picks == 0:
                break
            for s in random.choice(chosen, picks, replace=False):
                prices = np.zeros(self.last + 1 + types_length(self.types))
                prices[: self.last + 1] = self.root
                goal = target / self.scale + 1 - float(new.cost[s])
                ascend(self.types, t, new.left[s], new.profile[s], prices, self.last, goal, 150)
                self.add(prices)
            self.hits[self.hits == np.iinfo(np.int64).max] = 0
            kept = kernels.filter_layer(self.types, self.pool, self.vectors, t, new, chosen, target, self.hits)
            chosen = chosen[:kept]
            if kept > 0.9 * before:
                break
        if width is not None and len(chosen) > width:
            chosen = chosen[np.argpartition(-new.score[chosen], width)[:width]]
        return chosen

    def _new(self, capacity: int) -> Layer:
        kinds, length = len(self.count), types_length(self.types)
        return Layer(
            left=np.zeros((capacity, kinds), np.uint32),
            profile=np.zeros((capacity, length), np.uint32),
            cost=np.zeros(capacity, np.int64),
            used=np.zeros(capacity, np.int64),
            deadline=np.zeros(capacity, np.int64),
            parent=np.zeros(capacity, np.int32),
            score=np.zeros(capacity, np.int64),
        )

    def _bytes(self) -> int:
        return 4 * (len(self.count) + types_length(self.types)) + 36 + 16

    def _grown(self, old: Layer, filled: int, capacity: int) -> tuple[Layer, NDArray[np.int32]]:
        new, table = self._new(capacity), np.full(4 * capacity, -1, np.int32)
        for a, b in zip(new, old, strict=True):
            a[:filled] = b[:filled]
        kernels.rehash(new, filled, table)
        return new, table

    def _trace(
        self, trail: list[tuple[int, NDArray[np.uint16], NDArray[np.int32]]], state: int, cost: int
    ) -> Found:
        """Start times along the path to `state`, from which all that remain start at the time of its layer."""
        starts: list[list[int]] = [[] for _ in self.count]
        after = np.zeros(len(self.count), np.int64)
        for t, left, parent in reversed(trail):
            for k, number in enumerate(left[state].astype(np.int64) - after):
                starts[k].extend([t] * int(number))
            after = left[state].astype(np.int64)
            state = int(parent[state])
        return Found(starts, cost)


def types_length(types: Types) -> int:
    """Longest output (steps)."""
    return int(types.held.shape[1])
