"""The result of one question: the subset, its certificate, its summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Axes, Floats, Ints, Mask
from quadsweep.least_squares import Plane
from quadsweep.objectives import OBJECTIVES
from quadsweep.results import plane
from quadsweep.results.boundary import boundary
from quadsweep.results.certificate import Certified, caution
from quadsweep.results.conic import Conic
from quadsweep.results.far import far_rows
from quadsweep.results.formatting import OUTCOME, attributes, equation, named_rows, some
from quadsweep.results.scatter import Scatter, collinear, line_through, scatter_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from quadsweep.choosing.intervals import Bootstrap
    from quadsweep.inputs.formulas import Formula
    from quadsweep.proofs.proof import Proof


_ROWS = "rows=@index inliers outliers omitted slope intercept names coef"


@dataclass(frozen=True, eq=False)
class Result(Certified):
    """The best subset found, and what is proved about it.

    Attributes
    ----------
    inliers, outliers : sorted arrays of positions
        Rows kept and rows dropped, counted from 0 in the data as given.
    mask : boolean array, as long as the data given; True for inliers.
    value : float
        The objective on the inliers.
    bound : float
        No subset of this size has a better value.
    gap : float
        Distance between value and bound.
    status : str
        ``optimal``, ``best_separable``, ``heuristic``, ``time_limit``, ``memory_limit`` or
        ``interrupted``.
    objective, method : str
    n, k : int
        Rows without missing values, and rows kept.
    nodes : int
        Subsets, hyperplanes or boxes examined.
    seconds : float
        Time the call took.
    x, y : arrays
        The data as given; several predictors are the columns of ``x``.
    names : tuple of strings
        Names of the predictors and, last, of y.
    fit_intercept : bool
    weights : array, optional
        One for each row given.
    searched : array of ints, optional
        With several predictors, those that are not collinear with earlier ones.
    formula : Formula, optional
        The formula that made the predictors.
    dates : tuple of strings
        The columns that are dates; their values are days since 1970-01-01.
    remark : str
        Further sentences of the message.
    labels : sequence, optional
        A name for each row; the summary and the picture use them instead of positions.
    frame : data frame, optional
        The data frame as given.
    proof : Proof, optional
        With ``proof=True``, a proof for :func:`quadsweep.check`; None if the answer is not optimal
        or the time limit left no time to write it.

    The line, the conic and the message are computed at their first use.
    """

    json_fields = f"{OUTCOME} {_ROWS} *ellipse conic nodes seconds"

    inliers: Ints
    outliers: Ints
    mask: Mask
    value: float
    bound: float
    gap: float
    status: str
    objective: str
    method: str
    n: int
    k: int
    nodes: int
    seconds: float
    x: Floats = field(repr=False)
    y: Floats = field(repr=False)
    names: tuple[str, ...] = ("x", "y")
    fit_intercept: bool = True
    weights: Floats | None = field(default=None, repr=False)
    searched: Ints | None = field(default=None, repr=False)
    formula: Formula | None = field(default=None, repr=False)
    dates: tuple[str, ...] = field(default=(), repr=False)
    remark: str = field(default="", repr=False)
    labels: Sequence[Any] | None = field(default=None, repr=False)
    frame: Any = field(default=None, repr=False)
    proof: Proof | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        assert len(self.inliers) == self.k
        assert len(self.outliers) == self.n - self.k
        assert self.gap >= 0

    def __repr__(self) -> str:
        dropped = some(self.outliers, self.labels, 6)
        return (
            f"<Result: {self.objective} = {self.value:.6g}, {self.k:,} of {self.n:,} kept, "
            f"{self.status}; dropped: {dropped}>"
        )

    @property
    def omitted(self) -> Ints:
        """Positions left out because of a missing value."""
        return np.setdiff1d(np.arange(len(self.mask)), self.used, assume_unique=True)

    @property
    def used(self) -> Ints:
        """Positions considered, inliers and outliers."""
        return np.sort(np.concatenate([self.inliers, self.outliers]))

    @property
    def several(self) -> bool:
        """True with several predictors, weights or no intercept."""
        return self.x.ndim == 2 or self.weights is not None or not self.fit_intercept

    @property
    def residuals(self) -> Floats:
        """Residuals from the plane of the inliers, for all rows as given; NaN for omitted rows."""
        return self._plane.residuals(plane.matrix(self), self.y)

    def predict(self, X: Any) -> Floats:
        """Predicted y on the line or plane of the inliers.

        Parameters
        ----------
        X : array of shape (m, p), or a frame with columns of the predictors' names
            One predictor may be a plain sequence. With a formula, pass a frame with its columns.

        Examples
        --------
        >>> import quadsweep as qs
        >>> qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1).predict([10, 20]).round(6)
        array([10., 20.])
        """
        return plane.predicted(self, X)

    @cached_property
    @np.errstate(over="ignore", invalid="ignore")  # columns near the largest numbers
    def _plane(self) -> Plane:
        return plane.plane_of(self, self.inliers) if self.several else plane.line_of(self)

    @property
    def slope(self) -> float | None:
        """Slope of the inliers' least squares line; None with several predictors."""
        return float(self.coef[0]) if self.x.ndim == 1 else None

    @property
    def intercept(self) -> float:
        """Intercept of the inliers' least squares line or plane; 0 if it has none."""
        return self._plane.intercept

    @property
    def coef(self) -> Floats:
        """Least squares coefficients on the inliers, one for each predictor."""
        return self._plane.coef

    @property
    def dependent(self) -> Ints:
        """Predictors that are constant on the inliers, or linear combinations of earlier ones.

        Their coefficient is 0.
        """
        return self._plane.dependent

    @cached_property
    @np.errstate(over="ignore", invalid="ignore")  # columns near the largest numbers
    def scatter(self) -> Scatter:
        """Mean and covariance of the inliers; of one predictor and y."""
        if self.x.ndim == 2:
            raise ValueError("scatter is of two columns: one predictor and y")
        return scatter_of(self.x[self.inliers], self.y[self.inliers])

    @property
    def location(self) -> Floats:
        """The mean of the inliers, (x, y)."""
        return self.scatter.location

    @property
    def covariance(self) -> Floats:
        """Covariance matrix of the inliers, with divisor k."""
        return self.scatter.covariance

    @property
    def correlation(self) -> float:
        """Pearson's r of the inliers; NaN if a column is constant."""
        return self.scatter.correlation

    @property
    def on_a_line(self) -> str | None:
        """The line that all inliers lie on, for ``mcd`` with an exact fit; None otherwise."""
        if self.objective != "mcd" or self.status != "optimal" or self.bound != 0:
            return None
        x, y = self.x[self.inliers], self.y[self.inliers]
        return line_through(x, y, self.names) if collinear(x, y) else None

    @cached_property
    @np.errstate(over="ignore", invalid="ignore")  # columns near the largest numbers
    def _boundary(self) -> tuple[Conic | None, str]:
        if self.several:
            return None, self.remark
        used = self.used if self.n < len(self.mask) else slice(None)
        known = OBJECTIVES.get(self.objective)
        return boundary(self.x[used], self.y[used], self.mask[used], known)

    @property
    def conic(self) -> Conic | None:
        """A curve with the inliers on one side and the outliers on the other.

        None if no conic was found that separates them, or with several predictors.
        """
        return self._boundary[0]

    @property
    def message(self) -> str:
        """The status in words, with any remarks."""
        proved, line = self.certificate, self.on_a_line
        reason = self.remark or self._boundary[1]
        exact = "" if line is None else f"They lie on the line {line}."
        return " ".join(filter(None, [proved[0].upper() + proved[1:] + ".", exact, reason]))

    @property
    def before(self) -> float:
        """The objective on all points, NaN for a score given as a function."""
        known = OBJECTIVES.get(self.objective)
        if known is None:
            return math.nan
        if self.several:
            return plane.plane_of(self, self.used).value(self.objective)
        return known.value(self.x[self.used], self.y[self.used])

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs of a name and a text."""
        lines = self._head_items(self.before)
        if self.several and len(self.dependent):
            lines.append(("dependent", plane.dependence(self)))
        elif self.objective == "mcd":
            lines += self._ellipse_lines()
        elif not self.several and self.objective != "var" and not math.isnan(self.coef[0]):
            line = equation(self.names, float(self.coef[0]), self.intercept)
            days = f", {' and '.join(self.dates)} in days since 1970-01-01" if self.dates else ""
            lines.append(("line", line + days))
        lines.append(("dropped", named_rows(self.outliers, self.labels)))
        if len(self.omitted):
            lines.append(("left out", named_rows(self.omitted, self.labels, "missing or infinite")))
        if self.proof is not None:
            lines.append(("proof", f"{self.proof.nodes:,} nodes, for quadsweep.check"))
        if far := far_rows(self):
            lines.append(("kept, but far", far))
        if caution := self.caution():
            lines.append(("caution", caution))
        lines.append(("search", f"{self.method}, {self.nodes:,} nodes, {self.seconds:.3g} s"))
        return lines

    def _ellipse_lines(self) -> list[tuple[str, str]]:
        if self.on_a_line is not None:
            return [("exact fit", f"all kept points lie on {self.on_a_line}")]
        (x, y), ((a, c), (_, b)) = self.location, self.covariance
        return [
            ("location", f"({x:.6g}, {y:.6g})"),
            ("covariance", f"{a:.6g}, {b:.6g}, between them {c:.6g}"),
            ("correlation", f"{self.correlation:.6g}"),
        ]

    def grid(self) -> list[Sequence[str]]:
        """Table of the coefficients on all rows and on the rows kept; empty for a single line."""
        return plane.coefficients(self) if self.several else []

    def label(self, row: int) -> Any:
        """The label of a row, or its position if it has none."""
        return row if self.labels is None else self.labels[row]

    def caution(self) -> str:
        """The warning about selection as a sentence; empty if no point was dropped."""
        return caution(self.objective, self.k, self.n)

    def plot(
        self, ax: Axes | None = None, *, kind: str | None = None, predictor: str | None = None
    ) -> Axes:
        """Inliers, outliers, the lines with and without trimming, the conic.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure if left out.
        kind : {"fitted", "residuals", "added"}, optional
            ``fitted`` plots y against fitted values (the default with several predictors),
            ``residuals`` residuals against fitted values, ``added`` the added-variable plot of
            ``predictor`` on the inliers.
        predictor : str, optional
            For ``added``, the name of a predictor.
        """
        if kind is None and predictor is None and not self.several:
            from quadsweep.plotting.result import plot_result

            return plot_result(self, ax=ax)
        from quadsweep.plotting.several import plot_several

        return plot_several(self, ax=ax, kind=kind, predictor=predictor)

    def panels(self) -> Figure:
        """One figure of all views: fitted against observed, residuals, added-variable plots."""
        from quadsweep.plotting.several import plot_panels

        return plot_panels(self)

    def bootstrap(self, resamples: int = 999, **options: Any) -> Bootstrap:
        """Standard errors, intervals and bands that allow for the selection.

        Resamples the points ``resamples`` times and repeats the exact selection in each draw;
        ``options`` are those of :func:`quadsweep.choosing.intervals.bootstrap`.
        """
        from quadsweep.choosing.intervals import bootstrap

        return bootstrap(self, resamples, **options)

    def to_frame(self) -> Any:
        """The data with a column ``inlier``, in the library it came from (pandas for arrays)."""
        from quadsweep.inputs.frames import marked

        return marked(self.frame, self.x, self.y, self.names, self.mask)

    @property
    def ellipse(self) -> dict[str, Any]:
        """With ``mcd``, the mean, covariance and correlation of the inliers, and their line."""
        if self.objective != "mcd":
            return {}
        return attributes(self, "location covariance correlation line=on_a_line")
