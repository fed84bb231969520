"""Paths: every k as if it were solved alone, whatever came before it."""

import json
import signal

import naive
import numpy as np
import pytest
from families import FAMILIES
from matplotlib.figure import Figure

import quadsweep as qs
from quadsweep import objectives
from quadsweep.choosing.clean_line import fit_clean_line
from quadsweep.choosing.nulls import NullSearch, corrected_p_values
from quadsweep.choosing.path import elbow, largest_gain
from quadsweep.choosing.path_significance import _gains, _is_settled

PAIRED = ["r2", "r", "cov", "dv", "tv", "lts"]


def noisy_line(n, seed=0, outliers=0.3):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=n)
    noise = rng.uniform(size=n) < outliers
    return x, np.where(noise, rng.uniform(size=n), x + 0.1 * rng.normal(size=n))


@pytest.mark.parametrize("objective", [*PAIRED, "var"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_size_has_the_optimum_of_all_its_subsets(family, objective):
    x, y = FAMILIES[family](np.random.default_rng(5), 8)
    if objective in ("r2", "r") and family == "constant_column":
        return
    answer = qs.path(x, y, objective=objective, drop=8 - naive.MIN_K[objective])
    for k, value, mask in zip(answer.k, answer.value, answer.masks, strict=True):
        best = naive.exhaustive(x, y, int(k), objective)
        if best is None:
            assert np.isnan(value)
            continue
        exact = naive.value_of_score(best[0], objective)
        scale = 1.0 if objective in ("r2", "r") else np.ptp(x) ** 2 + np.ptp(y) ** 2
        assert value == pytest.approx(exact, rel=1e-8, abs=3e-9 * scale), (family, k)
        assert mask.sum() == k


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "family", ["uniform", "normal", "lattice", "duplicated", "heavy_tailed", "clustered"]
)
def test_agrees_with_solving_each_size_alone(family, seed):
    x, y = FAMILIES[family](np.random.default_rng(seed), 60)
    answer = qs.path(x, y)
    assert answer.k.tolist() == list(range(60, 29, -1))
    assert answer.success
    for k, value, bound in zip(answer.k, answer.value, answer.bound, strict=True):
        alone = qs.solve(x, y, int(k))
        assert value == pytest.approx(alone.value, abs=2e-9), (family, seed, k)
        assert bound >= alone.value, (family, seed, k)
        assert bound >= value


@pytest.mark.parametrize("objective", ["r2", "r", "tv", "var", "lts"])
@pytest.mark.parametrize("family", ["uniform", "normal", "lattice", "duplicated", "heavy_tailed"])
def test_dropping_one_more_point_never_hurts(family, objective):
    x, y = FAMILIES[family](np.random.default_rng(9), 40)
    answer = qs.path(x, y, objective=objective, drop=40 - naive.MIN_K[objective])
    score = objectives.get(objective).sense * answer.value
    tied = 1e-8 * (1 + np.abs(score).max())
    assert (np.diff(score[np.isfinite(score)]) >= -tied).all()


def test_values_belong_to_the_masks_and_lines_to_the_kept_points():
    x, y = noisy_line(40)
    answer = qs.path(x, y)
    for i, mask in enumerate(answer.masks):
        assert answer.value[i] == pytest.approx(objectives.get("r2").value(x[mask], y[mask]))
        slope, intercept = np.polyfit(x[mask], y[mask], 1)
        assert answer.slope[i] == pytest.approx(slope)
        assert answer.intercept[i] == pytest.approx(intercept)


def test_shows_which_points_leave_and_which_come_back():
    data = qs.datasets.load("phone-calls")
    answer = qs.path(data.x, data.y)
    assert not answer.nested  # six points come back when the seventh is dropped
    kept = set(range(24))
    for mask, gone, back in zip(answer.masks, answer.leaving, answer.returning, strict=True):
        kept = (kept - set(gone.tolist())) | set(back.tolist())
        assert kept == set(np.flatnonzero(mask).tolist())
    assert any(len(back) for back in answer.returning)


def test_one_clean_outlier_leaves_and_the_rest_is_nested():
    x = np.arange(10.0)
    y = x.copy()
    y[4] = 30
    answer = qs.path(x, y, drop=1)
    assert answer.nested
    assert [gone.tolist() for gone in answer.leaving] == [[], [4]]


@pytest.mark.parametrize("family", ["uniform", "lattice"])
def test_does_not_depend_on_the_number_of_threads(family):
    x, y = FAMILIES[family](np.random.default_rng(3), 70)
    one = qs.path(x, y, n_jobs=1, permutations=5, ks=[60, 50, 40])
    for n_jobs in (2, 5):
        many = qs.path(x, y, n_jobs=n_jobs, permutations=5, ks=[60, 50, 40])
        np.testing.assert_array_equal(one.value, many.value)
        np.testing.assert_array_equal(one.masks, many.masks)
        np.testing.assert_array_equal(one.noise.null, many.noise.null)
        np.testing.assert_array_equal(one.noise.corrected, many.noise.corrected)


def test_sizes_can_be_given_as_numbers_shares_and_ranges():
    x, y = noisy_line(20)
    assert qs.path(x, y).k.tolist() == list(range(20, 9, -1))
    assert qs.path(x, y, ks=[12, 20, 0.75, 12]).k.tolist() == [20, 15, 12]
    assert qs.path(x, y, drop=3).k.tolist() == [20, 19, 18, 17]
    assert qs.path(x, y, drop=0.1).k.tolist() == [20, 19, 18]
    assert qs.path(x, y, drop=range(0, 9, 4)).drop.tolist() == [0, 4, 8]
    assert qs.path(x[:4], y[:4]).k.tolist() == [4, 3]


def test_a_default_range_of_many_points_is_thinned():
    x = np.arange(2000.0)
    answer = qs.path(x, None, objective="var")
    assert len(answer) == 501
    assert answer.k[[0, -1]].tolist() == [2000, 1000]


def test_one_size_comes_out_as_a_result():
    x, y = noisy_line(30)
    x[3] = np.nan
    answer = qs.path(x, y, nan_policy="omit")
    alone = qs.solve(x, y, 20, nan_policy="omit")
    result = answer.result(20)
    assert result.value == pytest.approx(alone.value, abs=2e-9)
    assert result.inliers.tolist() == alone.inliers.tolist()
    assert result.omitted.tolist() == [3]
    assert answer.masks.shape == (len(answer), 30)
    with pytest.raises(ValueError, match="no answer for k = 3"):
        answer.result(3)


def test_suggestions_follow_their_rules():
    k = np.arange(10, 4, -1)
    score = np.array([0.1, 0.15, 0.6, 0.65, 0.66, 0.67])
    assert largest_gain(k, score) == 8
    assert elbow(k, score) == 8
    assert largest_gain(k[::2], score[::2]) == 8
    straight = np.linspace(0, 1, 6)
    assert elbow(k, straight) is None
    assert largest_gain(k[:1], score[:1]) is None
    assert largest_gain(k, score[::-1]) is None
    assert elbow(k, score[::-1]) is None


def test_a_line_with_outliers_is_cut_where_they_end():
    rng = np.random.default_rng(8)
    x = rng.uniform(size=40)
    y = x + 0.01 * rng.normal(size=40)
    y[:7] = rng.uniform(2, 3, size=7)
    answer = qs.path(x, y, permutations=19)
    picks = answer.suggestions()
    assert picks["elbow"] == 33
    assert picks["gain"] == 33
    assert answer.noise.overall == pytest.approx(1 / 20)


def test_noise_suggests_no_size():
    x, y = np.random.default_rng(4).uniform(size=(2, 24))
    answer = qs.path(x, y, permutations=39)
    assert "unremarkable" in answer.summary()
    clean = qs.path(x, y, drop=6, null="line", permutations=39)
    assert clean.suggestions() == {"stands out": None}
    assert "no outliers" in clean.summary()
    assert "gain:" not in clean.summary()


def planted(seed, n=60):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, size=n)
    y = 2 * x + rng.normal(size=n)
    y[:3] += [8, -8, 9]
    return x, y


