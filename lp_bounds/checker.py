"""The certificate checker: re-derives every claim from the instance, trusting nothing else in the file.

``python -m lp_bounds.checker FILE...`` prints what each certificate proves, or why it proves nothing; the exit
code is 0 if all are accepted, else 1. Only the standard library and the checker's own modules are imported: no
solver, no simulator and no reader of the project, so that an error there cannot hide an error here. Numbers are
integers throughout. The four kinds of certificates are described in :mod:`lp_bounds.certificate`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from os import PathLike
from pathlib import Path
from typing import Any

from lp_bounds.checker_bounds import Prices, mean_busy_time_reaches
from lp_bounds.checker_input import (
    MAX_TOKENS,
    Clock,
    Problem,
    RefusedError,
    UndecidedError,
    array,
    choice,
    entries,
    fraction,
    integer,
    integers,
    problem,
    read,
)
from lp_bounds.checker_schedule import Policy, latency_of, simulate
from lp_bounds.checker_search import refute_better

TIME_LIMIT = 600.0  #: seconds, if no other limit is given
MAX_VECTORS = 1000  #: multiplier vectors in one certificate
MAX_PRICES = 1_000_000  #: multipliers in one certificate


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checker says of a certificate.

    Parameters
    ----------
    accepted : bool
        Whether the claim is proved.
    statement : str
        One sentence: what is proved, under which hypotheses; or that nothing is.
    reason : str or None
        Why not: the place and the fault, or "undecided" and what ran out. None if accepted.
    """

    accepted: bool
    statement: str
    reason: str | None


def check(certificate: dict[str, Any] | str | PathLike[str], time_limit: float | None = None) -> Verdict:
    """Check a certificate.

    Parameters
    ----------
    certificate : dict or path
        The parsed JSON object, or the file that holds it.
    time_limit : float, optional
        Seconds after which the answer is "undecided", which is not accepted; 600 by default.

    Returns
    -------
    Verdict
        Faults of the certificate are reported there; nothing is raised.

    Examples
    --------
    >>> instance = {"memory": 2, "requests": [{"prompt": 0, "output": 1}, {"prompt": 0, "output": 2}]}
    >>> claim = {"format": "geosched-certificate", "version": 1, "kind": "lower-bound", "instance": instance}
    >>> check(claim | {"method": "mean-busy-time", "bound": [3, 1]}).statement
    'OPT >= 3 (the larger of outputs and mean busy times); 2 requests, burst, memory 2, alpha = 1, a request with
    prompt s holds s + j tokens in step j'
    >>> check(claim | {"method": "mean-busy-time", "bound": [4, 1]}).reason
    'bound: claims 4, more than the larger of outputs and mean busy times'
    """
    try:
        data = certificate if isinstance(certificate, dict) else read(Path(certificate))
        return Verdict(True, _prove(data, Clock(TIME_LIMIT if time_limit is None else time_limit)), None)
    except RefusedError as refused:
        reason = str(refused)
    except UndecidedError as undecided:
        reason = f"undecided: {undecided}"
    except (MemoryError, RecursionError) as error:
        reason = f"undecided: {type(error).__name__}"
    return Verdict(False, "nothing is proved", " ".join(reason.split()))


def _prove(data: Any, clock: Clock) -> str:
    """Check all of a certificate and say what it proves."""
    kind = choice(_peek(data, "kind", "certificate"), "kind", " ".join(_KINDS))
    keys, prove = _KINDS[kind]
    if kind == "lower-bound":
        keys = _bound_keys(data, "certificate")
    entries(data, "certificate", f"format version kind instance {keys}", "hypotheses alpha peak")
    choice(data["format"], "format", "geosched-certificate")
    integer(data["version"], "version", 1, 1)
    instance = problem(data["instance"])
    _check_extras(data, instance)
    return f"{prove(instance, data, clock)}; {_described(instance)}"


