"""Small data sets for examples.

The tables are from the literature, each with its source; four are published regressions. The three
``nonseparable`` ones are this project's counterexamples (``docs/theory/separability.md``), the
three ``masking`` ones its examples for audits (``docs/audit.md``).
Imports the counterexamples it ships, and how results are formatted; never solves.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.results.formatting import ResultMixin, as_frame


@dataclass(frozen=True, eq=False)
class Dataset(ResultMixin):
    """Points, a number to keep, and where they come from.

    Attributes
    ----------
    x, y : arrays
        Several predictors are the columns of x.
    k : int
        A sensible number of points to keep.
    names : tuple of strings
        What the predictors and, last, y are, with their units.
    description : str
        What it shows, and the source.
    labels : tuple of strings
        A name for every point, or empty.
    objective : str
        The criterion of a subset.
    formula, term : str
        Of a published regression: the regression, and the term whose coefficient it is about; x and
        y are then that term and the outcome alone. Empty otherwise.
    table : dict
        Of a published regression: every column that the formula needs, by name.
    """

    json_fields = "x y k names labels objective formula term columns description"

    x: Floats
    y: Floats
    k: int
    names: tuple[str, ...]
    description: str
    labels: tuple[str, ...] = field(default=(), repr=False)
    objective: str = "r2"
    formula: str = ""
    term: str = ""
    table: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    def summary_items(self) -> list[tuple[str, str]]:
        """What it is, as pairs."""
        return [
            ("data", f"{self.names[-1]} against {', '.join(self.names[:-1])}"),
            ("points", f"{len(self.x):,}, of which to keep {self.k:,} by {self.objective}"),
            *([("regression", f"{self.formula}, term {self.term}")] if self.formula else []),
            ("about", self.description),
        ]

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by name, after the labels where there are any; of a published regression all
        that it needs."""
        if self.table:
            return dict(self.table)
        predictors = [self.x] if self.x.ndim == 1 else list(self.x.T)
        columns: dict[str, Any] = dict(zip(self.names, [*predictors, self.y], strict=True))
        return {"label": list(self.labels), **columns} if self.labels else columns

    def to_frame(self) -> Any:
        """The columns as a data frame."""
        return as_frame(self.columns)


def names() -> list[str]:
    """The names that :func:`load` knows.

    >>> names()[:2]
    ['animals', 'anscombe-1']
    """
    return sorted(_BUILDERS)


def load(name: str) -> Dataset:
    """A data set by name.

    >>> load("anscombe-3").x[:3]
    array([10.,  8., 13.])
    """
    if not isinstance(name, str) or name not in _BUILDERS:
        raise ValueError(f"data set must be one of {', '.join(names())}; got {name!r}")
    return _BUILDERS[name]()


def _table(name: str) -> dict[str, list[str]]:
    import csv
    from importlib import resources  # ten milliseconds that only those who load a table spend

    text = resources.files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    return {title: [row[i] for row in rows] for i, title in enumerate(header)}


def _numbers(values: list[str]) -> Floats:
    return np.array([float(value) for value in values])


_ANSCOMBE = {
    1: (10, "an ordinary scatter"),
    2: (8, "a curve, which no line fits"),
    3: (10, "a line and one point off it"),
    4: (10, "a line that depends on one point: drop that one and nothing is left to correlate"),
}


def _anscombe(which: int) -> Dataset:
    table = _table("anscombe")
    k, shows = _ANSCOMBE[which]
    return Dataset(
        _numbers(table[f"x{which}"]),
        _numbers(table[f"y{which}"]),
        k,
        (f"x{which}", f"y{which}"),
        f"Number {which} of Anscombe's quartet: {shows}. All four have the same means, variances, "
        "correlation and line. Anscombe (1973), Graphs in statistical analysis, The American "
        "Statistician 27, 17-21.",
    )


def _stars() -> Dataset:
    table = _table("stars-cyg")
    return Dataset(
        _numbers(table["log.Te"]),
        _numbers(table["log.light"]),
        43,
        ("log temperature", "log light intensity"),
        "Hertzsprung-Russell diagram of the star cluster CYG OB1: 47 stars, four of them giants "
        "that turn the least squares line the wrong way. Rousseeuw and Leroy (1987), Robust "
        "Regression and Outlier Detection, p. 27, table 3.",
    )


