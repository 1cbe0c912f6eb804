"""Schedules and policy runs, re-derived for the certificate checker (standard library only).

Between two completions the tokens held only grow: a start adds tokens, and what a running request holds never
shrinks. So a schedule respects the memory in every step if it does in the steps in which a request completes,
and every test below looks at those steps only. Its cost does not depend on how long the requests are.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from lp_bounds.checker_input import Clock, Job, Problem, RefusedError


class Policy(NamedTuple):
    """A policy as data. `threshold` and the proxies are outputs in tokens, used by ``svf-1bit`` only."""

    name: str
    admission: str
    fit: str
    threshold: int = 0
    proxy_short: int = 0
    proxy_long: int = 0


def latency_of(problem: Problem, starts: tuple[int, ...], where: str, clock: Clock) -> int:
    """Total latency of a schedule, or RefusedError if it is not feasible."""
    if len(starts) != len(problem.jobs):
        raise RefusedError(where, f"has {len(starts)} entries for {len(problem.jobs)} requests")
    for i, (start, job) in enumerate(zip(starts, problem.jobs, strict=True)):
        if start < job.arrival:
            raise RefusedError(f"{where}[{i}]", f"is {start}, before the arrival at {job.arrival}")
    by_start = sorted(zip(starts, problem.jobs, strict=True))
    running: list[tuple[int, int, Job]] = []  # heap of (completion, start, request)
    begun = 0
    for step in sorted({start + job.output for start, job in by_start}):
        clock.check()
        while begun < len(by_start) and by_start[begun][0] < step:
            start, job = by_start[begun]
            heappush(running, (start + job.output, start, job))
            begun += 1
        tokens = sum(problem.held(job.prompt, step - start) for _, start, job in running)
        if tokens > problem.memory:
            raise RefusedError(where, f"step {step} holds {tokens} tokens, more than the memory")
        while running and running[0][0] <= step:
            heappop(running)
    return sum(start + job.output - job.arrival for start, job in by_start)


class _Timeline:
    """What the requests running, or planned to run, hold in the steps in which one of them completes.

    With `peak` a request counts with its peak in every step of its run (peak reservation). A look-ahead test or
    a peak test of a start is then the same question: do the tokens stay within the memory in all steps?
    """

    def __init__(self, problem: Problem, peak: bool) -> None:
        self.problem, self.peak = problem, peak
        self.members: list[tuple[int, Job]] = []
        self.steps: list[int] = []  # completions, ascending
        self.load: dict[int, int] = {}  # tokens held in them

    def _held(self, job: Job, step: int) -> int:
        return self.problem.held(job.prompt, job.output if self.peak else step)

    def _total(self, step: int) -> int:
        return sum(self._held(j, step - t) for t, j in self.members if t < step <= t + j.output)

    def add(self, start: int, job: Job) -> None:
        """Let a request run from `start` on."""
        end = start + job.output
        if end not in self.load:
            self.load[end] = self._total(end)
            insort(self.steps, end)
        for step in self.steps[bisect_right(self.steps, start) : bisect_right(self.steps, end)]:
            self.load[step] += self._held(job, step - start)
        self.members.append((start, job))

    def forget(self, now: int) -> None:
        """Drop what has completed."""
        gone = bisect_right(self.steps, now)
        for step in self.steps[:gone]:
            del self.load[step]
        if gone:
            self.steps = self.steps[gone:]
            self.members = [(t, j) for t, j in self.members if t + j.output > now]

    def next_try(self, start: int, job: Job) -> int:
        """Return `start` if the request fits then; else a later time before which it cannot fit.

        If step x is too full, a start s' < x must leave it at most `room` in x, that is x - s' must be small
        enough; or it starts at x or later.
        """
        end = start + job.output
        steps = self.steps[bisect_right(self.steps, start) : bisect_right(self.steps, end)]
        loads = [(step, self.load[step]) for step in steps]
        if end not in self.load:
            loads.append((end, self._total(end)))
        for step, tokens in loads:
            room = self.problem.memory - tokens
            if self._held(job, step - start) > room:
                if self.peak:
                    return step
                block = self.problem.block
                latest_step = room // block * block - job.prompt + self.problem.lag
                return max(start + 1, step - max(latest_step, 0))
        return start

    def earliest(self, start: int, job: Job, clock: Clock) -> int:
        """The earliest time, `start` or later, at which the request fits."""
        while (later := self.next_try(start, job)) != start:
            start = later
            clock.check()
        return start


def _key(problem: Problem, policy: Policy) -> Callable[[int], tuple[int, int]]:
    """The policy's priority of a request by its index; ties are broken by the index."""

    def volume(prompt: int, output: int) -> int:
        return prompt * output + (output * output + output) // 2

    def key(i: int) -> tuple[int, int]:
        job = problem.jobs[i]
        if policy.name == "fcfs":
            return job.arrival, i
        if policy.name == "sjf":
            return job.output, i
        if policy.name == "svf":
            return volume(job.prompt, job.output), i
        proxy = policy.proxy_long if job.output > policy.threshold else policy.proxy_short
        return volume(job.prompt, proxy), i

    return key


