"""Checks by z3: inequalities over the reals (hence over the integers), independent of sympy's algebra."""

from __future__ import annotations

from typing import Any

from theory.symbolic_core import SymbolicCheck, unsatisfiable


def _request(z3: Any) -> tuple[Any, Any, list[Any], Any]:
    """Prompt, output, their range, and twice the volume."""
    s, o = z3.Reals("s o")
    return s, o, [s >= 0, o >= 1], 2 * s * o + o * (o + 1)


def _half_the_box(z3: Any) -> tuple[list[Any], Any]:
    s, o, valid, twice = _request(z3)
    return valid, (s + o) * o <= twice


def _moment(z3: Any) -> tuple[list[Any], Any]:
    s, o, valid, twice = _request(z3)
    moments = 6 * s * o * o + o * (o + 1) * (2 * o + 1)  # d = moments / (6 twice)
    return valid, z3.And((2 * o + 1) * twice <= moments, moments <= 3 * o * twice)


def _shape(z3: Any) -> tuple[list[Any], Any]:
    s, o, valid, twice = _request(z3)
    z = z3.Real("z")
    moments = 6 * s * o * o + o * (o + 1) * (2 * o + 1)
    valid = [*valid, z * (2 * s + o) == o]
    return valid, z3.And(2 * (s + o) * o <= (1 + z) * twice, moments >= o * (3 - z) * twice)


def _combine(z3: Any) -> tuple[list[Any], Any]:
    x, b, c, delta, best, latency = z3.Reals("x b c delta best latency")
    valid = [x >= 0, b >= 0, c >= 0, delta >= 0, delta <= 1]
    valid += [best >= b, best >= x + delta * b, latency <= c * x + b]
    return valid, z3.Or(latency <= (1 + c * (1 - delta)) * best, latency <= c * best)


def _big_head(z3: Any) -> tuple[list[Any], Any]:
    w, r, twice = z3.Reals("w r twice")
    return [w >= 0, r >= 0, w * w <= twice, r * r <= twice], w * r <= twice


def _count(z3: Any) -> tuple[list[Any], Any]:
    s, e, r, y = z3.Reals("s e r y")
    o = e + r
    return [s >= 0, e >= 1, r >= 0, s + e < y, r < y], s * o + o * (o + 1) / 2 < 4 * y * y


def _growth(z3: Any) -> tuple[list[Any], Any]:
    s, o, valid, twice = _request(z3)
    beta_m = z3.Real("beta_m")
    return [*valid, beta_m >= 0, s + o >= beta_m], o * beta_m <= twice


def _charge(z3: Any) -> tuple[list[Any], Any]:
    theta, sigma = z3.Reals("theta sigma")
    valid = [theta > 0, theta <= 1, sigma >= 0, sigma <= theta]
    square = theta * theta + 1
    return valid, square - 2 * sigma * theta <= square * (1 - sigma * sigma)


def _one_bit(z3: Any) -> tuple[list[Any], Any]:
    s, o, t, twice, estimate = z3.Reals("s o t twice estimate")
    valid = [s >= 0, o > 0, t >= 1, twice == 2 * s * t * o + t * o * (t * o + 1)]
    valid.append(estimate == 2 * s * o + o * (o + 1))
    return valid, z3.And(t * estimate <= twice, twice <= t * t * estimate)


def checks() -> list[SymbolicCheck]:
    """All checks of this module; each has ``ok`` None when z3 is not installed."""
    return [
        unsatisfiable("z3.half-the-box", "p o <= 2 v for s >= 0, o >= 1", _half_the_box),
        unsatisfiable("z3.moment", "o/3 + 1/6 <= d <= o/2 for s >= 0, o >= 1", _moment),
        unsatisfiable("z3.shape", "p o <= (1 + z) v and d >= o (1/2 - z/6) with z = o/(2 s + o)", _shape),
        unsatisfiable(
            "z3.combine",
            "latency <= c X + B, best >= max(B, X + delta B): latency <= max(1 + c (1 - delta), c) best",
            _combine,
        ),
        unsatisfiable("z3.big-head", "w^2 <= 2 v and r^2 <= 2 v: w r <= 2 v (T4)", _big_head),
        unsatisfiable("z3.count", "holds less than y now and has less than y steps left: v < 4 y^2 (T7)", _count),
        unsatisfiable("z3.growth", "p >= beta M: o beta M <= 2 v (T7)", _growth),
        unsatisfiable(
            "z3.charge", "theta + 1/theta - 2 x <= (theta + 1/theta)(1 - x^2), 0 <= x <= theta <= 1 (T7)", _charge
        ),
        unsatisfiable("z3.one-bit", "output t times the proxy, t >= 1: t <= volume / estimate <= t^2 (T6)", _one_bit),
    ]
