"""How bad a burst is for a policy: its latency over that of a good schedule, a lower bound on the ratio."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from adversary import kernels
from adversary.genome import MAX_TYPES, Genome
from adversary.kernels import Ints
from adversary.regime import Regime

#: Elementary operations after which an evaluation gives up.
LIMIT = 400_000
#: Operations that the call itself is worth.
OVERHEAD = 20_000
_ADMISSION = {
    "strict": kernels.STRICT,
    "skip": kernels.SKIP,
    "conservative": kernels.CONSERVATIVE,
    "easy": kernels.EASY,
}
_ORDERS = [np.array(list(permutations(range(k))), dtype=np.int64) for k in range(MAX_TYPES + 1)]


class Evaluator:
    """Evaluates genomes of one regime; keeps the scratch memory of the kernels.

    Examples
    --------
    >>> evaluator = Evaluator(Regime())
    >>> evaluator(Genome(1176, ((1, 47, 1), (1175, 1, 12))))
    (689, 137)
    """

    def __init__(self, regime: Regime, limit: int = LIMIT) -> None:
        self.regime, self.policy = regime, regime.scheduler
        self.rows = np.zeros((regime.requests + 2, 5), dtype=np.int64)
        self.log = np.zeros((regime.requests + 2, 3), dtype=np.int64)
        self.spent = np.array([0, limit], dtype=np.int64)
        self.operations = 0

    def __call__(self, genome: Genome) -> tuple[int, int]:
        """Total latency of the policy and of a good schedule (steps); (0, 1) if too dear to find out."""
        order, kind, group_count = self._groups(genome)
        types = np.array(genome.groups, dtype=np.int64)
        self.spent[0] = 0
        cost, best = kernels.evaluate(
            order, kind, group_count, _ORDERS[len(types)], types[:, 2] * genome.rounds, types[:, 0], types[:, 1],
            genome.memory, _ADMISSION[self.regime.admission], self.regime.fit == "peak",
            self.rows, self.log, self.spent,
        )  # fmt: skip
        self.operations += int(self.spent[0]) + OVERHEAD
        return cost, best

    def ratio(self, genome: Genome) -> float:
        """The quotient of the two, for comparisons in a search."""
        cost, best = self(genome)
        return cost / best

    def _groups(self, genome: Genome) -> tuple[Ints, Ints, Ints]:
        """Groups in key order; rounds are merged if no two types tie."""
        keys = [self.policy.key(s, o, 0) for s, o, _ in genome.groups]
        types, rounds = len(keys), genome.rounds
        if len(set(keys)) == types:
            order = sorted(range(types), key=keys.__getitem__)
            counts = [c * rounds for _, _, c in genome.groups]
            kinds = np.arange(types, dtype=np.int64)
        else:
            order = sorted(range(types * rounds), key=lambda g: keys[g % types])
            counts = [c for _, _, c in genome.groups] * rounds
            kinds = np.tile(np.arange(types, dtype=np.int64), rounds)
        return np.array(order, dtype=np.int64), kinds, np.array(counts, dtype=np.int64)

    def starts(self, genome: Genome) -> list[int]:
        """Start times of the good schedule, in the order of the genome's instance.

        Raises
        ------
        RuntimeError
            If the operations do not suffice: the genome was not evaluated first.
        """
        types = np.array(genome.groups, dtype=np.int64)
        prompt, output, count = types[:, 0], types[:, 1], types[:, 2] * genome.rounds
        self.spent[0] = 0
        orders = _ORDERS[len(types)]
        best, row, mask, monotone = kernels.good_schedule(
            orders, count, prompt, output, genome.memory, self.rows, self.log, self.spent
        )
        paced = np.array([mask >> k & 1 for k in range(len(types))], dtype=np.int64)
        self.spent[0] = 0
        cost, lines = kernels.serial(
            orders[row], np.arange(len(types)), count, prompt, output, genome.memory, monotone, False, paced,
            self.rows, self.log, kernels.STOPPED, self.spent,
        )  # fmt: skip
        if cost != best or best == kernels.STOPPED:
            raise RuntimeError(f"{genome} takes more than {self.spent[1]} operations")
        by_type: list[list[int]] = [[] for _ in genome.groups]
        for k, start, number in self.log[:lines].tolist():
            by_type[k] += [start] * number
        waiting = [iter(sorted(times)) for times in by_type]
        one_round = [k for k, (_, _, c) in enumerate(genome.groups) for _ in range(c)]
        return [next(waiting[k]) for k in one_round * genome.rounds]
