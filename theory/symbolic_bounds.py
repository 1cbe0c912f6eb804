"""Symbolic checks of the algebra in the proofs of T1 to T8 (``papers/burst-theorem.md``)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from theory.symbolic_core import SymbolicCheck, identity, limit, nonnegative

HALF, THIRD = sp.Rational(1, 2), sp.Rational(1, 3)
ALPHA, M, Y = sp.symbols("alpha M y", positive=True)


def _volume(prompt: Any, output: Any) -> Any:
    return prompt * output + output * (output + 1) / sp.Integer(2)


def _combine(wait: sp.Expr, delta: sp.Expr = THIRD) -> sp.Expr:
    return sp.Max(1 + wait * (1 - delta), wait)


def combining() -> list[SymbolicCheck]:
    """Waits ``<= c X``, optimum ``>= max(B, X + delta B)``: latency ``<= max(1 + c (1 - delta), c)`` optimum.

    X is written as ``(1 - delta) B - e`` or ``(1 - delta) B + e`` with ``e >= 0``, which covers every X >= 0.
    """
    c, b, e, delta, f = sp.symbols("c B e delta f", nonnegative=True)
    low, high = (1 - delta) * b - e, (1 - delta) * b + e
    return [
        identity(
            "T2.first-branch",
            "if X = (1 - delta) B - e: (1 + c (1 - delta)) B - (c X + B) = c e >= 0",
            (1 + c * (1 - delta)) * b - c * low - b,
            c * e,
        ),
        identity(
            "T2.second-branch-small-c",
            "if X = (1 - delta) B + e: (1 + c (1 - delta)) (X + delta B) - (c X + B) = e (1 - c delta)",
            (1 + c * (1 - delta)) * (high + delta * b) - c * high - b,
            e * (1 - c * delta),
        ),
        identity(
            "T2.second-branch-large-c",
            "c (X + delta B) - (c X + B) = B (c delta - 1), for every X",
            c * (high + delta * b) - c * high - b,
            b * (c * delta - 1),
        ),
        nonnegative("T2.at-most-T1", "1 + c >= 1 + 2 c / 3", c - 2 * c / 3, {c: 0}),
        nonnegative("T2.switch", "c >= 1 + 2 c / 3 from c = 3 on", (c - 1 - 2 * c / 3).subs(c, 3 + f), {f: 0}),
    ]


def limits() -> list[SymbolicCheck]:
    """The limits of T1, T2, T3 for large memory and for small or half peaks."""
    finite, c = 2 * M / (M + 1 - ALPHA * M), 2 / (1 - ALPHA)
    shape = 1 + (1 + Y) * (HALF + Y / 6)
    z = sp.Symbol("z", nonnegative=True)
    return [
        limit("T1.large-memory", "2 M/(M + 1 - alpha M) -> 2/(1 - alpha)", finite, M, sp.oo, c),
        identity(
            "T1.below-its-limit",
            "2/(1 - alpha) - 2 M/(M + 1 - alpha M) = 2/((1 - alpha)(M + 1 - alpha M)) > 0",
            c - finite,
            2 / ((1 - ALPHA) * (M + 1 - ALPHA * M)),
        ),
        identity("T1.half", "T1 = 5 at alpha = 1/2", 1 + c.subs(ALPHA, HALF), 5),
        limit("T1.small-peaks", "T1 -> 3 as alpha -> 0", 1 + c, ALPHA, 0, 3),
        identity("T2.half", "T2 = 4 at alpha = 1/2", _combine(c.subs(ALPHA, HALF)), 4),
        limit("T2.small-peaks", "T2 -> 7/3 as alpha -> 0 (first branch)", 1 + 2 * c / 3, ALPHA, 0, sp.Rational(7, 3)),
        identity("T2.small-peaks-branch", "the first branch decides at c = 2", _combine(sp.Integer(2)), 1 + 4 * THIRD),
        identity(
            "T3.curve",
            "1 + c (1 - delta) at c = 1 + y, delta = 1/2 - y/6 is 1 + (1 + y)(1/2 + y/6)",
            1 + (1 + Y) * (1 - (HALF - Y / 6)),
            shape,
        ),
        identity("T3.no-prompt", "7/3 at y = 1", shape.subs(Y, 1), sp.Rational(7, 3)),
        identity("T3.prompt-heavy", "3/2 at y = 0", shape.subs(Y, 0), sp.Rational(3, 2)),
        nonnegative(
            "T3.branch",
            "the first branch decides for y = 1 - z <= 1",
            (shape - 1 - Y).subs(Y, 1 - z).expand(),
            {z: 0},
        ),
    ]


def orders() -> list[SymbolicCheck]:
    """Orders other than by volume (T5, T6): the constants, and what a 1-bit predictor costs.

    `P` is the sum of the smaller volume over all pairs, `V` the sum of the volumes, ``I = 2 P + V``.
    """
    p, v, r, q, d, lam = sp.symbols("P V r q D lambda", positive=True)
    s, o, f = sp.symbols("s o f", nonnegative=True)
    a, b = sp.symbols("a b", real=True)
    total = 2 * p + v
    estimate = s * o + o * (o + 1) / 2
    scaled = s * (1 + f) * o + (1 + f) * o * ((1 + f) * o + 1) / 2
    one = sp.integrate(1 / sp.sqrt(lam), (lam, 1, d))
    return [
        identity(
            "T5.constant",
            "(2 r - 1)(P + V/2) - (r I - V - (I - V)/2) = V/2 >= 0",
            (2 * r - 1) * (p + v / 2) - (r * total - v - (total - v) / 2),
            v / 2,
        ),
        identity(
            "T6.constant",
            "(4 q - 3)(P + V/2) - (P + 2 (q - 1) I) = V/2 >= 0",
            (4 * q - 3) * (p + v / 2) - (p + 2 * (q - 1) * total),
            v / 2,
        ),
        identity("T6.integral", "int_1^D lambda^(-1/2) = 2 (sqrt D - 1)", one, 2 * sp.sqrt(d) - 2),
        identity(
            "far.mean-inequality",
            "(a^2/q + q b^2)/2 - a b = (a - q b)^2/(2 q) >= 0, to be integrated (q^2 = D)",
            (a**2 / q + q * b**2) / 2 - a * b,
            (a - q * b) ** 2 / (2 * q),
        ),
        nonnegative(
            "one-bit.upper",
            "output t times the proxy, t = 1 + f: the volume is at most t^2 times the estimate",
            (1 + f) ** 2 * estimate - scaled,
            {s: 0, o: 0, f: 0},
        ),
        nonnegative(
            "one-bit.lower",
            "and at least t times the estimate",
            scaled - (1 + f) * estimate,
            {s: 0, o: 0, f: 0},
        ),
    ]


def look_ahead() -> list[SymbolicCheck]:
    """T7: the charge of one request, the loss of far predecessors, and the limit curve."""
    a, b, p, s, u, theta, e, f, g = sp.symbols("a b p s u theta h f g", positive=True)
    v = (p**2 - s**2) / 2
    k = a / b**2 + 1 / a
    ratio = theta + 1 / theta
    crossed = sp.integrate(p / b, (u, s, p * a / b)) + sp.integrate(u / a, (u, p * a / b, p))
    sigma = theta - e
    w = 1 - ALPHA + 1 / (1 - ALPHA)
    cross = (sp.sqrt(5) - 1) / 2
    return [
        identity(
            "T7.charge-integral",
            "int_s^p max(p/b, u/a) du, crossing at u = p a/b = theta p: (p^2/b)(theta + 1/theta - 2 s/p)/2",
            crossed.subs(a, theta * b),
            p**2 / b * (ratio - 2 * s / p) / 2,
        ),
        identity(
            "T7.charge-slack",
            "theta [(theta + 1/theta)(1 - x^2) - (theta + 1/theta - 2 x)] / x with x = theta - h "
            "is theta (1 - theta)(1 + theta) + h (1 + theta^2) >= 0",
            theta * (ratio * (1 - sigma**2) - (ratio - 2 * sigma)) / sigma,
            theta * (1 - theta) * (1 + theta) + e * (1 + theta**2),
        ),
        identity("T7.charge-constant", "(theta + 1/theta)/b = a/b^2 + 1/a", (ratio / b).subs(theta, a / b), k),
        identity(
            "T7.charge-no-crossing",
            "s >= theta p: the integral (p^2 - s^2)/(2 a), times 1 + a^2/b^2 >= 1, is (a/b^2 + 1/a)(p^2 - s^2)/2",
            sp.integrate(u / a, (u, s, p)) * (1 + a**2 / b**2),
            v * k,
        ),
        nonnegative(
            "T7.falls-in-a",
            "a/b^2 + 1/a falls in a up to b: (value at a) - (value at a + h), times a (a + h) b^2 / h, is "
            "b^2 - a (a + h) >= 0 for b = a + h + g",
            (a + e + g) ** 2 - a * (a + e),
            {a: 0, e: 0, g: 0},
        ),
        identity("T7.half", "8/3 at alpha = 1/2", _combine(w.subs(ALPHA, HALF)), sp.Rational(8, 3)),
        identity("T7.crossover", "w = 3 at alpha = (sqrt 5 - 1)/2 = 0.618...", sp.radsimp(w.subs(ALPHA, cross)), 3),
        identity("T7.gap", "w - 1/(1 - alpha) = 1 - alpha", w - 1 / (1 - ALPHA), 1 - ALPHA),
        nonnegative(
            "T7.at-most-T2",
            "2/x - (x + 1/x) >= 0 for x = 1 - alpha = 1/(1 + f), times (1 + f)",
            (1 + f) ** 2 - 1,
            {f: 0},
        ),
    ]


def peak_reservation() -> list[SymbolicCheck]:
    """T8: the family on which peak reservation reaches 2 / (1 - alpha)."""
    length, k = sp.symbols("L k", positive=True)
    v = length * (length + 1) / 2
    memory = v / ALPHA
    rate = (memory - length) / v
    found = []
    for extra in (0, 1):
        n = (memory - v) / length + extra
        per_round = (n + 1) * length / (n**2 / rate + 2 * n / rate + 2)
        found.append(
            limit(
                f"T8.limit-{extra}",
                f"(N + 1) L/(N^2/u + 2 N/u + 2) -> 2/(1 - alpha) for N = (M - v)/L + {extra}, u = (M - L)/v",
                per_round,
                length,
                sp.oo,
                2 / (1 - ALPHA),
            )
        )
    return [
        *found,
        identity("T8.volumes", "(0, L) and (v - 1, 1) have volume v", _volume(0, length), _volume(v - 1, 1)),
        identity(
            "T8.stream",
            "thin requests at rate u hold at most sum_{l<=L} (u l + 1) = u v + L tokens",
            sp.summation(rate * k + 1, (k, 1, length)),
            memory,
        ),
        identity("T8.half", "4 at alpha = 1/2", (2 / (1 - ALPHA)).subs(ALPHA, HALF), 4),
        identity("T8.meets-T2", "T2 = 2/(1 - alpha) from alpha = 1/3 on: equal there", _combine(sp.Integer(3)), 3),
    ]


def checks() -> list[SymbolicCheck]:
    """All checks of this module."""
    return [*combining(), *limits(), *orders(), *look_ahead(), *peak_reservation()]
