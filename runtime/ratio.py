"""The exact competitive ratio of a policy on one instance, with what proves it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lp_bounds.certificate import (
    lower_bound_certificate,
    optimum_certificate,
    policy_claim,
    ratio_certificate,
)
from lp_bounds.exact import ExactResult, solve
from runtime.policies import Policy
from runtime.simulator import simulate
from theory.errors import InputError
from theory.model import Instance, Schedule


@dataclass(frozen=True, slots=True)
class RatioResult:
    """A policy's run, the optimum or bounds on it, and their ratio.

    Attributes
    ----------
    policy, admission, fit
        What ran, with true lengths.
    instance : Instance
    schedule : Schedule
        The policy's.
    latency : int
        Its total end-to-end latency (steps).
    best : ExactResult
        The optimum, or the bounds on it that were found in time.
    seconds : float
        Time taken.
    """

    policy: Policy
    admission: str
    fit: str
    instance: Instance
    schedule: Schedule
    latency: int
    best: ExactResult
    seconds: float

    @property
    def optimum(self) -> int | None:
        """Least total latency of any feasible schedule (steps); None if it was not proved in time."""
        return self.best.upper_bound if self.best.status == "optimal" else None

    @property
    def lower_bound(self) -> Fraction:
        """Proven lower bound on the optimum (steps)."""
        return self.best.lower_bound

    @property
    def upper_bound(self) -> int:
        """Total latency of the best schedule known (steps)."""
        return self.best.upper_bound

    @property
    def ratio(self) -> Fraction:
        """Latency over the optimum if known, else over the lower bound: then an upper bound on the ratio."""
        return self.latency / (self.lower_bound if self.optimum is None else Fraction(self.optimum))

    def to_dict(self) -> dict[str, Any]:
        """The result as the command line prints it with ``--json``."""
        return {
            "policy": self.policy.name,
            "admission": self.admission,
            "fit": self.fit,
            "alpha": [*self.instance.alpha.as_integer_ratio()],
            "latency": self.latency,
            "optimum": self.optimum,
            "lower_bound": [*self.lower_bound.as_integer_ratio()],
            "upper_bound": self.upper_bound,
            "status": self.best.status,
            "ratio": [*self.ratio.as_integer_ratio()],
            "seconds": round(self.seconds, 3),
        }

    def certificate(self) -> dict[str, Any]:
        """What proves the ratio, for ``geosched check``.

        Raises
        ------
        InputError
            If the checker does not know the admission rule.
        """
        if self.admission == "easy":
            raise InputError("--certificate", "is not available for easy admission", "use strict, skip or conservative")
        best = self.best
        if self.optimum is not None:
            proof = optimum_certificate(self.instance, best.schedule, best.multipliers, best.denominator)
        else:
            proof = lower_bound_certificate(
                self.instance, best.lower_bound, next(iter(best.multipliers), None), best.denominator
            )
        claim = policy_claim(self.policy.name, self.admission, self.fit, self.policy.parameters)
        return ratio_certificate(claim, self.latency, proof)


def competitive_ratio(
    instance: Instance,
    policy: Policy,
    *,
    admission: str = "strict",
    fit: str = "lookahead",
    time_limit: float | None = None,
) -> RatioResult:
    """Run a policy with true lengths and compare its total latency with the optimum.

    Parameters
    ----------
    instance : Instance
    policy : Policy
        The priority key, for example ``runtime.policies.SVF``.
    admission : {"strict", "skip", "conservative", "easy"}
    fit : {"lookahead", "peak"}
    time_limit : float, optional
        Seconds for the whole; without it the search goes on until the optimum is proved.

    Raises
    ------
    InputError
        If the time limit is not positive or a name is unknown.
    TimeoutError
        If the time limit ends while the policy is still running.

    Examples
    --------
    >>> from runtime.policies import SVF
    >>> from theory.model import Request
    >>> result = competitive_ratio(Instance(10, [Request(*r) for r in [(1, 4), (1, 3), (6, 4), (2, 4)]]), SVF)
    >>> result.latency, result.optimum, result.ratio
    (25, 24, Fraction(25, 24))
    """
    begin = time.monotonic()
    if time_limit is not None and not time_limit > 0:
        raise InputError("--time-limit", f"is {time_limit}", "give a positive number of seconds")
    run = simulate(instance, policy, admission, fit, deadline=None if time_limit is None else begin + time_limit)
    left = None if time_limit is None else max(0.01, time_limit - (time.monotonic() - begin))
    best = solve(instance, time_limit=left)
    return RatioResult(
        policy, admission, fit, instance, run.schedule(), run.total_latency, best, time.monotonic() - begin
    )
