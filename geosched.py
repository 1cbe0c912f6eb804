"""geosched: certified competitive ratios for KV-cache scheduling policies. The front door.

The public names are re-exported here; the command line is :func:`main` (``geosched --help``).
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
from collections.abc import Callable
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer
from rich.console import Console
from rich.table import Table

from theory.errors import InputError
from theory.instance_json import read_instance, write_instance
from theory.model import PAPER, Instance, MemoryModel, Request, Schedule, vllm_memory

if TYPE_CHECKING:
    from lp_bounds.exact import solve
    from runtime.audit import audit as audit_trace
    from runtime.policies import FCFS, SJF, SVF, one_bit
    from runtime.ratio import competitive_ratio
    from runtime.simulator import simulate
    from runtime.traces import read_trace

__all__ = [
    "FCFS",
    "PAPER",
    "SJF",
    "SVF",
    "InputError",
    "Instance",
    "MemoryModel",
    "Request",
    "Schedule",
    "audit_trace",
    "competitive_ratio",
    "one_bit",
    "read_instance",
    "read_trace",
    "show_versions",
    "simulate",
    "solve",
    "vllm_memory",
    "write_instance",
]

#: Public names that need numba: imported when first used, so that ``geosched check`` starts at once.
_LATER = {
    "FCFS": ("runtime.policies", "FCFS"),
    "SJF": ("runtime.policies", "SJF"),
    "SVF": ("runtime.policies", "SVF"),
    "audit_trace": ("runtime.audit", "audit"),
    "competitive_ratio": ("runtime.ratio", "competitive_ratio"),
    "one_bit": ("runtime.policies", "one_bit"),
    "read_trace": ("runtime.traces", "read_trace"),
    "simulate": ("runtime.simulator", "simulate"),
    "solve": ("lp_bounds.exact", "solve"),
}

P = ParamSpec("P")

app = typer.Typer(
    help="Certified competitive ratios for KV-cache scheduling in LLM serving.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Admission = Annotated[str, typer.Option(help="Admission rule: strict, skip (skip-ahead) or conservative.")]
Fit = Annotated[str, typer.Option(help="Fit test: lookahead or peak (peak reservation).")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds until the best answer so far is returned.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'geosched' has no attribute {name!r}")
    module, attribute = _LATER[name]
    return getattr(importlib.import_module(module), attribute)


def _command(function: Callable[P, int]) -> Callable[P, None]:
    """Turn what a command returns into its exit code; faults of the input are one line and exit code 2."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = function(*args, **kwargs)
        except InputError as error:
            print(f"error: {error}", file=sys.stderr)
            code = 2
        except TimeoutError as error:
            print(f"error: {error}", file=sys.stderr)
            code = 1
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            code = 130
        raise typer.Exit(code)

    return wrapped


def _show(data: dict[str, Any], as_json: bool, *tables: Table) -> None:
    if as_json:
        print(json.dumps(data))
        return
    console = Console(width=None if sys.stdout.isatty() else 120)
    for table in tables:
        console.print(table)


def _pairs(title: str, rows: list[tuple[str, str]]) -> Table:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows:
        table.add_row(name, value)
    return table


def _decimal(value: Any, digits: int = 4) -> str:
    return "-" if value is None else f"{float(value):.{digits}f}"


def _fraction(option: str, text: str | None) -> Fraction | None:
    if text is None:
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(option, f"is {text!r}", "give a number or a fraction, for example 0.5 or 1/2") from None


@app.command()
@_command
def ratio(
    instance: Annotated[Path, typer.Argument(help='Instance file: {"memory": M, "requests": [...]}.')],
    policy: Annotated[str, typer.Option(help="svf, svf-1bit, sjf or fcfs.")] = "svf",
    admission: Admission = "strict",
    fit: Fit = "lookahead",
    time_limit: TimeLimit = 60.0,
    certificate: Annotated[Path | None, typer.Option(help="Write a certificate of the result here.")] = None,
    as_json: AsJson = False,
) -> int:
    """Exact competitive ratio of a policy on one instance: its total latency over the optimum."""
    from adversary.witness import best_bound
    from lp_bounds.certificate import write_certificate
    from runtime.policies import named_policy
    from runtime.ratio import competitive_ratio

    given = read_instance(instance)
    chosen = named_policy(policy, max(r.output for r in given.requests))
    result = competitive_ratio(given, chosen, admission=admission, fit=fit, time_limit=time_limit)
    if certificate is not None:
        write_certificate(certificate, result.certificate())
    exact = result.optimum is not None
    theorem = best_bound(given, chosen, admission, fit)
    bounds = f"{_decimal(result.lower_bound)} to {result.upper_bound}"
    rows = [
        ("policy", f"{policy}, {admission} admission, fit test {fit}, true lengths known"),
        ("instance", f"{len(given)} requests, memory {given.memory} tokens, alpha {given.alpha}"),
        ("latency", f"{result.latency} steps"),
        ("optimum", f"{result.optimum} steps" if exact else f"not proved in time: {bounds} steps"),
        ("ratio", f"{'' if exact else 'at most '}{_decimal(result.ratio)} = {result.ratio}"),
        ("theorem", f"{theorem[0]}: at most {_decimal(theorem[1])}" if theorem else "no bound is proved"),
        ("seconds", f"{result.seconds:.3f}"),
    ]
    if certificate is not None:
        rows.append(("certificate", f"{certificate} (geosched check {certificate})"))
    _show(result.to_dict(), as_json, _pairs("competitive ratio on this instance", rows))
    return 0


