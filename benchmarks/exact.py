"""Our exact search against HiGHS, CBC and CP-SAT, on the same random bursts in one run.

``python -m benchmarks.exact [--sizes 10 15 20] [--instances 6] [--time-limit 10] [--solvers ...] [--json]``. One
solver after the other on each instance, one thread each; a row gives the upper median of the seconds (an instance
that is not solved counts as the limit), how many were solved, and the median over our own.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from typing import Any

from lp_bounds.exact import solve
from lp_bounds.milp import solve_milp
from theory.model import Instance, Request

MEMORIES = (20, 30, 40, 60, 80, 100)
SOLVERS = ("highs", "cbc", "cp-sat")


def burst(n: int, seed: int) -> Instance:
    """A random burst: prompts 1 to M/4, outputs 1 to M/6; `seed` also chooses M."""
    draw = random.Random(f"burst {n} {seed}")
    memory = MEMORIES[seed % len(MEMORIES)]
    return Instance(memory, [Request(draw.randint(1, memory // 4), draw.randint(1, memory // 6)) for _ in range(n)])


def few_types(n: int, seed: int, types: int = 3) -> Instance:
    """A burst of few distinct requests, many of each."""
    draw = random.Random(f"types {n} {seed}")
    memory = MEMORIES[seed % len(MEMORIES)]
    kinds = [Request(draw.randint(1, memory // 4), draw.randint(1, memory // 6)) for _ in range(types)]
    return Instance(memory, [kinds[i % types] for i in range(n)])


def measure(
    sizes: list[int], instances: int, time_limit: float, solvers: list[str], seed: int = 0
) -> list[dict[str, Any]]:
    """One row for each size and solver; solvers that both proved an optimum must agree on it."""
    solve(burst(8, 0), time_limit=time_limit)  # compiles
    rows: list[dict[str, Any]] = []
    cases = [(f"n = {n}", [burst(n, seed + i) for i in range(instances)]) for n in sizes]
    cases.append(("3 types, n = 40", [few_types(40, seed + i) for i in range(instances)]))
    for name, batch in cases:
        seconds: dict[str, list[float]] = {s: [] for s in ("geosched", *solvers)}
        solved = dict.fromkeys(seconds, 0)
        for instance in batch:
            optima = {}
            for solver, times in seconds.items():
                begin = time.perf_counter()
                value = _optimum(instance, solver, time_limit)
                times.append(time.perf_counter() - begin if value is not None else time_limit)
                if value is not None:
                    optima[solver] = value
                    solved[solver] += 1
            if len(set(optima.values())) > 1:
                raise AssertionError(f"different optima {optima} on {instance}")
            print(".", end="", flush=True, file=sys.stderr)
        ours = _median(seconds["geosched"])
        for solver, times in seconds.items():
            rows.append(
                {
                    "instances": name,
                    "solver": solver,
                    "solved": f"{solved[solver]}/{len(batch)}",
                    "median": round(_median(times), 3),
                    "longest": round(max(times), 3),
                    "ratio": round(_median(times) / ours, 1),
                }
            )
    return rows


def _optimum(instance: Instance, solver: str, time_limit: float) -> int | None:
    if solver == "geosched":
        result = solve(instance, time_limit=time_limit)
        return result.upper_bound if result.status == "optimal" else None
    claim = solve_milp(instance, solver, time_limit)
    return claim.value if claim.status == "optimal" else None


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time exact solvers on the same random bursts.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 12, 15], help="numbers of requests")
    parser.add_argument("--instances", type=int, default=6, help="instances of each size")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for each solver and instance")
    parser.add_argument("--solvers", nargs="*", default=list(SOLVERS), help="solvers to compare with")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    rows = measure(arguments.sizes, arguments.instances, arguments.time_limit, arguments.solvers, arguments.seed)
    print(file=sys.stderr)
    if arguments.json:
        print(json.dumps(rows))
        return
    widths = [max(len(str(row[key])) for row in [{key: key}, *rows]) for key in rows[0]]
    for row in [{key: key for key in rows[0]}, *rows]:
        print("  ".join(f"{value!s:>{width}}" for value, width in zip(row.values(), widths, strict=True)))


if __name__ == "__main__":
    main()
