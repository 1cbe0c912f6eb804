"""Print what is checked by algebra: ``python -m theory poisson`` and ``python -m theory symbolic``.

Exit code 0 if every check stands as recorded, 1 if one fails, 2 on bad usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text


class _Parser(argparse.ArgumentParser):
    """A parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _poisson() -> list[dict[str, Any]]:
    from theory.poisson import identities

    return [{**asdict(row), "ok": row.ok} for row in identities()]


def _symbolic() -> list[dict[str, Any]]:
    from theory.symbolic import all_checks

    return [asdict(check) for check in all_checks()]


#: Subject: how to compute its rows, and the columns of its table.
_SUBJECTS = {
    "poisson": (_poisson, ("id", "statement", "status", "source", "detail")),
    "symbolic": (_symbolic, ("name", "statement", "method", "detail")),
}


def _print_table(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    table = Table(show_lines=True)
    for column in (*columns, "ok"):
        table.add_column(column, overflow="fold")
    words = {True: "ok", False: "FAILS", None: "not checked"}
    for row in rows:
        # Text, because brackets in a formula are not markup
        table.add_row(*(Text(str(row[column])) for column in columns), words[row["ok"]])
    Console(width=None if sys.stdout.isatty() else 180).print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks of one subject and print them.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line without the program name; default ``sys.argv[1:]``.

    Returns
    -------
    int
        0 if no check fails, else 1.

    Raises
    ------
    SystemExit
        With code 2 on bad usage.
    """
    parser = _Parser(prog="python -m theory", description="Check the theory by exact algebra.")
    parser.add_argument("subject", choices=sorted(_SUBJECTS), help="which checks to run")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)
    compute, columns = _SUBJECTS[options.subject]
    rows = compute()
    failed = [row[columns[0]] for row in rows if row["ok"] is False]
    if options.json:
        print(json.dumps({"subject": options.subject, "checks": rows, "failed": failed}))
    else:
        _print_table(rows, columns)
    if failed:
        print(f"{len(failed)} of {len(rows)} checks fail: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
