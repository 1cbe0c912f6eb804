"""Draw the figures of poisson.md and write its verdicts from the rows: ``python -m papers.poisson_figures``.

Needs the `report` extra (matplotlib). With one version of matplotlib the same rows give the same bytes.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from runtime.poisson_experiments import class_means, geometric_queue, static_key
from runtime.poisson_runs import read_rows
from runtime.poisson_verdicts import V1_AT_CONTINUATION, V2_AT_SUCCESS, verdicts
from runtime.policies import FCFS, SVF, Policy
from theory.instance_json import write_text
from theory.poisson import one_bit_factor, paper_bound, sharper_bound, wait_bound
from theory.poisson_peak import peak_wait_bound

FOLDER = Path(__file__).resolve().parent
DATA = FOLDER / "data" / "poisson_runs.jsonl"

#: Colours that colour-blind readers tell apart, and a marker of its own for each policy.
STYLE = {
    "svf": ("#0072B2", "o", "SVF"),
    "sjf": ("#009E73", "s", "SJF"),
    "fcfs": ("#D55E00", "^", "FCFS"),
    "svf-1bit": ("#CC79A7", "D", "1-bit SVF"),
}
GREY = "#555555"
VOLUMES = "by volumes, exact law"
#: Bounds, the dashes and the colour of each.
LINES = {
    "paper, v2": ("-", "black"),
    r"$\kappa\rho/(1-\rho)$": ("--", "#888888"),
    VOLUMES: (":", "#888888"),
    "by peaks, exact law": ("-.", "#E69F00"),
}
#: The queue of the first figure.
MU, CAP, PROMPTS, ALPHA = Fraction(1, 10), 40, [0, 20], Fraction(1, 2)

Rows = list[dict[str, Any]]


def bounds(plt: Any, rows: Rows) -> Any:
    """Excess of every bound and of the simulated ratios over 1, against rho, by policy."""
    points = sorted(
        (
            row
            for row in rows
            if row["experiment"] == "grid"
            and (row["mu"], row["cap"], row["prompts"], row["alpha"]) == (str(MU), CAP, PROMPTS, str(ALPHA))
        ),
        key=lambda row: float(row["rho"]),
    )
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.9), sharey=True, layout="constrained")
    grid = [Fraction(i, 50) for i in range(3, 49)]
    one_bit = class_means(geometric_queue(MU, CAP, PROMPTS, ALPHA, rho=grid[0], load=None).law, round(1 / MU))
    for axis, rule in zip(axes, (SVF, FCFS, one_bit), strict=True):
        policy = rule.name
        for label, values in _curves(grid, rule).items():
            dashes, shade = LINES[label]
            axis.plot([float(r) for r in grid], values, dashes, color=shade, label=label, linewidth=1.6)
        colour, marker, name = STYLE[policy]
        for label, field, face in (
            ("simulated", "latency_over_length", "none"),
            ("certified", "ratio_of_means", colour),
        ):
            told = [(row["rho"], *_excess(row["policies"][policy][field])) for row in points]
            axis.errorbar(
                [x + (0.012 if face == "none" else -0.012) for x, *_ in told],
                [y for _, y, *_ in told],
                [[low for *_, low, _ in told], [high for *_, high in told]],
                fmt=marker, color=colour, markerfacecolor=face, capsize=2, label=label, markersize=5,
            )  # fmt: skip
        axis.set(title=name, xlabel=r"$\rho=\lambda E[v]/((1-\alpha)M/2)$", yscale="log", xlim=(0, 1))
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("ratio of mean latencies, minus 1")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=8.5, frameon=False)
    return figure


def _curves(grid: list[Fraction], policy: Policy) -> dict[str, list[float]]:
    queues = [geometric_queue(MU, CAP, PROMPTS, ALPHA, rho=rho, load=None) for rho in grid]
    mean_prompt = Fraction(sum(PROMPTS), len(PROMPTS))
    alpha = Fraction(queues[0].peak, queues[0].memory)
    share, bit = 1 - (1 - MU) ** CAP, policy not in (SVF, FCFS)
    factor = one_bit_factor(MU, mean_prompt, policy.parameters[0]) if bit else Fraction(1)
    curves = [
        [float(factor * (paper_bound(MU, alpha, rho) - 1)) for rho in grid],
        [float(factor * (sharper_bound(MU, mean_prompt, rho) - 1) / share) for rho in grid],
        [float(wait_bound(q.law, q.memory, q.rate) / q.mean_output) for q in queues],
        [float(peak_wait_bound(q.law, q.memory, q.rate, static_key(policy)) / q.mean_output) for q in queues],
    ]
    told = dict(zip(LINES, curves, strict=True))
    if bit:  # wait_bound is stated for SVF and FCFS only
        del told[VOLUMES]
    return told


def _excess(pair: list[float]) -> tuple[float, float, float]:
    """Excess over 1 and its error bars, the lower one kept on a log scale."""
    value = pair[0] - 1
    return value, min(pair[1], 0.9 * value), pair[1]


def loads(plt: Any, rows: Rows) -> Any:
    """Certified and simulated ratios of all policies against the load, beyond the reach of the formula."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.9), sharey=True, layout="constrained")
    for axis, alpha in zip(axes, ("1/10", "1/3"), strict=True):
        points = sorted(
            (row for row in rows if row["experiment"] == "load" and (row["mu"], row["alpha"]) == ("1/10", alpha)),
            key=lambda row: float(row["load"]),
        )
        for policy, (colour, marker, name) in STYLE.items():
            x = [row["load"] for row in points]
            certified = [_excess(row["policies"][policy]["ratio_of_means"]) for row in points]
            simulated = [row["policies"][policy]["latency_over_length"][0] - 1 for row in points]
            axis.plot(x, simulated, ":", color=colour, linewidth=1)
            axis.errorbar(
                x, [y for y, *_ in certified],
                [[low for _, low, _ in certified], [high for *_, high in certified]],
                fmt=marker + "-", color=colour, capsize=2, label=name, markersize=4.5, linewidth=1.2,
            )  # fmt: skip
        reach = (1 - Fraction(alpha)) / 2
        axis.axvline(float(reach), color=GREY, linestyle="--", linewidth=1)
        axis.text(float(reach) + 0.006, 0.008, r"$\rho=1$", color=GREY)
        axis.set(title=rf"$\alpha={alpha}$", xlabel=r"load $\lambda E[v]/M$", yscale="log", xlim=(0.3, 0.98))
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("ratio of mean latencies, minus 1")
    axes[0].legend(
        fontsize=8.5, title="solid: over the certified bound\ndotted: over the mean length", title_fontsize=8
    )
    return figure