def simulate(problem: Problem, policy: Policy, clock: Clock) -> tuple[int, ...]:
    """Start times under the policy, whose admission test knows the true output lengths.

    Time jumps from event to event. Without an arrival or a start, whether a request fits by look-ahead or by
    peak depends on the time only through ``next_try``, so nothing can start before the least of those.
    Conservative backfilling plans at arrivals only: without a new request a plan made again is the same plan,
    since what has started runs where it was planned.
    """
    jobs, key = problem.jobs, _key(problem, policy)
    to_come = [(job.arrival, i) for i, job in enumerate(jobs)]
    heapify(to_come)
    running = _Timeline(problem, policy.fit == "peak")
    waiting: list[tuple[tuple[int, int], int]] = []  # (key, index), in key order
    starts = [-1] * len(jobs)
    plan: dict[int, int] = {}
    wake = 0
    while waiting or to_come:
        now = to_come[0][0] if not waiting else wake
        arrived = False
        while to_come and to_come[0][0] <= now:
            i = heappop(to_come)[1]
            insort(waiting, (key(i), i))
            arrived = True
        running.forget(now)
        if policy.admission == "conservative":
            if arrived:
                plan = _plan(problem, running, waiting, now, clock)
            begin = [i for _, i in waiting if plan[i] == now]
            for i in begin:
                running.add(now, jobs[i])
            later = [plan[i] for _, i in waiting if plan[i] > now]
        else:
            begin, later = _scan(problem, running, waiting, now, policy.admission == "skip", clock)
        for i in begin:
            starts[i] = now
        waiting = [(k, i) for k, i in waiting if starts[i] < 0]
        wake = min(later + [arrival for arrival, _ in to_come[:1]], default=now)
    return tuple(starts)


def _scan(
    problem: Problem,
    running: _Timeline,
    waiting: list[tuple[tuple[int, int], int]],
    now: int,
    skip: bool,
    clock: Clock,
) -> tuple[list[int], list[int]]:
    """Start what fits, in key order; without `skip` stop at the first that does not. Also: when to look again."""
    begin: list[int] = []
    later: dict[tuple[int, int], int] = {}  # equal lengths do not fit either: what runs only grows in this scan
    for _, i in waiting:
        job = problem.jobs[i]
        size = (job.prompt, job.output)
        if size in later:
            continue
        clock.check()
        time = running.next_try(now, job)
        if time == now:
            running.add(now, job)
            begin.append(i)
        else:
            later[size] = time
            if not skip:
                break
    return begin, list(later.values())


def _plan(
    problem: Problem, running: _Timeline, waiting: list[tuple[tuple[int, int], int]], now: int, clock: Clock
) -> dict[int, int]:
    """Conservative backfilling: in key order, each waiting request gets the earliest start that fits."""
    timeline = _Timeline(problem, running.peak)
    for start, job in running.members:
        timeline.add(start, job)
    plan = {}
    for _, i in waiting:
        plan[i] = timeline.earliest(now, problem.jobs[i], clock)
        timeline.add(plan[i], problem.jobs[i])
    return plan
