"""Confidence intervals for means and ratios of means, at 95 per cent, by Student's t.

Statistics, hence floating point. An interval is asymptotic: it supposes that the terms (independent runs, batches
of one run, or regenerative cycles) are many enough for their mean to be normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Floats: TypeAlias = NDArray[np.float64]
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point estimate and the half-width of its confidence interval.

    Parameters
    ----------
    value : float
    half_width : float
        Infinite when there are fewer than two terms.
    terms : int
        Number of terms the interval rests on.
    """

    value: float
    half_width: float
    terms: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.value - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.value + self.half_width

    def row(self) -> list[float | None]:
        """``[value, half-width]`` for a data file; the half-width is None when it is infinite."""
        return [float(f"{self.value:.8g}"), float(f"{self.half_width:.3g}") if self.half_width < inf else None]


def mean_estimate(values: Sequence[float] | Floats) -> Estimate:
    """Estimate the mean of independent terms.

    Examples
    --------
    >>> estimate = mean_estimate([1.0, 2.0, 3.0])
    >>> estimate.value, round(estimate.half_width, 3)
    (2.0, 2.484)
    """
    return ratio_estimate(values, np.ones(len(values)))


def ratio_estimate(tops: Sequence[float] | Floats, bottoms: Sequence[float] | Floats) -> Estimate:
    """Estimate ``E[top]/E[bottom]`` from independent pairs, by the ratio of sums and the delta method.

    With cycle sums and cycle lengths this is the regenerative estimator of a stationary mean.

    Examples
    --------
    >>> ratio_estimate([2.0, 4.0], [1.0, 2.0])
    Estimate(value=2.0, half_width=0.0, terms=2)
    """
    top, bottom = np.asarray(tops, dtype=np.float64), np.asarray(bottoms, dtype=np.float64)
    n = len(top)
    if not n:
        return Estimate(nan, inf, 0)
    value = float(top.sum() / bottom.sum())
    if n < 2:
        return Estimate(value, inf, n)
    spread = float(np.std(top - value * bottom, ddof=1) / bottom.mean())
    quantile = float(student.ppf((1 + CONFIDENCE) / 2, n - 1))
    return Estimate(value, quantile * spread / sqrt(n), n)


def batch_means(values: Floats, batches: int = 20) -> Estimate:
    """Estimate the stationary mean of one long run from the means of equal batches of successive terms.

    The terms left over by the division are taken from the front.

    Examples
    --------
    >>> batch_means(np.array([9.0, 1.0, 3.0, 1.0, 3.0]), batches=2)
    Estimate(value=2.0, half_width=0.0, terms=2)
    """
    size = len(values) // batches
    return mean_estimate(values[len(values) - batches * size :].reshape(batches, size).mean(axis=1))
