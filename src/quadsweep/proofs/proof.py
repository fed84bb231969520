"""A proof: what it claims, and its file."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from quadsweep.messages import argument
from quadsweep.proofs import checker


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof that no subset is better, or that no smaller removal breaks a claim.

    Attributes
    ----------
    content : dict
        The proof, as described on the page "The format of proofs".

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
        return list(self.content["parts"])

    @property
    def claim(self) -> str:
        """What is proved, in words."""
        data = self.content["data"]
        return "; ".join(_statement(part["claim"], **data) for part in self.parts)

    def summary(self) -> str:
        """The claim and the size of the proof."""
        return f"{self.claim}\n{self.nodes:,} nodes, {len(self.to_bytes()):,} bytes"

    def __str__(self) -> str:
        return self.summary()

    def to_bytes(self) -> bytes:
        """The bytes of the file: compressed JSON; equal proofs give equal bytes."""
        text = json.dumps(self.content, separators=(",", ":"), allow_nan=False)
        return gzip.compress(text.encode(), mtime=0)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | PathLike[str], max_bytes: int = checker.MAX_BYTES) -> Proof:
        """Read a file; ValueError if it is no proof, or exceeds ``max_bytes`` when unpacked."""
        try:
            with open(path, "rb") as file:
                content = checker.read(file, max_bytes)
            if not isinstance(content, dict):
                raise ValueError("no object")
        except checker.TooMuch as wrong:
            raise ValueError(f"{path}: {wrong}: raise {argument('max_bytes')}") from None
        except (ValueError, EOFError, RecursionError, gzip.BadGzipFile, zlib.error) as wrong:
            raise ValueError(f"{path} is not a proof: {wrong}") from None
        return cls(content)


def together(proofs: list[Proof]) -> Proof:
    """Several proofs about the same data as one."""
    return Proof(proofs[0].content | {"parts": [part for p in proofs for part in p.parts]})


def _statement(claim: dict[str, Any], predictors: int, rows: int, **_: Any) -> str:
    better = "below" if claim["objective"] in ("tv", "lts") else "above"
    what = f"{claim['objective']} {better} {claim['threshold']!r}"
    sign, beta = claim["sign"], claim["beta"] or 0
    side = "above" if sign > 0 else "below"
    if claim["objective"] == "cov" and predictors > 1:
        given = "1 control" if predictors == 2 else f"{predictors - 1} controls"
        if claim["threshold"] == 0:
            what = f"a coefficient of x {side} {beta!r}"
        what += f", given {given}"
    elif claim["margin"] is not None:
        what = f"a slope {side} {beta!r} (by {claim['margin']!r} of a correlation or more)"
    elif sign != 1 or beta != 0:
        what += f" with {sign:+d} (y - {beta!r} x) for y"
    some = f"{claim['keep']} {'or more ' if claim['or_more'] else ''}of {rows} rows"
    within = f"; the subset given comes within {claim['tol']!r} of it" if claim["subset"] else ""
    return f"no {some} have {what}{within}"
