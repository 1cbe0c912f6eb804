"""How long audits take: strict SVF on synthetic chat requests, simulation and bound apart.

``python -m benchmarks.audit [--sizes 10000 100000 1000000] [--json]``. Growth is the time over that of the row
before, so 10 is linear in these sizes; `cpu` is less disturbed by a busy machine. Peak memory is that of the
process so far.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from typing import Any

from benchmarks.synthetic import chat_lengths
from runtime.audit import audit
from runtime.trace_table import Trace

MEMORY = 60_000
SEED = 1


def measure(sizes: list[int]) -> list[dict[str, Any]]:
    """One row for each arrival process and size, after a small audit that compiles everything."""
    rows: list[dict[str, Any]] = []
    for arrivals, load in (("burst", None), ("poisson", 0.9)):
        options: dict[str, Any] = {"arrivals": arrivals, "load": load, "seed": SEED, "policies": ["svf"]}
        audit(Trace("synthetic", "azure", *chat_lengths(100, SEED)), MEMORY, **options)
        before = None
        for size in sizes:
            trace = Trace("synthetic", "azure", *chat_lengths(size, SEED))
            begin, cpu = time.perf_counter(), time.process_time()
            report = audit(trace, MEMORY, **options)
            seconds = time.perf_counter() - begin
            rows.append(
                {
                    "arrivals": arrivals,
                    "requests": report.requests,
                    "seconds": round(seconds, 3),
                    "cpu": round(time.process_time() - cpu, 3),
                    "simulate": round(report.seconds_simulating, 3),
                    "bound": round(report.seconds_bounding, 3),
                    "growth": round(seconds / before, 1) if before else None,
                    "peak_mib": _peak_mib(),
                    "ratio": report.rows[0].ratio,
                }
            )
            before = seconds
    return rows


def _peak_mib() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (2**20 if sys.platform == "darwin" else 2**10)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time audits of synthetic chat requests.")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="numbers of requests"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    rows = measure(arguments.sizes)
    if arguments.json:
        print(json.dumps(rows))
        return
    print("  ".join(f"{name:>9}" for name in rows[0]))
    for row in rows:
        print("  ".join(f"{'-' if value is None else value:>9}" for value in row.values()))


if __name__ == "__main__":
    main()
