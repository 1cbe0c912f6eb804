"""What the simulated rows say about each claim on Poisson arrivals, as data.

A verdict from simulation never proves a stationary statement: it holds for the sample paths named, with intervals.
In ``svf-over-paced`` nothing is estimated on a path: SVF and the feasible schedule beside it are both exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theory.poisson import paper_bound

#: v1's right-hand side ``1 + 4/((1 - mu)(1 - rho))`` at mu = 0.999 (probability of a further step) and rho = 0.7.
V1_AT_CONTINUATION = 1 + 4 / (Fraction(1, 1000) * Fraction(3, 10))
#: v2's right-hand side at mu = 0.001 (success probability), alpha = 101/2000 and rho = 0.7.
V2_AT_SUCCESS = paper_bound(Fraction(1, 1000), Fraction(101, 2000), Fraction(7, 10))


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim, and what the rows say.

    Parameters
    ----------
    id : str
    statement, hypotheses : str
    status : str
        ``"holds in simulation"``, ``"refuted on sample paths"`` or ``"fails in simulation"``.
    evidence : str
        The numbers.
    """

    id: str
    statement: str
    hypotheses: str
    status: str
    evidence: str


def verdicts(rows: Iterable[dict[str, Any]]) -> list[Verdict]:
    """Judge the claims by the rows of :mod:`runtime.poisson_runs`; claims without rows are left out.

    Returns
    -------
    list of Verdict
    """
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        kinds.setdefault(row["experiment"], []).append(row)
    found = []
    if "grid" in kinds:
        found += [_bound(kinds["grid"], *told) for told in _BOUNDS]
    equal = [row for row in kinds.get("synchronised", []) if row["saturated_load"] is not None]
    cut = [row for row in kinds.get("synchronised", []) if row["saturated_load"] is None]
    if equal:
        found.append(_boundary(equal))
    if cut:
        found.append(_counterexample(max(cut, key=lambda row: int(row["requests"]))))
    if "one-bit" in kinds:
        found += _one_bit(kinds["one-bit"])
    if "levels" in kinds:
        found.append(_levels(kinds["levels"][0]))
    if "readings" in kinds:
        found.append(_readings(kinds["readings"]))
    return found


#: (name of the bound, policy, id, statement).
_BOUNDS = (
    ("paper", "svf", "sim-theorem-3.4", "E[SVF]/E[OPT] <= 1 + 2/((1-alpha)(1-mu)(1-rho))"),
    ("sharper", "svf", "sim-sharper", "E[SVF]/E[OPT] <= 1 + kappa rho/((1-rho)(1-q^L))"),
    ("wait", "svf", "sim-wait", "E[SVF]/E[OPT] <= 1 + wait_bound/E[o]"),
    ("peak svf", "svf", "sim-peak-svf", "E[SVF]/E[OPT] <= 1 + peak_wait_bound/E[o], levels by volume"),
    ("peak svf-1bit", "svf-1bit", "sim-peak-one-bit", "E[1-bit SVF]/E[OPT] <= 1 + peak_wait_bound/E[o], by class"),
    ("peak fcfs", "fcfs", "sim-peak-fcfs", "E[FCFS]/E[OPT] <= 1 + lambda E[p o^2]/(2 (M+1-P-lambda E[p o]) E[o])"),
)
_HYPOTHESES = "lengths min(o, L), strict admission, look-ahead fit, true lengths, rho < 1"


def _bound(rows: list[dict[str, Any]], name: str, policy: str, id: str, statement: str) -> Verdict:
    points = [(row["bounds"][name], row["policies"][policy]) for row in rows if row["bounds"][name] is not None]
    largest = max(_high(point["ratio_of_means"]) for _, point in points)
    holds = all(_high(point["ratio_of_means"]) <= bound for bound, point in points)
    margins = sorted((bound - 1) / max(1e-9, _high(point["ratio_of_means"]) - 1) for bound, point in points)
    return Verdict(
        id,
        statement,
        _HYPOTHESES,
        "holds in simulation" if holds else "fails in simulation",
        f"{len(points)} queues: E[ALG]/E[bound on OPT] is at most {largest:.4f} (upper end of the interval) where "
        f"the right side is {min(b for b, _ in points):.3f} to {max(b for b, _ in points):.3f}; the excess over 1 "
        f"is overestimated by a factor of at least {margins[0]:.3g}",
    )


def _high(pair: list[float]) -> float:
    return pair[0] + (pair[1] or 0.0)


