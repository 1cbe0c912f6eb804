"""Moments of volume under geometric output lengths, and what the paper's W_0 is.

Lengths are geometric on {1, 2, ...} with success probability mu = 1 - q, prompts are independent of them with mean
S and second moment S_2. Two bounded variants stand in for lengths that must fit the memory: *capped*, min(o, L),
and *conditioned*, o given o <= L.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from theory.poisson_check import REFUTED, S2, Identity, S, cap, equal, is_zero, lam, mu, q
from theory.poisson_sums import capped_mean, mean, moment, n, short_mean

_s = sp.Symbol("s", positive=True)
_j = sp.Symbol("j", integer=True, positive=True)

#: v = s o + o (o + 1) / 2 and o (s + o), as polynomials in the output length `n` and the prompt length `s`.
VOLUME = _s * n + n * (n + 1) / 2
PEAK_TIME = n * (_s + n)
#: Sum of the volume still to come, over the starts of the steps of one request: sum_{j=1..o} j (s + j).
RESIDUAL_AT_START = _s * n * (n + 1) / 2 + n * (n + 1) * (2 * n + 1) / 6
#: The same over the ends of the steps: sum_{j=1..o} (v - v_j).
RESIDUAL_AT_END = RESIDUAL_AT_START - VOLUME


def over_prompts(expression: Any) -> Any:
    """Average a polynomial in the prompt length s over independent prompts: s -> S, s^2 -> S_2."""
    poly = sp.Poly(sp.together(expression), _s)
    if poly.degree() > 2:
        raise ValueError("only two moments of the prompt length are named")
    return sum(c * (1, S, S2)[power] for (power,), c in poly.terms())


def mean_volume() -> Any:
    """E[v] = S/mu + 1/mu^2 (token-steps)."""
    return over_prompts(mean(VOLUME))


def paper_w0() -> Any:
    """The paper's W_0 = lambda (S/mu^2 + 2/mu^3) (token-steps)."""
    return lam * (S / mu**2 + 2 / mu**3)


def _plain_moments() -> list[Identity]:
    book, paper = "textbook", "paper, section on Poisson arrivals"
    volume_squared = sp.expand(VOLUME**2)
    return [
        moment("mean-length", "E[o] = 1/mu", book, n, 1 / mu),
        moment("second-moment", "E[o^2] = (2 - mu)/mu^2", book, n**2, (2 - mu) / mu**2),
        moment("third-moment", "E[o^3] = (mu^2 - 6 mu + 6)/mu^3", book, n**3, (mu**2 - 6 * mu + 6) / mu**3),
        moment("volume-given-prompt", "E[v | s] = s/mu + 1/mu^2", paper, VOLUME, _s / mu + 1 / mu**2),
        equal("mean-volume", "E[v] = E[s]/mu + 1/mu^2", paper, mean_volume(), S / mu + 1 / mu**2,
              "prompt and output lengths independent"),
        moment("volume-squared-given-prompt",
               "E[v^2 | s] = s^2 (2-mu)/mu^2 + s (6 - 4 mu)/mu^3 + (6 - 6 mu + mu^2)/mu^4",
               "here", volume_squared,
               _s**2 * (2 - mu) / mu**2 + _s * (6 - 4 * mu) / mu**3 + (6 - 6 * mu + mu**2) / mu**4),
        moment("peak-time", "E[o (s + o) | s] = s/mu + (2 - mu)/mu^2", "here", PEAK_TIME,
               _s / mu + (2 - mu) / mu**2),
        equal("peak-time-and-volume", "o (s + o) = 2 v - o (s + 1), for every request", "here",
              PEAK_TIME, 2 * VOLUME - n * (_s + 1), "so E[o (s + o)] = 2 E[v] - E[o (s + 1)] < 2 E[v]"),
    ]  # fmt: skip


