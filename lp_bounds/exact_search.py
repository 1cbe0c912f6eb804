"""Exact search for the optimum through time, layer by layer, with Lagrangian bounds from a pool of multipliers.

A state at time t is: the requests of each type that have not started, and the tokens that the running ones will hold
in each later step. With its cost so far, the sum of the start times, nothing else matters. Any requests that are
released and fit start at t; then time moves on by one step. A state is dropped only if no schedule better than the
best known one passes it, or no optimal one, or if a state that is kept has such a completion whenever the dropped
one has:

* **Bound.** Let lam >= 0 be prices of tokens by step and rho >= 0 rewards for finishing by step. A completion of a
  state pays, for each request to start, its start t' plus lam times what it holds, less rho of the step at whose
  end it finishes: at least the least of this over its starts. For the running requests both are known. What the
  memory brings in is at most M times the lam after t, less what events cost (next). Cost so far, plus what the
  requests pay at least, less what the memory brings in at most, bounds the cost, for each vector of a pool. The
  pool grows at each layer by vectors that dual ascent finds for states picked at random.
* **Events.** An event is a step at whose end some request finishes. If the next one after step x is r >= 1 steps
  later, then the m requests that run in step x all run on for r steps and grow: with room for that, and as m
  requests with r steps to go hold only so much, at least ``waste[r]`` tokens are free in step x. At an event at
  least one rho is paid out. So the memory brings in at most the largest value of a path through the events,
  found backwards in time (``exact_kernels.income``).
* **Look-ahead.** A request that does not fit beside the running ones before time e starts at e or later.
* **Idling.** If nothing is held any more although all that remain are released, all can start one step earlier.
* **Left shift.** In an optimal schedule no request can start a step earlier, the others unmoved. Moved from t to
  t - 1 it holds its first tokens in step t, and at most ``tight`` more than before (its growth in one step) in each
  of the steps t + 1, ..., t + output - 1. So if step t has room for its first tokens and it was released by
  t - 1, one of those steps must have less than ``tight`` tokens free. That is a deadline, which the next such step
  lifts.
* **Dominance.** Of two states with the same requests to start, one that has cost no more and holds no more in any
  step is enough. This agrees with the other rules: if the dropped one has an optimal completion, so has the kept
  one, and a schedule that is optimal passes them all. So the history that a state remembers for the left shift rule
  may be its own, or the tighter of two of equal cost; and the finishing times that it remembers for the bound may
  be those of any way to reach it, for the bound from each is valid.

Every comparison that drops a state is between 64-bit integers that cannot overflow (`Search.largest`).
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lp_bounds import exact_kernels as kernels
from lp_bounds.exact_ascent import ascend
from lp_bounds.exact_expand import CUT, FULL, expand, rehash, scratch
from lp_bounds.exact_kernels import NEVER, Layer, Pool, Types

VECTORS = 64  #: multiplier vectors in use at a time
TRIALS = 16  #: vectors added to the pool at a time
ROUNDS = 6  #: times that vectors are added, in each layer
WORTH = 0.9  #: share of states kept up to which adding vectors goes on
ASCENT = 400  #: subgradient steps for a new vector
ROOM = 3 << 30  #: bytes of states kept
CHUNK = 100_000  #: nodes visited, or states compared, between two looks at the clock
TREE = 5_000_000  #: nodes of one state at which the search gives up
RIVALS = 4096  #: states that a state is compared with for dominance

Trail = list[tuple[int, NDArray[np.uint16], NDArray[np.int32]]]  #: by layer: time, requests to start, parents


class InterruptedSearchError(Exception):
    """The time or the memory allowed is used up."""


class Found(NamedTuple):
    """A better schedule: start times by type, and their sum."""

    starts: list[list[int]]
    cost: int


def scale_for(last: int) -> int:
    """Return the denominator of the multipliers: as fine as 31 bits for a start time allow."""
    return 1 << max(0, min(20, 31 - (last + 1).bit_length()))


def empty_pool(last: int, kinds: int, vectors: int, scale: int) -> Pool:
    """Return room for `vectors` multiplier vectors that are 0 from step `last` on."""
    return Pool(
        price=np.zeros((last + 1, vectors), np.uint32),
        reward=np.zeros((last + 1, vectors), np.uint32),
        least=np.zeros((last + 1, kinds, vectors), np.uint32),
        cost=np.zeros((last + 1, kinds, vectors), np.uint32),
        tail=np.zeros((last + 1, vectors), np.int64),
        scale=scale,
    )


class Search:
    """Layered search over one instance; multipliers found in one run serve the next.

    Parameters
    ----------
    types : Types
        The types; `count` gives the number of requests of each.
    last : int
        Time from which on all multipliers are 0 (steps).
    root : pair of float arrays
        Prices and rewards to begin with, by step from 0 to `last`.
    """

    def __init__(
        self,
        types: Types,
        count: NDArray[np.int64],
        last: int,
        root: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> None:
        self.types, self.count, self.last = types, count, last
        self.scale = scale_for(last)
        # the sum of memory times multipliers stays below 2^60, and so does all that is added to it
        self.largest = min(2**31, 2**60 // (int(types.memory) * (last + 2)))
        self.pool = empty_pool(last, len(count), VECTORS, self.scale)
        self.trial = empty_pool(last, len(count), TRIALS, self.scale)
        self.hits = np.zeros(VECTORS, np.int64)
        self.vectors, self.states = 0, 0
        self.best: Found | None = None
        self.work = scratch(types, int(count.sum()), VECTORS)
        self._try(0, *root)
        self._accept(1, np.zeros(1, np.int64))

    def root_bound(self) -> int:
        """`scale` times the bound of the first vector on the sum of the start times."""
        first = [int(self.pool.least[0, k, 0]) * int(c) for k, c in enumerate(self.count)]
        return sum(first) - int(self.pool.tail[0, 0])

    def run(self, upper_bound: int, width: int | None, deadline: float) -> Found | None:
        """Find a schedule whose starts sum to less than `upper_bound`.

        The best one if `width` is None, else the best of a beam search of that width.

        Raises
        ------
        InterruptedSearchError
            At `deadline` (time.monotonic) or when memory is used up; ``self.best`` holds what was found.
        """
        random = np.random.default_rng(0)
        self.best = None
        target = self.scale * (upper_bound - 1)
        t = int(self.types.arrival.min())
        layer = self._new(1)
        layer.left[0], layer.used[0], layer.deadline[0] = self.count, self.types.memory, NEVER
        trail: Trail = []
        size, stored = 1, 0
        while size:
            trail.append((t, layer.left[:size].astype(np.uint16), layer.parent[:size].copy()))
            stored += trail[-1][1].nbytes + trail[-1][2].nbytes
            new, filled, target = self._expand(t, layer, size, target, trail, stored, width, deadline)
            t += 1
            chosen = self._undominated(new, filled, deadline)
            chosen = self._prune(t, new, chosen, target, random, width, deadline)
            layer = Layer(*(a[chosen] for a in new))
            size = len(chosen)
            self.states += size
        return self.best

    def _expand(
        self,
        t: int,
        layer: Layer,
        size: int,
        target: int,
        trail: Trail,
        stored: int,
        width: int | None,
        deadline: float,
    ) -> tuple[Layer, int, int]:
        """Return the next layer, the number of its states and the target, lowered if better schedules were found."""
        per_state = TREE if width is None else 8 * width
        goal = np.full(2, -1, np.int64)
        capacity = max(1 << 10, 1 << (2 * size).bit_length())
        new, table = self._new(capacity), np.full(4 * capacity, -1, np.int32)
        state = filled = 0
        while state < size:
            state, filled, target, reason = expand(
                self.types,
                self.pool,
                self.vectors,
                t,
                layer,
                state,
                size,
                target,
                self.work,
                new,
                filled,
                table,
                CHUNK,
                per_state,
                goal,
            )
            if goal[0] >= 0:
                self.best = self._trace(trail, int(goal[0]), int(goal[1]))
                goal[0] = -1
            if time.monotonic() > deadline or (reason == CUT and width is None):
                raise InterruptedSearchError
            if reason == FULL:
                capacity *= 2
                if stored + 3 * capacity * self._bytes() > ROOM:
                    raise InterruptedSearchError
                old, new, table = new, self._new(capacity), np.full(4 * capacity, -1, np.int32)
                for a, b in zip(new, old, strict=True):
                    a[:filled] = b[:filled]
                rehash(new, filled, table)
        return new, filled, target

    def _undominated(self, new: Layer, filled: int, deadline: float) -> NDArray[np.int64]:
        """Indices of the states that no other one dominates."""
        keys, chosen = np.zeros(filled, np.uint64), np.zeros(filled, np.int64)
        kernels.group_keys(new.left[:filled], keys)
        order = np.lexsort((new.profile[:filled].sum(axis=1), new.cost[:filled], keys))
        kept = begin = 0
        for first in range(0, filled, CHUNK):
            end = min(first + CHUNK, filled)
            kept, begin = kernels.undominated(new, keys, order, first, end, kept, begin, RIVALS, chosen)
            if time.monotonic() > deadline:
                raise InterruptedSearchError
        return chosen[:kept]

    def _prune(
        self,
        t: int,
        new: Layer,
        chosen: NDArray[np.int64],
        target: int,
        random: np.random.Generator,
        width: int | None,
        deadline: float,
    ) -> NDArray[np.int64]:
        """Let the pool grow, and drop states by what is new in it; in a beam search, keep those of the best bounds."""
        self.hits //= 2
        for _ in range(ROUNDS if width is None else 1):
            before = len(chosen)
            picks = min(TRIALS, before // 40)
            if picks == 0:
                break
            for i, s in enumerate(random.choice(chosen, picks, replace=False)):
                goal = target / self.scale + 1 - float(new.cost[s])
                state = new.left[s], new.profile[s], new.ends[s]
                prices, rewards = self._best_vector(t, *state)
                ascend(self.types, t, *state, prices, rewards, self.last, goal, ASCENT)
                self._try(i, prices, rewards)
            hits, parts = np.zeros(TRIALS, np.int64), []
            for first in range(0, before, CHUNK):
                part = chosen[first : first + CHUNK].copy()
                kept = kernels.filter_layer(self.types, self.trial, picks, t, new, part, target, hits)
                parts.append(part[:kept])
                if time.monotonic() > deadline:
                    raise InterruptedSearchError
            self._accept(picks, hits)
            chosen = np.concatenate(parts)
            if len(chosen) > WORTH * before:
                break
        if width is not None and len(chosen) > width:
            chosen = chosen[np.argpartition(-new.score[chosen], width)[:width]]
        return chosen

    def _best_vector(
        self, t: int, left: NDArray[np.uint32], profile: NDArray[np.uint32], ends: NDArray[np.uint32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Prices and rewards of the vector with the best bound for a state, with zeros for one longest output more."""
        est, slack = np.zeros(len(left), np.int64), np.zeros(self.vectors, np.int64)
        kernels.earliest(self.types, t, left, profile, est)
        kernels.slacks(self.pool, self.vectors, t, 0, left, profile, ends, est, 0, slack)
        q = int(slack.argmin())
        beyond = np.zeros(self.types.held.shape[1])
        prices = np.concatenate([self.pool.price[:, q] / self.scale, beyond])
        return prices, np.concatenate([self.pool.reward[:, q] / self.scale, beyond])

    def _try(self, i: int, prices: NDArray[np.float64], rewards: NDArray[np.float64]) -> None:
        """Round multipliers and make them vector `i` of those on trial."""
        for table, values in ((self.trial.price, prices), (self.trial.reward, rewards)):
            whole = np.rint(np.minimum(values[: self.last + 1] * self.scale, self.largest)).astype(np.uint32)
            whole[0] = whole[self.last] = 0
            table[:, i] = whole
        kernels.fill_vector(self.types, self.trial, i)

    def _accept(self, number: int, hits: NDArray[np.int64]) -> None:
        """Move vectors from trial to the pool; once it is full, in place of those that dropped the fewest states."""
        fresh = min(number, VECTORS - self.vectors)
        worst = 1 + np.argsort(self.hits[1:], kind="stable")[: number - fresh]
        places = np.concatenate([np.arange(self.vectors, self.vectors + fresh), worst])
        self.vectors += fresh
        kernels.copy_vectors(self.trial, 0, self.pool, places)
        self.hits[places] = hits[:number]

    def _new(self, capacity: int) -> Layer:
        kinds, length = self.types.held.shape
        return Layer(
            left=np.zeros((capacity, kinds), np.uint32),
            profile=np.zeros((capacity, length), np.uint32),
            ends=np.zeros((capacity, length), np.uint32),
            cost=np.zeros(capacity, np.int64),
            used=np.zeros(capacity, np.int64),
            deadline=np.zeros(capacity, np.int64),
            parent=np.zeros(capacity, np.int32),
            score=np.zeros(capacity, np.int64),
        )

    def _bytes(self) -> int:
        return 4 * (len(self.count) + 2 * int(self.types.held.shape[1])) + 36 + 16

    def _trace(self, trail: Trail, state: int, cost: int) -> Found:
        """Start times along the path to `state`, from which all that remain start at the time of its layer."""
        starts: list[list[int]] = [[] for _ in self.count]
        after = np.zeros(len(self.count), np.int64)
        for t, left, parent in reversed(trail):
            for k, number in enumerate(left[state].astype(np.int64) - after):
                starts[k].extend([t] * int(number))
            after = left[state].astype(np.int64)
            state = int(parent[state])
        return Found(starts, cost)