@app.command()
@_command
def check(
    certificates: Annotated[list[Path], typer.Argument(help="Certificate files.", metavar="CERTIFICATE...")],
    rocq: Annotated[bool, typer.Option("--rocq", help="Let Rocq decide witnesses instead (needs coqc).")] = False,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
) -> int:
    """Check certificates with the standard library alone: exit 0 and what is proved, or exit 1 and why not."""
    from lp_bounds import checker
    from runtime.rocq_witness import check_with_rocq

    for path in certificates:
        if not path.is_file():
            raise InputError(str(path), "is not a file that can be read", "give certificate files")
    results = []
    for path in certificates:
        verdict = check_with_rocq(path, time_limit or 600.0) if rocq else checker.check(path, time_limit)
        results.append(
            {
                "file": str(path),
                "accepted": verdict.accepted,
                "statement": verdict.statement if verdict.accepted else None,
                "reason": verdict.reason,
            }
        )
        if not as_json:
            said = f"proved: {verdict.statement}" if verdict.accepted else f"REFUSED: {verdict.reason}"
            print(f"{path}: {said}", flush=True)
    accepted = all(result["accepted"] for result in results)
    if as_json:
        print(json.dumps({"accepted": accepted, "certificates": results}))
    return 0 if accepted else 1


@app.command()
@_command
def audit(
    trace: Annotated[Path, typer.Argument(help="Request log or public trace; its format is recognised.")],
    memory: Annotated[int, typer.Option(help="Capacity M in tokens.")],
    limit: Annotated[int | None, typer.Option(help="Take the first N rows, before any are dropped.")] = None,
    max_peak: Annotated[str | None, typer.Option(help="Drop requests with prompt + output > F * M.")] = None,
    arrivals: Annotated[str | None, typer.Option(help="burst (default), trace or poisson.")] = None,
    load: Annotated[str | None, typer.Option(help="Offered load: arrivals per step * mean volume / M.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of Poisson arrivals.")] = 0,
    policy: Annotated[list[str] | None, typer.Option(help="svf, svf-1bit, sjf, fcfs; repeatable.")] = None,
    admission: Annotated[list[str] | None, typer.Option(help="strict, skip, conservative; repeatable.")] = None,
    fit: Fit = "lookahead",
    observed: Annotated[bool, typer.Option("--observed", help="Audit the schedule recorded in the log.")] = False,
    step_seconds: Annotated[str | None, typer.Option(help="Length of a step, or least time per token.")] = None,
    block: Annotated[int | None, typer.Option(help="Memory as vLLM holds it, in blocks of this size.")] = None,
    format: Annotated[str | None, typer.Option(help="Read the trace as this format.")] = None,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
) -> int:
    """Certify how far schedulers are from any possible schedule on a request log (a proven upper bound)."""
    from runtime.audit import audit as run_audit
    from runtime.traces import read_trace

    report = run_audit(
        read_trace(trace, format),
        memory,
        limit=limit,
        max_peak=_fraction("--max-peak", max_peak),
        arrivals=arrivals,
        load=_fraction("--load", load),
        seed=seed,
        step_seconds=_fraction("--step-seconds", step_seconds),
        policies=policy or ["svf", "sjf", "fcfs"],
        admissions=admission or ["strict"],
        fit=fit,
        memory_model=PAPER if block is None else vllm_memory(block),
        observed=observed,
        time_limit=time_limit,
    )
    unit = report.unit
    table = Table(
        "policy", "admission", f"mean ({unit})", f"p95 ({unit})", f"p99 ({unit})", "makespan", "at most x OPT"
    )
    for row in report.rows:
        numbers = [row.mean_latency, row.p95_latency, row.p99_latency, row.makespan]
        table.add_row(row.policy, row.admission or "-", *(_decimal(x, 1) for x in numbers), _decimal(row.ratio))
    reasons = ", ".join(f"{count} {reason}" for reason, count in report.dropped.items()) or "none"
    about = [
        ("trace", f"{report.source} (format {report.format})"),
        ("requests", f"{report.requests}; dropped: {reasons}"),
        ("alpha", f"{report.alpha} = {_decimal(report.alpha)} (largest peak over memory)"),
        (
            "bound",
            f"every schedule has total latency >= {_decimal(report.lower_bound, 1)} {unit} ({report.bound_name})",
        ),
        ("hypotheses", "; ".join(report.hypotheses)),
        ("seconds", f"{report.seconds:.3f}"),
    ]
    if report.violation:
        about.insert(0, ("WARNING", report.violation))
    _show(report.to_dict(), as_json, _pairs("audit", about), table)
    return 0