def synchronised(plt: Any, rows: Rows) -> Any:
    """Strict SVF and pacing for equal lengths by load, and the counterexample by number of requests."""
    told = [row for row in rows if row["experiment"] == "synchronised"]
    equal = sorted((row for row in told if row["saturated_load"]), key=lambda row: float(row["load"]))
    cut = sorted((row for row in told if row["saturated_load"] is None), key=lambda row: int(row["requests"]))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained")
    x = [row["load"] for row in equal]
    left.plot(
        x,
        [row["svf_over_lengths"][0] for row in equal],
        "o-",
        color=STYLE["svf"][0],
        label="strict SVF (any order)",
    )
    left.plot(
        x,
        [row["paced_over_lengths"][0] for row in equal],
        "s-",
        color=STYLE["sjf"][0],
        label="one start per 3 steps",
    )
    limit = equal[0]["saturated_load"]
    left.axvline(limit, color=GREY, linestyle="--", linewidth=1)
    left.text(limit - 0.008, 300, f"saturated cycle\n{limit}", color=GREY, ha="right", fontsize=9)
    left.set(
        title="equal requests (1, 100), M = 2000, 500 000 requests", xlabel=r"load $\lambda E[v]/M$", yscale="log",
        ylabel="mean latency over length",
    )  # fmt: skip
    left.legend(fontsize=8.5, loc="center right")
    n = [row["requests"] for row in cut]
    right.plot(
        n,
        [row["svf_over_paced"][0] for row in cut],
        "o-",
        color=STYLE["svf"][0],
        label="SVF over paced, mean of 4 paths",
    )
    for value, name in (
        (V2_AT_SUCCESS, r"v2 with $\rho$ = load, $\mu=0.001$"),
        (V1_AT_CONTINUATION, r"v1 with $\rho$ = load, $\mu=0.999$"),
    ):
        right.axhline(float(value), color=GREY, linestyle="--", linewidth=1)
        right.text(n[0], float(value) * 1.12, f"{name}: {float(value):.5g}", color=GREY, fontsize=9, va="bottom")
    right.set(
        title="lengths min(o, 100), q = 0.999, load 0.7", xlabel="requests", xscale="log", yscale="log",
        ylabel="ratio of mean latencies", ylim=(4, 60000),
    )  # fmt: skip
    right.legend(fontsize=8.5, loc="center right")
    for axis in (left, right):
        axis.grid(alpha=0.25)
    return figure


