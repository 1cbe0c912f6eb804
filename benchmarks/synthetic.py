"""Synthetic request lengths of the shape of a chat service's: right-skewed prompts and outputs, seeded.

``python -m benchmarks.synthetic`` writes examples/chat_trace.csv and examples/served_log.jsonl again, bit for bit.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runtime.policies import FCFS
from runtime.simulator import ranks, simulate_arrays
from theory.instance_json import write_text

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: Step length of the example log, in nanoseconds.
STEP = 25_000_000


def chat_lengths(count: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Prompt and output lengths in tokens: log-normal, medians 700 and 130, cut at 12000 and 1000 tokens."""
    random = np.random.default_rng(seed)
    prompt = np.clip(np.rint(random.lognormal(np.log(700), 1.1, count)), 1, 12_000)
    output = np.clip(np.rint(random.lognormal(np.log(130), 0.9, count)), 1, 1_000)
    return prompt.astype(np.int64), output.astype(np.int64)


def chat_trace(count: int = 500, seed: int = 2026) -> str:
    """A trace in the Azure format: exponential gaps with a mean of 0.18 s; one request in 250 got no answer."""
    prompt, output = chat_lengths(count, seed)
    output[99::250] = 0
    gaps = np.random.default_rng(seed + 1).exponential(0.18e7, count)  # in units of 100 ns
    times = np.datetime64("2026-01-05T09:00:00", "ns") + np.cumsum(np.rint(gaps)).astype(np.int64) * 100
    rows = zip(np.datetime_as_string(times, unit="ns"), prompt, output, strict=True)
    lines = [f"{time[:-2].replace('T', ' ')},{s},{o}\n" for time, s, o in rows]
    return "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(lines)


def served_log(count: int = 60, seed: int = 2026) -> str:
    """A log with the times of a first-come-first-served run, 20000 tokens of memory, in steps of 25 ms."""
    prompt, output = chat_lengths(count, seed)
    random = np.random.default_rng(seed + 2)
    came = np.cumsum(np.rint(random.exponential(6.0, count) * STEP)).astype(np.int64)  # nanoseconds
    arrival = -(-came // STEP)
    run = simulate_arrays(prompt, output, arrival, ranks(FCFS, prompt, output, arrival), 20_000)
    rows = zip(prompt, output, came / 1e9, run.starts * STEP / 1e9, run.completions * STEP / 1e9, strict=True)
    keys = ("prompt", "output", "arrival_seconds", "start_seconds", "finish_seconds")
    lines = (dict(zip(keys, (int(s), int(o), *map(float, times)), strict=True)) for s, o, *times in rows)
    return "".join(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    write_text(EXAMPLES / "chat_trace.csv", chat_trace())
    write_text(EXAMPLES / "served_log.jsonl", served_log())
