"""Experiments from chunks to files: tables, figures and a note on how they came about."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from quadsweep.distributed.store import Chunk, ChunkStore
from quadsweep.distributed.workers import Workers, one_by_one
from quadsweep.paper.experiments import figures, table1, table2, timing
from quadsweep.paper.experiments.runner import Results, TextTable, run, write
from quadsweep.paper.experiments.scale import Scale


@dataclass(frozen=True)
class Experiment:
    """What is computed, and how it is shown.

    Attributes
    ----------
    alone : True if its chunks must run one by one, because they are timed.
    draw : writes figures, given results, scale and directory.
    """

    label: str
    chunks: Callable[[Scale], list[Chunk]]
    tables: Callable[[Results, Scale], list[TextTable]]
    alone: bool = False
    draw: Callable[[Results, Scale, Path], object] | None = None


EXPERIMENTS = {
    "table1": Experiment("table 1", table1.chunks, table1.tables),
    "table2": Experiment("table 2", table2.chunks, table2.tables),
    "timing": Experiment("timing", timing.chunks, timing.tables, alone=True, draw=timing.draw),
}
NAMES = (*EXPERIMENTS, "figures", "all")


# What must be installed beside the core.
_LIBRARIES = {
    "table1": ("pyarrow", "piqp"),
    "table2": ("pyarrow", "sklearn"),
    "timing": ("pyarrow", "matplotlib"),
    "figures": ("matplotlib",),
}


def parts(what: str) -> tuple[str, ...]:
    """The experiments a name stands for; raises if a library they need is not installed.

    >>> parts("all")
    ('table1', 'table2', 'timing', 'figures')
    """
    if what not in NAMES:
        raise ValueError(f"the experiment must be one of {', '.join(NAMES)}; got {what!r}")
    chosen = (*EXPERIMENTS, "figures") if what == "all" else (what,)
    libraries = dict.fromkeys(library for name in chosen for library in _LIBRARIES[name])
    missing = [library for library in libraries if find_spec(library) is None]
    if missing:
        raise ModuleNotFoundError(
            f"the paper's experiments need {', '.join(missing)}: "
            'pip install "quadsweep[experiments]"',
            name=missing[0],
        )
    return chosen


def reproduce(
    what: str, scale: Scale, out: Path, workers: Workers, *, resume: bool
) -> dict[str, str]:
    """Run experiments and write their files to ``out``.

    Returns the first table of each, the one that stands in the paper, as Markdown by name.

    Examples
    --------
    >>> import tempfile
    >>> from quadsweep.paper.experiments.scale import QUICK
    >>> with tempfile.TemporaryDirectory() as out:
    ...     tables = reproduce("figures", QUICK, Path(out), one_by_one, resume=False)
    ...     sorted(path.name for path in Path(out).glob("*.pdf"))
    ['boundaries.pdf', 'lift.pdf']
    """
    texts = {}
    for name in parts(what):
        start = time.perf_counter()
        resumed = not ChunkStore(chunk_directory(out, scale, name)).is_empty()
        if name == "figures":
            figures.draw(out)
        else:
            texts[name] = _one(name, scale, out, workers, resume)
        note(out, scale, name, time.perf_counter() - start, resumed)
    return texts


def _one(name: str, scale: Scale, out: Path, workers: Workers, resume: bool) -> str:
    experiment = EXPERIMENTS[name]
    results = run(
        experiment.label,
        experiment.chunks(scale),
        ChunkStore(chunk_directory(out, scale, name)),
        one_by_one if experiment.alone else workers,
        resume=resume,
    )
    if experiment.draw is not None:
        experiment.draw(results, scale, out)
    tables = experiment.tables(results, scale)
    write(tables, out, name, experiment.label.capitalize())
    return tables[0].markdown()


def chunk_directory(out: Path, scale: Scale, name: str) -> Path:
    return out / "chunks" / scale.name / name


def note(out: Path, scale: Scale, name: str, seconds: float, resumed: bool) -> None:
    """Write the machine, the versions and the time of each experiment to ``run.json``."""
    path = out / "run.json"
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    runs = {
        **known.get("experiments", {}),
        name: {
            "command": f"quadsweep reproduce {name} --scale {scale.name}",
            ("seconds since resumed" if resumed else "seconds"): round(seconds, 1),
        },
    }
    text = json.dumps({**machine(), "experiments": runs}, indent=2)
    path.write_text(text + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """Return the machine and the versions that figures were measured with."""
    from importlib.metadata import version

    from quadsweep import __version__, _core

    packages = [p for p in ("numpy", "scipy", "sklearn", "piqp") if find_spec(p)]
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "instructions": _core.instruction_set(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {
            "quadsweep": __version__,
            "python": platform.python_version(),
            **{p: version({"sklearn": "scikit-learn"}.get(p, p)) for p in packages},
        },
    }


def _processor() -> str:
    """Return the processor's name, which only Linux's list of processors has in full."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
