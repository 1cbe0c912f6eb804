from random import Random

import pytest

from adversary.evaluate import Evaluator
from adversary.genome import Genome, mutated, random_genome
from adversary.regime import Regime
from runtime.simulator import simulate
from theory.model import Schedule


@pytest.mark.bounds
@pytest.mark.parametrize("admission", ["strict", "skip", "conservative", "easy"])
@pytest.mark.parametrize("fit", ["lookahead", "peak"])
@pytest.mark.parametrize("policy", ["svf", "sjf", "fcfs", "svf-1bit"])
def test_the_batch_kernels_cost_what_the_simulator_says(policy: str, admission: str, fit: str) -> None:
    random = Random(f"{policy}{admission}{fit}")
    for memory in (7, 20, 60):
        regime = Regime(policy, admission, fit, memory=memory, requests=50, largest=memory)
        evaluator, parent = Evaluator(regime, 10**8), random_genome(random, regime)
        for _ in range(15):
            genome = mutated(parent, random_genome(random, regime), random, regime)
            cost, best = evaluator(genome)
            instance = genome.instance()
            assert cost == simulate(instance, regime.scheduler, admission, fit).total_latency
            schedule = Schedule(tuple(evaluator.starts(genome)))
            assert schedule.violation(instance) is None
            assert min(schedule.total_latency(instance), cost) == best
            parent = genome


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("regime", "genome", "expected"),
    [
        (Regime(), Genome(1176, ((1, 47, 1), (1175, 1, 12))), (689, 137)),
        (Regime(), Genome(10000, ((1, 139, 1), (9999, 1, 12))), (1885, 229)),
        (Regime(), Genome(209, ((1, 19, 1), (208, 1, 1)), 12), (3108, 480)),
        (Regime(), Genome(6640, ((1, 80, 1), (3319, 1, 80))), (3320, 1760)),
        (Regime(), Genome(20160, ((183, 81, 11), (18143, 1, 1)), 20), (204535, 37973)),
        (
            Regime(admission="skip"),
            Genome(10000, ((2500, 1, 1), (2499, 1, 1), (4999, 1, 70), (1248, 1251, 4))),
            (92552, 6476),
        ),
    ],
    ids=str,
)
def test_known_bad_instances_are_evaluated_to_known_numbers(
    regime: Regime, genome: Genome, expected: tuple[int, int]
) -> None:
    assert Evaluator(regime)(genome) == expected


def test_an_evaluation_that_is_too_dear_gives_up_instead_of_guessing() -> None:
    assert Evaluator(Regime(), limit=100)(Genome(209, ((1, 19, 1), (208, 1, 1)), 12)) == (0, 1)
