"""What [kong2026] claims about bursts, version by version, and about practice."""

from __future__ import annotations

from fractions import Fraction

from theory.burst_bounds import Hypotheses
from theory.claim import (
    COMPUTATION,
    PUBLISHED,
    REFUTES,
    ROCQ,
    SWEEP,
    SYMBOLIC,
    Claim,
    Facts,
    Source,
    proved_by,
    refuted_by,
    supported_by,
    witness,
)

VOLUME = "smallest volume first"
BOTH_FITS = ("lookahead", "peak")
_STRICT = ("strict",)
_HALF = "2p <= M"


def _v1(place: str) -> Source:
    return Source("kong2026", f"v1, {place}")


def _v2(place: str) -> Source:
    return Source("kong2026", f"v2, {place}")


CLAIMS = (
    Claim(
        "v1-burst",
        "SVF has competitive ratio at most 5 on every burst",
        Hypotheses(VOLUME, ("strict", "skip"), BOTH_FITS, peaks="p <= M (arbitrary peaks)"),
        _v1("burst theorem"),
        (
            *refuted_by(ROCQ, "Refutations.R1", "Headline.headline_R2", "WitnessExample.r1_witness"),
            witness("r1-strict", REFUTES, Facts(Fraction(5))),
            witness("r1-skip", REFUTES, Facts(Fraction(5), admission="skip")),
            witness("r1-large", REFUTES, Facts(Fraction(8))),
            *supported_by(SYMBOLIC, "R1.memory", "R1.ratio", "R1.ratio-large", "R2.volumes"),
        ),
        "no constant can replace 5 (R2)",
    ),
    Claim(
        "v1-burst-half",
        "SVF has competitive ratio at most 5 on every burst whose peaks are at most half the memory",
        Hypotheses(VOLUME, _STRICT, BOTH_FITS, peaks=_HALF),
        _v1("burst theorem, with the hypothesis it needs"),
        (
            *proved_by(ROCQ, "Headline.headline_T2_half"),
            *supported_by(SYMBOLIC, "T1.half"),
            *supported_by(SWEEP, "burst-bounds"),
        ),
        "the theorem proves 4, which is stronger (T2)",
    ),
    Claim(
        "v1-burst-skip",
        "SVF with skip-ahead admission has competitive ratio at most 5 when peaks are at most half the memory",
        Hypotheses(VOLUME, ("skip",), BOTH_FITS, peaks=_HALF),
        _v1("burst theorem, admission read as skip-ahead"),
        (
            *refuted_by(ROCQ, "Headline.headline_R3", "WitnessExample.skip_ahead_witness"),
            witness("r3", REFUTES, Facts(Fraction(14), admission="skip", alpha_at_most=Fraction(1, 2))),
        ),
        "the admission rule is a hypothesis of the theorem, not a detail",
    ),
    Claim(
        "v1-active-memory",
        "while a request waits, more than half the memory is in use",
        Hypotheses(VOLUME, _STRICT, BOTH_FITS, peaks=_HALF),
        _v1("proof of the burst theorem"),
        refuted_by(COMPUTATION, "memory-in-use"),
        "true of the sum of active peaks (v1-peak-mass)",
    ),
    Claim(
        "v1-peak-mass",
        "while a request waits, the peaks of the active requests sum to more than M/2",
        Hypotheses("any static order", ("strict", "conservative"), BOTH_FITS, peaks=_HALF),
        _v1("proof of the burst theorem, repaired"),
        (*proved_by(ROCQ, "Waiting.waiting_slot"), *supported_by(SWEEP, "burst-bounds")),
    ),
    Claim(
        "v1-one-bit",
        "1-bit SVF has competitive ratio O(T) on bursts, T the largest peak: at most 4T + 3",
        Hypotheses("any static order", ("strict", "conservative"), BOTH_FITS, peaks="2p <= M, prompts >= 1"),
        _v1("1-bit theorem"),
        proved_by(ROCQ, "StaticOrder.T5_peak"),
        "proved of every static order, first come first served included: it says nothing about the bit (T5, T6); "
        "true lengths in the fit test",
    ),
    Claim(
        "v2-volume-bound",
        "M OPT >= sum over k of the k smallest volumes",
        Hypotheses("every feasible schedule", (), ()),
        _v2("Proposition 3.1"),
        (*proved_by(ROCQ, "LowerBounds.L2_volume"), *supported_by(SWEEP, "lower-bounds")),
        "L2 in our numbering",
    ),
    Claim(
        "v2-burst",
        "SVF has competitive ratio at most 1 + 2M/(M+1-P) on every burst; below 1 + 2/(1-alpha)",
        Hypotheses(VOLUME, ("strict", "conservative"), BOTH_FITS, peaks="p <= P <= M, alpha = P/M"),
        _v2("Theorem 3.2"),
        (
            *proved_by(ROCQ, "Headline.headline_T1", "Multiset.list_T1"),
            *proved_by(SYMBOLIC, "T1.large-memory", "T1.below-its-limit"),
            *supported_by(SYMBOLIC, "T1.half", "T1.small-peaks"),
            *supported_by(SWEEP, "burst-bounds"),
        ),
        "T1 in our numbering; T2 is stronger; the headline theorem is for look-ahead, list_T1 for both",
    ),
    Claim(
        "v2-burst-any-alpha",
        "SVF has competitive ratio at most 5 whatever alpha < 1 is",
        Hypotheses(VOLUME, _STRICT, ("lookahead",), peaks="p <= alpha M, alpha = 9/10"),
        _v2("Theorem 3.2, if alpha is dropped"),
        (
            witness("r4-alpha", REFUTES, Facts(Fraction(5), alpha_at_most=Fraction(9, 10))),
            *supported_by(SYMBOLIC, "R4.curve"),
        ),
        "5 fails for every alpha > 4/5 in the limit (R4): alpha belongs into the bound",
    ),
    Claim(
        "v2-one-bit",
        "1-bit SVF with theta = sqrt T, O_0 = T^(1/4), O_1 = T^(3/4) has competitive ratio O(T) on bursts",
        Hypotheses(VOLUME + " by one bit", ("strict", "conservative"), BOTH_FITS, peaks="2p <= M, outputs <= T = m^4"),
        _v2("Theorem 3.3"),
        (*proved_by(ROCQ, "StaticOrder.T6_one_bit"), *supported_by(SYMBOLIC, "one-bit.upper", "one-bit.lower")),
        "it is O(sqrt T): 1 + 8 sqrt T (T6); perfect classifier, true lengths in the fit test",
    ),
    Claim(
        "v1-practice",
        "SVF has the lowest mean and P95 latency against FCFS, SJF and SJF with true lengths",
        Hypotheses(VOLUME, ("strict",), (), peaks="context 65536", arrivals="burst and Poisson", lengths="predicted"),
        _v1("experiments"),
        supported_by(PUBLISHED, "kong2026"),
        "latency there is seconds per output token; the lowest P95 on LMSYS at 70B is 1-bit SVF's in its table",
    ),
    Claim(
        "v1-throughput",
        "SVF has a higher throughput than SJF",
        Hypotheses(VOLUME, ("strict",), (), peaks="", arrivals="burst and Poisson", lengths="predicted"),
        _v1("experiments"),
        supported_by(PUBLISHED, "kong2026"),
        "not in every cell of its own table: 2361 against 2444 tokens/s on LMSYS at 70B",
    ),
)
