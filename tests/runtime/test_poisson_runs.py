"""Long Poisson runs: laws and estimators, exact queues, the theory's bounds against simulation, resumable data."""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lp_bounds.mean_busy_time_fast import fast_bound
from runtime.poisson_experiments import class_means, compare, geometric_queue, paced_starts
from runtime.poisson_law import Law, draw, fixed, geometric, independent, mean, observed, uniform, volume
from runtime.poisson_runs import append_row, fill, main, plan, read_rows
from runtime.poisson_sample import Queue, busy_periods, periods_of, run_path, run_queue, with_load, with_rho
from runtime.poisson_stats import batch_means, mean_estimate, ratio_estimate
from runtime.poisson_tables import trace_table
from runtime.poisson_traces import trace_row
from runtime.poisson_verdicts import verdicts
from runtime.policies import FCFS, SJF, SVF, Policy
from theory.errors import InputError
from theory.model import Instance, Request, Schedule
from theory.poisson import paced_wait, wait_bound
from theory.poisson_peak import peak_wait_bound, peak_waits

DATA = Path(__file__).resolve().parents[2] / "papers" / "data" / "poisson_runs.jsonl"
POLICIES = [SVF, SJF, FCFS, Policy("largest first", lambda s, o, a: -volume(s, o))]


@st.composite
def laws(draw: st.DrawFn, prompts: int = 6) -> Law:
    pairs = draw(st.lists(st.tuples(st.integers(0, prompts), st.integers(1, 8)), min_size=1, max_size=5, unique=True))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(pairs), max_size=len(pairs)))
    return {pair: Fraction(weight, sum(weights)) for pair, weight in zip(pairs, weights, strict=True)}


def by_arrival(_prompt: int, _output: int) -> int:
    return 0


# ---------------------------------------------------------------- laws and estimators


@given(st.integers(1, 9), st.integers(1, 12))
def test_geometric_laws_are_probabilities_with_the_capped_mean(tenths: int, cap: int) -> None:
    success = Fraction(tenths, 10)
    law = geometric(success, cap)
    assert sum(law.values()) == 1
    assert mean(independent(fixed(0), law), lambda _s, o: o) == (1 - (1 - success) ** cap) / success


def test_draws_follow_the_law() -> None:
    law = independent(uniform(0, 3), geometric(Fraction(1, 3), 6))
    prompt, output = draw(law, 200_000, np.random.default_rng(5))
    frequency = observed(prompt, output)
    for pair, weight in law.items():
        deviation = float((weight * (1 - weight) / 200_000) ** 0.5)
        assert abs(float(frequency[pair] - weight)) < 5 * deviation


def test_wrong_laws_and_queues_are_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match="above 0"):
        geometric(Fraction(0), 3)
    with pytest.raises(InputError, match="1 or more"):
        geometric(Fraction(1, 2), 0)
    with pytest.raises(InputError, match="peak of 9"):
        Queue({(1, 8): Fraction(1)}, 8, Fraction(1))
    with pytest.raises(InputError, match="positive"):
        Queue({(1, 8): Fraction(1)}, 9, Fraction(0))


def test_loads_are_set_as_asked() -> None:
    law = independent(fixed(3), geometric(Fraction(1, 4), 9))
    assert with_load(law, 40, Fraction(3, 4)).load == Fraction(3, 4)
    assert with_rho(law, 40, Fraction(3, 4)).rho == Fraction(3, 4)


def test_intervals_cover_the_mean_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    hits = sum(abs((e := mean_estimate(rng.normal(2, 1, 8))).value - 2) <= e.half_width for _ in range(1000))
    assert 930 <= hits <= 970
    pairs = rng.exponential(1, (1000, 2, 60))
    hits = sum(abs((e := ratio_estimate(top + bottom, bottom)).value - 2) <= e.half_width for top, bottom in pairs)
    assert 910 <= hits <= 970


def test_batch_means_widen_with_correlation_where_single_terms_would_not() -> None:
    noise = np.random.default_rng(4).normal(0, 1, 20_000)
    slow = np.repeat(noise[:200], 100)
    assert batch_means(slow).half_width > 4 * mean_estimate(slow).half_width
    assert batch_means(noise).half_width == pytest.approx(mean_estimate(noise).half_width, rel=0.5)


# ---------------------------------------------------------------- sample paths