@app.command()
@_command
def verify(
    claims: Annotated[list[str] | None, typer.Argument(help="Ids, for example T2 R1; all by default.")] = None,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
) -> int:
    """Re-check the evidence of claims, ours and the papers'; exit 1 if any fails."""
    from runtime.verify import FAILED, summary
    from runtime.verify import verify as run_verify
    from theory.claims import select

    def report(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    rows = run_verify(select(claims or ()), time_limit=time_limit, progress=report)
    data = [row.to_dict() for row in rows]
    table = Table("claim", show_lines=True)
    for name, ratio in (("statement", 4), ("hypotheses", 3), ("source", 2), ("status", 1), ("re-checked now", 2)):
        table.add_column(name, ratio=ratio, min_width=11 if name == "status" else None)
    for row in data:
        found = f"{row['outcome']}: {row['reason']}" if row["reason"] else row["outcome"]
        table.add_row(row["id"], row["statement"], row["hypotheses"], row["source"], row["status"], found)
    _show({"claims": data, "summary": summary(rows)}, as_json, table)
    if not as_json:
        print(summary(rows))
    return 1 if any(row.outcome == FAILED for row in rows) else 0


@app.command()
@_command
def attack(
    policy: Annotated[str, typer.Option(help="svf, svf-1bit, sjf, fcfs or module:function.")] = "svf",
    admission: Annotated[str, typer.Option(help="strict, skip, conservative or easy.")] = "strict",
    fit: Fit = "lookahead",
    alpha: Annotated[str, typer.Option(help="Every peak is at most alpha times the memory.")] = "1",
    requests: Annotated[int, typer.Option(help="Most requests of an instance.")] = 1000,
    memory: Annotated[int | None, typer.Option(help="The memory in tokens; chosen by default.")] = None,
    largest: Annotated[int | None, typer.Option(help="Largest output length.")] = None,
    threshold: Annotated[int | None, typer.Option(help="Threshold of svf-1bit.")] = None,
    seconds: Annotated[float | None, typer.Option(help="No new round of the search starts after this.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Rounds of the search: the same on any machine.")] = None,
    seed: Annotated[int, typer.Option(help="Seed; the same seed gives the same result for any --jobs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Worker processes.")] = 1,
    backend: Annotated[str, typer.Option(help="loky, ray or dask.")] = "loky",
    out: Annotated[Path, typer.Option(help="Folder of the certificate and the state of the search.")] = Path(),
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the state in --out.")] = False,
    as_json: AsJson = False,
) -> int:
    """Search for an instance on which a policy is bad; the worst one is written as a certificate."""
    from adversary.attack import attack as run_attack
    from adversary.regime import Regime

    bound = _fraction("--alpha", alpha) or Fraction(0)
    regime = Regime(policy, admission, fit, bound, memory, requests, largest, threshold)
    result = run_attack(
        regime,
        seed=seed,
        seconds=60.0 if seconds is None and rounds is None else seconds,
        rounds=rounds,
        jobs=jobs,
        backend=backend,
        out=out,
        resume=resume,
        report=lambda line: print(line, file=sys.stderr, flush=True),
    )
    witness = result.witness
    proved = f"{witness.bound[0]}: at most {_decimal(witness.bound[1])}" if witness.bound else "no bound is proved"
    rows = [
        ("policy", f"{policy}, {admission} admission, fit test {fit}, alpha at most {bound}, burst"),
        ("instance", f"{witness.genome} ({witness.genome.size} requests)"),
        ("ratio", f"{'' if witness.optimal else 'at least '}{_decimal(witness.ratio)} = {witness.ratio}"),
        ("latency", f"{witness.latency} steps; a better schedule has {witness.best}"),
        ("proved", proved),
        ("certificate", f"{result.certificate}{'' if result.is_record else ' (an earlier, worse one is kept)'}"),
        ("search", f"seed {seed}, {result.rounds} rounds, {result.seconds:.1f} s"),
    ]
    _show(result.to_dict(), as_json, _pairs("worst instance found", rows))
    return 0


@app.command()
def version() -> None:
    """Print the versions that a bug report needs."""
    show_versions()


def show_versions() -> None:
    """Print the versions of geosched, Python and the packages that results can depend on."""
    print(f"python {sys.version.split()[0]}")
    for package in ("geosched", "numpy", "scipy", "numba", "highspy", "sympy", "cvxpy", "pulp", "ortools"):
        try:
            print(package, metadata.version(package))
        except metadata.PackageNotFoundError:
            print(package, "not installed")


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
