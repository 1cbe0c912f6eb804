"""Poisson arrivals: every statement stands as recorded, and wrong statements are caught."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import __main__ as command
from theory.errors import InputError
from theory.poisson import (
    identities,
    one_bit_factor,
    paced_wait,
    paper_bound,
    saturated_cycle,
    sharper_bound,
    wait_bound,
)
from theory.poisson_check import (
    CONDITIONAL,
    PROVED,
    REFUTED,
    UNDECIDED,
    S,
    cap,
    equal,
    lam,
    limit,
    mu,
    positive,
    q,
    theta,
)
from theory.poisson_claims import opt_bound_excess, rows
from theory.poisson_moments import PEAK_TIME, VOLUME, mean_volume, paper_w0
from theory.poisson_penalty import EXPLAINED, LONG_PROXY, MEAN_GAP, PAPER_EPS, SHORT_PROXY, deltas
from theory.poisson_queue import LEVEL_WAIT, TELESCOPED, paper_formula
from theory.poisson_sums import capped_mean, long_mean, mean, moment, n, partial_mean, short_mean

_success = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)


def test_every_statement_stands_as_recorded() -> None:
    assert [(row.id, row.status, row.detail) for row in identities() if not row.ok] == []
    assert all(row.statement and row.source and row.method for row in identities())


def test_ids_are_unique_and_every_status_occurs() -> None:
    assert len({row.id for row in identities()}) == len(identities())
    assert {row.status for row in identities()} == {PROVED, REFUTED, CONDITIONAL}


def test_a_refuted_or_conditional_statement_says_why() -> None:
    assert all(row.detail for row in identities() if row.status != PROVED)


# wrong statements: (left, right) of a wrong variant of a proved identity
WRONG = {
    "W_0 with 3/mu^3": (paper_w0(), lam * (S / mu**2 + 3 / mu**3)),
    "W_0 residual without 1 - mu": ((1 - mu) * paper_w0(), paper_w0()),
    "eps without the half": (PAPER_EPS, (theta * q**theta / (1 - q**theta)) ** 2),
    "eps with q^(theta+1)": (PAPER_EPS, (theta * q ** (theta + 1) / (1 - q**theta)) ** 2 / 2),
    "eps as the mean gap": (PAPER_EPS, MEAN_GAP),
    "mean gap without the half": (MEAN_GAP, q / mu**2 - theta**2 * q**theta / (1 - q**theta)),
    "long proxy without theta": (long_mean(n, theta), 1 / mu),
    "long proxy with theta + 1": (long_mean(n, theta), theta + 1 + 1 / mu),
    "short proxy with a plus": (short_mean(n, theta), 1 / mu + theta * q**theta / (1 - q**theta)),
    "mean volume with 2/mu^2": (mean_volume(), S / mu + 2 / mu**2),
    "capped length without the cap": (capped_mean(n, cap), 1 / mu),
    "v1 with 2": (1 + 2 / (q * (1 - sp.Symbol("rho", positive=True))), paper_formula(sp.Rational(1, 2))),
    "telescoped with C^2": (TELESCOPED, TELESCOPED * sp.Symbol("C", positive=True)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_identity_is_refuted_with_a_point(name: str) -> None:
    left, right = WRONG[name]
    decided = equal("wrong", name, "test", left, right)
    assert decided.status == REFUTED
    assert decided.detail.startswith("at ")
    assert not decided.ok


@pytest.mark.parametrize("closed", [2 / mu**2, 1 / mu, (2 - mu) / mu**3, (3 - mu) / mu**2, (2 - mu) / mu**2 + q**40])
def test_a_wrong_closed_form_of_a_series_is_refuted(closed: Any) -> None:
    assert moment("wrong", "E[o^2]", "test", n**2, closed).status == REFUTED


def test_a_wrong_limit_is_refuted() -> None:
    assert limit("wrong", "", "test", MEAN_GAP, 0).status == REFUTED
    assert limit("wrong", "", "test", PAPER_EPS / (theta**2 * q ** (2 * theta)), 1).status == REFUTED
    assert limit("wrong", "", "test", EXPLAINED, 1).status == REFUTED


def test_a_sign_is_never_claimed_where_it_changes() -> None:
    x = sp.Symbol("x", positive=True)
    assert positive("wrong", "", "test", 1 - 2 * q, {q: x / (1 + x)}).status == UNDECIDED
    assert positive("right", "", "test", 1 - q, {q: x / (1 + x)}).status == PROVED


def test_the_solved_recursion_is_not_solved_by_a_neighbouring_formula() -> None:
    c, sigma, x = (sp.Symbol(name, positive=True) for name in ("C", "sigma", "x"))
    wrong = LEVEL_WAIT * (c - sigma) / c
    assert equal("w", "", "test", TELESCOPED + x * wrong, TELESCOPED.subs(sigma, sigma + x)).status == REFUTED


def test_a_claim_falls_with_a_row_it_rests_on() -> None:
    broken = {row.id: row for row in identities() if row.id != "w0-and-volume"}
    fallen = {row.id for row in rows(broken) if row.status == UNDECIDED}
    assert {"wait-ingredient", "theorem-3.4-v2", "theorem-3.4-v1", "theorem-3.5", "sharper-theorem"} <= fallen


# independent arithmetic: finite laws enumerated in fractions, no sympy inside


def _law(success: Fraction, limit_: int) -> list[tuple[int, Fraction]]:
    keep = 1 - success
    return [(k, success * keep ** (k - 1)) for k in range(1, limit_)] + [(limit_, keep ** (limit_ - 1))]


def _at(expression: Any, success: Fraction, **values: int) -> Fraction:
    table = {
        q: sp.Rational(1 - success),
        **{sp.Symbol(k, positive=True): v for k, v in values.items() if k == "s"},
    }
    table |= {symbol: values[str(symbol)] for symbol in (theta, cap) if str(symbol) in values}
    exact = sp.Rational(sp.sympify(expression).subs(table))
    return Fraction(int(exact.p), int(exact.q))


@settings(max_examples=10, deadline=None)
@given(success=_success, limit_=st.integers(1, 12), prompt=st.integers(0, 9))
def test_capped_moments_equal_the_enumerated_law(success: Fraction, limit_: int, prompt: int) -> None:
    law = _law(success, limit_)
    volume = sum((w * (prompt * k + k * (k + 1) // 2) for k, w in law), start=Fraction(0))
    assert _at(capped_mean(VOLUME, cap), success, s=prompt, L=limit_) == volume
    peak_time = sum((w * k * (prompt + k) for k, w in law), start=Fraction(0))
    assert _at(capped_mean(PEAK_TIME, cap), success, s=prompt, L=limit_) == peak_time


@settings(max_examples=10, deadline=None)
@given(success=_success, threshold=st.integers(1, 12))
def test_the_short_class_equals_the_enumerated_law(success: Fraction, threshold: int) -> None:
    weights = [(k, success * (1 - success) ** (k - 1)) for k in range(1, threshold + 1)]
    total = sum((w for _, w in weights), start=Fraction(0))
    average = sum((k * w for k, w in weights), start=Fraction(0)) / total
    variance = sum((k * k * w for k, w in weights), start=Fraction(0)) / total - average**2
    assert _at(SHORT_PROXY, success, theta=threshold) == average
    assert _at(deltas()[0], success, theta=threshold, s=3) == variance / 2


@settings(max_examples=20, deadline=None)
@given(success=_success, threshold=st.integers(1, 40), prompt=st.integers(0, 9))
def test_the_one_bit_factor_stays_below_two(success: Fraction, threshold: int, prompt: int) -> None:
    assert 1 < one_bit_factor(success, Fraction(prompt), threshold) < 2


@settings(max_examples=20, deadline=None)
@given(coefficients=st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any), ratio=st.sampled_from([2, 3, 5]))
def test_partial_sums_and_closed_forms_agree_to_thirty_digits(coefficients: list[int], ratio: int) -> None:
    polynomial = sum(c * n**i for i, c in enumerate(coefficients))
    keep = 1 - Fraction(1, ratio)
    total, rest = partial_mean(
        lambda k: Fraction(sum(c * k**i for i, c in enumerate(coefficients))), keep, len(coefficients) - 1
    )
    assert 0 <= _at(mean(polynomial), 1 - keep) - total <= rest < Fraction(1, 10**30)


def test_long_proxy_matches_a_long_partial_sum() -> None:
    success, threshold = Fraction(1, 3), 4
    total, rest = partial_mean(lambda k: Fraction(k + threshold), 1 - success, 1)
    assert 0 <= _at(LONG_PROXY, success, theta=threshold) - total <= rest


# exact right-hand sides


@settings(max_examples=30, deadline=None)
@given(success=_success, share=_success, load=_success, prompt=st.integers(0, 50))
def test_the_sharper_bound_is_below_the_paper_s(
    success: Fraction, share: Fraction, load: Fraction, prompt: int
) -> None:
    assert 1 < sharper_bound(success, Fraction(prompt), load) < paper_bound(success, share, load)


def test_version_one_is_version_two_at_one_half() -> None:
    assert paper_bound(Fraction(1, 5), Fraction(1, 2), Fraction(1, 3)) == 1 + 4 / (Fraction(4, 5) * Fraction(2, 3))


def test_the_wait_bound_of_a_law_is_below_the_paper_s_ingredient() -> None:
    success, limit_, prompt, memory, rate = Fraction(1, 5), 30, 2, 400, Fraction(1, 2)
    bound = wait_bound({(prompt, k): w for k, w in _law(success, limit_)}, memory, rate)
    w0 = rate * (prompt / success**2 + 2 / success**3)
    paper = w0 / (Fraction(memory - prompt - limit_, 2) - rate * (prompt / success + 1 / success**2))
    assert 0 < bound < paper


def test_the_optimum_bound_is_refuted_at_high_load_only() -> None:
    assert opt_bound_excess(Fraction(9, 10), 1, 100, Fraction(9, 10)) > 1
    assert opt_bound_excess(Fraction(9, 10), 1, 100, Fraction(1, 2)) < 1


def test_an_endless_queue_of_equal_requests_wastes_half_of_the_memory() -> None:
    assert saturated_cycle(2000, 1, 100) == (100, 20)
    assert saturated_cycle(10, 9, 1) == (1, 1)
    assert saturated_cycle(3, 0, 2) == (1, 1)


@settings(max_examples=30, deadline=None)
@given(prompt=st.integers(0, 6), output=st.integers(1, 8), spare=st.integers(0, 40))
def test_the_endless_queue_serves_at_most_the_memory(prompt: int, output: int, spare: int) -> None:
    memory = prompt + output + spare
    period, starts = saturated_cycle(memory, prompt, output)
    assert starts * (prompt * output + output * (output + 1) // 2) <= period * memory
    # the sufficient condition lambda o (s + o) < M + 1 - P never promises more than the endless queue serves
    assert starts * output * (prompt + output) >= period * (memory + 1 - prompt - output)


def test_paced_wait_solves_its_stationary_equations() -> None:
    rate, pace = Fraction(1, 6), 3
    # the law of the work left, iterated until it is stationary to the accuracy compared
    arrivals = [math.exp(-float(rate)) * float(rate) ** k / math.factorial(k) for k in range(15)]
    law = [1.0] + [0.0] * 150
    for _ in range(150):
        new = [0.0] * 151
        for work, weight in enumerate(law):
            if weight > 1e-15:
                for k, p in enumerate(arrivals):
                    new[min(max(work + pace * k - 1, 0), 150)] += weight * p
        law = new
    mean_work = sum(work * weight for work, weight in enumerate(law))
    assert mean_work + pace * float(rate) / 2 == pytest.approx(float(paced_wait(rate, pace)), rel=1e-4)


@pytest.mark.parametrize(
    "call",
    [
        lambda: paper_bound(Fraction(1), Fraction(1, 2), Fraction(0)),
        lambda: paper_bound(Fraction(1, 2), Fraction(0), Fraction(0)),
        lambda: sharper_bound(Fraction(1, 2), Fraction(1), Fraction(1)),
        lambda: sharper_bound(Fraction(1, 2), Fraction(-1), Fraction(0)),
        lambda: one_bit_factor(Fraction(1, 2), Fraction(0), 0),
        lambda: wait_bound({(1, 1): Fraction(1, 2)}, 10, Fraction(1)),
        lambda: wait_bound({(1, 100): Fraction(1)}, 2000, Fraction(1)),
        lambda: paced_wait(Fraction(1, 2), 2),
        lambda: saturated_cycle(5, 3, 3),
    ],
)
def test_bad_input_is_told_in_one_line(call: Callable[[], object]) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)


# the command line


def test_the_json_output_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["poisson", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["failed"] == []
    assert [row["id"] for row in printed["checks"]] == [row.id for row in identities()]


def test_the_table_shows_every_statement(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["poisson"]) == 0
    printed = capsys.readouterr().out
    assert all(row.id in printed for row in identities())


def test_a_failing_check_exits_with_one(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    failing = ("theorem", "statement", "method", "detail")
    row = dict.fromkeys(failing, "x") | {"ok": False}
    monkeypatch.setitem(command._SUBJECTS, "symbolic", (lambda: [row], failing))
    assert command.main(["symbolic"]) == 1
    assert "1 of 1 checks fail: x" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["poisson", "--nonsense"]])
def test_bad_usage_exits_with_two_in_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
