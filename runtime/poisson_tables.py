"""Tables of papers/poisson.md, in Markdown, from the rows of :mod:`runtime.poisson_runs`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runtime.policies import POLICIES


def trace_table(rows: Iterable[dict[str, Any]]) -> str:
    """Certified ratios on the traces, by load: the mean over the seeds, plus or minus its 95 per cent half-width.

    Examples
    --------
    >>> told = {name: {"certified": [1.5, 0.01]} for name in POLICIES}
    >>> row = {"experiment": "trace", "trace": "x.csv", "memory": 9000, "load": 0.5, "bounds": ["L1"]}
    >>> row["policies"] = told
    >>> print(trace_table([row]))
    | trace, M | load | bound | svf | sjf | fcfs | svf-1bit |
    |---|---|---|---|---|---|---|
    | x, 9k | 0.5 | L1 | 1.500 ± 0.010 | 1.500 ± 0.010 | 1.500 ± 0.010 | 1.500 ± 0.010 |
    """
    lines = [
        f"| trace, M | load | bound | {' | '.join(POLICIES)} |",
        "|---|---|---|" + "---|" * len(POLICIES),
    ]
    for row in rows:
        if row["experiment"] != "trace":
            continue
        name = f"{row['trace'].rsplit('.', 1)[0]}, {row['memory'] // 1000}k"
        cells = [_cell(*row["policies"][policy]["certified"]) for policy in POLICIES]
        lines.append(f"| {name} | {row['load']} | {', '.join(row['bounds'])} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(value: float, half_width: float) -> str:
    digits = 3 if value < 10 else 1
    return f"{value:.{digits}f} ± {half_width:.{digits}f}"
