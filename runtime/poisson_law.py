"""Laws of request lengths. A finite law is a mapping of (prompt, output), in tokens, to its exact probability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError

Ints: TypeAlias = NDArray[np.int64]
Law: TypeAlias = Mapping[tuple[int, int], Fraction]


def geometric(success: Fraction, cap: int) -> dict[int, Fraction]:
    """Law of ``min(o, cap)`` for a geometric length o on 1, 2, ... with success probability `success`.

    Raises
    ------
    InputError
        If `success` is not in (0, 1] or `cap` is below 1.

    Examples
    --------
    >>> geometric(Fraction(1, 2), 3)
    {1: Fraction(1, 2), 2: Fraction(1, 4), 3: Fraction(1, 4)}
    """
    if not 0 < success <= 1:
        raise InputError("success", f"is {success}", "give a probability above 0")
    if cap < 1:
        raise InputError("cap", f"is {cap}", "give 1 or more steps")
    law = {length: success * (1 - success) ** (length - 1) for length in range(1, cap)}
    return {**law, cap: (1 - success) ** (cap - 1)}


def fixed(length: int) -> dict[int, Fraction]:
    """Law of a length that is always the same."""
    return {length: Fraction(1)}


def uniform(low: int, high: int) -> dict[int, Fraction]:
    """Law of a length that is equally likely to be any of `low` to `high`."""
    return {length: Fraction(1, high - low + 1) for length in range(low, high + 1)}


def independent(prompts: Mapping[int, Fraction], outputs: Mapping[int, Fraction]) -> Law:
    """Joint law of an independent prompt and output length.

    Examples
    --------
    >>> independent(fixed(1), geometric(Fraction(1, 2), 2))
    {(1, 1): Fraction(1, 2), (1, 2): Fraction(1, 2)}
    """
    return {(s, o): p * r for s, p in prompts.items() for o, r in outputs.items() if p * r}


def observed(prompt: Ints, output: Ints) -> Law:
    """Law of a row taken at random from the columns of a trace."""
    counts = Counter(zip(prompt.tolist(), output.tolist(), strict=True))
    return {pair: Fraction(count, len(prompt)) for pair, count in sorted(counts.items())}


def mean(law: Law, value: Callable[[int, int], int]) -> Fraction:
    """Exact expectation of ``value(prompt, output)``.

    Examples
    --------
    >>> mean(independent(fixed(1), uniform(1, 3)), lambda s, o: s + o)
    Fraction(3, 1)
    """
    return sum((weight * value(s, o) for (s, o), weight in law.items()), start=Fraction(0))


def volume(prompt: int, output: int) -> int:
    """Volume in token-steps, in the paper's memory model."""
    return prompt * output + output * (output + 1) // 2


def draw(law: Law, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw prompts and outputs of `count` independent requests, by inversion in 64-bit floating point.

    The probability of a pair is off by at most about ``1e-15``.

    Returns
    -------
    prompt, output : int64 arrays of shape (count,)
        In tokens.
    """
    pairs = np.array(list(law), dtype=np.int64)
    rising = np.cumsum([float(weight) for weight in law.values()])
    index = np.searchsorted(rising[:-1], rng.random(count), side="right")
    return pairs[index, 0], pairs[index, 1]
