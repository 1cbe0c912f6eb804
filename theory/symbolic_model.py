"""Symbolic checks of the model: volume, peak, moment and shape of a request, for all s >= 0 and o >= 1."""

from __future__ import annotations

import sympy as sp

from theory.symbolic_core import SymbolicCheck, identity, nonnegative, telescoping

PROMPT, OUTPUT, N = sp.symbols("s o n", nonnegative=True)
PEAK = PROMPT + OUTPUT
VOLUME = PROMPT * OUTPUT + OUTPUT * (OUTPUT + 1) / 2
#: Twelve times ``sum_j (s + j)(o - j + 1/2)``; ``d = TWELVE_MOMENTS / (12 VOLUME)``.
TWELVE_MOMENTS = 6 * PROMPT * OUTPUT**2 + OUTPUT * (OUTPUT + 1) * (2 * OUTPUT + 1)
D = TWELVE_MOMENTS / (12 * VOLUME)
#: Exact shape ``y = (o - 1) / (2 s + o + 1)``.
SHAPE = (OUTPUT - 1) / (2 * PROMPT + OUTPUT + 1)


def checks() -> list[SymbolicCheck]:
    """Checks of the closed forms and of the inequalities between them."""
    least = {PROMPT: 0, OUTPUT: 1}
    half = OUTPUT + sp.Rational(1, 2)
    partial = PROMPT * (half * N - N * (N + 1) / 2) + half * N * (N + 1) / 2 - N * (N + 1) * (2 * N + 1) / 6
    v, before = sp.symbols("v V")
    q, r = sp.symbols("q r")
    return [
        telescoping("volume.closed-form", "sum_{j<=o} (s + j) = s o + o (o + 1) / 2", VOLUME, PROMPT + OUTPUT, OUTPUT),
        identity(
            "volume.peak-times-output", "p o = 2 v - o (s + 1)", PEAK * OUTPUT, 2 * VOLUME - OUTPUT * (PROMPT + 1)
        ),
        nonnegative("volume.half-the-box", "p o <= 2 v", 2 * VOLUME - PEAK * OUTPUT, least),
        nonnegative("volume.above-peak", "v >= p", VOLUME - PEAK, least),
        nonnegative("volume.below-square", "v <= p^2", PEAK**2 - VOLUME, least),
        identity("volume.trapezoid", "2 v = p^2 - s^2 + o", 2 * VOLUME, PEAK**2 - PROMPT**2 + OUTPUT),
        telescoping(
            "moment.partial-sums",
            "sum_{j<=n} (s + j)(o - j + 1/2) in closed form, any o",
            partial,
            (PROMPT + N) * (half - N),
            N,
        ),
        identity(
            "moment.closed-form",
            "sum_{j<=o} (s + j)(o - j + 1/2) = (6 s o^2 + o (o + 1)(2 o + 1)) / 12",
            partial.subs(N, OUTPUT),
            TWELVE_MOMENTS / 12,
        ),
        nonnegative("moment.at-least", "d >= o/3 + 1/6", TWELVE_MOMENTS - (4 * OUTPUT + 2) * VOLUME, least),
        identity("moment.no-prompt", "d = o/3 + 1/6 if s = 0", D.subs(PROMPT, 0), OUTPUT / 3 + sp.Rational(1, 6)),
        nonnegative("moment.at-most", "d <= o/2", 6 * OUTPUT * VOLUME - TWELVE_MOMENTS, least),
        identity("shape.box", "p o = (1 + y) v with y = (o - 1)/(2 s + o + 1)", PEAK * OUTPUT, (1 + SHAPE) * VOLUME),
        identity("shape.moment", "d = o/2 - y (o + 1) / 6", D, OUTPUT / 2 - SHAPE * (OUTPUT + 1) / 6),
        nonnegative(
            "shape.box-bound",
            "y <= z = o/(2 s + o), hence p o <= (1 + z) v",
            OUTPUT * (2 * PROMPT + OUTPUT + 1) - (OUTPUT - 1) * (2 * PROMPT + OUTPUT),
            least,
        ),
        nonnegative(
            "shape.moment-bound",
            "y (o + 1) <= z o, hence d >= o (1/2 - z/6)",
            OUTPUT**2 * (2 * PROMPT + OUTPUT + 1) - (OUTPUT**2 - 1) * (2 * PROMPT + OUTPUT),
            least,
        ),
        identity("busy.abel", "v (2 V + v) = (V + v)^2 - V^2", v * (2 * before + v), (before + v) ** 2 - before**2),
        identity(
            "busy.last-step",
            "(q + 1/2) r - (q r + r^2/2) = r (1 - r)/2 >= 0 for r in [0, 1]: steps are no cheaper than a fluid",
            (q + sp.Rational(1, 2)) * r - (q * r + r**2 / 2),
            r * (1 - r) / 2,
        ),
    ]
