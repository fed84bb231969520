"""Which adapter fits a model again."""

from __future__ import annotations

from typing import Any

from quadsweep.inputs.fitted.adapter import Adapter
from quadsweep.inputs.fitted.from_linearmodels import Linearmodels
from quadsweep.inputs.fitted.from_pyfixest import Pyfixest
from quadsweep.inputs.fitted.from_statsmodels import Statsmodels
from quadsweep.inputs.fitted.protocol import Refused

ADAPTERS: dict[str, type[Adapter]] = {
    each.library: each for each in (Statsmodels, Pyfixest, Linearmodels)
}


def adapt(model: Any, data: Any = None, **fit_options: Any) -> Adapter:
    """A fitted model as one that can be fitted again to some of its rows.

    Parameters
    ----------
    model : a fitted model of statsmodels, pyfixest or linearmodels.
    data : the table that the model was given, where the library does not keep it, or for its names.
    fit_options : options of the fit that the library does not keep.

    Raises
    ------
    Refused
        If a fit to all rows does not return the figures that the model states.
    """
    adapter = choose_adapter(model, data)
    adapter.check(fit_options)
    return adapter


def choose_adapter(model: Any, data: Any = None) -> Adapter:
    """The adapter of the model's library, before the check on all rows."""
    library = type(model).__module__.split(".")[0]
    if library not in ADAPTERS:
        raise Refused(f"{type(model).__name__} of {library} cannot be audited; results of "
                      f"{', '.join(ADAPTERS)} can")  # fmt: skip
    try:
        return ADAPTERS[library](model, data)
    except AttributeError as error:  # another release of the library keeps it elsewhere
        raise Refused(f"{type(model).__name__} of {library}: {error}") from error
