"""Libraries that are not always there, and the sentence that names a missing one.

The core needs NumPy, SciPy, typer and rich; everything else is imported where it is used, inside
``with needed(...)``, so that a missing library is named together with the way to get it. Installing
it by its own name is right in a checkout and beside a wheel alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# Module: what to install, and the extra that has it.
_EXTRAS = {
    "dask": ("dask", "distributed"),
    "distributed": ("distributed", "distributed"),
    "formulaic": ("formulaic", "formula"),
    "joblib": ("joblib", "distributed"),
    "maketables": ("maketables", "tables"),
    "matplotlib": ("matplotlib", "plot"),
    "narwhals": ("narwhals", "frames"),
    "pandas": ("pandas", "frames"),
    "piqp": ("piqp", "separability"),
    "polars": ("polars", "frames"),
    "pyarrow": ("pyarrow", "frames"),
    "sklearn": ("scikit-learn", "sklearn"),
}


@contextmanager
def needed(what: str) -> Iterator[None]:
    """Imports inside name what is missing, and what for.

    >>> with needed("drawing"):
    ...     raise ModuleNotFoundError(name="matplotlib.pyplot")
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: drawing needs matplotlib: pip install matplotlib (extra: quadsweep[plot])
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(sentence(what, missing), name=missing.name) from None


def sentence(what: str, missing: ModuleNotFoundError) -> str:
    """What needs which library, and how to get it."""
    module = (missing.name or "a library").split(".")[0]
    package, extra = _EXTRAS.get(module, (module, ""))
    hint = f" (extra: quadsweep[{extra}])" if extra else ""
    return f"{what} needs {package}: pip install {package}{hint}"
