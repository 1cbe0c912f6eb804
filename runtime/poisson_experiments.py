"""The experiments on Poisson arrivals, as rows of data: the paper's bounds beside what happens.

Each function returns one JSON row, the same for the same arguments. Numbers with an interval are pairs
``[value, half-width]`` (95 per cent, see :mod:`runtime.poisson_stats`); ratios called certified divide by a proven
lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from runtime.poisson_law import Ints, Law, fixed, geometric, independent, mean, volume
from runtime.poisson_sample import (
    Queue,
    Totals,
    periods_of,
    run_path,
    run_queue,
    with_load,
    with_rho,
)
from runtime.poisson_stats import batch_means, mean_estimate, ratio_estimate
from runtime.policies import FCFS, SJF, SVF, Policy, one_bit
from theory.errors import InputError
from theory.poisson import one_bit_factor, paced_wait, paper_bound, saturated_cycle, sharper_bound, wait_bound
from theory.poisson_peak import peak_wait_bound

Row = dict[str, Any]


def class_means(law: Law, threshold: int) -> Policy:
    """One-bit SVF that ranks by the class mean of the length, rounded to whole tokens.

    Examples
    --------
    >>> class_means(independent(fixed(0), geometric(Fraction(1, 10), 100)), 10).parameters
    (10, 5, 20)
    """
    short, long = (_conditional_mean(law, threshold, above) for above in (False, True))
    first = round(short) if short is not None else 1
    return one_bit(threshold, first, max(first, round(long)) if long is not None else first)


def _conditional_mean(law: Law, threshold: int, above: bool) -> Fraction | None:
    inside = {pair: weight for pair, weight in law.items() if (pair[1] > threshold) == above}
    mass = sum(inside.values(), start=Fraction(0))
    return mean(inside, lambda _s, o: o) / mass if mass else None


def geometric_queue(
    success: Fraction,
    cap: int,
    prompts: Sequence[int],
    alpha: Fraction,
    *,
    rho: Fraction | None,
    load: Fraction | None,
) -> Queue:
    """Lengths ``min(o, cap)``, prompts equally likely, and memory ``floor(P/alpha)``; give rho or the load."""
    law = independent({s: Fraction(1, len(prompts)) for s in prompts}, geometric(success, cap))
    memory = (max(prompts) + cap) * alpha.denominator // alpha.numerator
    if rho is not None:
        return with_rho(law, memory, rho)
    if load is None:
        raise InputError("load", "is not given", "give rho or the load")
    return with_load(law, memory, load)


def compare(
    success: Fraction,
    cap: int,
    prompts: Sequence[int],
    alpha: Fraction,
    *,
    rho: Fraction | None = None,
    load: Fraction | None = None,
    requests: int,
    paths: int,
    seed: int,
) -> Row:
    """The paper's bounds, ours, and the simulated and certified ratios of every policy, for one queue.

    Under ``bounds``: right-hand sides of a bound on ``E[ALG]/E[OPT]``; None where the bound says nothing.
    ``paper`` is v2's formula and ``sharper`` the one of theory.poisson corrected for the cut, both with rho of the
    cut law; the others are ``1 + (bound on the mean wait)/E[o]``.
    """
    queue = geometric_queue(success, cap, prompts, alpha, rho=rho, load=load)
    threshold = max(1, round(1 / success))
    policies = [SVF, SJF, FCFS, class_means(queue.law, threshold)]
    totals = run_queue(queue, policies, requests, paths, seed)
    return {
        "experiment": "grid" if rho is not None else "load",
        "mu": str(success),
        "cap": cap,
        "prompts": list(prompts),
        "memory": queue.memory,
        "alpha": str(alpha),
        "rho": _float(queue.rho),
        "load": _float(queue.load),
        "mean_output": _float(queue.mean_output),
        "threshold": threshold,
        "requests": requests,
        "paths": paths,
        "seed": seed,
        "bounds": _bounds(queue, success, prompts, policies),
        "policies": {p.name: _totals_row(queue, t) for p, t in zip(policies, totals, strict=True)},
    }


def _bounds(
    queue: Queue, success: Fraction, prompts: Sequence[int], policies: Sequence[Policy]
) -> dict[str, float | None]:
    alpha, prompt = Fraction(queue.peak, queue.memory), Fraction(sum(prompts), len(prompts))
    paper = sharper = None
    if queue.rho < 1:
        longest = max(o for _, o in queue.law)
        paper = _float(paper_bound(success, alpha, queue.rho))
        excess = sharper_bound(success, prompt, queue.rho) - 1
        sharper = _float(1 + excess / (1 - (1 - success) ** longest))  # what the cut takes from E[o]
    bounds = {"paper": paper, "sharper": sharper, "wait": _from_wait(queue, wait_bound)}
    return bounds | {f"peak {p.name}": _from_wait(queue, peak_wait_bound, static_key(p)) for p in policies}


def static_key(policy: Policy) -> Callable[[int, int], int]:
    """The key of a policy without the arrival, as :mod:`theory.poisson_peak` wants it: constant for FCFS."""
    return lambda prompt, output: policy.key(prompt, output, 0)


def _from_wait(queue: Queue, bound: Callable[..., Fraction], *key: Callable[[int, int], int]) -> float | None:
    try:
        return _float(1 + bound(queue.law, queue.memory, queue.rate, *key) / queue.mean_output)
    except InputError:  # the load is beyond what the bound covers
        return None


def _totals_row(queue: Queue, totals: Totals) -> Row:
    wait, length = totals.mean_wait, float(queue.mean_output)
    return {
        "certified": _float(totals.certified),
        "ratio_of_means": totals.ratio_of_means.row(),
        "mean_of_ratios": totals.mean_of_ratios.row(),
        "wait": wait.row(),
        "latency_over_length": [float(f"{1 + wait.value / length:.8g}"), float(f"{wait.half_width / length:.3g}")],
        "drift": totals.mean_drift.row(),
    }


def readings(
    success: Fraction, cap: int, prompt: int, alpha: Fraction, load: Fraction, requests: int, seed: int
) -> Row:
    """Both readings of ``E[CR]`` for SVF on one long run: ratio of expectations, and ratios over busy periods.

    Also the mean latency by batch means and by the regenerative estimator, which must agree.
    """
    queue = geometric_queue(success, cap, [prompt], alpha, rho=None, load=load)
    path = queue.path(requests, (seed, 0))
    run = run_path(path, queue.memory, SVF)
    periods = periods_of(path, run, queue.memory)
    largest = int(periods.requests.max(initial=0))
    return {
        "experiment": "readings",
        "mu": str(success),
        "cap": cap,
        "prompts": [prompt],
        "memory": queue.memory,
        "load": _float(queue.load),
        "rho": _float(queue.rho),
        "requests": requests,
        "seed": seed,
        "busy_periods": len(periods.requests),
        "largest_period": largest,
        "ratio_of_means": periods.ratio_of_means.row(),
        "mean_of_ratios": periods.mean_of_ratios.row(),
        "largest_ratio": _float(float((periods.latency / periods.bound).max(initial=1))),
        "latency_batch_means": batch_means(run.latencies.astype(float)).row(),
        "latency_regenerative": periods.mean_latency.row(),
    }


def paced_starts(arrival: Ints, pace: int) -> Ints:
    """Earliest starts in the given order, at least `pace` steps apart (arrivals ascend).

    Examples
    --------
    >>> paced_starts(np.array([0, 0, 1, 20]), 3).tolist()
    [0, 3, 6, 20]
    """
    offset = pace * np.arange(len(arrival), dtype=np.int64)
    return np.asarray(np.maximum.accumulate(arrival - offset) + offset)


def synchronised(outputs: dict[int, Fraction], load: Fraction, requests: int, paths: int, seed: int) -> Row:
    """Strict SVF against one start every 3 steps, for prompts of 1 token, lengths up to 100 and a memory of 2000.

    The paced schedule is feasible, as it holds at most 1751 tokens; so SVF's latency over the paced one is a
    certified *lower* bound on the ratio of SVF on the path, and SVF's latency over the sum of the lengths an upper
    one.
    """
    memory, pace = 2000, 3
    queue = with_load(independent(fixed(1), outputs), memory, load)
    ratios, above, drift, paced_ratio = [], [], [], []
    for replication in range(paths):
        path = queue.path(requests, (seed, replication))
        _, output, arrival = path
        run = run_path(path, memory, SVF)
        paced = int((paced_starts(arrival, pace) + output - arrival).sum())
        wait = run.starts - run.arrivals
        by_arrival = np.array_split(wait, 4)
        ratios.append(run.total_latency / paced)
        above.append(run.total_latency / int(output.sum()))
        drift.append(float(by_arrival[3].mean() - by_arrival[1].mean()))
        paced_ratio.append(paced / int(output.sum()))
    longest = max(outputs)
    period, starts = saturated_cycle(memory, 1, longest)
    equal = len(outputs) == 1
    return {
        "experiment": "synchronised",
        "prompt": 1,
        "longest": longest,
        "mean_output": _float(queue.mean_output),
        "memory": memory,
        "load": _float(queue.load),
        "rate": _float(queue.rate),
        "requests": requests,
        "paths": paths,
        "seed": seed,
        "svf_over_paced": mean_estimate(ratios).row(),
        "least_svf_over_paced": _float(min(ratios)),
        "svf_over_lengths": mean_estimate(above).row(),
        "paced_over_lengths": mean_estimate(paced_ratio).row(),
        "drift": mean_estimate(drift).row(),
        "saturated_load": _float(Fraction(starts, period) * mean(queue.law, volume) / memory) if equal else None,
        "paced_exact": _float(1 + paced_wait(queue.rate, pace) / longest) if equal and queue.rate * pace < 1 else None,
    }


def one_bit_sweep(
    success: Fraction,
    cap: int,
    prompt: int,
    alpha: Fraction,
    load: Fraction,
    threshold: int,
    requests: int,
    paths: int,
    seed: int,
) -> Row:
    """The mean wait of the one-bit policy at one threshold, beside SVF, FCFS and the paper's penalty factor."""
    queue = geometric_queue(success, cap, [prompt], alpha, rho=None, load=load)
    policies = [class_means(queue.law, threshold), SVF, FCFS]
    totals = run_queue(queue, policies, requests, paths, seed)
    factor = one_bit_factor(success, Fraction(prompt), threshold)
    return {
        "experiment": "one-bit",
        "mu": str(success),
        "cap": cap,
        "prompts": [prompt],
        "memory": queue.memory,
        "load": _float(queue.load),
        "rho": _float(queue.rho),
        "threshold": threshold,
        "requests": requests,
        "paths": paths,
        "seed": seed,
        "factor": _float(factor),
        "eps_over_volume": _float(1 - 1 / factor),
        "wait_over_svf": {
            p.name: ratio_estimate(t.wait, totals[1].wait).row() for p, t in zip(policies, totals, strict=True)
        },
        "policies": {p.name: _totals_row(queue, t) for p, t in zip(policies, totals, strict=True)},
    }


def _float(value: Fraction | float) -> float:
    return float(f"{float(value):.8g}")
