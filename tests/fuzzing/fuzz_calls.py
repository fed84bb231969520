"""Random sequences of public calls on a small table that changes between them.

    python tests/fuzzing/fuzz_calls.py --instances 20000 --jobs 2 --state fuzz_calls.jsonl

A sequence edits a table (cells, rows, scales, gaps) and asks of it what users ask: ``solve``,
``path``, ``audit``, ``significance``, ``solve_many``, a proof and its check. Every question is put
in every way there is: arrays, a frame with row names, a formula, a file out of core (in a folder
that is resumed all along, so that an old table's parts lie there), the command line, the page's
engine and, now and then, dask. All ways must give the same answer, the one that enumeration gives,
or all refuse.

A sequence that fails is shrunk, steps first, then rows, then values, and printed as JSON, which
``--replay`` runs again.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import fuzz_runs
import numpy as np
import pandas as pd
from fuzz_runs import Verdict

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import naive
import naive_audit

import quadsweep as qs
from quadsweep.cli import main as command
from quadsweep.outofcore.solve import IN_PASSES
from quadsweep.outofcore.sources import PartFailed

Step = dict[str, Any]
Table = dict[str, list[float]]
Answer = dict[str, Any]

TINY = 1e-7  # gigabytes: no table fits
OBJECTIVES = ("r2", "r", "cov", "dv", "tv", "lts", "var", "mcd")
CLAIMS = ("sign", "significance", "reverse")
SLACK = 1e-7
REFUSALS = (ValueError, TypeError)


class Wrong(AssertionError):
    """Two ways differ, or one differs from enumeration; of some kind, which shrinking keeps."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


# Sequences


def draw(rng: np.random.Generator) -> list[Step]:
    """A table, then edits and questions."""
    n, family = int(rng.integers(5, 10)), rng.integers(4)
    columns = {name: rng.normal(size=n) for name in "ab"}
    if family == 1:  # ties and copies
        columns = {name: rng.integers(0, 4, n).astype(float) for name in "ab"}
    elif family == 2:  # far from zero
        columns = {name: 1e6 + np.round(v, 3) for name, v in columns.items()}
    elif family == 3:  # a line and outliers
        columns["b"] = 2 * columns["a"] + np.where(rng.random(n) < 0.3, 9.0, 0.0)
    steps: list[Step] = [{"do": "table", "columns": {k: v.tolist() for k, v in columns.items()}}]
    for _ in range(int(rng.integers(2, 7))):
        steps.append(draw_edit(rng) if rng.random() < 0.4 else draw_question(rng))
    return [*steps, draw_question(rng)]


def draw_edit(rng: np.random.Generator) -> Step:
    kind = rng.choice(["set", "append", "drop", "copy", "scale", "shuffle", "gap"])
    values = np.round(rng.normal(size=2), 3).tolist()
    factor = float(rng.choice([-1.0, 2.0, 1e-3, 1e5]))
    place, column = int(rng.integers(100)), str(rng.choice(["a", "b"]))
    return {"do": str(kind), "row": place, "column": column, "values": values, "factor": factor}


def draw_question(rng: np.random.Generator) -> Step:
    what = rng.choice(
        ["solve", "audit", "path", "significance", "many"], p=[0.4, 0.3, 0.1, 0.1, 0.1]
    )
    step: Step = {
        "do": str(what),
        "drop": int(rng.integers(0, 4)),
        "dask": bool(rng.random() < 0.01),
    }
    step["objective"] = str(rng.choice(OBJECTIVES))
    step["claim"] = str(rng.choice(CLAIMS))
    step["page"] = bool(rng.random() < 0.1)
    step["proof"] = bool(rng.random() < 0.1)
    return step


def edited(table: Table, step: Step) -> Table:
    n = len(table["a"])
    i, kind = step["row"] % n, step["do"]
    if kind in ("set", "gap"):
        value = math.nan if kind == "gap" else step["values"][0]
        changed = list(table[step["column"]])
        changed[i] = value
        return {**table, step["column"]: changed}
    if kind == "scale":
        factor = step["factor"]
        return {**table, step["column"]: [factor * v for v in table[step["column"]]]}
    if kind == "append" and n < 10:
        return {name: [*v, step["values"][j]] for j, (name, v) in enumerate(table.items())}
    if kind == "copy" and n < 10:
        return {name: [*v, v[i]] for name, v in table.items()}
    if kind == "drop" and n > 4:
        return {name: v[:i] + v[i + 1 :] for name, v in table.items()}
    if kind == "shuffle":
        order = np.random.default_rng(step["row"]).permutation(n)
        return {name: [v[j] for j in order] for name, v in table.items()}
    return table


