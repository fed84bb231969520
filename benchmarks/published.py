"""Audits of published regressions, and of simulated ones of the sizes of others, in a minute each.

    python benchmarks/published.py                                      # all of them
    python benchmarks/published.py --seconds 20 --only wine
    python benchmarks/published.py --cards docs/published.md            # and the page of cards

Columns: the interval [lower, upper], seconds, the peak of memory (each runs in a process of its
own), and beside them the best removal and lower bound that others publish (docs/comparisons.md).
A twin has the rows, the columns and the kind of columns of a regression whose data are not public
here: what it shows is what to expect of that size, not what holds there.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Published:
    """An audit: what is asked of which data, and what others publish about it."""

    name: str
    question: str
    source: str
    data: str = ""  # built in; a twin otherwise
    formula: str = ""  # that of the data where it is left out
    settings: dict[str, Any] = field(default_factory=dict)
    others: str = "nothing"
    about: str = ""  # the term; that of the data where it is left out

    @property
    def is_twin(self) -> bool:
        return not self.data

    def command(self) -> str:
        """The audit in Python."""
        given = {"term": self.term, **self.settings, "time_limit": 60}
        lines = [
            json.dumps(self.text),
            f"qs.datasets.load({json.dumps(self.data)}).to_frame()",
            *(f"{name}={json.dumps(value)}" for name, value in given.items()),
        ]
        return "qs.audit(\n" + "".join(f"    {line},\n" for line in lines) + ")"

    @property
    def text(self) -> str:
        return self.formula or self._loaded().formula

    @property
    def term(self) -> str:
        return self.about or self._loaded().term

    def _loaded(self) -> Any:
        import quadsweep as qs

        return qs.datasets.load(self.data)


EUBANK = "Eubank and Fresh (2022), American Political Science Review 116, 791-806"
NUNN = "Nunn and Puga (2012), Review of Economics and Statistics 94, 20-36"
FULL = (
    "log(rgdppc_2000) ~ rugged * cont_africa + dist_coast * cont_africa "
    "+ I(gemstones / (land_area / 100)) * cont_africa + soil * cont_africa + tropical * cont_africa"
)
CASES = [
    Published(
        "voting rights, sign",
        "Did incarceration rise in the states covered by the Voting Rights Act after 1965?",
        EUBANK, "voting-rights",
        others="28 rows suffice; no single one (Gurobi), no 12 (ACRE/OHARE)",
    ),
    Published(
        "voting rights, significance", "The same: is the difference significant at 5%?", EUBANK,
        "voting-rights", settings={"claim": "significance"},
    ),
    Published(
        "voting rights, whole states", "The same sign, if whole states are left out?", EUBANK,
        "voting-rights", settings={"groups": "state"},
    ),
    Published(
        "red wine, alcohol", "Do stronger wines taste better, all else equal?",
        "Cortez et al. (2009), Decision Support Systems 47, 547-553", "red-wine",
    ),
    Published(
        "red wine, citric acid", "Do wines with more citric acid taste better, given their sugar?",
        "The example of the R package fragilityindex; data of Cortez et al. (2009)", "red-wine",
        "quality ~ citric_acid + residual_sugar", {"claim": "significance"},
        "197 rows in one fixed order, by a chi-square test of the change in the residual sum of "
        "squares (fragilityindex); here by the t test", "citric_acid",
    ),
    Published(
        "ruggedness, sign", "Is rugged terrain good for income in Africa, unlike elsewhere?", NUNN,
        "ruggedness", FULL, others="5 rows suffice (greedy; Kuschnig, Zens and Crespo Cuaresma)",
    ),
    Published(
        "ruggedness, significance", "The same: is it significant at 5%, with HC1 errors?", NUNN,
        "ruggedness", FULL, {"claim": "significance", "vcov": "HC1"},
        others="2 rows suffice (greedy)",
    ),
    Published(
        "ruggedness, reverse", "The same: how few rows make it significantly bad?", NUNN,
        "ruggedness", FULL, {"claim": "reverse", "vcov": "HC1"}, others="11 rows suffice (greedy)",
    ),
    Published(
        "colonial origins", "Do better institutions raise income, instrumented by mortality?",
        "Acemoglu, Johnson and Robinson (2001), American Economic Review 91, 1369-1401",
        "colonial-origins",
    ),
    Published(
        "twin 10,781 x 18", "How far does a table of a cash transfer programme get?", "simulated",
        others="no 54 (ACRE/OHARE, of the original)",
    ),
    Published(
        "twin 3,895 x 208 dummies", "And one with 208 dummies?", "simulated",
        others="no 28 (ACRE/OHARE, of the original)",
    ),
    Published("twin 1,276 x 486 dummies", "And one with 486 villages?", "simulated"),
    Published(
        "twin 20,433 x 6 districts", "And few columns of many rows, of which half must go?",
        "simulated",
    ),
    Published(
        "twin 30,162 x 6 census", "And whole numbers, of which one in thirty must go?", "simulated"
    ),
]  # fmt: skip


def dummies(labels):
    return (labels[:, None] == np.unique(labels)[1:]).astype(float)


def twin(rows, columns, seed=0, t=6.0):
    """Numbers with heavy tails and dummies as controls, a skewed outcome, a binary term."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_t(4, size=(rows, columns // 2))
    rare = rng.uniform(0.05, 0.5, columns - columns // 2 - 2)
    controls = np.column_stack([numbers, rng.random((rows, len(rare))) < rare])
    x = (rng.random(rows) < 0.6).astype(float)
    noise = np.exp(rng.normal(0, 0.8, rows))
    slope = t * noise.std() / np.sqrt(rows) / x.std()
    return x, x * slope + controls @ rng.normal(0, 0.3, columns - 2) + noise, controls


def fixed_effects(rows, classes, seed=0, t=4.0):
    """As many dummies, a few numbers beside them, a term that varies inside of classes."""
    rng = np.random.default_rng(seed)
    of_row = np.concatenate(
        [np.arange(classes + 1), rng.integers(0, classes + 1, rows - classes - 1)]
    )
    controls = np.column_stack([rng.normal(size=(rows, 3)), dummies(of_row)])
    x = rng.normal(size=rows)
    y = x * t / np.sqrt(rows) + rng.normal(size=classes + 1)[of_row] + rng.standard_t(5, rows)
    return x, y, controls


def districts(rows, columns, seed=0):
    """Income, house values with a cap, and controls that are skewed and nearly collinear."""
    rng = np.random.default_rng(seed)
    income = np.exp(rng.normal(1.2, 0.45, rows))
    age = rng.integers(1, 53, rows).astype(float)
    households = np.exp(rng.normal(6, 0.7, rows) - age / 100)
    rooms = households * np.exp(rng.normal(1.55, 0.25, rows)) * (0.6 + 0.1 * income)
    people = households * np.exp(rng.normal(1.05, 0.25, rows))
    noise = np.exp(rng.normal(-0.5, 0.6, rows))
    value = 0.45 * income + 0.01 * age - 0.3 * np.log(people / households) + noise
    controls = np.column_stack([age, rooms, people, households])
    return income, np.minimum(value, 5.0), controls[:, : columns - 2]


def census(rows, columns, seed=0):
    """Hours of work and a binary outcome; controls that are whole numbers, one mostly zero."""
    rng = np.random.default_rng(seed)
    age = np.clip(np.round(rng.gamma(8, 4.8, rows)), 17, 90)
    school = np.clip(np.round(rng.normal(10.1, 2.5, rows)), 1, 16)
    hours = np.where(rng.random(rows) < 0.47, 40, np.round(rng.normal(41, 15, rows)))
    hours = np.clip(hours, 1, 99)
    gain = np.where(rng.random(rows) < 0.084, np.round(np.exp(rng.normal(8.7, 1, rows))), 0)
    woman = (rng.random(rows) < 0.32).astype(float)
    score = 0.03 * age + 0.33 * school + 0.03 * hours - 1.2 * woman + gain / 4000
    score = score + rng.logistic(0, 1, rows)
    rich = (score > np.quantile(score, 0.75)).astype(float)
    return hours, rich, np.column_stack([age, school, gain, woman])[:, : columns - 2]


TWINS = {"dummies": fixed_effects, "districts": districts, "census": census}


def asked(name, seconds, n_jobs=2):
    """The audit of that name; "twin ROWS x COLUMNS" of any size."""
    import quadsweep as qs

    settings = {"time_limit": seconds, "n_jobs": n_jobs}
    if name.startswith("twin"):
        rows = int(name.split()[1].replace(",", ""))
        columns = int(name.split()[3])
        x, y, controls = TWINS.get(name.split()[-1], twin)(rows, columns)
        return qs.audit(x, y, controls=controls, **settings)
    case = next(case for case in CASES if case.name == name)
    frame = qs.datasets.load(case.data).to_frame()
    return qs.audit(case.text, frame, term=case.term, **case.settings, **settings)


def run(name, seconds, n_jobs):
    """In this process; one line of JSON."""
    used = time.process_time()
    found = asked(name, seconds, n_jobs)
    print(json.dumps({
        "name": name, "n": found.n, "groups": found.n_groups, "columns": len(found.controls) + 1,
        "lower": found.lower, "upper": found.upper, "status": found.status,
        "message": found.message, "seconds": found.seconds,
        "processor": time.process_time() - used, "nodes": found.nodes,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }))  # fmt: skip


def measured(name, seconds, n_jobs):
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--run", name, "--seconds", str(seconds)]
    command += ["--jobs", str(n_jobs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def table(cases, seconds, n_jobs):
    """Runs them, and prints a line for each."""
    print(f"{'regression':28} {'rows':>6} {'col.':>4} {'lower':>6} {'upper':>6} {'seconds':>8} "
          f"{'proc.':>7} {'MB':>5} {'nodes':>7}  published")  # fmt: skip
    every = {}
    for case in cases:
        r = every[case.name] = measured(case.name, seconds, n_jobs)
        upper = "" if r["upper"] is None else r["upper"]
        print(f"{case.name:28} {r['n']:6} {r['columns']:4} {r['lower']:6} {upper:>6} "
              f"{r['seconds']:8.1f} {r['processor']:7.1f} {r['megabytes']:5.0f} {r['nodes']:7}  "
              f"{case.others}", flush=True)  # fmt: skip
    return every


def card(case, r):
    """One case as a section of a page."""
    counted = "groups" if r["groups"] else "rows"
    ends = f"{r['lower']} to {'?' if r['upper'] is None else r['upper']}"
    ours = f"exactly {r['lower']}" if r["lower"] == r["upper"] else ends
    size = f"{r['n']:,} rows, {r['columns']} columns" + (
        f", {r['groups']} groups" if r["groups"] else ""
    )
    facts = [
        ("question", case.question),
        ("source", case.source),
        ("size", size),
        ("published", case.others),
        ("here", f"**{ours} {counted}**, in {r['seconds']:.3g} s ({r['processor']:.3g} s of "
                 f"processor time)"),
    ]  # fmt: skip
    rows = "\n".join(f"| {what} | {text.replace('|', chr(92) + '|')} |" for what, text in facts)
    return f"## {case.name}\n\n| | |\n|---|---|\n{rows}\n\n```python\n{case.command()}\n```\n"


def page(cases, every, seconds):
    """All cards, as Markdown."""
    head = f"""\
        # Published regressions

        How few rows does a published result depend on? Each card has the question, the interval
        that `audit` proves in {seconds:.0f} seconds, and the call (after `import quadsweep as qs`).
        "17 to 28 rows" means: 28 rows whose removal changes the conclusion are known and
        re-checked, and no 16 rows do. The page is written by
        `python benchmarks/published.py --cards docs/published.md` on two processors shared with
        other work: compare processor times.
        """
    shown = [case for case in cases if case.name in every and not case.is_twin]
    cards = "\n".join(card(case, every[case.name]) for case in shown)
    return f"{textwrap.dedent(head)}\n{cards}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="those whose name has this in it")
    parser.add_argument("--quick", action="store_true", help="a second each, small tables only")
    parser.add_argument("--cards", type=Path, help="write the page of cards there")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    seconds = 1.0 if given.quick else given.seconds
    if given.run:
        run(given.run, seconds, given.jobs)
    else:
        cases = [c for c in CASES if given.only in c.name and not (given.quick and c.is_twin)]
        every = table(cases, seconds, given.jobs)
        if given.cards:
            given.cards.write_text(page(cases, every, seconds), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
