"""The simulator: kernels against the pure policies, published values, preemption, limits."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import simulator
from runtime.policies import ADMISSIONS, FCFS, FITS, SJF, SVF, Policy, one_bit
from runtime.reference import reference_simulate
from runtime.simulator import SimulationResult, ranks, simulate, simulate_arrays
from theory.errors import InputError
from theory.model import PAPER, Instance, MemoryModel, Request, vllm_memory

POLICIES = [FCFS, SJF, SVF, one_bit(4, 2, 9), Policy("widest first", lambda s, o, a: -s)]
MODELS = [PAPER, MemoryModel(1, 1), MemoryModel(0, 3), vllm_memory(4), vllm_memory(16)]
RULES = [(admission, fit) for admission in ADMISSIONS for fit in FITS]


def by_reference(
    instance: Instance, policy: Policy, admission: str, fit: str, known: list[int] | None = None
) -> tuple[list[int], list[int], list[int]]:
    prompts = [r.prompt for r in instance.requests]
    outputs = [r.output for r in instance.requests]
    arrivals = [r.arrival for r in instance.requests]
    known = outputs if known is None else known
    keys = [(policy.key(s, k, a), i) for i, (s, k, a) in enumerate(zip(prompts, known, arrivals, strict=True))]
    rank = [sorted(keys).index(key) for key in keys]
    return reference_simulate(
        prompts, outputs, arrivals, rank, known, instance.memory, instance.memory_model, admission, fit
    )


def assert_kernels_agree(instance: Instance, policy: Policy) -> int:
    """Compare all rules; return how many runs made somebody wait."""
    waited = 0
    for admission, fit in RULES:
        result = simulate(instance, policy, admission, fit)
        starts, completions, preemptions = by_reference(instance, policy, admission, fit)
        assert result.starts.tolist() == starts, (instance, policy, admission, fit)
        assert result.completions.tolist() == completions
        assert not any(preemptions)
        assert result.schedule().violation(instance) is None
        waited += any(t > r.arrival for t, r in zip(starts, instance.requests, strict=True))
    return waited


def random_instance(rng: random.Random) -> Instance:
    model = rng.choice(MODELS)
    longest_prompt, longest_output = rng.choice([3, 10, 40]), rng.choice([2, 4, 6, 6, 8, 10, 15, 50])
    shapes = [(rng.randint(0, longest_prompt), rng.randint(1, longest_output)) for _ in range(rng.randint(1, 8))]
    if rng.random() < 0.4:  # many ties
        shapes = [rng.choice(shapes[:3]) for _ in shapes]
    last = rng.choice([0, 0, 5, 30])
    peak = max(1, max(model.peak(s, o) for s, o in shapes))
    memory = peak + rng.randint(0, rng.choice([1, peak, 4 * peak]))
    return Instance(memory, [Request(s, o, rng.randint(0, last)) for s, o in shapes], model)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    model = draw(st.sampled_from(MODELS))
    request = st.builds(Request, st.integers(0, 30), st.integers(1, 12), st.integers(0, 20))
    requests = draw(st.lists(request, max_size=7))
    peak = max([1, *(model.peak(r.prompt, r.output) for r in requests)])
    return Instance(peak + draw(st.integers(0, 3 * peak)), requests, model)


def test_kernels_start_every_request_when_the_pure_policies_do_on_random_instances() -> None:
    rng = random.Random(7)
    waited = sum(assert_kernels_agree(random_instance(rng), rng.choice(POLICIES)) for _ in range(3000))
    assert waited > 8000  # of 24000: the memory was short


@given(instances(), st.sampled_from(POLICIES))
@settings(max_examples=200)
def test_kernels_start_every_request_when_the_pure_policies_do(instance: Instance, policy: Policy) -> None:
    assert_kernels_agree(instance, policy)


def test_kernels_agree_when_paused_and_short_of_room_at_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also covers long runs: the reservation tables wrap round many times."""
    monkeypatch.setattr(simulator, "_BUDGET", 1)
    monkeypatch.setattr(simulator, "_SPARE", 0)
    rng = random.Random(3)
    for arrivals in (0, 250, 2000):
        for model in (PAPER, vllm_memory(4)):
            shapes = [(rng.randint(0, 30), rng.randint(1, 12), rng.randint(0, arrivals)) for _ in range(60)]
            instance = Instance(60, [Request(*shape) for shape in shapes], model)
            assert_kernels_agree(instance, SVF)
            known = predictions(rng, instance)
            result = simulate(instance, SVF, "conservative", known_outputs=known)
            starts, completions, _ = by_reference(instance, SVF, "conservative", "lookahead", known)
            assert (result.starts.tolist(), result.completions.tolist()) == (starts, completions)


def groups(memory: int, *types: tuple[int, int, int], repeat: int = 1) -> Instance:
    """An instance from (prompt, output, count) triples, in this order, the whole `repeat` times."""
    return Instance(memory, [Request(s, o) for _ in range(repeat) for s, o, k in types for _ in range(k)])


def latency(instance: Instance, admission: str = "strict", policy: Policy = SVF, fit: str = "lookahead") -> int:
    return simulate(instance, policy, admission, fit).total_latency


