"""The answers of every search are those on record, to the last bit."""

from __future__ import annotations

import platform

import golden
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"),
    reason="the records are of x86-64 on Linux",
)
EVERY_SEARCH = pytest.mark.parametrize("name", golden.SEARCHES)


@EVERY_SEARCH
def test_every_twentieth_answer_is_as_recorded(name):
    with golden.instruction_set("baseline"):
        assert list(golden.differences(name, step=20)) == []


@EVERY_SEARCH
@pytest.mark.slow
def test_every_answer_is_as_recorded(name):
    with golden.instruction_set("baseline"):
        assert list(golden.differences(name)) == []


@EVERY_SEARCH
@pytest.mark.slow
def test_every_third_answer_with_wider_registers_is_as_recorded(name):
    with golden.instruction_set("avx2"):
        assert list(golden.differences(name, step=3)) == []


@EVERY_SEARCH
def test_a_difference_is_seen_and_named(name, tmp_path):
    record = dict(np.load(golden.path_of(name)))
    finite = next(i for i in range(200, 2000, 100) if np.isfinite(record["bound"][i]))
    record["status"][100] ^= 1
    record["bound"][finite] = np.nextafter(record["bound"][finite], np.inf)
    record["rows"][finite] ^= 1
    np.savez(tmp_path / "changed.npz", **record)
    with golden.instruction_set("baseline"):
        told = list(golden.differences(name, step=100, path=tmp_path / "changed.npz"))
    assert ["status was" in told[0], "bound was" in told[1], "rows was" in told[2]] == [True] * 3
    assert len(told) == 3
