"""Competitive-ratio bounds for bursts (all requests arrive at time 0), as exact rationals with their hypotheses.

Every bound is a plain function of integers (memory `M` and largest peak `P` in tokens, volumes in token-steps)
that refuses what lies outside its hypotheses; :mod:`theory.burst_bounds` lists them with their hypotheses as data.
All of them are stated for the memory model of the paper. Square roots are rounded to the safe side, so that an
upper bound stays a rational upper bound. Proofs: ``papers/burst-theorem.md``.

References
----------
.. [kong2026] Kong, Qi, Ye, Zhou, "Geometry-Aware Online Scheduling for LLM Serving", arXiv 2606.22327.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from theory.errors import InputError
from theory.model import PAPER, Instance

#: Denominator to which square roots are rounded.
_ROOT_SCALE = 2**20


def _require_peak(memory: int, peak: int, share: Fraction = Fraction(1)) -> None:
    if memory < 1:
        raise InputError("memory", f"is {memory}", "give 1 or more tokens")
    if peak < 1:
        raise InputError("peak", f"is {peak}", "give 1 or more tokens")
    if peak > share * memory:
        raise InputError("peak", f"is {peak}", f"give at most {share} of the memory of {memory} tokens")


def _require_alpha(alpha: Fraction) -> None:
    if not 0 <= alpha < 1:
        raise InputError("alpha", f"is {alpha}", "give a peak bound in [0, 1)")


def _require_shape(shape: Fraction) -> None:
    if not 0 <= shape <= 1:
        raise InputError("shape", f"is {shape}", "give max o / (2 s + o), a number in [0, 1]")


def root_above(x: Fraction) -> Fraction:
    """Smallest multiple of 2**-20 that is at least the square root of `x` (``x > 0``).

    Examples
    --------
    >>> root_above(Fraction(9, 4)), root_above(Fraction(2)) ** 2 >= 2
    (Fraction(3, 2), True)
    """
    scaled = -(-x.numerator * _ROOT_SCALE**2 // x.denominator)
    return Fraction(isqrt(scaled - 1) + 1, _ROOT_SCALE)


def wait_factor(memory: int, peak: int) -> Fraction:
    """The constant ``c = 2 M / (M + 1 - P)`` of the waiting lemma: a request waits ``c`` times the ideal at most.

    Raises
    ------
    InputError
        Unless ``1 <= peak <= memory``.
    """
    _require_peak(memory, peak)
    return Fraction(2 * memory, memory + 1 - peak)


def combine(wait: Fraction) -> Fraction:
    """Ratio ``max(1 + 2 w / 3, w)`` that follows from waits of at most `w` times the ideal volume clock.

    With ``A = sum_{i<k} min(v_i, v_k) / M``, ``U = sum v / M`` and ``B = sum o``: if the waits sum to at most
    ``w (A + U / 2)``, then the latency is at most ``w X + B`` with ``X = A + U / 2``, and every schedule has
    latency at least ``max(B, X + B / 3)`` (L1, L3).
    """
    return max(1 + 2 * wait / 3, wait)


def t1(memory: int, peak: int) -> Fraction:
    """T1 [kong2026]_ (v2, Theorem 3.2): ``1 + 2 M / (M + 1 - P)``; below 5 when ``2 P <= M``.

    Examples
    --------
    >>> t1(1000, 500), t1_limit(Fraction(1, 2)), t1_limit(Fraction(0))
    (Fraction(2501, 501), Fraction(5, 1), Fraction(3, 1))
    """
    return 1 + wait_factor(memory, peak)


def t1_limit(alpha: Fraction) -> Fraction:
    """T1 for ``P <= alpha M`` and any memory: ``1 + 2 / (1 - alpha)``."""
    _require_alpha(alpha)
    return 1 + 2 / (1 - alpha)


def t2(memory: int, peak: int) -> Fraction:
    """T2: ``max(1 + 2 c / 3, c)`` with ``c = 2 M / (M + 1 - P)``; never above T1, below 4 when ``2 P <= M``.

    Examples
    --------
    >>> t2(1000, 500), t2_limit(Fraction(1, 2)), t2_limit(Fraction(0))
    (Fraction(2000, 501), Fraction(4, 1), Fraction(7, 3))
    """
    return combine(wait_factor(memory, peak))


def t2_limit(alpha: Fraction) -> Fraction:
    """T2 for ``P <= alpha M`` and any memory: ``c = 2 / (1 - alpha)``; 4 at one half, 7/3 at 0."""
    _require_alpha(alpha)
    return combine(2 / (1 - alpha))


def t3(memory: int, peak: int, shape: Fraction) -> Fraction:
    """T3: ``max(1 + c (1/2 + y/6), c)``, ``c = (1 + y) M / (M + 1 - P)``, where all ``o / (2 s + o) <= y``.

    Parameters
    ----------
    memory, peak : int
        Tokens.
    shape : Fraction
        ``y``, from 0 (prompts dwarf outputs) to 1 (no prompts).

    Examples
    --------
    >>> t3(1000, 500, Fraction(1)) == t2(1000, 500), t3_limit(Fraction(0), Fraction(0))
    (True, Fraction(3, 2))
    """
    _require_shape(shape)
    wait = wait_factor(memory, peak) * (1 + shape) / 2
    return max(1 + wait * (3 + shape) / 6, wait)


def t3_limit(alpha: Fraction, shape: Fraction) -> Fraction:
    """T3 for ``P <= alpha M`` and any memory: ``c = (1 + y) / (1 - alpha)``."""
    _require_alpha(alpha)
    _require_shape(shape)
    wait = (1 + shape) / (1 - alpha)
    return max(1 + wait * (3 + shape) / 6, wait)


def t4(memory: int) -> Fraction:
    """T4: ``5 + 2 M / floor(sqrt M)`` for peaks up to the whole memory."""
    _require_peak(memory, 1)
    return 5 + Fraction(2 * memory, isqrt(memory))


def t4_sharp(memory: int) -> Fraction:
    """T4 with T2's argument in place of T1's: ``4 + 2 M / floor(sqrt M)``.

    Examples
    --------
    >>> t4(10000), t4_sharp(10000)
    (Fraction(205, 1), Fraction(204, 1))
    """
    return t4(memory) - 1


def _requirevolumes_of(smallest: int, largest: int) -> None:
    if not 1 <= smallest <= largest:
        raise InputError("volumes", f"range from {smallest} to {largest}", "give 1 <= smallest <= largest")


def t5(memory: int, peak: int, smallest: int, largest: int) -> Fraction:
    """T5: ``1 + 8 sqrt(v_max / v_min)`` for any static order, FCFS included, when ``2 P <= M``.

    Examples
    --------
    >>> t5(100, 50, 2, 8)
    Fraction(17, 1)
    """
    _require_peak(memory, peak, Fraction(1, 2))
    _requirevolumes_of(smallest, largest)
    return 1 + 8 * root_above(Fraction(largest, smallest))


def t5_sharp(memory: int, peak: int, smallest: int, largest: int) -> Fraction:
    """T5 with T2's argument: ``w = c (2 sqrt(v_max / v_min) - 1)`` in ``max(1 + 2 w / 3, w)``."""
    _requirevolumes_of(smallest, largest)
    return combine(wait_factor(memory, peak) * (2 * root_above(Fraction(largest, smallest)) - 1))


