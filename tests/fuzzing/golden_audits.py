"""Audits as they were: bounds, status and rows removed, over all claims and kinds of design.

A change that is not meant to change what an audit finds must leave this record as it is. Numbers
alone decide what is asked; nothing here is stopped by a clock.

    python tests/fuzzing/golden_audits.py            # compares, exit code 1 where anything differs
    python tests/fuzzing/golden_audits.py --write    # after a change that is meant to change them

``lower``, ``upper`` and ``status`` must be the same. Other rows removed, as many as before, are
counted and named but are no difference where they break the claim as well: there is often more than
one fewest removal (``breaks`` checks them in rational arithmetic).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import audit_instances
import control_instances
import naive_controls

import quadsweep as qs

RECORD = Path(__file__).with_name("golden_audits.json")
CLAIMS = audit_instances.CLAIMS
KINDS = {  # how many of each claim
    "small": 30, "plain": 12, "controls": 24, "hostile": 8, "near": 8, "many": 5, "source": 3,
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """What ``qs.audit`` is asked; ``data`` are the columns, for the slow twin."""

    name: str
    x: Any
    y: Any
    keywords: dict[str, Any]
    case: control_instances.Instance | None = None

    def answer(self) -> qs.Audit:
        if self.name.startswith("source"):
            return self._out_of_core()
        return qs.audit(self.x, self.y, n_jobs=1, **self.keywords)

    def _out_of_core(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "points.parquet"
            pq.write_table(pa.table({"a": self.x, "b": self.y}), file, row_group_size=100)
            limit = 100e-9 * len(self.x)
            return qs.audit(str(file), x="a", y="b", memory_limit=limit, n_jobs=1, **self.keywords)

    def breaks(self, found: Any) -> bool:
        """Whether the rows removed break the claim, by the slow twin."""
        case = self.case
        if case is None:
            case = control_instances.Instance(
                self.x, self.y, np.zeros((len(self.x), 0)), None, None, self.keywords
            )
        data = case.regression
        kept = np.delete(np.arange(len(self.x)), found.outliers)
        return naive_controls.breaks(
            naive_controls.refit(data, kept.tolist()),
            naive_controls.refit(data, range(len(self.x))),
            found.claim, found.level, found.threshold, found.tol,
        )  # fmt: skip


def questions() -> Iterator[Question]:
    for kind, count in KINDS.items():
        for claim in CLAIMS:
            for seed in range(count):
                found = draw(kind, seed, claim)
                if found is not None:
                    yield found


def draw(kind: str, seed: int, claim: str) -> Question | None:
    """The question of that number; None where the data have no slope to ask about."""
    name = f"{kind} {claim} {seed}"
    if kind in ("small", "plain"):
        sizes = (6, 14) if kind == "small" else (20, 80)
        given = audit_instances.instance(3000 + seed, claim, sizes)
        return given and Question(name, given.x, given.y, given.arguments)
    if kind == "source":
        rng = np.random.default_rng([seed, CLAIMS.index(claim)])
        x = rng.normal(size=1000)
        y = 0.2 * x + rng.normal(size=1000)
        thresholds = {"r2": 0.1, "slope": (0.0, 0.4)}
        return Question(name, x, y, {"claim": claim, "threshold": thresholds.get(claim)})
    case: control_instances.Instance | None
    if kind == "hostile":
        case = control_instances.hostile(seed, claim)
    elif kind == "near":
        case = control_instances.nearly_dependent(seed, claim)
    else:
        shape = ((9, 24), (0, 4)) if kind == "controls" else ((14, 16), (6, 7))
        case = control_instances.instance(seed, claim, *shape)
        if kind == "controls" and claim == "reverse" and case is not None and len(case.x) > 18:
            return None  # takes half a minute
    if case is None or len(case.x) < case.controls.shape[1] + 5:
        return None
    more = {"max_drop": 2} if kind == "many" and len(case.x) > 4 else {}
    return Question(name, case.x, case.y, {**case.keywords, **more}, case)


def answer(question: Question) -> Any:
    """What an audit says, or why it refuses."""
    try:
        return question.answer()
    except ValueError as error:
        return SimpleNamespace(lower=None, upper=None, status=str(error), outliers=None)


def row(found: Any) -> list[Any]:
    gone = None if found.outliers is None else found.outliers.tolist()
    return [found.lower, found.upper, found.status, gone]


def differences(step: int = 1, path: Path = RECORD) -> Iterator[str]:
    """What is not as recorded, for every ``step``-th question."""
    record = json.loads(path.read_text())
    for at, question in enumerate(questions()):
        if at % step:
            continue
        found = answer(question)
        was, now = record[question.name], row(found)
        if was[:3] != now[:3]:
            yield f"{question.name}: was {was}, is {now}"
        elif was[3] != now[3] and now[3] and not question.breaks(found):
            yield f"{question.name}: rows {now[3]} do not break the claim (were {was[3]})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="record the answers as they are now")
    parser.add_argument("--record", type=Path, default=RECORD, help="another file")
    parser.add_argument("--quick", action="store_true", help="every 40th audit")
    given = parser.parse_args()
    if given.write:
        record = {question.name: row(answer(question)) for question in questions()}
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in record.items())
        given.record.write_text(f"{{\n{lines}\n}}\n")
        print(f"{len(record)} audits")
        return 0
    wrong = list(differences(40 if given.quick else 1, given.record))
    print(*wrong, f"{len(wrong)} differences", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
