"""The searches of a path: one for every size, in short runs.

Sizes are taken from the largest down. Within a run each search starts from its neighbour's subset
after one concentration step, which is nearly always the optimum already, so that only the proof is
left to do. Runs are fixed by the sizes alone and go as wholes to threads, or as chunks to a
cluster: the answer does not depend on who searches, except between subsets tied within ``tol``.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.clock import Clock
from quadsweep.distributed.store import Chunk, Columns, digest_of
from quadsweep.progress import Tick
from quadsweep.solving.methods import Outcome, Problem
from quadsweep.solving.methods.batch import BatchOutcome
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.parallel_batches import Executor, pack, unpack
from quadsweep.solving.methods.problem import compiled
from quadsweep.solving.methods.regression.choice import best
from quadsweep.solving.methods.regression.concentrate import step

_LONGEST_RUN = 16
_RUNS = 8  # at least so many, where there are as many sizes


class Walk:
    """The outcome of every size, as far as they are known."""

    def __init__(self, problem: Problem, sizes: list[int], clock: Clock, helpers: Executor) -> None:
        length = max(1, min(_LONGEST_RUN, len(sizes) // _RUNS))
        self.runs = [sizes[i : i + length] for i in range(0, len(sizes), length)]
        self.problem, self.helpers = problem, helpers
        self.total, self.clock = len(sizes), clock
        self.stop = threading.Event()
        self.outcomes: dict[int, Outcome] = {}

    @property
    def complete(self) -> bool:
        return len(self.outcomes) == self.total and not self.stop.is_set()

    def run_all(self, tick: Tick) -> None:
        """Do all runs, until the time is over, the callback returns False, or Ctrl-C."""
        try:
            for _ in self._here() if self.helpers.here else self._elsewhere():
                if tick(len(self.outcomes), self.total, self.clock.gone()) is False:
                    self.stop.set()
        except KeyboardInterrupt:
            self.stop.set()
        except BaseException:
            self.stop.set()
            raise

    def _here(self) -> Iterator[None]:
        """By threads of this process; a pause every 0.05 s."""
        from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

        jobs = self.problem.n_jobs
        threads = min(jobs, len(self.runs))
        problem = replace(
            self.problem,
            n_jobs=max(1, jobs // threads),
            callback=lambda *_: not self.stop.is_set(),
        )

        def one(run: list[int]) -> None:
            outcomes = searched(problem, run, self.clock)
            while not self.stop.is_set() and (found := next(outcomes, None)) is not None:
                self.outcomes[found[0]] = found[1]

        with ThreadPoolExecutor(threads) as pool:
            try:
                waiting: set[Future[None]] = {pool.submit(one, run) for run in self.runs}
                while waiting:
                    done, waiting = wait(waiting, timeout=0.05, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
                    yield
            except BaseException:
                self.stop.set()  # before the pool waits for its threads
                raise

    def _elsewhere(self) -> Iterator[None]:
        """By workers, a run at a time; finished runs are kept where there is a place for them."""
        jobs = 1 if self.helpers.workers else self.problem.n_jobs
        task = SizesTask(replace(self.problem, n_jobs=jobs), self.clock.until())
        chunks, runs = [], {}
        for run in self.runs:
            digest = task.digest(run)
            asked = {"sizes": run, "digest": digest}
            chunks.append(Chunk(f"sizes-{digest}", search_sizes, asked, len(run), task))
            runs[chunks[-1].name] = run
        for name, columns in self.helpers.perform(chunks):
            found = unpack(columns)
            for i, k in enumerate(runs[name]):
                if found.masks[i].any() or found.status[i] != "time_limit":
                    self.outcomes[k] = Outcome(
                        np.flatnonzero(found.masks[i]), float(found.values[i]),
                        float(found.bounds[i]), str(found.status[i]), int(found.nodes[i]),
                    )  # fmt: skip
            yield
            if self.stop.is_set():
                return


@dataclass(frozen=True)
class SizesTask:
    """A problem for any k; ``until`` is a time of day."""

    problem: Problem
    until: float

    def digest(self, sizes: list[int]) -> str:
        """What the outcomes of some sizes depend on."""
        p = self.problem
        question = repr([p.objective.name, p.tol, p.seed, p.intercept, sizes])
        return digest_of(np.array([question]), *p.arrays)


def search_sizes(task: SizesTask, sizes: list[int], **_: Any) -> Columns:
    """A run, one row a size. Sizes for which there was no time are empty."""
    clock = Clock(task.until - time.time() if math.isfinite(task.until) else math.inf)
    found = dict(searched(task.problem, sizes, clock))
    none = Outcome(np.zeros(0, dtype=np.int64), math.nan, math.nan, "time_limit", 0)
    return pack(BatchOutcome.from_outcomes([found.get(k, none) for k in sizes], task.problem.n))


def searched(problem: Problem, sizes: list[int], clock: Clock) -> Iterator[tuple[int, Outcome]]:
    """The outcome of each size, one after the other, while there is time."""
    before: Outcome | None = None
    for k in sizes:
        if clock.time_left() == 0:
            return
        at = replace(problem, k=k, time_limit=clock.time_left())
        if at.objective.name == "var":
            before = compiled("univariate", at)
        elif at.several:
            before = best(at, [] if before is None else step(at, before.inliers))
        else:
            starts = [] if before is None else neighbour(at, before.inliers)
            before = search(at, starts=starts, starting_lines=1 if starts else 0)
        yield k, before


def neighbour(problem: Problem, inliers: Ints) -> list[Ints]:
    """A concentration step from a subset of any size to one of size k; none where undefined."""
    x, y = problem.x, problem.y
    if len(inliers) < 2 or np.ptp(x[inliers]) == 0 or np.ptp(y[inliers]) == 0:
        return []
    try:
        p, q, r = problem.objective.gradient(x[inliers], y[inliers])
    except ZeroDivisionError:  # sums of squares below the least floating-point number
        return []
    u, w = x - x[inliers].mean(), y - y[inliers].mean()
    gain = p * u * u + q * u * w + r * w * w
    if not np.all(np.isfinite(gain)):
        return []
    return [np.sort(np.argsort(-gain, kind="stable")[: problem.k])]
