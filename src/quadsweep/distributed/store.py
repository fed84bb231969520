"""Finished chunks on disk: one Parquet file each, written whole or not at all, checked when read.

A file's name ends with the SHA-256 of its bytes, so that a damaged one is found before anything
tries to make sense of it; its metadata say what it was computed from (work, arguments, version).
A chunk counts as finished only if both are right.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quadsweep
from quadsweep.extras import needed

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Chunk:
    """A piece of work that is done as a whole.

    Attributes
    ----------
    name : file name, unique within an experiment.
    work : function at the top level of a module, so that other processes can find it.
    arguments : keywords for it: numbers and text.
    trials : how many trials it stands for, for the progress bar.
    data : what the work is done on, given to it first. Several chunks may share it; a digest of it
        belongs to the arguments.
    """

    name: str
    work: Callable[..., Columns | None]
    arguments: dict[str, Any] = field(default_factory=dict)
    trials: int = 1
    data: Any = field(default=None, repr=False, compare=False)

    def perform(self) -> Columns | None:
        """Its columns, or None if a limit came first."""
        given = () if self.data is None else (self.data,)
        return self.work(*given, **self.arguments)

    @property
    def origin(self) -> str:
        """What the columns depend on, as text."""
        return json.dumps(
            {
                "work": f"{self.work.__module__}.{self.work.__qualname__}",
                "arguments": self.arguments,
                "version": quadsweep.__version__,
            },
            sort_keys=True,
        )

    @property
    def question(self) -> dict[str, Any]:
        """The origin without what tells it from other chunks of one run, ``first`` and ``last``."""
        found: dict[str, Any] = json.loads(self.origin)
        for name in ("first", "last"):
            found["arguments"].pop(name, None)
        return found

    @property
    def key(self) -> str:
        """The same for the same work with the same arguments and version, and for nothing else."""
        return f"{self.name}-{_digest(self.origin.encode())}"


class ChunkStore:
    """A directory of finished chunks.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> chunk = Chunk("squares", lambda: {"square": np.arange(3) ** 2})
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     store = ChunkStore(directory)
    ...     store.save(chunk, chunk.perform() or {})
    ...     store.load(chunk)
    {'square': array([0, 1, 4])}
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    def files(self, chunk: Chunk) -> list[Path]:
        """What is there for a chunk, whole or damaged."""
        return sorted(self.directory.glob(f"{chunk.name}.*.parquet"))

    def is_empty(self) -> bool:
        return not any(self.directory.glob("*.parquet"))

    def save(self, chunk: Chunk, columns: Columns) -> None:
        """Write a temporary file, bring it to disk, give it its name in one step."""
        content = _encode(chunk, columns)
        self.directory.mkdir(parents=True, exist_ok=True)
        final = self.directory / f"{chunk.name}.{_digest(content)}.parquet"
        unfinished = self.directory / f".{chunk.name}.{os.getpid()}.unfinished"
        try:
            with open(unfinished, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, final)
        finally:
            unfinished.unlink(missing_ok=True)
        _sync_directory(self.directory)
        for other in self.files(chunk):
            if other != final:
                other.unlink(missing_ok=True)

    def load(self, chunk: Chunk) -> Columns | None:
        """The columns of a finished chunk, or None if it has to be done (again)."""
        for path in self.files(chunk):
            content = path.read_bytes()
            if path.name == f"{chunk.name}.{_digest(content)}.parquet":
                columns = _decode(chunk, content)
                if columns is not None:
                    return columns
        return None

    def log_time(self, chunk: Chunk, processor: float, finished: float) -> None:
        """Remember how long a chunk took, beside it: the chunk itself must not vary."""
        with open(self.directory / "_times.csv", "a", encoding="utf-8") as file:
            file.write(f"{chunk.name},{processor:.3f},{finished:.3f}\n")

    def times(self) -> dict[str, tuple[float, float]]:
        """Of each chunk, as far as logged: processor seconds, and seconds since the run began."""
        path = self.directory / "_times.csv"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        fields = (line.split(",") for line in lines if line.count(",") == 2)
        return {
            name: (float(processor or 0), float(finished or 0))
            for name, processor, finished in fields
        }

    def clean(self) -> None:
        """Remove what a killed run was writing."""
        for path in self.directory.glob(".*.unfinished"):
            path.unlink(missing_ok=True)


def _encode(chunk: Chunk, columns: Columns) -> bytes:
    with needed("keeping finished chunks"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    table = pa.table(columns).replace_schema_metadata({"quadsweep": chunk.origin})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _decode(chunk: Chunk, content: bytes) -> Columns | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # No threads: files are small, and a pool may outlive the interpreter.
    table = pq.read_table(pa.BufferReader(content), use_threads=False, pre_buffer=False)
    if table.schema.metadata.get(b"quadsweep") != chunk.origin.encode():
        return None
    return {name: table[name].to_numpy() for name in table.column_names}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def digest_of(*arrays: NDArray[Any]) -> str:
    """A name for the contents of arrays, for a chunk's arguments.

    >>> import numpy as np
    >>> digest_of(np.zeros(3)) == digest_of(np.zeros(3)) != digest_of(np.zeros((3, 1)))
    True
    """
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(f"{array.dtype.str}{array.shape}".encode())
        whole.update(np.ascontiguousarray(array).data)
    return whole.hexdigest()[:32]


def _sync_directory(directory: Path) -> None:
    if os.name != "posix":
        return  # a directory cannot be opened there, and its entries need no call to be kept
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