def t6(memory: int, peak: int, distortion: Fraction) -> Fraction:
    """T6: ``max(1 + 2 w / 3, w)``, ``w = c (4 sqrt(D) - 3)``, if `i` before `j` implies ``v_i <= D v_j``.

    Parameters
    ----------
    memory, peak : int
        Tokens.
    distortion : Fraction
        ``D >= 1``; 1 is the volume order, and then T6 is T2.

    Examples
    --------
    >>> t6(1000, 500, Fraction(1)) == t2(1000, 500)
    True
    """
    if distortion < 1:
        raise InputError("distortion", f"is {distortion}", "give D >= 1")
    return combine(wait_factor(memory, peak) * (4 * root_above(distortion) - 3))


def t7(memory: int, peak: int, largest: int, root_d: int, beta: Fraction) -> Fraction:
    """T7, for look-ahead: ``max(1 + 2 w / 3, w)`` with ``w = a / b^2 + 1 / a + 4 / (a sqrt D)``.

    Here ``eta = 8 sqrt(D v_max) / (beta M)``, ``a = 1 - P / M - eta`` and ``b = 1 - beta``.

    Parameters
    ----------
    memory, peak : int
        Tokens.
    largest : int
        Largest volume, token-steps.
    root_d : int
        ``sqrt(D) >= 1``: predecessors below a ``1 / D`` part of the blocked volume are counted as T2 does.
    beta : Fraction
        In (0, 1): heads with a peak below ``beta M`` are counted as T2 does.

    Raises
    ------
    InputError
        Unless ``0 < a <= b``: the outputs are not short enough against the memory for these parameters.
    """
    _require_peak(memory, peak)
    _requirevolumes_of(1, largest)
    if root_d < 1 or not 0 < beta < 1:
        raise InputError("root_d, beta", f"are {root_d} and {beta}", "give root_d >= 1 and 0 < beta < 1")
    eta = 8 * root_d * root_above(Fraction(largest)) / (beta * memory)
    a, b = 1 - Fraction(peak, memory) - eta, 1 - beta
    if not 0 < a <= b:
        raise InputError("root_d, beta", f"give a = {float(a):.3g}", f"choose them so that 0 < a <= {float(b):.3g}")
    return combine(a / b**2 + 1 / a + 4 / (a * root_d))