def _bounded_moments() -> list[Identity]:
    z = q**cap
    rows = [
        ("capped-mean-length", "E[min(o,L)] = (1 - q^L)/mu", capped_mean(n, cap), (1 - z) / mu),
        ("capped-volume", "E[v_L | s] = s (1 - q^L)/mu + (1 - q^L (1 + L mu))/mu^2", capped_mean(VOLUME, cap),
         _s * (1 - z) / mu + (1 - z * (1 + cap * mu)) / mu**2),
        ("capped-peak-time", "E[o_L (s + o_L) | s] = s (1 - q^L)/mu + (2 - mu - q^L (2 - mu + 2 L mu))/mu^2",
         capped_mean(PEAK_TIME, cap),
         _s * (1 - z) / mu + (2 - mu - z * (2 - mu + 2 * cap * mu)) / mu**2),
        ("conditioned-mean-length", "E[o | o <= L] = 1/mu - L q^L/(1 - q^L)", short_mean(n, cap),
         1 / mu - cap * z / (1 - z)),
        ("conditioned-volume", "E[v | s, o <= L] = s (1/mu - L q^L/(1 - q^L)) "
         "+ 1/mu^2 - (q^L/(1 - q^L)) (L/mu + L (L+1)/2)",
         short_mean(VOLUME, cap),
         _s * (1 / mu - cap * z / (1 - z)) + 1 / mu**2 - z / (1 - z) * (cap / mu + cap * (cap + 1) / 2)),
        ("conditioned-peak-time", "E[o (s + o) | s, o <= L] = s (1/mu - L q^L/(1 - q^L)) "
         "+ (2 - mu)/mu^2 - (q^L/(1 - q^L)) (2 L/mu + L^2)",
         short_mean(PEAK_TIME, cap),
         _s * (1 / mu - cap * z / (1 - z)) + (2 - mu) / mu**2 - z / (1 - z) * (2 * cap / mu + cap**2)),
    ]  # fmt: skip
    return [equal(id, text, "here", left, right, "lengths bounded by L") for id, text, left, right in rows]


def _what_w0_is() -> list[Identity]:
    w0 = paper_w0()
    volume = mean_volume()
    x, y = sp.symbols("x y", positive=True)
    rate = sp.Symbol("r", positive=True)
    # continuous time: exponential length y of rate r, volume s y + y^2/2, residual integrated over the service
    residual = sp.integrate(_s * (y - x) + (y**2 - x**2) / 2, (x, 0, y))
    exponential = sp.integrate(sp.expand(residual * rate * sp.exp(-rate * y)), (y, 0, sp.oo))
    fresh = (_s + n) / mu + 1 / mu**2
    return [
        equal("residual-sum", "F(o) - F(o-1) = o (s + o) and F(0) = 0 for F(o) = s o (o+1)/2 + o (o+1) (2o+1)/6",
              "here", RESIDUAL_AT_START - RESIDUAL_AT_START.subs(n, _j - 1).subs(_j, n), n * (_s + n),
              "F(o) = sum_{j=1..o} j (s + j): a token-step of step j is still to come at the starts of j steps"),
        equal("w0-continuous", "W_0 is the mean volume still to come of the requests in service, "
              "for exponential lengths in continuous time", "here",
              lam * sp.expand(exponential.subs(_s, S)).subs(rate, mu), w0,
              "by Little's law, lambda E[integral of the residual volume over the service]"),
        equal("w0-fresh", "W_0 = lambda sum_j P(o >= j) ((E[s] + j)/mu + 1/mu^2)", "here",
              lam * over_prompts(sp.expand(mean(fresh) / mu)), w0,
              "i.e. each request in its j-th step is given a fresh geometric length on top of that step: "
              "probability P(o >= j) is used where a further step has only P(o > j)"),
        equal("w0-end-of-step", "mean volume still to come at the end of a step = (1 - mu) W_0", "here",
              lam * over_prompts(mean(sp.expand(RESIDUAL_AT_END))), (1 - mu) * w0,
              "this is where the factor 1 - mu of the paper's lower bound on E[OPT] comes from"),
        equal("w0-start-of-step", "mean volume still to come at the start of a step = W_0 - lambda/mu^2", "here",
              lam * over_prompts(mean(sp.expand(RESIDUAL_AT_START))), w0 - lam / mu**2,
              "so W_0 is an upper bound on either discrete residual, not their value"),
        equal("w0-shifted", "W_0 = lambda E[sum_{j=1..o} j (s + j + 1)]", "here",
              lam * over_prompts(mean(sp.expand(RESIDUAL_AT_START + n * (n + 1) / 2))), w0,
              "one token more than is held"),
        equal("w0-and-volume", "mu W_0 = lambda E[v] + lambda/mu^2 <= 2 lambda E[v]", "here",
              mu * w0, lam * volume + lam / mu**2, "equality in the last step for empty prompts"),
        equal("w0-as-second-moment", "W_0 = lambda E[v^2]/2 (the mean residual of a single server)",
              "a misreading", w0, lam * over_prompts(mean(sp.expand(VOLUME**2))) / 2,
              "W_0 is token-steps in service on a shared memory, not the residual of one server of speed M, "
              "lambda E[v^2]/(2 M)", expected=REFUTED),
    ]  # fmt: skip


def rows() -> list[Identity]:
    """All statements of this module, decided now."""
    if not is_zero(RESIDUAL_AT_START.subs(n, 0)):
        raise ArithmeticError("an empty request has no residual volume")
    return [*_plain_moments(), *_bounded_moments(), *_what_w0_is()]
