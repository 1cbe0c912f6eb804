"""The registry: every claim of the paper, of its neighbours and of ours, one row each.

``geosched verify`` re-checks the evidence (:mod:`runtime.verify`); ``papers/claims.md`` shows this registry.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from theory import claims_burst, claims_neighbours, claims_paper, claims_poisson, claims_refutations
from theory.claim import Claim
from theory.errors import InputError

__all__ = ["CLAIMS", "GROUPS", "select"]

#: Title of a group of claims, and the claims.
GROUPS: dict[str, tuple[Claim, ...]] = {
    "The paper: bursts and practice": claims_paper.CLAIMS,
    "The paper and ours: Poisson arrivals": claims_poisson.CLAIMS,
    "Ours: bounds for bursts": claims_burst.CLAIMS,
    "Ours: lower bounds and refutations": claims_refutations.CLAIMS,
    "Neighbours": claims_neighbours.CLAIMS,
}

CLAIMS: tuple[Claim, ...] = tuple(claim for group in GROUPS.values() for claim in group)


def select(ids: Iterable[str]) -> tuple[Claim, ...]:
    """The claims with these ids, in the order given; upper and lower case are the same.

    Parameters
    ----------
    ids : iterable of str
        None of them: all claims.

    Raises
    ------
    InputError
        If an id is unknown; it names the nearest ones.

    Examples
    --------
    >>> [claim.id for claim in select(["t2", "R1"])]
    ['T2', 'R1']
    """
    known = {claim.id.lower(): claim for claim in CLAIMS}
    chosen = []
    for id in ids:
        if id.lower() not in known:
            near = get_close_matches(id.lower(), known, n=3, cutoff=0.4)
            names = " or ".join(known[name].id for name in near)
            raise InputError("claim", f"{id!r} is unknown", f"did you mean {names}?" if near else "see verify --help")
        chosen.append(known[id.lower()])
    return tuple(chosen) or CLAIMS
