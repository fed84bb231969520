"""What is known of every pair of columns: matrices in memory, or rows in Parquet files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Axes, Floats, Ints
from quadsweep.choosing.p_values import adjusted_p_values
from quadsweep.extras import needed
from quadsweep.inputs import frames
from quadsweep.messages import argument
from quadsweep.results.formatting import ResultMixin, attributes, drawn_by, plain

_STRONGEST = 20  # pairs in the table
_MATRICES = ("value", "r", "pearson", "p_value")
LEVEL = 0.05  # that a p-value is compared with in the summary


class Pairs(ResultMixin):
    """What is known of every pair of columns, in memory or in files."""

    names: list[Any]
    too_few: int
    undefined: int
    status: str
    done: int
    null: str | None

    @property
    def pairs(self) -> int:
        """Pairs of columns."""
        return len(self.names) * (len(self.names) - 1) // 2

    def _closing_items(self, changed: int, hint: str = "") -> list[tuple[str, str]]:
        """Pairs that change sign or have no value, and how far it got."""
        lines = []
        if changed:
            lines.append(("sign", f"{changed:,} pairs change sign with the rows dropped"))
        if self.too_few or self.undefined:
            text = f"{self.too_few:,} pairs with too few rows, {self.undefined:,} with a constant"
            lines.append(("no value", text))
        if self.status != "finished":
            text = f"{self.status.replace('_', ' ')} after {self.done:,} of {self.pairs:,} pairs"
            lines.append(("stopped", f"{text}{hint}"))
        return lines


@dataclass(frozen=True, eq=False)
class PairwiseResult(Pairs):
    """Values for every pair of columns.

    Attributes
    ----------
    names : list
        The columns, in the order of rows and columns of the matrices.
    values : array of shape (p, p)
        Symmetric; 1 on the diagonal for ``r2`` and ``r``, NaN for others and where there is no
        value.
    r : array of shape (p, p)
        The correlation, with its sign, of the rows kept in each pair.
    pearson : array of shape (p, p)
        The correlation of all usable rows.
    p_values : array of shape (p, p) or None
        NaN on the diagonal and where there is no value. Not corrected for the number of pairs; see
        :meth:`adjusted`.
    rows, kept : int arrays of shape (p, p)
        Rows without a missing value in the pair, and how many of them were kept.
    too_few, undefined : int
        Pairs without a value: fewer than four usable rows or fewer than k of them; a constant
        column.
    objective : str
    null : str or None
        ``own`` or ``pooled``: what p-values are relative to.
    status : str
        ``finished``, ``time_limit`` or ``interrupted``; pairs not reached are NaN.
    seconds : float
    done, permutations : int
        Pairs answered, and the most shuffles of any.
    """

    names: list[Any]
    values: Floats
    p_values: Floats | None
    r: Floats
    pearson: Floats
    rows: Ints
    kept: Ints
    too_few: int
    undefined: int
    objective: str
    null: str | None
    status: str
    seconds: float
    done: int = field(default=0, repr=False)
    permutations: int = field(default=0, repr=False)

    def matrix(self) -> Any:
        """The values as a labelled pandas DataFrame."""
        return self._labelled(self.values)

    def p_matrix(self) -> Any:
        """The p-values as a labelled pandas DataFrame."""
        if self.p_values is None:
            raise ValueError("there are no p-values: p_values=None was asked for")
        return self._labelled(self.p_values)

    def adjusted(self, method: str = "holm") -> Floats:
        """The p-values corrected for the number of pairs.

        ``holm`` bounds the chance of a single wrong finding; ``bh`` (Benjamini and Hochberg) the
        expected share of wrong ones among the findings, for pairs that are independent or
        positively dependent.
        """
        if self.p_values is None:
            raise ValueError("there are no p-values: p_values=None was asked for")
        upper = np.triu_indices(len(self.names), 1)
        out: Floats = np.full_like(self.p_values, np.nan)
        out[upper] = adjusted_p_values(self.p_values[upper], method)
        return np.asarray(np.fmax(out, out.T))

    def _labelled(self, values: Floats) -> Any:
        with needed("a labelled matrix"):
            import pandas as pd

        return pd.DataFrame(values, index=self.names, columns=self.names)

    def to_frame(self) -> Any:
        """One row a pair: the columns' names, value, p-value, usable rows, kept rows."""
        i, j = np.triu_indices(len(self.names), 1)
        columns: dict[str, Any] = {
            "x": [self.names[a] for a in i],
            "y": [self.names[b] for b in j],
            "value": self.values[i, j],
            "r": self.r[i, j],
            "pearson": self.pearson[i, j],
            "rows": self.rows[i, j],
            "kept": self.kept[i, j],
        }
        if self.p_values is not None:
            columns["p_value"] = self.p_values[i, j]
            for method in ("holm", "bh"):
                columns[f"p_{method}"] = self.adjusted(method)[i, j]
        return frames.table(columns)

    def grid(self) -> list[Sequence[str]]:
        """Pairs by the size of their trimmed correlation, largest first, a header above them."""
        i, j = np.triu_indices(len(self.names), 1)
        size = np.nan_to_num(np.abs(self.r[i, j]), nan=-1.0)
        best = np.argsort(-size, kind="stable")[:_STRONGEST]
        columns = {"r": self.r, "Pearson": self.pearson}
        if self.p_values is not None:
            columns |= {"p": self.p_values, "p (Holm)": self.adjusted("holm")}
        rows = [
            (
                f"{self.names[i[at]]}, {self.names[j[at]]}",
                *(f"{values[i[at], j[at]]:.3g}" for values in columns.values()),
                f"{self.kept[i[at], j[at]]:,} of {self.rows[i[at], j[at]]:,}",
            )
            for at in best
        ]
        title = "pair" if len(i) <= _STRONGEST else f"pair (the {_STRONGEST} strongest)"
        return [(title, *columns, "kept"), *rows]

    def summary_items(self) -> list[tuple[str, str]]:
        title = objectives.get(self.objective).title
        upper = self.values[np.triu_indices(len(self.names), 1)]
        lines = [("pairs", f"{self.pairs:,} of {len(self.names):,} columns")]
        if np.isfinite(upper).any():
            lines.append((title, f"{np.nanmin(upper):.4g} to {np.nanmax(upper):.4g}"))
        if self.p_values is not None:
            p = self.p_values[np.triu_indices(len(self.names), 1)]
            small = int(np.nansum(p <= 0.05))
            by_chance = f"{0.05 * np.isfinite(p).sum():.0f} expected from noise alone"
            pairs = f"{small:,} {'pair' if small == 1 else 'pairs'}"
            lines.append(("p <= 0.05", f"{pairs}   ({by_chance}; null: {self.null})"))
            holm, bh = (int(np.nansum(self.adjusted(m) <= 0.05)) // 2 for m in ("holm", "bh"))
            text = f"{holm:,} pairs by Holm, {bh:,} by Benjamini and Hochberg"
            lines.append(("adjusted", text))
            least = self.pairs / (self.permutations + 1)
            if self.permutations and least > LEVEL and not holm:
                needed = math.ceil(self.pairs / LEVEL) - 1
                text = f"{self.permutations:,} shuffles cannot give a p-value below {least:.2g} "
                lines.append(
                    (
                        "caution",
                        f"{text}after Holm; {argument('permutations', needed)} can reach {LEVEL}",
                    )
                )
        changed = np.nansum(np.sign(self.r) * np.sign(self.pearson) < 0)
        return lines + self._closing_items(int(changed) // 2)

    def _adjusted_lists(self) -> dict[str, Any]:
        if self.p_values is None:
            return {}
        return {f"p_{m}": plain(self.adjusted(m)) for m in ("holm", "bh")}

    plot = drawn_by("pairwise.plot_pairwise", "The matrix as colours.")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "names": [str(name) for name in self.names],
            **attributes(self, "objective values r pearson p_values"),
            **self._adjusted_lists(),
            **attributes(self, "null permutations rows kept too_few undefined status seconds"),
        }


class Matrices:
    """Symmetric matrices of what is known of the pairs, filled by and by."""

    def __init__(self, columns: int, objective: str) -> None:
        self._float = dict(
            zip(_MATRICES, np.full((len(_MATRICES), columns, columns), np.nan), strict=True)
        )
        self._whole: dict[str, Any] = dict(
            zip(("rows", "kept"), np.zeros((2, columns, columns), dtype=np.int64), strict=True)
        )
        for name in ("r", "pearson", *(["value"] if objective in ("r2", "r") else [])):
            np.fill_diagonal(self._float[name], 1.0)

    def put(self, i: Ints, j: Ints, columns: dict[str, Any]) -> None:
        """What some pairs have, by the numbers of their columns."""
        for name, matrix in (self._float | self._whole).items():
            if name in columns:
                matrix[i, j] = matrix[j, i] = columns[name]

    def result(self, names: list[Any], null: str | None, **more: Any) -> PairwiseResult:
        value, r, pearson, p_values = self._float.values()
        tested = None if null is None else p_values
        return PairwiseResult(names, value, tested, r, pearson, **self._whole, null=null, **more)


@dataclass(frozen=True, eq=False)
class PairwiseFiles(Pairs):
    """Values for every pair of columns, one row a pair, in Parquet files.

    Columns of the files: ``x`` and ``y`` (names), ``value``, ``r``, ``pearson``, ``rows``, ``kept``
    and, if they were asked for, ``p_value``; what they mean is said at :class:`PairwiseResult`.
    Files sorted by name hold the pairs in order: the first column with all later ones, and so on.
    Any reader of Parquet takes ``DIRECTORY/*.parquet``.

    Attributes
    ----------
    directory : Path
    names : list
        The columns.
    done : int
        Pairs in the files.
    low, high : float
        The least and the greatest value.
    too_few, undefined, changed : int
        Pairs without a value, as in :class:`PairwiseResult`; pairs whose correlation changes sign
        with the rows dropped.
    objective : str
    null : str or None
    status : str
        ``finished``, ``time_limit`` or ``interrupted``; the same call with ``resume=True`` goes on.
    seconds : float
    """

    directory: Path
    names: list[Any]
    done: int
    low: float
    high: float
    too_few: int
    undefined: int
    changed: int
    objective: str
    null: str | None
    status: str
    seconds: float

    def files(self) -> list[Path]:
        """The Parquet files, in the order of the pairs."""
        return sorted(self.directory.glob("pairs-*.parquet"))

    def parts(self) -> Iterator[dict[str, Any]]:
        """The columns of one file after another."""
        with needed("Parquet"):
            import pyarrow.parquet as pq

        for path in self.files():
            table = pq.read_table(path, use_threads=False)
            yield {name: table[name].to_numpy() for name in table.column_names}

    def strongest(self, count: int = 20) -> Any:
        """The pairs with the largest r in size, as a data frame; only so many are in memory."""
        best: dict[str, Any] = {}
        for part in self.parts():
            both = {
                name: np.concatenate([best[name], part[name]]) if best else part[name]
                for name in part
            }
            size = np.nan_to_num(np.abs(both["r"]), nan=-1.0)
            top = np.argsort(-size, kind="stable")[:count]
            best = {name: values[top] for name, values in both.items()}
        return frames.table(best)

    def adjusted(self, method: str = "holm") -> Floats:
        """The p-values corrected for the number of pairs, in the order of the pairs."""
        if self.null is None:
            raise ValueError("there are no p-values: p_values=None was asked for")
        p = [part["p_value"] for part in self.parts()]
        return adjusted_p_values(np.concatenate(p) if p else np.empty(0), method)

    def collected(self) -> PairwiseResult:
        """The same as matrices in memory."""
        matrices = Matrices(len(self.names), self.objective)
        at = {str(name): i for i, name in enumerate(self.names)}
        for part in self.parts():
            i, j = (np.array([at[name] for name in part[side]]) for side in "xy")
            matrices.put(i, j, part)
        same = ("too_few", "undefined", "objective", "null", "status", "seconds", "done")
        return matrices.result(self.names, **{name: getattr(self, name) for name in same})

    def summary_items(self) -> list[tuple[str, str]]:
        lines = [
            ("pairs", f"{self.pairs:,} of {len(self.names):,} columns"),
            ("files", f"{len(self.files()):,} in {self.directory}"),
        ]
        if self.low <= self.high:
            title = objectives.get(self.objective).title
            lines.append((title, f"{self.low:.4g} to {self.high:.4g}"))
        return lines + self._closing_items(self.changed, "; go on with resume=True")

    def to_frame(self) -> Any:
        """One row a pair, all of them in memory."""
        parts = list(self.parts())
        return frames.table(
            {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            if parts
            else {}
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """The matrix as colours."""
        return self.collected().plot(ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "directory": str(self.directory),
            "files": len(self.files()),
            "columns": len(self.names),
            **attributes(self, "pairs done objective low high null too_few undefined changed"),
            **attributes(self, "status seconds"),
        }
