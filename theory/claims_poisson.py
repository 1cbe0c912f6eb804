"""Claims about Poisson arrivals: those of [kong2026], in both versions, and what we put in their place."""

from __future__ import annotations

from theory.burst_bounds import Hypotheses
from theory.claim import (
    HAND,
    POISSON,
    Claim,
    Evidence,
    Source,
    proved_by,
    refuted_by,
    supported_by,
)

_PAGE = "papers/poisson.md"
#: H1 to H6 of papers/poisson.md; H7 is about the one bit.
_QUEUE = Hypotheses(
    "smallest volume first",
    ("strict",),
    ("lookahead", "peak"),
    peaks="p <= alpha M: geometric lengths cut at L; rho = lambda E[v]/((1 - alpha) M/2) < 1",
    arrivals="Poisson, stationary means",
)
_UNCUT = Hypotheses(
    "smallest volume first",
    ("strict",),
    ("lookahead", "peak"),
    peaks="geometric lengths",
    arrivals="Poisson",
)
_ONE_BIT = Hypotheses(
    "smallest volume first by one bit",
    ("strict",),
    ("lookahead", "peak"),
    peaks=_QUEUE.peaks,
    arrivals=_QUEUE.arrivals,
    lengths="one perfect bit for the order, true for the fit",
)
_LAW = Hypotheses("every request", (), (), peaks="geometric lengths", arrivals="", lengths="")
_ALGEBRA = Hypotheses("algebra", (), (), peaks="", arrivals="", lengths="")


def _v1(place: str) -> Source:
    return Source("kong2026", f"v1, {place}")


def _v2(place: str) -> Source:
    return Source("kong2026", f"v2, {place}")


def _by_hand(section: str, *rows: str) -> tuple[Evidence, ...]:
    return (*proved_by(HAND, f"{_PAGE}, {section}"), *supported_by(POISSON, *rows))


