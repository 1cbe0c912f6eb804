"""Symbolic checks of the parametric lower bounds R1, R2, R4, R5, R6: latencies of two schedules as polynomials.

That the schedules are what the policies do is checked on instances by the tests.
"""

from __future__ import annotations

import sympy as sp

from theory.symbolic_core import SymbolicCheck, identity, limit, nonnegative

L, C, N, B, R = sp.symbols("L c N B r", positive=True)


def checks() -> list[SymbolicCheck]:
    """All checks of this module."""
    return [*long_then_fat(), *equal_volumes(), *equal_requests(), *shortest_job_first()]


def long_then_fat() -> list[SymbolicCheck]:
    """R1, R2: one (1, L), then c fat requests (M - 1, 1) with M = L (L + 3)/2 + 1."""
    memory = L * (L + 3) / 2 + 1
    svf = L + C * L + C * (C + 1) / 2  # the long one first: its volume is M - 1
    other = C * (C + 1) / 2 + C + L  # the fat ones first
    chosen = C * (C * (C + 1) + C) + 1
    r1, r1_large = {L: 47, C: 12}, {L: 139, C: 12}
    return [
        identity("R2.volumes", "(1, L) has volume M - 1, (M - 1, 1) has M", L + L * (L + 1) / 2, memory - 1),
        identity("R1.memory", "M = 1176 at L = 47", memory.subs(L, 47), 1176),
        identity("R1.ratio", "689/137 > 5", (svf / other).subs(r1), sp.Rational(689, 137)),
        identity(
            "R1.ratio-large", "1885/229 > 8 (fits M = 10000)", (svf / other).subs(r1_large), sp.Rational(1885, 229)
        ),
        nonnegative(
            "R2.unbounded",
            "SVF - c other - 1 >= 0 with L = c (c (c + 1) + c) + 1: the ratio exceeds every c",
            (svf - C * other).subs(L, chosen) - 1,
            {C: 0},
        ),
        limit("R2.limit", "the ratio of the family tends to c + 1 as L grows", svf / other, L, sp.oo, C + 1),
    ]


def equal_volumes() -> list[SymbolicCheck]:
    """R4: requests of equal volume in an unlucky tie order."""
    half_svf = L + L * (L + 1) / 2  # one (1, L), then L of (v - 1, 1), M = 2 v: one fat per step beside the long
    half_other = L * (L + 2) / 4 + L / 2 + L  # two fat per step, then the long one (L even)
    full_svf = N * (N + 1) * (L + 1) - N  # [(1, L), (M - 1, 1)] x N one after the other
    full_other = N * (N + 1) / 2 + N * (N + L) + N * (N - 1) / 2  # fat ones first, then one long start per step
    rounds, alpha, height = sp.symbols("n alpha h", positive=True)
    memory = N * height / (1 - alpha)
    # n rounds of N rectangles (height h, length L) and one fat of the same volume, against full use of the memory
    fluid = ((N + 1) * rounds) ** 2 * height * L / (2 * memory)
    return [
        identity("R4.half", "ratio 2 (L + 3)/(L + 8)", half_svf / half_other, 2 * (L + 3) / (L + 8)),
        identity("R4.half-20", "230/140 at L = 20", (half_svf / half_other).subs(L, 20), sp.Rational(230, 140)),
        identity("R4.half-80", "3320/1760 at L = 80", (half_svf / half_other).subs(L, 80), sp.Rational(3320, 1760)),
        limit("R4.half-limit", "-> 2 at alpha = 1/2", half_svf / half_other, L, sp.oo, 2),
        identity("R4.full-14", "4064 at L = 14, N = 16", full_svf.subs({L: 14, N: 16}), 4064),
        identity("R4.full-19", "3108 at L = 19, N = 12", full_svf.subs({L: 19, N: 12}), 3108),
        limit("R4.full-limit", "-> (L + 1)/2 for peaks near M", full_svf / full_other, N, sp.oo, (L + 1) / 2),
        limit(
            "R4.curve",
            "rounds of length L against a full memory: -> 1/(1 - alpha) with many thin requests per round",
            (N + 1) * L * rounds**2 / 2 / fluid,
            N,
            sp.oo,
            1 / (1 - alpha),
        ),
    ]


def equal_requests() -> list[SymbolicCheck]:
    """R5: B batches of N = M/o equal requests (0, o), against a steady stream at rate 2 N/o from time 0."""
    o = sp.Symbol("o", positive=True)
    svf = N * o * B * (B + 1) / 2
    stream = N * B * o + (N * B) ** 2 * o / (4 * N)
    ratio = 2 * (B + 1) / (B + 4)
    return [
        identity("R5.stream", "rate 2 N/o fills the memory N o", 2 * N / o * o**2 / 2, N * o),
        identity("R5.ratio", "ratio 2 (B + 1)/(B + 4)", svf / stream, ratio),
        limit("R5.limit", "-> 2 with many batches", ratio, B, sp.oo, 2),
    ]


def shortest_job_first() -> list[SymbolicCheck]:
    """R6: 4 r requests (M/2 - 1, 1) and 2 M requests (0, 2), M = r^2."""
    memory = R**2
    thin = 10 * memory  # four batches of M/2, done at 2, 4, 6, 8
    fat = 2 * R * (2 * R + 1)  # two per step
    sjf = fat + 2 * memory * 2 * R + thin
    # SVF: one fat request starts beside the last thin ones, at 6; the others at 8, two per step
    pairs = 2 * (8 * (2 * R - 1) + R * (2 * R - 1))
    svf = thin + 7 + pairs + (8 + 2 * R)
    return [
        identity("R6.sjf", "SJF = 4 r^3 + 14 r^2 + 2 r", sjf, 4 * R**3 + 14 * R**2 + 2 * R),
        identity("R6.svf", "SVF = 14 r^2 + 32 r - 1", svf, 14 * R**2 + 32 * R - 1),
        limit("R6.growth", "SJF/(r SVF) -> 2/7: SJF grows like sqrt M", sjf / (R * svf), R, sp.oo, sp.Rational(2, 7)),
    ]
