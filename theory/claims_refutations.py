"""Lower bounds and refutations of ours: what no policy, or not this one, can do."""

from __future__ import annotations

from fractions import Fraction

from theory.burst_bounds import Hypotheses
from theory.claim import (
    HAND,
    PROVES,
    PUBLISHED,
    REFUTES,
    ROCQ,
    SUPPORTS,
    SYMBOLIC,
    Claim,
    Facts,
    Source,
    proved_by,
    refuted_by,
    supported_by,
    witness,
)

_VOLUME = "smallest volume first"
_FITS = ("lookahead", "peak")
_LOOK = ("lookahead",)
_HALF = Fraction(1, 2)
_PAGE = "papers/burst-theorem.md"
_OURS = Source("", f"{_PAGE}, tightness")


def _strict(peaks: str = "p <= M", order: str = _VOLUME, arrivals: str = "burst") -> Hypotheses:
    return Hypotheses(order, ("strict",), _LOOK, peaks=peaks, arrivals=arrivals)


CLAIMS = (
    Claim(
        "R1",
        "when peaks may reach M, strict SVF exceeds 5 times another schedule (and 8 times, at M = 10000)",
        _strict(),
        _OURS,
        (
            *proved_by(ROCQ, "Refutations.R1", "WitnessExample.r1_witness"),
            witness("r1-strict", PROVES, Facts(Fraction(5))),
            witness("r1-large", PROVES, Facts(Fraction(8))),
        ),
    ),
    Claim(
        "R2",
        "when peaks may reach M, no greedy policy in volume order has a constant ratio",
        Hypotheses(_VOLUME, ("strict", "conservative"), _FITS, peaks="p <= M"),
        _OURS,
        (
            *proved_by(ROCQ, "Refutations.R2", "Headline.headline_R2"),
            *supported_by(SYMBOLIC, "R2.volumes", "R2.unbounded", "R2.limit"),
        ),
        "volumes distinct where it matters: not an effect of ties",
    ),
    Claim(
        "R2-sqrt",
        "when peaks may reach M = b(2b + 3), strict SVF has ratio at least (6b + 5)/9: T4's sqrt M is right",
        Hypotheses(_VOLUME, ("strict",), _FITS, peaks="p <= M, equal volumes"),
        Source("", "theory/proofs/Refutations.v"),
        proved_by(ROCQ, "Refutations.R2_sqrt"),
    ),
    Claim(
        "R3",
        "skip-ahead SVF has no constant ratio, even with peaks of at most half the memory",
        Hypotheses(_VOLUME, ("skip",), _LOOK, peaks="2p <= M"),
        _OURS,
        (
            *proved_by(ROCQ, "SkipAhead.R3", "SkipAhead.skip_ahead_unique", "Headline.headline_R3"),
            witness("r3", SUPPORTS, Facts(Fraction(14), admission="skip", alpha_at_most=_HALF)),
            *supported_by(ROCQ, "WitnessExample.skip_ahead_witness"),
        ),
    ),
    Claim(
        "EASY",
        "EASY backfilling (only the head of the queue reserved) keeps a constant ratio in volume order",
        Hypotheses(_VOLUME, ("easy",), _LOOK, peaks="2p <= M"),
        Source("lifka1995", "the admission rule"),
        refuted_by(ROCQ, "EasyBackfilling.EASY"),
        "full conservative backfilling does (T9)",
    ),
    Claim(
        "EASY-4",
        "EASY backfilling keeps the bound 4 of T2",
        Hypotheses(_VOLUME, ("easy",), _LOOK, peaks="2p <= M"),
        Source("lifka1995", "the admission rule"),
        refuted_by(ROCQ, "WitnessExample.easy_witness"),
        "11282 against 1610 steps at M = 1600",
    ),
    Claim(
        "R4",
        "strict SVF has ratio at least 1/(1 - alpha) in the limit, and 2 at alpha = 1/2",
        _strict("p <= alpha M"),
        _OURS,
        (
            *proved_by(HAND, f"{_PAGE}, tightness"),
            *supported_by(SYMBOLIC, "R4.half", "R4.half-limit", "R4.curve"),
            witness("r4-alpha", SUPPORTS, Facts(Fraction(5), alpha_at_most=Fraction(9, 10))),
            witness("r4-half", SUPPORTS, Facts(Fraction(15, 8), alpha_at_most=_HALF)),
        ),
        "requests of equal volume in an unlucky tie order",
    ),
    Claim(
        "R4-half",
        "strict SVF exceeds 15/8 times another schedule at alpha = 1/2",
        _strict("2p <= M"),
        _OURS,
        (witness("r4-half", PROVES, Facts(Fraction(15, 8), alpha_at_most=_HALF)),),
        "T2 allows 4, T7 8/3",
    ),
    Claim(
        "R4-full",
        "strict SVF exceeds 11/2 times another schedule of 32 requests of equal volume at M = 119",
        _strict(),
        _OURS,
        (
            witness("r4-full", PROVES, Facts(Fraction(11, 2))),
            *supported_by(SYMBOLIC, "R4.full-14", "R4.full-limit"),
        ),
    ),
    Claim(
        "R5",
        "as alpha -> 0 strict SVF has ratio at least 2 in the limit: 2 (B + 1)/(B + 4) on B batches of equals",
        _strict("p <= alpha M, alpha -> 0"),
        _OURS,
        (
            *proved_by(HAND, f"{_PAGE}, tightness"),
            *supported_by(SYMBOLIC, "R5.stream", "R5.ratio", "R5.limit"),
            witness("r5", SUPPORTS, Facts(Fraction(9, 5), alpha_at_most=Fraction(1, 20))),
        ),
        "all requests peak together, and half of the memory is wasted",
    ),
    Claim(
        "R5-witness",
        "strict SVF exceeds 9/5 times another schedule with alpha at most 1/20",
        _strict("20 p <= M"),
        _OURS,
        (witness("r5", PROVES, Facts(Fraction(9, 5), alpha_at_most=Fraction(1, 20))),),
    ),
    Claim(
        "R6",
        "the ratio of SJF to SVF grows like sqrt M with peaks of at most half the memory",
        _strict("2p <= M", "shortest output first"),
        Source("wang2025sortedf", "shortest first is unbounded; family ours"),
        (
            *proved_by(HAND, "theory/symbolic_refutations.py, shortest_job_first"),
            *supported_by(SYMBOLIC, "R6.sjf", "R6.svf", "R6.growth"),
            witness("r6-256", SUPPORTS, Facts(Fraction(24, 5), "sjf", alpha_at_most=_HALF)),
            witness("r6-1024", SUPPORTS, Facts(Fraction(9), "sjf", alpha_at_most=_HALF)),
        ),
    ),
    Claim(
        "R6-4",
        "SJF keeps the bound 4 that SVF has",
        _strict("2p <= M", "shortest output first"),
        Source("", "T2 asked of SJF"),
        (
            witness("r6-256", REFUTES, Facts(Fraction(24, 5), "sjf", alpha_at_most=_HALF)),
            witness("r6-1024", REFUTES, Facts(Fraction(9), "sjf", alpha_at_most=_HALF)),
        ),
    ),
    Claim(
        "R6-fcfs",
        "first come first served exceeds 62 times another schedule at M = 400 (31 at 200, 16 at 100)",
        _strict("2p <= M", "submission order"),
        Source("wang2025sortedf", "first come first served is unbounded; instances ours"),
        (
            witness("fcfs-100", PROVES, Facts(Fraction(16), "fcfs", alpha_at_most=_HALF)),
            witness("fcfs-200", PROVES, Facts(Fraction(31), "fcfs", alpha_at_most=_HALF)),
            witness("fcfs-400", PROVES, Facts(Fraction(62), "fcfs", alpha_at_most=_HALF)),
        ),
    ),
    Claim(
        "R7",
        "1-bit SVF with threshold T - 1 exceeds 7 times another schedule at T = 16, and 31 times at T = 64",
        Hypotheses(
            "smallest volume first by one bit",
            ("strict",),
            _LOOK,
            peaks="2p <= M",
            lengths="one bit for the order, true for the fit",
        ),
        Source("kong2026", "v2, Theorem 3.3, with another threshold; instances ours"),
        (
            witness("one-bit-16", PROVES, Facts(Fraction(7), "svf-1bit", alpha_at_most=_HALF)),
            witness("one-bit-64", PROVES, Facts(Fraction(31), "svf-1bit", alpha_at_most=_HALF)),
        ),
        "the threshold decides: sqrt T gives 1 + 8 sqrt T for every T (T6-one-bit)",
    ),
    Claim(
        "R8",
        "strict SVF keeps the bound 4 of bursts when requests arrive over time",
        _strict("2p <= M", arrivals="any"),
        Source("", "T2 asked of arrivals"),
        (witness("arrivals-strict", REFUTES, Facts(Fraction(15), alpha_at_most=_HALF, burst=False)),),
        "two long requests start before the others are there",
    ),
    Claim(
        "R8-conservative",
        "conservative backfilling in volume order keeps the bound 4 of bursts when requests arrive over time",
        Hypotheses(_VOLUME, ("conservative",), _LOOK, peaks="2p <= M", arrivals="any"),
        Source("", "T2 asked of arrivals"),
        (
            witness(
                "arrivals-conservative",
                REFUTES,
                Facts(Fraction(15), admission="conservative", alpha_at_most=_HALF, burst=False),
            ),
        ),
    ),
    Claim(
        "R8-any-policy",
        "with arrivals no deterministic policy has a constant ratio: Omega(sqrt n)",
        Hypotheses("any deterministic policy", (), (), arrivals="any"),
        Source("jaillet2025", "lower bound"),
        supported_by(PUBLISHED, "jaillet2025"),
    ),
)