@settings(max_examples=40)
@given(laws(), st.integers(0, 10), st.integers(1, 9), st.integers(0, 10**6))
def test_no_policy_beats_the_bound_on_its_own_path(law: Law, spare: int, tenths: int, seed: int) -> None:
    memory = max(s + o for s, o in law) + spare
    queue = with_load(law, memory, Fraction(tenths, 10))
    for totals in run_queue(queue, POLICIES, 40, 2, seed):
        assert totals.certified >= 1
        assert all(latency >= bound for latency, bound in zip(totals.latency, totals.bound, strict=True))


def test_paths_depend_on_the_seed_and_not_on_the_policies() -> None:
    queue = with_load(independent(fixed(1), geometric(Fraction(1, 3), 9)), 20, Fraction(4, 5))
    both = run_queue(queue, [SVF, FCFS], 300, 3, 7)
    assert both[1:] == run_queue(queue, [FCFS], 300, 3, 7)
    assert both[0].bound == both[1].bound
    assert both != run_queue(queue, [SVF, FCFS], 300, 3, 8)
    assert len(set(both[0].bound)) == 3  # paths of one run differ


@settings(max_examples=60)
@given(laws(), st.integers(0, 10), st.integers(1, 6), st.integers(0, 10**6), st.sampled_from(POLICIES))
def test_busy_periods_split_a_run_exactly_where_the_system_is_empty(
    law: Law, spare: int, tenths: int, seed: int, policy: Policy
) -> None:
    memory = max(s + o for s, o in law) + spare
    path = with_load(law, memory, Fraction(tenths, 10)).path(30, [seed])
    run = run_path(path, memory, policy)
    a, c = run.arrivals, run.completions
    # empty: all that arrived before has completed
    expected = [i for i in range(30) if i == 0 or (a[i] > a[i - 1] and all(c[j] <= a[i] for j in range(i)))]
    assert busy_periods(run).tolist() == expected
    periods = periods_of(path, run, memory)
    assert int(periods.latency.sum()) == int(run.latencies[: expected[-1]].sum())
    for k, (first, end) in enumerate(pairwise(expected)):
        rows = slice(first, end)
        prompt, output, arrival = (column[rows] for column in path)
        bound = float(fast_bound(prompt, output, arrival, memory).value)
        assert periods.bound[k] == bound <= periods.latency[k]


def test_a_single_server_waits_as_the_exact_formula_says() -> None:
    for rate in (Fraction(1, 2), Fraction(4, 5)):
        (totals,) = run_queue(Queue({(0, 1): Fraction(1)}, 1, rate), [FCFS], 50_000, 8, 11)
        estimate = totals.mean_wait
        assert abs(estimate.value - float(paced_wait(rate, 1))) < 2 * estimate.half_width < 0.3
        assert abs(totals.mean_drift.value) < 2 * totals.mean_drift.half_width


def test_batch_means_and_regeneration_agree_on_a_long_run() -> None:
    queue = geometric_queue(Fraction(1, 10), 40, [0], Fraction(1, 2), rho=None, load=Fraction(1, 2))
    path = queue.path(200_000, (1, 0))
    run = run_path(path, queue.memory, SVF)
    periods, batches = periods_of(path, run, queue.memory), batch_means(run.latencies.astype(float))
    cycles = periods.mean_latency
    assert len(periods.requests) > 1000
    assert abs(cycles.value - batches.value) < 0.5 * (cycles.half_width + batches.half_width)
    assert periods.mean_of_ratios.value >= 1 and periods.ratio_of_means.value >= 1


# ---------------------------------------------------------------- the bound on the wait by peaks


@given(st.integers(1, 19))
def test_the_peak_bound_is_attained_by_unit_requests_in_unit_memory(twentieths: int) -> None:
    rate = Fraction(twentieths, 20)
    bound = peak_wait_bound({(0, 1): Fraction(1)}, 1, rate, by_arrival)
    assert 0 <= bound - paced_wait(rate, 1) <= Fraction(1, 2**64)