@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_rows_that_stand_out_of_a_line_are_counted(objective):
    x, y = planted(5)
    answer = qs.path(x, y, drop=6, null="line", permutations=99, objective=objective)
    assert answer.noise.n_outliers == 3
    assert answer.noise.overall <= 0.05
    assert answer.suggestions()["stands out"] == 57
    assert sorted(answer.result(57).outliers) == [0, 1, 2]
    assert "3 outliers: a clean line of this noise gains as much" in answer.summary()
    assert answer.to_dict()["noise"]["n_outliers"] == 3


def test_the_clean_line_needs_no_size_of_all_points_and_counts_from_it():
    x, y = planted(5)
    answer = qs.path(x, y, drop=[2, 3, 4], null="line", permutations=99, objective="lts")
    assert answer.noise.n_outliers == 3
    assert answer.noise.null.shape == (99, 3)


def test_the_line_null_does_not_depend_on_threads_or_blocks():
    x, y = planted(6, n=30)
    one = qs.path(x, y, drop=3, null="line", permutations=40, n_jobs=1).noise
    two = qs.path(x, y, drop=3, null="line", permutations=40, n_jobs=2).noise
    np.testing.assert_allclose(one.null, two.null, atol=1e-9)
    ys = fit_clean_line(x, y, np.ones(30, bool))
    together = ys.draws(np.random.default_rng(0), 5)
    rng = np.random.default_rng(0)
    apart = np.concatenate([ys.draws(rng, 2), ys.draws(rng, 3)])
    np.testing.assert_array_equal(together, apart)


