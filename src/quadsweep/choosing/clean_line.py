"""A clean line with the noise of the data: the null that can say how many rows stand out.

Shuffling y asks whether there is any association. To ask how many rows to drop, the null must have
the line and lack the outliers:

    y = alpha + beta x + sigma e,     e from Student's t with nu degrees of freedom.

The line, or with several predictors the plane, is that of the rows kept at the smallest size looked at. What lies outside may be noise or
not, so the law of the noise is learned from the rows inside: with c the largest residual of the k
nearest to the line, the others are only known to be larger,

    likelihood(sigma, nu) = product over the k of  t_nu(e_i / sigma) / sigma  times  P(|t_nu| > c / sigma)^(n - k)

and every draw takes its own (sigma, nu) in proportion to it and to the odds beforehand, over a grid with
nu from 5 to infinity: half on the normal law, a quarter on the heaviest tails, a quarter between. In small
samples the rows inside hardly tell the two ends apart, and the odds decide: more on heavy tails is safer
where they are heavy and sees fewer outliers. In large samples the rows decide.
Residuals drawn again from the data are no null: the extreme one is there in two of three draws, so that
nothing ever stands out. If the errors are known to be normal, `NORMAL` is the null.
"""  # noqa: E501

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.least_squares import fit

_TAILS = np.array([5.0, 6.0, 8.0, 11.0, 16.0, 25.0, np.inf])
UNKNOWN = (0.25, 0.05, 0.05, 0.05, 0.05, 0.05, 0.5)  # the odds beforehand, of each of them
NORMAL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
_SCALES = np.exp(np.linspace(math.log(0.5), math.log(3.0), 80))  # times the spread of those inside


@dataclass(frozen=True)
class CleanLine:
    """A line, or a plane, and what is known of the noise around it.

    Attributes
    ----------
    fitted : array of floats
        Its height at every row.
    scale : array of floats
        The grid of sigma.
    weight : array, one row for every nu of the grid, one column for every sigma
        Adds up to one.
    """

    fitted: Floats
    scale: Floats
    weight: Floats

    @property
    def normal(self) -> float:
        """How much of the weight is on normal noise."""
        return float(self.weight[-1].sum())

    def draws(self, rng: np.random.Generator, count: int) -> Floats:
        """``count`` rows, each a y for the same x."""
        return np.array([self._draw(rng) for _ in range(count)])

    def _draw(self, rng: np.random.Generator) -> Floats:
        cell = int(rng.choice(self.weight.size, p=self.weight.ravel()))
        tails, scale = _TAILS[cell // len(self.scale)], self.scale[cell % len(self.scale)]
        normal, n = math.isinf(tails), len(self.fitted)
        noise = rng.standard_normal(n) if normal else rng.standard_t(tails, size=n)
        return np.asarray(self.fitted + scale * noise)


def fit_clean_line(
    x: Floats,
    y: Floats,
    kept: Mask,
    intercept: bool = True,
    odds: tuple[float, ...] = UNKNOWN,
) -> CleanLine:
    """The line of the kept rows, a plane where x has several columns, and the noise around it.

    >>> x = np.arange(40.0)
    >>> y = 2 * x + 1 + np.sin(7 * x)
    >>> y[4] += 50
    >>> line = fit_clean_line(x, y, np.arange(40) != 4)
    >>> round(line.fitted[4]), bool(0.5 < line.scale @ line.weight.sum(axis=0) < 1)
    (9, True)
    """
    columns = x.reshape(len(y), -1)
    plane = fit(columns[kept], y[kept], None, intercept)
    fitted = plane.intercept + columns @ plane.coef
    size = np.sort(np.abs(plane.residuals(columns, y)))
    inside = size[: int(kept.sum())]
    unit = math.sqrt(inside @ inside / len(inside)) or np.finfo(float).tiny
    scale = unit * _SCALES
    return CleanLine(fitted, scale, _posterior(inside / unit, len(x) - len(inside), odds))


def _posterior(inside: Floats, outside: int, odds: tuple[float, ...]) -> Floats:
    """The weight of every (nu, sigma), sigma in units of the residuals' spread."""
    from scipy.special import gammaln, ndtr, stdtr

    z, edge, k = inside / _SCALES[:, None], inside[-1] / _SCALES, len(inside)
    log = np.empty((len(_TAILS), len(_SCALES)))
    for row, tails in enumerate(_TAILS):
        if math.isinf(tails):
            density, beyond = -(z * z).sum(axis=1) / 2, 2 * ndtr(-edge)
            each = -math.log(2 * math.pi) / 2
        else:
            density = -(tails + 1) / 2 * np.log1p(z * z / tails).sum(axis=1)
            beyond = 2 * stdtr(tails, -edge)
            each = gammaln((tails + 1) / 2) - gammaln(tails / 2) - math.log(tails * math.pi) / 2
        with np.errstate(divide="ignore"):
            censored = outside * np.log(beyond) if outside else 0.0
        log[row] = density + k * (each - np.log(_SCALES)) + censored
    log -= log[np.array(odds) > 0].max()
    weight = np.array(odds)[:, None] * np.exp(np.minimum(log, 0))
    return np.asarray(weight / weight.sum())