@given(laws(), st.integers(1, 60), st.integers(1, 19))
def test_one_level_gives_the_closed_form_and_wins_against_the_charge_by_volume(
    law: Law, spare: int, twentieths: int
) -> None:
    memory = max(s + o for s, o in law) + spare
    work = mean(law, lambda s, o: (s + o) * o)
    rate = Fraction(twentieths, 20) * (spare + 1) / work
    slack = spare + 1 - rate * work
    closed = rate * mean(law, lambda s, o: (s + o) * o * o) / (2 * slack)
    bound = peak_wait_bound(law, memory, rate, by_arrival)
    assert 0 <= bound - closed <= Fraction(1, 2**64)
    try:
        assert bound <= wait_bound(law, memory, rate) + Fraction(1, 2**64)
    except InputError:
        assert rate * mean(law, volume) * 2 >= spare + 1  # the older bound covers fewer loads


@given(laws(prompts=0), st.integers(1, 60), st.integers(1, 19))
def test_with_equal_prompts_the_volume_order_has_the_smaller_bound_and_waits_increase(
    law: Law, spare: int, twentieths: int
) -> None:
    memory = max(s + o for s, o in law) + spare
    rate = Fraction(twentieths, 20) * (spare + 1) / mean(law, lambda s, o: (s + o) * o)
    waits = list(peak_waits(law, memory, rate, volume).values())
    assert waits == sorted(waits)
    grid = Fraction(1, 2**40)
    assert peak_wait_bound(law, memory, rate, volume) <= peak_wait_bound(law, memory, rate, by_arrival) + grid


@given(laws(), st.integers(1, 60), st.integers(1, 19))
def test_the_volume_order_has_the_closed_form_for_any_prompts(law: Law, spare: int, twentieths: int) -> None:
    memory = max(s + o for s, o in law) + spare
    rate = Fraction(twentieths, 20) * (spare + 1) / (2 * mean(law, volume))
    slack = spare + 1 - 2 * rate * mean(law, volume)
    closed = rate * mean(law, lambda s, o: (s + o) * o * o + (s + 1) * o) / (2 * slack)
    assert peak_wait_bound(law, memory, rate, volume) <= closed + Fraction(1, 2**40)
    assert closed <= wait_bound(law, memory, rate)


@given(st.integers(1, 9), st.integers(1, 15), laws(), st.integers(1, 60), st.integers(1, 19))
def test_cut_geometric_lengths_have_the_constant_three_halves(
    tenths: int, cap: int, other: Law, spare: int, twentieths: int
) -> None:
    prompts: dict[int, Fraction] = {}
    for (s, _), weight in other.items():
        prompts[s] = prompts.get(s, Fraction(0)) + weight
    law = independent(prompts, geometric(Fraction(tenths, 10), cap))
    memory, share = max(s + o for s, o in law) + spare, Fraction(twentieths, 20)
    rate = share * (spare + 1) / mean(law, lambda s, o: (s + o) * o)
    wait = peak_wait_bound(law, memory, rate, by_arrival)
    excess = Fraction(3, 2) * share / (1 - share)
    assert wait / mean(law, lambda _s, o: o) <= excess


def test_the_peak_bound_refuses_loads_it_does_not_cover() -> None:
    with pytest.raises(InputError, match="lower the rate"):
        peak_waits({(1, 100): Fraction(1)}, 2000, Fraction(19, 100), by_arrival)
    with pytest.raises(InputError, match="normalise"):
        peak_waits({(1, 100): Fraction(1, 2)}, 2000, Fraction(1, 100), by_arrival)


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("law", "memory"),
    [
        (independent(fixed(0), geometric(Fraction(1, 2), 6)), 7),
        (independent({0: Fraction(1, 2), 6: Fraction(1, 2)}, geometric(Fraction(1, 4), 8)), 20),
        ({(0, 1): Fraction(9, 10), (0, 12): Fraction(1, 10)}, 16),
        ({(5, 1): Fraction(1, 2), (0, 8): Fraction(1, 2)}, 12),
    ],
)
def test_no_type_waits_longer_than_its_peak_bound(law: Law, memory: int) -> None:
    work = mean(law, lambda s, o: (s + o) * o)
    rate = Fraction(19, 20) * (memory + 1 - max(s + o for s, o in law)) / work
    queue = Queue(law, memory, rate)
    path = queue.path(200_000, (2, 0))
    for policy, key in (
        (SVF, volume),
        (SJF, lambda _s, o: o),
        (FCFS, by_arrival),
        (POLICIES[3], _negative_volume),
    ):
        waits, run = peak_waits(law, memory, rate, key), run_path(path, memory, policy)
        for s, o in law:
            mine = (path[0] == s) & (path[1] == o)
            estimate = batch_means((run.starts - run.arrivals)[mine].astype(float), 10)
            assert estimate.low <= float(waits[key(s, o)]), (policy.name, s, o)


