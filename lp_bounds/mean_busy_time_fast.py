"""The bounds L1 and L4 for millions of requests: compiled, in 64-bit integers, rounded down only.

Time is scaled by the memory M, so that the server of L4 has speed 1 and every event is an integer. A piece
[x, y) of a job of volume v, counted from its release, adds ``(y - x) (x + y) / (2 v M)`` steps to the sum of mean
busy times. Quotients and remainders by v are kept exactly; each job's sum is rounded down once, to a multiple of
``2**-20``, and so is its ``d_k``. The result is therefore a true lower bound, at most ``n 2**-19`` steps below L4.
Inputs for which a 64-bit number might overflow take the same path in Python's integers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lp_bounds.mean_busy_time import Bound, delay_terms, larger, tail_terms
from theory.errors import InputError
from theory.model import PAPER, Instance, MemoryModel, Request

Array = NDArray[np.int64]

#: Each request's terms are rounded down to multiples of 2**-GRID_BITS.
GRID_BITS = 20
_GRID = 1 << GRID_BITS
_VOLUME_LIMIT = 1 << 42
_TIME_LIMIT = 1 << 62


def fast_bound(prompt: Array, output: Array, arrival: Array, memory: int, memory_model: MemoryModel = PAPER) -> Bound:
    """The larger of L1 and L4, the latter rounded down by at most ``n 2**-19`` steps.

    Parameters
    ----------
    prompt, output : int64 arrays of shape (n,)
        Lengths in tokens.
    arrival : int64 array of shape (n,)
        Release dates in steps, in any order.
    memory : int
        Capacity M in tokens.
    memory_model : MemoryModel
        What a running request holds.

    Raises
    ------
    InputError
        If the shapes differ, a number is out of range or a request alone exceeds the memory.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.array([1, 1])
    >>> fast_bound(np.array([3, 3]), one, np.array([0, 0]), memory=4)
    Bound(value=Fraction(3, 1), name='L4')
    """
    columns = [np.asarray(column, dtype=np.int64) for column in (prompt, output, arrival)]
    prompt, output, arrival = columns
    if prompt.ndim != 1 or not prompt.shape == output.shape == arrival.shape:
        shapes = ", ".join(str(column.shape) for column in columns)
        raise InputError("prompt, output, arrival", f"have the shapes {shapes}", "give three columns of one length")
    if not prompt.size:
        return Bound(Fraction(0), "L1")
    _check(prompt, output, arrival, memory, memory_model)
    l1 = Fraction(int(output.sum()))
    arrival = arrival - arrival.min()  # no bound changes when all arrivals move
    if not _fits_64_bits(prompt, output, arrival, memory, memory_model):
        return larger(l1, _rounded_down(prompt, output, arrival, memory, memory_model))
    volume = volumes(prompt, output, memory_model)
    idle = volume == 0  # these never hold a token and cost their output length
    doubled = 2 * volume[~idle]
    tails = _on_grid(*np.divmod(moments(prompt[~idle], output[~idle], memory_model), doubled), doubled)
    delays = _twice_delays(volume[~idle], arrival[~idle] * memory)
    l4 = Fraction(tails, _GRID) + Fraction(delays, 2 * memory * _GRID) + int(output[idle].sum())
    return larger(l1, l4)


def volumes(prompt: Array, output: Array, model: MemoryModel) -> Array:
    """Volumes in token-steps, as :meth:`theory.model.MemoryModel.volume`, for arrays (no overflow check)."""

    def below(tokens: Array) -> Any:  # tokens of the blocks that hold 1, ..., tokens
        full, rest = np.divmod(np.maximum(tokens, 0), model.block)
        return full * (full + 1) // 2 * model.block**2 + rest * (full + 1) * model.block

    return np.asarray(below(prompt + output - model.lag) - below(prompt - model.lag))


def moments(prompt: Array, output: Array, model: MemoryModel) -> Array:
    """Moments as :meth:`theory.model.MemoryModel.moment`, for arrays (no overflow check), in closed form.

    Summation by parts: what is held in step 1 counts ``o**2`` and what is added in step j counts
    ``(o - j + 1)**2``. Whole blocks are added every `block` steps, so the latter are squares in arithmetic
    progression.
    """
    block = model.block
    stored = prompt - model.lag
    first = -(-(stored + 1) // block) * block
    left = output - 1 - (-(stored + 1)) % block  # o - j + 1 at the first step j > 1 that adds a block
    adds = np.where(left > 0, (left - 1) // block + 1, 0)
    n = adds - 1
    squares = adds * left * left - block * left * n * adds + block * block * (n * adds * (2 * n + 1) // 6)
    return np.asarray(first * output * output + block * np.where(adds > 0, squares, 0))


def _check(prompt: Array, output: Array, arrival: Array, memory: int, model: MemoryModel) -> None:
    """Raise for the first request that no instance may hold, with the message of the model's own check."""
    Instance(memory, [], model)
    tokens, steps = 2**31 - 1, 2**40
    bad = (prompt < 0) | (prompt > tokens) | (output < 1) | (output > tokens) | (arrival < 0) | (arrival > steps)
    bad |= -(-(prompt + output - model.lag) // model.block) * model.block > memory
    if bad.any():
        i = int(bad.argmax())
        try:
            request = Request(int(prompt[i]), int(output[i]), int(arrival[i]))
        except InputError as error:
            raise InputError(f"requests[{i}].{error.where}", error.fault, error.remedy) from None
        peak = model.peak(request.prompt, request.output)
        raise InputError(
            f"requests[{i}]",
            f"holds {peak} tokens in its last step, more than the memory of {memory}",
            "drop the request or give more memory",
        )


def _fits_64_bits(prompt: Array, output: Array, arrival: Array, memory: int, model: MemoryModel) -> bool:
    """Whether no number of the compiled path can overflow (arrivals counted from the first)."""
    longest = int(output.max()) + model.block
    tokens = int(prompt.max()) + longest + model.block
    volume = tokens * longest
    return (
        8 * tokens * longest * longest < 2 * _TIME_LIMIT
        and 4 * tokens * tokens < _TIME_LIMIT
        and volume < _VOLUME_LIMIT
        and memory * int(arrival.max()) + volume * len(prompt) < _TIME_LIMIT
    )


def _rounded_down(prompt: Array, output: Array, arrival: Array, memory: int, model: MemoryModel) -> Fraction:
    """L4 with every term rounded down to the grid, in Python's integers."""
    rows = zip(prompt.tolist(), output.tolist(), arrival.tolist(), strict=True)
    instance = Instance(memory, [Request(*row) for row in rows], model)
    tails = sum((n << GRID_BITS) // d for n, d in tail_terms(instance))
    delays = sum((n << GRID_BITS) // (d // (2 * memory)) for n, d in delay_terms(instance))
    return Fraction(tails, _GRID) + Fraction(delays, 2 * memory * _GRID)


def _exact_sum(numbers: Array) -> int:
    """Sum in Python's integers: the sum of many 64-bit numbers can overflow."""
    return (int((numbers >> 30).sum()) << 30) + int((numbers & (2**30 - 1)).sum())


def _on_grid(whole: Array, rest: Array, divisor: Array) -> int:
    """Sum of ``whole + rest / divisor`` in units of 1 / _GRID, each term rounded down."""
    return _exact_sum(whole) * _GRID + int((rest * _GRID // divisor).sum())


def _twice_delays(volume: Array, release: Array) -> int:
    """Twice the sum of mean busy time minus release in scaled time, in units of 1 / _GRID, rounded down."""
    if not release.any():  # a burst: one after the other, by volume
        done = np.cumsum(np.sort(volume))
        return (2 * _exact_sum(done) - _exact_sum(volume)) * _GRID
    order = np.argsort(release, kind="stable")
    volume, release = volume[order], release[order]
    whole, rest = np.zeros_like(volume), np.zeros_like(volume)
    _serve(volume, release, whole, rest)
    return _on_grid(whole, rest, volume)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _serve(volume: Array, release: Array, whole: Array, rest: Array) -> None:
    """Serve the released job of smallest volume; per job, sum ``(y - x) (x + y) / v`` as whole + rest / v.

    Releases ascend. The heap of waiting jobs is two arrays: volumes (the key) and jobs.
    """
    count = len(volume)
    remaining = volume.copy()
    keys = np.empty(count, dtype=np.int64)
    jobs = np.empty(count, dtype=np.int64)
    size = 0
    now = np.int64(0)
    for job in range(count):
        now = max(now, release[job])
        key = volume[job]
        hole = size
        size += 1
        while hole and keys[(hole - 1) >> 1] > key:
            above = (hole - 1) >> 1
            keys[hole], jobs[hole] = keys[above], jobs[above]
            hole = above
        keys[hole], jobs[hole] = key, job
        until = release[job + 1] if job + 1 < count else np.int64(2**62)
        while size and now < until:
            k, v = jobs[0], keys[0]
            end = min(now + remaining[k], until)
            length = end - now
            stretch = now + end - 2 * release[k]
            quotient, remainder = _times_over(length, stretch % v, v)
            whole[k] += length * (stretch // v) + quotient
            rest[k] += remainder
            if rest[k] >= v:
                rest[k] -= v
                whole[k] += 1
            remaining[k] -= length
            now = end
            if remaining[k] == 0:
                size -= 1
                key, last = keys[size], jobs[size]
                hole = 0
                child = 1
                while child < size:
                    if child + 1 < size and keys[child + 1] < keys[child]:
                        child += 1
                    if keys[child] >= key:
                        break
                    keys[hole], jobs[hole] = keys[child], jobs[child]
                    hole = child
                    child = 2 * hole + 1
                keys[hole], jobs[hole] = key, last


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _times_over(a: np.int64, b: np.int64, v: np.int64) -> tuple[np.int64, np.int64]:
    """Quotient and remainder of ``a b / v`` for ``a <= v``, ``b < v < 2**42``: long division by 20-bit digits."""
    if v < 2**31:
        return a * b // v, a * b % v
    quotient = np.int64(0)
    remainder = np.int64(0)
    for shift in (40, 20, 0):
        remainder = (remainder << 20) + ((a >> shift) & (2**20 - 1)) * b
        quotient = (quotient << 20) + remainder // v
        remainder = remainder % v
    return quotient, remainder
