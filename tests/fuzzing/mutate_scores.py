"""Is every term of the bound needed? Each is broken in turn, and must refute what a removal does.

    python tests/fuzzing/mutate_scores.py [instances]

Compiles `_core/scores/` with g++ once for each change, outside of the package.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from fuzz_scores import EDGE, instance, parts, truth

CORE = Path(__file__).parents[2] / "src" / "quadsweep" / "_core"
FLAGS = ["-std=c++20", "-O1", "-ffp-contract=off", "-w"]

CHANGES = {
    "nothing": ("bound.cpp", "", ""),
    "coefficients move further than their first order": (
        "bound.cpp", "t_ = length_term_ / (1 - k1_);", "t_ = length_term_; k1_ = 0;"),
    "so do those of the residual": (
        "bound.cpp", "r_ = length_residual_ / (1 - k2_);", "r_ = length_residual_; k2_ = 0;"),
    "products, second order": ("bound.cpp", "0.5 * (most_of", "0 * (most_of"),
    "products, the rest": (
        "bound.cpp", "length_term_ * length_outcome_ * k1_ / (1 - k1_)", "0.0"),
    "squares of what goes": ("bound.cpp", "own * (2 * base_.score[g] + own);",
                             "own * 2 * base_.score[g];"),
    "pulls": ("bound.cpp", "sum = sign * sum + off;", "sum = 0;"),
    "scores with the term's shift": (
        "bound.cpp", "q_, 0, t_more_, t_);", "0, 0, 0, 0);", 2),
    "scores with the residual's shift": (
        "bound.cpp", "r_more_, r_);", "0, 0);", 2),
    "scores with both": ("bound.cpp", "(std::sqrt(square) +", "(0 +"),
    "scores with both, of parts": ("bound.cpp", "t_ * r_ * base_.item_both[item]", "0"),
    "squares of parts": ("bound.cpp", "2 * sum - base_.item_square[item]",
                         "2 * sum - 2 * base_.item_square[item]"),
    "stretches": ("bound.cpp", "2 * pulls + stretch * stretch", "2 * pulls"),
    "rest of the pulls": ("bound.cpp", "return 2 * pulls + stretch", "return stretch"),
    "leverages": ("bound.cpp", "sum + form / (1 - k2_)", "sum"),
    "others of a cluster": (
        "bound.cpp", "(t_ * top[0] + r_ * top[n] + t_ * r_ * top[2 * n])", "0"),
    "means that move": ("sets.cpp", "products[k * d + b] += left[k] * left[b] / left[d];", ";"),
    "means that move, item by item": ("sets.cpp", "mean_[k] *= 1 + 1e-9;", "mean_[k] = 0;"),
    "boxes below zero": ("bound.cpp", "if (sign < 0 && k >= sets_->at_norm()) continue;",
                         "if (sign < 0) continue;"),
    "boxes too narrow": ("bound.cpp", "most - lambda * need", "most - 1.5 * lambda * need"),
    "too many ruled out": ("choices.cpp", "others[m - count[s]] >= need",
                           "others[m - count[s]] >= 1.1 * need"),
    "the chord of a square": ("choices.cpp", "from * to -", "(from + to) * (from + to) / 4 -"),
    "the largest choice": ("choices.cpp", "if (steepest <= 0) return;",
                           "if (steepest <= 0 || out.size() > 1) return;"),
}  # fmt: skip

MAIN = """
#include "scores/search.hpp"
#include <fstream>
#include <iostream>
using namespace quadsweep;
template <class T> std::vector<T> read(std::ifstream& in) {
    std::size_t n; in >> n; std::vector<T> v(n); for (T& x : v) in >> x; return v;
}
int main(int, char** given) {
    std::ifstream in(given[1]); int count, refuted = 0; in >> count;
    for (int i = 0; i < count; ++i) {
        scores::Question q; scores::Options options;
        in >> q.rows >> q.controls >> q.exponent >> q.gained >> q.threshold >> options.m;
        q.columns = read<double>(in); q.effect = read<double>(in);
        q.item_first = read<int>(in); q.unit_first = read<int>(in);
        q.cluster_first = read<int>(in); q.part_first = read<int>(in);
        q.error = 1e-15; in >> q.most_sets;
        Control control(20); options.most_nodes = 300;
        auto verdict = scores::decide(q, options, control);
        refuted += verdict.proved && verdict.near.empty();
    }
    std::cout << refuted;
}
"""


def written(count: int) -> str:
    """Instances with thresholds just past what some removal does."""
    lines: list[str] = []
    for seed in range(count):
        case = instance(seed)
        what = parts(case)
        start, worst = truth(case) if what is not None else (np.nan, np.nan)
        few = len(np.unique(case.item)) <= case.most
        if what is None or few or not np.isfinite(start) or worst <= 0.02:
            continue
        past = worst * (1 + EDGE) if not case.gained else worst * (1 - EDGE)
        columns, effect, firsts = what
        head = (*columns.shape, case.exponent, int(case.gained), past, case.most)
        lines.append(" ".join(repr(float(v)) if isinstance(v, float) else str(v) for v in
                              (head[0], head[1] - 2, *map(_plain, head[2:]))))  # fmt: skip
        for values in (columns.ravel(), effect, *firsts):
            lines.append(" ".join([str(len(values)), *(repr(_plain(v)) for v in values)]))
        lines.append(repr(case.most_sets))
    return "\n".join([str(len(lines) // 8), *lines])


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        (at / "main.cpp").write_text(MAIN)
        (at / "instances").write_text(written(count))
        (at / "scores").mkdir()
        for what, (name, old, new, *times) in CHANGES.items():
            for file in (CORE / "scores").iterdir():
                text = file.read_text()
                if file.name == name:
                    assert old in text, what
                    text = text.replace(old, new, *(times or [1]))
                (at / "scores" / file.name).write_text(text)
            sources = [str(at / "main.cpp"), *map(str, (at / "scores").glob("*.cpp"))]
            command = ["g++", *FLAGS, f"-I{at}", f"-I{CORE}", *sources]
            subprocess.run(
                [
                    *command,
                    str(CORE / "shared" / "parallel.cpp"),
                    "-o",
                    str(at / "run"),
                    "-pthread",
                ],
                check=True,
            )
            run = subprocess.run(
                [str(at / "run"), str(at / "instances")], check=True, capture_output=True, text=True
            )
            print(f"{what:50} {run.stdout:>6} refuted wrongly", flush=True)


if __name__ == "__main__":
    main()
