"""The optimum against k: what a path is, whether its rows are in memory or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep import objectives
from quadsweep.arrays import Floats, Ints
from quadsweep.choosing.line_significance import LineSignificance
from quadsweep.choosing.path_significance import PathSignificance
from quadsweep.inputs import validation
from quadsweep.results.formatting import ResultMixin, as_frame, attributes, drawn_by

MOST_SIZES = 501  # of a default range
_RULES = {"gain": "largest gain", "elbow": "elbow", "stands out": "stands out"}


@dataclass(frozen=True, eq=False)
class Curve(ResultMixin):
    """Optima for many k; the attributes are described in :class:`Path`."""

    k: Ints
    value: Floats
    bound: Floats
    status: NDArray[np.str_]
    slope: Floats
    intercept: Floats
    nodes: Ints
    objective: str
    n: int
    seconds: float

    def __len__(self) -> int:
        return len(self.k)

    @property
    def drop(self) -> Ints:
        """Points dropped at each k."""
        return self.n - self.k

    @property
    def gap(self) -> Floats:
        """Distance between value and bound of each."""
        sense = objectives.get(self.objective).sense
        gaps: Floats = np.maximum(sense * (self.bound - self.value), 0.0)
        return gaps

    @property
    def success(self) -> bool:
        """True if every answer is proved to be the best."""
        return bool(np.all(self.status == "optimal"))

    def suggestions(self) -> dict[str, int | None]:
        """Sizes worth a look, each by a rule; None where the rule finds nothing.

        gain
            The step that gains most per point dropped: the k it leads to.
        elbow
            The k at which the curve rises farthest above the straight line between its two ends,
            both axes scaled to one. None if the curve never does.
        stands out
            All points less those that stand out of a clean line with the noise of the data (see
            :class:`LineSignificance`). None if none do; left out if the path was made without
            ``null="line"`` or ``"normal"``, or with too few draws to say. Where it is there, the
            other two are left out unless they agree.

        The first two are rules of thumb: they describe the curve and know nothing of noise.
        """
        return suggest(self.k, self.value, objectives.get(self.objective).sense, self.noise)

    @property
    def noise(self) -> PathSignificance | None:
        """What shuffled data, or a clean line, reach; None if that was not asked for."""
        return None

    def _lines_of_curve(self) -> list[tuple[str, str]]:
        title = objectives.get(self.objective).title
        known_ = np.flatnonzero(np.isfinite(self.value))
        proved = int((self.status == "optimal").sum())
        lines = [("sizes", f"{len(self):,}, from {self._range()} of {self.n:,} points")]
        if len(known_):
            first, last = known_[0], known_[-1]
            lines.append(
                (
                    title,
                    f"{self.value[first]:.6g} with {self.k[first]:,} points kept, "
                    f"{self.value[last]:.6g} with {self.k[last]:,}",
                )
            )
        lines.append(("certificate", f"{proved:,} of {len(self):,} sizes proved optimal"))
        for stopped_by in sorted({"time_limit", "interrupted"} & set(self.status.tolist())):
            why = stopped_by.replace("_", " ")
            missing = int((np.isnan(self.value) & (self.status == stopped_by)).sum())
            lines.append(("stopped", f"{why}; {missing:,} of {len(self):,} sizes were not reached"))
        for rule, k in self.suggestions().items():
            lines.append((_RULES[rule], self._suggestion(k)))
        return lines

    def _suggestion(self, k: int | None) -> str:
        if k is None:
            return "none"
        value = self.value[self.k == k][0]
        return f"k = {k:,}, {self.n - k:,} dropped, value {value:.6g}"

    def _range(self) -> str:
        return f"k = {self.k[0]:,} to {self.k[-1]:,}"

    plot = drawn_by(
        "path.plot_path",
        "Value against points dropped, with what noise reaches where that is known.",
    )

    def to_frame(self) -> Any:
        """One row for every k, in pandas (or polars where that is what there is)."""
        return as_frame(self._columns())

    def _columns(self) -> dict[str, Any]:
        order = ("k", "drop", "value", "bound", "status", "slope", "intercept")
        return {name: getattr(self, name) for name in order}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            **attributes(self, "objective n k status value bound slope intercept"),
            "suggestions": self.suggestions(),
            "seconds": self.seconds,
        }


def sizes_meant(
    n: int, ks: Any, drop: Any, goal: objectives.Objective, most: int | None = None
) -> list[int]:
    """The sizes meant, falling, each once; of a range no more than ``most``."""
    if ks is not None and drop is not None:
        raise ValueError("give at most one of ks (sizes to keep) and drop; got both")
    if ks is not None:
        chosen = [validation.keep_count(n, k, None, goal) for k in _sequence(ks, "ks")]
    elif drop is None:
        validation.keep_count(n, n, None, goal)
        chosen = _spread(n, max(n - n // 2, min(goal.min_k, n)), MOST_SIZES)
    elif np.ndim(drop) == 0:
        chosen = _spread(n, validation.keep_count(n, None, drop, goal), most or n)
    else:
        chosen = [validation.keep_count(n, None, d, goal) for d in _sequence(drop, "drop")]
    return sorted(set(chosen), reverse=True)


def _spread(n: int, least: int, most: int) -> list[int]:
    """Sizes from n down to the least, every one of them or so many evenly spaced."""
    drops = np.linspace(0, n - least, min(n - least + 1, most)).round()
    return [n - int(d) for d in drops]


def _sequence(values: Any, name: str) -> list[Any]:
    if np.ndim(values) != 1 or isinstance(values, str):
        raise TypeError(f"{name} must be a sequence of sizes; got {values!r}")
    if len(values) == 0:
        raise ValueError(f"{name} must hold at least one size; got none")
    return list(values)


# ---- rules of thumb for k ---------------------------------------------------------------------


def suggest(
    k: Ints, value: Floats, sense: int, noise: PathSignificance | None
) -> dict[str, int | None]:
    """Each rule's k; the rules are stated in :meth:`quadsweep.Path.suggestions`."""
    finite = np.isfinite(value)
    sizes, score = k[finite], sense * value[finite]
    rules = {"gain": largest_gain(sizes, score), "elbow": elbow(sizes, score)}
    if not isinstance(noise, LineSignificance) or noise.n_outliers is None:
        return rules
    clear = noise.n - noise.n_outliers if noise.n_outliers else None
    # Beside a test that tells outliers from noise, rules that cannot may only agree with it.
    agreeing = {rule: size for rule, size in rules.items() if size == clear and size is not None}
    return {"stands out": clear, **agreeing}


def largest_gain(k: Ints, score: Floats) -> int | None:
    """The k after the step that gains most per point dropped.

    >>> largest_gain(np.array([10, 9, 8]), np.array([0.1, 0.7, 0.8]))
    9
    """
    if len(k) < 2:
        return None
    gain = np.diff(score) / -np.diff(k)
    return int(k[1 + np.argmax(gain)]) if gain.max() > 0 else None


def elbow(k: Ints, score: Floats) -> int | None:
    """The k at which the curve is farthest above the straight line between its ends.

    >>> elbow(np.array([10, 9, 8, 7]), np.array([0.1, 0.3, 0.8, 0.85]))
    8
    """
    if len(k) < 3 or not score[-1] > score[0]:
        return None
    across = (k[0] - k) / (k[0] - k[-1])
    up = (score - score[0]) / (score[-1] - score[0])
    best = int(np.argmax(up - across))
    return int(k[best]) if up[best] - across[best] > 1e-12 else None
