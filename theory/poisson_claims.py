"""The verdict on each claim of the paper about Poisson arrivals, and the theorem that survives.

A verdict rests on rows of the other modules; it is recorded as standing only if every one of those stands now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from theory.model import Instance, Request, Schedule
from theory.poisson_check import CONDITIONAL, REFUTED, UNDECIDED, Identity

_STABLE = (
    "bounded lengths (P <= alpha M), strict admission with known lengths, rho < 1, independent prompts and outputs"
)


def _ratio_of_expectations() -> Identity:
    burst = Instance(30, (Request(2, 10), Request(2, 10), Request(9, 6)))
    svf, better = Schedule((0, 0, 10)), Schedule((0, 1, 0))
    at_once = Schedule((0, 0, 0))
    # 27 is optimal: only starting everything at once would give 26, and that does not fit
    exact = at_once.violation(burst) is not None and better.violation(burst) is None and svf.violation(burst) is None
    slow, fast, idle = svf.total_latency(burst), better.total_latency(burst), 1000
    of_means = Fraction(slow + idle, fast + idle)
    of_ratios = (Fraction(slow, fast) + 1) / 2
    return Identity(
        "ratio-of-expectations",
        "a bound on E[SVF]/E[OPT] bounds E[SVF/OPT]",
        "paper, Thms 3.4 and 3.5 (E[CR])",
        "exact evaluation",
        REFUTED if exact and of_means < of_ratios else UNDECIDED,
        f"two instances of probability 1/2: M = 30, (2,10), (2,10), (9,6) has SVF {slow} and OPT {fast}; "
        f"{idle} requests "
        f"(0,1), one per step, have ratio 1. E[SVF]/E[OPT] = {of_means} = {float(of_means):.4f}, "
        f"E[SVF/OPT] = {of_ratios} = {float(of_ratios):.4f}",
        REFUTED,
    )


def opt_bound_excess(ratio: Fraction, prompt: int, limit: int, load: Fraction) -> Fraction:
    """The claimed bound (1 - mu) W_0/M on E[OPT], over E[o], for lengths min(o, limit) and a given load.

    The moments are those of the bounded lengths, so no length exceeds the memory, and ``lambda E[v]/M = load``. As
    M grows at a fixed load below 1 the true E[OPT] tends to E[o]: a value above 1 refutes the bound.
    """
    law = [(length, (1 - ratio) * ratio ** (length - 1)) for length in range(1, limit)] + [
        (limit, ratio ** (limit - 1))
    ]

    def mean(value: Callable[[int], int]) -> Fraction:
        return sum((value(length) * weight for length, weight in law), start=Fraction(0))

    # the tokens of step i are still to come at the ends of the i - 1 steps before it
    residual = mean(lambda o: sum((i - 1) * (prompt + i) for i in range(1, o + 1)))
    return load * residual / (mean(lambda o: prompt * o + o * (o + 1) // 2) * mean(lambda o: o))


def _opt_lower_bound() -> Identity:
    excess = opt_bound_excess(Fraction(9, 10), 1, 100, Fraction(9, 10))
    return Identity(
        "opt-lower-bound",
        "E[OPT] >= (1-mu) W_0/M",
        "paper v2, proof of Thm 3.4",
        "exact evaluation and hand proof that E[OPT] -> E[o] as M -> oo at fixed load < 1",
        REFUTED if excess > 1 else UNDECIDED,
        f"lengths min(o, 100), mu = 1/10, s = 1, lambda E[v]/M = 9/10: the bound is {float(excess):.4f} E[o] "
        "for every M. "
        "Where rho < 1 it is true, because 1/mu is larger (opt-bound-idle)",
        REFUTED,
    )


#: (id, statement, source, detail, rows it rests on)
_CLAIMS = (
    (
        "wait-ingredient",
        "E[W_q] <= W_0/((1-alpha) M/2 - lambda E[vol])",
        "paper v2, proof of Thm 3.4",
        f"{_STABLE}; discrete time with Poisson batches or continuous time up to rounding; holds for FCFS as well",
        ("peak-time-and-volume", "recursion-solved", "telescoped-step", "waits-increase", "volume-weighted-wait",
         "chebyshev", "w0-end-of-step", "w0-start-of-step", "w0-and-volume", "rho-implies-stable"),
    ),
    (
        "sharper-theorem",
        "E[SVF]/E[OPT] <= 1 + kappa rho/(1-rho), kappa = (mu S + 2)/(mu S + 1) <= 2",
        "here",
        f"{_STABLE}; for lengths min(o, L) divide the second term by 1 - q^L",
        ("wait-ingredient", "sharper-formula", "sharper-wins", "capped-mean-length", "cap-cost-volume"),
    ),
    (
        "theorem-3.4-v2",
        "E[SVF]/E[OPT] <= 1 + 2/((1-alpha)(1-mu)(1-rho)), rho = lambda E[vol]/((1-alpha) M/2)",
        "paper v2, Thm 3.4",
        f"{_STABLE}; ratio of means in the stationary state; lengths min(o, L) with q^L <= mu + alpha q",
        ("wait-ingredient", "formula-from-ingredients", "opt-bound-idle", "sharper-theorem", "cap-cost-length"),
    ),
    (
        "theorem-3.4-v1",
        "E[SVF]/E[OPT] <= 1 + 4/((1-mu)(1-rho))",
        "paper v1",
        f"as theorem-3.4-v2 with alpha <= 1/2 and rho = 4 lambda E[vol]/M; {_STABLE}",
        ("theorem-3.4-v2", "v1-is-v2-at-half", "v1-rho"),
    ),
    (
        "theorem-3.5",
        "one bit: the second term times E[v]/(E[v] - eps), eps = (1/2)(theta q^theta/(1-q^theta))^2",
        "paper v2, Thm 3.5",
        f"{_STABLE}; class means as proxies, perfect classifier, true length in the fit test; "
        "eps < E[v] then holds by itself and the factor is below 2; for lengths min(o, L), eps of that law",
        ("wait-ingredient", "eps-is-spread", "short-delta", "long-delta", "volume-minus-eps", "eps-below-half"),
    ),
    (
        "penalty-decays",
        "the penalty eps decays exponentially in the threshold",
        "paper v1",
        "true of eps = E[Delta] - Delta_min, false of E[v] - E[v-hat]; and no merit of the bit, since at "
        "theta = oo "
        "there is none",
        ("eps-vanishes", "eps-rate", "mean-gap-limit", "bit-fades", "fcfs-same-bound"),
    ),
)  # fmt: skip


def rows(known: Mapping[str, Identity]) -> list[Identity]:
    """The verdicts, given the rows they rest on (and, in order, the verdicts before them).

    Parameters
    ----------
    known : mapping of id to Identity
        Decided rows.

    Returns
    -------
    list of Identity
        A claim is ``conditional`` if every row it rests on stands, ``undecided`` otherwise.
    """
    standing = {name: row.ok for name, row in known.items()}
    found = [_ratio_of_expectations(), _opt_lower_bound()]
    # a claim may rest on those before it: the order of _CLAIMS is the order of proof
    for name, statement, source, detail, rests_on in _CLAIMS:
        missing = [other for other in rests_on if not standing.get(other, False)]
        status = UNDECIDED if missing else CONDITIONAL
        note = f"does not stand: {', '.join(missing)}; {detail}" if missing else detail
        method = f"hand proof; algebra: {', '.join(rests_on)}"
        found.append(Identity(name, statement, source, method, status, note, CONDITIONAL))
        standing[name] = status == CONDITIONAL
    return found
