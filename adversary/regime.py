"""What is attacked: a policy, how it admits, and which instances count."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

from lp_bounds.certificate import policy_claim
from runtime.policies import ADMISSIONS, FITS, POLICIES, Policy, named_policy, one_bit
from theory.errors import InputError

#: Largest memory (tokens) that a search considers if it may choose.
MEMORY = 30_000
#: Largest output (steps) for which 1-bit SVF is tuned, if none is given.
LARGEST = 256


@dataclass(frozen=True, slots=True)
class Regime:
    """Bursts in the paper's memory model against one policy with known lengths.

    Parameters
    ----------
    policy : str
        ``svf``, ``sjf``, ``fcfs``, ``svf-1bit``, or ``module:function`` for a key ``(prompt, output, arrival)``.
    admission : {"strict", "skip", "conservative", "easy"}
    fit : {"lookahead", "peak"}
    alpha : Fraction
        Every peak is at most `alpha` times the memory.
    memory : int or None
        The memory (tokens); with None the search chooses one up to `MEMORY`.
    requests : int
        Most requests of an instance.
    largest : int or None
        Largest output (steps); with None there is no limit, but 1-bit SVF takes `LARGEST`.
    threshold : int or None
        Threshold of 1-bit SVF; ``sqrt(largest)`` by default. The proxies are the geometric means of the classes.

    Raises
    ------
    InputError
        If a value is unknown or out of range.

    Examples
    --------
    >>> Regime("svf-1bit", threshold=255).scheduler.parameters, Regime(alpha=Fraction(1, 2)).slug
    ((255, 15, 255), 'svf-strict-lookahead-alpha-1-2')
    """

    policy: str = "svf"
    admission: str = "strict"
    fit: str = "lookahead"
    alpha: Fraction = Fraction(1)
    memory: int | None = None
    requests: int = 1000
    largest: int | None = None
    threshold: int | None = None

    def __post_init__(self) -> None:
        for where, value, known in (("--admission", self.admission, ADMISSIONS), ("--fit", self.fit, FITS)):
            if value not in known:
                raise InputError(where, f"is {value!r}", f"give one of {', '.join(known)}")
        if not 0 < self.alpha <= 1:
            raise InputError("--alpha", f"is {self.alpha}", "give a number above 0, at most 1")
        for where, number, low in (
            ("--memory", self.memory, 2),
            ("--requests", self.requests, 2),
            ("--largest", self.largest, 2),
            ("--threshold", self.threshold, 1),
        ):
            if number is not None and number < low:
                raise InputError(where, f"is {number}", f"give {low} or more")
        if self.memory is not None and self.memory * self.alpha < 1:
            raise InputError("--alpha", f"is {self.alpha}", f"allow peaks of 1 token in {self.memory}")
        if self.policy == "svf-1bit" and self.largest is None:
            object.__setattr__(self, "largest", LARGEST)
        if self.threshold is not None and self.policy != "svf-1bit":
            raise InputError("--threshold", f"is {self.threshold}", "give one for svf-1bit only")
        _ = self.scheduler

    @property
    def scheduler(self) -> Policy:
        """The priority key."""
        if ":" in self.policy:
            return _load(self.policy)
        if self.policy == "svf-1bit" and self.threshold is not None:
            assert self.largest is not None
            short, long = isqrt(self.threshold), isqrt(self.threshold * self.largest)
            return one_bit(self.threshold, short, max(short, long))
        return named_policy(self.policy, self.largest or LARGEST)

    @property
    def claim(self) -> dict[str, Any]:
        """The policy as certificates name it."""
        parameters = self.scheduler.parameters if self.policy == "svf-1bit" else ()
        return policy_claim(self.policy, self.admission, self.fit, parameters)

    @property
    def certifiable(self) -> bool:
        """Whether the checker knows this policy and admission rule."""
        return self.policy in POLICIES and self.admission != "easy"

    @property
    def slug(self) -> str:
        """Name of the regime in file names: what the records are kept apart by."""
        bit = f"-threshold-{self.scheduler.parameters[0]}-of-{self.largest}" if self.policy == "svf-1bit" else ""
        name = self.policy.replace(":", ".").replace("/", ".")
        alpha = f"-alpha-{self.alpha.numerator}-{self.alpha.denominator}" if self.alpha < 1 else "-alpha-1"
        memory = "" if self.memory is None else f"-memory-{self.memory}"
        return f"{name}{bit}-{self.admission}-{self.fit}{alpha}{memory}"

    def with_alpha(self, alpha: Fraction) -> Regime:
        """The same with another bound on peaks."""
        return replace(self, alpha=alpha)

    def to_dict(self) -> dict[str, Any]:
        """The regime as JSON."""
        return {
            "policy": self.policy, "admission": self.admission, "fit": self.fit,
            "alpha": [*self.alpha.as_integer_ratio()], "memory": self.memory, "requests": self.requests,
            "largest": self.largest, "threshold": self.threshold,
        }  # fmt: skip


def regime_from_dict(data: dict[str, Any]) -> Regime:
    """Inverse of :meth:`Regime.to_dict`."""
    return Regime(**{**data, "alpha": Fraction(*data["alpha"])})


def _load(name: str) -> Policy:
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError("--policy", f"{name}: {error}", "give an importable module:function") from None
    if not callable(found):
        raise InputError("--policy", f"{name} is not a function", "give a key (prompt, output, arrival)")
    return Policy(name, found)
