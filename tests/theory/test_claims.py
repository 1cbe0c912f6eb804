"""The registry of claims: complete, consistent, with a status that follows from evidence that exists."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from theory.__main__ import main
from theory.burst import volume_order
from theory.burst_bounds import BOUNDS, BurstBound, proved_bounds
from theory.claim import (
    CERTIFICATE,
    CHECKABLE,
    COMPUTATION,
    CONDITIONAL,
    HAND,
    KINDS,
    OPEN,
    PROVED,
    PROVES,
    PUBLISHED,
    REFERENCE,
    REFUTED,
    REFUTES,
    ROCQ,
    STATUSES,
    SUPPORTS,
    SWEEP,
    SWEPT,
    SYMBOLIC,
    Claim,
    Evidence,
    status_of,
)
from theory.claims import CLAIMS, GROUPS, select
from theory.claims_page import PAGE, page, write_page
from theory.errors import InputError
from theory.model import Instance, Request

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = [(claim, e) for claim in CLAIMS for e in claim.evidence]


def names(kind: str) -> set[str]:
    return {e.name for _, e in EVIDENCE if e.kind == kind}


def test_ids_are_unique_whatever_their_case_and_every_claim_is_in_one_group() -> None:
    ids = Counter(claim.id.lower() for claim in CLAIMS)
    assert max(ids.values()) == 1
    assert sum(len(group) for group in GROUPS.values()) == len(CLAIMS)


def test_at_least_thirty_claims_can_be_re_checked_here() -> None:
    assert sum(claim.status not in (REFERENCE, OPEN) for claim in CLAIMS) >= 30


def test_every_source_is_listed_in_the_references() -> None:
    keys = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "papers" / "references.bib").read_text(), flags=re.MULTILINE))
    assert {claim.source.key for claim in CLAIMS} - {""} <= keys
    assert names(PUBLISHED) <= keys


def test_a_claim_of_the_paper_names_the_version() -> None:
    for claim in CLAIMS:
        if claim.source.key == "kong2026":
            assert re.match(r"v[12], ", claim.source.place), claim.id
            if claim.id.startswith("v"):
                assert claim.source.place.startswith(claim.id[:2] + ","), claim.id


def test_evidence_has_a_known_kind_and_role_and_certificates_say_what_they_must_show() -> None:
    for claim, e in EVIDENCE:
        assert e.kind in KINDS and e.role in (PROVES, REFUTES, SUPPORTS), claim.id
        assert (e.facts is not None) == (e.kind == CERTIFICATE), claim.id
        assert len(set(claim.evidence)) == len(claim.evidence), claim.id


def test_every_named_theorem_is_listed_with_the_proofs() -> None:
    rows = (ROOT / "theory" / "proofs" / "theorems.txt").read_text().splitlines()
    listed = {".".join(row.split(" | ")[1:3]).replace(".v.", ".") for row in rows if row and row[0] != "#"}
    assert names(ROCQ) <= listed


def test_every_listed_theorem_about_a_policy_or_the_optimum_is_evidence_of_a_claim() -> None:
    rows = (ROOT / "theory" / "proofs" / "theorems.txt").read_text().splitlines()
    ids = {id for row in rows if row and row[0] != "#" for id in row.split(" | ")[0].split(",")}
    assert ids - {"MODEL", "EASY"} <= {claim.id for claim in CLAIMS} | {"T1"}  # T1 is v2-burst here


def test_hand_proofs_lie_where_they_are_said_to() -> None:
    for name in names(HAND):
        assert (ROOT / name.partition(",")[0]).is_file(), name


def test_what_is_proved_rests_on_no_argument_by_hand() -> None:
    for claim in CLAIMS:
        proofs = {e.kind for e in claim.evidence if e.role == PROVES}
        if claim.status == PROVED:
            assert proofs and proofs <= CHECKABLE, claim.id
        if claim.status == CONDITIONAL:
            assert HAND in proofs, claim.id
            assert any(e.kind in CHECKABLE for e in claim.evidence), claim.id


def test_algebra_proves_only_claims_that_are_algebra() -> None:
    algebra = {"VOLUME", "T2-below-T1", "v2-burst"}  # v2-burst: the step from T1 to its limit, beside the theorem
    for claim in CLAIMS:
        if any(e.kind == SYMBOLIC and e.role == PROVES for e in claim.evidence):
            assert claim.id in algebra, claim.id


@pytest.mark.parametrize(
    ("evidence", "status"),
    [
        ([], OPEN),
        ([(PUBLISHED, SUPPORTS)], REFERENCE),
        ([(SWEEP, SUPPORTS)], SWEPT),
        ([(SWEEP, SUPPORTS), (PUBLISHED, SUPPORTS)], REFERENCE),
        ([(SYMBOLIC, SUPPORTS)], OPEN),
        ([(ROCQ, PROVES)], PROVED),
        ([(ROCQ, PROVES), (HAND, PROVES)], CONDITIONAL),
        ([(HAND, PROVES), (SWEEP, SUPPORTS)], CONDITIONAL),
        ([(CERTIFICATE, REFUTES)], REFUTED),
        ([(COMPUTATION, REFUTES), (HAND, PROVES)], REFUTED),
        ([(HAND, REFUTES)], OPEN),
    ],
)
def test_the_status_follows_from_the_evidence(evidence: list[tuple[str, str]], status: str) -> None:
    found = status_of(Evidence(kind, str(i), role) for i, (kind, role) in enumerate(evidence))
    assert found == status and found in STATUSES


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.id)
def test_every_burst_bound_is_a_claim_that_holds_where_the_bound_does(bound: BurstBound) -> None:
    id = {"T1": "v2-burst", "T3": "T3-ratio"}.get(bound.id, bound.id)
    claim = select([id])[0]
    assert claim.status in (PROVED, CONDITIONAL)
    assert set(bound.hypotheses.admissions) <= set(claim.hypotheses.admissions)
    assert set(bound.hypotheses.fits) <= set(claim.hypotheses.fits)
    assert (bound.hypotheses.arrivals, bound.hypotheses.lengths) == ("burst", "known")
    assert (claim.hypotheses.arrivals, claim.hypotheses.lengths) == ("burst", "known")


def test_no_bound_is_offered_for_an_admission_rule_that_is_refuted() -> None:
    instance = Instance(10, [Request(1, 2), Request(2, 1)])
    for admission in ("skip", "easy"):
        assert not proved_bounds(instance, volume_order(instance), admission, "lookahead")


def test_claims_are_selected_by_id_in_the_order_given() -> None:
    assert [claim.id for claim in select(["r1", "T2-HALF"])] == ["R1", "T2-half"]
    assert select([]) == CLAIMS


@pytest.mark.parametrize(("id", "near"), [("T22", "T2"), ("v2-bursts", "v2-burst"), ("poison", "v1-poisson")])
def test_an_unknown_id_is_refused_with_the_nearest_ones(id: str, near: str) -> None:
    with pytest.raises(InputError, match=rf"'{id}' is unknown; did you mean .*\b{near}\b.*\?"):
        select(["T2", id])


def test_an_id_like_no_other_is_refused() -> None:
    with pytest.raises(InputError, match=r"'@@@@' is unknown"):
        select(["@@@@"])


def test_the_page_is_the_registry() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m theory claims --write"
    for claim in CLAIMS:
        assert f"**{claim.id}** ({claim.status})" in page()


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write_page(tmp_path / "claims.md")
    assert (tmp_path / "claims.md").read_text(encoding="utf-8") == page()
    with pytest.raises(InputError, match="is not a folder"):
        write_page(tmp_path / "missing" / "claims.md")


def test_claims_are_printed_as_a_table_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["claims"]
    assert [row["id"] for row in rows] == [claim.id for claim in CLAIMS]
    assert {row["status"] for row in rows} <= set(STATUSES)
    assert main(["claims"]) == 0
    assert "v1-burst" in capsys.readouterr().out


def test_only_the_claims_can_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main(["symbolic", "--write"])
    assert exit_info.value.code == 2
    assert "--write goes with claims" in capsys.readouterr().err


def with_evidence(*evidence: Evidence) -> Claim:
    first = CLAIMS[0]
    return Claim("X", first.statement, first.hypotheses, first.source, evidence)


def test_a_claim_computes_its_status() -> None:
    assert with_evidence(Evidence(ROCQ, "A.b", PROVES)).status == PROVED
    assert with_evidence(Evidence(HAND, "a page", PROVES)).status == CONDITIONAL
