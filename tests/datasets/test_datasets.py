"""The built-in data sets, and that each shows what it says."""

import numpy as np
import pytest

from quadsweep import datasets, solve

EXPECTED = {
    "animals": 65,
    "anscombe-1": 11,
    "anscombe-2": 11,
    "anscombe-3": 11,
    "anscombe-4": 11,
    "delivery": 25,
    "hawkins-bradu-kass": 75,
    "masking-groups": 12,
    "masking-leverage": 16,
    "masking-populations": 16,
    "nonseparable-cov": 8,
    "nonseparable-dv": 8,
    "nonseparable-r2": 11,
    "phone-calls": 24,
    "stack-loss": 21,
    "stars-cyg": 47,
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
