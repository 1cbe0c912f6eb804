"""Integer solvers on the time-indexed formulation. Their answers are claims: see lp_bounds.certificate.

Four independent stacks: HiGHS (through SciPy), CBC (through PuLP), HiGHS through CVXPY, and OR-Tools CP-SAT, whose
arithmetic is in integers. Every schedule is checked against the instance before it is returned.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from lp_bounds.time_indexed import TimeIndexed, formulate, serial_schedule
from theory.errors import InputError
from theory.model import Instance, Schedule

Status = Literal["optimal", "feasible", "unknown"]


@dataclass(frozen=True)
class Claim:
    """What a solver says about OPT.

    Attributes
    ----------
    solver : str
        Its name.
    status : {"optimal", "feasible", "unknown"}
        Whether it claims that the schedule is optimal, has only a schedule, or has none.
    schedule : Schedule or None
        Feasible: checked by :meth:`theory.model.Schedule.violation`.
    value : int or None
        Total latency of the schedule in steps.
    bound : float or None
        The solver's own lower bound in steps, in floating point; None if it gives none.
    """

    solver: str
    status: Status
    schedule: Schedule | None
    value: int | None
    bound: float | None


@dataclass(frozen=True)
class _Answer:
    status: Status
    x: NDArray[np.float64] | None
    bound: float | None


def optional_package(name: str) -> Any:
    """Import a package of the `solvers` extra.

    Raises
    ------
    InputError
        Naming what to install.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(
            f"package {name}", "is not installed", "install it with pip install 'geosched[solvers]'"
        ) from None


def solve_milp(instance: Instance, solver: str = "highs", time_limit: float = 60.0) -> Claim:
    """Ask an integer solver for the optimum, among the starts that a quick schedule leaves possible.

    Parameters
    ----------
    instance : Instance
        Any memory model, burst or release dates.
    solver : {"highs", "cbc", "cp-sat", "cvxpy-highs"}
        All stop at a gap of 0 or at the time limit. Through CVXPY, HiGHS prints its banner on standard output.
    time_limit : float
        Seconds.

    Raises
    ------
    InputError
        If the solver's name is unknown, its package is missing or the formulation would be huge.
    RuntimeError
        If the solver returns a schedule that is not feasible.

    Examples
    --------
    >>> from theory.model import Instance, Request
    >>> claim = solve_milp(Instance(4, [Request(3, 1), Request(3, 1), Request(0, 2)]))
    >>> claim.status, claim.value
    ('optimal', 7)
    """
    if solver not in SOLVERS:
        raise InputError("solver", f"is {solver!r}", f"give one of {', '.join(SOLVERS)}")
    if not len(instance):
        return Claim(solver, "optimal", Schedule(()), 0, 0.0)
    model = formulate(instance, serial_schedule(instance).total_latency(instance))
    answer = SOLVERS[solver](model, time_limit)
    if answer.x is None:
        return Claim(solver, "unknown", None, None, answer.bound)
    schedule = model.schedule(np.rint(answer.x).astype(np.int64))
    fault = "starts the wrong number of requests" if schedule is None else schedule.violation(instance)
    if schedule is None or fault:
        raise RuntimeError(f"{solver} returned a schedule that is not feasible: it {fault}")
    return Claim(solver, answer.status, schedule, schedule.total_latency(instance), answer.bound)


def _highs(model: TimeIndexed, time_limit: float) -> _Answer:
    result = milp(
        model.cost,
        integrality=np.ones(len(model.cost), dtype=np.int64),
        bounds=Bounds(0, model.count[model.kind]),
        constraints=[
            LinearConstraint(model.assignment, model.count, model.count),
            LinearConstraint(model.usage, -np.inf, model.capacity),
        ],
        options={"mip_rel_gap": 0.0, "time_limit": time_limit},
    )
    status: Status = "optimal" if result.status == 0 else "unknown" if result.x is None else "feasible"
    return _Answer(status, result.x, result.mip_dual_bound)


def _cvxpy(model: TimeIndexed, time_limit: float) -> _Answer:
    cp = optional_package("cvxpy")
    x = cp.Variable(len(model.cost), integer=True)
    rows = [x >= 0, model.assignment @ x == model.count, model.usage @ x <= model.capacity]
    problem = cp.Problem(cp.Minimize(model.cost @ x), rows)
    problem.solve(solver=cp.HIGHS, mip_rel_gap=0.0, time_limit=time_limit)
    if x.value is None:
        return _Answer("unknown", None, None)
    return _Answer("optimal" if problem.status == cp.OPTIMAL else "feasible", np.asarray(x.value), None)


def _cbc(model: TimeIndexed, time_limit: float) -> _Answer:
    pulp = optional_package("pulp")
    problem = pulp.LpProblem("geosched", pulp.LpMinimize)
    most = model.count[model.kind].tolist()
    x = [pulp.LpVariable(f"x{c}", 0, m, cat="Integer") for c, m in enumerate(most)]
    problem += pulp.LpAffineExpression(zip(x, model.cost.tolist(), strict=True))
    for rows, sense, sides in (
        (model.assignment, pulp.LpConstraintEQ, model.count),
        (model.usage, pulp.LpConstraintLE, model.capacity),
    ):
        for i, side in enumerate(sides.tolist()):
            entries = range(rows.indptr[i], rows.indptr[i + 1])
            terms = [(x[rows.indices[e]], int(rows.data[e])) for e in entries]
            if terms:
                problem += pulp.LpConstraint(pulp.LpAffineExpression(terms), sense, rhs=side)
    problem.solve(pulp.PULP_CBC_CMD(msg=False, gapRel=0.0, gapAbs=0.0, timeLimit=time_limit, threads=1))
    if problem.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        return _Answer("unknown", None, None)
    values = np.array([variable.value() or 0.0 for variable in x])
    return _Answer("optimal" if problem.sol_status == pulp.LpSolutionOptimal else "feasible", values, None)


def _cp_sat(model: TimeIndexed, time_limit: float) -> _Answer:
    cp_model = optional_package("ortools.sat.python.cp_model")
    problem = cp_model.CpModel()
    x = [problem.new_int_var(0, m, f"x{c}") for c, m in enumerate(model.count[model.kind].tolist())]

    def total(rows: Any, i: int) -> Any:
        entries = range(rows.indptr[i], rows.indptr[i + 1])
        return cp_model.LinearExpr.weighted_sum(
            [x[rows.indices[e]] for e in entries], [int(rows.data[e]) for e in entries]
        )

    for i, side in enumerate(model.count.tolist()):
        problem.add(total(model.assignment, i) == side)
    for i, side in enumerate(model.capacity.tolist()):
        problem.add(total(model.usage, i) <= side)
    problem.minimize(cp_model.LinearExpr.weighted_sum(x, model.cost.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = time_limit
    solver.parameters.num_workers = 1
    status = solver.solve(problem)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return _Answer("unknown", None, None)
    values = np.array([solver.value(variable) for variable in x], dtype=np.float64)
    return _Answer("optimal" if status == cp_model.OPTIMAL else "feasible", values, solver.best_objective_bound)


#: Solvers by name.
SOLVERS: dict[str, Callable[[TimeIndexed, float], _Answer]] = {
    "highs": _highs,
    "cbc": _cbc,
    "cp-sat": _cp_sat,
    "cvxpy-highs": _cvxpy,
}