@pytest.mark.bounds
def test_two_types_nearly_attain_their_peak_bounds() -> None:
    # one at a time in memory: the charge D per waiting step is then nearly what is paid
    queue = Queue({(1, 1): Fraction(2, 9), (3, 2): Fraction(7, 9)}, 6, Fraction(7, 100))
    waits = peak_waits(queue.law, queue.memory, queue.rate, volume)
    path = queue.path(400_000, (4, 0))
    run = run_path(path, queue.memory, SVF)
    first = batch_means((run.starts - run.arrivals)[path[0] == 1].astype(float))
    bound = float(waits[2])
    assert 0.85 * bound < first.value and first.high < 1.05 * bound


def _negative_volume(prompt: int, output: int) -> int:
    return -volume(prompt, output)


# ---------------------------------------------------------------- experiments


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_paced_schedules_are_feasible(seed: int) -> None:
    law = independent(fixed(1), geometric(Fraction(1, 50), 100))
    prompt, output, arrival = with_load(law, 2000, Fraction(7, 10)).path(60, [seed])
    rows = zip(prompt.tolist(), output.tolist(), arrival.tolist(), strict=True)
    starts = paced_starts(arrival, 3)
    assert Schedule(tuple(starts.tolist())).violation(Instance(2000, [Request(*row) for row in rows])) is None
    assert np.diff(starts).min() >= 3


