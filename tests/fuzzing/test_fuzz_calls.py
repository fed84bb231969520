"""A share of the sequences of calls, and proof that a wrong way is noticed."""

import fuzz_calls
import fuzz_runs
import numpy as np
import pytest


@pytest.mark.slow
def test_all_ways_give_one_answer_after_every_edit():
    assert fuzz_runs.tally(fuzz_calls.judge, 2026, range(60), {"with_dask": False}).wrong == []


@pytest.mark.slow
def test_a_way_that_forgets_an_edit_is_noticed(monkeypatch):
    old = {}
    ask = fuzz_calls.ask_solve

    def forgetful(step, *given, data=None, **more):
        if data is None or more:  # arrays, and what is out of core, are read anew
            return ask(step, *given, data=data, **more)
        return ask(step, *given, data=old.setdefault("frame", data))

    monkeypatch.setattr(fuzz_calls, "ask_solve", forgetful)
    for number in range(100):
        old.clear()
        steps = fuzz_calls.draw(np.random.default_rng([3, number]))
        steps = [step | {"dask": False} for step in steps]
        wrong = fuzz_calls.run(steps)
        if wrong is not None:
            break
    assert wrong is not None
    assert wrong.kind.startswith("solve, frame")
