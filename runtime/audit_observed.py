"""What a log says about the schedule that ran: its latencies, its step length, and its contradictions.

The lower bound L4 needs less than a schedule of the model. Suppose a request makes its j-th output token within a
time of at least `tau` in which it holds at least ``held(s, j)`` tokens, the tokens one after the other, and all
requests together hold at most M at any time. Take the last `tau` of each of these times: the mean busy time of
those pieces is at most the completion minus ``tau d``, and pieces of all requests share the memory M. So the
completions sum to at least ``tau`` times the bound for releases ``a / tau``, also when requests pause, are
preempted and recomputed, or when steps last longer. Releases are rounded down to whole steps, which only lowers
the sum of completions; what rounding took off the arrivals is taken off the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lp_bounds.mean_busy_time_fast import fast_bound
from runtime.trace_arrivals import step_nanoseconds
from runtime.trace_table import Ints, Trace
from theory.errors import InputError
from theory.model import MemoryModel


@dataclass(frozen=True, slots=True)
class Observed:
    """A schedule that ran.

    Attributes
    ----------
    latency : int64 array of shape (n,)
        Finish minus arrival, in steps or nanoseconds as in the trace.
    lower_bound : Fraction
        On the total latency of any schedule, in the same unit.
    bound_name : {"L1", "L4"}
    makespan : int
        Last finish, in the same unit.
    step_seconds : Fraction or None
        The least step length that the bound assumes; None for logs in steps.
    violation : str or None
        How the log contradicts the model or the memory, if it does.
    """

    latency: Ints
    lower_bound: Fraction
    bound_name: str
    makespan: int
    step_seconds: Fraction | None
    violation: str | None


def observe(trace: Trace, memory: int, memory_model: MemoryModel, step_seconds: Fraction | None) -> Observed:
    """Bound and check the schedule that a log records.

    Parameters
    ----------
    trace : Trace
        With arrivals and finishes, in steps or nanoseconds; starts are used where they are known.
    step_seconds : Fraction, optional
        Least time per output token, for logs in seconds. The default is the smallest mean time per output token of
        any request of the log: between start and finish or, where only the first token's time is known, after it.

    Raises
    ------
    InputError
        If the log has no arrivals or finishes, or does not tell a step length.
    """
    if trace.arrival is None or trace.finish is None:
        remedy = "give a log with arrival and finish of every request (geosched JSONL or vllm bench serve results)"
        raise InputError(trace.source, "does not record when requests came and were done", remedy)
    latency = trace.finish - trace.arrival
    makespan = int(trace.finish.max())
    if trace.unit == "steps":
        if step_seconds is not None:
            raise InputError("--step-seconds", "has no meaning for a log in steps", "leave it out")
        bound = fast_bound(trace.prompt, trace.output, trace.arrival, memory, memory_model)
        violation = _step_violation(trace, memory, memory_model)
        return Observed(latency, bound.value, bound.name, makespan, None, violation)
    tau = step_nanoseconds(step_seconds) if step_seconds is not None else _fastest_token(trace)
    whole = trace.arrival // tau
    bound = fast_bound(trace.prompt, trace.output, whole, memory, memory_model)
    by_output = Fraction(tau * int(trace.output.sum()))
    by_volume = tau * bound.value - int((trace.arrival - tau * whole).sum())
    lower, name = (by_output, "L1") if by_output >= by_volume else (by_volume, bound.name)
    violation = _time_violation(trace, memory, memory_model, tau)
    return Observed(latency, lower, name, makespan, Fraction(tau, 10**9), violation)


def _token_times(trace: Trace) -> tuple[Ints, Ints, Ints]:
    """Rows whose speed the log tells, their time spent on tokens (nanoseconds), and on how many tokens."""
    assert trace.finish is not None
    if trace.start is not None:
        return np.arange(len(trace)), trace.finish - trace.start, trace.output
    if trace.first_token is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    rows = np.flatnonzero(trace.output > 1)
    return rows, (trace.finish - trace.first_token)[rows], trace.output[rows] - 1


def _fastest_token(trace: Trace) -> int:
    _, spent, tokens = _token_times(trace)
    fastest = int((spent // tokens).min()) if len(spent) else 0
    if fastest < 1:
        raise InputError(trace.source, "does not tell how long a step takes at least", "give --step-seconds")
    return fastest


def _time_violation(trace: Trace, memory: int, memory_model: MemoryModel, tau: int) -> str | None:
    rows, spent, tokens = _token_times(trace)
    hasty = np.flatnonzero(spent < tau * tokens)
    if len(hasty):
        row, each = int(rows[hasty[0]]), float(spent[hasty[0]] / tokens[hasty[0]] / 1e9)
        return f"kept request {row} took {each:.6g} s per token, less than the step of {tau / 1e9:.6g} s"
    begin = trace.start if trace.start is not None else trace.first_token
    if begin is None or trace.finish is None:
        return None
    held = -(-(trace.prompt + 1 - memory_model.lag) // memory_model.block) * memory_model.block  # in its first step
    used = _active_sum(begin, trace.finish, held, begin + 1)
    worst = int(used.argmax())
    if used[worst] > memory:
        return (
            f"at {float(begin[worst]) / 1e9:.6g} s the prompts in service fill {int(used[worst])} tokens, more "
            f"than the memory of {memory}: it is larger, or requests were preempted or share prefixes"
        )
    return None


def _step_violation(trace: Trace, memory: int, memory_model: MemoryModel) -> str | None:
    if trace.start is None or trace.finish is None:
        return None
    hasty = np.flatnonzero(trace.finish - trace.start < trace.output)
    if len(hasty):
        row = int(hasty[0])
        ran = int(trace.finish[row] - trace.start[row])
        return f"kept request {row} made {int(trace.output[row])} tokens in {ran} steps, more than one in a step"
    whole = trace.finish - trace.start == trace.output  # a request that paused may have given up its memory
    if not whole.any():
        return None
    step, used = fullest_step(trace.prompt[whole], trace.start[whole], trace.finish[whole], memory_model)
    return f"step {step} holds {used} tokens, more than the memory of {memory}" if used > memory else None


def fullest_step(prompt: Ints, start: Ints, finish: Ints, memory_model: MemoryModel) -> tuple[int, int]:
    """The step in which most tokens are held, and how many, of requests that ran without pause.

    A running request only grows, so the most is held in the last step of some request.

    Examples
    --------
    >>> from theory.model import PAPER
    >>> fullest_step(np.array([3, 1]), np.array([0, 1]), np.array([2, 4]), PAPER)
    (2, 7)
    """
    block = memory_model.block
    steps = np.unique(finish)
    offset = prompt - memory_model.lag + block - 1 - start  # held in step t: (offset + t) // block * block
    used = _active_sum(start, finish, offset // block, steps)
    used += _active_sum(start, finish, np.ones_like(start), steps) * (steps // block)
    for residue in np.unique(offset % block):
        carried = steps % block >= block - residue
        if carried.any():
            some = offset % block == residue
            used[carried] += _active_sum(start[some], finish[some], np.ones(some.sum(), np.int64), steps[carried])
    worst = int(used.argmax())
    return int(steps[worst]), int(used[worst]) * block


def _active_sum(start: Ints, finish: Ints, weight: Ints, times: Ints) -> Ints:
    """For each time t, the sum of `weight` over ``start < t <= finish``."""

    def before(events: Ints) -> Ints:
        order = np.argsort(events, kind="stable")
        total = np.concatenate(([0], np.cumsum(weight[order])))
        return total[np.searchsorted(events[order], times, side="left")]

    return before(start) - before(finish)
