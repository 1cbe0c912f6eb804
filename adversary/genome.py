"""What the search changes: a memory and a few types of requests with counts, in order of submission.

``rounds`` repeats the whole list, so that types of equal priority come interleaved.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from random import Random
from typing import NamedTuple

from adversary.regime import MEMORY, Regime
from theory.model import Instance, Request

MAX_TYPES = 4
Group = tuple[int, int, int]


class Genome(NamedTuple):
    """A burst: `groups` are ``(prompt, output, count)``, the list is submitted `rounds` times over.

    Examples
    --------
    >>> Genome(460, ((1, 20, 1), (229, 1, 20)), 1).size
    21
    """

    memory: int
    groups: tuple[Group, ...]
    rounds: int = 1

    @property
    def size(self) -> int:
        """Number of requests."""
        return self.rounds * sum(count for _, _, count in self.groups)

    def instance(self) -> Instance:
        """The requests one by one."""
        one_round = [Request(s, o) for s, o, count in self.groups for _ in range(count)]
        return Instance(self.memory, one_round * self.rounds)

    def __str__(self) -> str:
        inner = ", ".join(f"({s},{o})" + (f" x{c}" if c > 1 else "") for s, o, c in self.groups)
        return f"M={self.memory}: [{inner}]" + (f" x{self.rounds}" if self.rounds > 1 else "")


def volume(prompt: int, output: int) -> int:
    """Token-steps."""
    return prompt * output + output * (output + 1) // 2


def repaired(memory: int, groups: Sequence[Group], rounds: int, regime: Regime) -> Genome:
    """The nearest genome within the regime."""
    memory = regime.memory or max(2, min(memory, MEMORY))
    cap = max(1, int(memory * regime.alpha))
    if regime.memory is None and cap > memory * regime.alpha:
        memory = -(-regime.alpha.denominator // regime.alpha.numerator)
    kept: list[Group] = []
    for s, o, c in groups:
        o = max(1, min(o, cap, regime.largest or cap))
        s, c = max(0, min(s, cap - o)), max(1, c)
        if kept and kept[-1][:2] == (s, o):
            c += kept.pop()[2]
        kept.append((s, o, c))
    while sum(c for _, _, c in kept) > regime.requests:
        factor = regime.requests / sum(c for _, _, c in kept) * 0.99
        smaller = [(s, o, max(1, int(c * factor))) for s, o, c in kept]
        kept = smaller if smaller != kept else kept[:-1]
    size = sum(c for _, _, c in kept)
    return Genome(memory, tuple(kept), max(1, min(rounds, regime.requests // size)))


def random_genome(random: Random, regime: Regime) -> Genome:
    """Lengths, counts and memory spread evenly on a logarithmic scale, some made to meet exactly."""
    memory = regime.memory or _spread(random, 8, MEMORY)
    groups: list[list[int]] = []
    for _ in range(random.choice((2, 2, 3, 3, 4))):
        output = 1 if random.random() < 0.4 else _spread(random, 1, memory // 2)
        prompt = _spread(random, 1, memory) if random.random() < 0.7 else random.choice((0, 1))
        groups.append([prompt, output, _spread(random, 1, min(300, regime.requests))])
    for _ in range(random.randrange(4)):
        memory = max(2, _structured(memory, random.choice(groups), random.choice(groups), random, regime))
        groups = [[max(0, s), max(1, o), max(1, c)] for s, o, c in groups]
    rounds = 1 if random.random() < 0.5 else _spread(random, 1, 60)
    return repaired(memory, [(s, o, c) for s, o, c in groups], rounds, regime)


def _spread(random: Random, low: int, high: int) -> int:
    """A number between two bounds, its logarithm uniform."""
    return int(low * (max(high, low) / low) ** random.random())


def mutated(parent: Genome, other: Genome, random: Random, regime: Regime) -> Genome:
    """A neighbour of `parent`; `other` lends a type now and then."""
    memory, rounds = parent.memory, parent.rounds
    groups = [list(group) for group in parent.groups]
    for _ in range(1 if random.random() < 0.6 else random.choice((2, 2, 3))):
        move = random.random()
        i, j = random.randrange(len(groups)), random.randrange(len(groups))
        a, b = groups[i], groups[j]
        if move < 0.35:
            field = random.randrange(3)
            a[field] = _near(a[field], random)
        elif move < 0.45:
            memory, rounds = _near(memory, random), rounds if random.random() < 0.5 else _near(rounds, random)
        elif move < 0.55:
            factor = exp(random.gauss(0, 0.5))
            power = random.choice((0.0, 0.5, 1.0))
            memory = round(memory * factor)
            groups = [[round(s * factor), round(o * factor**power), c] for s, o, c in groups]
        elif move < 0.80:
            memory = _structured(memory, a, b, random, regime)
        elif move < 0.86:
            groups[i], groups[j] = b, a
        elif move < 0.91:
            s, o, c = random.choice(other.groups)
            factor = memory / other.memory
            new = [round(s * factor), o if random.random() < 0.5 else round(o * factor), c]
            if len(groups) < MAX_TYPES and random.random() < 0.5:
                groups.insert(random.randrange(len(groups) + 1), new)
            else:
                groups[i] = new
        elif move < 0.95 and len(groups) > 1:
            del groups[i]
        elif len(groups) < MAX_TYPES:
            groups.insert(random.randrange(len(groups) + 1), [a[0], a[1], _near(a[2], random)])
        memory, groups = max(2, memory), [[max(0, s), max(1, o), max(1, c)] for s, o, c in groups]
    if len(groups) == len(parent.groups) and random.random() < 0.7:
        memory = kept_exact(parent, groups, memory, regime)
    return repaired(memory, [(s, o, c) for s, o, c in groups], max(1, rounds), regime)


def kept_exact(parent: Genome, groups: list[list[int]], memory: int, regime: Regime) -> int:
    """Restore what met exactly in the parent: a one-step type that tied with another, a tight memory."""
    volumes = [volume(s, o) for s, o, _ in parent.groups]
    for i, (_, output, _) in enumerate(parent.groups):
        for j, group in enumerate(groups):
            if i != j and volumes[i] == volumes[j] and output > 1 == group[1]:
                group[0] = volume(groups[i][0], groups[i][1]) - 1
    if max(s + o for s, o, _ in parent.groups) == int(parent.memory * regime.alpha):
        memory = _least_memory(max(s + o for s, o, _ in groups), regime)
    return memory


def _least_memory(peak: int, regime: Regime) -> int:
    return -(-peak * regime.alpha.denominator // regime.alpha.numerator)


def _near(x: int, random: Random) -> int:
    if random.random() < 0.3:
        return x + random.choice((-1, 1))
    return round((x or 1) * exp(random.gauss(0, random.choice((0.03, 0.2, 1.0)))))


def _structured(memory: int, a: list[int], b: list[int], random: Random, regime: Regime) -> int:
    """Make two types meet exactly: equal volumes, a full memory, a head that just does not fit; the new memory."""
    choice = random.randrange(9)
    peak_a, peak_b = a[0] + a[1], b[0] + b[1]
    if choice == 0:  # a gets the volume of b
        if random.random() < 0.5:
            a[1] = 1
        a[0] = (volume(b[0], b[1]) - a[1] * (a[1] + 1) // 2) // a[1]
    elif choice == 1:  # as wide as the regime allows
        a[0] = int(memory * regime.alpha) - a[1] - random.choice((0, 0, 1))
    elif choice == 2:  # a part of the memory
        a[0] = memory // random.randint(2, 6) - a[1] + random.choice((-1, 0, 1))
    elif choice == 3:  # so many that no more fit
        a[2] = max(1, memory // max(1, peak_a) + random.choice((-1, 0, 0, 1)))
    elif choice == 4:  # so many that b is just blocked
        a[2] = _blocking(memory, a, peak_b, random)
    elif choice == 5:  # as little memory as the widest type allows
        memory = _least_memory(max(peak_a, peak_b), regime)
    elif choice == 6:  # b just blocked by a
        b[0] = memory + 1 - a[2] * peak_a - b[1] + random.choice((-1, 0, 0))
    elif choice == 7 and a is not b:  # b ties with a in one step, as wide as allowed, and is just blocked
        b[0], b[1] = volume(a[0], a[1]) - 1, 1
        memory = _least_memory(b[0] + 1, regime)
        a[2] = _blocking(memory, a, b[0] + 1, random)
    else:  # small numbers
        a[random.randrange(2)] = random.choice((0, 1, 2))
    return memory


def _blocking(memory: int, a: list[int], peak: int, random: Random) -> int:
    """How many requests like `a`, in their first or in their last step, just block a peak."""
    held = a[0] + random.choice((1, a[1]))
    return max(1, (memory - peak) // held + 1)
