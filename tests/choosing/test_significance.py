"""Permutation tests: exact, valid, reproducible, and plain-spoken."""

import json
import signal

import naive
import numpy as np
import pytest
from families import FAMILIES
from matplotlib.figure import Figure

import quadsweep as qs
from quadsweep import _core
from quadsweep.choosing.nulls import corrected_p_values
from quadsweep.objectives import get
from quadsweep.solving.methods import certified
from quadsweep.solving.methods.problem import Problem

OBJECTIVES = ["r2", "r", "cov", "dv", "tv", "lts"]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "constant_column"])
def test_decisions_agree_with_enumeration(family, objective):
    rng = np.random.default_rng(11)
    x, y = FAMILIES[family](rng, 8)
    ys = np.array([rng.permutation(y) for _ in range(6)])
    observed = naive.value_of_score(naive.exhaustive(x, y, 5, objective)[0], objective)
    above = _core.lowered(x, y, 5, objective, observed, 1e-9)
    for row in ys:
        problem = Problem(x, row, 5, get(objective))
        answer = certified.search(problem, above=above, starting_lines=2)
        assert answer.decided
        assert bool(len(answer.inliers)) == naive.passes(x, row, 5, objective, above)


def test_the_null_is_the_optimum_of_each_shuffle():
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    answer = qs.significance(x, y, 20, permutations=10, seed=7)
    rng = np.random.default_rng(7)
    for value in answer.null:
        assert value == pytest.approx(qs.solve(x, rng.permutation(y), 20).value, abs=2e-9)


def test_an_equal_value_counts_as_reaching():
    x = np.array([0.0, 0, 0, 0, 1, 1, 1, 1])
    answer = qs.significance(x, x, 8, permutations=200)
    rng = np.random.default_rng(0)
    ties = sum(abs(np.corrcoef(x, rng.permutation(x))[0, 1]) > 0.99 for _ in range(200))
    assert answer.reached.sum() == ties > 0


def test_does_not_depend_on_the_number_of_threads():
    x, y = np.random.default_rng(1).uniform(size=(2, 50))
    one = qs.significance(x, y, 35, permutations=80, n_jobs=1)
    for n_jobs in (2, 5):
        many = qs.significance(x, y, 35, permutations=80, n_jobs=n_jobs)
        assert many.p_value == one.p_value
        np.testing.assert_array_equal(many.null, one.null)
        np.testing.assert_array_equal(many.reached, one.reached)


def test_another_seed_gives_other_shuffles():
    x, y = np.random.default_rng(1).uniform(size=(2, 20))
    zero, one = (qs.significance(x, y, 12, permutations=20, seed=s) for s in (0, 1))
    assert zero.null.tolist() != one.null.tolist()


def p_values_of_noise(draw, count, permutations, **options):
    out = []
    for seed in range(count):
        x, y = draw(np.random.default_rng([5, seed]))
        answer = qs.significance(x, y, 9, permutations=permutations, seed=seed, n_jobs=1, **options)
        out.append(answer.p_value)
    return np.array(out)


def test_p_values_of_noise_are_uniform():
    """400 p-values on a grid of 20: within 1.63 / sqrt(400) = 0.082 of uniform, the 1% bound."""
    p = p_values_of_noise(lambda rng: rng.uniform(size=(2, 16)), 400, 19)
    grid = np.arange(1, 21) / 20
    share = (p[:, None] <= grid + 1e-12).mean(axis=0)
    assert np.abs(share - grid).max() < 1.63 / np.sqrt(400)


@pytest.mark.slow
def test_p_values_of_tied_noise_are_never_too_small():
    """Ties make p larger than uniform, not smaller: one-sided 1% bound, 1.52 / sqrt(300)."""
    p = p_values_of_noise(lambda rng: rng.integers(0, 6, (2, 16)) + 0.0, 300, 19)
    grid = np.arange(1, 21) / 20
    share = (p[:, None] <= grid + 1e-12).mean(axis=0)
    assert (share - grid).max() < 1.52 / np.sqrt(300)


@pytest.mark.slow
def test_p_values_of_whole_paths_of_noise_are_uniform_enough():
    """The overall p-value must not be too small, although ten sizes were looked at."""
    overall, pointwise = [], []
    for seed in range(200):
        x, y = np.random.default_rng([6, seed]).uniform(size=(2, 12))
        noise = qs.path(x, y, ks=range(4, 13), permutations=19, seed=seed).noise
        overall.append(noise.overall)
        pointwise.append(noise.p_value.min())
    grid = np.arange(1, 21) / 20
    share = (np.array(overall)[:, None] <= grid + 1e-12).mean(axis=0)
    assert np.abs(share - grid).max() < 1.63 / np.sqrt(200) + 0.05
    assert np.mean(np.array(pointwise) <= 0.1) > 0.2  # without the correction they are too small


@pytest.mark.parametrize("seed", range(5))
def test_corrected_p_values_agree_with_their_definition(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 6, size=(15, 4)) + 0.0
    slack = np.array([0.0, 1e-9, 0.0, 1.0])
    p, corrected = corrected_p_values(table[0], table[1:], slack, sense=1)
    np.testing.assert_allclose(p, naive.pointwise_p_values(table.tolist(), slack)[0])
    np.testing.assert_allclose(corrected, naive.corrected_p_values(table.tolist(), slack))
    flipped = corrected_p_values(-table[0], -table[1:], slack, sense=-1)
    np.testing.assert_allclose(flipped[1], corrected)


