"""Slow and literal answers, written for the tests alone, that claims about small instances are compared with."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any

import pytest

Data = dict[str, Any]


def holdings(instance: Data, request: Data) -> list[int]:
    """Tokens held in each step of a request's run."""
    model = instance.get("memory_model", {})
    lag, block = model.get("lag", 0), model.get("block", 1)
    tokens = [request["prompt"] + j - lag for j in range(1, request["output"] + 1)]
    return [next(x for x in count(n) if x % block == 0) for n in tokens]


def fits(instance: Data, usage: dict[int, int], start: int, tokens: list[int]) -> bool:
    return all(usage.get(start + j, 0) + held <= instance["memory"] for j, held in enumerate(tokens, 1))


def with_run(usage: dict[int, int], start: int, tokens: list[int]) -> dict[int, int]:
    return usage | {start + j: usage.get(start + j, 0) + held for j, held in enumerate(tokens, 1)}


def latency_of_schedule(instance: Data, starts: list[int]) -> int | None:
    """Total latency, or None if the schedule is not feasible."""
    usage: dict[int, int] = {}
    total = 0
    if len(starts) != len(instance["requests"]):
        return None
    for start, request in zip(starts, instance["requests"], strict=True):
        tokens = holdings(instance, request)
        if start < request.get("arrival", 0) or not fits(instance, usage, start, tokens):
            return None
        usage = with_run(usage, start, tokens)
        total += start + request["output"] - request.get("arrival", 0)
    return total


@cache
def _least(text: str) -> int:
    instance = json.loads(text)
    requests = instance["requests"]
    runs = [(r.get("arrival", 0), holdings(instance, r)) for r in requests]
    if sum(tokens[-1] for _, tokens in runs) <= instance["memory"]:
        return sum(len(tokens) for _, tokens in runs)
    now = best = 0
    for arrival, tokens in sorted(runs):  # one after the other: a first schedule
        now = max(now, arrival)
        best += now - arrival
        now += len(tokens)

    def place(i: int, usage: dict[int, int], waited: int) -> None:
        nonlocal best
        if i == len(runs):
            best = min(best, waited)
            return
        arrival, tokens = runs[i]
        for start in range(arrival, arrival + best - waited):
            if fits(instance, usage, start, tokens):
                place(i + 1, with_run(usage, start, tokens), waited + start - arrival)

    place(0, {}, 0)
    return best + sum(len(tokens) for _, tokens in runs)


@pytest.fixture(scope="session")
def schedule_latency() -> Callable[[Data, list[int]], int | None]:
    """Total latency of a schedule, None if it is not feasible."""
    return latency_of_schedule


@pytest.fixture(scope="session")
def least_latency() -> Callable[[Data], int]:
    """The optimum of an instance of a few requests, by trying all start times of all requests."""
    return lambda instance: _least(json.dumps(instance, sort_keys=True))


@pytest.fixture(scope="session")
def policy_latency() -> Callable[[Data, Data], int]:
    """Total latency under a policy, by looking at every request in every step."""
    return run_policy


def run_policy(instance: Data, policy: Data) -> int:
    requests = instance["requests"]
    arrivals = [r.get("arrival", 0) for r in requests]

    def key(i: int) -> tuple[int, int]:
        prompt, output = requests[i]["prompt"], requests[i]["output"]
        if policy["name"] == "fcfs":
            return arrivals[i], i
        if policy["name"] == "sjf":
            return output, i
        if policy["name"] == "svf-1bit":
            output = policy["proxy_long"] if output > policy["threshold"] else policy["proxy_short"]
        return sum(prompt + j for j in range(1, output + 1)), i

    def reserved(i: int) -> list[int]:
        tokens = holdings(instance, requests[i])
        return [tokens[-1]] * len(tokens) if policy["fit"] == "peak" else tokens

    starts: dict[int, int] = {}
    now = 0
    while len(starts) < len(requests):
        waiting = sorted((i for i in range(len(requests)) if i not in starts and arrivals[i] <= now), key=key)
        usage: dict[int, int] = {}
        for i, start in starts.items():
            if start + requests[i]["output"] > now:
                usage = with_run(usage, start, reserved(i))
        if not waiting and not usage:
            now = min(arrivals[i] for i in range(len(requests)) if i not in starts)
            continue
        for i in waiting:
            if policy["admission"] == "conservative":
                start = next(t for t in count(now) if fits(instance, usage, t, reserved(i)))
                usage = with_run(usage, start, reserved(i))
                if start == now:
                    starts[i] = now
            elif fits(instance, usage, now, reserved(i)):
                usage = with_run(usage, now, reserved(i))
                starts[i] = now
            elif policy["admission"] == "strict":
                break
        now += 1
    return sum(start + requests[i]["output"] - arrivals[i] for i, start in starts.items())