# Ways


class Ways:
    """The ways of one sequence, with a folder that lives as long as it does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folders = 0

    def answers(self, table: Table, step: Step) -> Iterator[tuple[str, Answer]]:
        """What each way says, by its name."""
        frame = pd.DataFrame(table, index=[f"r{i}" for i in range(len(table["a"]))])
        ask: Callable[..., Answer] = globals()[f"ask_{step['do']}"]
        x, y = np.array(table["a"]), np.array(table["b"])
        yield "arrays", told(lambda: ask(step, x, y))
        yield "frame", told(lambda: ask(step, "a", "b", data=frame))
        if can_be_formula(step):
            yield "formula", told(lambda: ask(step, "b ~ a", data=frame))
        if step["do"] == "audit" or (step["do"] == "solve" and step["objective"] in IN_PASSES):
            yield "out of core", told(lambda: self.out_of_core(ask, step, frame))
            if step["dask"]:
                client = dask_client()
                yield "dask", told(lambda: self.out_of_core(ask, step, frame, client=client))
        yield "command", self.command(frame, step)
        if step["page"] and step["do"] in ("solve", "audit") and not frame.isna().any(axis=None):
            yield from self.page(table, step)

    def out_of_core(
        self, ask: Callable[..., Answer], step: Step, frame: pd.DataFrame, **more: Any
    ) -> Answer:
        """Of a file that is written again under the same name; parts of another are refused."""
        path = self.folder / "table.parquet"
        frame.reset_index(drop=True).to_parquet(path, row_group_size=3)
        asked = functools.partial(ask, step, "a", "b")
        given = {"data": str(path), "memory_limit": TINY, "resume": True, "progress": False, **more}
        with contextlib.redirect_stderr(io.StringIO()):
            try:
                return asked(out=str(self.folder / f"parts{self.folders}"), **given)
            except PartFailed as changed:
                if "have changed since" not in str(changed):
                    raise
                self.folders += 1
                return asked(out=str(self.folder / f"parts{self.folders}"), **given)

    def command(self, frame: pd.DataFrame, step: Step) -> Answer:
        path = self.folder / "table.csv"
        frame.to_csv(path, index=False)
        given = [step["do"], str(path), "--x", "a", "--y", "b", "--json"]
        if step["do"] == "audit":
            given += ["--claim", step["claim"]]
        elif step["do"] in ("solve", "path", "significance"):
            given += ["--drop", str(step["drop"]), "--objective", step["objective"]]
            given += ["--permutations", "19"] if step["do"] == "significance" else []
        else:
            return {"skipped": True}
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command(given)
        if code == 2:
            lines = err.getvalue().strip().splitlines()
            if sum(line.startswith("error:") for line in lines) != 1:
                raise Wrong("command", f"exit code 2 with {lines}")
            return {"refused": err.getvalue().strip()}
        answer = json.loads(out.getvalue())
        if (code == 0) != bool(np.all(answer.get("success", answer.get("finished", True)))):
            raise Wrong("command", f"exit code {code} with success {answer.get('success')}")
        if step["do"] == "audit":
            return {name: answer[name] for name in ("lower", "upper")}
        if step["do"] == "significance":
            return {"value": answer["observed"], "p_value": answer["p_value"]}
        return {"value": answer["value"], "status": answer["status"]}

    def page(self, table: Table, step: Step) -> Iterator[tuple[str, Answer]]:
        n = len(table["a"])
        question = {"what": step["do"], "x": table["a"], "y": table["b"]}
        if step["do"] == "solve":
            question |= {"k": n - step["drop"], "objective": step["objective"]}
        elif step["claim"] != "sign":
            return
        said = ask_page(question, self.folder)
        if said is None:
            return
        if said.get("failed") or not (said.get("inliers") or "lower" in said):
            yield "page", {"refused": str(said)}
        elif step["do"] == "solve":
            yield "page", {"value": float(said["value"]), "status": said["status"]}
        else:
            yield "page", {"lower": said["lower"], "upper": said["upper"]}


def told(ask: Callable[[], Answer]) -> Answer:
    try:
        return ask()
    except REFUSALS as refusal:
        if "\n" in str(refusal) or not str(refusal):
            raise Wrong("lines", f"a refusal of several lines: {refusal!r}") from refusal
        return {"refused": str(refusal)}


def can_be_formula(step: Step) -> bool:
    return step["do"] in ("audit", "solve", "path") and (
        step["do"] == "audit" or step["objective"] in ("r2", "lts")
    )


def ask_solve(step: Step, *given: Any, **more: Any) -> Answer:
    wanted = {"drop": step["drop"], "objective": step["objective"], "nan_policy": "omit"}
    found = qs.solve(*given, **wanted, **more)
    return {"value": found.value, "status": found.status}


def ask_audit(step: Step, *given: Any, **more: Any) -> Answer:
    if len(given) == 1:
        more["term"] = "a"
    found = qs.audit(*given, claim=step["claim"], nan_policy="omit", **more)
    return {"lower": found.lower, "upper": found.upper}


def ask_path(step: Step, *given: Any, **more: Any) -> Answer:
    wanted = {"drop": step["drop"], "objective": step["objective"], "nan_policy": "omit"}
    found = qs.path(*given, **wanted, **more)
    return {"value": list(map(float, found.value)), "status": list(map(str, found.status))}


def ask_significance(step: Step, *given: Any, **more: Any) -> Answer:
    wanted = {"drop": step["drop"], "objective": step["objective"], "nan_policy": "omit"}
    found = qs.significance(*given, permutations=19, **wanted, **more)
    return {"value": found.observed, "p_value": found.p_value}


def ask_many(step: Step, *given: Any, data: Any = None) -> Answer:
    x, y = given if data is None else (data["a"], data["b"])
    found = qs.solve_many(
        [x, x], [y, y[::-1]], drop=step["drop"], objective=step["objective"], n_jobs=1
    )  # fmt: skip
    return {"value": float(found.values[0]), "status": str(found.status[0])}


@functools.cache
def dask_client() -> Any:
    from dask.distributed import Client

    client = Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None)
    atexit.register(client.close)
    return client


def ask_page(question: Step, folder: Path) -> Answer | None:
    try:
        from live_engine import ask

        return ask([question], folder)[0]
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None  # no node, or no engine


# Truth


def truth(table: Table, step: Step) -> Answer | None:
    """What enumeration says; None where it is not asked."""
    rows = [(u, w) for u, w in zip(table["a"], table["b"], strict=True) if not math.isnan(u + w)]
    x, y = [u for u, _ in rows], [w for _, w in rows]
    if step["do"] == "solve":
        if step["drop"] > len(x) - naive.MIN_K[step["objective"]]:
            return None
        best = naive.exhaustive(x, y, len(x) - step["drop"], step["objective"])
        if best is None:
            return None
        return {"value": naive.value_of_score(best[0], step["objective"])}
    if step["do"] == "audit":
        if len(x) < 4 or not naive.centred_sums(naive.exact(x), naive.exact(y))[2]:
            return None
        if 0 in naive.centred_sums(naive.exact(x), naive.exact(y))[:2]:
            return None
        condition = naive_audit.broken(step["claim"], x, y, 0.05, None, 1e-9)
        return {"fewest": naive_audit.audit(x, y, len(x) - 3, condition)}
    return None


def same(one: Any, other: Any, size: float) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(
            same(u, w, size) for u, w in zip(one, other, strict=True)
        )
    if isinstance(one, float) and isinstance(other, float | int):
        both = math.isnan(one) and math.isnan(other)
        return both or abs(one - other) <= SLACK * max(abs(one), abs(other), size)
    return bool(one == other)


def is_left_out(answer: Answer) -> bool:
    """Not asked this way, or refused for what the way cannot do, with a remedy that is named."""
    return "skipped" in answer or "cannot be searched out of core" in answer.get("refused", "")


def compare_intervals(way: str, first: Answer, other: Answer) -> None:
    """Out of core an interval may be wider; none may exclude the other."""
    ends = [math.inf if a["upper"] is None else a["upper"] for a in (first, other)]
    if max(first["lower"], other["lower"]) > min(ends):
        raise Wrong(f"{way} interval", f"arrays: {first}; {way}: {other}")


def compare(table: Table, step: Step, answers: dict[str, Answer]) -> None:
    answers = {way: a for way, a in answers.items() if not is_left_out(a)}
    first = answers["arrays"]
    size = 1.0 if step["objective"] in ("r2", "r") else scale_of(table, step["objective"])
    for way, answer in answers.items():
        if ("refused" in answer) != ("refused" in first):
            raise Wrong(f"{way} refused", f"arrays: {first}; {way}: {answer}")
        if way in ("out of core", "dask") and "lower" in first and "lower" in answer:
            compare_intervals(way, first, answer)
            continue
        for name in set(first) & set(answer) - {"refused", "status"}:
            if not same(first[name], answer[name], size):
                raise Wrong(f"{way} {name}", f"arrays: {first}; {way}: {answer}")
    known = truth(table, step)
    if known is None or "refused" in first:
        return
    proved = "value" in known and first["status"] == "optimal"
    if proved and not same(known["value"], first["value"], size):
        raise Wrong("enumeration", f"enumeration: {known}; {first}")
    if "fewest" in known:
        least, (lower, upper) = known["fewest"], (first["lower"], first["upper"])
        if least is not None and not lower <= least <= (math.inf if upper is None else upper):
            raise Wrong("enumeration", f"enumeration: {least}; {first}")
        if least is None and upper is not None:
            raise Wrong("enumeration", f"enumeration: none; {first}")


def scale_of(table: Table, objective: str) -> float:
    """Of an objective's values, for comparing those near zero."""
    a, b = (np.nanstd(table[name]) for name in "ab")
    sizes = {
        "cov": a * b,
        "dv": a * a + b * b,
        "tv": a * a + b * b,
        "var": a * a,
        "mcd": (a * b) ** 2,
    }
    return float(sizes.get(objective, b * b))