def _phone_calls() -> Dataset:
    table = _table("phone-calls")
    return Dataset(
        1900 + _numbers(table["Year"]),
        _numbers(table["Calls"]),
        18,
        ("year", "calls (tens of millions)"),
        "International telephone calls from Belgium, 1950 to 1973; those of 1964 to 1969 were "
        "recorded in another unit. Rousseeuw and Leroy (1987), Robust Regression and Outlier "
        "Detection, p. 26, table 2.",
        tuple(f"19{year}" for year in table["Year"]),
    )


def _animals() -> Dataset:
    table = _table("animals")
    return Dataset(
        np.log10(_numbers(table["body"])),
        np.log10(_numbers(table["brain"])),
        62,
        ("log10 body weight (kg)", "log10 brain weight (g)"),
        "Body and brain weights of 65 animals, three of them dinosaurs, as logarithms to base 10. "
        "Weisberg (1985), Applied Linear Regression; Rousseeuw and Leroy (1987), Robust Regression "
        "and Outlier Detection, p. 57. Three misspelt names (Dipliodocus, Verbet, Artic fox) are "
        "corrected.",
        tuple(table["animal"]),
    )


# Tables whose last column is y: rows to keep, names, what a row is called, and what it shows.
_SEVERAL = {
    "hawkins-bradu-kass": (
        65,
        ("x1", "x2", "x3", "y"),
        "row",
        "Made to mask: of 75 rows with three predictors, rows 1 to 10 are bad leverage points and "
        "11 to 14 good ones, which least squares takes for the outliers. Hawkins, Bradu and Kass "
        "(1984), Location of several outliers in multiple-regression data using elemental sets, "
        "Technometrics 26, 197-208.",
    ),
    "stack-loss": (
        17,
        ("air flow", "water temperature", "acid concentration", "stack loss"),
        "day",
        "Twenty-one days of a plant that oxidises ammonia to nitric acid; days 1, 3, 4 and 21 are "
        "the ones most often called outliers. Brownlee (1965), Statistical Theory and Methodology "
        "in Science and Engineering, p. 454.",
    ),
    "delivery": (
        23,
        ("products", "distance (feet)", "minutes"),
        "delivery",
        "Time to service vending machines, by the number of products stocked and the distance "
        "walked, 25 deliveries. Montgomery and Peck (1982), Introduction to Linear Regression "
        "Analysis, p. 116.",
    ),
}


def _several(name: str) -> Dataset:
    """The criterion is the residual sum of squares."""
    k, names, called, description = _SEVERAL[name]
    *columns, y = (_numbers(values) for values in _table(name).values())
    labels = tuple(f"{called} {i}" for i in range(1, len(y) + 1))
    return Dataset(np.column_stack(columns), y, k, names, description, labels, "lts")


# Regressions: formula, term, x and y (a column and what it is called), columns that name the rows.
_PUBLISHED: dict[str, tuple[str, str, tuple[str, str], tuple[str, str], tuple[str, ...], str]] = {
    "ruggedness": (
        "log(rgdppc_2000) ~ rugged * cont_africa + dist_coast * cont_africa",
        "rugged:cont_africa",
        ("rugged", "ruggedness of the terrain"),
        ("rgdppc_2000", "log GDP per head in 2000"),
        ("country",),
        "Income and the ruggedness of the terrain in 170 countries: rugged terrain goes with low "
        "income, but in Africa, where it protected against the slave trades, with high income. "
        "Nunn and Puga (2012), Ruggedness: the blessing of bad geography in Africa, Review of "
        "Economics and Statistics 94, 20-36.",
    ),
    "colonial-origins": (
        "log_gdp ~ 1 | expropriation_risk ~ log_mortality",
        "expropriation_risk",
        ("expropriation_risk", "protection against expropriation"),
        ("log_gdp", "GDP per head in 1995 (logarithm)"),
        (),
        "Income and institutions in 64 former colonies, with the mortality of settlers as an "
        "instrument for institutions. Acemoglu, Johnson and Robinson (2001), The colonial origins "
        "of comparative development, American Economic Review 91, 1369-1401.",
    ),
    "voting-rights": (
        "incarceration_rate ~ covered_after_1965 + urban_share | state + year",
        "covered_after_1965",
        ("covered_after_1965", "covered by the Voting Rights Act"),
        ("incarceration_rate", "incarceration rate"),
        ("state", "year"),
        "Incarceration rates in 18 states between 1946 and 1982, before and after the Voting "
        "Rights Act of 1965: 504 state-years. Eubank and Fresh (2022), Enfranchisement and "
        "incarceration after the 1965 Voting Rights Act, American Political Science Review 116, "
        "791-806.",
    ),
    "red-wine": (
        "quality ~ {others}",
        "alcohol",
        ("alcohol", "alcohol (% vol)"),
        ("quality", "quality (0 to 10)"),
        (),
        "Quality of 1,599 red wines, as tasters marked it, and eleven measurements of their "
        "chemistry. Cortez, Cerdeira, Almeida, Matos and Reis (2009), Modeling wine preferences by "
        "data mining from physicochemical properties, Decision Support Systems 47, 547-553.",
    ),
}


