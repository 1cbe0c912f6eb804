"""What neighbouring papers claim: published, and not re-checked here unless a row says so."""

from __future__ import annotations

from theory.burst_bounds import Hypotheses
from theory.claim import PUBLISHED, SYMBOLIC, Claim, Evidence, Source, supported_by


def _published(
    id: str, key: str, place: str, statement: str, hypotheses: Hypotheses, *more: Evidence, note: str = ""
) -> Claim:
    return Claim(id, statement, hypotheses, Source(key, place), (*supported_by(PUBLISHED, key), *more), note)


_EQUAL = "equal prompts"

CLAIMS = (
    _published(
        "sorted-f",
        "wang2025sortedf",
        "main theorem",
        "Sorted-F (repeatedly the batch X that minimises sum o/|X|^2) has competitive ratio at most 48",
        Hypotheses("Sorted-F", (), (), peaks="p <= M"),
        note="the constant that [kong2026] improves on; for 2p <= M SVF has 4 (T2-half)",
    ),
    _published(
        "sorted-f-unbounded",
        "wang2025sortedf",
        "lower bounds",
        "FCFS, shortest output first and smallest peak first have no constant ratio",
        Hypotheses("submission, output or peak order", ("strict",), (), peaks="p <= M"),
        note="instances of ours for the first two: R6-fcfs, R6",
    ),
    _published(
        "mc-sf-burst",
        "jaillet2025",
        "experiments",
        "MC-SF over OPT on 200 random bursts: mean 1.005, worst 1.074, optimal in 114",
        Hypotheses("shortest output first", ("strict",), ("lookahead",), peaks="M in 30..50, s in 1..5"),
    ),
    _published(
        "mc-sf-arrivals",
        "jaillet2025",
        "experiments",
        "MC-SF over OPT on 200 random online instances: mean 1.047, worst 1.227",
        Hypotheses(
            "shortest output first",
            ("strict",),
            ("lookahead",),
            peaks="M in 30..50, s in 1..5",
            arrivals="Poisson, rate 0.5 to 1.5",
        ),
    ),
    _published(
        "a-min",
        "chen2025",
        "main theorem",
        "A_min has competitive ratio O(log(u/l))",
        Hypotheses("A_min, with preemption", (), (), peaks="p <= M", lengths="known to lie in [l, u]"),
        note="preempts, so outside our model; here OPT may not",
    ),
    _published(
        "a-max",
        "chen2025",
        "baseline",
        "A_max, which reserves the upper end u of the interval, degrades with u/l",
        Hypotheses("A_max", (), ("peak",), peaks="p <= M", lengths="known to lie in [l, u]"),
    ),
    _published(
        "gba",
        "feng2026",
        "clairvoyant",
        "GBA has competitive ratio at most 10.67, and 6.75 with large memory",
        Hypotheses("GBA", (), (), peaks=f"p <= M, {_EQUAL}"),
    ),
    _published(
        "gsa",
        "feng2026",
        "non-clairvoyant",
        "GSA has competitive ratio at most 61.92, and 32 with large memory",
        Hypotheses("GSA, kills and restarts", (), (), peaks=f"p <= M, {_EQUAL}", lengths="unknown"),
    ),
    _published(
        "sps",
        "feng2026",
        "staggered pipeline",
        "SPS tends to ratio 1 for equal requests",
        Hypotheses("SPS", (), (), peaks="equal requests, small against M"),
        *supported_by(SYMBOLIC, "R5.stream"),
        note="SVF tends to 2 there (R5)",
    ),
    _published(
        "regime-routing",
        "feng2026regime",
        "main theorem",
        "regime routing has competitive ratio at most 16, and 3 + o(1) for small peaks",
        Hypotheses("regime routing", (), (), peaks="p <= M"),
        note="for 2p <= M SVF has 4 (T2-half), for small peaks 7/3 in the limit (T2-small-peaks)",
    ),
    _published(
        "congestion",
        "congestion2026",
        "main result",
        "saturated requests of equal length fall into a limit cycle that loses up to half of the throughput",
        Hypotheses("greedy admission", (), (), peaks="equal lengths", arrivals="saturated"),
        *supported_by(SYMBOLIC, "R5.limit"),
        note="the same effect in our model: R5, P-load",
    ),
)
