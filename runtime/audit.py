"""Audit a request log: bound how far a scheduler was from the best possible schedule.

The total latency of a schedule over a proven lower bound on the optimum is a proven upper bound on its distance
from the optimum, for these requests. The bound is the larger of L1 and L4 (:mod:`lp_bounds.mean_busy_time`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lp_bounds.mean_busy_time_fast import fast_bound, volumes
from runtime.audit_observed import observe
from runtime.audit_report import AuditReport, Row, arrival_sentence, memory_sentence, row_of_run
from runtime.policies import POLICIES, named_policy
from runtime.simulator import SimulationResult, ranks, simulate_arrays
from runtime.trace_arrivals import STEP_SECONDS, arrival_steps
from runtime.trace_select import peaks, select
from runtime.trace_table import Trace
from theory.errors import InputError
from theory.model import PAPER, MemoryModel

__all__ = ["POLICIES", "AuditReport", "Row", "audit", "select"]


def audit(
    trace: Trace,
    memory: int,
    *,
    limit: int | None = None,
    max_peak: Fraction | None = None,
    arrivals: str | None = None,
    load: Fraction | float | None = None,
    seed: int = 0,
    step_seconds: Fraction | None = None,
    policies: Sequence[str] = ("svf", "sjf", "fcfs"),
    admissions: Sequence[str] = ("strict",),
    fit: str = "lookahead",
    memory_model: MemoryModel = PAPER,
    observed: bool = False,
    time_limit: float | None = None,
) -> AuditReport:
    """Simulate policies on the requests of a trace, or take the schedule it records, and bound the optimum.

    Parameters
    ----------
    trace : Trace
        As read by :func:`runtime.traces.read_trace`.
    memory : int
        Capacity M in tokens.
    limit : int, optional
        Keep the first `limit` rows, before anything else is dropped.
    max_peak : Fraction, optional
        Keep requests with a peak of at most ``max_peak * memory``; requests above the memory are always dropped.
    arrivals, load, seed, step_seconds
        As in :func:`runtime.trace_arrivals.arrival_steps`; ``"burst"`` by default. With `observed` the recorded
        arrivals are taken, and `step_seconds` is the least time per output token.
    policies : sequence of {"svf", "sjf", "fcfs", "svf-1bit"}
    admissions : sequence of {"strict", "skip", "conservative"}
        Each policy runs under each admission rule. Lengths are known exactly; for ``"svf-1bit"`` the key sees one
        bit of them and the admission rule all.
    fit : {"lookahead", "peak"}
    memory_model : MemoryModel
    observed : bool
        Audit the recorded start and finish instead of simulating (see :mod:`runtime.audit_observed`).
    time_limit : float, optional
        Seconds for the whole.

    Raises
    ------
    InputError
        If an option is at fault or no request is left.
    TimeoutError
        If the time limit passed.

    Examples
    --------
    >>> trace = Trace("x", "geosched", np.array([3, 3, 9]), np.array([1, 1, 0]))
    >>> report = audit(trace, 4, policies=["svf"])
    >>> report.dropped, report.lower_bound, report.rows[0].certified_ratio
    ({'no output tokens': 1}, Fraction(3, 1), Fraction(1, 1))
    """
    begin = time.monotonic()
    if time_limit is not None and not time_limit > 0:
        raise InputError("--time-limit", f"is {time_limit}", "give a positive number of seconds")
    kept, dropped = select(trace, memory, limit=limit, max_peak=max_peak, memory_model=memory_model)
    about: dict[str, Any] = {
        "source": trace.source,
        "format": trace.format,
        "requests": len(kept),
        "dropped": dropped,
        "alpha": Fraction(int(peaks(kept, memory_model).max()), memory),
    }
    if observed:
        if arrivals not in (None, "trace") or load is not None:
            raise InputError("--observed", "takes the recorded arrivals", "leave out --arrivals and --load")
        return _observed_report(kept, memory, memory_model, step_seconds, about, begin)

    named = [named_policy(name, int(kept.output.max())) for name in policies]
    if not named or not admissions:
        raise InputError("--policy, --admission", "name nothing to run", f"give one of {', '.join(POLICIES)}")
    volume = volumes(kept.prompt, kept.output, memory_model)
    step = STEP_SECONDS if step_seconds is None else step_seconds
    arrival = arrival_steps(kept, volume, memory, arrivals or "burst", load=load, seed=seed, step_seconds=step)
    clock = time.monotonic()
    bound = fast_bound(kept.prompt, kept.output, arrival, memory, memory_model)
    bounded = time.monotonic()
    deadline = None if time_limit is None else begin + time_limit
    rows = []
    for policy in named:
        rank = ranks(policy, kept.prompt, kept.output, arrival)
        for admission in admissions:
            run = simulate_arrays(
                kept.prompt, kept.output, arrival, rank, memory, memory_model, admission, fit, None, deadline
            )
            rows.append(row_of_run(policy.name, admission, run, bound.value, 1))
    end = time.monotonic()
    span = int(arrival.max() - arrival.min())
    return AuditReport(
        rows=tuple(rows),
        lower_bound=bound.value,
        bound_name=bound.name,
        unit="steps",
        offered_load=float(volume.mean()) * (len(kept) - 1) / span / memory if span else None,
        hypotheses=(
            memory_sentence(memory_model),
            f"admission by the fit test {fit}, with true output lengths; prompts take memory, not time",
            arrival_sentence(kept, arrivals or "burst", load, seed, step),
        ),
        violation=None,
        seconds_simulating=end - bounded,
        seconds_bounding=bounded - clock,
        seconds=end - begin,
        **about,
    )


def _observed_report(
    trace: Trace, memory: int, model: MemoryModel, step: Fraction | None, about: dict[str, Any], begin: float
) -> AuditReport:
    clock = time.monotonic()
    seen = observe(trace, memory, model, step)
    assert trace.arrival is not None and trace.finish is not None
    run = SimulationResult(trace.arrival, trace.arrival, trace.finish, np.zeros(len(trace), np.int64))
    ticks = 1 if seen.step_seconds is None else 10**9
    hypotheses = [
        f"{memory_sentence(model)} (the one that makes token j); no prefix is shared between requests",
        "the bound holds for any schedule, also one that pauses or preempts requests",
    ]
    if trace.format == "vllm" and model == PAPER:
        hypotheses.append("vLLM holds a token per request less than that, in blocks: give its memory model")
    if about["dropped"]:
        hypotheses.append("dropped requests took memory too: the ratio charges the scheduler for that")
    if seen.step_seconds is not None:
        told = "given" if step is not None else "the fastest request's mean"
        hypotheses.append(f"no output token takes less than {float(seen.step_seconds):.6g} s ({told})")
    now = time.monotonic()
    return AuditReport(
        rows=(row_of_run("observed", None, run, seen.lower_bound, ticks),),
        lower_bound=seen.lower_bound / ticks,
        bound_name=seen.bound_name,
        unit="steps" if ticks == 1 else "seconds",
        offered_load=None,
        hypotheses=tuple(hypotheses),
        violation=seen.violation,
        seconds_simulating=0.0,
        seconds_bounding=now - clock,
        seconds=now - begin,
        **about,
    )
