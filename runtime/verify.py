"""Re-check the evidence of claims: theorems by Rocq, algebra by sympy and z3, witnesses by the checker.

A claim counts as re-checked only if what its status rests on was checked in this run. Where a tool is missing or
the time runs out, the evidence is "not re-checked here", with the reason, and does not count.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from lp_bounds import checker
from lp_bounds.certificate import read_certificate
from runtime import rocq
from runtime.verify_sweeps import SWEEPS, CounterexampleError
from theory.claim import (
    CERTIFICATE,
    CHECKABLE,
    COMPUTATION,
    HAND,
    OPEN,
    POISSON,
    PROVED,
    PROVES,
    PUBLISHED,
    REFERENCE,
    REFUTED,
    REFUTES,
    ROCQ,
    SWEEP,
    SYMBOLIC,
    Claim,
    Evidence,
    Facts,
    described,
)
from theory.instance_json import instance_from_dict

OK, FAILED, UNCHECKED = "ok", "failed", "not re-checked here"
#: Where the witnesses lie: data of the package, not code of it.
RECORDS = Path(__file__).resolve().parent.parent / "adversary" / "records"
#: Seconds for everything, if no other limit is given.
TIME_LIMIT = 900.0


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one piece of evidence: "ok", "failed" or "not re-checked here", why, and seconds."""

    evidence: Evidence
    outcome: str
    detail: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one claim.

    Attributes
    ----------
    claim : Claim
    outcome : {"ok", "failed", "not re-checked here"}
        "failed" if any evidence failed; "ok" if what the status rests on was re-checked.
    reason : str
        Why the outcome is not "ok"; else empty.
    evidence : tuple of Checked
    seconds : float
        Time for the evidence; what claims share is counted once.
    """

    claim: Claim
    outcome: str
    reason: str
    evidence: tuple[Checked, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The row as the command line prints it with ``--json``."""
        return {
            "id": self.claim.id,
            "statement": self.claim.statement,
            "hypotheses": described(self.claim.hypotheses),
            "source": str(self.claim.source),
            "status": self.claim.status,
            "note": self.claim.note,
            "outcome": self.outcome,
            "reason": self.reason,
            "evidence": [
                {
                    "kind": found.evidence.kind,
                    "name": found.evidence.name,
                    "role": found.evidence.role,
                    "outcome": found.outcome,
                    "detail": found.detail,
                }
                for found in self.evidence
            ],
            "seconds": round(self.seconds, 3),
        }


