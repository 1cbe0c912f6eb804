"""The model: every closed form against its definition, and every invariant of the constructors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.errors import InputError
from theory.model import PAPER, Instance, MemoryModel, Request, Schedule, vllm_memory

models = st.builds(MemoryModel, st.sampled_from([0, 1]), st.integers(1, 40))
lengths = st.tuples(st.integers(0, 200), st.integers(1, 200))


@given(models, lengths)
def test_volume_is_the_sum_of_what_is_held(model: MemoryModel, length: tuple[int, int]) -> None:
    s, o = length
    assert model.volume(s, o) == sum(model.held(s, j) for j in range(1, o + 1))


@given(models, lengths)
def test_moment_is_the_weighted_sum_of_what_is_held(model: MemoryModel, length: tuple[int, int]) -> None:
    s, o = length
    assert model.moment(s, o) == sum(model.held(s, j) * (2 * (o - j) + 1) for j in range(1, o + 1))


@given(models, lengths)
def test_held_is_whole_blocks_monotone_and_at_most_one_block_above_the_tokens(
    model: MemoryModel, length: tuple[int, int]
) -> None:
    s, o = length
    held = [model.held(s, j) for j in range(1, o + 1)]
    assert held == sorted(held)
    assert model.peak(s, o) == held[-1]
    for j, h in enumerate(held, 1):
        tokens = s + j - model.lag
        assert h % model.block == 0
        assert tokens <= h < tokens + model.block


@given(lengths)
def test_paper_volume_has_the_closed_form_of_the_paper(length: tuple[int, int]) -> None:
    s, o = length
    assert 2 * PAPER.volume(s, o) == 2 * s * o + o * (o + 1)
    assert Request(s, o).peak * o == 2 * Request(s, o).volume - o * (s + 1)


def test_vllm_holds_one_token_less_in_whole_blocks() -> None:
    assert [vllm_memory(4).held(3, j) for j in range(1, 7)] == [4, 4, 8, 8, 8, 8]
    assert [vllm_memory(1).held(3, j) for j in range(1, 4)] == [3, 4, 5]


@pytest.mark.parametrize(
    ("prompt", "output", "arrival", "word"),
    [
        (-1, 1, 0, "prompt"),
        (0, 0, 0, "output"),
        (0, 1, -1, "arrival"),
        (1.0, 1, 0, "prompt"),
        (0, True, 0, "output"),
        (2**31, 1, 0, "prompt"),
        ("3", 1, 0, "prompt"),
        (None, 1, 0, "prompt"),
    ],
)
def test_bad_requests_are_refused_by_field(prompt: int, output: int, arrival: int, word: str) -> None:
    with pytest.raises(InputError, match=word):
        Request(prompt, output, arrival)


def test_a_request_above_the_memory_is_refused_with_its_index() -> None:
    with pytest.raises(InputError, match=r"requests\[1\].*6 tokens"):
        Instance(5, [Request(1, 2), Request(3, 3)])
    assert Instance(6, [Request(3, 3)]).alpha == 1


@pytest.mark.parametrize("memory", [0, -1, 1.5, True, 2**41])
def test_bad_memories_are_refused(memory: int) -> None:
    with pytest.raises(InputError, match="memory"):
        Instance(memory, [Request(0, 1)])


def test_schedules_say_the_first_fault() -> None:
    inst = Instance(4, [Request(0, 2, 1), Request(1, 2, 0)])
    assert Schedule((1, 0)).violation(inst) is None
    assert Schedule((1, 0)).total_latency(inst) == (3 - 1) + (2 - 0)
    assert Schedule((0, 0)).violation(inst) == "request 0 starts at 0, before its arrival at 1"
    assert Schedule((1, 1)).violation(inst) == "step 3 holds 5 tokens, more than the memory of 4"
    assert Schedule((1,)).violation(inst) == "has 1 start times for 2 requests"
