"""Public traces with Poisson arrivals: certified ratios of the policies by load, over independent seeds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from lp_bounds.mean_busy_time_fast import fast_bound, volumes
from runtime.poisson_stats import mean_estimate
from runtime.policies import POLICIES, named_policy
from runtime.simulator import ranks, simulate_arrays
from runtime.trace_arrivals import arrival_steps
from runtime.trace_select import peaks, select
from runtime.traces import read_trace
from theory.model import PAPER

#: File name and memory in tokens; rows whose peak is above the memory are dropped.
TRACES = (
    ("azure_2023_conv.csv", 60_000),
    ("azure_2023_code.csv", 60_000),
    ("arxiv_summarization_lengths.csv", 60_000),
    ("mooncake_conversation.jsonl", 600_000),
    ("mooncake_synthetic.jsonl", 600_000),
)


def trace_row(folder: Path, name: str, memory: int, load: Fraction, seeds: Sequence[int]) -> dict[str, Any]:
    """Certified ratios of the policies on a trace whose arrivals are replaced by a Poisson process.

    Requests keep the order of the file, so the seeds vary the arrivals only. Strict admission, look-ahead fit,
    true lengths in the fit test. Intervals are over the seeds.

    Raises
    ------
    InputError
        If the file cannot be read or is no trace.
    """
    kept, dropped = select(read_trace(folder / name), memory)
    volume = volumes(kept.prompt, kept.output, PAPER)
    ratios: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    latency: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    bounds: list[str] = []
    for seed in seeds:
        arrival = arrival_steps(kept, volume, memory, "poisson", load=load, seed=seed)
        bound = fast_bound(kept.prompt, kept.output, arrival, memory)
        bounds.append(bound.name)
        for policy in POLICIES:
            rank = ranks(named_policy(policy, int(kept.output.max())), kept.prompt, kept.output, arrival)
            run = simulate_arrays(kept.prompt, kept.output, arrival, rank, memory)
            ratios[policy].append(float(run.total_latency / bound.value))
            latency[policy].append(run.mean_latency)
    return {
        "experiment": "trace",
        "trace": name,
        "memory": memory,
        "alpha": float(f"{peaks(kept, PAPER).max() / memory:.6g}"),
        "load": float(load),
        "requests": len(kept),
        "dropped": dropped,
        "seeds": list(seeds),
        "mean_output": float(f"{kept.output.mean():.8g}"),
        "bounds": sorted(set(bounds)),
        "policies": {
            policy: {
                "certified": mean_estimate(ratios[policy]).row(),
                "worst_certified": float(f"{max(ratios[policy]):.8g}"),
                "mean_latency": mean_estimate(latency[policy]).row(),
            }
            for policy in POLICIES
        },
    }