def test_the_noise_inside_is_learned_whatever_lies_outside():
    rng = np.random.default_rng(9)
    x = rng.normal(size=400)
    y = x + 0.5 * rng.normal(size=400)
    y[:20] += 1000
    line = fit_clean_line(x, y, np.arange(400) >= 20)
    scale = line.scale @ line.weight.sum(axis=0)
    assert 0.4 < scale < 0.6
    heavy = fit_clean_line(x, x + rng.standard_t(5, size=400), np.ones(400, bool))
    assert heavy.normal < 0.05


def test_normal_noise_has_even_odds_where_the_rows_say_nothing():
    few = fit_clean_line(np.array([0.0, 1, 2]), np.array([0.0, 1, 2.1]), np.ones(3, bool))
    assert 0.3 < few.normal < 0.7


def test_rules_that_know_nothing_of_noise_are_silent_beside_the_line_null():
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 10, size=60)
    y = 2 * x + rng.normal(size=60)
    plain = qs.path(x, y, drop=5)
    assert plain.suggestions()["gain"] is not None
    beside = qs.path(x, y, drop=5, null="line", permutations=49)
    assert beside.suggestions() == {"stands out": None}
    assert "no outliers" in beside.summary()
    assert "largest gain" not in beside.summary()


def test_beside_a_line_without_noise_outliers_are_not_counted_and_it_says_why():
    x = np.arange(11.0)
    y = 0.5 * x + np.repeat([0, 0.01], [6, 5]) * np.arange(11) ** 2
    y[10] += 5
    answer = qs.path(x, y, null="line", permutations=39, time_limit=20)
    assert answer.noise.status == "finished"
    assert (answer.noise.n_outliers, answer.noise.overall) == (0, 1 / 40)
    assert "the 6 rows of the smallest subset lie on a line exactly" in answer.summary()
    assert "no outliers" not in answer.summary()


def test_a_null_for_a_line_is_refused_where_there_is_none():
    with pytest.raises(ValueError, match="'shuffled', 'line' or 'normal'; got 'bootstrap'"):
        qs.path([1, 2, 3, 4], [1, 2, 4, 3], drop=1, null="bootstrap", permutations=9)
    for null in ("line", "normal"):
        with pytest.raises(ValueError, match=f"null='{null}' goes with the objectives r2, r, lts"):
            qs.path([1, 2, 3, 4], [1, 2, 4, 3], drop=1, null=null, objective="cov")


def test_whoever_knows_that_noise_is_normal_sees_smaller_outliers():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 10, size=60)
    y = 2 * x + rng.normal(size=60)
    y[:3] += [3.5, -3.5, 3.5]
    unknown = qs.path(x, y, drop=5, objective="lts", null="line").noise
    normal = qs.path(x, y, drop=5, objective="lts", null="normal").noise
    assert (unknown.n_outliers, normal.n_outliers) == (0, 3)
    assert normal.normal == pytest.approx(1)
    assert unknown.normal < 0.9
    assert normal.to_dict()["null"] == "normal"
    assert "a clean line of normal noise gains as much" in normal.verdict()


def test_a_named_null_is_drawn_from_without_being_asked_how_often():
    x, y = planted(5, n=20)
    assert len(qs.path(x, y, drop=1, null="line").noise.null) == 99
    assert qs.path(x, y, drop=1, null="line", permutations=0).noise is None
    assert qs.path(x, y, drop=1).noise is None


@pytest.mark.parametrize("seed", range(20))
def test_draws_that_settle_a_step_settle_it_as_all_of_them_would(seed):
    rng = np.random.default_rng(seed)
    observed = np.concatenate([[0.5], 0.5 + np.cumsum(rng.uniform(0, 0.06, size=3))])
    null = np.concatenate(
        [np.full((99, 1), 0.5), 0.5 + np.cumsum(rng.uniform(0, 0.05, size=(99, 3)), axis=1)], axis=1
    )
    settled = [_is_settled(observed, "r2", 99, null[:count]) for count in range(1, 100)]
    _, corrected = corrected_p_values(
        _gains(observed, "r2"), _gains(null, "r2"), np.zeros(4), sense=1
    )
    assert settled == sorted(settled)
    assert not settled[-1] or corrected.min() > 0.05


def test_a_step_that_only_decides_draws_no_more_than_it_needs(monkeypatch):
    made, collect = [], NullSearch.collect

    def counted(*given, **how):
        made.append(collect(*given, **how))
        return made[-1]

    monkeypatch.setattr(NullSearch, "collect", counted)
    x, y = planted(5)
    assert qs.path(x, y, drop=6, null="line", objective="lts").noise.n_outliers == 3
    first, *further = map(len, made)
    assert first == 99
    assert 0 < further[-1] < 99


