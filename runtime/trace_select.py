"""Which rows of a trace are audited, and why the others are not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from runtime.trace_table import Bools, Ints, Trace
from theory.errors import InputError
from theory.model import MAX_STEPS, PAPER, MemoryModel


def select(
    trace: Trace,
    memory: int,
    *,
    limit: int | None = None,
    max_peak: Fraction | None = None,
    memory_model: MemoryModel = PAPER,
) -> tuple[Trace, dict[str, int]]:
    """The requests of a trace that an audit keeps, and how many rows were dropped for which reason.

    Parameters are those of :func:`audit`.

    Raises
    ------
    InputError
        If an option is at fault or no request is left.

    Examples
    --------
    >>> trace = Trace("x", "geosched", np.array([1, 5, 8]), np.array([2, 2, 2]))
    >>> kept, dropped = select(trace, 8, max_peak=Fraction(1, 2))
    >>> kept.prompt, dropped
    (array([1]), {'peak above the memory': 1, 'peak above 1/2 of the memory': 1})
    """
    if not 1 <= memory <= MAX_STEPS:
        raise InputError("--memory", f"is {memory}", "give a positive number of tokens")
    if limit is not None and limit < 1:
        raise InputError("--limit", f"is {limit}", "give 1 or more rows")
    if max_peak is not None and not 0 < max_peak <= 1:
        raise InputError("--max-peak", f"is {max_peak}", "give a fraction of the memory, above 0 and at most 1")
    rows = trace.take(slice(limit))
    peak = peaks(rows, memory_model)
    tests: list[tuple[str, Bools]] = [*rows.reasons().items(), ("peak above the memory", peak > memory)]
    if max_peak is not None:
        share = Fraction(max_peak)
        tests.append((f"peak above {share} of the memory", peak > share.numerator * memory // share.denominator))
    keep = np.ones(len(rows), np.bool_)
    dropped: dict[str, int] = {}
    for reason, mask in tests:
        count = int((mask & keep).sum())
        if count:
            dropped[reason] = count
        keep &= ~mask
    if not keep.any():
        told = ", ".join(f"{count} {reason}" for reason, count in dropped.items())
        raise InputError(trace.source, f"has no request left ({told})", "give more memory or another trace")
    return rows.take(keep), dropped


def peaks(trace: Trace, model: MemoryModel) -> Ints:
    """Most tokens that each request ever holds."""
    held: Ints = -(-(trace.prompt + trace.output - model.lag) // model.block) * model.block
    return held
