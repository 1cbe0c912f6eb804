"""Witness certificates as Rocq files: true ones are proved, false ones are not, others are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lp_bounds.certificate import policy_claim, witness_certificate, write_certificate
from lp_bounds.checker import check
from runtime.policies import FCFS, SJF, SVF, Policy, one_bit
from runtime.rocq_witness import check_with_rocq, rocq_source
from runtime.simulator import simulate
from theory.errors import InputError
from theory.model import Instance, Request, Schedule, vllm_memory

RECORDS = Path(__file__).resolve().parents[2] / "adversary" / "records"
needs_rocq = pytest.mark.skipif(shutil.which("coqc") is None, reason="proofs not checked: coqc not found")


def certificate(policy: Policy = SVF, admission: str = "strict", fit: str = "lookahead") -> dict[str, Any]:
    """A small witness: one after the other is worse than the policy or not, but feasible."""
    sizes = [(1, 9), (10, 1), (2, 3), (2, 3), (0, 5), (11, 1), (1, 9)]
    instance = Instance(12, [Request(*size) for size in sizes])
    starts, now = [], 0
    for r in sorted(instance.requests, key=lambda r: r.output):
        starts.append((r, now))
        now += r.output
    later = {id(r): t for r, t in starts}
    schedule = Schedule(tuple(later[id(r)] for r in instance.requests))
    latency = simulate(instance, policy, admission, fit).total_latency
    claim = policy_claim(policy.name, admission, fit, policy.parameters)
    return witness_certificate(instance, claim, latency, schedule)


def written(folder: Path, data: dict[str, Any]) -> Path:
    path = folder / "witness.json"
    write_certificate(path, data)
    return path


@pytest.mark.rocq
@needs_rocq
@pytest.mark.parametrize(
    ("policy", "admission", "fit"),
    [
        (SVF, "strict", "lookahead"),
        (SVF, "skip", "peak"),
        (SJF, "conservative", "lookahead"),
        (FCFS, "conservative", "peak"),
        (one_bit(4, 2, 8), "skip", "lookahead"),
    ],
    ids=lambda value: value.name if isinstance(value, Policy) else value,
)
def test_rocq_runs_the_policies_as_the_simulator_does(policy: Policy, admission: str, fit: str, tmp_path: Path) -> None:
    path = written(tmp_path, certificate(policy, admission, fit))
    assert check(path).accepted
    verdict = check_with_rocq(path)
    assert verdict.accepted, verdict.reason
    assert f"{policy.name} with {admission} admission and {fit} fit" in verdict.statement


@pytest.mark.rocq
@needs_rocq
@pytest.mark.parametrize("name", ["r3", "t8"])
def test_stored_witnesses_are_proved(name: str) -> None:
    verdict = check_with_rocq(RECORDS / f"{name}.json")
    assert verdict.accepted, verdict.reason


@pytest.mark.rocq
@needs_rocq
@pytest.mark.parametrize(
    "change",
    [
        {"latency": 10**6},
        {"ratio": [10**6, 1]},
        {"starts": [0] * 7},
        {"policy": policy_claim("svf", "strict", "peak")},
        {"policy": policy_claim("fcfs", "strict", "lookahead")},
    ],
    ids=["latency", "ratio", "infeasible", "fit", "order"],
)
def test_a_false_claim_is_not_proved(change: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path, certificate() | change)
    assert not check(path).accepted
    verdict = check_with_rocq(path)
    assert not verdict.accepted
    assert verdict.reason is not None and verdict.reason.startswith("Rocq does not accept the claim")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kind": "optimum"}, "kind: is 'optimum'; Rocq checks witness certificates only"),
        ({"instance": {"memory": 12, "requests": [{"prompt": 1, "output": 2, "arrival": 3}]}}, "has arrivals"),
        ({"policy": None}, "policy: is missing"),
        ({"policy": policy_claim("svf", "easy", "lookahead")}, "policy.admission: is 'easy'; Rocq knows strict"),
        ({"policy": policy_claim("svf", "strict", "none")}, "policy.fit: is 'none'; Rocq knows lookahead, peak"),
        ({"policy": policy_claim("random", "strict", "peak")}, "policy.name: is 'random'; Rocq knows svf"),
        ({"policy": policy_claim("svf-1bit", "strict", "peak")}, "threshold: is None"),
        ({"policy": policy_claim("svf *) Axiom x : False. (*", "strict", "peak")}, "policy.name: is"),
        ({"policy": {"name": ["svf"], "admission": "strict", "fit": "peak"}}, "policy.name: is"),
        ({"starts": [0, 1]}, "starts: is no list of the right length; give 7 whole numbers"),
        ({"starts": [0, 1, 2, 3, 4, 5, "0]. Axiom"]}, "starts: is no list"),
        ({"starts": [0, 1, 2, 3, 4, 5, True]}, "starts: is no list"),
        ({"latency": -1}, "latency: is -1"),
        ({"latency": "1"}, "latency: is '1'"),
        ({"ratio": [1, 0]}, "ratio: has no positive denominator"),
        ({"ratio": 2}, "ratio: is no list"),
    ],
)
def test_what_rocq_cannot_check_is_refused_in_one_line(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError) as error:
        rocq_source(certificate() | change)
    assert complaint in str(error.value) and "\n" not in str(error.value)


def test_another_memory_model_is_refused() -> None:
    instance = Instance(32, [Request(3, 2)], vllm_memory(16))
    data = witness_certificate(instance, policy_claim("svf", "strict", "peak"), 2, Schedule((0,)))
    with pytest.raises(InputError, match="another memory model"):
        rocq_source(data)


def test_the_file_is_the_same_every_time_and_states_the_claim() -> None:
    data = certificate()
    text = rocq_source(data)
    assert text == rocq_source(json.loads(json.dumps(data)))
    num, den = data["ratio"]
    better = sum(data["starts"]) + sum(r["output"] for r in data["instance"]["requests"])
    assert f"  /\\ {num} * {better} <= {data['latency']} * {den}." in text
    assert "repeat (2, 3) (N.to_nat 2)" in text


def test_without_rocq_the_answer_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None)
    verdict = check_with_rocq(written(tmp_path, certificate()))
    assert not verdict.accepted
    assert verdict.reason is not None and verdict.reason.startswith("undecided: coqc, coqdep, coqchk")


def test_a_file_that_is_no_certificate_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}")
    with pytest.raises(InputError, match="is not a certificate"):
        check_with_rocq(path)