def check_proof(table: Table, step: Step) -> None:
    """A proof that is handed out is accepted, and refuted for another table."""
    x, y = np.array(table["a"]), np.array(table["b"])
    if not step["proof"] or step["do"] not in ("solve", "audit") or np.isnan(x + y).any():
        return
    try:
        if step["do"] == "solve":
            found = qs.solve(x, y, drop=step["drop"], objective=step["objective"], proof=True)
        else:
            found = qs.audit(x, y, claim=step["claim"], proof=True)
    except REFUSALS:
        return
    proof = found.proof
    if proof is not None and not qs.check(proof, x, y).proved:
        raise Wrong("proof", f"a proof is refuted: {qs.check(proof, x, y)}")


# Runs


def run(steps: list[Step]) -> Wrong | None:
    """What is wrong with a sequence."""
    table: Table = {}
    with tempfile.TemporaryDirectory() as folder:
        ways = Ways(Path(folder))
        for number, step in enumerate(steps):
            if step["do"] == "table":
                table = step["columns"]
            elif f"ask_{step['do']}" in globals():
                try:
                    compare(table, step, dict(ways.answers(table, step)))
                    check_proof(table, step)
                except Wrong as wrong:
                    return Wrong(f"{step['do']}, {wrong.kind}", f"step {number}: {wrong}")
                except Exception as error:
                    name = type(error).__name__
                    return Wrong(f"{step['do']}, {name}", f"step {number}: {name}: {error}")
            else:
                table = edited(table, step)
    return None


