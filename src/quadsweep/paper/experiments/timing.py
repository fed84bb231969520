"""Seconds by method and n, and the certified engine up to a million points.

One thread, one trial after another in one process; what is timed is the method, without input
checks and without the conic. Time is that of the processor, so that what else the machine does is
not counted, where the system's clock is fine enough, otherwise that of the wall. In each trial all
methods follow one another on the same points, so that a slow moment meets them alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes, Floats, Ints
from quadsweep.distributed.store import Chunk, Columns
from quadsweep.objectives import OBJECTIVES
from quadsweep.paper.experiments import randomness
from quadsweep.paper.experiments.runner import Results, TextTable
from quadsweep.paper.experiments.scale import Scale, half
from quadsweep.solving.methods import METHODS as RUN
from quadsweep.solving.methods import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Title, colour and marker of each method.
METHODS = {
    "naive": ("naive sweep", "#D55E00", "s"),
    "sweep": ("sweep", "#E69F00", "^"),
    "exhaustive": ("exhaustive", "#0072B2", "D"),
    "certified": ("certified", "#009E73", "o"),
}
# The paper's naive sweep in Julia: mean milliseconds by n.
PAPER = {10: 20.2, 30: 2242.9}
AGREEMENT = 1e-9
FINE = 1e-6  # seconds


def _clock() -> Callable[[], float]:
    fine = time.get_clock_info("thread_time").resolution <= FINE
    return time.thread_time if fine else time.perf_counter


def _seconds(method: str, x: Floats, y: Floats) -> tuple[float, float]:
    """Time and value of one solve."""
    problem = Problem(x, y, half(len(x)), OBJECTIVES["r2"])
    clock = _clock()
    start = clock()
    outcome = RUN[method](problem)
    return clock() - start, outcome.value


def timing_work(n: int, count: int, methods: str) -> Columns:
    """Seconds and values of some methods on the first trials, after one trial to warm up."""
    x, y = randomness.trials(0, count, n)
    names = methods.split()
    for name in names:
        _seconds(name, *randomness.trial(0, min(n, 10)))
    columns: Columns = {}
    measured = [[_seconds(name, x[t], y[t]) for name in names] for t in range(count)]
    for i, name in enumerate(names):
        columns[f"{name} seconds"] = np.array([trial[i][0] for trial in measured])
        columns[f"{name} value"] = np.array([trial[i][1] for trial in measured])
    return columns


def chunks(scale: Scale) -> list[Chunk]:
    everything = " ".join(METHODS)
    small = [
        Chunk(
            f"small-n{n:07d}",
            timing_work,
            {"n": n, "count": scale.timing, "methods": everything},
            scale.timing,
        )
        for n in scale.timing_sizes
    ]
    large = [
        Chunk(
            f"large-n{n:07d}", timing_work, {"n": n, "count": count, "methods": "certified"}, count
        )
        for n, count in scale.large.items()
    ]
    return small + large


def tables(results: Results, scale: Scale) -> list[TextTable]:
    return [_small_table(results, scale), _large_table(results, scale)]


def _small_table(results: Results, scale: Scale) -> TextTable:
    rows = []
    for n in scale.timing_sizes:
        columns = results[f"small-n{n:07d}"]
        cells = [_spread(columns[f"{name} seconds"]) for name in METHODS]
        rows.append([str(n), *cells, f"{PAPER[n]:,.1f}" if n in PAPER else "-"])
    return TextTable(
        f"Milliseconds for one data set, mean ± standard deviation (median), N = {scale.timing}",
        ["n", *(title for title, _, _ in METHODS.values()), "paper, naive in Julia"],
        rows,
        [_agreement(results, scale), PROTOCOL],
    )


def _large_table(results: Results, scale: Scale) -> TextTable:
    rows = [
        [f"{n:,}", str(count), _spread(results[f"large-n{n:07d}"]["certified seconds"])]
        for n, count in scale.large.items()
    ]
    return TextTable(
        "Certified engine: milliseconds for one data set",
        ["n", "N", "mean ± sd (median)"],
        rows,
        [PROTOCOL],
    )


PROTOCOL = "k = ceil(n/2), X and Y uniform on [0, 1], one thread, processor time."


def _spread(seconds: Floats) -> str:
    mean, median = 1e3 * float(seconds.mean()), 1e3 * float(np.median(seconds))
    deviation = 1e3 * float(seconds.std(ddof=1)) if len(seconds) > 1 else 0.0
    return f"{_short(mean)} ± {_short(deviation)} ({_short(median)})"


def _short(milliseconds: float) -> str:
    return f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def _agreement(results: Results, scale: Scale) -> str:
    parts = []
    for name in METHODS:
        if name == "exhaustive":
            continue
        missed = 0
        for n in scale.timing_sizes:
            columns = results[f"small-n{n:07d}"]
            found, best = columns[f"{name} value"], columns["exhaustive value"]
            missed += int((~(found >= best - AGREEMENT)).sum())
        parts.append(f"{METHODS[name][0]} {missed}")
    total = scale.timing * len(scale.timing_sizes)
    return f"Of {total:,} trials, the best subset was missed by: {', '.join(parts)}."


def figure(results: Results, scale: Scale) -> Figure:
    """Time against n: all methods for small n, the certified engine for large."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    small, large = figure.subplots(1, 2, width_ratios=(1.35, 1))
    _draw_small(small, results, scale)
    _draw_large(large, results, scale)
    return figure


def _draw_small(ax: Axes, results: Results, scale: Scale) -> None:
    sizes = np.array(scale.timing_sizes)
    for name in METHODS:
        times = [1e3 * results[f"small-n{n:07d}"][f"{name} seconds"] for n in sizes]
        _draw_times(ax, name, sizes, times)
    ax.plot(
        list(PAPER), list(PAPER.values()), "k*", ms=8, ls="none",
        label="paper: naive sweep in Julia", zorder=4,
    )  # fmt: skip
    ax.set(yscale="log", xlabel="points n", ylabel="milliseconds", ylim=(None, 2e5))
    ax.legend(frameon=False, fontsize=7, ncols=2, loc="upper left")
    _tidy(ax)


def _draw_large(ax: Axes, results: Results, scale: Scale) -> None:
    sizes = np.array(list(scale.large))
    times = [1e3 * results[f"large-n{n:07d}"]["certified seconds"] for n in sizes]
    _draw_times(ax, "certified", sizes, times)
    ax.set(xscale="log", yscale="log", xlabel="points n", ylabel="milliseconds")
    ax.legend(frameon=False, fontsize=7, loc="upper left")
    _tidy(ax)


def _draw_times(ax: Axes, name: str, sizes: Ints, times: list[Floats]) -> None:
    """Mean as a line, the middle four fifths of the trials as a band."""
    means = np.array([t.mean() for t in times])
    low, high = np.array([np.quantile(t, [0.1, 0.9]) for t in times]).T
    title, colour, marker = METHODS[name]
    ax.fill_between(sizes, low, high, color=colour, alpha=0.2, lw=0)
    ax.plot(sizes, means, color=colour, marker=marker, ms=3.5, label=title)


def _tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", which="major", color="0.9", lw=0.6)
    ax.set_axisbelow(True)


def draw(results: Results, scale: Scale, directory: Path) -> list[Path]:
    """``timing.pdf`` and ``timing.png``."""
    from quadsweep.paper.experiments.figures import save

    return save(figure(results, scale), directory, "timing")
