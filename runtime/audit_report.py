"""What an audit reports: one row for each schedule, the bound, and the hypotheses under which the ratios hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from runtime.simulator import SimulationResult
from runtime.trace_table import Trace
from theory.model import MemoryModel


@dataclass(frozen=True, slots=True)
class Row:
    """One schedule: simulated, or observed in a log (then `policy` is ``"observed"`` and `admission` None).

    Latencies and makespan are in the unit of the report (steps or seconds); percentiles are by nearest rank.
    `certified_ratio` is exact, and the truth is at most that; `ratio` is its decimal.
    """

    policy: str
    admission: str | None
    total_latency: Fraction
    mean_latency: float
    p95_latency: float
    p99_latency: float
    makespan: float
    certified_ratio: Fraction

    @property
    def ratio(self) -> float:
        """The certified ratio as a float."""
        return float(self.certified_ratio)

    def to_dict(self) -> dict[str, Any]:
        """The row as the command line prints it with ``--json``."""
        return {
            "policy": self.policy,
            "admission": self.admission,
            "mean_latency": self.mean_latency,
            "p95_latency": self.p95_latency,
            "p99_latency": self.p99_latency,
            "makespan": self.makespan,
            "certified_ratio": [*self.certified_ratio.as_integer_ratio()],
            "ratio": self.ratio,
        }


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit found.

    Attributes
    ----------
    requests : int
        Number of requests audited.
    dropped : dict
        ``{reason: count}`` of the rows left out.
    rows : tuple of Row
        One for each policy and admission rule, or the one observed.
    lower_bound : Fraction
        On the total latency of any schedule, in `unit`.
    bound_name : {"L1", "L4"}
    alpha : Fraction
        Largest peak over memory.
    unit : {"steps", "seconds"}
    offered_load : float or None
        Arrivals per step times mean volume over memory, as it came out; None for a burst and for observed seconds.
    hypotheses : tuple of str
        Under which the ratios hold.
    violation : str or None
        How an observed log contradicts the model or the memory.
    seconds_simulating, seconds_bounding, seconds : float
        Time taken.
    """

    source: str
    format: str
    requests: int
    dropped: dict[str, int]
    rows: tuple[Row, ...]
    lower_bound: Fraction
    bound_name: str
    alpha: Fraction
    unit: str
    offered_load: float | None
    hypotheses: tuple[str, ...]
    violation: str | None
    seconds_simulating: float
    seconds_bounding: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The report as the command line prints it with ``--json``."""
        return {
            "source": self.source,
            "format": self.format,
            "requests": self.requests,
            "dropped": sum(self.dropped.values()),
            "dropped_reasons": self.dropped,
            "policies": [row.to_dict() for row in self.rows],
            "lower_bound": [*self.lower_bound.as_integer_ratio()],
            "bound": self.bound_name,
            "alpha": [*self.alpha.as_integer_ratio()],
            "unit": self.unit,
            "offered_load": self.offered_load,
            "hypotheses": list(self.hypotheses),
            "violation": self.violation,
            "seconds": round(self.seconds, 3),
        }


def row_of_run(policy: str, admission: str | None, run: SimulationResult, bound: Fraction, ticks: int) -> Row:
    """Summarise a run whose times are in ticks, so many to the unit of the report; the bound is in ticks."""

    def in_unit(time: int) -> float:
        return time if ticks == 1 else time / ticks

    return Row(
        policy=policy,
        admission=admission,
        total_latency=Fraction(run.total_latency, ticks),
        mean_latency=run.mean_latency / ticks,
        p95_latency=in_unit(run.p95_latency),
        p99_latency=in_unit(run.p99_latency),
        makespan=in_unit(run.makespan),
        certified_ratio=run.total_latency / bound,
    )


def memory_sentence(model: MemoryModel) -> str:
    """Say what a running request holds."""
    held = "s + j" if model.lag == 0 else "s + j - 1"
    blocks = "" if model.block == 1 else f", in blocks of {model.block}"
    return f"a request with prompt s holds {held} tokens in its j-th step{blocks}"


def arrival_sentence(
    trace: Trace, arrivals: str, load: Fraction | float | None, seed: int, step_seconds: Fraction
) -> str:
    """Say where the arrivals come from."""
    if arrivals == "burst":
        return "burst: all requests arrive at step 0"
    if arrivals == "poisson":
        return f"Poisson arrivals at offered load {float(load or 0):g}, seed {seed}"
    if load is not None:
        return f"recorded arrivals, stretched to offered load {float(load):g}"
    return "recorded arrivals" + ("" if trace.unit == "steps" else f", in steps of {float(step_seconds):g} s")
