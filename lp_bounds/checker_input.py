"""Strict reading for the certificate checker: what is not exactly as the format says is refused.

Standard library only, and nothing of the project outside the checker: the checker must not share code with what
it checks. The numbers are arbitrary-precision integers, so the limits below bound time and memory, not exactness.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

MAX_BYTES = 64 * 2**20  #: largest certificate file
MAX_NUMBER = 10**18  #: largest integer, except in claimed fractions
MAX_CLAIM = 10**60  #: largest numerator or denominator of a claimed fraction
MAX_TOKENS = 2**31 - 1  #: largest prompt or output length
MAX_STEPS = 2**40  #: largest arrival and memory


class RefusedError(Exception):
    """The certificate is malformed or what it claims is not so: where, and why."""

    def __init__(self, where: str, fault: str) -> None:
        super().__init__(f"{where}: {fault}")


class UndecidedError(Exception):
    """The certificate may be right, but deciding that takes more time or memory than allowed."""


class Clock:
    """A time limit that long loops look at.

    Parameters
    ----------
    seconds : float
        Time allowed from now on.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise UndecidedError when the time is over."""
        if time.monotonic() > self._end:
            raise UndecidedError(f"the time limit of {self.seconds:g} s is over")


class Job(NamedTuple):
    """A request: prompt and output length (tokens), arrival (step)."""

    prompt: int
    output: int
    arrival: int


class Problem(NamedTuple):
    """An instance: memory (tokens), requests in submission order, and what a running request holds."""

    memory: int
    jobs: tuple[Job, ...]
    lag: int
    block: int

    def held(self, prompt: int, step: int) -> int:
        """Tokens held in the `step`-th step: ``prompt + step - lag``, in whole blocks."""
        return (prompt + step - self.lag + self.block - 1) // self.block * self.block

    def peak(self) -> int:
        """The most tokens that one request holds (holdings grow, so it is in a last step)."""
        return max(self.held(job.prompt, job.output) for job in self.jobs)


def parse(text: str) -> Any:
    """Parse strict JSON: no duplicate keys, no NaN, no number longer than any the format allows."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=lambda digits: _no_number(digits, "is not an integer"),
            parse_constant=lambda digits: _no_number(digits, "is not a number of JSON"),
        )
    except json.JSONDecodeError as error:
        raise RefusedError(f"line {error.lineno} column {error.colno}", f"not JSON ({error.msg})") from None
    except RecursionError:
        raise RefusedError("file", "nested too deeply") from None


def read(path: Path) -> Any:
    """Parse a certificate file."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise RefusedError("file", f"larger than {MAX_BYTES} bytes")
        return parse(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise RefusedError("file", f"cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise RefusedError(f"byte {error.start}", "not UTF-8 text") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise RefusedError(_shown(key), "appears twice in one object")
        result[key] = value
    return result


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= 61 else _no_number(digits, "is too large")


def _no_number(digits: str, fault: str) -> int:
    raise RefusedError(f"number {digits[:20]}", fault)


def _shown(value: object) -> str:
    """A short, one-line form of a value for a message."""
    if type(value) is int and not -(10**40) < value < 10**40:
        return "a huge number"
    text = repr(value) if type(value) in (str, int, bool, float, type(None)) else type(value).__name__
    return text if len(text) <= 40 else text[:37] + "..."


def entries(data: Any, where: str, required: str, optional: str = "") -> dict[str, Any]:
    """Return `data` if it is an object with all required and no unknown keys."""
    if type(data) is not dict:
        raise RefusedError(where, f"is {_shown(data)}, not an object")
    names, known = required.split(), set(required.split()) | set(optional.split())
    for name in names:
        if name not in data:
            raise RefusedError(where, f'lacks "{name}"')
    for name in data:
        if name not in known:
            raise RefusedError(where, f"has the unknown key {_shown(name)}")
    return data


def integer(value: Any, where: str, low: int = 0, high: int = MAX_NUMBER) -> int:
    """Return `value` if it is an integer (a boolean is not) from `low` to `high`."""
    if type(value) is not int:
        raise RefusedError(where, f"is {_shown(value)}, not an integer")
    if not low <= value <= high:
        raise RefusedError(where, f"is {_shown(value)}, not from {low} to {high}")
    return value


def integers(value: Any, where: str, low: int = 0, high: int = MAX_NUMBER) -> tuple[int, ...]:
    """Return `value` as a tuple if it is an array of integers from `low` to `high`."""
    return tuple(integer(x, f"{where}[{i}]", low, high) for i, x in enumerate(array(value, where)))


def array(value: Any, where: str, most: int = MAX_BYTES) -> list[Any]:
    """Return `value` if it is an array of at most `most` entries."""
    if type(value) is not list:
        raise RefusedError(where, f"is {_shown(value)}, not an array")
    if len(value) > most:
        raise RefusedError(where, f"has {len(value)} entries, more than {most}")
    return value


def fraction(value: Any, where: str) -> tuple[int, int]:
    """Return numerator >= 0 and denominator >= 1 of a claimed fraction ``[num, den]``."""
    if len(array(value, where)) != 2:
        raise RefusedError(where, "is not [numerator, denominator]")
    return integer(value[0], f"{where}[0]", 0, MAX_CLAIM), integer(value[1], f"{where}[1]", 1, MAX_CLAIM)


def choice(value: Any, where: str, known: str) -> str:
    """Return `value` if it is one of the known words."""
    if type(value) is not str or value not in known.split():
        raise RefusedError(where, f"is {_shown(value)}, not one of: {known}")
    return value


def problem(data: Any) -> Problem:
    """Read the instance."""
    entries(data, "instance", "memory requests", "memory_model name comment")
    for word in ("name", "comment"):
        if type(data.get(word, "")) is not str:
            raise RefusedError(f"instance.{word}", "is not a string")
    memory = integer(data["memory"], "instance.memory", 1, MAX_STEPS)
    model = entries(data.get("memory_model", {}), "instance.memory_model", "", "lag block")
    lag = integer(model.get("lag", 0), "instance.memory_model.lag", 0, 1)
    block = integer(model.get("block", 1), "instance.memory_model.block", 1, MAX_TOKENS)
    jobs = []
    for i, entry in enumerate(array(data["requests"], "instance.requests")):
        where = f"instance.requests[{i}]"
        entries(entry, where, "prompt output", "arrival")
        job = Job(
            integer(entry["prompt"], f"{where}.prompt", 0, MAX_TOKENS),
            integer(entry["output"], f"{where}.output", 1, MAX_TOKENS),
            integer(entry.get("arrival", 0), f"{where}.arrival", 0, MAX_STEPS),
        )
        jobs.append(job)
    if not jobs:
        raise RefusedError("instance.requests", "is empty")
    result = Problem(memory, tuple(jobs), lag, block)
    for i, job in enumerate(jobs):
        if result.held(job.prompt, job.output) > memory:
            raise RefusedError(f"instance.requests[{i}]", "needs more than the memory, so no schedule exists")
    return result
