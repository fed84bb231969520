"""The page's engine gives Python's answers."""

import re

import numpy as np
import pytest
from live_engine import ask, needs_engine, needs_node

import quadsweep as qs
from quadsweep.choosing.nulls import corrected_p_values
from quadsweep.cli.ending import BadInput
from quadsweep.cli.points import read_page_table
from quadsweep.cli.tables import FileOptions
from quadsweep.objectives import OBJECTIVES

pytestmark = [needs_engine, needs_node]


PLANAR = [name for name in qs.datasets.names() if qs.datasets.load(name).x.ndim == 1]


def agrees(told, x, y, k, objective, about):
    """Status, value and bound within tol of Python's; the subset is one of that value."""
    mine = qs.solve(x, y, k, objective=objective, n_jobs=1)
    assert told.get("failed") is None, about
    assert told["status"] == mine.status, about
    # tol is relative to the value for values in the data's units, absolute for r and R2.
    near = {"rel": 2e-9, "abs": 2e-9 if objective in ("r", "r2") else 1e-300}
    assert float(told["value"]) == pytest.approx(mine.value, **near), about
    assert float(told["bound"]) == pytest.approx(mine.bound, **near), about
    assert told["method"] == mine.method, about
    inliers = np.array(told["inliers"])
    assert len(inliers) == k, about
    if not np.array_equal(inliers, mine.inliers):
        own = OBJECTIVES[objective].value(x[inliers], y[inliers])
        assert own == pytest.approx(mine.value, **near), about


