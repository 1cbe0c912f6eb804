"""The discrete-time simulator: what a policy does on an instance, in exact integers.

With true lengths the event-driven kernels of :mod:`runtime.kernels` run, for millions of requests; with wrong
known lengths, when requests can be preempted, the step-by-step kernel of :mod:`runtime.kernels_steps`. Both start
every request exactly when the pure functions of :mod:`runtime.policies`, called step by step, do
(:mod:`runtime.reference`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from runtime import kernels, kernels_steps
from runtime.policies import ADMISSIONS, FCFS, FITS, SJF, SVF, Policy, one_bit_svf
from theory.errors import InputError
from theory.model import MAX_STEPS, MAX_TOKENS, PAPER, Instance, MemoryModel, Schedule

Ints = NDArray[np.int64]

#: Longest output (steps) and longest planning horizon (steps) that fit a table of reservations.
MAX_OUTPUT = 2**24
MAX_HORIZON = 2**27
#: Elementary operations between two looks at the clock: about a tenth of a second.
_BUDGET = 100_000_000
#: Extra length of the table of reservations, so that it is moved seldom.
_SPARE = 4096
#: These keys are arithmetic, hence work on whole arrays.
_ELEMENTWISE = (FCFS.function, SJF.function, SVF.function, one_bit_svf)


@dataclass(frozen=True, slots=True, eq=False)
class SimulationResult:
    """When every request started and completed.

    Parameters
    ----------
    arrivals, starts, completions : int64 arrays, one entry per request
        In steps. The start of a request that was preempted is its first.
    preemptions : int64 array
        How often each request was preempted.
    """

    arrivals: Ints
    starts: Ints
    completions: Ints
    preemptions: Ints

    @property
    def latencies(self) -> Ints:
        """Completion minus arrival, per request, in steps."""
        return self.completions - self.arrivals

    @property
    def total_latency(self) -> int:
        """Total end-to-end latency in steps, exact."""
        latencies = self.latencies  # summed in two halves: the sum may pass 64 bits
        return (int((latencies >> 31).sum()) << 31) + int((latencies & MAX_TOKENS).sum())

    @property
    def mean_latency(self) -> float:
        """Mean latency in steps (0 without requests)."""
        return self.total_latency / max(1, len(self.starts))

    def latency_percentile(self, percent: int) -> int:
        """Least latency that at least `percent` per cent of the requests do not exceed (nearest rank)."""
        n = len(self.starts)
        if not n:
            return 0
        rank = max(0, -(-percent * n // 100) - 1)
        return int(np.partition(self.latencies, rank)[rank])

    @property
    def p95_latency(self) -> int:
        """95th percentile of the latency in steps."""
        return self.latency_percentile(95)

    @property
    def p99_latency(self) -> int:
        """99th percentile of the latency in steps."""
        return self.latency_percentile(99)

    @property
    def makespan(self) -> int:
        """Last completion time in steps (0 without requests)."""
        return int(self.completions.max(initial=0))

    def schedule(self) -> Schedule:
        """Return the start times as a schedule.

        Raises
        ------
        ValueError
            If a request was preempted: then start times do not tell the whole run.
        """
        if self.preemptions.any():
            raise ValueError(f"{int(self.preemptions.sum())} preemptions: the run is not a non-preemptive schedule")
        return Schedule(tuple(self.starts.tolist()))


def simulate(
    instance: Instance,
    policy: Policy,
    admission: str = "strict",
    fit: str = "lookahead",
    known_outputs: Sequence[int] | None = None,
    key_outputs: Sequence[int] | None = None,
    deadline: float | None = None,
) -> SimulationResult:
    """Run a policy on an instance.

    Parameters
    ----------
    instance : Instance
        Ties of the policy are broken by the order of its requests.
    policy : Policy
        The priority key.
    admission : {"strict", "skip", "conservative", "easy"}
        The admission rule.
    fit : {"lookahead", "peak"}
        The fit test.
    known_outputs : sequence of int, optional
        Output lengths that policy and admission see (predictions or class maxima); the true ones by default.
    key_outputs : sequence of int, optional
        Output lengths that the key alone sees, for example one per class; `known_outputs` by default.
    deadline : float, optional
        Value of ``time.monotonic()`` after which to give up.

    Raises
    ------
    InputError
        If a name is unknown, or lengths are missing, out of range or too long to simulate.
    TimeoutError
        If the deadline passed.

    Examples
    --------
    >>> from theory.model import Request
    >>> result = simulate(Instance(8, [Request(6, 1), Request(1, 2), Request(1, 1)]), SVF)
    >>> result.starts.tolist(), result.total_latency
    ([2, 0, 0], 6)
    """
    requests = instance.requests
    prompt = np.array([r.prompt for r in requests], dtype=np.int64)
    output = np.array([r.output for r in requests], dtype=np.int64)
    arrival = np.array([r.arrival for r in requests], dtype=np.int64)
    known = output if known_outputs is None else _lengths("known_outputs", known_outputs, len(requests))
    seen = known if key_outputs is None else _lengths("key_outputs", key_outputs, len(requests))
    rank = ranks(policy, prompt, seen, arrival)
    return simulate_arrays(
        prompt, output, arrival, rank, instance.memory, instance.memory_model, admission, fit, known, deadline
    )


def ranks(policy: Policy, prompt: Ints, known: Ints, arrival: Ints) -> Ints:
    """Position of every request in the key order of a policy; ties go by index.

    Parameters
    ----------
    policy : Policy
        The priority key.
    prompt, known, arrival : int64 arrays
        Prompt lengths, known output lengths (tokens) and arrivals (steps), within the limits of theory.model.

    Examples
    --------
    >>> ranks(SVF, np.array([6, 1, 1]), np.array([1, 2, 1]), np.array([0, 0, 0])).tolist()
    [2, 1, 0]
    """
    if policy.function in _ELEMENTWISE:
        keys = cast(Ints, policy.key(prompt, known, arrival))  # type: ignore[arg-type]
        order = np.argsort(keys, kind="stable")
    else:
        one_by_one = list(map(policy.key, prompt.tolist(), known.tolist(), arrival.tolist()))
        order = np.array(sorted(range(len(prompt)), key=one_by_one.__getitem__), dtype=np.int64)
    rank = np.empty(len(prompt), dtype=np.int64)
    rank[order] = np.arange(len(prompt))
    return rank


def simulate_arrays(
    prompt: Ints,
    output: Ints,
    arrival: Ints,
    rank: Ints,
    memory: int,
    memory_model: MemoryModel = PAPER,
    admission: str = "strict",
    fit: str = "lookahead",
    known: Ints | None = None,
    deadline: float | None = None,
) -> SimulationResult:
    """Run a policy, given by the ranks of the requests, on arrays: for millions of requests.

    Parameters
    ----------
    prompt, output, arrival, rank : int64 arrays of one length
        Prompt and output lengths (tokens), arrivals (steps), positions in key order (see :func:`ranks`).
    memory : int
        Capacity M in tokens.
    memory_model : MemoryModel
        What a running request holds.
    admission, fit, deadline
        As in :func:`simulate`.
    known : int64 array, optional
        Output lengths that the admission rule sees; the true ones by default.

    Raises
    ------
    InputError
        If a name is unknown, or a value is out of range or too long to simulate.
    TimeoutError
        If the deadline passed.
    """
    _check_names(admission, fit)
    _check_arrays(prompt, output, arrival, rank, memory, memory_model)
    n, depth = len(prompt), {"strict": 0, "skip": 0, "easy": 1, "conservative": len(prompt)}[admission]
    order = np.empty(n, dtype=np.int64)
    order[rank] = np.arange(n)
    columns = prompt[order], output[order], arrival[order]
    rules = admission == "strict", depth, fit == "peak"
    if known is None or np.array_equal(known, output):
        starts = _run_with_true_lengths(*columns, memory, memory_model, *rules, deadline)[rank]
        return SimulationResult(arrival, starts, starts + output, np.zeros_like(starts))
    _check_range("known", known, n, 1, MAX_OUTPUT)
    results = _run_with_known_lengths(*columns, known[order], memory, memory_model, *rules, deadline)
    return SimulationResult(arrival, *(column[rank] for column in results))


def _run_with_true_lengths(
    s: Ints,
    o: Ints,
    a: Ints,
    memory: int,
    memory_model: MemoryModel,
    strict: bool,
    depth: int,
    by_peak: bool,
    deadline: float | None,
) -> Ints:
    """Start times of requests in key order."""
    n, longest, block, lag = len(s), int(o.max(initial=1)), memory_model.block, memory_model.lag
    coming = np.argsort(a, kind="stable")
    if by_peak:
        size = -(-(s + o - lag) // block) * block
        first, phase = size, o
    else:
        size, first, phase = s, -(-(s + 1 - lag) // block) * block, (lag - s - 1) % block + 1
    starts, queue = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    state = np.zeros(kernels.STATE_SIZE, dtype=np.int64)
    state[kernels.HEAD] = -1
    kernel: Callable[..., int]
    if strict:
        kernel = partial(kernels.strict, first, phase, o, a, coming, block, memory, starts, queue)
    else:
        tree = np.full((2 << max(0, n - 1).bit_length(), 2), kernels.NOTHING, dtype=np.int64)
        limit = np.empty(longest, dtype=np.int64)
        kernel = partial(
            kernels.backfill, first, phase, o, a, coming, block, memory, starts, queue,
            size, lag, by_peak, depth, tree, limit,
        )  # fmt: skip
    _drive(kernel, 8 * longest + _SPARE, state, n, deadline)
    return starts


def _run_with_known_lengths(
    s: Ints,
    o: Ints,
    a: Ints,
    known: Ints,
    memory: int,
    memory_model: MemoryModel,
    strict: bool,
    depth: int,
    by_peak: bool,
    deadline: float | None,
) -> tuple[Ints, Ints, Ints]:
    """Starts, completions and preemptions of requests in key order."""
    n = len(s)
    coming, starts = np.argsort(a, kind="stable"), np.full(n, -1, dtype=np.int64)
    completions, preemptions, done, queue, running, chosen = np.zeros((6, n), dtype=np.int64)
    kernel = partial(
        kernels_steps.run, s, o, a, known, coming, memory, memory_model.lag, memory_model.block, by_peak, strict,
        depth, starts, completions, preemptions, done, queue, running, chosen,
    )  # fmt: skip
    state = np.zeros(kernels_steps.STATE_SIZE, dtype=np.int64)
    _drive(kernel, int(known.max(initial=1)) + _SPARE, state, n, deadline)
    return starts, completions, preemptions


def _drive(kernel: Callable[..., int], length: int, state: Ints, n: int, deadline: float | None) -> None:
    """Call a kernel until it is finished, with a table of reservations that grows on demand."""
    usage = np.zeros(length, dtype=np.int64)
    while (status := kernel(usage, state, _BUDGET)) != kernels.FINISHED:
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError(f"simulation of {n} requests stopped at its time limit, at step {state[kernels.NOW]}")
        if status == kernels.TOO_SHORT:
            if len(usage) > MAX_HORIZON:
                raise InputError("instance", "is too long to plan ahead", f"keep plans below {MAX_HORIZON} steps")
            usage = np.concatenate([usage, np.zeros_like(usage)])


def _check_names(admission: str, fit: str) -> None:
    for what, name, known in (("admission", admission, list(ADMISSIONS)), ("fit", fit, list(FITS))):
        if name not in known:
            raise InputError(what, f"is {name!r}", f"give one of {', '.join(known)}")


def _lengths(where: str, values: Sequence[int], n: int) -> Ints:
    """Check and convert output lengths given by the caller."""
    if len(values) != n:
        raise InputError(where, f"has {len(values)} lengths for {n} requests", "give one length per request")
    for i, value in enumerate(values):
        if not isinstance(value, int | np.integer) or not 1 <= value <= MAX_TOKENS:
            raise InputError(f"{where}[{i}]", f"is {value!r}", f"give a whole number from 1 to {MAX_TOKENS}")
    return np.array(values, dtype=np.int64)


def _check_range(name: str, array: Ints, n: int, low: int, high: int) -> None:
    if array.dtype != np.int64 or array.shape != (n,):
        raise InputError(name, f"has dtype {array.dtype} and shape {array.shape}", f"give {n} 64-bit integers")
    wrong = np.flatnonzero((array < low) | (array > high))
    if len(wrong):
        i = int(wrong[0])
        raise InputError(f"{name}[{i}]", f"is {array[i]}", f"give {low} to {high}")


def _check_arrays(
    prompt: Ints, output: Ints, arrival: Ints, rank: Ints, memory: int, memory_model: MemoryModel
) -> None:
    """Refuse what would overflow, hang or be infeasible."""
    n = len(prompt)
    for name, array, low, high in (
        ("prompt", prompt, 0, MAX_TOKENS),
        ("output", output, 1, MAX_OUTPUT),
        ("arrival", arrival, 0, MAX_STEPS),
        ("rank", rank, 0, n - 1),
    ):
        _check_range(name, array, n, low, high)
    if n and np.bincount(rank).max() > 1:
        raise InputError("rank", "repeats a position", "give every request a rank of its own")
    if not 1 <= memory <= MAX_STEPS:
        raise InputError("memory", f"is {memory}", f"give 1 to {MAX_STEPS} tokens")
    peaks = -(-(prompt + output - memory_model.lag) // memory_model.block) * memory_model.block
    wrong = np.flatnonzero(peaks > memory)
    if len(wrong):
        i = int(wrong[0])
        raise InputError(
            f"requests[{i}]",
            f"holds {peaks[i]} tokens in its last step, more than the memory of {memory}",
            "drop the request or give more memory",
        )
