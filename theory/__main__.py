"""Print what is claimed (``python -m theory claims``) and what is checked by algebra (``poisson``, ``symbolic``).

Exit code 0 if every check stands as recorded, 1 if one fails, 2 on bad usage. Claims are listed, not checked:
``geosched verify`` does that.
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

from theory.errors import InputError


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


def _claims() -> list[dict[str, Any]]:
    from theory.claim import described
    from theory.claims import CLAIMS

    return [
        {
            "id": claim.id,
            "statement": claim.statement,
            "hypotheses": described(claim.hypotheses),
            "source": str(claim.source),
            "status": claim.status,
            "note": claim.note,
        }
        for claim in CLAIMS
    ]


#: Subject: how to compute its rows, and the columns of its table.
_SUBJECTS = {
    "claims": (_claims, ("id", "statement", "hypotheses", "source", "status")),
    "poisson": (_poisson, ("id", "statement", "status", "source", "detail")),
    "symbolic": (_symbolic, ("name", "statement", "method", "detail")),
}


def _print_table(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    table = Table(show_lines=True)
    decided = [column for column in ("ok",) if column in rows[0]]
    for column in (*columns, *decided):
        table.add_column(column, overflow="fold")
    words = {True: "ok", False: "FAILS", None: "not checked"}
    for row in rows:
        # Text, because brackets in a formula are not markup
        table.add_row(*(Text(str(row[column])) for column in columns), *(words[row[column]] for column in decided))
    Console(width=None if sys.stdout.isatty() else 180).print(table)


def _write(parser: _Parser, subject: str) -> int:
    from theory.claims_page import PAGE, write_page

    if subject != "claims":
        parser.error(f"--write goes with claims, not with {subject}")
    try:
        write_page()
    except InputError as error:
        parser.error(str(error))
    print(f"written: {PAGE.name}", file=sys.stderr)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute the rows of one subject and print them.

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
    parser = _Parser(prog="python -m theory", description="List the claims, or check the algebra.")
    parser.add_argument("subject", choices=sorted(_SUBJECTS), help="the claims, or which checks to run")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--write", action="store_true", help="claims: write papers/claims.md instead of printing")
    options = parser.parse_args(arguments)
    if options.write:
        return _write(parser, options.subject)
    compute, columns = _SUBJECTS[options.subject]
    rows = compute()
    failed = [row[columns[0]] for row in rows if row.get("ok") is False]
    if options.json:
        found = {"claims": rows} if options.subject == "claims" else {"checks": rows, "failed": failed}
        print(json.dumps({"subject": options.subject, **found}))
    else:
        _print_table(rows, columns)
    if failed:
        print(f"{len(failed)} of {len(rows)} checks fail: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
