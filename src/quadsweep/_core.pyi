"""Types of the compiled half; see _core/README.md."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

STATUSES: list[str]

def solve(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    k: int,
    objective: str,
    method: str,
    tol: float,
    time_limit: float,
    n_jobs: int,
    seed: int,
    callback: Callable[[float, float, int, float], object] | None,
    memory_limit: float = ...,
) -> tuple[NDArray[np.int64], float, float, str, int]: ...
def solve_lifted(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    lifted: NDArray[np.float64],
    k: int,
    objective: str,
    method: str,
    order: str,
    time_limit: float,
    n_jobs: int,
    callback: Callable[[float, float, int, float], object] | None,
) -> tuple[NDArray[np.int64], float, float, str, int]: ...
def certified(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    k: int,
    objective: str,
    tol: float,
    time_limit: float,
    n_jobs: int,
    seed: int,
    callback: Callable[[float, float, int, float], object] | None,
    k_or_more: bool,
    above: float,
    starts: Sequence[Sequence[int]],
    starting_lines: int,
    enumeration_limit: int,
    cells: bool,
    memory_limit: float = ...,
) -> tuple[tuple[NDArray[np.int64], float, float, str, int], float, bool]: ...
def solve_many(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    k: int,
    objective: str,
    method: str,
    tol: float,
    time_limit: float,
    n_jobs: int,
    seed: int,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.uint8],
    NDArray[np.int8],
    NDArray[np.uint64],
]: ...
def prove(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
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
    callback: Callable[[float, float, int, float], object] | None,
) -> dict[str, Any]: ...
def lowered(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    k: int,
    objective: str,
    value: float,
    tol: float,
) -> float: ...
def decide_many(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    k: int,
    objective: str,
    above: NDArray[np.float64],
    tol: float,
    time_limit: float,
    n_jobs: int,
    seed: int,
    starting_lines: int,
) -> NDArray[np.int8]: ...
def value(
    x: NDArray[np.float64], y: NDArray[np.float64], subset: Sequence[int], objective: str
) -> float: ...
def instruction_set() -> str: ...
def choose_instruction_set(name: str) -> bool: ...
def regression_fit(
    columns: NDArray[np.float64],
    y: NDArray[np.float64],
    k: int,
    *,
    objective: str = "r2",
    intercept: bool = True,
    tol: float = 1e-9,
    k_or_more: bool = False,
    above: float | None = None,
    starts: Sequence[Sequence[int]] = [],
    seed: int = 0,
    n_jobs: int = 1,
    time_limit: float | None = None,
    progress: Callable[[float, float, int, float], object] | None = None,
    weights: NDArray[np.float64] | None = None,
    groups: NDArray[np.int64] | None = None,
    enumeration_limit: int = 200,
    tree_from: int = 4096,
    memory_limit: float = ...,
) -> dict[str, Any]: ...
def regression_scores(
    columns: NDArray[np.float64],
    y: NDArray[np.float64],
    subsets: NDArray[np.int64],
    *,
    objective: str = "r2",
    intercept: bool = True,
    weights: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]: ...
def regression_partial(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    controls: NDArray[np.float64],
    k: int,
    *,
    side: str = "above",
    t: float = 0.0,
    mix: Sequence[float] = (1.0, 0.0, 0.0, 1.0),
    k_or_more: bool = False,
    starts: Sequence[Sequence[int]] = [],
    seed: int = 0,
    n_jobs: int = 1,
    time_limit: float | None = None,
    progress: Callable[[float, float, int, float], object] | None = None,
    weights: NDArray[np.float64] | None = None,
    groups: NDArray[np.int64] | None = None,
    enumeration_limit: int = 200,
    tree_from: int = 4096,
    memory_limit: float = ...,
) -> dict[str, Any]: ...

class ManyControls:
    def __init__(
        self,
        z: NDArray[np.float64],
        p: NDArray[np.float64],
        q: NDArray[np.float64],
        *,
        extra: NDArray[np.float64],
        e: NDArray[np.float64],
        classes: NDArray[np.int64],
        items: NDArray[np.int64],
        rounding: float,
    ) -> None: ...
    def refute(
        self,
        m: int,
        *,
        most_nodes: int = 1,
        n_jobs: int = 1,
        memory: float = 5e8,
        time_limit: float | None = None,
        progress: Callable[[int, float], object] | None = None,
    ) -> dict[str, Any]: ...
    def least(self, m: int, time_limit: float | None = None) -> float: ...
    def total(self, m: int, d: Sequence[float]) -> float: ...

class Partition:
    """Leaves of a kd-tree in placed coordinates: ``_core/outofcore/partition.hpp``."""

    def __init__(
        self,
        placing: tuple[float, float, int, int, float],
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        leaves: int,
        objective: str = "r2",
        share: float = 1.0,
        starts: list[list[float]] = [],
    ) -> None: ...
    @property
    def leaves(self) -> int: ...
    @property
    def placing(self) -> tuple[float, float, int, int, float]: ...
    @property
    def nearest(self) -> NDArray[np.int32]: ...
    def locate(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int32]: ...
    def add_and_pick(
        self,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        wanted: NDArray[np.uint8],
        table: NDArray[np.float64],
    ) -> tuple[
        int,
        tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]],
    ]: ...
    def add(
        self,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        wanted: NDArray[np.uint8],
        table: NDArray[np.float64],
    ) -> int: ...
    def pick(
        self, x: NDArray[np.float64], y: NDArray[np.float64], wanted: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...
    def refined(
        self, leaves: NDArray[np.int32], table: NDArray[np.float64], levels: int
    ) -> Partition: ...
    def __getstate__(self) -> tuple[Any, ...]: ...

def plan_sample(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    objective: str,
    share: float,
    seed: int,
    n_jobs: int,
) -> tuple[tuple[float, float, int, int, float], list[list[float]]]: ...

class LoadedPartition:
    def __init__(
        self,
        partition: Partition,
        table: NDArray[np.float64],
        leaf: NDArray[np.int32],
        x: NDArray[np.float64],
        y: NDArray[np.float64],
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
        callback: Callable[[float, float, int, float], object] | None,
        until: str = "proved",
        above: float = ...,
        k_or_more: bool = False,
        product: tuple[tuple[float, float], tuple[float, float]] | None = None,
        mirrored: bool = False,
    ) -> dict[str, Any]: ...
    def least_squares(self, k: int, gap_x: float, gap_y: float) -> tuple[float, float]: ...

def distinct(column: NDArray[np.float64], most: int) -> NDArray[np.float64] | None: ...
def merge_leaves(
    into: NDArray[np.float64], leaves: NDArray[np.int32], table: NDArray[np.float64]
) -> None: ...

class LinearTest:
    def __init__(
        self,
        basis: NDArray[np.float64],
        s: NDArray[np.float64],
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        first: Sequence[int],
        *,
        kind: str,
        clusters: Sequence[Sequence[int]] = ...,
        k_adj: bool = True,
        g_adj: bool = True,
        g_min: bool = False,
        cluster_freedom: bool = True,
        critical: NDArray[np.float64],
        side: int,
        instrument: bool = False,
        fixed: int = 0,
        error: float = 0.0,
    ) -> None: ...

def try_linear(
    test: LinearTest,
    order: Sequence[int],
    m: int,
    *,
    most_unclear: int = ...,
    n_jobs: int = 1,
    time_limit: float | None = None,
    progress: Callable[[int, float], object] | None = None,
) -> dict[str, Any]: ...
def try_likelihood(
    design: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    first: Sequence[int],
    order: Sequence[int],
    m: int,
    *,
    link: str,
    start: Sequence[float],
    sign_alone: bool = False,
    critical: float = 0.0,
    side: int = 0,
    most_unclear: int = ...,
    n_jobs: int = 1,
    time_limit: float | None = None,
    progress: Callable[[int, float], object] | None = None,
) -> dict[str, Any]: ...
def decide_likelihood(
    rows: NDArray[np.float64],
    sizes: NDArray[np.float64],
    design: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    first: Sequence[int],
    *,
    link: str,
    start: Sequence[float],
    critical: float,
    side: int,
    radius: float,
    fewest: int,
    most: int,
    enumerate: float = ...,
    most_unclear: int = ...,
    n_jobs: int = 1,
    memory_limit: float = ...,
    most_boxes: float = ...,
    time_limit: float | None = None,
    progress: Callable[[int, float], object] | None = None,
) -> dict[str, Any]: ...
def decide_robust(
    test: LinearTest,
    rows: NDArray[np.float64],
    sizes: NDArray[np.float64],
    scores: Sequence[int],
    items: Sequence[int],
    *,
    tau: float,
    fewest: int,
    most: int,
    enumerate: float = ...,
    most_unclear: int = ...,
    n_jobs: int = 1,
    memory_limit: float = ...,
    most_boxes: float = ...,
    time_limit: float | None = None,
    progress: Callable[[int, float], object] | None = None,
) -> dict[str, Any]: ...