def one_bit(plt: Any, rows: Rows) -> Any:
    """Mean wait of one-bit SVF over that of SVF, against the threshold, beside the paper's factor."""
    told = sorted((row for row in rows if row["experiment"] == "one-bit"), key=lambda row: int(row["threshold"]))
    figure, axis = plt.subplots(figsize=(6.2, 3.9), layout="constrained")
    x = [row["threshold"] for row in told]
    for policy in ("fcfs", "svf-1bit"):
        colour, marker, name = STYLE[policy]
        pairs = [row["wait_over_svf"][policy] for row in told]
        axis.errorbar(
            x, [y for y, _ in pairs], [h for _, h in pairs], fmt=marker + "-", color=colour, capsize=2, label=name,
            markersize=4.5, linewidth=1.2,
        )  # fmt: skip
    axis.plot(x, [row["factor"] for row in told], "--", color=GREY, label=r"paper's factor $E[v]/(E[v]-\varepsilon)$")
    axis.axhline(1, color=STYLE["svf"][0], linewidth=1, label="SVF")
    axis.set(xscale="log", xlabel=r"threshold $\theta$ (tokens)", ylabel="mean wait over that of SVF", ylim=(0.9, 2.9))
    axis.set_xticks([1, 2, 5, 10, 20, 50, 90], ["1", "2", "5", "10", "20", "50", "90"])
    axis.minorticks_off()
    axis.grid(alpha=0.25)
    axis.legend(fontsize=8.5, loc="upper center", ncols=2)
    return figure


def traces(plt: Any, rows: Rows) -> Any:
    """Certified ratios on the public traces with Poisson arrivals, against the load."""
    told = [row for row in rows if row["experiment"] == "trace"]
    names = list(dict.fromkeys(row["trace"] for row in told))
    figure, axes = plt.subplots(2, 3, figsize=(10, 6), sharex=True, sharey=True, layout="constrained")
    for axis, trace in zip(axes.flat, names, strict=False):
        points = sorted((row for row in told if row["trace"] == trace), key=lambda row: float(row["load"]))
        for policy, (colour, marker, name) in STYLE.items():
            pairs = [row["policies"][policy]["certified"] for row in points]
            axis.errorbar(
                [row["load"] for row in points], [y for y, _ in pairs], [h for _, h in pairs],
                fmt=marker + "-", color=colour, capsize=2, label=name, markersize=4.5, linewidth=1.2,
            )  # fmt: skip
        memory = f"{points[0]['memory'] // 1000}k"
        axis.set(title=f"{trace.rsplit('.', 1)[0].removesuffix('_lengths')}, M = {memory}", yscale="log")
        axis.title.set_fontsize(9.5)
        axis.grid(alpha=0.25)
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    handles, labels = axes.flat[0].get_legend_handles_labels()
    axes.flat[-1].legend(handles, labels, loc="center", frameon=False)
    for axis in axes[1][:2]:
        axis.set_xlabel(r"load $\lambda E[v]/M$")
    axes[0][2].tick_params(labelbottom=True)
    axes[0][2].set_xlabel(r"load $\lambda E[v]/M$")
    figure.supylabel("certified ratio of mean latencies", fontsize=10)
    return figure


FIGURES = (bounds, loads, synchronised, one_bit, traces)


def main() -> int:
    """Write every figure as SVG into ``papers/figures``, and the verdicts into ``papers/data``."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "geosched", "svg.fonttype": "none", "font.size": 10, "font.family": "sans-serif"}
    )
    from matplotlib import pyplot as plt

    rows = read_rows(DATA)
    told = [asdict(verdict) for verdict in verdicts(rows)]
    write_text(DATA.with_name("poisson_verdicts.json"), json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    (FOLDER / "figures").mkdir(exist_ok=True)
    for draw in FIGURES:
        figure = draw(plt, rows)
        figure.savefig(FOLDER / "figures" / f"poisson_{draw.__name__}.svg", metadata={"Date": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
