"""A witness certificate as a Rocq file: what the policy does, and how much better another schedule is.

The file states the instance, the policy and the schedule, and proves by computation, on the definitions of
``theory/proofs/Witness.v``, that the policy's total latency is A, that the schedule is feasible with total latency
B, and that ``num B <= A den`` for the claimed ratio. A second theorem carries both schedules to the model.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from lp_bounds.certificate import read_certificate
from lp_bounds.checker import Verdict
from runtime import rocq
from theory.errors import InputError
from theory.instance_json import instance_from_dict
from theory.model import PAPER, Instance

_ADMISSIONS = {"strict": "Strict", "skip": "SkipAhead", "conservative": "Conservative"}
_FITS = {"lookahead": "Lookahead", "peak": "Peak"}
_KEYS = {"svf": "key_volume", "sjf": "key_output", "fcfs": "key_arrival", "svf-1bit": "key_one_bit"}
_KEY_ONE_BIT = """
(** Volume with a proxy for the output: one bit says whether it exceeds the threshold. *)
Definition key_one_bit (r : entry) : N :=
  key_volume (fst r, if snd r <=? {threshold} then {proxy_short} else {proxy_long}).
"""
_FILE = """(** {title} *)

From Burst Require Import Witness WitnessSound Model Multiset.
Require Import NArith List.
Import ListNotations.
Local Open Scope N_scope.
{key_definition}
(** (prompt, output), in the order of submission; the policy takes them by its key, ties in this order. *)
Definition requests : list entry :=
  {requests}.
Definition order : list entry := order_by {key} requests.

(** A better schedule: start times, request by request. *)
Definition schedule : list placed_entry := combine requests
  [{starts}].

Theorem certified :
  witness {admission} {fit} {key} {memory} order schedule {latency} {better} = true
  /\\ {num} * {better} <= {latency} * {den}.
Proof. vm_compute. split; [reflexivity|discriminate]. Qed.

(** Both are feasible schedules of the same requests in the model, with these latencies. *)
Definition in_the_model := witness_sound _ _ _ _ _ _ _ _ (proj1 certified).

Print Assumptions in_the_model.
Print Assumptions certified.
"""


def rocq_source(certificate: dict[str, Any]) -> str:
    """The text of a Rocq file that proves what a witness certificate claims.

    Parameters
    ----------
    certificate : dict
        Of kind ``"witness"`` (see :mod:`lp_bounds.certificate`), a burst in the paper's memory model. It need not
        be right: Rocq decides.

    Raises
    ------
    InputError
        If it is of another kind, outside of what ``Witness.v`` computes, or malformed.

    Examples
    --------
    >>> from lp_bounds.certificate import policy_claim, witness_certificate
    >>> from theory.model import Request, Schedule
    >>> instance = Instance(4, [Request(1, 2), Request(3, 1)])
    >>> claim = witness_certificate(instance, policy_claim("svf", "strict", "peak"), 5, Schedule((1, 0)))
    >>> print([line for line in rocq_source(claim).splitlines() if line.startswith("  witness")][0])
      witness Strict Peak key_volume 4 order schedule 5 4 = true
    """
    if certificate.get("kind") != "witness":
        raise InputError("kind", f"is {certificate.get('kind')!r}", "Rocq checks witness certificates only")
    instance = instance_from_dict(certificate.get("instance"), "instance")
    if not instance.is_burst:
        raise InputError("instance", "has arrivals", "Witness.v computes bursts only; use geosched check")
    if instance.memory_model != PAPER:
        raise InputError("instance", "has another memory model", "Witness.v computes the paper's; use geosched check")
    policy = certificate.get("policy")
    if not isinstance(policy, dict):
        raise InputError("policy", "is missing", "give name, admission and fit")
    starts = _integers(certificate, "starts", len(instance))
    num, den = _integers(certificate, "ratio", 2)
    if den < 1:
        raise InputError("ratio", "has no positive denominator", "give [numerator, denominator]")
    latency = _integer(certificate, "latency")
    name, admission, fit = policy.get("name"), policy.get("admission"), policy.get("fit")
    return _FILE.format(
        title=f"{name}, {admission} admission, fit test {fit}: ratio at least {num}/{den}",
        key_definition=_one_bit(policy) if name == "svf-1bit" else "",
        requests=_requests(instance),
        key=_choice(name, "policy.name", _KEYS),
        starts="; ".join(map(str, starts)),
        admission=_choice(admission, "policy.admission", _ADMISSIONS),
        fit=_choice(fit, "policy.fit", _FITS),
        memory=instance.memory,
        latency=latency,
        better=sum(starts) + instance.total_output,
        num=num,
        den=den,
    )


def check_with_rocq(path: str | os.PathLike[str], time_limit: float = 600.0) -> Verdict:
    """Let Rocq decide a witness certificate.

    Parameters
    ----------
    path : path
        The certificate file.
    time_limit : float
        Seconds, for building the proofs if need be and for the computation.

    Returns
    -------
    Verdict
        Accepted if Rocq proves the claim from no axiom. The reason begins with "undecided" where Rocq is missing
        or the time ran out.

    Raises
    ------
    InputError
        If the file is no witness certificate of a burst in the paper's memory model, or malformed.
    """
    certificate = read_certificate(path)
    source = rocq_source(certificate)
    try:
        output = rocq.check_source(source, rocq.built_proofs(time_limit), time_limit)
    except rocq.NotCheckedError as error:
        return Verdict(False, "nothing is proved", f"undecided: {error}")
    except rocq.ProofError as error:
        return Verdict(False, "nothing is proved", f"Rocq does not accept the claim: {error}")
    if output.split("\n") != ["Closed under the global context"] * 2 + [""]:
        return Verdict(False, "nothing is proved", f"the proof rests on more: {' '.join(output.split())}")
    policy, (num, den) = certificate["policy"], certificate["ratio"]
    return Verdict(
        True,
        f"proved in Rocq: {policy['name']} with {policy['admission']} admission and {policy['fit']} fit has total "
        f"latency {certificate['latency']}, at least {num}/{den} times that of the other schedule",
        None,
    )


def _one_bit(policy: dict[str, Any]) -> str:
    return _KEY_ONE_BIT.format(**{name: _integer(policy, name) for name in ("threshold", "proxy_short", "proxy_long")})


def _requests(instance: Instance) -> str:
    """The requests as a Rocq list, equal neighbours together."""
    pieces = []
    for (prompt, output), same in groupby((r.prompt, r.output) for r in instance.requests):
        pieces.append(f"repeat ({prompt}, {output}) (N.to_nat {len(list(same))})")
    return "\n  ++ ".join(pieces) if pieces else "[]"


def _choice(value: Any, where: str, allowed: dict[str, str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(where, f"is {value!r}", f"Rocq knows {', '.join(allowed)}")
    return allowed[value]


def _integer(data: dict[str, Any], key: str) -> int:
    value = data.get(key)
    if type(value) is not int or value < 0:
        raise InputError(key, f"is {value!r}", "give a whole number, 0 or more")
    return value


def _integers(data: dict[str, Any], key: str, length: int) -> Sequence[int]:
    values = data.get(key)
    if not isinstance(values, list) or len(values) != length or any(type(v) is not int or v < 0 for v in values):
        raise InputError(key, "is no list of the right length", f"give {length} whole numbers, 0 or more")
    return values