def _check_extras(data: dict[str, Any], instance: Problem) -> None:
    """What a certificate may say beside its claim: remarks for the reader, and figures that must be right."""
    remarks = data.get("hypotheses", {})
    if type(remarks) is not dict:
        raise RefusedError("hypotheses", "is not an object")
    for word, text in remarks.items():
        if type(word) is not str or type(text) is not str:
            raise RefusedError("hypotheses", "holds something other than strings")
    peak = instance.peak()
    if "peak" in data and integer(data["peak"], "peak") != peak:
        raise RefusedError("peak", f"claims {data['peak']}; it is {peak}")
    if "alpha" in data:
        num, den = fraction(data["alpha"], "alpha")
        if num * instance.memory != den * peak:
            raise RefusedError("alpha", f"claims {num}/{den}; it is {_shown(peak, instance.memory)}")


def _described(instance: Problem) -> str:
    """The instance in a few words."""
    held = "s + j" if instance.lag == 0 else "s + j - 1"
    blocks = "" if instance.block == 1 else f" in whole blocks of {instance.block}"
    arrivals = "burst" if all(job.arrival == 0 for job in instance.jobs) else "with arrivals"
    alpha = _shown(instance.peak(), instance.memory)
    return (
        f"{len(instance.jobs)} requests, {arrivals}, memory {instance.memory}, alpha = {alpha}, "
        f"a request with prompt s holds {held} tokens{blocks} in step j"
    )


def _shown(num: int, den: int) -> str:
    """A fraction in lowest terms."""
    common = gcd(num, den)
    return f"{num // common}" if den == common else f"{num // common}/{den // common}"


def _peek(data: Any, key: str, where: str) -> Any:
    """The value that says which other keys there must be."""
    if type(data) is not dict:
        raise RefusedError(where, "is not an object")
    if key not in data:
        raise RefusedError(where, f'lacks "{key}"')
    return data[key]


def _bound_keys(data: Any, where: str) -> str:
    method = choice(_peek(data, "method", where), "method", "multipliers mean-busy-time")
    return "method bound denominator multipliers" if method == "multipliers" else "method bound"


def _lower_bound(instance: Problem, data: dict[str, Any], clock: Clock) -> str:
    num, den = fraction(data["bound"], "bound")
    claim = _shown(num, den)
    if data["method"] == "multipliers":
        denominator = integer(data["denominator"], "denominator", 1)
        array(data["multipliers"], "multipliers", MAX_PRICES)
        prices = Prices(instance, denominator, integers(data["multipliers"], "multipliers"))
        scaled = prices.bound(clock)
        if num * denominator > scaled * den:
            raise RefusedError(
                "bound", f"claims {claim}, more than the {_shown(scaled, denominator)} of the multipliers"
            )
        return f"OPT >= {claim} (multipliers of the memory rows)"
    if not mean_busy_time_reaches(instance, num, den, clock):
        raise RefusedError("bound", f"claims {claim}, more than the larger of outputs and mean busy times")
    return f"OPT >= {claim} (the larger of outputs and mean busy times)"


def _optimum(instance: Problem, data: dict[str, Any], clock: Clock) -> str:
    optimum = integer(data["optimum"], "optimum")
    denominator = integer(data["denominator"], "denominator", 1)
    lists = array(data["multipliers"], "multipliers", MAX_VECTORS)
    if sum(len(array(vector, f"multipliers[{i}]")) for i, vector in enumerate(lists)) > MAX_PRICES:
        raise RefusedError("multipliers", f"has more than {MAX_PRICES} entries in all")
    vectors = [Prices(instance, denominator, integers(vector, f"multipliers[{i}]")) for i, vector in enumerate(lists)]
    latency = latency_of(instance, integers(data["starts"], "starts"), "starts", clock)
    if latency != optimum:
        raise RefusedError("optimum", f"claims {optimum}; the schedule has a total latency of {latency}")
    refute_better(instance, optimum, vectors, clock)
    return f"OPT = {optimum}"