def verify(
    claims: Iterable[Claim],
    *,
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[Row, ...]:
    """Re-check the evidence of claims.

    Parameters
    ----------
    claims : iterable of Claim
        From :func:`theory.claims.select`.
    time_limit : float, optional
        Seconds; evidence that is not reached in time is "not re-checked here". 900 by default.
    progress : callable, optional
        Called with one line before each piece of work.

    Returns
    -------
    tuple of Row
        One per claim, in the order given.

    Examples
    --------
    >>> from theory.claims import select
    >>> row = verify(select(["ORACLE"]))[0]
    >>> row.claim.status, row.outcome
    ('refuted', 'ok')
    """
    chosen = tuple(claims)
    wanted = dict.fromkeys(e for claim in chosen for e in claim.evidence)
    deadline = time.monotonic() + (TIME_LIMIT if time_limit is None else time_limit)
    checked: dict[Evidence, Checked] = {}
    for kinds, check in _CHECKERS:
        if group := [e for e in wanted if e.kind in kinds]:
            checked |= {found.evidence: found for found in check(group, deadline, progress or (lambda line: None))}
    rows, counted = [], set()
    for claim in chosen:
        evidence = tuple(checked[e] for e in claim.evidence)
        outcome, reason = _outcome(claim, evidence)
        rows.append(Row(claim, outcome, reason, evidence, sum(c.seconds for c in evidence if c not in counted)))
        counted |= set(evidence)
    return tuple(rows)


def summary(rows: Sequence[Row]) -> str:
    """One line: how many claims there are, and what became of them.

    Examples
    --------
    >>> summary(())
    '0 claims, 0 re-checked ok, 0 failed, 0 not re-checked here'
    """
    count = Counter(row.outcome for row in rows)
    return f"{len(rows)} claims, {count[OK]} re-checked ok, {count[FAILED]} failed, {count[UNCHECKED]} {UNCHECKED}"


def _outcome(claim: Claim, evidence: Sequence[Checked]) -> tuple[str, str]:
    """What the outcomes of the evidence mean for the claim, and why."""
    if failed := [found for found in evidence if found.outcome == FAILED]:
        return FAILED, "; ".join(f"{found.evidence.kind} {found.evidence.name}: {found.detail}" for found in failed)
    status = claim.status
    if status == REFERENCE:
        return UNCHECKED, "published elsewhere"
    if status == OPEN:
        return UNCHECKED, "open: there is nothing that could decide it"
    if status == REFUTED and any(f.outcome == OK for f in evidence if f.evidence.role == REFUTES):
        return OK, ""
    # a proof needs all its parts; where the proof is by hand, all that supports it
    needed = [
        found
        for found in evidence
        if found.evidence.kind in CHECKABLE and (found.evidence.role == PROVES or status != PROVED)
    ]
    missing = [found for found in needed if found.outcome != OK]
    if missing or not needed:
        return UNCHECKED, "; ".join(dict.fromkeys(found.detail for found in missing)) or "no evidence to re-check"
    return OK, ""


# ---------------------------------------------------------------- one function per kind of evidence

_Check = Callable[[Sequence[Evidence], float, Callable[[str], None]], Iterable[Checked]]


def _by_rocq(group: Sequence[Evidence], deadline: float, progress: Callable[[str], None]) -> Iterable[Checked]:
    begin = time.monotonic()
    progress(f"rocq: {len(group)} theorems (the proofs are built first, if they changed: 1 to 2 minutes)")
    try:
        built = rocq.built_proofs(max(0.0, deadline - time.monotonic()))
        found = rocq.closed_theorems([e.name for e in group], built, max(0.0, deadline - time.monotonic()))
    except rocq.NotCheckedError as error:
        return [Checked(e, UNCHECKED, str(error)) for e in group]
    except rocq.ProofError as error:
        return [Checked(e, FAILED, f"the proofs do not build: {error}") for e in group]
    seconds = (time.monotonic() - begin) / len(group)
    return [
        Checked(e, OK, "closed under the global context", seconds)
        if found[e.name] is None
        else Checked(e, FAILED, found[e.name] or "", seconds)
        for e in group
    ]


def _by_algebra(group: Sequence[Evidence], deadline: float, progress: Callable[[str], None]) -> Iterable[Checked]:
    if time.monotonic() > deadline:
        return [Checked(e, UNCHECKED, "the time limit is over") for e in group]
    begin = time.monotonic()
    progress(f"algebra: {len(group)} checks")
    found: dict[tuple[str, str], tuple[bool | None, str, str]] = {}
    kinds = {e.kind for e in group}
    if SYMBOLIC in kinds:
        from theory.symbolic import all_checks

        found |= {(SYMBOLIC, row.name): (row.ok, PROVES, row.detail) for row in all_checks()}
    if POISSON in kinds:
        from theory.poisson import identities

        shows = {"proved symbolically": PROVES, "refuted": REFUTES}
        found |= {(POISSON, row.id): (row.ok, shows.get(row.status, ""), row.detail) for row in identities()}
    seconds = (time.monotonic() - begin) / len(group)
    results = []
    for e in group:
        ok, shown, detail = found.get((e.kind, e.name), (False, "", "there is no such check"))
        if ok and e.role in (PROVES, REFUTES) and e.role != shown:
            ok, detail = False, f"stands, but {e.role} nothing: {detail}"
        outcome = {True: OK, False: FAILED, None: UNCHECKED}[ok]
        results.append(Checked(e, outcome, detail, seconds))
    return results


def _by_checker(group: Sequence[Evidence], deadline: float, progress: Callable[[str], None]) -> Iterable[Checked]:
    for e in group:
        begin = time.monotonic()
        progress(f"certificate: {e.name}")
        path = RECORDS / f"{e.name}.json"
        verdict = checker.check(path, max(0.0, deadline - begin))
        if not verdict.accepted:
            reason = verdict.reason or ""
            outcome = UNCHECKED if reason.startswith("undecided") else FAILED
            yield Checked(e, outcome, reason, time.monotonic() - begin)
            continue
        fault = _facts_fault(read_certificate(path), e.facts)
        yield Checked(e, FAILED if fault else OK, fault or verdict.statement, time.monotonic() - begin)


def _facts_fault(certificate: dict[str, Any], facts: Facts | None) -> str:
    """Why an accepted certificate does not say what the claim needs; empty if it does."""
    if certificate["kind"] != "witness" or facts is None:
        return "is no witness, or the claim does not say what it must show"
    instance, policy = instance_from_dict(certificate["instance"], "instance"), certificate["policy"]
    ratio = Fraction(*certificate["ratio"])
    if (policy["name"], policy["admission"], policy["fit"]) != (facts.policy, facts.admission, facts.fit):
        return f"is against another policy: {policy}"
    if ratio <= facts.ratio_above:
        return f"shows a ratio of {ratio}, not above {facts.ratio_above}"
    if instance.alpha > facts.alpha_at_most:
        return f"has alpha = {instance.alpha}, above {facts.alpha_at_most}"
    if instance.is_burst != facts.burst:
        return "is a burst" if instance.is_burst else "is no burst"
    return ""


def _by_sweep(group: Sequence[Evidence], deadline: float, progress: Callable[[str], None]) -> Iterable[Checked]:
    for e in group:
        begin = time.monotonic()
        progress(f"{e.kind}: {e.name}")
        try:
            if e.name not in SWEEPS:
                outcome, detail = FAILED, "there is no such sweep"
            elif begin > deadline:
                outcome, detail = UNCHECKED, "the time limit is over"
            else:
                outcome, detail = OK, SWEEPS[e.name](deadline)
        except CounterexampleError as error:
            outcome, detail = FAILED, str(error)
        except TimeoutError as error:
            outcome, detail = UNCHECKED, str(error)
        yield Checked(e, outcome, detail, time.monotonic() - begin)


def _uncheckable(group: Sequence[Evidence], deadline: float, progress: Callable[[str], None]) -> Iterable[Checked]:
    reasons = {HAND: "an argument by hand: read it", PUBLISHED: "published elsewhere"}
    return [Checked(e, UNCHECKED, reasons[e.kind]) for e in group]


#: Kinds of evidence, in the order in which they are worked off, and what re-checks them.
_CHECKERS: tuple[tuple[frozenset[str], _Check], ...] = (
    (frozenset({HAND, PUBLISHED}), _uncheckable),
    (frozenset({COMPUTATION, SWEEP}), _by_sweep),
    (frozenset({CERTIFICATE}), _by_checker),
    (frozenset({SYMBOLIC, POISSON}), _by_algebra),
    (frozenset({ROCQ}), _by_rocq),
)
