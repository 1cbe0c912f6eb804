"""Scheduling policies: a priority key and an admission rule, as small pure functions.

The simulator and the vLLM scheduler call these same functions; they know neither. Three choices make a policy:

- a **key**, static per request: the waiting queue is served in ascending key, ties by submission order;
- an **admission rule**: which of the waiting requests start now;
- a **fit test**, given by what a request *reserves* in each of its remaining steps: what it will hold
  (`lookahead`: with everything active run to completion no step in which the candidate runs exceeds M) or its peak
  throughout (`peak`: the sum of active peaks stays at most M). A request fits at a start time if, in every step in
  which it would run, its reservation and those already made sum to at most M.

Lengths are what the scheduler *knows*: true, predicted or a class maximum. A request that outlives its known
length counts as needing one more step. A reservation above M is cut to M (the true need never exceeds M, so such a
prediction is known to be wrong); hence the head always fits when nothing runs, and every rule makes progress.

References
----------
.. [kong2026] Kong, Qi, Ye, Zhou, "Geometry-Aware Online Scheduling for LLM Serving", arXiv 2606.22327
   (SVF, 1-bit SVF, strict admission by look-ahead).
.. [lifka1995] Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995 (EASY backfilling).
.. [mualem2001] Mu'alem, Feitelson, "Utilization, Predictability, Workloads, and User Runtime Estimates in
   Scheduling the IBM SP2 with Backfilling", IEEE TPDS 12(6), 2001 (conservative backfilling).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isqrt
from operator import add
from typing import Any, NamedTuple

from theory.errors import InputError
from theory.model import MemoryModel

# ---------------------------------------------------------------- priority keys


def fcfs(prompt: int, output: int, arrival: int) -> int:
    """First come, first served: the arrival."""
    return arrival


def sjf(prompt: int, output: int, arrival: int) -> int:
    """Shortest job first: the known output length."""
    return output


def svf(prompt: int, output: int, arrival: int) -> int:
    """Smallest volume first: ``s o + o (o + 1) / 2`` of the known output length [kong2026]_."""
    return prompt * output + output * (output + 1) // 2


def one_bit_svf(prompt: int, output: int, arrival: int, threshold: int, short: int, long: int) -> int:
    """SVF with one bit of length: `short` stands for output lengths up to `threshold`, `long` for others."""
    return svf(prompt, short + (long - short) * (output > threshold), arrival)


@dataclass(frozen=True, slots=True)
class Policy:
    """A named priority key.

    Parameters
    ----------
    name : str
        What reports call it.
    function : callable
        ``function(prompt, output, arrival, *parameters)`` returns the key of a request: an integer, or anything
        that sorts. `output` is the known output length. Smaller keys start first.
    parameters : tuple of int
        Further arguments of `function`.

    Examples
    --------
    >>> SVF.key(prompt=3, output=4, arrival=0)
    22
    >>> Policy("widest first", lambda prompt, output, arrival: -prompt).key(3, 4, 0)
    -3
    """

    name: str
    function: Callable[..., Any]
    parameters: tuple[int, ...] = ()

    def key(self, prompt: int, output: int, arrival: int) -> Any:
        """Return the key of one request."""
        return self.function(prompt, output, arrival, *self.parameters)


FCFS = Policy("fcfs", fcfs)
SJF = Policy("sjf", sjf)
SVF = Policy("svf", svf)


def one_bit(threshold: int, short: int, long: int) -> Policy:
    """1-bit SVF with integer proxy lengths for the classes short (outputs up to `threshold`) and long (steps)."""
    if not 0 < short <= long:
        raise InputError("svf-1bit", f"has the proxy lengths {short} and {long}", "give 0 < short <= long")
    return Policy("svf-1bit", one_bit_svf, (threshold, short, long))


def one_bit_for(largest: int) -> Policy:
    """1-bit SVF with the threshold ``sqrt T`` and proxies ``T^(1/4)``, ``T^(3/4)`` of [kong2026]_, theorem 3.3.

    Parameters
    ----------
    largest : int
        T, the largest output length (steps). Roots are rounded down.

    Examples
    --------
    >>> one_bit_for(256).parameters
    (16, 4, 64)
    """
    threshold = max(1, isqrt(largest))
    return one_bit(threshold, max(1, isqrt(threshold)), max(1, isqrt(threshold * largest)))


#: Names of the policies, as the command line and certificates know them.
POLICIES = ("svf", "sjf", "fcfs", "svf-1bit")


def named_policy(name: str, largest: int) -> Policy:
    """Return the policy of that name.

    Parameters
    ----------
    name : {"svf", "sjf", "fcfs", "svf-1bit"}
    largest : int
        Largest output length (tokens): it sets threshold and proxies of 1-bit SVF (:func:`one_bit_for`).

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> named_policy("svf-1bit", 256).parameters
    (16, 4, 64)
    """
    if name == "svf-1bit":
        return one_bit_for(largest)
    for policy in (SVF, SJF, FCFS):
        if policy.name == name:
            return policy
    raise InputError("--policy", f"is {name!r}", f"give one of {', '.join(POLICIES)}")


# ------------------------------------------------- what requests reserve


class Job(NamedTuple):
    """What a scheduler sees of a request, waiting or running.

    `prompt` and `output` are its prompt length and *known* output length (tokens), `done` the tokens generated so
    far: not 0 for a running request, nor for a waiting one that was preempted (its next step recomputes them).
    """

    prompt: int
    output: int
    done: int = 0


#: Tokens that a job reserves in each of its remaining steps, never decreasing.
Fit = Callable[[Job, MemoryModel], list[int]]


def lookahead(job: Job, memory_model: MemoryModel) -> list[int]:
    """Reserve in every step what the job will hold then.

    Examples
    --------
    >>> from theory.model import PAPER
    >>> lookahead(Job(5, 3), PAPER), lookahead(Job(5, 3, done=2), PAPER), lookahead(Job(5, 3, done=7), PAPER)
    ([6, 7, 8], [8], [13])
    """
    last = max(job.output, job.done + 1)
    return [memory_model.held(job.prompt, step) for step in range(job.done + 1, last + 1)]


def peak(job: Job, memory_model: MemoryModel) -> list[int]:
    """Reserve in every step what the job will hold in its last.

    Examples
    --------
    >>> from theory.model import PAPER
    >>> peak(Job(5, 3), PAPER)
    [8, 8, 8]
    """
    last = max(job.output, job.done + 1)
    return [memory_model.peak(job.prompt, last)] * (last - job.done)


def reserved(running: Iterable[Job], memory: int, memory_model: MemoryModel, fit: Fit) -> list[int]:
    """Tokens reserved by the running jobs in the next step, the one after it, and so on while something runs."""
    usage: list[int] = []
    for job in running:
        reserve(usage, _cut(job, memory, memory_model, fit), 0)
    return usage


def reserve(usage: list[int], tokens: list[int], delay: int) -> None:
    """Add to `usage`, in place, a job that starts `delay` steps from now."""
    shared = usage[delay : delay + len(tokens)]
    usage[delay : delay + len(tokens)] = [*map(add, shared, tokens), *tokens[len(shared) :]]


def fits(usage: Sequence[int], tokens: Sequence[int], memory: int) -> bool:
    """Whether a job that reserves `tokens` can start now."""
    return all(a + b <= memory for a, b in zip(usage, tokens, strict=False))


def earliest_delay(usage: Sequence[int], tokens: Sequence[int], memory: int) -> int:
    """Least number of steps from now after which a job that reserves `tokens` fits.

    One pass: if a step is too full for start `delay`, the next start worth trying is the one with which the job is
    young enough in that step to fit. Steps before need no second look, as a later start holds less in them.

    Examples
    --------
    >>> earliest_delay([5, 5, 2], [3, 4, 5], memory=8)
    1
    """
    delay = 0
    for step, used in enumerate(usage):
        if step == delay + len(tokens):
            break
        if tokens[step - delay] > memory - used:
            delay = step + 1 - bisect_right(tokens, memory - used)
    return delay


def _cut(job: Job, memory: int, memory_model: MemoryModel, fit: Fit) -> list[int]:
    """Tokens reserved, at most `memory` in a step."""
    tokens = fit(job, memory_model)
    return tokens if tokens[-1] <= memory else [min(t, memory) for t in tokens]


# ---------------------------------------------------------------- admission rules

#: ``rule(waiting, usage, memory, memory_model, fit)``: positions in `waiting` (in key order) that start now, given
#: what the running jobs reserve.
Rule = Callable[[Sequence[Job], Sequence[int], int, MemoryModel, Fit], list[int]]


def strict(waiting: Sequence[Job], usage: Sequence[int], memory: int, memory_model: MemoryModel, fit: Fit) -> list[int]:
    """Start in key order; stop at the first job that does not fit."""
    usage, started = list(usage), []
    for position, job in enumerate(waiting):
        tokens = _cut(job, memory, memory_model, fit)
        if not fits(usage, tokens, memory):
            break
        reserve(usage, tokens, 0)
        started.append(position)
    return started


def skip(waiting: Sequence[Job], usage: Sequence[int], memory: int, memory_model: MemoryModel, fit: Fit) -> list[int]:
    """Start in key order every job that fits, past those that do not (no bounded competitive ratio: R3)."""
    usage, started = list(usage), []
    for position, job in enumerate(waiting):
        tokens = _cut(job, memory, memory_model, fit)
        if fits(usage, tokens, memory):
            reserve(usage, tokens, 0)
            started.append(position)
    return started


def conservative(
    waiting: Sequence[Job], usage: Sequence[int], memory: int, memory_model: MemoryModel, fit: Fit
) -> list[int]:
    """Conservative backfilling: no job delays one before it in key order [mualem2001]_.

    Every waiting job is planned, in key order, at the earliest start at which it fits with all that runs or was
    planned before it; those planned for now start. Planning afresh in every step changes no plan until a job
    arrives or a length proves wrong. With the fit `peak` a plan reserves peaks, now and in the future.
    """
    usage, started = list(usage), []
    for position, job in enumerate(waiting):
        tokens = _cut(job, memory, memory_model, fit)
        delay = earliest_delay(usage, tokens, memory)
        reserve(usage, tokens, delay)
        if delay == 0:
            started.append(position)
    return started


def easy(waiting: Sequence[Job], usage: Sequence[int], memory: int, memory_model: MemoryModel, fit: Fit) -> list[int]:
    """EASY backfilling: only the first job that does not fit gets a reservation [lifka1995]_ (refuted: T9)."""
    usage, started, head_waits = list(usage), [], False
    for position, job in enumerate(waiting):
        tokens = _cut(job, memory, memory_model, fit)
        if fits(usage, tokens, memory):
            reserve(usage, tokens, 0)
            started.append(position)
        elif not head_waits:
            reserve(usage, tokens, earliest_delay(usage, tokens, memory))
            head_waits = True
    return started


ADMISSIONS: dict[str, Rule] = {"strict": strict, "skip": skip, "conservative": conservative, "easy": easy}
FITS: dict[str, Fit] = {"lookahead": lookahead, "peak": peak}


def admit(
    waiting: Sequence[Job],
    running: Iterable[Job],
    memory: int,
    memory_model: MemoryModel,
    admission: str = "strict",
    fit: str = "lookahead",
) -> list[int]:
    """Positions in `waiting` (jobs in key order) of the jobs that start now.

    Parameters
    ----------
    waiting, running : jobs
        With their known lengths.
    memory : int
        Capacity M in tokens.
    memory_model : MemoryModel
        What a running request holds.
    admission : {"strict", "skip", "conservative", "easy"}
        The admission rule.
    fit : {"lookahead", "peak"}
        The fit test.

    Examples
    --------
    >>> from theory.model import PAPER
    >>> waiting = [Job(1, 2), Job(6, 1), Job(1, 1)]
    >>> admit(waiting, [], 8, PAPER), admit(waiting, [], 8, PAPER, "skip")
    ([0], [0, 2])
    >>> admit(waiting, [Job(6, 9, done=0)], 8, PAPER)  # a prediction above M reserves M
    []
    """
    if not waiting:
        return []
    test = FITS[fit]
    return ADMISSIONS[admission](waiting, reserved(running, memory, memory_model, test), memory, memory_model, test)


def victims(running: Sequence[Job], memory: int, memory_model: MemoryModel) -> int:
    """Number of running jobs to preempt, from the end of `running` (in the order of their starts), as vLLM does.

    The jobs that stay are those that fit in the next step. A preempted job keeps its tokens, waits again under its
    key, and recomputes: once back it goes on from ``prompt + done``. Nothing starts in a step with a preemption.
    True lengths and any rule of this module never lead to one.

    Examples
    --------
    >>> from theory.model import PAPER
    >>> victims([Job(3, 5, done=2), Job(1, 2, done=2), Job(0, 3, done=1)], 8, PAPER)
    2
    """
    need, kept = 0, 0
    for job in running:
        need += memory_model.held(job.prompt, job.done + 1)
        if need > memory:
            break
        kept += 1
    return len(running) - kept
