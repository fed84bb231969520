"""How every fuzzer runs: by chunks, in several processes, going on where the last run ended.

A fuzzer gives a function from an instance's number to a Verdict; its module's name and the
function's are how other processes find it. With a state file every finished chunk is written down
as one line of JSON at once, with the digest of the compiled core that it was run with; started
again with the same file, a run does what is missing. Ctrl-C, or a termination signal, ends it when
the chunks at work are done.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from quadsweep import _core

RIGHT, WRONG, OPEN, NONE = "right", "wrong", "open", "none"


class Verdict(NamedTuple):
    """Of one instance; ``none`` is one that asks nothing. The marks are counted."""

    family: str
    outcome: str
    what: str = ""
    marks: tuple[str, ...] = ()


Judge = Callable[..., Verdict]  # of a seed and a number, with options


@dataclass
class Tally:
    """What instances have shown."""

    families: dict[str, dict[str, int]] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    seconds: float = 0.0  # all processes together

    def add(self, verdict: Verdict) -> None:
        counted = self.families.setdefault(verdict.family, {})
        counted[verdict.outcome] = counted.get(verdict.outcome, 0) + 1
        for mark in verdict.marks:
            self.marks[mark] = self.marks.get(mark, 0) + 1
        if verdict.outcome in (WRONG, OPEN):
            (self.wrong if verdict.outcome == WRONG else self.open).append(verdict.what)

    def merge(self, other: Tally) -> None:
        for family, counts in other.families.items():
            self.families[family] = dict(Counter(self.families.get(family, {})) + Counter(counts))
        self.marks = dict(Counter(self.marks) + Counter(other.marks))
        self.wrong += other.wrong
        self.open += other.open
        self.seconds += other.seconds

    def count(self, outcome: str) -> int:
        return sum(counts.get(outcome, 0) for counts in self.families.values())

    @property
    def instances(self) -> int:
        return sum(sum(counts.values()) for counts in self.families.values())

    def report(self) -> str:
        rate = self.instances / self.seconds if self.seconds else 0.0
        return (
            f"{self.instances:,} instances, {self.count(WRONG)} wrong, "
            f"{self.count(OPEN)} not closed, {rate:,.1f} a second and process"
        )

    def tables(self) -> str:
        rows = [
            f"{'family':26s}{'instances':>10s}{'wrong':>8s}{'not closed':>12s}{'no question':>13s}"
        ]
        for name, c in sorted(self.families.items()):
            rows.append(
                f"{name:26s}{sum(c.values()):10,d}{c.get(WRONG, 0):8,d}{c.get(OPEN, 0):12,d}"
                f"{c.get(NONE, 0):13,d}"
            )
        rows += [f"{name:60s}{count:9,d}" for name, count in sorted(self.marks.items())]
        return "\n".join(rows)


def build() -> str:
    """A digest of the compiled core."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:12]


def tally(judge: Judge, seed: int, numbers: range, options: dict[str, Any]) -> Tally:
    """Judge some instances, one after the other."""
    began, out = time.perf_counter(), Tally()
    for number in numbers:
        verdict = judge(seed, number, **options)
        out.add(verdict)
        if verdict.outcome == WRONG:
            print(f"WRONG {verdict.what}", flush=True)
    out.seconds = time.perf_counter() - began
    return out


