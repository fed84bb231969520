"""The built-in data sets, and that each shows what it says."""

import re

import numpy as np
import pytest

from quadsweep import datasets, solve

EXPECTED = {
    "animals": 65,
    "anscombe-1": 11,
    "anscombe-2": 11,
    "anscombe-3": 11,
    "anscombe-4": 11,
    "colonial-origins": 64,
    "delivery": 25,
    "hawkins-bradu-kass": 75,
    "masking-groups": 12,
    "masking-leverage": 16,
    "masking-populations": 16,
    "nonseparable-cov": 8,
    "nonseparable-dv": 8,
    "nonseparable-r2": 11,
    "phone-calls": 24,
    "red-wine": 1599,
    "ruggedness": 170,
    "stack-loss": 21,
    "stars-cyg": 47,
    "voting-rights": 504,
}


def test_names_are_what_is_there():
    assert datasets.names() == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_loads_whole(name):
    data = datasets.load(name)
    assert len(data.x) == len(data.y) == EXPECTED[name]
    assert np.isfinite(data.x).all()
    assert np.isfinite(data.y).all()
    assert 3 <= data.k < len(data.x)
    assert len(data.description) > 80
    assert len(data.labels) in (0, len(data.x))


def test_the_quartet_looks_alike_to_the_usual_figures():
    for i in range(1, 5):
        data = datasets.load(f"anscombe-{i}")
        assert data.x.mean() == 9
        assert data.y.mean() == pytest.approx(7.5, abs=0.001)
        assert np.corrcoef(data.x, data.y)[0, 1] ** 2 == pytest.approx(0.667, abs=0.001)


@pytest.mark.parametrize(
    ("name", "dropped"),
    [
        ("animals", [5, 15, 25]),
        ("anscombe-3", [2]),
        ("phone-calls", [14, 15, 16, 17, 18, 19]),
        ("stars-cyg", [10, 19, 29, 33]),
        ("nonseparable-r2", [6, 8, 10]),
        ("nonseparable-dv", [4, 6]),
        ("nonseparable-cov", [4, 6]),
    ],
)
def test_the_best_subset_leaves_out_what_is_known_to_be_wrong(name, dropped):
    data = datasets.load(name)
    result = solve(data.x, data.y, data.k, objective=data.objective, method="exhaustive")
    assert result.outliers.tolist() == dropped


@pytest.mark.parametrize("name", ["iris", "", None, 3])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ValueError, match="one of animals, anscombe-1"):
        datasets.load(name)


def _least_squares(name, term, *others):
    """The coefficient of a column given others and an intercept, and its standard error."""
    data = datasets.load(name)
    columns = {title: np.array(values) for title, values in data.columns.items()}
    columns["log_gdp_2000"] = np.log(columns.get("rgdppc_2000", np.ones(len(data.y))))
    columns |= {
        f"{a}:cont_africa": columns[a] * columns["cont_africa"]
        for a in ("rugged", "dist_coast")
        if a in columns
    }
    outcome, *names = [term[0], term[1], *others]
    design = [np.ones(len(data.y))]
    for each in names:
        values = columns[each]
        classes = np.unique(values)[1:] if each in ("state", "year") else None
        design += [values] if classes is None else [values == level for level in classes]
    matrix, y = np.column_stack(design).astype(float), columns[outcome]
    coefficients = np.linalg.lstsq(matrix, y, rcond=None)[0]
    rest = y - matrix @ coefficients
    variance = rest @ rest / (len(y) - matrix.shape[1]) * np.linalg.inv(matrix.T @ matrix)
    return coefficients[1], np.sqrt(variance[1, 1])


def test_published_regressions_have_their_published_coefficients():
    """Acemoglu, Johnson and Robinson, table 4: 0.94 by the instrument, 0.52 by least squares."""
    rugged = _least_squares(
        "ruggedness", ("log_gdp_2000", "rugged:cont_africa"), "rugged", "cont_africa",
        "dist_coast", "dist_coast:cont_africa",
    )  # fmt: skip
    assert rugged[0] > 1.96 * rugged[1]
    plain = _least_squares("colonial-origins", ("log_gdp", "expropriation_risk"))
    assert plain[0] == pytest.approx(0.52, abs=0.005)
    reduced = _least_squares("colonial-origins", ("log_gdp", "log_mortality"))
    first = _least_squares("colonial-origins", ("expropriation_risk", "log_mortality"))
    assert reduced[0] / first[0] == pytest.approx(0.94, abs=0.02)  # 0.92 here
    covered = _least_squares(
        "voting-rights",
        ("incarceration_rate", "covered_after_1965"),
        "urban_share",
        "state",
        "year",
    )
    assert abs(covered[0]) > 1.96 * covered[1]


@pytest.mark.parametrize("name", ["colonial-origins", "red-wine", "ruggedness", "voting-rights"])
def test_published_regressions_name_columns_that_are_there(name):
    data = datasets.load(name)
    words = set(re.findall(r"[a-zA-Z_]\w*", data.formula)) - {"log"}
    assert words <= set(data.columns)
    assert set(data.term.split(":")) <= words
    frame = data.to_frame()
    assert list(frame.columns) == list(data.columns)
    assert len(frame) == len(data.y)
    assert data.to_dict()["columns"].keys() == data.columns.keys()
