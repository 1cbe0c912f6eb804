"""When the queue is stable, and what happens when rho is read as the load ``lambda E[v]/M``.

Three loads must be kept apart: ``lambda E[v]/M`` (below 1 is necessary for any policy), the paper's
``rho = lambda E[v]/((1 - alpha) M/2)``, and ``lambda E[o (s + o)]/(M + 1 - P)`` (below 1 is sufficient for any
strict static order). Between the first and the last, requests of equal length synchronise and waste up to half
the memory.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from theory.errors import InputError
from theory.poisson_check import (
    CONDITIONAL,
    REFUTED,
    UNDECIDED,
    Identity,
    M,
    S,
    alpha,
    cap,
    equal,
    lam,
    mu,
    positive,
    q,
    rho,
)
from theory.poisson_moments import PEAK_TIME, VOLUME, mean_volume, over_prompts, paper_w0
from theory.poisson_queue import paper_formula
from theory.poisson_sums import capped_mean, mean, n


def saturated_cycle(memory: int, prompt: int, output: int) -> tuple[int, int]:
    """Period and starts per period of identical requests that never run out, started on an empty memory.

    Each request starts as early as the look-ahead test allows (all orders and admission rules agree here). The run
    is followed until the state of the memory repeats.

    Parameters
    ----------
    memory, prompt, output : int
        Tokens; ``prompt + output <= memory``.

    Returns
    -------
    period : int
        Steps.
    starts : int
        Requests started in each period; ``starts / period`` is the throughput with an endless queue.

    Raises
    ------
    InputError
        If one request does not fit.

    Examples
    --------
    >>> saturated_cycle(2000, 1, 100)
    (100, 20)
    """
    if output < 1 or prompt + output > memory:
        raise InputError("output", f"is {output}", f"give 1 to {memory - prompt} tokens")
    usage = [0] * output  # tokens promised in each of the coming steps; nothing reaches past `output` steps
    started: list[int] = []
    seen: dict[tuple[int, ...], int] = {}
    while tuple(usage) not in seen:
        seen[tuple(usage)] = len(started)
        count = min((memory - held) // (prompt + step) for step, held in enumerate(usage, 1))
        started.append(count)
        usage = [held + count * (prompt + step) for step, held in enumerate(usage, 1)]
        usage = [*usage[1:], 0]
    first = seen[tuple(usage)]
    return len(started) - first, sum(started[first:])


def paced_wait(rate: Fraction, pace: int) -> Fraction:
    """Mean wait, in steps, of Poisson arrivals (a batch at each step) started one at a time, `pace` steps apart.

    Parameters
    ----------
    rate : Fraction
        Mean arrivals per step; ``rate * pace < 1``.
    pace : int
        Steps between two starts.

    Raises
    ------
    InputError
        If the pace cannot keep up.

    Examples
    --------
    >>> paced_wait(Fraction(1, 4), 2)
    Fraction(1, 1)
    """
    work = rate * pace
    if work >= 1:
        raise InputError("rate", f"is {rate}: rate * pace = {work}", "keep it below 1")
    # Lindley: U' = max(U + X - 1, 0), X = pace * N; squaring at stationarity gives E[U]; then half the own batch
    second = pace**2 * (rate + rate**2)
    return (second - work) / (2 * (1 - work)) + pace * rate / 2


def paced_memory(prompt: int, output: int, pace: int) -> int:
    """Most tokens ever held when identical requests start every `pace` steps for ever."""
    return max(sum(prompt + j for j in range(first, output + 1, pace)) for first in range(1, pace + 1))


def _synchronised() -> list[Identity]:
    memory, prompt, output, pace = 2000, 1, 100, 3
    volume = prompt * output + output * (output + 1) // 2
    period, starts = saturated_cycle(memory, prompt, output)
    throughput = Fraction(starts, period)
    rate = Fraction(7, 10) * memory / volume
    latency = output + paced_wait(rate, pace)
    shares = Fraction(prompt + output, memory)
    right = 1 + 2 / ((1 - shares) * (1 - Fraction(7, 10)))
    fits = paced_memory(prompt, output, pace) <= memory
    return [
        Identity(
            "load-below-one-suffices",
            "lambda E[v]/M < 1 makes SVF stable",
            "paper, if rho is read as lambda E[v]/M",
            "exact cycle of an endless queue",
            REFUTED if throughput < rate else UNDECIDED,
            f"s = 1, o = 100, M = 2000: an endless queue starts {starts} requests per {period} steps, load "
            f"{throughput * volume / memory} = {float(throughput * volume / memory):.3f}; at any higher rate "
            "a burst "
            "into the empty memory is followed, with positive probability, by a queue that grows for ever",
            REFUTED,
        ),
        Identity(
            "pacing-is-stable",
            "there, at load 7/10, some schedule has mean latency below 1.1 times the length",
            "here",
            "exact Lindley recursion",
            CONDITIONAL if fits and latency < Fraction(11, 10) * output else UNDECIDED,
            f"one start every {pace} steps holds at most {paced_memory(prompt, output, pace)} tokens and has mean "
            f"latency {latency} = {float(latency):.2f} steps; hypothesis: Poisson number of arrivals at each step",
            CONDITIONAL,
        ),
        Identity(
            "formula-with-load",
            "E[SVF]/E[OPT] <= 1 + 2/((1-alpha)(1-mu)(1-rho)) with rho read as lambda E[v]/M",
            "a reading of paper v2, Thm 3.4",
            "the two rows above, and continuity in q over finitely many requests",
            REFUTED if throughput < rate and fits else UNDECIDED,
            f"lengths min(o, 100), s = 1, M = 2000, load 7/10: as mu -> 0 the right side tends to {right} = "
            f"{float(right):.2f}, "
            "while the ratio over the first N requests exceeds any number for N large and mu small",
            REFUTED,
        ),
    ]


def _loads() -> list[Identity]:
    k, r, t, p = sp.symbols("k r t p", positive=True)
    rate = rho * (1 - alpha) * M / 2 / mean_volume()
    peak_time = over_prompts(mean(PEAK_TIME))
    slack = M + 1 - alpha * M - lam * peak_time
    inside = {q: k / (1 + k), alpha: r / (1 + r), rho: t / (1 + t), M: p}
    return [
        equal("load-and-rho", "lambda E[v]/M = rho (1-alpha)/2", "here",
              (lam * mean_volume() / M).subs(lam, rate), rho * (1 - alpha) / 2, "so rho < 1 allows less than "
              "half the load"),
        equal("rho-slack", "M + 1 - P - lambda E[o (s+o)] = 1 + (M - P)(1 - rho) + lambda (E[s] + 1)/mu, P = "
                           "alpha M", "here",
              slack.subs(lam, rate), (1 + (1 - alpha) * M * (1 - rho) + lam * (S + 1) / mu).subs(lam, rate)),
        positive("rho-implies-stable", "rho < 1 implies lambda E[o (s+o)] < M + 1 - P", "here", slack.subs(lam,
                 rate), inside,
                 "so the paper's rho < 1 is inside the region where stability is proved"),
        Identity("sufficient-load", "lambda E[o (s+o)] < M + 1 - P makes every strict static order stable",
                 "hand proof", "hand proof: drift of sum p_i (remaining steps)", CONDITIONAL,
                 "bounded lengths, strict admission, look-ahead or peak-reservation fit; then the mean wait "
                 "is finite",
                 CONDITIONAL),
        Identity("necessary-load", "no policy is stable when lambda E[v] > M", "hand proof",
                 "hand proof: at most M token-steps are served in a step", CONDITIONAL,
                 "lengths that fit the memory; preemption and migration do not help", CONDITIONAL),
    ]  # fmt: skip


def _truncation() -> list[Identity]:
    z = q**cap
    return [
        equal("cap-cost-length", "E[o] - E[min(o,L)] = q^L/mu", "here", mean(n) - capped_mean(n, cap), z / mu,
              "P(o > L) = q^L > 0 for every L: with unbounded lengths p <= alpha M fails with positive "
              "probability, and a "
              "request with s + o > M can never be served, so E[OPT] is undefined"),
        equal("cap-cost-volume", "E[v] - E[v_L] = q^L (S/mu + (1 + L mu)/mu^2)", "here",
              over_prompts(mean(VOLUME) - capped_mean(VOLUME, cap)), z * (S / mu + (1 + cap * mu) / mu**2),
              "the error carried by truncating at L"),
    ]  # fmt: skip


def _conventions() -> list[Identity]:
    half = paper_formula(sp.Rational(1, 2))
    m = sp.Symbol("m", positive=True)
    as_mean = half.subs({q: 1 - 100, rho: sp.Rational(1, 2)})
    as_continuation = half.subs({q: sp.Rational(1, 1000), rho: sp.Rational(7, 10)})
    return [
        Identity("mu-is-mean-literal", "the formula with mu = E[o] put in literally", "a misreading of the "
        "convention",
                 "exact evaluation", REFUTED if as_mean < 1 else UNDECIDED,
                 f"E[o] = 100, alpha = rho = 1/2 gives {as_mean} < 1, but E[SVF] >= E[OPT]", REFUTED),
        equal("mu-is-mean-volume", "with m = E[o] (so q = 1 - 1/m), E[v] = m E[s] + m^2", "convention",
              mean_volume().subs(q, 1 - 1 / m), m * S + m**2),
        equal("mu-is-mean-w0", "with m = E[o], W_0 = lambda (m^2 E[s] + 2 m^3), and 1 - mu is read as 1 - 1/m",
              "convention",
              paper_w0().subs(q, 1 - 1 / m), lam * (m**2 * S + 2 * m**3)),
        equal("mu-is-continuation", "with mu the probability of a further step, 1 - mu = 1/E[o] and the "
                                    "formula is "
              "1 + 2 E[o]/((1-alpha)(1-rho))", "convention",
              paper_formula().subs(q, mu), 1 + 2 * mean(n) / ((1 - alpha) * (1 - rho)),
              f"it grows with the length: {as_continuation} at alpha = 1/2, E[o] = 1000, rho = 7/10"),
    ]  # fmt: skip


def rows() -> list[Identity]:
    """All statements of this module, decided now."""
    return [*_loads(), *_truncation(), *_synchronised(), *_conventions()]
