"""A bad instance as evidence: the policy's latency, a better schedule, and what is proved above."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adversary.evaluate import Evaluator
from adversary.genome import Genome
from adversary.regime import Regime
from lp_bounds.certificate import witness_certificate
from lp_bounds.exact import solve
from runtime.policies import Policy
from runtime.simulator import simulate
from theory.burst_bounds import proved_bounds
from theory.model import Instance, Schedule

#: Largest instance, in requests, whose exact optimum is tried, and for how long (seconds).
SMALL = 40
SECONDS = 5.0
#: Operations for the schedule of a finalist.
LIMIT = 50_000_000


@dataclass(frozen=True, slots=True)
class Witness:
    """An instance on which a policy is `ratio` times worse than a feasible schedule.

    Attributes
    ----------
    regime : Regime
    genome : Genome
        The instance, in short.
    latency : int
        Total latency of the policy (steps), by the simulator.
    schedule : Schedule
        A better schedule.
    best : int
        Its total latency (steps).
    optimal : bool
        Whether it is known to be optimal.
    bound : tuple of str and Fraction, or None
        Name and value of the smallest proved upper bound on the ratio of this instance, if there is one.
    """

    regime: Regime
    genome: Genome
    latency: int
    schedule: Schedule
    best: int
    optimal: bool
    bound: tuple[str, Fraction] | None

    @property
    def ratio(self) -> Fraction:
        """Latency of the policy over that of the schedule: a lower bound on the competitive ratio."""
        return Fraction(self.latency, self.best)

    def certificate(self, remarks: dict[str, str]) -> dict[str, Any]:
        """The certificate of kind ``witness``, with remarks for the reader."""
        claim = witness_certificate(self.genome.instance(), self.regime.claim, self.latency, self.schedule)
        shown = {} if self.bound is None else {"proved upper bound": f"{self.bound[0]}: {self.bound[1]}"}
        optimal = "optimal" if self.optimal else "feasible; the optimum may be lower still"
        return claim | {"hypotheses": {"schedule": optimal} | shown | remarks}


def make_witness(regime: Regime, genome: Genome) -> Witness:
    """Run the policy in the simulator and find a good schedule: of small instances the exact optimum.

    Examples
    --------
    >>> witness = make_witness(Regime(), Genome(119, ((1, 14, 1), (118, 1, 1)), 3))
    >>> witness.ratio, witness.optimal, witness.bound
    (Fraction(59, 19), True, ('T4-sharp', Fraction(139, 5)))
    """
    instance = genome.instance()
    run = simulate(instance, regime.scheduler, regime.admission, regime.fit)
    schedule, optimal = Schedule(tuple(Evaluator(regime, LIMIT).starts(genome))), False
    if run.total_latency < schedule.total_latency(instance):
        schedule = run.schedule()
    if len(instance) <= SMALL:
        exact = solve(instance, time_limit=SECONDS)
        if exact.status == "optimal":  # only then is the answer the same whenever it is asked
            schedule, optimal = exact.schedule, True
    return Witness(
        regime,
        genome,
        run.total_latency,
        schedule,
        schedule.total_latency(instance),
        optimal,
        best_bound(instance, regime.scheduler, regime.admission, regime.fit),
    )


def best_bound(instance: Instance, policy: Policy, admission: str, fit: str) -> tuple[str, Fraction] | None:
    """Name and value of the smallest proved upper bound on the ratio of an instance, if there is one."""
    keys = [policy.key(r.prompt, r.output, r.arrival) for r in instance.requests]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    bounds = proved_bounds(instance, order, admission, fit)
    return min(((name, value) for name, (_, value) in bounds.items()), key=lambda entry: entry[1], default=None)
