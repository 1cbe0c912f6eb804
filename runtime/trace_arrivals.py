"""Arrivals of the requests of a trace, in whole steps: at once, as recorded, or drawn from a Poisson process.

The offered load is ``lambda E[v] / M``: arrivals per step, times the mean volume of the requests in token-steps,
over the memory. Above 1 no schedule keeps up; below 1 a policy may still not.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from runtime.trace_table import Ints, Trace
from theory.errors import InputError
from theory.model import MAX_STEPS

ARRIVALS = ("burst", "trace", "poisson")
#: Length of a step in seconds where recorded times become steps and nothing else is said: a usual time between
#: two tokens of a served model.
STEP_SECONDS = Fraction(3, 100)


def arrival_steps(
    trace: Trace,
    volume: Ints,
    memory: int,
    arrivals: str = "burst",
    *,
    load: Fraction | float | None = None,
    seed: int = 0,
    step_seconds: Fraction = STEP_SECONDS,
) -> Ints:
    """Arrival of every request of a trace in steps.

    Parameters
    ----------
    trace : Trace
        The n requests that are kept.
    volume : int64 array of shape (n,)
        Their volumes in token-steps.
    memory : int
        Capacity M in tokens.
    arrivals : {"burst", "trace", "poisson"}
        ``"burst"``: all 0. ``"trace"``: times in steps as recorded; times in seconds counted from the earliest one
        kept and divided by `step_seconds`, rounded down; with a `load` they are instead stretched so that the last
        of the n comes ``(n - 1) E[v] / (load M)`` steps after the first, rounded down. ``"poisson"``: the requests
        come in the order of the trace with independent exponential gaps of mean ``E[v] / (load M)`` steps, the
        first gap before the first request; the real-valued arrivals are rounded down.
    load : number, optional
        Offered load.
    seed : int
        Seed of the gaps (``numpy.random.default_rng``).
    step_seconds : Fraction
        Length of a step in seconds.

    Raises
    ------
    InputError
        If the trace has no arrivals, or the load, the step or the seed is out of range or not given where needed.

    Examples
    --------
    >>> trace = Trace("x", "azure", np.ones(3, int), np.ones(3, int), "ns", np.array([0, 70_000_000, 10**9]))
    >>> arrival_steps(trace, np.array([2, 2, 2]), 4, "trace")
    array([ 0,  2, 33])
    >>> arrival_steps(trace, np.array([2, 2, 2]), 4, "trace", load=Fraction(1, 10))
    array([ 0,  0, 10])
    """
    n = len(trace)
    if arrivals not in ARRIVALS:
        raise InputError("--arrivals", f"is {arrivals!r}", f"choose one of {', '.join(ARRIVALS)}")
    if load is not None and not 0 < load <= 1000:
        raise InputError("--load", f"is {load}", "give an offered load above 0 (1 fills the memory)")
    if arrivals == "burst":
        if load is not None:
            raise InputError("--load", "has no meaning in a burst", "leave it out, or give --arrivals poisson")
        return np.zeros(n, np.int64)
    gap = float(volume.mean()) / (float(load) * memory) if load is not None and n else 0.0
    if arrivals == "poisson":
        if load is None:
            raise InputError("--load", "is not given", "Poisson arrivals need an offered load, for example 0.9")
        if seed < 0:
            raise InputError("--seed", f"is {seed}", "give 0 or more")
        times = np.floor(np.cumsum(np.random.default_rng(seed).exponential(gap, n)))
    else:
        times = _recorded(trace, gap * (n - 1), step_seconds, scaled=load is not None)
    if n and times.max() > MAX_STEPS:
        raise InputError(trace.source, f"spans more than {MAX_STEPS} steps", "give longer steps or a higher load")
    return times.astype(np.int64)


def _recorded(trace: Trace, span: float, step_seconds: Fraction, *, scaled: bool) -> Ints:
    if trace.arrival is None:
        raise InputError(trace.source, "has no arrival times", "give --arrivals burst or poisson")
    if not scaled and trace.unit == "steps":
        return trace.arrival
    since = trace.arrival - (trace.arrival.min() if len(trace) else 0)
    if not scaled:
        return ticks(since, step_seconds)
    recorded = int(since.max()) if len(trace) else 0
    if not recorded:
        raise InputError(trace.source, "has all its arrivals at one time", "give --arrivals poisson, or no load")
    stretched: Ints = np.floor(since / recorded * span).astype(np.int64)
    return stretched


def step_nanoseconds(step_seconds: Fraction) -> int:
    """A step length as whole nanoseconds.

    Raises
    ------
    InputError
        If it is shorter than a nanosecond or longer than an hour.
    """
    nanoseconds = round(step_seconds * 10**9)
    if not 1 <= nanoseconds <= 3600 * 10**9:
        raise InputError("--step-seconds", f"is {float(step_seconds)} seconds", "give 1e-9 to 3600 seconds")
    return nanoseconds


def ticks(nanoseconds: Ints, step_seconds: Fraction) -> Ints:
    """Times in nanoseconds as whole steps, rounded down."""
    return nanoseconds // step_nanoseconds(step_seconds)
