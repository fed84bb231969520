"""Types of the compiled half; see _core/README.md."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Unpack

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Leaves = NDArray[np.int32]
Subsets = Sequence[Sequence[int]]
Progress = Callable[[float, float, int, float], object] | None
Ticks = Callable[[int, float], object] | None
Answer = tuple[Ints, float, float, str, int]
Placing = tuple[float, float, int, int, float]
Picked = tuple[Ints, Leaves, Floats, Floats]

STATUSES: list[str]

class Limits(TypedDict, total=False):
    """Of tries and searches that count."""

    n_jobs: int
    time_limit: float | None
    progress: Ticks

class BoxLimits(Limits, total=False):
    """Of a search over boxes of parameters for removals of ``fewest`` to ``most`` items."""

    enumerate: float
    most_unclear: int
    memory_limit: float
    most_boxes: float

class SubsetSearch(TypedDict, total=False):
    """What a search for k rows of a regression takes beside its columns."""

    k_or_more: bool
    starts: Subsets
    seed: int
    n_jobs: int
    time_limit: float | None
    progress: Progress
    weights: Floats | None
    groups: Ints | None
    enumeration_limit: int
    tree_from: int
    memory_limit: float

def solve(
    x: Floats,
    y: Floats,
    k: int,
    objective: str,
    method: str,
    tol: float,
    time_limit: float,
    n_jobs: int,
    seed: int,
    callback: Progress,
    memory_limit: float = ...,
) -> Answer: ...
def solve_lifted(
    x: Floats,
    y: Floats,
    lifted: Floats,
    k: int,
    objective: str,
    method: str,
    order: str,
    time_limit: float,
    n_jobs: int,
    callback: Progress,
) -> Answer: ...
def certified(
    x: Floats,
    y: Floats,
    k: int,
    objective: str,
    tol: float,
    time_limit: float,
    n_jobs: int,
    seed: int,
    callback: Progress,
    k_or_more: bool,
    above: float,
    starts: Subsets,
    starting_lines: int,
    enumeration_limit: int,
    cells: bool,
    memory_limit: float = ...,
) -> tuple[Answer, float, bool]: ...
def solve_many(
    x: Floats,
    y: Floats,
    k: int,
    objective: str,
    method: str,
    tol: float,
    time_limit: float,
    n_jobs: int,
    seed: int,
) -> tuple[Floats, Floats, Bytes, NDArray[np.int8], NDArray[np.uint64]]: ...
def prove(
    x: Floats,
    y: Floats,
    k: int,
    objective: str,
    k_or_more: bool,
    aim: float,
    claim: float,
    good: Sequence[int],
    enumeration_limit: int,
    most_nodes: int,
    rounding: bool,
    time_limit: float,
    callback: Progress,
) -> dict[str, Any]: ...
def lowered(x: Floats, y: Floats, k: int, objective: str, value: float, tol: float) -> float: ...
def value(x: Floats, y: Floats, subset: Sequence[int], objective: str) -> float: ...
def instruction_set() -> str: ...
def choose_instruction_set(name: str) -> bool: ...
def regression_fit(
    columns: Floats,
    y: Floats,
    k: int,
    *,
    objective: str = "r2",
    intercept: bool = True,
    tol: float = 1e-09,
    above: float | None = None,
    most_boxes: float = ...,
    **settings: Unpack[SubsetSearch],
) -> dict[str, Any]: ...
def regression_scores(
    columns: Floats,
    y: Floats,
    subsets: Ints,
    *,
    objective: str = "r2",
    intercept: bool = True,
    weights: Floats | None = None,
) -> tuple[Floats, Floats, Ints]: ...
def regression_partial(
    x: Floats,
    y: Floats,
    controls: Floats,
    k: int,
    *,
    side: str = "above",
    t: float = 0.0,
    mix: Sequence[float] = (1.0, 0.0, 0.0, 1.0),
    **settings: Unpack[SubsetSearch],
) -> dict[str, Any]: ...

class ManyControls:
    def __init__(
        self,
        z: Floats,
        p: Floats,
        q: Floats,
        *,
        extra: Floats,
        e: Floats,
        classes: Ints,
        items: Ints,
        rounding: float,
    ) -> None: ...
    def refute(
        self, m: int, *, most_nodes: int = 1, memory: float = 500000000.0, **limits: Unpack[Limits]
    ) -> dict[str, Any]: ...
    def least(self, m: int, time_limit: float | None = None) -> float: ...
    def total(self, m: int, d: Sequence[float]) -> float: ...

def largest_row_sums(matrix: Floats, weight: Floats, k: int, sign: int) -> Floats: ...

class PairBound:
    """The most that m rows take, by costs of pairs: ``_core/many_predictors/pairs.hpp``."""

    def __init__(self, pairs: Floats, own: Floats, slope: Floats, u: Floats, m: int) -> None: ...
    def improve(
        self, g: float, enough: float, steps: int, n_jobs: int, time_limit: float
    ) -> float: ...

def choose_majorants(r: Floats, t: Floats, reach: Floats, moments: Floats) -> Floats: ...

class SphereForms:
    """Quartics on a sphere, as matrices: ``_core/many_predictors/quartics.hpp``."""

    def __init__(self, variables: int) -> None: ...
    @property
    def dimension(self) -> int: ...
    def symmetrise(self, matrix: Floats) -> Floats: ...
    def project(self, matrix: Floats) -> tuple[Floats, Floats]: ...

class Partition:
    """Leaves of a kd-tree in placed coordinates: ``_core/outofcore/partition.hpp``."""

    def __init__(
        self,
        placing: Placing,
        x: Floats,
        y: Floats,
        leaves: int,
        objective: str = "r2",
        share: float = 1.0,
        starts: list[list[float]] = [],
    ) -> None: ...
    @property
    def leaves(self) -> int: ...
    @property
    def placing(self) -> Placing: ...
    @property
    def nearest(self) -> Leaves: ...
    def locate(self, x: Floats, y: Floats) -> Leaves: ...
    def add_and_pick(
        self, x: Floats, y: Floats, wanted: Bytes, table: Floats
    ) -> tuple[int, Picked]: ...
    def add(self, x: Floats, y: Floats, wanted: Bytes, table: Floats) -> int: ...
    def pick(self, x: Floats, y: Floats, wanted: Bytes) -> Picked: ...
    def refined(self, leaves: Leaves, table: Floats, levels: int) -> Partition: ...
    def __getstate__(self) -> tuple[Any, ...]: ...

def plan_sample(
    x: Floats, y: Floats, objective: str, share: float, seed: int, n_jobs: int
) -> tuple[Placing, list[list[float]]]: ...

class LoadedPartition:
    def __init__(
        self,
        partition: Partition,
        table: Floats,
        leaf: Leaves,
        x: Floats,
        y: Floats,
        n_jobs: int = 1,
    ) -> None: ...
    @property
    def roundings(self) -> float: ...
    def search(
        self,
        objective: str,
        k: int,
        tol: float,
        starts: Sequence[Sequence[float]],
        gap_x: float,
        gap_y: float,
        tilt: float,
        most_rows: float,
        memory: float,
        time_limit: float,
        n_jobs: int,
        callback: Progress,
        until: str = "proved",
        above: float = ...,
        k_or_more: bool = False,
        product: tuple[tuple[float, float], tuple[float, float]] | None = None,
        mirrored: bool = False,
    ) -> dict[str, Any]: ...
    def least_squares(self, k: int, gap_x: float, gap_y: float) -> tuple[float, float]: ...

def fingerprint(x: Floats, y: Floats) -> int: ...
def distinct(column: Floats, most: int) -> Floats | None: ...
def merge_leaves(into: Floats, leaves: Leaves, table: Floats) -> None: ...

class LinearTest:
    def __init__(
        self,
        basis: Floats,
        s: Floats,
        x: Floats,
        y: Floats,
        first: Sequence[int],
        *,
        kind: str,
        clusters: Subsets = ...,
        k_adj: bool = True,
        g_adj: bool = True,
        g_min: bool = False,
        cluster_freedom: bool = True,
        critical: Floats,
        side: int,
        instrument: bool = False,
        fixed: int = 0,
        error: float = 0.0,
        variance: float = 1.0,
    ) -> None: ...

class LikelihoodTest:
    def __init__(
        self,
        design: Floats,
        y: Floats,
        weights: Floats,
        first: Sequence[int],
        *,
        link: str,
        start: Sequence[float],
        sign_alone: bool,
        critical: float,
        side: int,
    ) -> None: ...

def try_all(
    test: LinearTest | LikelihoodTest,
    order: Sequence[int],
    m: int,
    *,
    most_unclear: int = ...,
    **limits: Unpack[Limits],
) -> dict[str, Any]: ...
def decide_likelihood(
    test: LikelihoodTest,
    rows: Floats,
    sizes: Floats,
    *,
    radius: float,
    fewest: int,
    most: int,
    **limits: Unpack[BoxLimits],
) -> dict[str, Any]: ...

class ScoreTest:
    """Rows in the order of their items, items of their units, units of their clusters."""

    def __init__(
        self,
        columns: Floats,
        effect: Floats,
        *,
        item_first: Sequence[int],
        unit_first: Sequence[int],
        cluster_first: Sequence[int],
        part_first: Sequence[int] = (),
        exponent: float = 0.0,
        gained: bool = False,
        error: float = 0.0,
        most_sets: float = ...,
    ) -> None: ...

def decide_scores(
    test: ScoreTest,
    most: int,
    threshold: float,
    *,
    memory_limit: float = ...,
    most_nodes: float = ...,
    **limits: Unpack[Limits],
) -> dict[str, Any]: ...
def decide_robust(
    test: LinearTest,
    rows: Floats,
    sizes: Floats,
    scores: Sequence[int],
    items: Sequence[int],
    *,
    tau: float,
    fewest: int,
    most: int,
    **limits: Unpack[BoxLimits],
) -> dict[str, Any]: ...
