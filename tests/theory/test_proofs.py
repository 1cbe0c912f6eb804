"""The machine-checked proofs build, and the build refuses anything that is left unproved."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROOFS = Path(__file__).resolve().parents[2] / "theory" / "proofs"
MISSING = [tool for tool in ("coqc", "coqdep", "coqchk", "make") if shutil.which(tool) is None]

pytestmark = [
    pytest.mark.rocq,
    pytest.mark.skipif(bool(MISSING), reason=f"proofs not checked: {', '.join(MISSING)} not found on the path"),
]


def listed_theorems() -> list[tuple[str, str, str, str]]:
    """Rows of theorems.txt: claim ids, file, theorem, statement."""
    rows = []
    for line in (PROOFS / "theorems.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            claim, file, theorem, statement = line.split(" | ")
            rows.append((claim, file, theorem, statement))
    return rows


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the proof build in `folder`, as the top-level Makefile does."""
    return subprocess.run(["make", "-C", str(folder)], capture_output=True, text=True, timeout=600, check=False)


def small_copy(folder: Path, source: str, listed: str) -> Path:
    """A proof folder with the real build script and a single source file."""
    for name in ("build.sh", "Makefile"):
        shutil.copy(PROOFS / name, folder / name)
    (folder / "Small.v").write_text(source)
    (folder / "theorems.txt").write_text(f"X | Small.v | {listed} | a statement\n")
    return folder


@pytest.fixture(scope="module")
def products() -> Path:
    """The build products of the proofs, built and checked if a source changed."""
    result = build(PROOFS)
    assert result.returncode == 0, result.stdout + result.stderr
    return PROOFS / "_build"


def test_every_listed_theorem_is_closed_under_the_global_context(products: Path) -> None:
    theorems = listed_theorems()
    checked = re.findall(r"^  @Burst\.(\w+)\.(\w+),$", (products / "listed.v").read_text(), flags=re.MULTILINE)
    assert checked == [(file.removesuffix(".v"), theorem) for _, file, theorem, _ in theorems]
    assert (products / "listed.out").read_text() == "Closed under the global context\n"
    assert f"{len(theorems)} theorems closed" in (products / "verified").read_text()


def test_every_headline_prints_its_assumptions(products: Path) -> None:
    text = (PROOFS / "Headline.v").read_text()
    stated = re.findall(r"^Theorem (\w+)", text, flags=re.MULTILINE)
    printed = re.findall(r"^Print Assumptions (\w+)\.", text, flags=re.MULTILINE)
    assert stated and stated == printed
    output = (products / "Headline.out").read_text().splitlines()
    assert output.count("Closed under the global context") == len(stated)


def test_each_headline_claim_has_a_listed_theorem() -> None:
    claims = {claim for row in listed_theorems() for claim in row[0].split(",")}
    assert {"L1", "L2", "L3", "W", "T1", "T2", "T3", "T4", "T5", "T6", "T8", "T9"} <= claims
    assert {"R1", "R2", "R3", "EASY"} <= claims


def test_a_complete_proof_passes_the_build(tmp_path: Path) -> None:
    source = "Lemma truth : 1 + 1 = 2.\nProof. reflexivity. Qed.\n"
    result = build(small_copy(tmp_path, source, "truth"))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("Lemma truth : 1 = 2.\nProof. Admitted.\n", "forbidden word"),
        ("Lemma truth : 1 = 2.\nProof. admit. Qed.\n", "forbidden word"),
        ("Axiom truth : 1 = 2.\n", "forbidden word"),
        ("Parameter truth : 1 = 2.\n", "forbidden word"),
        ("Conjecture truth : 1 = 2.\n", "forbidden word"),
        ("Variable lie : 1 = 2.\nLemma truth : 1 = 2.\nProof. exact lie. Qed.\n", "coqchk finds the axioms"),
        ("Lemma truth : 1 = 2.\nProof. reflexivity. Qed.\n", "does not compile"),
        ("Lemma other : 1 = 1.\nProof. reflexivity. Qed.\n", "unknown theorem"),
    ],
    ids=[
        "admitted",
        "admit",
        "axiom",
        "parameter",
        "conjecture",
        "hidden_axiom",
        "wrong_proof",
        "missing_theorem",
    ],
)
def test_an_incomplete_proof_fails_the_build(tmp_path: Path, source: str, complaint: str) -> None:
    result = build(small_copy(tmp_path, source, "truth"))
    assert result.returncode != 0
    assert complaint in result.stdout + result.stderr


def test_an_admitted_lemma_in_the_real_proofs_fails_the_build(tmp_path: Path) -> None:
    folder = tmp_path / "proofs"
    shutil.copytree(PROOFS, folder, ignore=shutil.ignore_patterns("_build", "*.vo*", "*.glob", ".*"))
    source = (folder / "Waiting.v").read_text()
    spoilt = source.replace("Qed.", "Admitted.", 1)
    assert spoilt != source
    (folder / "Waiting.v").write_text(spoilt)
    result = build(folder)
    assert result.returncode != 0
    assert "Waiting.v" in result.stdout and "forbidden word" in result.stderr
