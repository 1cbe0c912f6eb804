"""The model: requests, memory, instances and schedules, in exact integers.

Time is discrete. Step ``t`` is the interval ``(t - 1, t]``. A request started at the integer time
``t_i >= arrival`` runs, without preemption, in the steps ``t_i + 1, ..., t_i + output`` and completes at
``t_i + output``. What it holds in its ``j``-th step is given by a :class:`MemoryModel`; in the paper it is
``prompt + j`` tokens. A schedule is feasible when, in every step, the tokens held sum to at most ``memory``.
The objective is the total end-to-end latency, the sum of completion minus arrival [kong2026]_.

References
----------
.. [kong2026] Kong, Qi, Ye, Zhou, "Geometry-Aware Online Scheduling for LLM Serving", arXiv 2606.22327, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from theory.errors import InputError

#: Largest prompt or output length, in tokens: the product of two such numbers fits a signed 64-bit integer.
MAX_TOKENS = 2**31 - 1
#: Largest arrival time (steps) and memory (tokens).
MAX_STEPS = 2**40


def _require_int(where: str, value: object, low: int, high: int, unit: str) -> None:
    """Raise unless `value` is a plain int (bool is not) in [low, high]."""
    if type(value) is not int:
        raise InputError(where, f"is {value!r}, not an integer", f"give a whole number of {unit}, {low} or more")
    if value < low:
        raise InputError(where, f"is {value}", f"give {low} or more {unit}")
    if value > high:
        raise InputError(where, f"is larger than {high}", f"give at most {high} {unit}")


@dataclass(frozen=True, slots=True)
class MemoryModel:
    """How many tokens of KV cache a running request holds.

    In its `j`-th step (``j = 1, ..., output``) a request with prompt `s` holds ``s + j - lag`` tokens, rounded up
    to whole blocks of `block` tokens. The paper's model is ``MemoryModel()``: lag 0, block 1. vLLM writes the
    key and value of a token in the step after it is sampled and allocates whole blocks: lag 1, block 16.

    Parameters
    ----------
    lag : {0, 1}
        Tokens sampled but not yet in the cache.
    block : int
        Block size in tokens.

    Raises
    ------
    InputError
        If `lag` is not 0 or 1 or `block` is not a positive integer.

    Examples
    --------
    >>> PAPER.held(5, 1), vllm_memory(16).held(5, 1), vllm_memory(16).held(5, 13)
    (6, 16, 32)
    """

    lag: int = 0
    block: int = 1

    def __post_init__(self) -> None:
        _require_int("memory_model.lag", self.lag, 0, 1, "tokens")
        _require_int("memory_model.block", self.block, 1, MAX_TOKENS, "tokens")

    def held(self, prompt: int, step: int) -> int:
        """Tokens held in the `step`-th step (1-based) by a request with this prompt length."""
        return -(-(prompt + step - self.lag) // self.block) * self.block

    def peak(self, prompt: int, output: int) -> int:
        """Tokens held in the last step: the most a request ever holds."""
        return self.held(prompt, output)

    def volume(self, prompt: int, output: int) -> int:
        """Tokens held, summed over all steps (token-steps); ``s o + o (o + 1) / 2`` in the paper's model.

        Examples
        --------
        >>> PAPER.volume(3, 4), sum(PAPER.held(3, j) for j in range(1, 5))
        (22, 22)
        """
        return self._blocks_below(prompt + output - self.lag) - self._blocks_below(prompt - self.lag)

    def moment(self, prompt: int, output: int) -> int:
        """Sum over the steps ``j`` of ``held_j * (2 (output - j) + 1)``.

        Divided by twice the volume it is the distance from the mean busy time of a request to its completion
        (lower bound L3).

        Examples
        --------
        >>> PAPER.moment(0, 2)  # 1 * 3 + 2 * 1
        5
        """
        if self.block == 1:  # closed form: 6 e = 6 s o^2 + o (o + 1) (2 o + 1)
            s, o = prompt - self.lag, output
            return s * o * o + o * (o + 1) * (2 * o + 1) // 6
        return sum(self.held(prompt, j) * (2 * (output - j) + 1) for j in range(1, output + 1))

    def _blocks_below(self, tokens: int) -> int:
        """Sum of ``x`` rounded up to whole blocks, over ``x = 1, ..., tokens`` (0 if `tokens` <= 0)."""
        if tokens <= 0:
            return 0
        full, rest = divmod(tokens, self.block)
        return self.block * (self.block * full * (full + 1) // 2 + rest * (full + 1))


#: The memory model of the paper: ``prompt + j`` tokens in the ``j``-th step.
PAPER = MemoryModel()


def vllm_memory(block: int = 16) -> MemoryModel:
    """Return vLLM's memory model: ``prompt + j - 1`` tokens in the ``j``-th step, in whole blocks."""
    return MemoryModel(lag=1, block=block)