def shrunk(steps: list[Step], kind: str) -> list[Step]:
    """A sequence that fails likewise, from which no step, row or digit can be taken."""
    changed = True
    while changed:
        changed = False
        for smaller in smaller_than(steps):
            if (wrong := run(smaller)) is not None and wrong.kind == kind:
                steps, changed = smaller, True
                break
    return steps


def smaller_than(steps: list[Step]) -> Iterator[list[Step]]:
    for i in range(1, len(steps)):
        yield steps[:i] + steps[i + 1 :]
    columns = steps[0]["columns"]
    for i in range(len(columns["a"])):
        kept = {name: v[:i] + v[i + 1 :] for name, v in columns.items()}
        yield [{"do": "table", "columns": kept}, *steps[1:]]
    for name, values in columns.items():
        for i, v in enumerate(values):
            for plain in (0.0, 1.0, float(round(v))):
                if v != plain and abs(plain) <= abs(v):
                    changed = [*values[:i], plain, *values[i + 1 :]]
                    yield [{"do": "table", "columns": {**columns, name: changed}}, *steps[1:]]


def judge(seed: int, number: int, with_dask: bool = True) -> Verdict:
    steps = draw(np.random.default_rng([seed, number]))
    steps = [step | {"dask": with_dask and step.get("dask", False)} for step in steps]
    asked = [step["do"] for step in steps]
    marks = tuple(f"then {b} after {a}" for a, b in pairwise(asked) if f"ask_{b}" in globals())
    wrong = run(steps)
    if wrong is None:
        return Verdict(f"{len(steps)} steps", fuzz_runs.RIGHT, "", marks)
    least = shrunk(steps, wrong.kind)
    what = f"sequence {number}, {wrong.kind}: {run(least) or wrong}\n  {json.dumps(least)}"
    return Verdict(f"{len(steps)} steps", fuzz_runs.WRONG, what, marks)


if __name__ == "__main__":
    options = fuzz_runs.parser(__doc__ or "", instances=20_000, quick=10)
    options.add_argument("--replay", help="a sequence as it was printed")
    given = options.parse_args()
    if given.replay:
        wrong = run(json.loads(given.replay))
        print(wrong or "right")
        raise SystemExit(wrong is not None)
    raise SystemExit(fuzz_runs.main(judge, given, chunk=50, options={}))