def _published(name: str) -> Dataset:
    """The table of a published regression."""
    formula, term, x, y, labels, description = _PUBLISHED[name]
    texts = _table(name)
    others = " + ".join(title for title in texts if title != y[0])
    table = {title: _values(values) for title, values in texts.items()}
    across, up = _numbers(texts[x[0]]), _numbers(texts[y[0]])
    up = np.log(up) if y[1].startswith("log ") else up
    rows = zip(*(texts[title] for title in labels), strict=True)
    called = tuple(" ".join(row) for row in rows) if labels else ()
    return Dataset(
        across, up, round(0.95 * len(up)), (x[1], y[1]), description, called,
        formula=formula.format(others=others), term=term, table=table,
    )  # fmt: skip


def _values(texts: list[str]) -> list[Any]:
    """Whole numbers, numbers, or the texts as they are."""
    for kind in (int, float):
        with suppress(ValueError):
            return [kind(text) for text in texts]
    return texts


def _nonseparable(objective: str) -> Dataset:
    from quadsweep.paper.counterexample_proofs import SHIPPED

    example = next(shipped for shipped in SHIPPED if shipped.name == f"nonseparable-{objective}")
    x, y = np.array(example.points, dtype=float).T.copy()
    return Dataset(
        x,
        y,
        example.k,
        ("x", "y"),
        "A counterexample found by this project: no hyperplane under the lift "
        f"{' or '.join(example.lifts)} separates the {example.k} points with the best "
        f"{example.objective} from the rest, so a sweep finds them by luck or not at all.",
        objective=example.objective,
    )


_MASKING = {
    "masking-groups": (
        8,
        "two pairs of far rows, each hiding the other: while one pair is left, taking the other "
        "away changes little",
        [(-3, 3), (0, -1), (-3, 1), (-2, -3), (-1, 3), (-3, -3), (1, -1), (-1, -4),
         (28, 14), (28, 14), (17, 27), (17, 28)],
    ),
    "masking-populations": (
        10,
        "two populations, one rising and one falling, of which the rising one decides",
        [(0, -1), (7, 2), (1, 1), (9, 4), (2, 2), (7, 3), (9, 7), (6, 3), (0, -1), (1, 0),
         (11, 10), (9, 13), (15, 4), (17, 3), (11, 10), (12, 8)],
    ),
    "masking-leverage": (
        13,
        "a cloud that falls, and three far rows which the line of all rows goes through: their "
        "residuals are small because they make the line",
        [(-2, 0), (-1, -2), (1, -7), (4, 1), (-3, -1), (-2, 0), (1, -4), (-2, 2), (-2, 3), (2, 4),
         (0, 1), (-2, 3), (0, -1), (42, 35), (40, 34), (38, 32)],
    ),
}  # fmt: skip


def _masking(name: str) -> Dataset:
    k, shows, points = _MASKING[name]
    x, y = np.array(points, dtype=float).T.copy()
    return Dataset(
        x,
        y,
        k,
        ("x", "y"),
        f"Made for this project: {shows}. Keeping {k} rows reverses the sign of the slope, and "
        "neither one-step influence nor greedy removal finds them (docs/audit.md).",
    )


_BUILDERS: dict[str, Callable[[], Dataset]] = {
    **{f"anscombe-{i}": partial(_anscombe, i) for i in _ANSCOMBE},
    "stars-cyg": _stars,
    "phone-calls": _phone_calls,
    "animals": _animals,
    **{name: partial(_several, name) for name in _SEVERAL},
    **{name: partial(_published, name) for name in _PUBLISHED},
    **{name: partial(_masking, name) for name in _MASKING},
    **{f"nonseparable-{name}": partial(_nonseparable, name) for name in ("r2", "dv", "cov")},
}
