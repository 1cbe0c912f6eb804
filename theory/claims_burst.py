"""What we claim about bursts: the model, lower bounds on the optimum, upper bounds on policies."""

from __future__ import annotations

from fractions import Fraction

from theory.burst_bounds import Hypotheses
from theory.claim import (
    COMPUTATION,
    HAND,
    PROVES,
    ROCQ,
    SUPPORTS,
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

_VOLUME = "smallest volume first"
_ANY = "any static order"
_ALL = Hypotheses("every feasible schedule", (), ())
_BOTH = ("strict", "conservative")
_FITS = ("lookahead", "peak")
_PAGE = "papers/burst-theorem.md"
_P = "p <= P <= M"
_HALF = "2p <= M"
_SWEPT = supported_by(SWEEP, "burst-bounds")


def _ours(place: str) -> Source:
    return Source("", f"{_PAGE}, {place}")


def _by_volume(peaks: str = _P, fits: tuple[str, ...] = _FITS, admissions: tuple[str, ...] = _BOTH) -> Hypotheses:
    return Hypotheses(_VOLUME, admissions, fits, peaks=peaks)


def _by_any(peaks: str = _P, order: str = _ANY) -> Hypotheses:
    return Hypotheses(order, _BOTH, _FITS, peaks=peaks)


_BOUNDS = (
    Claim(
        "L1",
        "OPT >= sum of the output lengths",
        _ALL,
        _ours("lower bounds"),
        (*proved_by(ROCQ, "LowerBounds.L1_output"), *supported_by(SWEEP, "lower-bounds")),
    ),
    Claim(
        "L2",
        "M OPT >= sum of min(v_i, v_k) over unordered pairs, i = k included",
        _ALL,
        Source("kong2026", "v2, Proposition 3.1, in pairs"),
        (*proved_by(ROCQ, "LowerBounds.L2_pairs", "LowerBounds.L2_volume"), *supported_by(SWEEP, "lower-bounds")),
        "the k smallest, not the k largest: for s = 0, o = 1 and 2, M = 2 the latter would be 7, but M OPT = 6",
    ),
    Claim(
        "L3",
        "OPT >= (1/M) sum (V_(k-1) + v_k/2) + sum d_k, d_k = sum_j (s_k + j)(o_k - j + 1/2)/v_k (mean busy times)",
        _ALL,
        _ours("L3"),
        (
            *proved_by(ROCQ, "MeanBusyTimeQ.L3_rational", "MeanBusyTime.L3_weighted"),
            *supported_by(ROCQ, "MeanBusyTime.L3_pairs", "MeanBusyTime.L3"),
            *supported_by(
                SYMBOLIC,
                "moment.closed-form",
                "moment.at-least",
                "busy.abel",
                "busy.last-step",
                "moment.no-prompt",
                "z3.moment",
            ),
            *supported_by(SWEEP, "lower-bounds"),
        ),
        "the idea is that of goemans2002 for one machine",
    ),
    Claim(
        "L4",
        "OPT >= sum B*_k + sum d_k - sum a_k; B*: mean busy times of preemptive smallest volume first at speed M",
        Hypotheses("every feasible schedule", (), (), arrivals="any"),
        Source("goemans2002", "mean-busy-time relaxation; volumes and moments ours"),
        (
            *proved_by(HAND, "papers/burst-theorem.md, L3, with the greedy solution of goemans2002"),
            *supported_by(SYMBOLIC, "moment.closed-form"),
            *supported_by(SWEEP, "arrival-bound"),
        ),
        "with a burst it is L3, which is proved",
    ),
    Claim(
        "MODEL",
        "strict admission and conservative backfilling give feasible schedules; the executable scheduler meets "
        "their specification, and a computed witness means what it says",
        _by_any(),
        Source("", "theory/proofs/Headline.v"),
        proved_by(
            ROCQ,
            "Policies.greedy_feasible",
            "Headline.scheduler_strict",
            "Headline.scheduler_conservative",
            "WitnessSound.witness_sound",
        ),
    ),
    Claim(
        "VOLUME",
        "v = s o + o (o + 1)/2, p o = 2 v - o (s + 1) <= 2 v and p <= v <= p^2",
        Hypotheses("every request", (), (), arrivals=""),
        _ours("model"),
        proved_by(
            SYMBOLIC,
            "volume.closed-form",
            "volume.peak-times-output",
            "volume.half-the-box",
            "volume.above-peak",
            "volume.below-square",
        ),
    ),
    Claim(
        "W",
        "while request k waits, the peaks of the active requests before it sum to at least M + 1 - P; hence "
        "(M + 1 - P) t_k <= sum of p_i o_i over i before k",
        _by_any(),
        _ours("waiting lemma"),
        (
            *proved_by(
                ROCQ,
                "Waiting.waiting_slot",
                "Waiting.waiting_time",
                "Waiting.strict_certifying",
                "Waiting.conservative_certifying",
            ),
            *_SWEPT,
        ),
    ),
    Claim(
        "T2",
        "SVF <= max(1 + 2c/3, c) OPT with c = 2M/(M + 1 - P)",
        _by_volume(),
        _ours("T2"),
        (
            *proved_by(ROCQ, "Headline.headline_T2"),
            *supported_by(SYMBOLIC, "T2.first-branch", "T2.second-branch-small-c", "T2.second-branch-large-c"),
            *supported_by(SYMBOLIC, "z3.combine"),
            *_SWEPT,
        ),
    ),
    Claim(
        "T2-half",
        "SVF <= 4 OPT",
        _by_volume(_HALF),
        _ours("T2"),
        (*proved_by(ROCQ, "Headline.headline_T2_half", "Multiset.svf_T2_half"), *_SWEPT),
        "the paper has 5",
    ),
    Claim(
        "T2-small-peaks",
        "SVF <= (7/3 + 4/(3 (k - 1))) OPT if k P <= M, k >= 3: 7/3 in the limit",
        _by_volume("k p <= M"),
        _ours("T2"),
        (*proved_by(ROCQ, "Headline.headline_T2_limit"), *supported_by(SYMBOLIC, "T2.small-peaks")),
        "the paper has 3 in the limit",
    ),
    Claim(
        "T2-below-T1",
        "max(1 + 2c/3, c) <= 1 + c for c >= 0; the second branch decides from c = 3 (alpha = 1/3) on",
        Hypotheses("algebra", (), (), arrivals="", lengths="", peaks=""),
        _ours("T2"),
        proved_by(SYMBOLIC, "T2.at-most-T1", "T2.switch"),
    ),
    Claim(
        "T3",
        "if (o_i - 1)/(2 s_i + o_i + 1) <= y for all i, then with c = (1 + y) M/(M + 1 - P), while "
        "c (1/2 - y/6) <= 1, SVF <= (1 + c (1/2 + y/6)) OPT + c (y/6) n",
        _by_volume(),
        _ours("T3"),
        (
            *proved_by(ROCQ, "BurstBounds.T3"),
            *supported_by(SYMBOLIC, "shape.box", "shape.moment", "T3.no-prompt", "T3.prompt-heavy", "T3.branch"),
        ),
    ),
    Claim(
        "T3-ratio",
        "if all o_i/(2 s_i + o_i) <= y, then SVF <= max(1 + c (1/2 + y/6), c) OPT, c = (1 + y) M/(M + 1 - P): "
        "3/2 in the limit for dominating prompts, 7/3 without prompts",
        _by_volume(),
        _ours("T3"),
        (
            *proved_by(HAND, f"{_PAGE}, T3"),
            *supported_by(ROCQ, "BurstBounds.T3", "MeanBusyTime.L3_weighted", "Waiting.waiting_time"),
            *supported_by(SYMBOLIC, "shape.box-bound", "shape.moment-bound", "z3.shape", "T3.curve"),
            *_SWEPT,
        ),
        "the form that theory.burst.t3 computes; the machine-checked form is T3",
    ),
    Claim(
        "T4",
        "SVF <= (5 + 2M/floor(sqrt M)) OPT",
        _by_volume("p <= M"),
        _ours("T4"),
        (
            *proved_by(ROCQ, "Headline.headline_T4", "SqrtBound.T4"),
            *supported_by(SYMBOLIC, "z3.big-head"),
            *_SWEPT,
        ),
        "sqrt M is the right order (R2-sqrt)",
    ),
    Claim(
        "T4-sharp",
        "SVF <= (4 + 2M/floor(sqrt M)) OPT",
        _by_volume("p <= M"),
        _ours("T4"),
        (
            *proved_by(HAND, f"{_PAGE}, T4"),
            *supported_by(ROCQ, "SqrtBound.T4"),
            *supported_by(SYMBOLIC, "z3.big-head", "z3.combine"),
            *_SWEPT,
        ),
    ),
    Claim(
        "T5",
        "every static order has ratio at most 1 + 8 sqrt(v_max/v_min), first come first served included",
        _by_any(_HALF),
        _ours("T5"),
        (*proved_by(ROCQ, "StaticOrder.T5"), *_SWEPT),
        "so O(T) is no merit of a length predictor; the root is given as a/b with a^2 v_min >= b^2 v_max",
    ),
    Claim(
        "T5-sharp",
        "every static order has ratio at most max(1 + 2w/3, w), w = c (2 sqrt(v_max/v_min) - 1)",
        _by_any(),
        _ours("T5"),
        (
            *proved_by(HAND, f"{_PAGE}, T5"),
            *supported_by(ROCQ, "StaticOrder.T5"),
            *supported_by(SYMBOLIC, "T5.constant"),
            *_SWEPT,
        ),
    ),
    Claim(
        "T6",
        "if i before j implies v_i <= D v_j, the ratio is at most 1 + 8 sqrt D",
        _by_any(_HALF, "volume order up to a factor D"),
        _ours("T6"),
        proved_by(ROCQ, "Headline.headline_T6", "StaticOrder.nearly_sorted_bound"),
        "true lengths in the fit test",
    ),
    Claim(
        "T6-sharp",
        "if i before j implies v_i <= D v_j, the ratio is at most max(1 + 2w/3, w), w = c (4 sqrt D - 3)",
        _by_any(_P, "volume order up to a factor D"),
        _ours("T6"),
        (
            *proved_by(HAND, f"{_PAGE}, T6"),
            *supported_by(ROCQ, "StaticOrder.nearly_sorted_bound"),
            *supported_by(SYMBOLIC, "T6.constant", "T6.integral", "far.mean-inequality"),
            *_SWEPT,
        ),
    ),
    Claim(
        "T6-predicted",
        "order by volumes of lengths predicted within a factor m: ratio at most 1 + 8 m^2",
        Hypotheses("predicted volume", _BOTH, _FITS, peaks=_HALF, lengths="predicted for the order, true for the fit"),
        _ours("T6"),
        proved_by(ROCQ, "StaticOrder.T6_accuracy"),
    ),
    Claim(
        "T6-one-bit",
        "one perfect bit per request, theta = sqrt T, proxies T^(1/4) and T^(3/4): ratio at most 1 + 8 sqrt T",
        Hypotheses(
            "predicted volume",
            _BOTH,
            _FITS,
            peaks="2p <= M, outputs <= T = m^4",
            lengths="one bit for the order, true for the fit",
        ),
        _ours("T6"),
        (*proved_by(ROCQ, "StaticOrder.T6_one_bit"), *supported_by(SYMBOLIC, "z3.one-bit")),
        "the paper has O(T)",
    ),
    Claim(
        "T7",
        "SVF <= max(1 + 2w/3, w) OPT with w -> (1 - alpha) + 1/(1 - alpha): 8/3 at alpha = 1/2",
        _by_volume("p <= alpha M, all volumes far below M^2", ("lookahead",)),
        _ours("T7"),
        (
            *proved_by(HAND, f"{_PAGE}, T7"),
            *supported_by(
                SYMBOLIC,
                "T7.charge-integral",
                "T7.charge-slack",
                "T7.charge-constant",
                "T7.charge-no-crossing",
                "T7.falls-in-a",
                "T7.half",
                "T7.crossover",
                "T7.at-most-T2",
                "z3.count",
                "z3.growth",
                "z3.charge",
            ),
        ),
    ),
    Claim(
        "T8",
        "with peak reservation SVF has ratio at least 2/(1 - alpha) in the limit, so T2 is exact there for "
        "alpha >= 1/3",
        _by_volume("p <= alpha M", ("peak",), ("strict",)),
        _ours("T8"),
        (
            *proved_by(HAND, f"{_PAGE}, T8"),
            *supported_by(SYMBOLIC, "T8.limit-0", "T8.limit-1", "T8.volumes", "T8.stream", "T8.half", "T8.meets-T2"),
            *supported_by(ROCQ, "WitnessExample.t8_witness"),
            witness("t8", SUPPORTS, Facts(Fraction(3), fit="peak", alpha_at_most=Fraction(1, 2))),
        ),
    ),
    Claim(
        "T8-above-T7",
        "with peak reservation SVF exceeds 3 times another schedule at alpha = 1/2",
        _by_volume(_HALF, ("peak",), ("strict",)),
        _ours("T8"),
        (
            *proved_by(ROCQ, "WitnessExample.t8_witness"),
            witness("t8", PROVES, Facts(Fraction(3), fit="peak", alpha_at_most=Fraction(1, 2))),
        ),
        "above the limit 8/3 of T7: look-ahead is the better fit test",
    ),
    Claim(
        "T9",
        "conservative backfilling has the waiting lemma, hence T1 and T2, in every static order",
        Hypotheses(_ANY, ("conservative",), _FITS, peaks=_P),
        _ours("T9"),
        (*proved_by(ROCQ, "Waiting.conservative_certifying", "Multiset.list_T1", "Headline.headline_T2"), *_SWEPT),
        "T2 in the volume order",
    ),
    Claim(
        "HORIZON",
        "some optimal schedule ends by the sum of the output lengths",
        _ALL,
        Source("", "lp_bounds/exact.py"),
        supported_by(SWEEP, "lower-bounds"),
    ),
    Claim(
        "ORACLE",
        "the best permutation with earliest fit is an optimal schedule",
        _ALL,
        Source("", "a tempting oracle"),
        refuted_by(COMPUTATION, "oracle-trap"),
        "M = 10, (1,4), (1,3), (6,4), (2,4): the best of all permutations has 25, the optimum is 24",
    ),
)

_OPEN = (
    Claim(
        "LIMIT-2",
        "as alpha -> 0 the ratio of strict SVF tends to 2",
        _by_volume("p <= alpha M, alpha -> 0", ("lookahead",), ("strict",)),
        Source("", "conjecture"),
        (
            *supported_by(ROCQ, "Headline.headline_T2_limit"),
            *supported_by(SYMBOLIC, "R5.limit"),
        ),
        "it lies in [2, 7/3]: R5 below, T2 above",
    ),
    Claim(
        "ALPHA-CURVE",
        "for look-ahead the ratio of strict SVF at alpha is max(2, 1/(1 - alpha))",
        _by_volume("p <= alpha M", ("lookahead",), ("strict",)),
        Source("", "open"),
        supported_by(SYMBOLIC, "R4.curve", "R4.half-limit", "T7.gap"),
        "R4 is a lower bound; T7 comes within 1 - alpha of it from alpha = 0.618 on, for short outputs",
    ),
    Claim(
        "ONE-BIT-UNKNOWN",
        "1-bit SVF keeps O(sqrt T) when true lengths are unknown at admission and requests may be preempted",
        Hypotheses("predicted volume", ("strict",), (), peaks=_HALF, lengths="one bit"),
        Source("", "open"),
        (),
    ),
)
CLAIMS = (*_BOUNDS, *_OPEN)
