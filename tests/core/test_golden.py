"""The engine's answers are those on record, to the last bit."""

from __future__ import annotations

import platform

import golden
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"),
    reason="the record is of x86-64 on Linux",
)


@pytest.fixture(autouse=True)
def baseline():
    with golden.instruction_set("baseline"):
        yield


def test_every_twentieth_answer_is_as_recorded():
    assert list(golden.differences(step=20)) == []


@pytest.mark.slow
def test_every_answer_is_as_recorded():
    assert list(golden.differences()) == []


def test_a_difference_is_seen_and_named(tmp_path):
    record = dict(np.load(golden.RECORD))
    record["nodes"][40] += 1
    record["bound"][80] = np.nextafter(record["bound"][80], np.inf)
    np.savez(tmp_path / "changed.npz", **record)
    first, second = golden.differences(step=40, path=tmp_path / "changed.npz")
    assert "nodes was" in first
    assert "bound was" in second
