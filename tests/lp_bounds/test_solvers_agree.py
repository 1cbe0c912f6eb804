"""Four independent solvers and our own search find the same optimum, and each one's certificate is accepted.

CBC (through PuLP), HiGHS (through CVXPY and through SciPy) and CP-SAT get the time-indexed formulation; the exact
search shares nothing with them. The checker shares nothing with any of them.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from lp_bounds.certificate import lower_bound_certificate, optimum_certificate
from lp_bounds.checker import check
from lp_bounds.exact import solve
from lp_bounds.mean_busy_time import best_bound
from lp_bounds.milp import SOLVERS, solve_milp
from theory.model import PAPER, Instance, MemoryModel, Request, vllm_memory

CHUNKS, CHUNK = 40, 50  # 2000 instances
MODELS = (PAPER, PAPER, PAPER, MemoryModel(1, 1), vllm_memory(2), MemoryModel(0, 3))


def random_instance(draw: random.Random) -> Instance:
    """At most 8 requests in a small memory; half of the instances are bursts."""
    model, memory = draw.choice(MODELS), draw.randint(3, 10)
    late = draw.choice((0, 0, 3, 8))
    requests: list[Request] = []
    size = draw.randint(1, 8)
    while len(requests) < size:
        output = draw.randint(1, 3)
        request = Request(draw.randint(0, memory), output, draw.randint(0, late))
        if model.peak(request.prompt, output) <= memory:
            requests.append(request)
    return Instance(memory, requests, model)


@pytest.mark.bounds
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PuLP's bundled CBC
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_all_solvers_find_the_optimum_that_the_checker_accepts(chunk: int) -> None:
    draw = random.Random(f"agree {chunk}")
    for _ in range(CHUNK):
        instance = random_instance(draw)
        ours = solve(instance)
        assert ours.status == "optimal"
        assert ours.lower_bound == ours.upper_bound
        schedules = {ours.schedule}
        for solver in SOLVERS if chunk == 0 else ("cbc", "cp-sat", "cvxpy-highs"):
            claim = solve_milp(instance, solver)
            assert (claim.status, claim.value) == ("optimal", ours.upper_bound), (solver, instance)
            assert claim.schedule is not None
            schedules.add(claim.schedule)
        for schedule in schedules:
            assert schedule.total_latency(instance) == ours.upper_bound
            verdict = check(optimum_certificate(instance, schedule, ours.multipliers, ours.denominator))
            assert verdict.accepted, (verdict.reason, instance)
        bound = best_bound(instance)
        assert bound.value <= ours.upper_bound
        assert check(lower_bound_certificate(instance, bound.value)).accepted
        above = lower_bound_certificate(instance, Fraction(ours.upper_bound + 1))
        assert not check(above).accepted