@pytest.mark.bounds
def test_r1_a_constant_of_five_fails_when_peaks_reach_the_memory() -> None:
    for memory, length, total in ((1176, 47, 689), (10000, 139, 1885)):
        instance = groups(memory, (1, length, 1), (memory - 1, 1, 12))
        assert latency(instance) == latency(instance, "skip") == total


@pytest.mark.bounds
def test_r3_skipping_starves_wide_short_requests() -> None:
    instance = groups(10000, (2500, 1, 1), (2499, 1, 1), (4999, 1, 70), (1248, 1251, 4))
    assert (latency(instance), latency(instance, "skip")) == (6480, 92552)
    instance = groups(1500, (150, 1, 3), (150, 2, 2), (150, 3, 3), (150, 4, 2), (749, 1, 80), (150, 150, 10))
    assert (latency(instance), latency(instance, "skip")) == (4674, 28051)


@pytest.mark.bounds
def test_r4_lower_bounds_for_strict_svf() -> None:
    for length, total in ((20, 230), (40, 860), (80, 3320)):
        volume = length * (length + 3) // 2
        assert latency(groups(2 * volume, (1, length, 1), (volume - 1, 1, length))) == total
    assert latency(groups(20160, (183, 81, 11), (18143, 1, 1), repeat=20)) == 204535
    assert latency(groups(119, (1, 14, 1), (118, 1, 1), repeat=16)) == 4064
    assert latency(groups(209, (1, 19, 1), (208, 1, 1), repeat=12)) == 3108


