"""What the checker refuses and why, that it stays within its limits, and that it stands alone."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lp_bounds
from lp_bounds.certificate import (
    lower_bound_certificate,
    optimum_certificate,
    policy_claim,
    ratio_certificate,
    read_certificate,
    witness_certificate,
    write_certificate,
)
from lp_bounds.checker import check, main
from theory.errors import InputError
from theory.model import Instance, Request, Schedule, vllm_memory

pytestmark = pytest.mark.bounds
Data = dict[str, Any]
SOURCES = sorted(Path(lp_bounds.__file__).parent.glob("checker*.py"))

PAIR = Instance(2, [Request(0, 1), Request(0, 2)])
TRAP = Instance(10, [Request(1, 4), Request(1, 3), Request(6, 4), Request(2, 4)])
OPTIMUM = optimum_certificate(TRAP, Schedule((1, 0, 6, 2)), [[1] * 8], 20)
LOWER = lower_bound_certificate(PAIR, Fraction(3))
PRICED = lower_bound_certificate(PAIR, Fraction(3), [0, 0], 5)
SVF = policy_claim("svf", "strict", "lookahead")
WITNESS = witness_certificate(TRAP, SVF, 25, Schedule((1, 0, 6, 2)))
RATIO = ratio_certificate(SVF, 25, OPTIMUM)


def altered(data: Data, path: str, value: Any) -> Data:
    """A copy with the value at a dotted path replaced (a key that is not there is added)."""
    result: Data = json.loads(json.dumps(data))
    *parents, last = [int(word) if word.isdigit() else word for word in path.split(".")]
    place: Any = result
    for word in parents:
        place = place[word]
    place[last] = value
    return result


def without(data: Data, key: str) -> Data:
    return {k: v for k, v in data.items() if k != key}


def test_the_checker_says_what_is_proved_and_under_which_hypotheses() -> None:
    end = "; 4 requests, burst, memory 10, alpha = 1, a request with prompt s holds s + j tokens in step j"
    policy = "svf with strict admission, lookahead fit and known lengths"
    assert check(OPTIMUM).statement == "OPT = 24" + end
    assert check(RATIO).statement == f"{policy}: ratio = 25/24 (total latency 25, OPT = 24)" + end
    assert check(WITNESS).statement == f"{policy}: ratio >= 25/24 (total latency 25, a schedule has 24)" + end
    blocks = Instance(64, [Request(5, 3, arrival=2)], vllm_memory(16))
    bit = policy_claim("svf-1bit", "skip", "peak", (4, 2, 8))
    ratio = ratio_certificate(bit, 3, lower_bound_certificate(blocks, Fraction(5, 2)))
    assert check(ratio).statement == (
        "svf-1bit (threshold 4, proxies 2 and 8) with skip admission, peak fit and known lengths: ratio <= 6/5 "
        "(total latency 3, OPT >= 5/2 (the larger of outputs and mean busy times)); 1 requests, with arrivals, "
        "memory 64, alpha = 1/4, a request with prompt s holds s + j - 1 tokens in whole blocks of 16 in step j"
    )


REFUSED = [
    (altered(LOWER, "bound", [4, 1]), "bound: claims 4, more than the larger of outputs and mean busy times"),
    (altered(LOWER, "bound", [3, 0]), "bound[1]: is 0, not from 1 to"),
    (altered(LOWER, "bound", [-3, 1]), "bound[0]: is -3, not from 0 to"),
    (altered(LOWER, "bound", [3, 1, 1]), "bound: is not [numerator, denominator]"),
    (altered(LOWER, "bound", [3.0, 1]), "bound[0]: is 3.0, not an integer"),
    (altered(LOWER, "bound", [True, 1]), "bound[0]: is True, not an integer"),
    (altered(LOWER, "bound", [10**61, 1]), "bound[0]: is a huge number"),
    (altered(LOWER, "method", "magic"), "method: is 'magic', not one of: multipliers mean-busy-time"),
    (altered(LOWER, "multipliers", [1]), "certificate: has the unknown key 'multipliers'"),
    (altered(LOWER, "version", 2), "version: is 2, not from 1 to 1"),
    (altered(LOWER, "format", "other"), "format: is 'other', not one of: geosched-certificate"),
    (altered(LOWER, "kind", "proof"), "kind: is 'proof', not one of:"),
    (altered(LOWER, "kind", []), "kind: is list, not one of:"),
    (without(LOWER, "kind"), 'certificate: lacks "kind"'),
    (without(LOWER, "bound"), 'certificate: lacks "bound"'),
    (altered(LOWER, "remark", "x"), "certificate: has the unknown key 'remark'"),
    (altered(LOWER, "hypotheses", {"alpha": 1}), "hypotheses: holds something other than strings"),
    (altered(LOWER, "hypotheses", []), "hypotheses: is not an object"),
    (altered(LOWER, "alpha", [1, 2]), "alpha: claims 1/2; it is 1"),
    (altered(LOWER, "peak", 3), "peak: claims 3; it is 2"),
    (altered(LOWER, "instance.memory", 1), "instance.requests[1]: needs more than the memory"),
    (altered(LOWER, "instance.memory", None), "instance.memory: is None, not an integer"),
    (altered(LOWER, "instance.requests", []), "instance.requests: is empty"),
    (altered(LOWER, "instance.requests.0.prompt", -1), "instance.requests[0].prompt: is -1, not from 0 to"),
    (altered(LOWER, "instance.requests.1.output", 0), "instance.requests[1].output: is 0, not from 1 to"),
    (altered(LOWER, "instance.requests.1.output", 2**31), "instance.requests[1].output: is 2147483648, not from"),
    (altered(LOWER, "instance.requests.0.due", 1), "instance.requests[0]: has the unknown key 'due'"),
    (altered(LOWER, "instance.memory_model", {"lag": 2}), "instance.memory_model.lag: is 2, not from 0 to 1"),
    (altered(LOWER, "instance.memory_model", {"page": 1}), "instance.memory_model: has the unknown key 'page'"),
    (altered(LOWER, "instance.name", 5), "instance.name: is not a string"),
    (altered(PRICED, "multipliers", [0, -1]), "multipliers[1]: is -1, not from 0 to"),
    (altered(PRICED, "multipliers", [9]), "bound: claims 3, more than the 7/5 of the multipliers"),
    (altered(PRICED, "multipliers", "01"), "multipliers: is '01', not an array"),
    (altered(PRICED, "denominator", 0), "denominator: is 0, not from 1 to"),
    (altered(OPTIMUM, "starts.2", 5), "starts: step 6 holds 13 tokens, more than the memory"),
    (altered(OPTIMUM, "starts.2", 7), "optimum: claims 24; the schedule has a total latency of 25"),
    (altered(OPTIMUM, "starts.2", -1), "starts[2]: is -1, not from 0 to"),
    (altered(OPTIMUM, "starts", [1, 0, 6]), "starts: has 3 entries for 4 requests"),
    (altered(altered(OPTIMUM, "starts.2", 7), "optimum", 25), "optimum: a schedule with a total latency below 25"),
    (altered(OPTIMUM, "multipliers", [1]), "multipliers[0]: is 1, not an array"),
    (altered(OPTIMUM, "multipliers", [[]] * 1001), "multipliers: has 1001 entries, more than 1000"),
    (altered(WITNESS, "latency", 26), "latency: claims 26; the policy's run has 25"),
    (altered(WITNESS, "ratio", [26, 24]), "ratio: claims 13/12, more than 25/24"),
    (altered(WITNESS, "policy.name", "lru"), "policy.name: is 'lru', not one of: svf sjf fcfs svf-1bit"),
    (altered(WITNESS, "policy.admission", "easy"), "policy.admission: is 'easy', not one of: strict skip"),
    (altered(WITNESS, "policy.fit", 1), "policy.fit: is 1, not one of: lookahead peak"),
    (altered(WITNESS, "policy.threshold", 1), "policy: has the unknown key 'threshold'"),
    (altered(WITNESS, "policy.name", "svf-1bit"), 'policy: lacks "threshold"'),
    (altered(RATIO, "ratio", [24, 24]), "ratio: claims 1; it is 25/24"),
    (altered(RATIO, "proof.kind", "witness"), "proof.kind: is 'witness', not one of: optimum lower-bound"),
    (altered(RATIO, "proof.instance", {}), "proof: has the unknown key 'instance'"),
    (altered(RATIO, "proof.optimum", 23), "proof: optimum: claims 23; the schedule has a total latency of 24"),
    (ratio_certificate(SVF, 3, LOWER) | {"ratio": [29, 30]}, "ratio: claims at most 29/30, less than 3 / the"),
]  # fmt: skip


@pytest.mark.parametrize(("forged", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_what_is_wrong_is_refused_with_its_place(forged: Data, reason: str) -> None:
    verdict = check(forged)
    assert (verdict.accepted, verdict.statement) == (False, "nothing is proved")
    assert verdict.reason is not None
    assert verdict.reason.startswith(reason)


FILES = {
    '{"kind": 1, "kind": 2}': "'kind': appears twice in one object",
    '{"bound": NaN}': "number NaN: is not a number of JSON",
    '{"bound": -Infinity}': "number -Infinity: is not a number of JSON",
    '{"bound": 1e3}': "number 1e3: is not an integer",
    '{"bound": ' + "9" * 5000 + "}": "number 99999999999999999999: is too large",
    "[" * 100_000: "file: nested too deeply",
    "[]": "certificate: is not an object",
    "": "line 1 column 1: not JSON",
    "\xff": "byte 0: not UTF-8 text",
}


@pytest.mark.parametrize("text", FILES, ids=FILES.values())
def test_a_file_that_is_not_strict_json_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    file = tmp_path / "certificate.json"
    file.write_bytes(text.encode("latin-1"))
    verdict = check(file)
    assert not verdict.accepted
    assert verdict.reason is not None
    assert verdict.reason.startswith(FILES[text])


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert check(tmp_path / "none.json").reason == "file: cannot be read (No such file or directory)"
    assert check(tmp_path).reason == "file: cannot be read (Is a directory)"


def claim(kind: str, memory: int, sizes: list[tuple[int, int, int]], **keys: Any) -> Data:
    """A certificate as a forger would write it, without building it."""
    requests = [{"prompt": s, "output": o, "arrival": a} for s, o, a in sizes]
    instance = {"memory": memory, "requests": requests, "memory_model": {"block": keys.pop("block", 1)}}
    return {"format": "geosched-certificate", "version": 1, "kind": kind, "instance": instance, **keys}


LONG = 2**31 - 1
MANY = [(i % 997, 1 + i % 1009, 0) for i in range(20_000)]
DENSE = [(1 + i, 1 + 7 * i % 20, 0) for i in range(30)]
BUSY = {"method": "mean-busy-time"}
FOR_EVER = policy_claim("fcfs", "conservative", "peak")
OPTIMAL = {"denominator": 1, "multipliers": []}
HOSTILE = {
    "long outputs": claim("lower-bound", 2**34, [(0, LONG, 0)] * 2, **BUSY, bound=[2**33, 1]),
    "long outputs in blocks": claim("lower-bound", 2**40, [(3, LONG, 0)] * 2, block=2, **BUSY, bound=[2**33, 1]),
    "long outputs, priced": claim(
        "lower-bound", 2**40, [(3, LONG, 0)] * 2, block=2, method="multipliers", denominator=7,
        multipliers=[1] * 200_000, bound=[2**33, 1],
    ),
    "long outputs, searched": claim(
        "optimum", 2**31, [(0, LONG, 0), (1, LONG, 0), (3, 5, 0)], starts=[0, LONG, 2 * LONG],
        optimum=5 * LONG + 5, **OPTIMAL,
    ),
    "long outputs, a policy": claim(
        "witness", 2**32 - 3, [(0, LONG, 0)] * 2, starts=[0, 1], policy=SVF, latency=1, ratio=[1, 1]
    ),
    "late arrivals, priced": claim(
        "lower-bound", 5, [(0, 5, 0), (1, 4, 2**40)], method="multipliers", denominator=1,
        multipliers=[1] * 100_000, bound=[100, 1],
    ),
    "many sizes, many prices": claim(
        "lower-bound", 10**6, MANY, method="multipliers", denominator=1,
        multipliers=[1] * 100_000, bound=[2**40, 1],
    ),
    "many sizes, a bound": claim("lower-bound", 10**6, MANY, **BUSY, bound=[10**60, 1]),
    "a hard search": claim(
        "optimum", 60, DENSE, starts=[20 * i for i in range(30)],
        optimum=sum(20 * i + o for i, (_, o, _) in enumerate(DENSE)), denominator=1, multipliers=[[0, 1]] * 1000,
    ),
    "a policy for ever": claim(
        "witness", 2000, MANY, starts=[1009 * i for i in range(20_000)], policy=FOR_EVER, latency=1, ratio=[1, 1]
    ),
    "deep profiles": claim(
        "optimum", 10**6, [(0, 10**5 + i, 0) for i in range(20)], starts=[2 * 10**5 * i for i in range(20)],
        optimum=sum(2 * 10**5 * i + 10**5 + i for i in range(20)), **OPTIMAL,
    ),
    "many starts": claim("optimum", 10**6, MANY, starts=[0] * 10**6, optimum=1, **OPTIMAL),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_certificates_are_answered_in_time(name: str) -> None:
    begin = time.monotonic()
    verdict = check(HOSTILE[name], time_limit=2)
    assert not verdict.accepted
    assert verdict.reason
    assert time.monotonic() - begin < 20


def test_out_of_time_is_undecided_not_accepted() -> None:
    verdict = check(OPTIMUM, time_limit=0)
    assert not verdict.accepted
    assert verdict.reason == "undecided: the time limit of 0 s is over"


def test_waiting_for_an_arrival_far_away_is_decided_at_once() -> None:
    far = Instance(5, [Request(0, 5), Request(1, 4, arrival=2**40), Request(1, 4, arrival=2**40)])
    assert check(optimum_certificate(far, Schedule((0, 2**40, 2**40 + 4)), [[1, 1]], 3), 10).accepted


def test_files_round_trip_and_the_command_tells_true_from_false(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    write_certificate(good, RATIO)
    write_certificate(bad, altered(RATIO, "latency", 24))
    assert read_certificate(good) == RATIO
    assert main([str(good)]) == 0
    assert capsys.readouterr().out.startswith(f"{good}: accepted: svf with strict admission")
    assert main([str(good), str(bad)]) == 1
    assert f"{bad}: NOT accepted: latency: claims 24; the policy's run has 25" in capsys.readouterr().out


def test_building_refuses_what_cannot_be_a_certificate(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="schedule: step 2 holds 3 tokens"):
        optimum_certificate(PAIR, Schedule((1, 0)))
    with pytest.raises(InputError, match="proof: is of kind 'witness'"):
        ratio_certificate(SVF, 25, WITNESS)
    with pytest.raises(InputError, match="proof: bounds the optimum by 0"):
        ratio_certificate(SVF, 3, lower_bound_certificate(PAIR, Fraction(0)))
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(InputError, match="is not a certificate"):
        read_certificate(tmp_path / "x.json")


def test_a_long_bound_is_rounded_down_to_one_the_checker_accepts() -> None:
    primes = [Request(p, 1) for p in range(1, 200)]
    instance = Instance(400, primes)
    bound = Fraction(10**30 + 1, 10**28)
    certificate = lower_bound_certificate(instance, bound)
    assert certificate["bound"] == [100, 1]
    assert check(certificate).accepted


def test_the_checker_imports_the_standard_library_and_itself_only() -> None:
    assert len(SOURCES) == 5
    own = {f"lp_bounds.{source.stem}" for source in SOURCES}
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or "a relative import"] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name in own or name.split(".")[0] in sys.stdlib_module_names, f"{source.name}: {name}"


def test_the_checker_runs_alone_without_site_packages(tmp_path: Path) -> None:
    folder = tmp_path / "alone" / "lp_bounds"
    folder.mkdir(parents=True)
    for source in SOURCES:
        shutil.copy(source, folder)
    write_certificate(tmp_path / "good.json", RATIO)
    write_certificate(tmp_path / "bad.json", altered(RATIO, "ratio", [1, 1]))
    program = (
        "import runpy, sys; sys.path.append(sys.argv.pop(1)); "
        "runpy.run_module('lp_bounds.checker', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(folder.parent)]
    for name, code, word in (
        ("good", 0, "accepted: svf"),
        ("bad", 1, "NOT accepted: ratio: claims 1; it is 25/24"),
    ):
        file = str(tmp_path / f"{name}.json")
        run = subprocess.run([*command, file], capture_output=True, text=True, timeout=60, check=False)
        assert (run.returncode, run.stderr) == (code, "")
        assert run.stdout.startswith(f"{file}: {word}")
