"""Audits: the published table, what every report must satisfy, arrivals, selection, and schedules seen in logs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.synthetic import EXAMPLES, chat_lengths, chat_trace, served_log
from lp_bounds.mean_busy_time import best_bound
from lp_bounds.mean_busy_time_fast import volumes
from runtime.audit import POLICIES, audit, select
from runtime.audit_observed import fullest_step
from runtime.policies import FCFS
from runtime.simulator import ranks, simulate_arrays
from runtime.trace_arrivals import arrival_steps
from runtime.trace_table import Trace
from runtime.traces import read_trace
from theory.errors import InputError
from theory.model import PAPER, Instance, MemoryModel, Request, Schedule, vllm_memory

HALF = Fraction(1, 2)


def make_trace(rows: Sequence[tuple[int, ...]], unit: Any = None, **times: list[int]) -> Trace:
    prompt, output = (np.array([row[k] for row in rows], np.int64) for k in (0, 1))
    arrays: dict[str, Any] = {name: np.array(values, np.int64) for name, values in times.items()}
    return Trace("log", "geosched", prompt, output, unit, **arrays)


def fault(trace: Trace, memory: int, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        audit(trace, memory, **options)
    return str(caught.value)


# ------------------------------------------------------------ public traces

FILES = {"conv": "azure_2023_conv.csv", "code": "azure_2023_code.csv", "arxiv": "arxiv_summarization_lengths.csv"}
#: Bursts of 2000 requests: strict SVF, skip-ahead SVF, strict SJF, strict FCFS.
TABLE = {
    ("conv", 20000): (1.0895, 1.1733, 1.2317, 1.7114),
    ("code", 20000): (1.0937, 1.2184, 1.6665, 4.0065),
    ("arxiv", 20000): (1.0930, 1.9160, 1.1868, 2.1590),
    ("conv", 60000): (1.0582, 1.0982, 1.1655, 1.6134),
    ("code", 60000): (1.0353, 1.0593, 1.5404, 3.4317),
    ("arxiv", 60000): (1.0303, 1.8128, 1.1059, 1.9634),
}


@pytest.mark.bounds
@pytest.mark.traces
@pytest.mark.parametrize(("name", "memory"), TABLE)
def test_the_table_of_certified_ratios_is_reproduced_to_its_digits(name: str, memory: int, traces: Path) -> None:
    trace = read_trace(traces / FILES[name])
    limit_first = audit(trace, memory, limit=2000, max_peak=HALF, admissions=["strict", "skip"])
    assert limit_first.requests == 2000
    kept = select(trace, memory, max_peak=HALF)[0].take(slice(2000))
    filter_first = audit(kept, memory, admissions=["strict", "skip"])
    for report in (limit_first, filter_first):  # the two readings agree: no early row is too large
        got = {(row.policy, row.admission): round(float(row.certified_ratio), 4) for row in report.rows}
        columns = [("svf", "strict"), ("svf", "skip"), ("sjf", "strict"), ("fcfs", "strict")]
        assert tuple(got[column] for column in columns) == TABLE[name, memory]


@pytest.mark.bounds
@pytest.mark.traces
def test_ratios_under_poisson_arrivals_are_those_of_the_notes_up_to_the_seed(traces: Path) -> None:
    conversation = read_trace(traces / FILES["conv"])
    ranges = {
        0.5: (1.0, 1.005),
        0.7: (1.02, 1.09),
        0.8: (1.1, 1.35),
        0.9: (1.6, 2.2),
        1.0: (1.5, 1.9),
        1.2: (1.28, 1.38),
    }
    published = {0.5: 1.001, 0.7: 1.076, 0.8: 1.113, 0.9: 1.677, 1.0: 1.827, 1.2: 1.315}
    for load, (low, high) in ranges.items():
        assert low <= published[load] <= high
        for seed in range(3):
            options: dict[str, Any] = {"limit": 4000, "arrivals": "poisson", "load": load, "seed": seed}
            report = audit(conversation, 30000, policies=["svf"], **options)
            assert low <= report.rows[0].certified_ratio <= high
            assert report.offered_load == pytest.approx(load, rel=0.06)
    code = read_trace(traces / FILES["code"])
    report = audit(code, 30000, limit=4000, policies=["fcfs", "svf"], arrivals="poisson", load=1.2)
    fcfs, svf = (float(row.certified_ratio) for row in report.rows)
    assert fcfs == pytest.approx(26.3, rel=0.04)
    assert svf == pytest.approx(1.94, rel=0.1)


@pytest.mark.bounds
@pytest.mark.traces
def test_on_real_traces_backfilling_conservatively_is_no_worse_than_strict_and_skipping_is(
    traces: Path,
) -> None:
    rules = ["conservative", "strict", "skip"]
    for name, memory in TABLE:
        trace = read_trace(traces / FILES[name])
        report = audit(trace, memory, limit=2000, max_peak=HALF, policies=["svf"], admissions=rules)
        conservative, strict, skip = (row.certified_ratio for row in report.rows)
        assert conservative <= strict < skip


# ------------------------------------------------------------ every report

LENGTHS = st.tuples(st.integers(0, 12), st.integers(0, 8))
MODELS = st.sampled_from([PAPER, vllm_memory(1), vllm_memory(4)])


@pytest.mark.bounds
@given(
    rows=st.lists(LENGTHS, min_size=1, max_size=12),
    memory=st.integers(8, 40),
    model=MODELS,
    arrivals=st.sampled_from(["burst", "poisson", "trace"]),
    seed=st.integers(0, 9),
)
def test_every_simulated_ratio_is_exactly_total_latency_over_the_bound_and_at_least_one(
    rows: list[tuple[int, int]], memory: int, model: MemoryModel, arrivals: str, seed: int
) -> None:
    when = np.random.default_rng(seed).integers(0, 30, len(rows)).tolist()
    trace = make_trace(rows, "steps", arrival=when)
    try:
        kept, dropped = select(trace, memory, memory_model=model)
    except InputError:
        assert all(o == 0 or model.peak(s, o) > memory for s, o in rows)
        return
    report = audit(
        trace, memory, policies=POLICIES, admissions=["strict", "skip", "conservative"], arrivals=arrivals,
        load=Fraction(4, 5) if arrivals == "poisson" else None, seed=seed, memory_model=model,
    )  # fmt: skip
    assert report.requests == len(kept) == len(rows) - sum(dropped.values())
    assert report.dropped == dropped
    assert len(report.rows) == 3 * len(POLICIES)
    for row in report.rows:
        assert row.certified_ratio == row.total_latency / report.lower_bound >= 1
        assert row.ratio == float(row.certified_ratio)
        assert row.p95_latency <= row.p99_latency <= row.makespan
        assert row.mean_latency == pytest.approx(float(row.total_latency) / len(kept))
    volume = volumes(kept.prompt, kept.output, model)
    load = Fraction(4, 5) if arrivals == "poisson" else None
    arrival = arrival_steps(kept, volume, memory, arrivals, load=load, seed=seed)
    columns = (kept.prompt.tolist(), kept.output.tolist(), arrival.tolist())
    requests = [Request(*values) for values in zip(*columns, strict=True)]
    exact = best_bound(Instance(memory, requests, model)).value
    assert exact - Fraction(len(kept), 2**19) <= report.lower_bound <= exact


def test_a_report_as_json_has_the_agreed_keys_and_is_plain_data() -> None:
    report = audit(make_trace([(3, 1), (3, 1), (9, 9), (1, 0)]), 8, policies=["svf"], max_peak=HALF)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["requests"] == 2
    assert data["dropped"] == 2
    assert data["dropped_reasons"] == {"no output tokens": 1, "peak above the memory": 1}
    assert data["lower_bound"] == [2, 1]
    assert data["alpha"] == [1, 2]
    assert isinstance(data["seconds"], float)
    assert data["policies"] == [
        {
            "policy": "svf", "admission": "strict", "mean_latency": 1.0, "p95_latency": 1, "p99_latency": 1,
            "makespan": 1, "certified_ratio": [1, 1], "ratio": 1.0,
        }
    ]  # fmt: skip


def test_the_same_seed_gives_the_same_report_and_another_seed_another() -> None:
    prompt, output = chat_lengths(300, seed=1)
    trace = Trace("x", "azure", prompt, output)
    ratios = [
        [row.certified_ratio for row in audit(trace, 20000, arrivals="poisson", load=0.9, seed=seed).rows]
        for seed in (1, 1, 2)
    ]
    assert ratios[0] == ratios[1] != ratios[2]


# ------------------------------------------------------------ which rows, and when they arrive


def test_the_limit_counts_rows_of_the_file_before_anything_is_dropped() -> None:
    trace = make_trace([(1, 0), (9, 9), (3, 2), (1, 1)])
    kept, dropped = select(trace, 10, limit=3, max_peak=HALF)
    assert kept.prompt.tolist() == [3]
    assert dropped == {"no output tokens": 1, "peak above the memory": 1}
    assert select(trace, 10, max_peak=Fraction(49, 100), limit=4)[1]["peak above 49/100 of the memory"] == 1


def test_a_peak_of_exactly_the_share_of_the_memory_is_kept() -> None:
    for peak in range(1, 30):
        for memory in range(peak, 60):
            trace = make_trace([(peak - 1, 1)])
            assert len(select(trace, memory, max_peak=Fraction(peak, memory))[0]) == 1
            if peak > 1:
                with pytest.raises(InputError, match="no request left"):
                    select(trace, memory, max_peak=Fraction(peak, memory) - Fraction(1, 10**6))


def test_recorded_arrivals_become_steps_rounded_down_from_the_first_one_kept() -> None:
    trace = make_trace([(1, 1)] * 3, "ns", arrival=[65_000_000, 30_000_000, 129_999_999])
    volume = np.array([2, 2, 2])
    assert arrival_steps(trace, volume, 4, "trace").tolist() == [1, 0, 3]
    assert arrival_steps(trace, volume, 4, "trace", step_seconds=Fraction(1, 10)).tolist() == [0, 0, 0]
    steps = make_trace([(1, 1)] * 3, "steps", arrival=[5, 7, 6])
    assert arrival_steps(steps, volume, 4, "trace").tolist() == [5, 7, 6]
    assert arrival_steps(steps, volume, 4, "burst").tolist() == [0, 0, 0]


@given(st.lists(st.integers(0, 10**12), min_size=2, max_size=30, unique=True), st.fractions(Fraction(1, 10), 3))
def test_a_load_stretches_recorded_arrivals_to_it(times: list[int], load: Fraction) -> None:
    trace = make_trace([(50, 9)] * len(times), "ns", arrival=times)
    volume = np.full(len(times), 10**6)
    arrival = arrival_steps(trace, volume, 10, "trace", load=load)
    assert arrival.min() == 0
    assert int(arrival.max()) == pytest.approx((len(times) - 1) * 10**5 / load, abs=1, rel=1e-9)
    assert (np.diff(arrival[np.argsort(times)]) >= 0).all()


@pytest.mark.parametrize("load", [0.3, 1.0, 2.5])
def test_poisson_arrivals_have_the_offered_load_and_exponential_gaps(load: float) -> None:
    n, memory, volume = 200_000, 1000, np.array([400_000, 600_000] * 100_000)
    arrival = arrival_steps(make_trace([(1, 1)] * n), volume, memory, "poisson", load=load, seed=7)
    mean = volume.mean() / (load * memory)
    gaps = np.diff(arrival)
    assert arrival.dtype == np.int64
    assert gaps.min() >= 0
    assert gaps.mean() == pytest.approx(mean, rel=0.01)
    assert gaps.std() == pytest.approx(mean, rel=0.02)
    assert (gaps > 2 * mean).mean() == pytest.approx(np.exp(-2), rel=0.03)


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"arrivals": "poisson"}, "--load: is not given; Poisson arrivals need an offered load"),
    ({"arrivals": "poisson", "load": 0}, "--load: is 0"),
    ({"arrivals": "poisson", "load": float("nan")}, "--load: is nan"),
    ({"arrivals": "poisson", "load": 0.9, "seed": -1}, "--seed: is -1"),
    ({"arrivals": "uniform"}, "--arrivals: is 'uniform'; choose one of burst, trace, poisson"),
    ({"arrivals": "trace"}, "has no arrival times; give --arrivals burst or poisson"),
    ({"load": 0.9}, "--load: has no meaning in a burst"),
    ({"limit": 0}, "--limit: is 0"),
    ({"max_peak": Fraction(0)}, "--max-peak: is 0"),
    ({"max_peak": Fraction(3, 2)}, "--max-peak: is 3/2"),
    ({"policies": ["lifo"]}, "--policy: is 'lifo'; give one of svf, sjf, fcfs, svf-1bit"),
    ({"policies": []}, "name nothing to run"),
    ({"admissions": ["lazy"]}, "admission: is 'lazy'"),
    ({"fit": "loose"}, "fit: is 'loose'"),
    ({"time_limit": 0}, "--time-limit: is 0"),
    ({"time_limit": float("nan")}, "--time-limit: is nan"),
    ({"observed": True}, "does not record when requests came and were done"),
    ({"observed": True, "arrivals": "poisson"}, "--observed: takes the recorded arrivals"),
    ({"observed": True, "load": 0.5}, "--observed: takes the recorded arrivals"),
]


@pytest.mark.parametrize(("options", "said"), OPTIONS)
def test_an_option_at_fault_is_told_in_one_line(options: dict[str, Any], said: str) -> None:
    assert said in fault(make_trace([(1, 1), (2, 2)]), 10, **options)


def test_a_memory_too_small_and_times_at_fault_are_told() -> None:
    assert "--memory: is 0" in fault(make_trace([(1, 1)]), 0)
    assert "log: has no request left (2 peak above the memory)" in fault(make_trace([(5, 5), (9, 9)]), 4)
    timed = make_trace([(1, 1)] * 2, "ns", arrival=[0, 10**15])
    assert "--step-seconds: is 0.0 seconds" in fault(timed, 10, arrivals="trace", step_seconds=Fraction(0))
    assert "spans more than" in fault(
        make_trace([(1, 1)] * 2, "ns", arrival=[0, 2**61]), 10, arrivals="trace", step_seconds=Fraction(1, 10**9)
    )
    assert "all its arrivals at one time" in fault(
        make_trace([(1, 1)] * 2, "ns", arrival=[5, 5]), 10, arrivals="trace", load=1
    )


def test_a_time_limit_stops_the_simulation() -> None:
    prompt, output = chat_lengths(100_000, seed=1)
    trace = Trace("x", "azure", prompt, output)
    with pytest.raises(TimeoutError, match="time limit"):
        audit(trace, 20_000, policies=["svf"], admissions=["conservative"], time_limit=0.2)


# ------------------------------------------------------------ schedules seen in logs


def run_fcfs(rows: list[tuple[int, int]], arrival: list[int], memory: int, model: MemoryModel) -> tuple[Any, Any]:
    prompt, output = (np.array([row[k] for row in rows], np.int64) for k in (0, 1))
    came = np.array(arrival, np.int64)
    run = simulate_arrays(prompt, output, came, ranks(FCFS, prompt, output, came), memory, model)
    return run.starts.tolist(), run.completions.tolist()


BUSY = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 8), st.integers(0, 20)), min_size=1, max_size=12)


@pytest.mark.bounds
@given(jobs=BUSY, model=MODELS)
def test_auditing_the_log_of_a_simulated_run_gives_the_ratio_of_the_simulation(
    jobs: list[tuple[int, int, int]], model: MemoryModel
) -> None:
    rows, arrival, memory = [(s, o) for s, o, _ in jobs], [a for _, _, a in jobs], 24
    starts, completions = run_fcfs(rows, arrival, memory, model)
    log = make_trace(rows, "steps", arrival=arrival, start=starts, finish=completions)
    seen = audit(log, memory, observed=True, memory_model=model)
    simulated = audit(log, memory, policies=["fcfs"], arrivals="trace", memory_model=model)
    assert seen.unit == "steps"
    assert seen.violation is None
    assert seen.rows[0].certified_ratio == simulated.rows[0].certified_ratio
    assert seen.lower_bound == simulated.lower_bound
    tau = 40_000_000
    times = {"arrival": arrival, "start": starts, "finish": completions}
    in_ns = {name: [tau * t for t in column] for name, column in times.items()}
    timed = audit(make_trace(rows, "ns", **in_ns), memory, observed=True, memory_model=model)
    assert timed.unit == "seconds"
    assert timed.violation is None
    assert timed.lower_bound == seen.lower_bound * Fraction(tau, 10**9)
    assert timed.rows[0].certified_ratio == seen.rows[0].certified_ratio


@pytest.mark.bounds
@given(jobs=BUSY, model=MODELS, seed=st.integers(0, 10**6))
def test_the_bound_in_seconds_holds_for_pauses_long_steps_and_arrivals_between_steps(
    jobs: list[tuple[int, int, int]], model: MemoryModel, seed: int
) -> None:
    """A run in which, step by step, any requests that fit advance: paused ones hold nothing and lose nothing."""
    random, memory, tau = np.random.default_rng(seed), 24, 1000
    clock, done = 0, [0] * len(jobs)
    came = [a * tau + int(random.integers(tau)) for _, _, a in jobs]
    start, finish = [0] * len(jobs), [0] * len(jobs)
    while any(count < o for count, (_, o, _) in zip(done, jobs, strict=True)):
        length, free = int(random.integers(tau, 2 * tau)), memory
        for i in random.permutation(len(jobs)):
            s, o, _ = jobs[i]
            need = model.held(s, done[i] + 1)
            if came[i] <= clock and done[i] < o and need <= free and random.random() < 0.9:
                free -= need
                start[i] = start[i] if done[i] else clock
                done[i] += 1
                finish[i] = clock + length
        clock += length
    times = {"arrival": came, "start": start, "finish": finish}
    in_ns = {name: [t - min(came) for t in column] for name, column in times.items()}
    log = make_trace([(s, o) for s, o, _ in jobs], "ns", **in_ns)
    report = audit(log, memory, observed=True, memory_model=model, step_seconds=Fraction(tau, 10**9))
    assert report.rows[0].certified_ratio >= 1


@pytest.mark.bounds
def test_the_bound_in_seconds_is_attained_by_two_requests_that_fill_the_memory_one_after_the_other() -> None:
    rows, tau = [(3, 1), (3, 1)], Fraction(1000, 10**9)
    for late in range(0, 1001, 10):  # the second arrives within the step of the first
        log = make_trace(rows, "ns", arrival=[0, late], start=[0, 1000], finish=[1000, 2000])
        report = audit(log, 4, observed=True, step_seconds=tau)
        assert report.rows[0].certified_ratio == 1
        assert report.lower_bound == Fraction(3000 - late, 10**9)
        assert report.bound_name == ("L4" if late < 1000 else "L1")


def test_a_log_that_contradicts_the_memory_or_the_step_is_told() -> None:
    rows = [(6, 2), (6, 2)]
    steps = make_trace(rows, "steps", arrival=[0, 0], start=[0, 0], finish=[2, 2])
    assert audit(steps, 16, observed=True).violation is None
    assert audit(steps, 15, observed=True).violation == "step 2 holds 16 tokens, more than the memory of 15"
    hasty = make_trace(rows, "steps", arrival=[0, 0], start=[0, 0], finish=[2, 1])
    assert "kept request 1 made 2 tokens in 1 steps" in str(audit(hasty, 16, observed=True).violation)
    paused = make_trace(rows, "steps", arrival=[0, 0], start=[0, 0], finish=[2, 9])
    assert audit(paused, 15, observed=True).violation is None
    timed = make_trace(rows, "ns", arrival=[0, 0], start=[0, 0], finish=[200, 240])
    assert audit(timed, 14, observed=True).violation is None
    assert "fill 14 tokens, more than the memory of 13" in str(audit(timed, 13, observed=True).violation)
    report = audit(timed, 16, observed=True, step_seconds=Fraction(110, 10**9))
    assert "less than the step of" in str(report.violation)
    assert "--step-seconds" in fault(steps, 16, observed=True, step_seconds=Fraction(1))


def test_a_vllm_result_tells_the_step_from_the_tokens_after_the_first() -> None:
    log = make_trace(
        [(6, 3), (6, 2), (5, 1)], "ns", arrival=[0, 0, 0], first_token=[900, 900, 5], finish=[1100, 1050, 5]
    )
    report = audit(log, 30, observed=True)
    assert "no output token takes less than 1e-07 s (the fastest request's mean)" in report.hypotheses
    assert report.lower_bound == Fraction(600, 10**9)
    lone = make_trace([(6, 1)], "ns", arrival=[0], first_token=[900], finish=[900])
    assert "does not tell how long a step takes" in fault(lone, 30, observed=True)
    assert audit(lone, 30, observed=True, step_seconds=Fraction(1, 10**8)).lower_bound == Fraction(1, 10**8)


@given(
    jobs=st.lists(st.tuples(st.integers(0, 20), st.integers(1, 12), st.integers(0, 25)), min_size=1, max_size=15),
    model=st.sampled_from([PAPER, vllm_memory(1), vllm_memory(5), vllm_memory(16), MemoryModel(0, 3)]),
)
def test_the_fullest_step_is_that_of_the_model(jobs: list[tuple[int, int, int]], model: MemoryModel) -> None:
    prompt, output, start = (np.array([job[k] for job in jobs], np.int64) for k in range(3))
    step, used = fullest_step(prompt, start, start + output, model)
    usage = Schedule(tuple(start.tolist())).usage(Instance(10**6, [Request(s, o) for s, o, _ in jobs], model))
    assert used == max(usage.values())
    assert usage[step] == used


# ------------------------------------------------------------ the examples of this repository


def test_the_example_files_are_what_their_generator_writes() -> None:
    assert (EXAMPLES / "chat_trace.csv").read_text() == chat_trace()
    assert (EXAMPLES / "served_log.jsonl").read_text() == served_log()


def test_the_example_trace_and_the_example_log_are_audited() -> None:
    report = audit(read_trace(EXAMPLES / "chat_trace.csv"), 20_000, max_peak=HALF)
    assert report.dropped == {"no output tokens": 2, "peak above 1/2 of the memory": 7}
    assert [row.policy for row in report.rows] == ["svf", "sjf", "fcfs"]
    assert 1 < report.rows[0].ratio < 1.1 < report.rows[1].ratio < 2 < report.rows[2].ratio
    log = read_trace(EXAMPLES / "served_log.jsonl")
    seen = audit(log, 20_000, observed=True)
    assert seen.violation is None
    assert 1 < seen.rows[0].ratio < 2
