"""A proof: what it claims, and its file."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from quadsweep.proofs import checker


@dataclass(frozen=True, eq=False)
class Proof:
    """Why no subset is better, in a form that :func:`quadsweep.check` verifies.

    Attributes
    ----------
    content : dict
        As described in the guide, "The format of proofs".

    Examples
    --------
    >>> import quadsweep as qs
    >>> x, y = [1, 2, 3, 4, 5, 6], [1, 2, 9, 4, 5.5, 6]
    >>> proof = qs.solve(x, y, drop=1, proof=True).proof
    >>> qs.check(proof, x, y).proved
    True
    """

    content: dict[str, Any] = field(repr=False)

    @property
    def nodes(self) -> int:
        """Nodes of the tree, all roots together."""
        return sum(len(root["nodes"]) for part in self.parts for root in part["roots"])

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The statements proved, one after the other."""
        return checker.parts(self.content)

    @property
    def claim(self) -> str:
        """What is proved, in words."""
        return checker.sentence(self.content)

    def summary(self) -> str:
        """The claim, and how large the proof is."""
        return f"{self.claim}\n{self.nodes:,} nodes, {len(self.to_bytes()):,} bytes"

    def __str__(self) -> str:
        return self.summary()

    def to_bytes(self) -> bytes:
        """The file: JSON, compressed; the same for the same proof."""
        text = json.dumps(self.content, separators=(",", ":"), allow_nan=False)
        return gzip.compress(text.encode(), mtime=0)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Proof:
        """Read a file; ValueError if it is none."""
        try:
            return cls(checker.load(str(path)))
        except checker.Unreadable as wrong:
            raise ValueError(str(wrong)) from None


def together(proofs: list[Proof]) -> Proof:
    """Several proofs about the same data as one."""
    if len(proofs) == 1:
        return proofs[0]
    shared = ("format", "version", "predictors", "data")
    content = {key: proofs[0].content[key] for key in shared}
    own = [{k: v for k, v in p.content.items() if k not in shared} for p in proofs]
    return Proof(content | {"parts": own})
