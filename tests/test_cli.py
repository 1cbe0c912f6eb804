"""The command line: its contract of keys, exit codes and one-line errors, run as a user would run it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import geosched

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "geosched", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def answer(*arguments: object) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def test_ratio_gives_the_keys_of_the_contract_and_a_certificate_that_checks(tmp_path: Path) -> None:
    path = tmp_path / "svf.json"
    data = answer("ratio", EXAMPLES / "burst.json", "--policy", "svf", "--certificate", path)
    assert (data["policy"], data["latency"], data["optimum"]) == ("svf", 33, 25)
    assert (data["ratio"], data["status"], data["upper_bound"]) == ([33, 25], "optimal", 25)
    assert data["lower_bound"] == [25, 1]
    assert data["seconds"] >= 0
    checked = run("check", path)
    assert checked.returncode == 0
    assert "ratio = 33/25" in checked.stdout
    forged = json.loads(path.read_text()) | {"latency": 34}
    path.write_text(json.dumps(forged))
    refused = run("check", path)
    assert refused.returncode == 1
    assert "REFUSED" in refused.stdout


def test_ratio_without_enough_time_is_bounded_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    requests = [{"prompt": 1 + 7 * i % 25, "output": 1 + 5 * i % 16} for i in range(60)]
    path.write_text(json.dumps({"memory": 100, "requests": requests}))
    certificate = tmp_path / "bounded.json"
    data = answer("ratio", path, "--time-limit", "1", "--certificate", certificate)
    assert data["status"] == "bounded"
    assert data["optimum"] is None
    num, den = data["lower_bound"]
    assert num <= data["upper_bound"] * den <= data["latency"] * den
    assert data["ratio"][0] * num == data["latency"] * den * data["ratio"][1]
    assert run("check", certificate).returncode == 0


def test_audit_gives_the_keys_of_the_contract() -> None:
    data = answer("audit", EXAMPLES / "chat_trace.csv", "--memory", 20000, "--max-peak", "0.5", "--limit", 300)
    assert data.keys() >= {"requests", "dropped", "policies", "lower_bound", "alpha", "seconds"}
    assert data["requests"] + data["dropped"] == 300
    assert [row["policy"] for row in data["policies"]] == ["svf", "sjf", "fcfs"]
    for row in data["policies"]:
        assert row.keys() >= {
            "policy", "admission", "mean_latency", "p95_latency", "p99_latency", "makespan", "certified_ratio",
            "ratio",
        }  # fmt: skip
        num, den = row["certified_ratio"]
        assert row["ratio"] == pytest.approx(num / den)
        assert num >= den


BAD = [
    ([], 2),
    (["ratio", "missing.json"], 2),
    (["ratio", EXAMPLES / "chat_trace.csv"], 2),
    (["ratio", EXAMPLES / "burst.json", "--policy", "best"], 2),
    (["ratio", EXAMPLES / "burst.json", "--admission", "lax"], 2),
    (["ratio", EXAMPLES / "burst.json", "--fit", "loose"], 2),
    (["ratio", EXAMPLES / "burst.json", "--time-limit", "0"], 2),
    (["ratio", EXAMPLES / "burst.json", "--certificate", "no/such/folder/x.json"], 2),
    (["audit", EXAMPLES / "chat_trace.csv", "--memory", "0"], 2),
    (["audit", EXAMPLES / "chat_trace.csv", "--memory", "20000", "--max-peak", "half"], 2),
    (["audit", EXAMPLES / "chat_trace.csv", "--memory", "20000", "--load", "nan"], 2),
    (["audit", EXAMPLES / "chat_trace.csv", "--memory", "20000", "--limit", "0"], 2),
    (["audit", EXAMPLES / "chat_trace.csv", "--memory", "20000", "--arrivals", "never"], 2),
    (["audit", EXAMPLES / "chat_trace.csv", "--memory", "20000", "--policy", "best"], 2),
    (["audit", EXAMPLES / "chat_trace.csv", "--memory", "3"], 2),
    (["check", "missing.json"], 2),
    (["check", EXAMPLES / "burst.json"], 1),
]


@pytest.mark.parametrize(("arguments", "code"), BAD)
def test_bad_input_is_told_in_one_line_without_a_traceback(arguments: list[object], code: int) -> None:
    done = CliRunner().invoke(geosched.app, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    if arguments:
        said = done.stderr if code == 2 else done.stdout
        assert len(said.strip().splitlines()) == 1, said


def test_control_c_ends_a_long_search_at_once_with_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    requests = [{"prompt": 1 + 7 * i % 25, "output": 1 + 5 * i % 16} for i in range(60)]
    path.write_text(json.dumps({"memory": 100, "requests": requests}))
    process = subprocess.Popen(
        [sys.executable, "-m", "geosched", "ratio", str(path), "--time-limit", "600"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(8)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - begin < 30
    assert process.returncode in (0, 130)
    assert "Traceback" not in out + err
