"""A column of which only rounding is left, once others are taken off it, is no column."""

from __future__ import annotations

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.auditing.classes import Classes
from quadsweep.auditing.span import Span, basis

pytest.importorskip("statsmodels")
import fuzz_panels as panels


def test_an_intercept_that_the_units_explain_is_not_counted() -> None:
    unit = np.repeat(np.arange(48), 2)
    for columns in (np.ones((96, 1)), np.column_stack([np.ones(96), 0.1 + 0.2 * unit])):
        assert Span(columns, np.ones(96), unit).rank == 48


def test_what_is_left_counts_by_the_length_before() -> None:
    rng = np.random.default_rng(0)
    before = 1 + rng.normal(size=(30, 3))
    left = before.copy()
    left[:, 1] = 1e-15 * rng.normal(size=30)
    assert basis(left, before).q.shape[1] == 2
    assert basis(left).q.shape[1] == 3


def test_a_control_that_is_constant_in_units_up_to_rounding_drops_out() -> None:
    frame = panels.panel(60, 3, 1)
    level = frame.groupby("unit")["z"].transform("mean")
    frame["level"] = level * (1 + 1e-15 * np.arange(len(frame)) % 3)
    plain = qs.audit("y ~ x | unit", frame, term="x", claim="significance")
    more = qs.audit("y ~ x + level | unit", frame, term="x", claim="significance")
    assert more.before.freedom == plain.before.freedom == 119
    assert more.message.replace("level and ", "") == plain.message
    with pytest.raises(ValueError, match="the controls explain level on all rows, up to rounding"):
        qs.audit("y ~ level | unit", frame, term="level")


def test_a_removal_makes_significant_what_its_own_p_value_says() -> None:
    for seed in range(12):
        frame = panels.panel(47, 2, seed).iloc[:81]
        found = qs.audit("y ~ x + C(unit)", frame, term="x", claim="significance")
        assert found.after is not None
        assert (found.after.p_value < 0.05) == (found.before.p_value >= 0.05)


def test_panels_have_the_degrees_of_freedom_and_errors_of_statsmodels() -> None:
    assert list(panels.differences(12, seed=1)) == []


@pytest.mark.slow
def test_600_audits_of_panels_are_as_statsmodels_has_them() -> None:
    assert list(panels.differences(600, seed=2)) == []


def test_classes_of_one_row_leave_nothing() -> None:
    unit = np.arange(50)
    assert Span(np.ones((50, 1)), np.ones(50), unit).rank == 50
    assert not Classes(unit, np.ones(50)).subtract_means(np.ones((50, 1))).any()
