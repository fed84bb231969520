"""Audits find what they found before: the record of tests/fuzzing/golden_audits.py."""

from __future__ import annotations

import json

import golden_audits
import pytest

pytest.importorskip("pyarrow")


def test_every_seventh_audit_is_as_recorded() -> None:
    assert list(golden_audits.differences(step=7)) == []


@pytest.mark.slow
def test_every_third_audit_is_as_recorded() -> None:
    assert list(golden_audits.differences(step=3)) == []


def test_a_difference_is_seen_and_named(tmp_path) -> None:
    record = json.loads(golden_audits.RECORD.read_text())
    first = next(iter(record))
    record[first][0] += 1
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(record))
    (only,) = golden_audits.differences(step=10**6, path=changed)
    assert only.startswith(f"{first}: was")