@dataclass(frozen=True, slots=True)
class Request:
    """One request: prompt length and output length in tokens, arrival (release date) in steps.

    Raises
    ------
    InputError
        If a field is not an integer, `prompt` or `arrival` is negative, `output` is below 1 or a field is huge.

    Examples
    --------
    >>> r = Request(prompt=3, output=4)
    >>> r.peak, r.volume
    (7, 22)
    """

    prompt: int
    output: int
    arrival: int = 0

    def __post_init__(self) -> None:
        _require_int("prompt", self.prompt, 0, MAX_TOKENS, "tokens")
        _require_int("output", self.output, 1, MAX_TOKENS, "tokens")
        _require_int("arrival", self.arrival, 0, MAX_STEPS, "steps")

    @property
    def peak(self) -> int:
        """Peak memory ``s + o`` in tokens, in the paper's memory model."""
        return self.prompt + self.output

    @property
    def volume(self) -> int:
        """Volume ``s o + o (o + 1) / 2`` in token-steps, in the paper's memory model."""
        return PAPER.volume(self.prompt, self.output)


@dataclass(frozen=True, slots=True)
class Instance:
    """A memory and the requests that share it.

    Parameters
    ----------
    memory : int
        Capacity M in tokens.
    requests : sequence of Request
        In the order in which they were submitted: ties of any policy are broken by this order.
    memory_model : MemoryModel
        What a running request holds; the paper's by default.

    Raises
    ------
    InputError
        If `memory` is not a positive integer or a request alone exceeds it (then no schedule exists).

    Examples
    --------
    >>> inst = Instance(8, [Request(1, 3), Request(0, 2)])
    >>> inst.peak, inst.alpha, inst.total_output, inst.is_burst
    (4, Fraction(1, 2), 5, True)
    """

    memory: int
    requests: tuple[Request, ...]
    memory_model: MemoryModel = field(default=PAPER)

    def __init__(self, memory: int, requests: Iterable[Request], memory_model: MemoryModel = PAPER) -> None:
        object.__setattr__(self, "memory", memory)
        object.__setattr__(self, "requests", tuple(requests))
        object.__setattr__(self, "memory_model", memory_model)
        _require_int("memory", memory, 1, MAX_STEPS, "tokens")
        for i, r in enumerate(self.requests):
            peak = memory_model.peak(r.prompt, r.output)
            if peak > memory:
                raise InputError(
                    f"requests[{i}]",
                    f"holds {peak} tokens in its last step, more than the memory of {memory}",
                    "drop the request or give more memory",
                )

    def __len__(self) -> int:
        return len(self.requests)

    @property
    def peak(self) -> int:
        """Largest peak P over the requests, in tokens (0 without requests)."""
        return max((self.memory_model.peak(r.prompt, r.output) for r in self.requests), default=0)

    @property
    def alpha(self) -> Fraction:
        """Peak bound ``alpha = P / M``."""
        return Fraction(self.peak, self.memory)

    @property
    def total_output(self) -> int:
        """Sum of the output lengths: the latency if nothing ever waited (L1)."""
        return sum(r.output for r in self.requests)

    @property
    def is_burst(self) -> bool:
        """Whether all requests arrive at time 0."""
        return all(r.arrival == 0 for r in self.requests)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Start times, one per request, in the order of the instance's requests (steps).

    Examples
    --------
    >>> inst = Instance(3, [Request(0, 2), Request(0, 2)])
    >>> Schedule((0, 1)).violation(inst) is None, Schedule((0, 1)).total_latency(inst)
    (True, 5)
    >>> Schedule((0, 0)).violation(inst)
    'step 2 holds 4 tokens, more than the memory of 3'
    """

    starts: tuple[int, ...]

    def completions(self, instance: Instance) -> tuple[int, ...]:
        """Completion times ``t_i + o_i`` in steps."""
        return tuple(t + r.output for t, r in zip(self.starts, instance.requests, strict=True))

    def total_latency(self, instance: Instance) -> int:
        """Total end-to-end latency: sum of completion minus arrival, in steps."""
        return sum(c - r.arrival for c, r in zip(self.completions(instance), instance.requests, strict=True))

    def makespan(self, instance: Instance) -> int:
        """Last completion time in steps (0 without requests)."""
        return max(self.completions(instance), default=0)

    def usage(self, instance: Instance) -> dict[int, int]:
        """Tokens held in every step in which something runs: ``{step: tokens}``."""
        held: dict[int, int] = {}
        model = instance.memory_model
        for t, r in zip(self.starts, instance.requests, strict=True):
            for j in range(1, r.output + 1):
                held[t + j] = held.get(t + j, 0) + model.held(r.prompt, j)
        return held

    def violation(self, instance: Instance) -> str | None:
        """Say why the schedule is not feasible, or None when it is."""
        if len(self.starts) != len(instance):
            return f"has {len(self.starts)} start times for {len(instance)} requests"
        for i, (t, r) in enumerate(zip(self.starts, instance.requests, strict=True)):
            if type(t) is not int:
                return f"start of request {i} is {t!r}, not an integer"
            if t < r.arrival:
                return f"request {i} starts at {t}, before its arrival at {r.arrival}"
        worst = max(self.usage(instance).items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
        if worst[1] > instance.memory:
            return f"step {worst[0]} holds {worst[1]} tokens, more than the memory of {instance.memory}"
        return None
