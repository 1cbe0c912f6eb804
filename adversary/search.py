"""The search for bad instances: rounds of independent annealing chunks that share an archive.

A round is a fixed number of chunks, whatever the number of workers. A chunk is an annealing run with a budget of
elementary operations (not of time), its own seed, and a start either at random or in the archive as it was before
the round; results are merged in the order of the chunks. So the archive after a given number of rounds depends on
the seed alone; the clock only decides how many rounds there are.

The archive keeps the best genome of every cell (number of types, magnitude of the number of requests, quarter of
alpha, whether the list is repeated), so that different kinds of bad instances survive side by side (quality
diversity).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, log
from random import Random

from adversary.evaluate import Evaluator
from adversary.genome import Genome, mutated, random_genome, repaired
from adversary.parallel import run_chunks
from adversary.regime import Regime

#: Chunks in a round, and elementary operations in a chunk (some tenths of a second).
CHUNKS = 8
OPERATIONS = 100_000_000
Cell = tuple[int, int, int, int]


@dataclass
class Archive:
    """The best genome of every cell, with its ratio.

    Examples
    --------
    >>> archive = Archive()
    >>> archive.add(Genome(9, ((8, 1, 2),)), Fraction(3, 2)), archive.add(Genome(9, ((8, 1, 3),)), Fraction(4, 3))
    (True, False)
    """

    cells: dict[Cell, tuple[Fraction, Genome]] = field(default_factory=dict)

    def add(self, genome: Genome, ratio: Fraction) -> bool:
        """Keep a genome if it is the worst instance of its cell; say whether it is."""
        widest = max(s + o for s, o, _ in genome.groups)
        cell = len(genome.groups), genome.size.bit_length(), 4 * widest // genome.memory, min(genome.rounds, 2)
        if cell in self.cells and self.cells[cell][0] >= ratio:
            return False
        self.cells[cell] = ratio, genome
        return True

    def ranked(self) -> list[tuple[Fraction, Genome]]:
        """All kept genomes, worst instance first."""
        return sorted(self.cells.values(), key=lambda entry: (-entry[0], entry[1]))

    def best(self) -> tuple[Fraction, Genome] | None:
        """The worst instance found."""
        return next(iter(self.ranked()), None)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One unit of work: an annealing run in a regime."""

    regime: Regime
    seed: int
    start: Genome | None
    elites: tuple[Genome, ...]
    operations: int


def run_chunk(chunk: Chunk) -> list[tuple[Fraction, Genome]]:
    """Anneal; return the best genome of every cell met."""
    random, evaluator, found = Random(chunk.seed), Evaluator(chunk.regime), Archive()
    current = chunk.start or _best_of_random(evaluator, random, 60)
    value = _log_ratio(evaluator, current, found)
    hot = 0.02 if chunk.start else 0.1
    while evaluator.operations < chunk.operations:
        temperature = hot * (1 - evaluator.operations / chunk.operations) ** 2 + 1e-4
        other = random.choice(chunk.elites) if chunk.elites else current
        trial = mutated(current, other, random, chunk.regime)
        if trial == current:
            evaluator.operations += 1000
            continue
        result = _log_ratio(evaluator, trial, found)
        if result >= value or random.random() < exp((result - value) / temperature):
            current, value = trial, result
    return found.ranked()


def _best_of_random(evaluator: Evaluator, random: Random, count: int) -> Genome:
    genomes = [random_genome(random, evaluator.regime) for _ in range(count)]
    return max(genomes, key=evaluator.ratio)


def _log_ratio(evaluator: Evaluator, genome: Genome, found: Archive) -> float:
    """Logarithm of the ratio; a genome that is too dear to evaluate counts as one with ratio 1/2."""
    cost, best = evaluator(genome)
    if cost == 0:
        return log(0.5)
    if cost > best:
        found.add(genome, Fraction(cost, best))
    return log(cost / best)


def search(
    regime: Regime,
    seed: int,
    *,
    seconds: float | None = None,
    rounds: int | None = None,
    jobs: int = 1,
    backend: str = "loky",
    start: Sequence[Genome] = (),
    archive: Archive | None = None,
    first_round: int = 0,
    operations: int = OPERATIONS,
    report: Callable[[int, Archive], None] | None = None,
) -> Archive:
    """Search for instances that are bad for a policy.

    Parameters
    ----------
    regime : Regime
        The policy, and which instances count.
    seed : int
        Same seed and same number of rounds, same archive.
    seconds : float, optional
        No new round starts after this time.
    rounds : int, optional
        Number of rounds, those of the earlier search included; at least one of both budgets is needed.
    jobs, backend
        Workers, see :func:`adversary.parallel.run_chunks`.
    start : sequence of Genome
        Genomes to go on from.
    archive, first_round
        State of an earlier search to continue: its archive and the number of rounds it did.
    operations : int
        Budget of a chunk.
    report : callable, optional
        Called with the number of rounds done and the archive after every round.

    Examples
    --------
    >>> best = search(Regime(requests=20), seed=1, rounds=1, operations=3_000_000).best()
    >>> best is not None and best[0] > 1
    True
    """
    if seconds is None and rounds is None:
        raise ValueError("give seconds or rounds, or both")
    begin, done, archive = time.monotonic(), first_round, archive or Archive()
    evaluator = Evaluator(regime)
    for given in start:
        genome = repaired(*given, regime)
        cost, best = evaluator(genome)
        if cost:
            archive.add(genome, Fraction(cost, best))
    while (rounds is None or done < rounds) and (seconds is None or time.monotonic() - begin < seconds):
        chunks = _plan(regime, seed, done, archive, operations)
        for results in run_chunks(run_chunk, chunks, jobs, backend):
            for ratio, genome in results:
                archive.add(genome, ratio)
        done += 1
        if report is not None:
            report(done, archive)
    return archive


def _plan(regime: Regime, seed: int, number: int, archive: Archive, operations: int) -> list[Chunk]:
    """The chunks of a round: two or three start at random, the others from elites, better ones more often."""
    random = Random(f"{seed}/{number}")
    elites = [genome for _, genome in archive.ranked()[:40]]
    chunks = []
    for k in range(CHUNKS):
        start = None
        if elites and k >= (3 if number < 6 else 2):
            start = elites[0] if k == CHUNKS - 1 else elites[int(len(elites) * random.random() ** 2)]
        chunks.append(Chunk(regime, random.getrandbits(48), start, tuple(elites), operations))
    return chunks