@pytest.mark.bounds
def test_r6_sjf_has_no_constant() -> None:
    ratios = []
    for memory in (64, 256, 1024, 4096):
        instance = groups(memory, (memory // 2 - 1, 1, 4 * int(memory**0.5)), (0, 2, 2 * memory))
        ratios.append(round(latency(instance, policy=SJF) / latency(instance), 1))
    assert ratios == [2.6, 4.9, 9.5, 18.6]


@pytest.mark.bounds
def test_t8_peak_reservation_reaches_its_bound_of_four() -> None:
    length, memory = 120, 14520
    volume = length * (length + 1) // 2
    fat_after_longs = groups(memory, (0, length, 61), (volume - 1, 1, 1), repeat=600)
    assert latency(fat_after_longs, fit="peak") == 1341614955


@pytest.mark.bounds
def test_t9_easy_backfilling_has_no_constant_and_conservative_has() -> None:
    for memory, ratio in ((10000, 17.7), (80016, 50.0)):
        prompt = memory // 8 - 2
        count = 4 * int((prompt + 3) ** 0.5)
        instance = groups(
            memory,
            (memory // 4 - 1, 1, 1),
            (memory // 4, 1, 1),
            (memory // 2 - 1, 1, count),
            (prompt, prompt + 3, 4),
        )
        assert round(latency(instance, "easy") / latency(instance), 1) == ratio
        assert latency(instance, "conservative") == latency(instance)


def predictions(rng: random.Random, instance: Instance) -> list[int]:
    return [max(1, round(r.output * rng.choice([0.3, 0.7, 1, 1, 1.5, 3]))) for r in instance.requests]


def test_with_wrong_lengths_the_kernel_runs_every_request_as_the_pure_policies_do() -> None:
    rng = random.Random(5)
    preempted = 0
    for _ in range(600):
        instance, (admission, fit), policy = random_instance(rng), rng.choice(RULES), rng.choice(POLICIES)
        known = predictions(rng, instance)
        result = simulate(instance, policy, admission, fit, known_outputs=known)
        starts, completions, preemptions = by_reference(instance, policy, admission, fit, known)
        assert result.starts.tolist() == starts, (instance, policy, admission, fit, known)
        assert result.completions.tolist() == completions
        assert result.preemptions.tolist() == preemptions
        for i, r in enumerate(instance.requests):
            assert r.arrival <= result.starts[i] <= result.completions[i] - r.output
            assert result.preemptions[i] or result.starts[i] == result.completions[i] - r.output
        if result.preemptions.any():
            preempted += 1
            with pytest.raises(ValueError, match="preemption"):
                result.schedule()
        else:
            assert result.schedule().violation(instance) is None
    assert preempted > 60


@given(instances(), st.sampled_from(POLICIES), st.sampled_from(RULES))
@settings(max_examples=100)
def test_over_long_predictions_never_preempt(instance: Instance, policy: Policy, rule: tuple[str, str]) -> None:
    known = [r.output + 1 + i % 3 for i, r in enumerate(instance.requests)]
    result = simulate(instance, policy, *rule, known_outputs=known)
    assert result.schedule().violation(instance) is None


def test_an_overrun_is_preempted_last_started_first_and_keeps_its_tokens() -> None:
    instance = Instance(8, [Request(1, 6), Request(1, 3)])
    result = simulate(instance, FCFS, known_outputs=[1, 1])
    # after three steps the first holds 4 and the second 4, done; the first goes on alone
    assert result.completions.tolist() == [6, 3]
    instance = Instance(7, [Request(1, 6), Request(1, 3)])
    result = simulate(instance, FCFS, known_outputs=[1, 1])
    # step 3 would hold 4 + 4: the second waits, with 2 tokens generated, until the first is done
    assert result.preemptions.tolist() == [0, 1]
    assert result.starts.tolist() == [0, 0]
    assert result.completions.tolist() == [6, 7]


def test_keys_may_see_other_lengths_than_the_admission_rule() -> None:
    instance = Instance(4, [Request(1, 3), Request(1, 2)])
    assert simulate(instance, SVF).starts.tolist() == [2, 0]
    swapped = simulate(instance, SVF, key_outputs=[1, 9])
    assert swapped.starts.tolist() == [0, 3]
    assert swapped.schedule().violation(instance) is None


def test_a_million_requests_stay_within_memory_and_take_their_exact_total() -> None:
    n = 10**6
    rng = np.random.default_rng(0)
    prompt, output = rng.integers(100, 3000, n), rng.integers(1, 200, n)
    arrival = np.zeros(n, dtype=np.int64)
    result = simulate_arrays(prompt, output, arrival, ranks(SVF, prompt, output, arrival), 30000)
    assert result.total_latency == sum(result.completions.tolist())
    slope = np.zeros(result.makespan + 2, dtype=np.int64)  # tokens added per step by those running
    jump = np.zeros(result.makespan + 2, dtype=np.int64)
    np.add.at(slope, result.starts + 1, 1)
    np.add.at(slope, result.completions + 1, -1)
    np.add.at(jump, result.starts + 1, prompt)
    np.add.at(jump, result.completions + 1, -(prompt + output))
    assert 29000 < (np.cumsum(slope) + jump).cumsum().max() <= 30000


def test_total_latency_is_exact_beyond_64_bits() -> None:
    n = 3
    zeros = np.zeros(n, dtype=np.int64)
    result = SimulationResult(zeros, zeros, np.full(n, 2**62 + 1), zeros)
    assert result.total_latency == 3 * (2**62 + 1)


def test_percentiles_are_latencies_that_occurred() -> None:
    zeros = np.zeros(200, dtype=np.int64)
    result = SimulationResult(zeros, zeros, np.arange(200, 0, -1), zeros)
    assert (result.p95_latency, result.p99_latency, result.mean_latency) == (190, 198, 100.5)


def test_an_empty_instance_has_an_empty_result() -> None:
    for admission, fit in RULES:
        result = simulate(Instance(5, []), SVF, admission, fit)
        assert (result.total_latency, result.makespan, result.mean_latency, result.p99_latency) == (0, 0, 0, 0)


def test_idle_times_are_skipped() -> None:
    far = 2**40
    instance = Instance(9, [Request(1, 3, far - 1), Request(2, 3), Request(4, 3, far - 2)])
    for admission, fit in RULES:
        begun = time.monotonic()
        starts = simulate(instance, SVF, admission, fit).starts.tolist()
        assert starts == [far + (fit == "peak"), 0, far - 2]
        assert time.monotonic() - begun < 5


BAD_CALLS: list[tuple[dict[str, object], str]] = [
    ({"admission": "lax"}, "admission: is 'lax'; give one of strict, skip, conservative, easy"),
    ({"fit": "exact"}, "fit: is 'exact'; give one of lookahead, peak"),
    ({"known_outputs": [1]}, "known_outputs: has 1 lengths for 2 requests"),
    ({"known_outputs": [1, 0]}, r"known_outputs\[1\]: is 0"),
    ({"key_outputs": [1.5, 2]}, r"key_outputs\[0\]: is 1.5"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_CALLS)
def test_bad_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulate(Instance(9, [Request(1, 2), Request(1, 2)]), SVF, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (0, -1, r"prompt\[1\]: is -1"),
        (1, 0, r"output\[1\]: is 0"),
        (1, 2**25, r"output\[1\]: is 33554432"),
        (2, 2**41, r"arrival\[1\]: is 2199023255552"),
        (3, 0, "rank: repeats a position"),
        (0, 99, r"requests\[1\]: holds 101 tokens in its last step, more than the memory of 50"),
    ],
)
def test_arrays_out_of_range_are_refused(column: int, value: int, message: str) -> None:
    columns = [np.array(values) for values in ([1, 1], [2, 2], [0, 0], [0, 1])]
    columns[column][1] = value
    with pytest.raises(InputError, match=message):
        simulate_arrays(columns[0], columns[1], columns[2], columns[3], 50)


def test_a_deadline_stops_a_long_run() -> None:
    n = 50000
    prompt, output, arrival = np.full(n, 1), np.full(n, 2000), np.zeros(n, dtype=np.int64)
    for admission in ADMISSIONS:
        with pytest.raises(TimeoutError, match="simulation of 50000 requests stopped at its time limit, at step"):
            simulate_arrays(prompt, output, arrival, np.arange(n), 2001, PAPER, admission, deadline=0.0)
    with pytest.raises(TimeoutError, match="simulation of 50000 requests"):
        simulate_arrays(prompt, output, arrival, np.arange(n), 2001, known=output - 1, deadline=0.0)
