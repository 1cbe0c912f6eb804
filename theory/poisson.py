"""Poisson arrivals: what the paper claims, separated into true, true under unstated hypotheses, and false.

The public face of the ``poisson_*`` modules: every statement as data, decided when asked, and exact right-hand
sides. The claims are those of Theorems 3.4 and 3.5 of [kong2026]_; papers/poisson.md tells the story.

References
----------
.. [kong2026] Kong, Qi, Ye, Zhou, "Geometry-Aware Online Scheduling for LLM Serving", arXiv 2606.22327, v1 and v2.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from theory import poisson_claims, poisson_moments, poisson_penalty, poisson_queue, poisson_stability
from theory.errors import InputError
from theory.poisson_check import Identity
from theory.poisson_queue import wait_bound
from theory.poisson_stability import paced_wait, saturated_cycle

__all__ = [
    "Identity",
    "identities",
    "one_bit_factor",
    "paced_wait",
    "paper_bound",
    "saturated_cycle",
    "sharper_bound",
    "wait_bound",
]


@cache
def identities() -> tuple[Identity, ...]:
    """Every statement about Poisson arrivals, decided now, the verdicts on the paper's claims last.

    Takes about ten seconds the first time.

    Returns
    -------
    tuple of Identity
        Unique ids; ``all(row.ok for row in identities())`` says that everything stands as recorded.
    """
    modules = (poisson_moments, poisson_queue, poisson_stability, poisson_penalty)
    decided = [row for module in modules for row in module.rows()]
    return (*decided, *poisson_claims.rows({row.id: row for row in decided}))


def paper_bound(success: Fraction, alpha: Fraction, load: Fraction) -> Fraction:
    """Right-hand side of v2 Thm 3.4, ``1 + 2/((1 - alpha)(1 - mu)(1 - rho))``.

    Parameters
    ----------
    success : Fraction
        mu, the success probability of the geometric length, in (0, 1).
    alpha : Fraction
        Largest peak over memory, in (0, 1).
    load : Fraction
        ``rho = lambda E[vol]/((1 - alpha) M/2)``, in [0, 1).

    Raises
    ------
    InputError
        If an argument is outside its range.

    Examples
    --------
    >>> paper_bound(Fraction(1, 2), Fraction(1, 2), Fraction(1, 2))
    Fraction(17, 1)
    """
    _inside("mu", success)
    _inside("alpha", alpha)
    _inside("rho", load, include_zero=True)
    return 1 + 2 / ((1 - alpha) * (1 - success) * (1 - load))


def sharper_bound(success: Fraction, prompt: Fraction, load: Fraction) -> Fraction:
    """The bound that the same ingredients give: ``1 + kappa rho/(1 - rho)``, ``kappa = (mu S + 2)/(mu S + 1)``.

    Parameters
    ----------
    success : Fraction
        mu, in (0, 1).
    prompt : Fraction
        S, the mean prompt length (tokens).
    load : Fraction
        ``rho = lambda E[vol]/((1 - alpha) M/2)``, in [0, 1).

    Raises
    ------
    InputError
        If an argument is outside its range.

    Examples
    --------
    >>> sharper_bound(Fraction(1, 2), Fraction(0), Fraction(1, 2))
    Fraction(3, 1)
    """
    _inside("mu", success)
    _inside("rho", load, include_zero=True)
    if prompt < 0:
        raise InputError("prompt", f"is {prompt}", "give a mean length of 0 or more tokens")
    return 1 + (success * prompt + 2) / (success * prompt + 1) * load / (1 - load)


def one_bit_factor(success: Fraction, prompt: Fraction, threshold: int) -> Fraction:
    """The factor ``E[v]/(E[v] - eps)`` of v2 Thm 3.5, with ``eps = (1/2)(theta q^theta/(1 - q^theta))^2``.

    Parameters
    ----------
    success : Fraction
        mu, in (0, 1).
    prompt : Fraction
        Mean prompt length (tokens).
    threshold : int
        theta, 1 or more.

    Raises
    ------
    InputError
        If an argument is outside its range.

    Examples
    --------
    >>> one_bit_factor(Fraction(1, 2), Fraction(0), 1)
    Fraction(8, 7)
    """
    _inside("mu", success)
    if threshold < 1:
        raise InputError("threshold", f"is {threshold}", "give 1 or more tokens")
    if prompt < 0:
        raise InputError("prompt", f"is {prompt}", "give a mean length of 0 or more tokens")
    power = (1 - success) ** threshold
    eps = (threshold * power / (1 - power)) ** 2 / 2
    volume = prompt / success + 1 / success**2
    return volume / (volume - eps)


def _inside(name: str, value: Fraction, include_zero: bool = False) -> None:
    if not (0 < value < 1 or (include_zero and value == 0)):
        raise InputError(name, f"is {value}", f"give a number in {'[' if include_zero else '('}0, 1)")