CLAIMS = (
    Claim(
        "v1-poisson",
        "E[SVF]/E[OPT] <= 1 + 4/((1 - mu)(1 - rho))",
        _QUEUE,
        _v1("Poisson theorem"),
        _by_hand("verdicts", "theorem-3.4-v1", "v1-is-v2-at-half", "v1-rho"),
        "v2's at alpha = 1/2, with rho = 4 lambda E[v]/M",
    ),
    Claim(
        "v1-poisson-load",
        "rho in v1's formula is the load lambda E[v]/M",
        _ALGEBRA,
        _v1("Poisson theorem, read literally"),
        refuted_by(POISSON, "v1-rho-is-load"),
    ),
    Claim(
        "v1-penalty",
        "the penalty E[Delta] - Delta_min of the one bit decays exponentially in the threshold",
        _LAW,
        _v1("1-bit Poisson theorem"),
        proved_by(POISSON, "eps-is-spread", "eps-vanishes", "eps-rate"),
        "no merit of the bit: at theta = infinity there is none",
    ),
    Claim(
        "v1-penalty-mean-gap",
        "the penalty E[v] - E[v-hat] of the one bit decays exponentially in the threshold",
        _LAW,
        _v1("1-bit Poisson theorem, the other reading"),
        (*refuted_by(POISSON, "mean-gap-vanishes"), *supported_by(POISSON, "mean-gap-limit")),
        "it tends to q/(2 mu^2)",
    ),
    Claim(
        "v2-mean-volume",
        "E[v] = E[s]/mu + 1/mu^2",
        _LAW,
        _v2("section on Poisson arrivals"),
        proved_by(POISSON, "volume-given-prompt", "mean-volume"),
    ),
    Claim(
        "v2-w0",
        "W_0 = lambda (E[s]/mu^2 + 2/mu^3) is the mean volume still to come of the requests in service",
        Hypotheses("every request", (), (), peaks="exponential lengths", arrivals="Poisson, continuous", lengths=""),
        _v2("proof of Theorem 3.4"),
        (*proved_by(POISSON, "w0-continuous"), *supported_by(POISSON, "w0-end-of-step", "w0-start-of-step")),
        "for geometric lengths it is an upper bound",
    ),
    Claim(
        "v2-wait",
        "E[W_q] <= W_0/((1 - alpha) M/2 - lambda E[v])",
        _QUEUE,
        _v2("proof of Theorem 3.4"),
        _by_hand("verdicts", "wait-ingredient", "recursion-solved", "waits-increase", "chebyshev"),
        "first come first served has the same bound",
    ),
    Claim(
        "v2-opt",
        "E[OPT] >= (1 - mu) W_0/M fails for some bounded lengths and loads below 1",
        _UNCUT,
        _v2("proof of Theorem 3.4, contradicted"),
        _by_hand("verdicts", "opt-lower-bound"),
        "where rho < 1 it is true and idle, because 1/mu is larger (v2-opt-idle)",
    ),
    Claim(
        "v2-opt-idle",
        "if rho < 1 then (1 - mu) W_0/M < 1/mu",
        _ALGEBRA,
        _v2("proof of Theorem 3.4"),
        proved_by(POISSON, "opt-bound-idle", "opt-bounds-compared"),
    ),
    Claim(
        "v2-poisson-algebra",
        "the two ingredients of Theorem 3.4 give 1 + 2/((1 - alpha)(1 - mu)(1 - rho))",
        _ALGEBRA,
        _v2("proof of Theorem 3.4"),
        proved_by(POISSON, "formula-from-ingredients"),
    ),
    Claim(
        "v2-poisson",
        "E[SVF]/E[OPT] <= 1 + 2/((1 - alpha)(1 - mu)(1 - rho))",
        _QUEUE,
        _v2("Theorem 3.4"),
        _by_hand("verdicts", "theorem-3.4-v2", "formula-from-ingredients", "opt-bound-idle"),
        "a ratio of means; the peak bound and unbounded geometric lengths exclude each other, so lengths are cut",
    ),
    Claim(
        "v2-poisson-mean-ratio",
        "a bound on E[SVF]/E[OPT] bounds E[SVF/OPT]",
        Hypotheses("smallest volume first", ("strict",), ("lookahead",), arrivals="any random instance"),
        _v2("Theorems 3.4 and 3.5, stated for E[CR]"),
        refuted_by(POISSON, "ratio-of-expectations"),
    ),
    Claim(
        "v2-poisson-load",
        "with rho read as the load lambda E[v]/M the bound of Theorem 3.4 is exceeded",
        _UNCUT,
        _v2("Theorem 3.4, rho read as the load"),
        _by_hand("stability", "formula-with-load", "load-below-one-suffices", "pacing-is-stable"),
    ),
    Claim(
        "v2-harris",
        "E[W] <= E[v W]/E[v]",
        _QUEUE,
        _v2("proof of Theorem 3.4"),
        _by_hand("verdicts", "harris-without-monotone", "waits-increase", "chebyshev"),
        "needs waits that do not decrease in v; the paper does not show it, an auxiliary sequence repairs it",
    ),
    Claim(
        "v2-poisson-one-bit",
        "1 bit: the second term of v2-poisson times E[v]/(E[v] - eps), eps = (1/2)(theta q^theta/(1 - q^theta))^2",
        _ONE_BIT,
        _v2("Theorem 3.5"),
        _by_hand("one bit", "theorem-3.5", "eps-is-spread", "volume-minus-eps"),
    ),
    Claim(
        "v2-proxies",
        "O_1 = theta + 1/mu and O_0 = 1/mu - theta q^theta/(1 - q^theta) are the class means",
        _LAW,
        _v2("Theorem 3.5"),
        proved_by(POISSON, "long-proxy", "short-proxy"),
    ),
    Claim(
        "v2-eps",
        "eps < E[v]/2 for class means, every theta >= 1",
        _LAW,
        _v2("Theorem 3.5, implicit"),
        (*proved_by(POISSON, "eps-below-half"), *supported_by(POISSON, "eps-other-proxies")),
        "eps < E[v] can fail for other proxies, those of Theorem 3.3 among them",
    ),
    Claim(
        "P-sharper",
        "E[SVF]/E[OPT] <= 1 + kappa rho/(1 - rho), kappa = (mu S + 2)/(mu S + 1) <= 2, S = E[s]",
        _QUEUE,
        Source("", f"{_PAGE}, sharper"),
        _by_hand("verdicts", "sharper-theorem", "sharper-formula"),
        "for lengths cut at L the second term is divided by 1 - q^L",
    ),
    Claim(
        "P-sharper-wins",
        "kappa rho/(1 - rho) < 2/((1 - alpha)(1 - mu)(1 - rho)) whenever rho < 1",
        _ALGEBRA,
        Source("", f"{_PAGE}, sharper"),
        proved_by(POISSON, "sharper-wins"),
    ),
    Claim(
        "P-stable",
        "lambda E[o (s + o)] < M + 1 - P makes every strict static order stable; rho < 1 implies it",
        Hypotheses("any static order", ("strict",), ("lookahead", "peak"), peaks="p <= P <= M", arrivals="Poisson"),
        Source("", f"{_PAGE}, stability"),
        _by_hand("stability", "sufficient-load", "rho-implies-stable", "rho-slack"),
    ),
    Claim(
        "P-load",
        "lambda E[v] < M does not make strict policies stable: equal lengths synchronise",
        Hypotheses("any static order", ("strict",), ("lookahead", "peak"), peaks="p <= M", arrivals="Poisson"),
        Source("", f"{_PAGE}, stability"),
        _by_hand("stability", "load-below-one-suffices", "necessary-load", "pacing-is-stable"),
    ),
)
