"""Priority keys, fit tests and admission rules."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.policies import (
    ADMISSIONS,
    FCFS,
    FITS,
    SJF,
    SVF,
    Job,
    Policy,
    admit,
    earliest_delay,
    fits,
    lookahead,
    one_bit,
    one_bit_for,
    peak,
    reserve,
    reserved,
    victims,
)
from theory.errors import InputError
from theory.model import PAPER, MemoryModel, vllm_memory

MODELS = st.sampled_from([PAPER, MemoryModel(1, 1), MemoryModel(0, 3), vllm_memory(4)])
JOBS = st.builds(Job, prompt=st.integers(0, 20), output=st.integers(1, 8), done=st.integers(0, 9))
RULES = sorted(ADMISSIONS)


def test_keys_of_the_four_policies() -> None:
    assert FCFS.key(5, 3, 7) == 7
    assert SJF.key(5, 3, 7) == 3
    assert SVF.key(5, 3, 7) == 21 == PAPER.volume(5, 3)
    bit = one_bit(threshold=4, short=2, long=9)
    assert bit.key(5, 4, 7) == PAPER.volume(5, 2)
    assert bit.key(5, 5, 7) == PAPER.volume(5, 9)


def test_proxies_of_the_paper_are_roots_of_the_largest_length() -> None:
    assert one_bit_for(10**8).parameters == (10**4, 10**2, 10**6)
    assert one_bit_for(1).parameters == (1, 1, 1)


def test_one_bit_refuses_proxies_out_of_order() -> None:
    with pytest.raises(InputError, match="give 0 < short <= long"):
        one_bit(4, 9, 2)


def test_policies_are_values() -> None:
    assert one_bit(4, 2, 9) == one_bit(4, 2, 9) != one_bit(5, 2, 9)
    assert pickle.loads(pickle.dumps(one_bit(4, 2, 9))) == one_bit(4, 2, 9)


def test_a_policy_can_be_any_function() -> None:
    assert Policy("least work left", lambda s, o, a, weight: weight * s + o, (3,)).key(5, 2, 0) == 17


@given(JOBS, MODELS, st.sampled_from(sorted(FITS)))
def test_reservations_never_decrease_and_end_with_the_peak(job: Job, model: MemoryModel, fit: str) -> None:
    tokens = FITS[fit](job, model)
    assert tokens == sorted(tokens)
    assert len(tokens) == max(1, job.output - job.done)
    assert tokens[-1] == model.peak(job.prompt, max(job.output, job.done + 1))


@given(JOBS, MODELS)
def test_a_preempted_job_reserves_like_one_whose_prompt_holds_what_it_generated(job: Job, model: MemoryModel) -> None:
    left = max(1, job.output - job.done)
    assert lookahead(job, model) == lookahead(Job(job.prompt + job.done, left), model)


@given(st.lists(st.integers(0, 12), max_size=12), st.lists(st.integers(0, 12), min_size=1, max_size=6).map(sorted))
def test_the_earliest_delay_is_the_first_at_which_a_job_fits(usage: list[int], tokens: list[int]) -> None:
    delay = next(d for d in range(len(usage) + 1) if fits(usage[d:], tokens, 12))
    assert earliest_delay(usage, tokens, 12) == delay


@given(st.lists(JOBS, max_size=6), MODELS)
def test_reservations_of_the_running_jobs_add_up_step_by_step(running: list[Job], model: MemoryModel) -> None:
    usage = reserved(running, 10**6, model, lookahead)
    for step in range(12):
        held = sum(model.held(j.prompt, j.done + step + 1) for j in running if step < max(1, j.output - j.done))
        assert (usage[step] if step < len(usage) else 0) == held


def test_peak_reservation_compares_the_sum_of_active_peaks() -> None:
    running = [Job(2, 3, done=1), Job(0, 4, done=3)]
    for memory in range(9, 20):
        assert (admit([Job(3, 2)], running, memory, PAPER, fit="peak") == [0]) == (memory >= 5 + 4 + 5)


def test_strict_stops_at_a_job_that_does_not_fit_and_the_others_pass_it() -> None:
    running = [Job(7, 4)]  # will hold 8, 9, 10, 11 of 13
    waiting = [Job(9, 2), Job(4, 5), Job(2, 2), Job(0, 2)]
    chosen = {rule: admit(waiting, running, 13, PAPER, rule) for rule in RULES}
    assert chosen == {"strict": [], "skip": [2], "easy": [2], "conservative": [2]}


def test_easy_lets_later_jobs_delay_all_but_the_head() -> None:
    running = [Job(9, 1)]  # with M = 14 the first two are planned 1 and 2 steps from now
    waiting = [Job(9, 1), Job(13, 1), Job(0, 3)]  # the third would hold 3 tokens beside the second
    assert admit(waiting, running, 14, PAPER, "easy") == [2]
    assert admit(waiting, running, 14, PAPER, "conservative") == []


@given(
    st.lists(JOBS, min_size=1, max_size=6),
    MODELS,
    st.integers(1, 25),
    st.sampled_from(RULES),
    st.sampled_from(sorted(FITS)),
)
def test_with_nothing_running_the_head_starts_whatever_its_prediction(
    waiting: list[Job], model: MemoryModel, memory: int, rule: str, fit: str
) -> None:
    assert admit(waiting, [], memory, model, rule, fit)[0] == 0


@given(
    st.lists(JOBS, max_size=6),
    st.lists(JOBS, max_size=4),
    MODELS,
    st.integers(20, 80),
    st.sampled_from(sorted(FITS)),
)
def test_what_a_rule_starts_is_what_its_definition_says(
    waiting: list[Job], running: list[Job], model: MemoryModel, memory: int, fit: str
) -> None:
    """Every rule again, from its definition, with reservations recounted from scratch at every candidate."""
    test = FITS[fit]

    def free(active: list[Job], planned: list[tuple[int, Job]], job: Job, delay: int) -> bool:
        usage: list[int] = []
        for other in active:
            reserve(usage, [min(x, memory) for x in test(other, model)], 0)
        for start, other in planned:
            usage += [0] * max(0, start - len(usage))
            reserve(usage, [min(x, memory) for x in test(other, model)], start)
        return fits(usage[delay:], [min(x, memory) for x in test(job, model)], memory)

    prefix: list[int] = []
    for k, job in enumerate(waiting):
        if not free(running + [waiting[i] for i in prefix], [], job, 0):
            break
        prefix.append(k)
    assert admit(waiting, running, memory, model, "strict", fit) == prefix

    scan: list[int] = []
    for k, job in enumerate(waiting):
        if free(running + [waiting[i] for i in scan], [], job, 0):
            scan.append(k)
    assert admit(waiting, running, memory, model, "skip", fit) == scan

    plan: list[tuple[int, Job]] = []
    for job in waiting:
        plan.append((next(d for d in range(200) if free(running, plan, job, d)), job))
    now = [k for k, (delay, _) in enumerate(plan) if delay == 0]
    assert admit(waiting, running, memory, model, "conservative", fit) == now

    head = [(delay, job) for delay, job in plan if delay][:1]
    backfilled = list(prefix)
    for k in range(len(prefix) + 1, len(waiting)):
        if free(running + [waiting[i] for i in backfilled], head, waiting[k], 0):
            backfilled.append(k)
    assert admit(waiting, running, memory, model, "easy", fit) == backfilled


def test_conservative_plans_made_once_stand_while_nothing_arrives() -> None:
    """With true lengths, planning afresh in every step starts every job exactly when the first plan said."""
    rng = random.Random(1)
    for _ in range(300):
        jobs = [Job(rng.randint(0, 9), rng.randint(1, 8)) for _ in range(rng.randint(1, 8))]
        memory, fit = 17 + rng.randint(0, 20), rng.choice(sorted(FITS))
        usage: list[int] = []
        plan = []
        for job in jobs:
            tokens = FITS[fit](job, PAPER)
            plan.append(earliest_delay(usage, tokens, memory))
            reserve(usage, tokens, plan[-1])
        starts = [-1] * len(jobs)
        for now in range(max(plan) + 1):
            queue = [k for k, start in enumerate(starts) if start < 0]
            running = [
                Job(j.prompt, j.output, now - t)
                for j, t in zip(jobs, starts, strict=True)
                if t >= 0 and now - t < j.output
            ]
            for k in admit([jobs[k] for k in queue], running, memory, PAPER, "conservative", fit):
                starts[queue[k]] = now
        assert starts == plan


def test_victims_are_the_last_started_until_the_next_step_fits() -> None:
    running = [Job(3, 9, done=1), Job(2, 9, done=2), Job(1, 9, done=3)]  # 5 each in the next step
    assert [victims(running, memory, PAPER) for memory in (15, 14, 10, 9, 5)] == [0, 1, 1, 2, 2]


def test_reserving_by_peak_is_the_peak_of_the_known_length_in_every_step() -> None:
    assert peak(Job(3, 4, done=2), vllm_memory(4)) == [8, 8]
