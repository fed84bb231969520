"""Products of small matrices by one thread of the linear algebra library.

It splits each of thousands of small products among its threads and waits for all of them: alone on
a machine that gains nothing, and beside other work a wait for the processor is part of every
product (`concentrate` on 50,000 rows and 5 predictors: 0.2 s with one thread, 20 s with two beside
two busy processes). Where threadpoolctl is installed, which scikit-learn brings along, it is asked
for one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Around whatever multiplies many small matrices."""
    libraries = _libraries()
    if libraries is None:
        yield
    else:
        with libraries.limit(limits=1, user_api="blas"):
            yield


@cache
def _libraries() -> Any:
    """Those loaded, or None where nobody knows how to ask them; SciPy's is loaded before."""
    import scipy.linalg  # noqa: F401

    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:
        return None
    return ThreadpoolController()
