"""Run the experiments on Poisson arrivals and append their rows to a file: ``python -m runtime.poisson_runs``.

A row is one JSON object on one line, appended in one write, so a killed run leaves at most one torn line at the
end; the next run with the same arguments cuts that off and goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from runtime.poisson_experiments import compare, one_bit_sweep, readings, synchronised
from runtime.poisson_law import fixed, geometric
from runtime.poisson_levels import check_levels
from runtime.poisson_traces import TRACES, trace_row
from theory.errors import InputError

Plan = Iterator[tuple[str, Callable[[], dict[str, Any]]]]


def plan(seed: int, quick: bool, traces: Path | None = None) -> Plan:
    """Yield (key, experiment) pairs; the key names the arguments, so equal keys have equal rows.

    Parameters
    ----------
    seed : int
        Of all samples.
    quick : bool
        A few points with few requests, for tests: under half a minute.
    traces : Path, optional
        Folder of the public traces; without it they are left out.
    """
    jobs: list[tuple[Callable[..., dict[str, Any]], tuple[Any, ...], dict[str, Any]]] = []
    size = {"requests": 5_000 if quick else 50_000, "paths": 4 if quick else 10, "seed": seed}

    def add(experiment: Callable[..., dict[str, Any]], *args: Any, **options: Any) -> None:
        jobs.append((experiment, args, options))

    third, half, tenth = Fraction(1, 3), Fraction(1, 2), Fraction(1, 10)
    for m, alpha in product((10,) if quick else (2, 10, 50), (third,) if quick else (tenth, third)):
        for load in ("9/10",) if quick else ("1/2", "3/5", "7/10", "4/5", "9/10", "19/20"):
            add(compare, Fraction(1, m), 5 * m, (0, 2 * m), alpha, load=Fraction(load), **size)
    long = 20_000 if quick else 1_000_000
    for load in ("1/4",) if quick else ("1/10", "1/4", "1/2"):
        add(readings, tenth, 40, 0, half, Fraction(load), long, seed)
    for load in ("1/2", "7/10") if quick else ("2/5", "9/20", "1/2", "51/100", "13/25", "11/20", "3/5", "7/10", "4/5"):
        add(synchronised, fixed(100), Fraction(load), long // 2, 2 if quick else 4, seed)
    for count in (20_000,) if quick else (50_000, 200_000, 1_000_000, 4_000_000):
        add(synchronised, geometric(Fraction(1, 1000), 100), Fraction(7, 10), count, 2 if quick else 4, seed)
    for threshold in (5, 20) if quick else (1, 2, 3, 4, 6, 8, 10, 13, 17, 22, 30, 40, 60, 90):
        many = {**size, "requests": 4 * size["requests"]}  # ratios of small waits need more of them
        add(one_bit_sweep, tenth, 100, 10, tenth, Fraction(9, 10), threshold, **many)
    add(check_levels, 10 if quick else 500, 20_000 if quick else 60_000, seed)
    if traces is not None:
        for (name, memory), load in product(TRACES, ("1/2", "7/10", "4/5", "9/10", "1", "6/5")):
            add(trace_row, traces, name, memory, Fraction(load), range(10))
    means = (2, 10) if quick else (2, 10, 50)
    for m, alpha, times in product(means, (half,) if quick else (tenth, third, half), (5,) if quick else (4, 10)):
        for prompts in ((0,), (0, 2 * m)) if quick else ((0,), (m,), (0, 2 * m)):
            for rho in ("1/2", "19/20") if quick else ("1/5", "1/2", "4/5", "19/20"):
                add(compare, Fraction(1, m), times * m, prompts, alpha, rho=Fraction(rho), **size)
    for experiment, args, options in jobs:
        yield _key(experiment.__name__, args, options), partial(experiment, *args, **options)


def _key(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> str:
    told = [_word(value) for value in args] + [f"{key}={_word(value)}" for key, value in options.items()]
    return " ".join([name, *told])


def _word(value: Any) -> str:
    if isinstance(value, dict):  # a law of lengths: its size and first weight tell those of the plan apart
        first, weight = next(iter(value.items()))
        return f"law({len(value)},{first},{weight})"
    if isinstance(value, Path):
        return "traces"
    return ",".join(map(str, value)) if isinstance(value, tuple | range) else str(value)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a file, without a torn last line.

    Raises
    ------
    InputError
        If the file cannot be read, or another line is not a row.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(str(path), f"cannot be read ({error.strerror})", "give a file of rows") from None
    rows = []
    for number, line in enumerate(lines[:-1], 1):  # what follows the last line end is empty or torn
        try:
            row = json.loads(line)
            row["key"]
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path}:{number}", "is not a row of this program", "give another file") from None
        rows.append(row)
    return rows


def append_row(path: Path, row: dict[str, Any]) -> None:
    """Append one row in one write, and see it to the disk."""
    data = (json.dumps(row, sort_keys=True) + "\n").encode()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)


def fill(path: Path, jobs: Plan, say: Callable[[str], None]) -> int:
    """Run what a file lacks, append it, and return how many rows were added.

    Raises
    ------
    InputError
        If the file holds something else.
    """
    done: set[str] = set()
    if path.exists():
        done = {row["key"] for row in read_rows(path)}
        whole = path.read_bytes()
        os.truncate(path, whole.rfind(b"\n") + 1)
    added = 0
    for key, experiment in jobs:
        if key in done:
            continue
        say(key)
        append_row(path, {"key": key, **experiment()})
        added += 1
    return added


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m runtime.poisson_runs", description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="rows are appended to this file")
    parser.add_argument("--quick", action="store_true", help="a few small points")
    parser.add_argument("--seed", type=int, default=1, help="seed of all samples (default 1)")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="folder of the public traces: run them too")
    given = parser.parse_args(arguments)
    try:
        if given.seed < 0:
            raise InputError("--seed", f"is {given.seed}", "give 0 or more")
        jobs = plan(given.seed, given.quick, given.traces)
        added = fill(given.out, jobs, lambda key: print(key, file=sys.stderr, flush=True))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{given.out}: cannot be written ({error.strerror}); give another file", file=sys.stderr)
        return 2
    print(f"{added} rows added to {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
