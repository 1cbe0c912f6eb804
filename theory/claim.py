"""What a claim is: a statement, its hypotheses, where it comes from, and evidence from which its status follows.

Evidence is named here, not called: much of it (the policies, the certificate checker, Rocq) lies above this
package. :mod:`runtime.verify` re-checks it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from theory.burst_bounds import Hypotheses

PROVED = "proved"
REFUTED = "refuted"
CONDITIONAL = "conditional"
SWEPT = "swept"
REFERENCE = "reference"
OPEN = "open"
#: Status of a claim, and what it means.
STATUSES = {
    PROVED: "a machine-checked proof (Rocq, or exact algebra where the claim is algebra) covers all of it",
    REFUTED: "a machine-checked proof or an instance anyone can check contradicts it",
    CONDITIONAL: "proved by hand only, or true under hypotheses that its source does not state; what can be "
    "re-checked of it (algebra, instances, a machine-checked part) stands",
    SWEPT: "no proof here; true on every instance of an exhaustive sweep",
    REFERENCE: "published elsewhere and not re-checked here",
    OPEN: "nobody knows, as far as we know",
}

ROCQ = "rocq"
SYMBOLIC = "symbolic"
POISSON = "poisson"
CERTIFICATE = "certificate"
COMPUTATION = "computation"
SWEEP = "sweep"
HAND = "hand proof"
PUBLISHED = "reference"
#: Kind of evidence, and what its name refers to.
KINDS = {
    ROCQ: "theorem of theory/proofs, as File.theorem, listed in theorems.txt",
    SYMBOLIC: "check of theory/symbolic.py, by its name",
    POISSON: "row of theory/poisson.py, by its id",
    CERTIFICATE: "witness in adversary/records, by the name of its file",
    COMPUTATION: "function of runtime/verify_sweeps.py that decides one instance",
    SWEEP: "function of runtime/verify_sweeps.py that goes through all small instances",
    HAND: "argument written out, by file and place; nothing re-checks it",
    PUBLISHED: "citation key of papers/references.bib; nothing re-checks it",
}
#: Kinds that a program re-checks.
CHECKABLE = frozenset({ROCQ, SYMBOLIC, POISSON, CERTIFICATE, COMPUTATION, SWEEP})

PROVES, REFUTES, SUPPORTS = "proves", "refutes", "supports"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a witness certificate must say besides being accepted: whose run, and how bad.

    Parameters
    ----------
    ratio_above : Fraction
        The witnessed ratio is larger than this.
    policy, admission, fit : str
        The policy it is a witness against.
    alpha_at_most : Fraction
        Bound on the largest peak over memory.
    burst : bool
        Whether all requests arrive at time 0.
    """

    ratio_above: Fraction
    policy: str = "svf"
    admission: str = "strict"
    fit: str = "lookahead"
    alpha_at_most: Fraction = Fraction(1)
    burst: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of evidence, by name.

    Parameters
    ----------
    kind : str
        A key of :data:`KINDS`.
    name : str
        What the kind says it is.
    role : {"proves", "refutes", "supports"}
        Everything that proves a claim does so jointly; each piece that refutes it does so alone; support decides
        nothing.
    facts : Facts, optional
        For a certificate: what it must say.
    """

    kind: str
    name: str
    role: str
    facts: Facts | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a claim comes from: a key of ``papers/references.bib`` (empty: this project) and the place there."""

    key: str
    place: str

    def __str__(self) -> str:
        return f"{self.key}, {self.place}" if self.key else self.place


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim.

    Parameters
    ----------
    id : str
        Short and unique.
    statement : str
        In plain text, complete together with the hypotheses.
    hypotheses : Hypotheses
        Under which it is claimed (or, for a refuted claim, refuted).
    source : Source
    evidence : tuple of Evidence
        What decides it; the status follows from it.
    note : str
        What a reader would otherwise get wrong.
    """

    id: str
    statement: str
    hypotheses: Hypotheses
    source: Source
    evidence: tuple[Evidence, ...]
    note: str = ""

    @property
    def status(self) -> str:
        """What follows from the evidence; a key of :data:`STATUSES`."""
        return status_of(self.evidence)


def status_of(evidence: Iterable[Evidence]) -> str:
    """The status that evidence gives a claim.

    Examples
    --------
    >>> status_of([Evidence(ROCQ, "BurstBounds.T1", PROVES)])
    'proved'
    >>> status_of([Evidence(ROCQ, "BurstBounds.T1", PROVES), Evidence(HAND, "a page", PROVES)])
    'conditional'
    >>> status_of([Evidence(SWEEP, "lower-bounds", SUPPORTS)]), status_of([])
    ('swept', 'open')
    """
    found = list(evidence)
    kinds = {e.kind for e in found}
    if any(e.role == REFUTES and e.kind in CHECKABLE for e in found):
        return REFUTED
    proofs = [e for e in found if e.role == PROVES]
    if proofs:
        return PROVED if all(e.kind in CHECKABLE for e in proofs) else CONDITIONAL
    if PUBLISHED in kinds:
        return REFERENCE
    return SWEPT if SWEEP in kinds else OPEN


def described(hypotheses: Hypotheses) -> str:
    """Hypotheses in one line.

    Examples
    --------
    >>> described(Hypotheses("smallest volume first", ("strict",), ("lookahead", "peak"), peaks="2p <= M"))
    'burst; smallest volume first, strict admission, fit lookahead or peak; 2p <= M; lengths known'
    """
    policy = [hypotheses.order]
    if hypotheses.admissions:
        policy.append(f"{' or '.join(hypotheses.admissions)} admission")
    if hypotheses.fits:
        policy.append(f"fit {' or '.join(hypotheses.fits)}")
    parts = [hypotheses.arrivals, ", ".join(filter(None, policy)), hypotheses.peaks]
    return "; ".join(filter(None, [*parts, hypotheses.lengths and f"lengths {hypotheses.lengths}"]))


# ---------------------------------------------------------------- short forms, for the modules that list claims


def proved_by(kind: str, *names: str) -> tuple[Evidence, ...]:
    """Evidence of one kind that proves a claim."""
    return tuple(Evidence(kind, name, PROVES) for name in names)


def refuted_by(kind: str, *names: str) -> tuple[Evidence, ...]:
    """Evidence of one kind, each piece of which refutes a claim."""
    return tuple(Evidence(kind, name, REFUTES) for name in names)


def supported_by(kind: str, *names: str) -> tuple[Evidence, ...]:
    """Evidence of one kind that supports a claim and decides nothing."""
    return tuple(Evidence(kind, name, SUPPORTS) for name in names)


def witness(name: str, role: str, facts: Facts) -> Evidence:
    """A witness certificate and what it must say."""
    return Evidence(CERTIFICATE, name, role, facts)
