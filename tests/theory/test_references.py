"""Every work cited in a docstring or a paper is in papers/references.bib, once."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEYS = re.findall(r"^@\w+\{(\w+),", (ROOT / "papers" / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)


def cited() -> dict[str, str]:
    """Citation key to the first file that cites it."""
    found: dict[str, str] = {}
    for package in ("theory", "lp_bounds", "adversary", "runtime"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for key in re.findall(r"\.\. \[(\w+)\]|\[(\w+)\]_", path.read_text(encoding="utf-8")):
                found.setdefault(key[0] or key[1], path.name)
    for path in sorted((ROOT / "papers").glob("*.md")):
        for key in re.findall(r"\[@(\w+)", path.read_text(encoding="utf-8")):
            found.setdefault(key, path.name)
    return found


def test_every_cited_key_has_one_entry() -> None:
    assert len(set(KEYS)) == len(KEYS)
    assert "kong2026" in cited()
    assert {key: where for key, where in cited().items() if key not in KEYS} == {}