@dataclass
class Run:
    """A fuzzer with its settings, and where what it has done is kept."""

    judge: Judge
    seed: int
    chunk: int
    options: dict[str, Any]
    state: Path | None = None

    def __post_init__(self) -> None:
        self.total, self.done, self.builds = Tally(), set[int](), Counter[str]()
        for line in (
            self.state.read_text().splitlines() if self.state and self.state.exists() else []
        ):
            with contextlib.suppress(json.JSONDecodeError):  # cut short by a kill
                self._note(json.loads(line))

    def _note(self, line: dict[str, Any]) -> None:
        settings = [line["seed"], line["chunk_size"], line["options"]]
        if settings != [self.seed, self.chunk, self.options]:
            raise SystemExit(
                f"{self.state} belongs to a run with seed, chunk and options {settings}; "
                f"got {[self.seed, self.chunk, self.options]}"
            )
        if line["chunk"] not in self.done:
            part = Tally(**line["tally"])
            self.done.add(line["chunk"])
            self.total.merge(part)
            self.builds[line["build"]] += part.instances

    def _write(self, chunk: int, part: Tally) -> None:
        line = {
            "chunk": chunk, "chunk_size": self.chunk, "seed": self.seed, "options": self.options,
            "build": build(), "tally": asdict(part),
        }  # fmt: skip
        self._note(line)
        if self.state:
            with self.state.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")

    def up_to(self, instances: int, jobs: int = 1, seconds: float | None = None) -> Tally:
        """Whole chunks until there are so many instances, or the time is over."""
        chunks = (c for c in range(-(-instances // self.chunk)) if c not in self.done)
        until = None if seconds is None else time.monotonic() + seconds
        shown = time.monotonic()
        with stopping() as asked:
            for chunk, part in self._parts(chunks, jobs, lambda: asked() or over(until)):
                self._write(chunk, part)
                if time.monotonic() > shown + 10:
                    shown = time.monotonic()
                    print(self.total.report(), file=sys.stderr, flush=True)
        return self.total

    def _numbers(self, chunk: int) -> range:
        return range(chunk * self.chunk, (chunk + 1) * self.chunk)

    def _parts(
        self, chunks: Iterator[int], jobs: int, ended: Callable[[], bool]
    ) -> Iterator[tuple[int, Tally]]:
        if jobs == 1:
            for chunk in chunks:
                if ended():
                    return
                yield chunk, tally(self.judge, self.seed, self._numbers(chunk), self.options)
            return
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        fresh = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=fresh, initializer=_ignore_interrupts) as pool:
            at_work: dict[Future[Tally], int] = {}
            while True:
                while (
                    len(at_work) < jobs + 1
                    and not ended()
                    and (c := next(chunks, None)) is not None
                ):
                    numbers = self._numbers(c)
                    at_work[pool.submit(tally, self.judge, self.seed, numbers, self.options)] = c
                if not at_work:
                    return
                for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                    yield at_work.pop(future), future.result()


def over(until: float | None) -> bool:
    return until is not None and time.monotonic() > until


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Whether the user, or the system, has asked the run to end."""
    asked: list[bool] = []
    before = {
        s: signal.signal(s, lambda *_: asked.append(True)) for s in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield lambda: bool(asked)
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def parser(description: str, instances: int, quick: int, seed: int = 0) -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(description=description)
    out.add_argument("--instances", type=int, default=instances, help="in all, earlier runs too")
    out.add_argument("--seed", type=int, default=seed)
    out.add_argument("--jobs", type=int, default=1, help="processes")
    out.add_argument("--state", type=Path, help="file that keeps where the run is")
    out.add_argument("--seconds", type=float, help="stop after this long")
    out.add_argument("--only", type=int, metavar="I", help="instance I alone")
    out.add_argument("--quick", action="store_true", help=f"{quick} instances, nothing kept")
    out.set_defaults(quickly=quick)
    return out


def main(judge: Judge, given: argparse.Namespace, chunk: int, options: dict[str, Any]) -> int:
    if given.only is not None:
        verdict = judge(given.seed, given.only, **options)
        print(*verdict, sep="\n")
        return 1 if verdict.outcome == WRONG else 0
    if given.quick:
        run = Run(judge, given.seed, given.quickly, options)
        run.up_to(given.quickly)
    else:
        run = Run(judge, given.seed, chunk, options, given.state)
        run.up_to(given.instances, given.jobs, given.seconds)
    for what in run.total.open:
        print(f"not closed {what}")
    for what in run.total.wrong:
        print(f"WRONG {what}")
    print(run.total.tables())
    print(*(f"core {name}: {count:,} instances" for name, count in run.builds.items()), sep="\n")
    print(run.total.report())
    return 1 if run.total.wrong else 0