def test_a_callback_can_stop_it_and_what_is_finished_is_kept():
    x, y = noisy_line(400)
    seen = []

    def enough(done, total, seconds):
        seen.append((done, total))
        return done < 3

    answer = qs.path(x, y, n_jobs=2, progress=enough)
    assert seen[-1][1] == 201
    finished = answer.status == "optimal"
    assert 3 <= finished.sum() < 201
    assert set(answer.status[~finished]) == {"interrupted"}
    assert np.isfinite(answer.value[finished]).all()
    assert not answer.success


def test_no_time_gives_no_answers_and_says_so():
    x, y = noisy_line(30)
    answer = qs.path(x, y, time_limit=0)
    assert set(answer.status) == {"time_limit"}
    assert np.isnan(answer.value).all()
    assert "0 of 16 sizes proved" in answer.summary()
    assert "time limit; 16 of 16 sizes were not reached" in answer.summary()
    json.dumps(answer.to_dict())


def test_columns_of_tiny_numbers_have_a_path():
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    plain, tiny = qs.path(x, y, drop=5), qs.path(x, 1e-165 * y, drop=5)
    np.testing.assert_allclose(tiny.value, plain.value)
    assert tiny.success


def test_ctrl_c_returns_what_is_finished():
    x, y = noisy_line(300)
    pressed = []

    def press(done, total, seconds):
        """Ctrl-C as soon as something is finished, however fast that was."""
        if done and not pressed:
            pressed.append(done)
            signal.raise_signal(signal.SIGINT)

    answer = qs.path(x, y, progress=press)
    finished = (answer.status == "optimal").sum()
    assert finished >= pressed[0]
    assert finished == len(answer) or "interrupted" in set(answer.status)


def test_a_callback_that_fails_is_heard():
    x, y = noisy_line(300)

    def broken(done, total, seconds):
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError):
        qs.path(x, y, progress=broken)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"ks": []}, ValueError, "ks must hold at least one size; got none"),
        ({"drop": range(0)}, ValueError, "drop must hold at least one size; got none"),
        ({"ks": [5], "drop": 2}, ValueError, "at most one of ks"),
        ({"ks": 5}, TypeError, "ks must be a sequence of sizes; got 5"),
        ({"ks": [2]}, ValueError, "r2 needs between 3 and n = 6"),
        ({"ks": [7]}, ValueError, "keeps 7 of 6 points"),
        ({"drop": 4}, ValueError, "keeps 2 of 6 points"),
        ({"permutations": -1}, ValueError, "permutations must be at least 0"),
        ({"objective": "var", "permutations": 9}, ValueError, "'var' uses x alone"),
        ({"objective": "best"}, ValueError, "objective must be one of"),
        ({"progress": 3}, TypeError, "progress must be"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, error, says):
    with pytest.raises(error, match=says):
        qs.path([1, 2, 3, 4, 5, 7], [1, 2, 9, 4, 5, 6], **options)


def test_it_tells_itself_as_text_html_json_frame_and_picture():
    x, y = noisy_line(20)
    answer = qs.path(x, y, permutations=9)
    assert "elbow" in answer.summary()
    assert answer._repr_html_().startswith("<table>")
    told = json.loads(json.dumps(answer.to_dict()))
    assert told["k"] == answer.k.tolist()
    assert told["noise"]["corrected"] == answer.noise.corrected.tolist()
    frame = answer.to_frame()
    assert frame["value"].tolist() == answer.value.tolist()
    ax = Figure().subplots()
    assert answer.plot(ax=ax) is ax
    curve = next(line for line in ax.lines if line.get_label() == "best subset")
    np.testing.assert_array_equal(curve.get_ydata(), answer.value)
    assert answer.noise.plot(ax=Figure().subplots()) is not None
    assert "all 9 shuffles" in answer.noise.summary()


def test_a_count_of_outliers_that_a_limit_cut_off_says_at_least(monkeypatch):
    made, collect = [], NullSearch.collect

    def cut(*given, **how):
        made.append(collect(*given, **how))
        return made[-1] if len(made) == 1 else made[-1][:0]

    x, y = planted(5)
    whole = qs.path(x, y, drop=6, null="line", objective="lts").noise
    monkeypatch.setattr(NullSearch, "collect", cut)
    stopped = qs.path(x, y, drop=6, null="line", objective="lts").noise
    assert whole.status == "finished"
    assert whole.verdict().startswith("3 outliers: ")
    assert stopped.status == "interrupted"
    assert stopped.verdict().startswith(f"at least {stopped.n_outliers} outlier")