def test_a_splendid_r2_of_uniform_noise_is_called_unremarkable():
    x, y = np.random.default_rng(2024).uniform(size=(2, 50))
    answer = qs.significance(x, y, 18, permutations=199)
    assert answer.observed > 0.8
    assert answer.p_value > 0.1
    assert "is unremarkable" in answer.verdict()
    assert "noise alone would do as well" in answer.summary()


def test_a_line_is_called_more_than_noise():
    x = np.linspace(0, 1, 50)
    y = x + 0.1 * np.random.default_rng(0).normal(size=50)
    answer = qs.significance(x, y, 40, permutations=99)
    assert answer.p_value == 0.01
    assert "more than noise gives: 0 of 99" in answer.verdict()
    assert answer.interval[0] == 0
    assert 0.03 < answer.interval[1] < 0.05


def test_limits_keep_the_shuffles_made_so_far():
    x, y = np.random.default_rng(0).uniform(size=(2, 60))
    stopped = qs.significance(x, y, 40, permutations=500, progress=lambda done, *_: done < 20)
    assert stopped.status == "interrupted"
    assert 20 <= len(stopped.reached) < 500
    assert stopped.p_value == (1 + stopped.reached.sum()) / (1 + len(stopped.reached))
    none = qs.significance(x, y, 40, permutations=500, time_limit=0)
    assert none.status == "time_limit"
    assert np.isnan(none.p_value)
    assert "not proved" in none.summary()


LONG_RUNS = {
    "values": lambda x, y, press: qs.significance(x, y, 150, permutations=9999, progress=press),
    "path": lambda x, y, press: (
        qs.path(x, y, ks=[190, 150], permutations=9999, progress=press).noise
    ),
    "stability": lambda x, y, press: qs.stability(x, y, 150, resamples=9999, progress=press),
}


@pytest.mark.parametrize("run", LONG_RUNS)
def test_ctrl_c_returns_what_is_finished(run):
    x, y = np.random.default_rng(0).uniform(size=(2, 200))
    pressed = []

    def press(done, total, seconds):
        """Ctrl-C after the first block of the long part, however fast it was."""
        if total > 1000 and not pressed:
            pressed.append(done)
            signal.raise_signal(signal.SIGINT)

    assert LONG_RUNS[run](x, y, press).status == "interrupted"
    assert pressed


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"permutations": 0}, ValueError, "permutations must be at least 1; got 0"),
        ({"permutations": 9.5}, TypeError, "permutations must be a whole number"),
        ({"objective": "var"}, ValueError, "'var' uses x alone"),
        ({"k": None}, ValueError, "exactly one of k"),
        ({"k": 2}, ValueError, "r2 needs between 3"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, error, says):
    with pytest.raises(error, match=says):
        qs.significance([1, 2, 3, 4], [1, 2, 4, 3], **{"k": 3, **options})


def test_a_constant_column_is_named():
    with pytest.raises(ValueError, match="y is constant"):
        qs.significance([1, 2, 3, 4], [1, 1, 1, 1], 3)


def test_it_tells_itself_as_text_html_json_and_picture():
    x, y = np.random.default_rng(0).uniform(size=(2, 20))
    answer = qs.significance(x, y, 12, permutations=49)
    assert answer._repr_html_().startswith("<table>")
    told = json.loads(json.dumps(answer.to_dict()))
    assert told["p_value"] == answer.p_value
    assert len(told["null"]) == 49
    ax = Figure().subplots()
    assert answer.plot(ax=ax) is ax
    assert sum(patch.get_height() for patch in ax.patches) >= 49
    assert any(line.get_xdata()[0] == answer.observed for line in ax.lines)
    with pytest.raises(ValueError, match="no shuffle was finished"):
        qs.significance(x, y, 12, permutations=9, time_limit=0).plot()


def test_no_shuffle_is_no_p_value_and_no_verdict():
    x, y = np.random.default_rng(0).uniform(size=(2, 30))
    none = qs.significance(x, y, 20, time_limit=0)
    assert np.isnan(none.p_value)
    assert none.to_dict()["p_value"] is None
    assert "unremarkable" not in none.summary()
    assert "no verdict from no shuffles: a p-value of 0.05 takes at least 19" in none.summary()
    stopped = qs.path(x, y, drop=3, permutations=99, progress=lambda done, total, seconds: done < 4)
    noise = stopped.noise
    assert noise is None or "no verdict" in noise.verdict()


@pytest.mark.parametrize(("made", "word"), [(5, "no verdict"), (18, "no verdict"), (19, "more")])
def test_few_shuffles_allow_no_verdict_and_it_says_how_many_it_takes(made, word):
    x = np.linspace(0, 1, 30)
    y = x + 0.01 * np.random.default_rng(0).normal(size=30)
    found = qs.significance(x, y, drop=3, permutations=made)
    path = qs.path(x, y, drop=2, permutations=made)
    assert found.word.startswith(word)
    assert word in found.verdict()
    assert "noise alone" not in found.verdict()
    assert "does as well" not in path.noise.verdict()
    assert word in path.noise.verdict()
    assert word in path.summary()
    assert ("at least 19" in path.noise.verdict()) == (made < 19)


def test_few_clean_lines_count_no_outliers():
    x = np.linspace(0, 1, 30)
    y = x + 0.01 * np.random.default_rng(0).normal(size=30)
    y[[3, 7]] += 5
    few = qs.path(x, y, drop=3, null="line", permutations=9)
    assert few.noise.n_outliers is None
    assert few.noise.verdict() == "no verdict from 9 draws: a p-value of 0.05 takes at least 19"
    assert "stands out" not in few.suggestions()
    assert few.plot() is not None
    assert qs.path(x, y, drop=3, null="line", permutations=99).noise.n_outliers == 2
