import importlib.util
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from adversary.attack import attack
from adversary.evaluate import Evaluator
from adversary.genome import Genome, mutated, random_genome
from adversary.records import keep, read_record, record_path
from adversary.regime import Regime
from adversary.search import Archive, search
from adversary.simplify import simplified
from adversary.witness import make_witness
from lp_bounds.checker import check
from theory.errors import InputError

HALF = Regime(alpha=Fraction(1, 2), requests=100)


def constant_key(prompt: int, output: int, arrival: int) -> int:
    return -prompt


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
@pytest.mark.parametrize("memory", [None, 97])
def test_every_genome_of_the_search_lies_in_the_regime(alpha: Fraction, memory: int | None) -> None:
    regime, random = Regime(alpha=alpha, memory=memory, requests=30, largest=12), Random(5)
    genome = random_genome(random, regime)
    for _ in range(400):
        genome = mutated(genome, random_genome(random, regime), random, regime)
        instance = genome.instance()
        assert instance.alpha <= alpha
        assert 1 <= len(instance) == genome.size <= 30
        assert memory in (None, instance.memory)
        assert max(r.output for r in instance.requests) <= 12


def test_the_archive_depends_on_the_seed_but_not_on_the_number_of_workers() -> None:
    runs = [search(HALF, seed, rounds=2, operations=2_000_000, jobs=jobs) for seed, jobs in ((1, 1), (1, 2), (2, 1))]
    assert runs[0].ranked() == runs[1].ranked() != runs[2].ranked()


def test_a_search_continued_from_its_state_ends_where_an_undisturbed_one_does() -> None:
    first = search(HALF, 3, rounds=1, operations=2_000_000)
    resumed = search(HALF, 3, rounds=2, operations=2_000_000, archive=first, first_round=1)
    assert resumed.ranked() == search(HALF, 3, rounds=2, operations=2_000_000).ranked()


def test_an_attack_writes_a_certificate_that_the_checker_accepts_and_resumes_from_it(tmp_path: Path) -> None:
    result = attack(HALF, seed=1, seconds=None, rounds=1, out=tmp_path)
    assert check(str(result.certificate)).accepted
    assert result.is_record
    assert read_record(result.certificate) == (HALF, result.witness.genome, result.witness.ratio)
    again = attack(HALF, seed=1, seconds=None, rounds=1, out=tmp_path, resume=True)
    assert again.witness == result.witness
    assert not again.is_record


@pytest.mark.bounds
@pytest.mark.slow
@pytest.mark.parametrize(
    ("regime", "goal"),
    [
        (Regime(), 5.0),
        (Regime(alpha=Fraction(1, 2)), 1.85),
        (Regime(alpha=Fraction(9, 10)), 5.0),
        (Regime(admission="skip", alpha=Fraction(1, 2)), 5.0),
        (Regime("sjf"), 20.0),
        (Regime("fcfs"), 100.0),
        (Regime("svf-1bit", threshold=255), 50.0),
    ],
    ids=lambda value: value.slug if isinstance(value, Regime) else str(value),
)
def test_the_known_refutations_are_found_again_from_nothing(regime: Regime, goal: float) -> None:
    reached: list[float] = []

    class EnoughError(Exception):
        pass

    def stop(_: int, archive: Archive) -> None:
        best = archive.best()
        assert best is not None
        reached.append(float(best[0]))
        if reached[-1] > goal:
            raise EnoughError

    with pytest.raises(EnoughError):
        search(regime, seed=2, rounds=20, operations=25_000_000, report=stop)


def test_a_worse_witness_never_replaces_a_better_one(tmp_path: Path) -> None:
    better, worse = (make_witness(Regime(), Genome(119, ((1, 14, 1), (118, 1, 1)), n)) for n in (5, 3))
    assert better.ratio > worse.ratio
    path, first = keep(tmp_path, better, "by hand")
    content = path.read_text()
    assert (first, keep(tmp_path, worse, "by hand")[1], path.read_text()) == (True, False, content)
    assert path == record_path(tmp_path, Regime())


def test_simplifying_keeps_the_ratio_and_the_regime() -> None:
    regime = Regime(alpha=Fraction(9, 10), requests=300)
    evaluator, genome = Evaluator(regime), Genome(20160, ((183, 81, 11), (18143, 1, 1)), 20)
    small = simplified(genome, evaluator)
    assert evaluator.ratio(small) >= 0.99 * evaluator.ratio(genome)
    assert small.instance().alpha <= regime.alpha
    assert (small.size, small.memory) < (genome.size, genome.memory)


def test_a_key_of_the_users_own_can_be_attacked() -> None:
    regime = Regime(f"{__name__}:constant_key", memory=60, requests=60)
    found = search(regime, 1, rounds=1, operations=2_000_000).best()
    assert found is not None
    assert found[0] > 2
    assert not regime.certifiable


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"policy": "lifo"}, "--policy"),
        ({"policy": "no.such.module:key"}, "--policy"),
        ({"admission": "greedy"}, "--admission"),
        ({"fit": "now"}, "--fit"),
        ({"alpha": Fraction(0)}, "--alpha"),
        ({"alpha": Fraction(1, 100), "memory": 50}, "--alpha"),
        ({"memory": 1}, "--memory"),
        ({"requests": 1}, "--requests"),
        ({"threshold": 3}, "--threshold"),
    ],
)
def test_a_regime_that_makes_no_sense_is_refused_with_the_option_at_fault(
    options: dict[str, object], place: str
) -> None:
    with pytest.raises(InputError) as error:
        Regime(**options)  # type: ignore[arg-type]
    assert error.value.where == place


@pytest.mark.parametrize(("backend", "package"), [("ray", "ray"), ("dask", "dask"), ("mpi", "loky, ray, dask")])
def test_a_back_end_that_is_missing_is_named_with_its_remedy(backend: str, package: str) -> None:
    if importlib.util.find_spec(backend):
        pytest.skip(f"{backend} is installed here")
    with pytest.raises(InputError, match=package):
        search(HALF, 1, rounds=1, operations=1, backend=backend)
