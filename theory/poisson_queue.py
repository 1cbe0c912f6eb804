"""From the waiting lemma to the formula: the priority recursion and its telescoped sum.

Level k of the volume order has arrival mass ``x_k = lambda E[v; level k]`` and ``sigma_k = x_1 + ... + x_k``
(token-steps per step). The waiting lemma (active peaks sum to at least M + 1 - P while anybody waits, and
p o <= 2 v) gives, with C = (M + 1 - P)/2 or the paper's smaller C = (1 - alpha) M/2,

    C W_k <= W_0 + sum_{i <= k} x_i W_i + sigma_{k-1} W_k .

Solved with equality this is ``W_k = C W_0 / ((C - sigma_{k-1}) (C - sigma_k))``, which bounds the true waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from theory.errors import InputError
from theory.poisson_check import CONDITIONAL, REFUTED, Identity, M, S, alpha, equal, lam, mu, positive, q, rho
from theory.poisson_moments import mean_volume, paper_w0

_C, _W0, _sigma, _x = sp.symbols("C W_0 sigma x", positive=True)
#: Wait of a level with arrival mass x on top of sigma, and the sum of x_i W_i over the levels up to sigma.
LEVEL_WAIT = _C * _W0 / ((_C - _sigma) * (_C - _sigma - _x))
TELESCOPED = _W0 * _sigma / (_C - _sigma)


def paper_formula(at_alpha: Any = alpha) -> Any:
    """Right-hand side of v2 Thm 3.4, ``1 + 2/((1 - alpha)(1 - mu)(1 - rho))``."""
    return 1 + 2 / ((1 - at_alpha) * q * (1 - rho))


def rate_at(load: Any = rho) -> Any:
    """The arrival rate at which ``lambda E[vol] = load * (1 - alpha) M/2``."""
    return load * (1 - alpha) * M / 2 / mean_volume()


def _recursion() -> list[Identity]:
    above = TELESCOPED.subs(_sigma, _sigma + _x)
    u, c1, c2, w1, w2, p = sp.symbols("u v_1 v_2 W_1 W_2 p", positive=True)
    continuous = _C * _W0 / (_C - u) ** 2
    primitive = sp.integrate(continuous, u)
    covariance = p * c1 * w1 + (1 - p) * c2 * w2 - (p * c1 + (1 - p) * c2) * (p * w1 + (1 - p) * w2)
    a, b = sp.symbols("a b", positive=True)
    gap = LEVEL_WAIT.subs({_sigma: _sigma + a, _x: b}) - LEVEL_WAIT.subs(_x, a)
    here = "Cobham's priority recursion, with speed C"
    return [
        equal("telescoped-step", "W_0 sigma_{k-1}/(C - sigma_{k-1}) + x_k W_k = W_0 sigma_k/(C - sigma_k)", here,
              TELESCOPED + _x * LEVEL_WAIT, above, "hence sum_{i<=k} x_i W_i = W_0 sigma_k/(C - sigma_k), by "
              "induction"),
        equal("recursion-solved", "C W_k = W_0 + sum_{i<=k} x_i W_i + sigma_{k-1} W_k", here,
              _C * LEVEL_WAIT, _W0 + above + _sigma * LEVEL_WAIT),
        positive("waits-increase", "W_k < W_{k+1} in the solved recursion", here, gap,
                 {_C: _sigma + a + b + sp.Symbol("r", positive=True)},
                 "the true waits are not shown monotone; the solution bounds them and is, which repairs the step"),
        equal("volume-weighted-wait", "E[v W]/E[v] = W_0/(C - lambda E[v])", here, TELESCOPED / _sigma,
              _W0 / (_C - _sigma)),
        equal("recursion-continuous", "with a continuum of levels, (C - u) W(u) = W_0 + integral_0^u W, "
              "solved by W = C W_0/(C - u)^2", here, (_C - u) * continuous,
              _W0 + primitive - primitive.subs(u, 0)),
        equal("fcfs-same-bound", "first come first served solves C W = W_0 + lambda E[v] W: the same W_0/(C - "
                                 "lambda E[v])",
              "here", _C * TELESCOPED / _sigma, _W0 + _sigma * TELESCOPED / _sigma,
              "so the bound of Thm 3.4 holds for strict FCFS too: it says nothing in favour of the volume order"),
        equal("chebyshev", "E[v W] - E[v] E[W] = p (1 - p) (v_2 - v_1)(W_2 - W_1) on two levels", "Chebyshev, "
        "Harris",
              covariance, p * (1 - p) * (c2 - c1) * (w2 - w1),
              "in general half the mean of (v - v')(W - W') over independent copies; non-negative when W "
              "increases in v"),
        _harris_needs_monotone(),
    ]  # fmt: skip


def _harris_needs_monotone() -> Identity:
    volumes, waits = (Fraction(1), Fraction(3)), (Fraction(2), Fraction(1))
    weighted = sum((v * w for v, w in zip(volumes, waits, strict=True)), start=Fraction(0)) / sum(volumes)
    plain = sum(waits, start=Fraction(0)) / 2
    return Identity(
        "harris-without-monotone",
        "E[W] <= E[v W]/E[v]",
        "paper, proof of Thm 3.4",
        "exact evaluation",
        CONDITIONAL if plain > weighted else REFUTED,
        f"needs W non-decreasing in v: volumes 1, 3 with waits 2, 1 have mean {plain} > {weighted}; repaired "
        "by waits-increase",
        CONDITIONAL,
    )


def _formula() -> list[Identity]:
    wait = paper_w0() / ((1 - alpha) * M / 2 - lam * mean_volume())
    by_w0 = wait / (q * paper_w0() / M)
    rho_at_half = (lam * mean_volume() / ((1 - alpha) * M / 2)).subs(alpha, sp.Rational(1, 2))
    kappa = (S * mu + 2) / (S * mu + 1)
    tight = (S * mu + 1 + q) / (S * mu + 1)
    k, r, t = sp.symbols("k r t", positive=True)
    inside = {q: k / (1 + k), alpha: r / (1 + r), rho: t / (1 + t)}
    v2, v1 = "paper v2, Thm 3.4", "paper v1"
    return [
        equal("formula-from-ingredients", "1 + [W_0/((1-alpha) M/2 - lambda E[vol])]/[(1-mu) W_0/M] = "
              "1 + 2/((1-alpha)(1-mu)(1-rho))", v2, (1 + by_w0).subs(lam, rate_at()), paper_formula(),
              "with rho = lambda E[vol]/((1-alpha) M/2); E[SVF] = 1/mu + E[W_q] and 1/mu <= E[OPT]"),
        equal("v1-is-v2-at-half", "v1's 1 + 4/((1-mu)(1-rho)) is v2's at alpha = 1/2", v1,
              1 + 4 / (q * (1 - rho)), paper_formula(sp.Rational(1, 2)),
              "as formulas, for one and the same number rho"),
        equal("v1-rho", "at alpha = 1/2, rho is 4 lambda E[vol]/M", v1,
              rho_at_half, 4 * lam * mean_volume() / M,
              "so 'rho < 1' allows only a quarter of the load lambda E[vol]/M"),
        equal("v1-rho-is-load", "at alpha = 1/2, rho is lambda E[vol]/M", "a misreading of paper v1",
              rho_at_half, lam * mean_volume() / M,
              expected=REFUTED),
        equal("opt-bounds-compared", "[(1-mu) W_0/M]/[1/mu] = (1-mu) rho (1-alpha)/2 * (mu S + 2)/(mu S + 1)",
              "here",
              (q * paper_w0() / M * mu).subs(lam, rate_at()), q * rho * (1 - alpha) / 2 * kappa),
        positive("opt-bound-idle", "if rho < 1 then (1-mu) W_0/M < 1/mu", "here",
                 1 - q * rho * (1 - alpha) / 2 * kappa, inside,
                 "so in max(1/mu, (1-mu) W_0/M) the second term never wins: the lower bound is true there, "
                 "and idle"),
        equal("sharper-formula", "E[W_q]/(1/mu) <= kappa rho/(1-rho), kappa = (mu S + 2)/(mu S + 1)", "here",
              (mu * wait).subs(lam, rate_at()), kappa * rho / (1 - rho), "from the same bound on E[W_q] and "
              "E[OPT] >= 1/mu"),
        equal("sharper-discrete", "with W_0 - lambda/mu^2 for W_0, kappa = (mu S + 2 - mu)/(mu S + 1)", "here",
              (mu * wait * (1 - lam / mu**2 / paper_w0())).subs(lam, rate_at()), tight * rho / (1 - rho),
              "the volume still to come at the starts of steps covers residual and same-step arrivals in "
              "discrete time"),
        positive("sharper-wins", "kappa rho/(1-rho) < 2/((1-alpha)(1-mu)(1-rho)) whenever rho < 1", "here",
                 2 / ((1 - alpha) * q * (1 - rho)) - kappa * rho / (1 - rho), inside,
                 "1 + 2 rho/(1-rho) bounds it: no 1/(1-mu), no 1/(1-alpha), and -> 1 as rho -> 0"),
    ]  # fmt: skip


def wait_bound(law: Mapping[tuple[int, int], Fraction], memory: int, rate: Fraction) -> Fraction:
    """Proven bound on the mean wait of strict SVF (or FCFS) under Poisson arrivals, in steps.

    Discrete time, a Poisson number of arrivals (mean `rate`) at each integer time, independent prompt and output
    lengths drawn from a finite law, look-ahead or peak-reservation fit, strict admission. The bound is
    ``lambda E[sum_{j=1..o} j (s + j)] / ((M + 1 - P)/2 - lambda E[v])``; it needs no geometric law.

    Parameters
    ----------
    law : mapping of (prompt, output) to probability
        Token counts; the probabilities sum to 1.
    memory : int
        M, in tokens.
    rate : Fraction
        Mean number of arrivals per step.

    Returns
    -------
    Fraction
        Bound on the stationary mean of start minus arrival.

    Raises
    ------
    InputError
        If the probabilities do not sum to 1, or the load is too high for the bound: ``2 rate E[v] >= M + 1 - P``.

    Examples
    --------
    >>> wait_bound({(1, 100): Fraction(1)}, 2000, Fraction(1, 10))
    Fraction(6868, 87)
    """
    if sum(law.values(), start=Fraction(0)) != 1:
        raise InputError("law", "has probabilities that do not sum to 1", "normalise it")
    peak = max(s + o for s, o in law)
    volume = _expect(law, ((s, o, s * o + o * (o + 1) // 2) for s, o in law))
    residual = _expect(law, ((s, o, s * o * (o + 1) // 2 + o * (o + 1) * (2 * o + 1) // 6) for s, o in law))
    slack = Fraction(memory + 1 - peak, 2) - rate * volume
    if slack <= 0:
        raise InputError("rate", f"is {rate}, but 2 rate E[v] >= M + 1 - P = {memory + 1 - peak}", "lower the rate")
    return rate * residual / slack


def _expect(law: Mapping[tuple[int, int], Fraction], values: Iterable[tuple[int, int, int]]) -> Fraction:
    return sum((law[s, o] * value for s, o, value in values), start=Fraction(0))


def rows() -> list[Identity]:
    """All statements of this module, decided now."""
    return [*_recursion(), *_formula()]
