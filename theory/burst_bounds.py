"""The burst bounds of :mod:`theory.burst` as data: statement, hypotheses, source, value on an instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.burst import (
    order_distortion,
    t1,
    t2,
    t3,
    t4,
    t4_sharp,
    t5,
    t5_sharp,
    t6,
    t7,
    volumes_of,
)
from theory.errors import InputError
from theory.model import PAPER, Instance


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """What a bound assumes besides a burst of requests with known lengths in the paper's memory model."""

    order: str
    admissions: tuple[str, ...]
    fits: tuple[str, ...]
    peaks: str = "p <= M"
    arrivals: str = "burst"
    lengths: str = "known"


@dataclass(frozen=True, slots=True)
class BurstBound:
    """One upper bound on latency / optimum, as data.

    Parameters
    ----------
    id : str
        Name of the theorem.
    statement : str
        The bound as a formula.
    hypotheses : Hypotheses
        Under which it holds.
    source : str
        Citation key of ``papers/references.bib``, or the file with the proof.
    value : callable
        ``(instance, order) -> Fraction``; call :meth:`evaluate`, which checks the hypotheses first.
    """

    id: str
    statement: str
    hypotheses: Hypotheses
    source: str
    value: Callable[[Instance, Sequence[int]], Fraction]

    def evaluate(self, instance: Instance, order: Sequence[int]) -> Fraction:
        """The bound for this instance and key order (a permutation of the request indices).

        Raises
        ------
        InputError
            If the instance or the order lies outside the hypotheses.
        """
        if not len(instance):
            raise InputError("requests", "are none", "give at least one request")
        if not instance.is_burst:
            raise InputError("requests", "do not all arrive at time 0", f"{self.id} holds for bursts only")
        if instance.memory_model != PAPER:
            raise InputError("memory_model", "is not the paper's", f"{self.id} is proved for that model only")
        if sorted(order) != list(range(len(instance))):
            raise InputError("order", "is not a permutation", "name each request once")
        if self.hypotheses.order == _BY_VOLUME and order_distortion(instance, order) != 1:
            raise InputError("order", "is not by volume", f"{self.id} holds for the volume order only")
        return self.value(instance, order)


_BY_VOLUME = "smallest volume first"
_ANY = "any static order"
_BOTH = ("strict", "conservative")
_FITS = ("lookahead", "peak")
_OWN = "papers/burst-theorem.md"


def _shape(instance: Instance) -> Fraction:
    return max(Fraction(r.output, 2 * r.prompt + r.output) for r in instance.requests)


def _best_t7(instance: Instance, order: Sequence[int]) -> Fraction:
    """T7 with the best of a few parameters."""
    largest, values = max(volumes_of(instance)), []
    for root_d in (2**e for e in range(1, 13)):
        for beta in (Fraction(1, 2**e) for e in range(1, 9)):
            try:
                values.append(t7(instance.memory, instance.peak, largest, root_d, beta))
            except InputError:
                continue
    if not values:
        raise InputError("requests", "are too large against the memory", "T7 needs volumes far below M^2")
    return min(values)


#: Every upper bound of this module with its hypotheses. T9 is why `admissions` names conservative backfilling.
BOUNDS: tuple[BurstBound, ...] = (
    BurstBound(
        "T1",
        "1 + 2M/(M+1-P)",
        Hypotheses(_BY_VOLUME, _BOTH, _FITS),
        "kong2026",
        lambda i, _: t1(i.memory, i.peak),
    ),
    BurstBound(
        "T2",
        "max(1 + 2c/3, c), c = 2M/(M+1-P)",
        Hypotheses(_BY_VOLUME, _BOTH, _FITS),
        _OWN,
        lambda i, _: t2(i.memory, i.peak),
    ),
    BurstBound(
        "T3",
        "max(1 + c(1/2 + y/6), c), c = (1+y)M/(M+1-P), y = max o/(2s+o)",
        Hypotheses(_BY_VOLUME, _BOTH, _FITS),
        _OWN,
        lambda i, _: t3(i.memory, i.peak, _shape(i)),
    ),
    BurstBound(
        "T4",
        "5 + 2M/floor(sqrt M)",
        Hypotheses(_BY_VOLUME, _BOTH, _FITS),
        _OWN,
        lambda i, _: t4(i.memory),
    ),
    BurstBound(
        "T4-sharp",
        "4 + 2M/floor(sqrt M)",
        Hypotheses(_BY_VOLUME, _BOTH, _FITS),
        _OWN,
        lambda i, _: t4_sharp(i.memory),
    ),
    BurstBound(
        "T5",
        "1 + 8 sqrt(v_max/v_min)",
        Hypotheses(_ANY, _BOTH, _FITS, peaks="2p <= M"),
        _OWN,
        lambda i, _: t5(i.memory, i.peak, min(volumes_of(i)), max(volumes_of(i))),
    ),
    BurstBound(
        "T5-sharp",
        "max(1 + 2w/3, w), w = c(2 sqrt(v_max/v_min) - 1)",
        Hypotheses(_ANY, _BOTH, _FITS),
        _OWN,
        lambda i, _: t5_sharp(i.memory, i.peak, min(volumes_of(i)), max(volumes_of(i))),
    ),
    BurstBound(
        "T6",
        "max(1 + 2w/3, w), w = c(4 sqrt(D) - 3), i before j implies v_i <= D v_j",
        Hypotheses(_ANY, _BOTH, _FITS),
        _OWN,
        lambda i, order: t6(i.memory, i.peak, order_distortion(i, order)),
    ),
    BurstBound(
        "T7",
        "max(1 + 2w/3, w), w = a/b^2 + 1/a + 4/(a sqrt D); w -> (1-alpha) + 1/(1-alpha)",
        Hypotheses(_BY_VOLUME, _BOTH, ("lookahead",), peaks="p <= alpha M, volumes far below M^2"),
        _OWN,
        _best_t7,
    ),
)


def proved_bounds(
    instance: Instance, order: Sequence[int], admission: str, fit: str
) -> dict[str, tuple[BurstBound, Fraction]]:
    """All bounds of :data:`BOUNDS` whose hypotheses this instance, order, admission rule and fit test meet.

    Examples
    --------
    >>> from theory.burst import volume_order
    >>> from theory.model import Request
    >>> inst = Instance(100, [Request(3, 4), Request(20, 2), Request(1, 9)])
    >>> found = proved_bounds(inst, volume_order(inst), "strict", "peak")
    >>> sorted(found), found["T2"][1]
    (['T1', 'T2', 'T3', 'T4', 'T4-sharp', 'T5', 'T5-sharp', 'T6'], Fraction(637, 237))
    """
    found = {}
    for bound in BOUNDS:
        if admission in bound.hypotheses.admissions and fit in bound.hypotheses.fits:
            try:
                found[bound.id] = (bound, bound.evaluate(instance, order))
            except InputError:
                continue
    return found