def _boundary(rows: list[dict[str, Any]]) -> Verdict:
    calm = [row["load"] for row in rows if row["svf_over_lengths"][0] < 1.1]
    lost = [row["load"] for row in rows if row["svf_over_lengths"][0] > 100]
    limit = rows[0]["saturated_load"]
    paced = max((row for row in rows if row["paced_exact"]), key=lambda row: float(row["load"]))
    consistent = max(calm, default=0) <= limit + 0.01 and min(lost, default=1) >= limit
    return Verdict(
        "sim-boundary",
        "equal lengths: strict SVF is stable up to the load of its saturated cycle only; pacing goes on",
        "s = 1, o = 100, M = 2000, strict admission",
        "holds in simulation" if consistent else "fails in simulation",
        f"saturated load {limit}; mean latency below 1.1 lengths at loads {calm}, above 100 lengths (and growing) "
        f"at {lost}; one start per 3 steps at load {paced['load']}: {paced['paced_over_lengths'][0]:.4f} lengths "
        f"(exact stationary value {paced['paced_exact']:.4f})",
    )


def _counterexample(row: dict[str, Any]) -> Verdict:
    least = row["least_svf_over_paced"]
    beaten = [f"{float(bound):.2f}" for bound in (V2_AT_SUCCESS, V1_AT_CONTINUATION) if least > bound]
    return Verdict(
        "svf-over-paced",
        "the formula with rho read as lambda E[v]/M, for lengths min(o, 100)",
        "q = .999, s = 1, M = 2000, load .7; first n requests from the empty memory; strict admission",
        "refuted on sample paths" if beaten else "holds in simulation",
        f"n = {row['requests']}, {row['paths']} paths: SVF's latency over that of one start per 3 steps (a "
        f"feasible schedule) is at least {least} on every path, mean {row['svf_over_paced']}; right sides passed: "
        f"{', '.join(beaten) or 'none'}",
    )


def _one_bit(rows: list[dict[str, Any]]) -> list[Verdict]:
    share = max(row["eps_over_volume"] for row in rows)
    best = min(rows, key=lambda row: float(row["wait_over_svf"]["svf-1bit"][0]))
    last = max(rows, key=lambda row: int(row["threshold"]))

    def wait(row: dict[str, Any], policy: str) -> float:
        return float(row["wait_over_svf"][policy][0])

    return [
        Verdict(
            "one-bit-eps",
            "eps < E[v]",
            "geometric lengths, class means",
            "holds in simulation" if share < 1 else "fails in simulation",
            f"exact at {len(rows)} thresholds: eps/E[v] is at most {share} (proved below 1/2)",
        ),
        Verdict(
            "one-bit-fades",
            "the penalty of one bit vanishes as the threshold grows",
            f"mu = {last['mu']}, L = {last['cap']}, M = {last['memory']}, load {last['load']}, strict admission",
            "fails in simulation" if wait(last, "svf-1bit") > 0.9 * wait(last, "fcfs") > 1.1 else "holds in simulation",
            f"mean wait over SVF's: {wait(best, 'svf-1bit'):.2f} at the best threshold {best['threshold']}, "
            f"{wait(last, 'svf-1bit'):.2f} at {last['threshold']}, where FCFS has {wait(last, 'fcfs'):.2f}; the "
            f"paper's factor is {last['factor']}",
        ),
    ]


def _levels(row: dict[str, Any]) -> Verdict:
    return Verdict(
        "sim-levels",
        "the mean wait of every type is at most the bound of its level (theory.poisson_peak)",
        "strict admission, look-ahead fit, true lengths, rate E[p o] < M + 1 - P; SVF, SJF, FCFS, largest first",
        "holds in simulation" if row["largest_low_over_bound"] <= 1.02 else "fails in simulation",
        f"{row['laws']} random laws, {row['checks']} mean waits: the lower end of a 95 % interval is at most "
        f"{row['largest_low_over_bound']:.3f} of the bound; with several types a mean wait reaches "
        f"{row['largest_value_over_bound']:.3f} of it",
    )


def _readings(rows: list[dict[str, Any]]) -> Verdict:
    told = "; ".join(
        f"load {row['load']}: {row['ratio_of_means'][0]:.4f} and {row['mean_of_ratios'][0]:.4f} over "
        f"{row['busy_periods']} busy periods"
        for row in rows
    )
    apart = all(row["ratio_of_means"][0] > row["mean_of_ratios"][0] for row in rows)
    return Verdict(
        "two-readings",
        "over busy periods E[SVF/bound] is below E[SVF]/E[bound]",
        f"mu = {rows[0]['mu']}, L = {rows[0]['cap']}, M = {rows[0]['memory']}, strict admission",
        "holds in simulation" if apart else "fails in simulation",
        f"ratio of means and mean of ratios, {told}; the long periods, few among many, are the bad ones",
    )
