"""Certificates: claims about one instance with all that is needed to check them, as JSON.

Building one computes what follows from its parts (a latency, a ratio) and decides nothing:
:func:`lp_bounds.checker.check` does, which shares no code with this module.

Every certificate is an object with ``"format": "geosched-certificate"``, ``"version": 1``, ``"kind"``,
``"instance"`` (see :mod:`theory.instance_json`) and the keys of its kind. Numbers are integers, fractions are
``[numerator, denominator]``, times are steps:

- ``"lower-bound"``: the optimum is at least ``"bound"``. By ``"method": "mean-busy-time"``: the larger of the sum
  of outputs (L1) and the mean-busy-time bound (L4). By ``"method": "multipliers"``: with a ``"denominator"`` D and
  ``"multipliers"`` ``lam_1, lam_2, ... >= 0`` of the memory rows (0 beyond the list), which prove
  ``sum_i min_t (t + o_i - a_i + sum_j lam_{t+j} held_j / D) - M sum lam / D``.
- ``"optimum"``: the optimum is ``"optimum"``, the total latency of ``"starts"``; ``"multipliers"`` is a list of
  vectors over one ``"denominator"``, with which the checker's search finds no better schedule.
- ``"witness"``: the ``"policy"`` has total latency ``"latency"``, a feasible schedule ``"starts"`` has less: the
  competitive ratio of the policy is at least ``"ratio"``.
- ``"ratio"``: the ``"policy"`` has total latency ``"latency"``; ``"proof"`` is an optimum or a lower bound (with
  ``"kind"`` and the keys of its kind); latency over optimum is ``"ratio"``, or with a lower bound at most that.

A policy is ``{"name": "svf" | "sjf" | "fcfs" | "svf-1bit", "admission": "strict" | "skip" | "conservative",
"fit": "lookahead" | "peak"}``, for ``svf-1bit`` also ``"threshold"``, ``"proxy_short"`` and ``"proxy_long"``; it
knows the true output lengths. Optional in every kind: ``"alpha"`` and ``"peak"``, which the checker compares with
the instance, and ``"hypotheses"``, strings for the reader that it does not interpret.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Any

from theory.errors import InputError
from theory.instance_json import instance_to_dict, load_json, read_text, write_text
from theory.model import Instance, Schedule

_LONG = 10**18
_ROUNDED = 10**9


def lower_bound_certificate(
    instance: Instance,
    bound: Fraction,
    multipliers: Sequence[int] | None = None,
    denominator: int = 1,
) -> dict[str, Any]:
    """Claim that the optimum is at least `bound`.

    Parameters
    ----------
    instance : Instance
    bound : Fraction
        Steps. If it is very long it is rounded down to a multiple of 1e-9.
    multipliers : sequence of int, optional
        ``D lam_1, D lam_2, ...``; without them the claim rests on outputs and mean busy times.
    denominator : int
        D.

    Examples
    --------
    >>> from theory.model import Request
    >>> certificate = lower_bound_certificate(Instance(4, [Request(3, 1), Request(3, 1)]), Fraction(3))
    >>> certificate["method"], certificate["bound"], certificate["alpha"]
    ('mean-busy-time', [3, 1], [1, 1])
    """
    if bound.numerator > _LONG or bound.denominator > _LONG:
        bound = Fraction(floor(bound * _ROUNDED), _ROUNDED)
    claim: dict[str, Any] = {"method": "mean-busy-time", "bound": [*bound.as_integer_ratio()]}
    if multipliers is not None:
        claim |= {"method": "multipliers", "denominator": denominator, "multipliers": list(multipliers)}
    return _certificate("lower-bound", instance) | claim


def optimum_certificate(
    instance: Instance,
    schedule: Schedule,
    multipliers: Sequence[Sequence[int]] = (),
    denominator: int = 1,
) -> dict[str, Any]:
    """Claim that no schedule is better than this one.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
    multipliers : sequence of sequences of int
        Multipliers of the memory rows over `denominator`; good ones make the checker fast.
    denominator : int

    Raises
    ------
    InputError
        If the schedule is not feasible.
    """
    return _certificate("optimum", instance) | {
        "optimum": _latency(instance, schedule),
        "starts": list(schedule.starts),
        "denominator": denominator,
        "multipliers": [list(vector) for vector in multipliers],
    }


def witness_certificate(instance: Instance, policy: dict[str, Any], latency: int, schedule: Schedule) -> dict[str, Any]:
    """Claim that a policy has this total latency (steps) and that the schedule is better.

    Parameters
    ----------
    instance : Instance
    policy : dict
        From :func:`policy_claim`.
    latency : int
    schedule : Schedule

    Raises
    ------
    InputError
        If the schedule is not feasible.
    """
    ratio = Fraction(latency, _latency(instance, schedule))
    return _certificate("witness", instance) | {
        "policy": policy,
        "latency": latency,
        "starts": list(schedule.starts),
        "ratio": [*ratio.as_integer_ratio()],
    }


def ratio_certificate(policy: dict[str, Any], latency: int, proof: dict[str, Any]) -> dict[str, Any]:
    """Claim the ratio of a policy's total latency to the optimum, or a bound on it.

    Parameters
    ----------
    policy : dict
        From :func:`policy_claim`.
    latency : int
        Total latency of the policy's run on the instance of `proof` (steps).
    proof : dict
        A certificate of the optimum (the ratio is exact) or of a lower bound (the ratio is at most that).

    Raises
    ------
    InputError
        If `proof` is of another kind or its bound is not positive.
    """
    if proof.get("kind") not in ("optimum", "lower-bound"):
        raise InputError("proof", f"is of kind {proof.get('kind')!r}", "give an optimum or a lower bound")
    common = ("format", "version", "instance", "alpha", "peak")
    inner = {key: value for key, value in proof.items() if key not in common}
    below = Fraction(inner["optimum"]) if inner["kind"] == "optimum" else Fraction(*inner["bound"])
    if below <= 0:
        raise InputError("proof", f"bounds the optimum by {below}", "give a positive lower bound")
    return {key: proof[key] for key in common} | {
        "kind": "ratio",
        "policy": policy,
        "latency": latency,
        "proof": inner,
        "ratio": [*(latency / below).as_integer_ratio()],
    }


def policy_claim(name: str, admission: str, fit: str, parameters: Sequence[int] = ()) -> dict[str, Any]:
    """A policy as certificates name it; `parameters` are threshold, short and long proxy of ``svf-1bit``.

    Examples
    --------
    >>> policy_claim("svf", "strict", "lookahead")
    {'name': 'svf', 'admission': 'strict', 'fit': 'lookahead'}
    """
    claim: dict[str, Any] = {"name": name, "admission": admission, "fit": fit}
    return claim | dict(zip(("threshold", "proxy_short", "proxy_long"), parameters, strict=False))


def write_certificate(path: str | os.PathLike[str], certificate: dict[str, Any]) -> None:
    """Write a certificate file, whole or not at all.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    write_text(path, json.dumps(certificate) + "\n")


def read_certificate(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a certificate file, to show it; whether it is right only the checker says.

    Raises
    ------
    InputError
        If the file is not a JSON object of this format.
    """
    name = os.fspath(path)
    data = load_json(read_text(path), name)
    if not isinstance(data, dict) or data.get("format") != "geosched-certificate":
        raise InputError(name, "is not a certificate", 'give a file with "format": "geosched-certificate"')
    return data


def _certificate(kind: str, instance: Instance) -> dict[str, Any]:
    return {
        "format": "geosched-certificate",
        "version": 1,
        "kind": kind,
        "instance": instance_to_dict(instance),
        "alpha": [*instance.alpha.as_integer_ratio()],
        "peak": instance.peak,
    }


def _latency(instance: Instance, schedule: Schedule) -> int:
    if fault := schedule.violation(instance):
        raise InputError("schedule", fault, "give a feasible schedule")
    return schedule.total_latency(instance)