def samples(count, rng):
    """Smooth data, rounded data with ties, and data with duplicates."""
    for i in range(count):
        n = int(rng.integers(6, 60))
        x, y = rng.normal(size=(2, n))
        y = y + rng.uniform(-1, 1) * x
        if i % 3 == 1:
            x, y = np.round(2 * x), np.round(2 * y)
        if i % 3 == 2:
            copies = rng.integers(0, n, n // 2)
            x[: n // 2], y[: n // 2] = x[copies], y[copies]
        if np.all(x == x[0]) or np.all(y == y[0]):
            continue
        yield x, y


def test_random_data_with_ties_and_duplicates(tmp_path):
    seed = 17
    rng = np.random.default_rng(seed)
    questions = []
    for x, y in samples(200, rng):
        objective = list(OBJECTIVES)[len(questions) % len(OBJECTIVES)]
        k = int(rng.integers(max(OBJECTIVES[objective].min_k, len(x) // 2), len(x) + 1))
        questions.append({"what": "solve", "x": x, "y": y, "k": k, "objective": objective})
    told = ask(questions, tmp_path)
    assert len(told) > 190
    for i, (q, answer) in enumerate(zip(questions, told, strict=True)):
        agrees(answer, q["x"], q["y"], q["k"], q["objective"], f"seed {seed}, data set {i}")


def test_built_in_data_sets_by_every_objective(tmp_path):
    questions = []
    for name in PLANAR:
        data = qs.datasets.load(name)
        questions += [
            {"what": "solve", "x": data.x, "y": data.y, "k": data.k, "objective": o, "name": name}
            for o in OBJECTIVES
        ]
    for q, answer in zip(questions, ask(questions, tmp_path), strict=True):
        agrees(answer, q["x"], q["y"], q["k"], q["objective"], f"{q['name']} by {q['objective']}")


def test_the_objectives_are_those_of_python(tmp_path):
    (told,) = ask([{"what": "objectives"}], tmp_path)
    assert told == [[o.name, o.sense, o.min_k] for o in OBJECTIVES.values()]


def test_the_audit_of_the_sign_is_that_of_python(tmp_path):
    rng = np.random.default_rng(5)
    data = [qs.datasets.load(name) for name in PLANAR]
    questions = [{"what": "audit", "x": d.x, "y": d.y} for d in data]
    questions += [{"what": "audit", "x": x, "y": y} for x, y in samples(20, rng)]
    for q, told in zip(questions, ask(questions, tmp_path), strict=True):
        mine = qs.audit(q["x"], q["y"], n_jobs=1)
        if told.get("none"):
            assert mine.upper == 0
            continue
        assert told["finished"]
        assert told["lower"] <= mine.lower
        assert told["upper"] is None or told["upper"] >= mine.lower
        if not told["limited"]:
            assert told["upper"] == mine.drop
        if told["upper"] is not None:
            kept = np.setdiff1d(np.arange(len(q["x"])), told["outliers"])
            before = np.sign(qs.audit(q["x"], q["y"], max_drop=1).before.slope)
            assert np.sign(np.polyfit(q["x"][kept], q["y"][kept], 1)[0]) == -before


def test_p_values_along_the_path_are_those_of_python(tmp_path):
    rng = np.random.default_rng(3)
    rows = np.round(rng.uniform(size=(40, 7)), 2)
    (told,) = ask([{"what": "significance", "rows": rows, "sense": 1}], tmp_path)
    p, corrected = corrected_p_values(rows[0], rows[1:], np.full(7, 1e-9), 1)
    assert told["p"] == pytest.approx(p)
    assert told["corrected"] == pytest.approx(corrected)


def test_the_path_rises_and_has_a_band(tmp_path):
    data = qs.datasets.load("phone-calls")
    question = {
        "what": "path", "x": data.x, "y": data.y, "objective": "r2", "drops": [0, 2, 4, 6],
        "permutations": 19, "seed": 1,
    }  # fmt: skip
    (told,) = ask([question], tmp_path)
    mine = qs.path(data.x, data.y, drop=[0, 2, 4, 6])
    values = mine.value[np.argsort(-mine.k)]
    assert told["path"] == pytest.approx(values, abs=1e-8)
    noise = told["noise"]
    assert noise["shuffles"] == 19
    assert all(
        a <= b <= c for a, b, c in zip(*(noise[n] for n in ("low", "middle", "high")), strict=True)
    )


TABLES = {
    "plain": "a,b\n1,2\n3,4\n5,7\n",
    "semicolons": "a;b;name\n1;2;u\n3;4;v\n5;7;w\n",
    "tabs": "a\tb\n1\t2\n3\t4\n",
    "bars": "a|b\n1|2\n3|4\n",
    "spaces": "a b\n1 2\n3 4\n",
    "no header": "1,2\n3,4\n",
    "missing": "a,b\n1,NA\n,3\n 4 , .\n5,null\n6,7\n",
    "quotes": 'name,a,b\n"x, ""y""\nz",1,2\n<b>,3,4\n',
    "ragged": "a,b,c\n1,2\n3,4,5\n",
    "exponents": "a,b\n1e3,1_000\n-.5,+7.\n",
    "decimal commas": "a;b\n1,5;2\n3,25;4\n1.234,5;7\n",
    "thousands and shares": 'a,b\n"1,234.5",10%\n"2,000",5%\n',
    "dates": "day,b\n1970-01-03,1\n1970-01-01T12:00,2\n2024-02-29 06:30:15,3\n",
    "dates in other orders": "day,b,c,d\n31.1.1970,01/31/1970 06:30,13/01/1970,1970-02\n"
    "1.2.1970,2/1/1970,1/2/1970,?\n..,-,1/3/1970,1971-01\n",
    "dates read two ways": "day,b,c\n01/02/1970,1,5\n03/04/1970,2,#DIV/0!\n",
    "remarks": "# made by hand\n# twice\na,b\n1,2\n3,4\n",
    "counting rows": "id,a,b\n1,5,2\n2,7,4\n3,1,1\n",
    "carriage returns": "a,b\r\n1,2\r\n\r\n3,4\r\n",
    "text late": "a,b\n" + "1,2\n" * 1200 + "1,oops\n",
    "too long": "a,b\n1,2\n1,2,3\n",
    "empty": " \n",
    "only a header": "a,b\n",
    "one column": "a\n1\n2\n",
}


@pytest.mark.parametrize("name", list(TABLES))
def test_tables_are_read_as_on_the_command_line(name, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(TABLES[name], newline="", encoding="utf-8")
    (told,) = ask([{"what": "table", "text": TABLES[name], "source": str(file)}], tmp_path)
    if "failed" in told:
        option = "(; if it means that the value is missing: --missing \\w+)?"  # a page has none
        with pytest.raises(BadInput, match=f"^{re.escape(told['failed'])}{option}$"):
            read_page_table(FileOptions(str(file)))
        return
    mine = read_page_table(FileOptions(str(file)))
    numeric = [told["names"][i] for i in told["numeric"]]
    ours = dict(zip(mine.names, mine.columns, strict=True))
    assert numeric == [name for name in mine.names if name in numeric]
    for column, values in zip(numeric, told["columns"], strict=True):
        got = [np.nan if v == "NaN" else float(v) for v in values]
        assert np.array_equal(got, ours[column], equal_nan=True)
    assert [told["names"][i] for i in told["first"]] == [mine.names[mine.x], mine.names[mine.y]]
    label = None if told["label"] < 0 else told["names"][told["label"]]
    assert label == next((name for name in mine.names if name not in numeric), None)
