"""Machine checks of the algebra behind the burst theorems, by sympy and z3.

They check the algebra, not the combinatorics (what a schedule does): that is the business of the Rocq proofs and
of the tests on runs. A failing check means that a formula in ``papers/burst-theorem.md`` is wrong.
"""

from __future__ import annotations

from theory import symbolic_bounds, symbolic_model, symbolic_refutations, symbolic_z3
from theory.symbolic_core import SymbolicCheck

__all__ = ["SymbolicCheck", "all_checks"]


def all_checks() -> list[SymbolicCheck]:
    """Run every check; a few seconds.

    Returns
    -------
    list of SymbolicCheck
        In a fixed order, names unique. ``ok`` is None where z3 is missing.
    """
    return [
        *symbolic_model.checks(),
        *symbolic_bounds.checks(),
        *symbolic_refutations.checks(),
        *symbolic_z3.checks(),
    ]
