"""Every question takes its first arguments in the same ways, and refuses others by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadsweep as qs

pd = pytest.importorskip("pandas")
pytest.importorskip("formulaic")

QUESTIONS: dict[str, dict[str, Any]] = {
    "solve": {"drop": 2},
    "path": {"drop": 2},
    "significance": {"drop": 2, "permutations": 9},
    "stability": {"drop": 2, "resamples": 5},
    "compare": {"drop": 2, "methods": ["lts"]},
    "audit": {"max_drop": 3},
}


def frame() -> Any:
    x, y = np.random.default_rng(3).normal(size=(2, 14))
    return pd.DataFrame({"a": x, "b": y + x / 2})


def told(question: str, *arguments: Any, **more: Any) -> Any:
    """What an answer says, but for the time it took and what may be called otherwise."""
    found = getattr(qs, question)(*arguments, **more, **QUESTIONS[question])
    if question == "audit":  # a formula makes a regression of it
        return found.lower, found.upper
    result = found if question in ("solve", "path") else found.result
    return np.asarray(result.value).tolist()


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_ways_to_give_two_columns_are_one(question: str) -> None:
    table = frame()
    expected = told(question, table["a"], table["b"])
    for found in (
        told(question, table),
        told(question, table, x="a", y="b"),
        told(question, x="a", y="b", data=table),
        told(question, "b ~ a", table),
        told(question, "b ~ a", data=table),
        told(question, "b ~ a", {"a": table["a"].tolist(), "b": table["b"].tolist()}),
    ):
        assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_source_that_fits_in_memory_is_read(question: str, tmp_path: Any) -> None:
    pytest.importorskip("pyarrow")
    table, path = frame(), tmp_path / "table.parquet"
    table.to_parquet(path)
    assert told(question, path, x="a", y="b") == told(question, table["a"], table["b"])


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_cannot_be_taken_is_named(question: str) -> None:
    table = frame()
    with pytest.raises(TypeError, match=rf"a formula needs the data frame .*{question}\('b ~ a'"):
        told(question, "b ~ a")
    with pytest.raises(TypeError, match="table twice"):
        told(question, table, x="a", y="b", data=table)
    with pytest.raises(ValueError, match="y must be left out beside a formula"):
        told(question, "b ~ a", table["b"], data=table)


@pytest.mark.parametrize("question", ["solve", "path", "significance", "stability", "compare"])
def test_a_fitted_model_is_refused_by_name_where_it_has_no_meaning(question: str) -> None:
    sm = pytest.importorskip("statsmodels.api")
    table = frame()
    fitted = sm.OLS(table["b"], table[["a"]]).fit()
    with pytest.raises(TypeError, match=f"{question} takes .* got OLS results of statsmodels"):
        told(question, fitted)


@pytest.mark.parametrize("question", ["solve", "path", "significance", "stability", "compare"])
def test_fixed_effects_and_instruments_are_refused_where_there_are_none(question: str) -> None:
    table = frame().assign(g=[0, 1] * 7)
    with pytest.raises(ValueError, match=r"fixed effects .* are for audit.* as C\(g\)"):
        told(question, "b ~ a | g", table)


@pytest.mark.parametrize("formula", ["b ~ 1 | g | a ~ c", "b ~ 1 | a ~ c", "b ~ 1 + [a ~ c]"])
def test_instruments_are_read_and_named_by_the_audit(formula: str) -> None:
    table = frame().assign(g=[0, 1] * 7, c=range(14))
    assert "instrumented by c" in qs.audit(formula, table, term="a", max_drop=2).message


def test_every_public_name_is_listed_for_type_checkers_too() -> None:
    import ast
    from pathlib import Path

    tree = ast.parse(Path(qs.__file__).read_text(encoding="utf-8"))
    typed = {
        alias.asname: (node.module or "").removeprefix("quadsweep").lstrip(".")
        for block in tree.body if isinstance(block, ast.If)
        for node in block.body if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }  # fmt: skip
    assert typed == {"datasets": "", **qs._MODULE_OF}
    assert set(qs.__all__) == set(typed) <= set(dir(qs))
    assert all(getattr(qs, name).__name__.endswith(name) for name in qs.__all__)
    with pytest.raises(AttributeError, match="no attribute 'solv'"):
        qs.solv  # noqa: B018
    assert not hasattr(qs, "__main__")  # which would run the command


def test_importing_loads_only_what_is_used() -> None:
    import subprocess
    import sys

    code = "import sys, quadsweep; print(*(m for m in sys.modules if m.startswith('quadsweep.')))"
    code += "; print(quadsweep.report.gather.__name__, quadsweep.objectives.__name__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == ["", "gather quadsweep.objectives"]


def test_a_data_set_with_a_published_regression_stands_for_it_in_audits():
    data = qs.datasets.load("ruggedness")
    asked = {"claim": "significance", "vcov": "HC1"}
    found = qs.audit(data, **asked)
    assert (found.lower, found.upper, found.term) == (2, 2, data.term)
    said = qs.audit(data.formula, data.to_frame(), term=data.term, **asked)
    assert found.outliers.tolist() == said.outliers.tolist()
    other = qs.audit(data, term="rugged")
    assert other.term == "rugged"
    assert qs.solve(data, drop=3).n == len(data.x)  # its two columns
