"""Search for a mean wait above its bound: random small laws, four orders, every type of request on its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from runtime.poisson_law import Law, mean, volume
from runtime.poisson_sample import Queue, run_path
from runtime.poisson_stats import batch_means
from runtime.policies import FCFS, SJF, SVF, Policy
from theory.poisson_peak import peak_waits

#: Orders and their keys without the arrival; the last one serves the largest volume first.
ORDERS = (
    (SVF, volume),
    (SJF, lambda _s, o: o),
    (FCFS, lambda _s, _o: 0),
    (Policy("largest", lambda s, o, _a: -volume(s, o)), lambda s, o: -volume(s, o)),
)
#: Types with fewer requests on the path are not judged: their batch means would not be normal.
LEAST = 1000


def check_levels(laws: int, requests: int, seed: int) -> dict[str, Any]:
    """Simulate random queues within reach of :mod:`theory.poisson_peak`; compare each type's wait with its bound.

    Returns
    -------
    dict
        Number of checks; the largest lower end of a 95 per cent interval over its bound (above 1 speaks against
        the bound); the largest estimate over its bound in a queue of several types (near 1: little is lost).
    """
    rng = np.random.default_rng((seed, laws))
    checks, against, attained = 0, 0.0, 0.0
    for number in range(laws):
        queue = _random_queue(rng)
        path = queue.path(requests, (seed, laws, number))
        for policy, key in ORDERS:
            bounds = peak_waits(queue.law, queue.memory, queue.rate, key)
            run = run_path(path, queue.memory, policy)
            wait = (run.starts - run.arrivals).astype(float)
            for s, o in queue.law:
                mine = wait[(path[0] == s) & (path[1] == o)]
                if len(mine) < LEAST:
                    continue
                estimate, bound = batch_means(mine, 10), float(bounds[key(s, o)])
                checks += 1
                against = max(against, estimate.low / bound)
                if len(queue.law) > 1:
                    attained = max(attained, estimate.value / bound)
    return {
        "experiment": "levels",
        "laws": laws,
        "requests": requests,
        "seed": seed,
        "checks": checks,
        "largest_low_over_bound": float(f"{against:.8g}"),
        "largest_value_over_bound": float(f"{attained:.8g}"),
    }


def _random_queue(rng: np.random.Generator) -> Queue:
    pairs = {
        (int(rng.choice([0, 0, 1, 3, 8])), int(rng.choice([1, 1, 2, 3, 6, 12]))) for _ in range(rng.integers(1, 5))
    }
    weights = rng.integers(1, 21, len(pairs)).tolist()
    law: Law = {pair: Fraction(weight, sum(weights)) for pair, weight in zip(sorted(pairs), weights, strict=True)}
    slack = 1 + int(rng.choice([0, 1, 3, 10, 40]))
    share = Fraction(int(rng.choice([1, 3, 6, 9])), 10)
    memory = max(s + o for s, o in law) - 1 + slack
    return Queue(law, memory, share * slack / mean(law, lambda s, o: (s + o) * o))