def t7_limit(alpha: Fraction) -> Fraction:
    """T7 when all volumes are small against ``M^2``: ``w = (1 - alpha) + 1 / (1 - alpha)``; 8/3 at one half.

    Examples
    --------
    >>> t7_limit(Fraction(1, 2)), t7_limit(Fraction(4, 5))
    (Fraction(8, 3), Fraction(26, 5))
    """
    _require_alpha(alpha)
    return combine(1 - alpha + 1 / (1 - alpha))


def t8_lower(alpha: Fraction) -> Fraction:
    """T8: strict SVF with peak reservation is not better than ``2 / (1 - alpha)``; T2's value from 1/3 on."""
    _require_alpha(alpha)
    return 2 / (1 - alpha)


def r4_lower(alpha: Fraction) -> Fraction:
    """R4, R5: strict SVF is not better than ``max(2, 1 / (1 - alpha))``, with either fit test."""
    _require_alpha(alpha)
    return max(Fraction(2), 1 / (1 - alpha))


def volume_order(instance: Instance) -> tuple[int, ...]:
    """Indices of the requests by volume, smallest first, ties by index."""
    volumes = volumes_of(instance)
    return tuple(sorted(range(len(instance)), key=lambda i: (volumes[i], i)))


def order_distortion(instance: Instance, order: Sequence[int]) -> Fraction:
    """Smallest ``D >= 1`` such that `i` before `j` in `order` implies ``v_i <= D v_j``.

    Examples
    --------
    >>> from theory.model import Request
    >>> order_distortion(Instance(9, [Request(0, 2), Request(0, 1)]), (0, 1))
    Fraction(3, 1)
    """
    if instance.memory_model != PAPER:
        raise InputError("memory_model", "is not the paper's", "volumes may be 0 there, and D is not defined")
    volumes, worst, seen = volumes_of(instance), Fraction(1), 1
    for i in order:
        seen = max(seen, volumes[i])
        worst = max(worst, Fraction(seen, volumes[i]))
    return worst


def volumes_of(instance: Instance) -> list[int]:
    """Volumes of the requests in token-steps, by index."""
    return [instance.memory_model.volume(r.prompt, r.output) for r in instance.requests]
