"""Make a bad instance easier to read: fewer types, fewer requests, smaller and rounder numbers, nearly as bad."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import log2

from adversary.evaluate import Evaluator
from adversary.genome import Genome, kept_exact, repaired

#: Part of the ratio that must be left.
KEPT = Fraction(99, 100)


def simplified(genome: Genome, evaluator: Evaluator, kept: Fraction = KEPT) -> Genome:
    """Apply the reduction that simplifies most, as long as one keeps the ratio.

    Parameters
    ----------
    genome : Genome
    evaluator : Evaluator
        Of the regime of the genome.
    kept : Fraction
        Part of the ratio of `genome` that the result must have.

    Examples
    --------
    >>> from adversary.regime import Regime
    >>> simplified(Genome(1176, ((1, 47, 1), (1175, 1, 12), (0, 1, 1))), Evaluator(Regime()), Fraction(9, 10))
    Genome(memory=1000, groups=((0, 40, 1), (999, 1, 5)), rounds=1)
    """
    cost, best = evaluator(genome)
    goal = kept * Fraction(cost, best)
    while True:
        candidates = sorted(set(_reductions(genome, evaluator)), key=_length)
        for smaller in candidates:
            if _length(smaller) >= _length(genome):
                return genome
            cost, best = evaluator(smaller)
            if cost and Fraction(cost, best) >= goal:
                genome = smaller
                break
        else:
            return genome


def _length(genome: Genome) -> tuple[float, Genome]:
    """About how many bits it takes to tell the genome, trailing zeros being cheap; the genome breaks ties."""
    numbers = [genome.memory, genome.rounds, *(x for group in genome.groups for x in group)]
    return sum(2 + _bits(x) for x in numbers) + log2(genome.size), genome


def _bits(x: int) -> float:
    zeros = len(str(x)) - len(str(x).rstrip("0")) if x else 0
    return log2(1 + x // 10**zeros) + 1.5 * zeros


def _reductions(genome: Genome, evaluator: Evaluator) -> Iterator[Genome]:
    """Genomes with one thing less, each also with ties and the tight memory restored."""
    regime, (memory, groups, rounds) = evaluator.regime, genome
    trials: list[tuple[int, list[list[int]], int]] = []
    for i in range(len(groups)):
        if len(groups) > 1:
            trials.append((memory, [list(g) for k, g in enumerate(groups) if k != i], rounds))
        for j, least in ((0, 0), (1, 1), (2, 1)):
            for x in _smaller(groups[i][j], least):
                changed = [list(g) for g in groups]
                changed[i][j] = x
                trials.append((memory, changed, rounds))
    trials += [(memory, [list(g) for g in groups], x) for x in _smaller(rounds, 1)]
    for x in _smaller(memory, 2):
        trials.append((x, [list(g) for g in groups], rounds))
        for power in (0.0, 0.5, 1.0):
            f = x / memory
            trials.append((x, [[round(s * f), max(1, round(o * f**power)), c] for s, o, c in groups], rounds))
    for new_memory, lists, new_rounds in trials:
        yield repaired(new_memory, [(s, o, c) for s, o, c in lists], new_rounds, regime)
        if len(lists) == len(groups):
            exact = kept_exact(genome, lists, new_memory, regime)
            yield repaired(exact, [(s, o, c) for s, o, c in lists], new_rounds, regime)


def _smaller(x: int, least: int) -> Iterator[int]:
    """Smaller numbers to try, and rounder ones."""
    for value in (least, least + 1, x // 2, 3 * x // 4, 9 * x // 10, x - 1):
        if least <= value < x:
            yield value
    for unit in (10, 100, 1000):
        for value in (x // unit * unit, -(-x // unit) * unit):
            if value >= least and value != x:
                yield value