def _policy(data: Any) -> Policy:
    lengths = ("threshold", "proxy_short", "proxy_long")
    one_bit = _peek(data, "name", "policy") == "svf-1bit"
    entries(data, "policy", f"name admission fit {' '.join(lengths) if one_bit else ''}")
    return Policy(
        choice(data["name"], "policy.name", "svf sjf fcfs svf-1bit"),
        choice(data["admission"], "policy.admission", "strict skip conservative"),
        choice(data["fit"], "policy.fit", "lookahead peak"),
        *(integer(data[word], f"policy.{word}", 0, MAX_TOKENS) for word in lengths if one_bit),
    )


def _latency(instance: Problem, policy: Policy, claimed: Any, clock: Clock) -> int:
    """The total latency of the policy's run, which must be as claimed."""
    integer(claimed, "latency")
    latency = latency_of(instance, simulate(instance, policy, clock), "policy's run", clock)
    if latency != claimed:
        raise RefusedError("latency", f"claims {claimed}; the policy's run has {latency}")
    return latency


def _named(policy: Policy) -> str:
    bit = f" (threshold {policy.threshold}, proxies {policy.proxy_short} and {policy.proxy_long})"
    name = policy.name + (bit if policy.name == "svf-1bit" else "")
    return f"{name} with {policy.admission} admission, {policy.fit} fit and known lengths"


def _witness(instance: Problem, data: dict[str, Any], clock: Clock) -> str:
    policy = _policy(data["policy"])
    num, den = fraction(data["ratio"], "ratio")
    better = latency_of(instance, integers(data["starts"], "starts"), "starts", clock)
    latency = _latency(instance, policy, data["latency"], clock)
    if num * better > den * latency:
        raise RefusedError("ratio", f"claims {_shown(num, den)}, more than {latency}/{better}")
    return f"{_named(policy)}: ratio >= {_shown(num, den)} (total latency {latency}, a schedule has {better})"


def _ratio(instance: Problem, data: dict[str, Any], clock: Clock) -> str:
    policy = _policy(data["policy"])
    num, den = fraction(data["ratio"], "ratio")
    proof = data["proof"]
    kind = choice(_peek(proof, "kind", "proof"), "proof.kind", "optimum lower-bound")
    keys = _OPTIMUM_KEYS if kind == "optimum" else _bound_keys(proof, "proof")
    entries(proof, "proof", f"kind {keys}")
    latency = _latency(instance, policy, data["latency"], clock)
    try:
        proved = _optimum(instance, proof, clock) if kind == "optimum" else _lower_bound(instance, proof, clock)
    except RefusedError as refused:
        raise RefusedError("proof", str(refused)) from None
    if kind == "optimum":
        if num * proof["optimum"] != den * latency:
            raise RefusedError("ratio", f"claims {_shown(num, den)}; it is {_shown(latency, proof['optimum'])}")
        return f"{_named(policy)}: ratio = {_shown(num, den)} (total latency {latency}, {proved})"
    low_num, low_den = fraction(proof["bound"], "proof.bound")
    if num * low_num < den * latency * low_den:
        raise RefusedError("ratio", f"claims at most {_shown(num, den)}, less than {latency} / the lower bound")
    return f"{_named(policy)}: ratio <= {_shown(num, den)} (total latency {latency}, {proved})"


_OPTIMUM_KEYS = "optimum starts denominator multipliers"
#: kind -> keys beside the common ones (those of a lower bound depend on its method), and what checks it
_KINDS: dict[str, tuple[str, Callable[[Problem, dict[str, Any], Clock], str]]] = {
    "lower-bound": ("", _lower_bound),
    "optimum": (_OPTIMUM_KEYS, _optimum),
    "witness": ("policy latency starts ratio", _witness),
    "ratio": ("policy latency proof ratio", _ratio),
}


def main(arguments: list[str] | None = None) -> int:
    """Check the files named on the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="lp_bounds.checker", description="Check certificates.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, help="seconds per file (default: %(default)g)")
    options = parser.parse_args(arguments)
    accepted = True
    for file in options.files:
        verdict = check(file, options.time_limit)
        accepted &= verdict.accepted
        print(f"{file}: {'accepted' if verdict.accepted else 'NOT accepted'}: {verdict.reason or verdict.statement}")
    return 0 if accepted else 1


if __name__ == "__main__":
    sys.exit(main())
