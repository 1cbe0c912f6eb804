"""What a trace is once read, and the checks that every reader's fields go through.

Lengths are int64 tokens. Times are int64 too, either in scheduler steps or in nanoseconds: the public traces
record at most seven decimals of a second, so nothing is lost, and an audit in nanoseconds stays exact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from theory.errors import InputError
from theory.model import MAX_STEPS, MAX_TOKENS

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
#: How times are written in a file: whole steps, decimal seconds, milliseconds or nanoseconds, or a calendar date.
Clock: TypeAlias = Literal["steps", "s", "ms", "date"]

#: Largest time in nanoseconds that a reader accepts (about 146 years): sums of two stay in 64 bits.
MAX_NS = 2**62
#: Nanoseconds in one unit of a clock.
NS = {"s": 10**9, "ms": 10**6}
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:\+00:00|Z)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{0,60})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Trace:
    """Rows of a request log, in the order of the file, before anything is dropped.

    Attributes
    ----------
    source, format : str
        File name and the format it was read as.
    prompt, output : int64 array of shape (n,)
        Lengths in tokens; an output of 0 marks a row that :meth:`reasons` tells to drop.
    unit : {"steps", "ns", None}
        Unit of every time below; None if the rows carry no times.
    arrival : int64 array of shape (n,) or None
        In nanoseconds counted from the earliest arrival, or in steps as written.
    start, first_token, finish : int64 array of shape (n,) or None
        What a log says about the schedule that ran: when service began, when the first token came out, when the
        last one did. On the clock of `arrival`.
    failed : bool array of shape (n,)
        Rows of which the log itself says that the request failed.

    Examples
    --------
    >>> trace = Trace("log.csv", "azure", np.array([5, 7]), np.array([3, 0]))
    >>> len(trace), trace.dropped
    (2, {'no output tokens': 1})
    """

    source: str
    format: str
    prompt: Ints
    output: Ints
    unit: Literal["steps", "ns"] | None = None
    arrival: Ints | None = None
    start: Ints | None = None
    first_token: Ints | None = None
    finish: Ints | None = None
    failed: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __post_init__(self) -> None:
        if len(self.failed) != len(self.prompt):
            object.__setattr__(self, "failed", np.zeros(len(self.prompt), np.bool_))

    def __len__(self) -> int:
        return len(self.prompt)

    def reasons(self) -> dict[str, Bools]:
        """Rows that no audit can use: ``{reason: mask}``, each row under one reason."""
        return {"request failed": self.failed, "no output tokens": (self.output < 1) & ~self.failed}

    @property
    def dropped(self) -> dict[str, int]:
        """How many rows are unusable, by reason (reasons without rows are left out)."""
        return {reason: int(mask.sum()) for reason, mask in self.reasons().items() if mask.any()}

    def take(self, rows: slice | Bools) -> Trace:
        """The trace with these rows only, order and clock unchanged."""
        columns = ("prompt", "output", "arrival", "start", "first_token", "finish", "failed")
        present = {name: getattr(self, name) for name in columns if getattr(self, name) is not None}
        return replace(self, **{name: column[rows] for name, column in present.items()})


def first_line(text: str) -> str:
    """The text up to its first line break after something that is not white space."""
    begin = len(text) - len(text.lstrip()) if text[:1].isspace() else 0
    end = text.find("\n", begin)
    return text[begin:] if end < 0 else text[begin:end]


def parse_tokens(where: str, value: object) -> int:
    """A token count, from CSV text or a JSON value; InputError at `where` unless it is one."""
    if isinstance(value, str):
        value = value.strip()
        if _WHOLE.fullmatch(value):
            value = int(value)
    if value is None or value == "":
        raise InputError(where, "is missing", "give a whole number of tokens")
    if type(value) is not int:
        raise InputError(where, f"is {value!r:.60}, not a whole number", "give a whole number of tokens")
    if value < 0:
        raise InputError(where, f"is {value}", "give 0 or more tokens")
    if value > MAX_TOKENS:
        raise InputError(where, f"is larger than {MAX_TOKENS}", "give a length in tokens")
    return value


def parse_time(where: str, value: object, clock: Clock) -> int:
    """A time in steps (clock ``"steps"``) or in nanoseconds; InputError at `where` unless it is one."""
    if value is None or (isinstance(value, str) and not value.strip()):
        raise InputError(where, "is missing", "give a time, or leave the field out of every row")
    if clock == "date":
        return _parse_date(where, value)
    if clock == "steps":
        if type(value) is not int:
            raise InputError(where, f"is {value!r:.60}, not a whole number of steps", "give whole steps")
        if not 0 <= value <= MAX_STEPS:
            raise InputError(where, f"is {value!r:.60}", f"give a time from 0 to {MAX_STEPS} steps")
        return value
    remedy = f"give a time from 0 up, in {'seconds' if clock == 's' else 'milliseconds'}"
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        exact = Fraction(Decimal(value.strip()))
    elif type(value) is int or (type(value) is float and math.isfinite(value)):
        exact = Fraction(value)
    else:
        raise InputError(where, f"is {value!r:.60}, not a finite number", remedy)
    nanoseconds = round(exact * NS[clock])
    if not 0 <= nanoseconds <= MAX_NS:
        raise InputError(where, f"is {value!r:.60}", remedy)
    return nanoseconds


def _parse_date(where: str, value: object) -> int:
    match = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    remedy = "give UTC as YYYY-MM-DD hh:mm:ss.fffffff"
    if not match:
        raise InputError(where, f"is {value!r:.60}, not a timestamp", remedy)
    day, clock, fraction = match.groups()
    try:
        whole = datetime.fromisoformat(f"{day}T{clock}+00:00") - _EPOCH
    except ValueError as error:
        raise InputError(where, f"is {value!r:.60}, not a timestamp ({error})", remedy) from None
    if not 1970 <= int(day[:4]) <= 2100:
        raise InputError(where, f"is {value!r:.60}, outside the years 1970 to 2100", remedy)
    return (whole.days * 86400 + whole.seconds) * 10**9 + int((fraction or "0").ljust(9, "0"))


def finish_trace(trace: Trace, place: Callable[[int], str]) -> Trace:
    """Check the order of a row's times and count nanoseconds from the earliest arrival.

    `place` tells where in the file a row is, for the error message.
    """
    order = [("arrival", trace.arrival), ("start", trace.start), ("first_token", trace.first_token)]
    known = [(name, times) for name, times in [*order, ("finish", trace.finish)] if times is not None]
    for (before, early), (after, late) in pairwise(known):
        wrong = np.flatnonzero(early > late)
        if len(wrong):
            at = place(int(wrong[0]))
            raise InputError(f"{at}, {after}", f"is before {before}", f"give {before} <= {after}, on one clock")
    if trace.unit != "ns" or trace.arrival is None or not len(trace):
        return trace
    origin = trace.arrival.min()
    return replace(trace, **{name: times - origin for name, times in known})