def test_class_means_round_the_exact_ones() -> None:
    law = independent(fixed(0), geometric(Fraction(1, 2), 4))
    assert class_means(law, 2).parameters == (2, 1, 4)  # means 4/3 and 7/2, halves to even
    assert class_means(law, 4).parameters[1] == class_means(law, 4).parameters[2]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quick plan, run once."""
    path = tmp_path_factory.mktemp("poisson") / "rows.jsonl"
    assert main(["--out", str(path), "--quick"]) == 0
    return path


@pytest.mark.bounds
def test_the_quick_grid_stays_below_every_bound(quick: Path) -> None:
    rows = read_rows(quick)
    grid = [row for row in rows if row["experiment"] == "grid"]
    assert len(grid) == 8
    for row in grid:
        bounds, policies = row["bounds"], row["policies"]
        for name in ("svf", "svf-1bit", "fcfs"):
            assert 1 <= policies[name]["certified"] <= bounds[f"peak {name}"] <= bounds["wait"] <= bounds["sharper"]
        assert bounds["sharper"] < bounds["paper"]
        value, half_width = policies["svf"]["latency_over_length"]
        assert value + half_width < bounds["peak svf"] <= bounds["peak fcfs"]
    assert all(row["policies"]["svf"]["certified"] >= 1 for row in rows if "policies" in row)


@pytest.mark.bounds
def test_random_queues_stay_below_their_peak_bounds_and_come_near(quick: Path) -> None:
    (row,) = (row for row in read_rows(quick) if row["experiment"] == "levels")
    assert row["checks"] > 40
    assert row["largest_low_over_bound"] <= 1.02  # a bound that is attained is passed by chance now and then
    assert row["largest_value_over_bound"] > 0.5


@pytest.mark.bounds
def test_the_quick_rows_show_the_stability_boundary(quick: Path) -> None:
    calm, lost, cut = (row for row in read_rows(quick) if row["experiment"] == "synchronised")
    assert calm["saturated_load"] == lost["saturated_load"] == 0.515
    assert calm["svf_over_lengths"][0] < 1.05 < 30 < lost["least_svf_over_paced"]
    assert lost["drift"][0] > 1000 > abs(calm["drift"][0])
    assert abs(lost["paced_over_lengths"][0] - lost["paced_exact"]) < 0.05
    assert cut["least_svf_over_paced"] > 8.03  # the formula with mu the success probability


def test_a_killed_run_goes_on_where_it_stopped(quick: Path, tmp_path: Path) -> None:
    whole = quick.read_bytes()
    cut = tmp_path / "rows.jsonl"
    lines = whole.splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[:-2]) + lines[-2][:40])
    said: list[str] = []
    assert fill(cut, plan(1, quick=True), said.append) == 2 == len(said)
    assert cut.read_bytes() == whole
    assert fill(cut, plan(1, quick=True), said.append) == 0


def test_keys_are_unique_and_tell_the_seed() -> None:
    keys = [key for key, _ in plan(1, quick=False, traces=Path("x"))]
    assert len(set(keys)) == len(keys) > 200
    assert not set(keys) & {key for key, _ in plan(2, quick=False)}


def test_foreign_files_and_seeds_are_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_text("not ours\n")
    for arguments in (
        ["--out", str(foreign)],
        ["--out", str(tmp_path / "none" / "x.jsonl"), "--quick"],
        ["--out", str(tmp_path / "y"), "--seed", "-1"],
        ["--out", str(tmp_path)],
    ):
        assert main(arguments) == 2
        told = capsys.readouterr()
        assert not told.out and "Traceback" not in told.err
    assert foreign.read_text() == "not ours\n"
    with pytest.raises(InputError, match=r"notes\.txt:1"):
        read_rows(foreign)


def test_rows_are_appended_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    for i in range(3):
        append_row(path, {"key": str(i)})
    assert [row["key"] for row in read_rows(path)] == ["0", "1", "2"]


# ---------------------------------------------------------------- the published data


@pytest.mark.bounds
def test_the_published_rows_belong_to_the_plan_and_the_first_is_reproduced() -> None:
    rows = read_rows(DATA)
    keys = [row["key"] for row in rows]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= {key for key, _ in plan(1, quick=False, traces=Path("x"))}
    key, experiment = next(islice(plan(1, quick=False), 1))
    assert {"key": key, **experiment()} == json.loads(json.dumps(rows[keys.index(key)]))


@pytest.mark.bounds
def test_the_published_rows_support_the_verdicts() -> None:
    found = verdicts(read_rows(DATA))
    assert json.loads(DATA.with_name("poisson_verdicts.json").read_text("utf-8")) == [asdict(v) for v in found]
    status = {verdict.id: verdict.status for verdict in found}
    holds = "holds in simulation"
    assert status == {
        **dict.fromkeys(("sim-theorem-3.4", "sim-sharper", "sim-wait", "sim-peak-svf"), holds),
        **dict.fromkeys(("sim-peak-one-bit", "sim-peak-fcfs", "sim-levels"), holds),
        **dict.fromkeys(("sim-boundary", "one-bit-eps", "two-readings"), holds),
        "svf-over-paced": "refuted on sample paths",
        "one-bit-fades": "fails in simulation",
    }


def test_the_table_in_the_paper_is_that_of_the_rows() -> None:
    assert trace_table(read_rows(DATA)) in (DATA.parents[1] / "poisson.md").read_text(encoding="utf-8")


@pytest.mark.bounds
def test_verdicts_fail_when_the_rows_do() -> None:
    rows = read_rows(DATA)
    grid = next(row for row in rows if row["experiment"] == "grid")
    bad = json.loads(json.dumps(grid))
    bad["policies"]["svf"]["ratio_of_means"] = [bad["bounds"]["paper"] + 1, 0.0]
    status = {verdict.id: verdict.status for verdict in verdicts([grid, bad])}
    assert status["sim-theorem-3.4"] == status["sim-peak-svf"] == "fails in simulation"
    assert status["sim-peak-fcfs"] == "holds in simulation"


@pytest.mark.bounds
@pytest.mark.traces
def test_a_public_trace_under_poisson_arrivals_has_certified_ratios(traces: Path) -> None:
    row = trace_row(traces, "mooncake_synthetic.jsonl", 600_000, Fraction(9, 10), range(2))
    ratios = {name: told["certified"][0] for name, told in row["policies"].items()}
    assert row["requests"] + sum(row["dropped"].values()) == 3993
    assert 1 < ratios["svf"] < ratios["fcfs"] < 100
    assert row == trace_row(traces, "mooncake_synthetic.jsonl", 600_000, Fraction(9, 10), range(2))


def test_compare_needs_a_load() -> None:
    with pytest.raises(InputError, match="rho or the load"):
        compare(Fraction(1, 2), 5, [0], Fraction(1, 2), requests=10, paths=2, seed=1)
