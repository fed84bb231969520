"""Fitted models of pyfixest, fitted again to some rows of ``_data``, or of the table given.

pyfixest drops rows that are alone in a fixed effect, and columns that the others explain; it aborts
the process if no row is left, so that singletons are counted first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.inputs.equations import Equation
from quadsweep.inputs.fitted.adapter import (
    Adapter,
    FittedDesign,
    Undefined,
    complement,
    refuse_if,
    require_two_clusters,
    tabulate_figures,
)
from quadsweep.inputs.fitted.protocol import Figures
from quadsweep.inputs.standard_errors import HC, OWN, StandardErrors

_FUNCTIONS = ("feols", "fepois", "feglm-logit", "feglm-probit", "feglm-gaussian")
_BINARY = ("feglm-logit", "feglm-probit")
_OPTIONS = ("collin_tol", "drop_intercept", "solver", "demeaner", "context")
_EFFECT = re.compile(r"__fixed_effect__\((.*)\)")  # what pyfixest calls its codes
_MANY = 400  # levels of fixed effects that are taken out instead of being columns
_SMALL = 1e-7  # of a unit column without the effects: rounding


class Pyfixest(Adapter):
    """A model of feols, fepois or feglm."""

    library = "pyfixest"

    def __init__(self, model: Any, data: Any = None) -> None:
        super().__init__(model, data)
        kind, self.method = type(model).__name__, getattr(model, "_method", "")
        self.name = f"{kind} of pyfixest"
        refuse_if(
            (kind == "FixestMulti", f"{self.name}: several models were fitted at once; give one, "
             "as fits.fetch_model(0)"),
            (self.method not in _FUNCTIONS, f"{(self.method or kind).split('_')[0]} fits of "
             "pyfixest are not "
             f"supported; {', '.join(_FUNCTIONS[:2])} and feglm fits are"),
            (kind == "FeolsCompressed", f"{self.name} have no rows; fit with "
             "use_compression=False"),
            (data is None and not hasattr(model, "_X"), f"{self.name} fitted with lean=True has "
             "no table; fit it with lean=False"),
            (data is None and getattr(model, "_data", None) is None, f"{self.name} fitted with "
             "store_data=False has no table; give data= too"),
            (data is None and getattr(model, "_sample_split_var", None) is not None,
             f"{self.name} of a split sample does not know the places of its rows; give data= too"),
        )  # fmt: skip
        self._place_rows(data)
        self.clusters = list(model._clustervar) if model._is_clustered else []

    def _place_rows(self, data: Any) -> None:
        model = self.model
        if data is None:  # the rows used, and no others
            rows, used = model._data, np.arange(len(model._data))
            places = np.asarray(rows.index, dtype=np.int64)
            self.given = len(rows) + len(model._na_index)
            self.table = rows.reindex(range(self.given))
            self.index: Any = range(self.given)
        else:
            table = data.to_pandas() if hasattr(data, "to_pandas") else data
            variable, value = model._sample_split_var, model._sample_split_value
            missing = {int(i) for i in (*model._na_index, *np.asarray(model.na_index))}
            chosen = np.arange(len(table))
            if variable is None:
                self.require_length(table, model._N_rows + len(missing))
            if variable is not None:
                split = table[variable]
                chosen = np.flatnonzero(split == value if np.isscalar(value) else split.notna())
            rows = table.iloc[chosen].reset_index(drop=True)
            used = np.flatnonzero(complement(len(rows), sorted(missing)))
            places, self.given = chosen[used], len(table)
            self.index = list(table.index)
        self.frame, self.used = rows.copy(), used
        self.require_length(used, model._N_rows)
        weight = np.ones(len(used))
        if model._has_weights:
            weight = np.asarray(rows[model._weights_name], dtype=np.float64)[used]
        self.idle, self.live = np.flatnonzero(weight == 0), np.flatnonzero(weight != 0)
        self.weight = weight[self.live] if model._has_weights else None
        self.n, self.places = len(self.live), places[self.live]

    # ---- refits -----------------------------------------------------------------------------

    def fit(self, rows: Ints) -> Any:
        import pyfixest

        model, function = self.model, self.method.split("-")[0]
        self._require_rows(np.concatenate([self.idle, self.live[rows]]))
        given: dict[str, Any] = {key: getattr(model, f"_{key}") for key in _OPTIONS}
        vcov = model._vcov_type_detail
        lags = {key: getattr(model, f"_{key}", None) for key in ("lag", "time_id", "panel_id")}
        given |= {
            "vcov": {vcov: "+".join(self.clusters)} if self.clusters else vcov,
            "vcov_kwargs": {key: value for key, value in lags.items() if value is not None} or None,
            "ssc": model._ssc_dict,
            "fixef_rm": "singleton" if model._drop_singletons else "none",
        }
        if function != "feglm":
            given |= {"weights": model._weights_name, "weights_type": model._weights_type}
        if function == "fepois":
            given["offset"] = model._offset_name
        if function == "feglm":
            given["family"] = self.method.split("-")[1]
            given["accelerate"] = model._accelerate
        if function != "feols":
            given |= {"iwls_tol": model.tol, "iwls_maxiter": model.maxiter,
                      "separation_check": model.separation_check}  # fmt: skip
        table = self.frame[self._keep(rows)]
        return getattr(pyfixest, function)(model._fml, table, **given | self.chosen)

    def _keep(self, rows: Ints) -> Mask:
        """These rows of the table, those of weight zero, and those that the model left out."""
        kept = complement(len(self.frame), self.used[self.live])
        kept[self.used[self.live[rows]]] = True
        return kept

    def _require_rows(self, rows: Ints) -> None:
        from pyfixest.core.detect_singletons import detect_singletons

        model = self.model
        if self.clusters:
            require_two_clusters(self.frame[self.clusters].iloc[self.used[rows]])
        drops = model._has_fixef and model._drop_singletons
        if drops and detect_singletons(np.asarray(model._fe)[rows]).all():
            raise Undefined("every row left is alone in a fixed effect")

    def find_used(self, result: Any, rows: Ints) -> Ints:
        passed = np.flatnonzero(self._keep(rows))
        kept = passed[np.asarray(result._data.index, dtype=np.int64)]
        return rows[np.isin(self.used[self.live[rows]], kept)]

    def read_figures(self, result: Any) -> dict[str, Figures]:
        columns = (result._beta_hat, result._se, result._tstat, result._pvalue)
        normal = self.method in ("fepois", *_BINARY)
        return tabulate_figures(result._coefnames, columns, np.inf if normal else result._df_t)

    def approach_boundary(self, result: Any) -> float:
        if self.method not in ("fepois", *_BINARY):
            return 1.0
        mean = np.asarray(result._Y_hat_response, dtype=np.float64)
        if self.method == "fepois":
            return float(mean.min() / max(mean.mean(), 1e-300))
        return float(min(mean.min(), (1 - mean).min()))

    def must_identify(self, figures: Mapping[str, Figures]) -> bool:
        return any(str(name) not in figures for name in self.model._coefnames)

    def columns(self) -> Floats | None:
        return None

    def design(self, rows: Ints) -> FittedDesign:
        """The columns and the dummies of the effects; without the effects if these are many."""
        from pyfixest.estimation import demean
        from pyfixest.estimation.formula.model_matrix import create_model_matrix

        model, names = self.model, [str(name) for name in self.model._coefnames]
        made = create_model_matrix(
            model.FixestFormula, self.frame.iloc[self.used].copy(),
            drop_intercept=model._drop_intercept, context=model._context,
        )  # fmt: skip
        X = made.independent[names].to_numpy(dtype=np.float64)[self.live[rows]]
        outcome = "count" if self.method == "fepois" else "binary"
        outcome = outcome if self.method in ("fepois", *_BINARY) else ""
        y = np.asarray(model._Y_untransformed, dtype=np.float64).ravel()[self.live[rows]]
        if made.fixed_effects is None:
            return FittedDesign(names, X, outcome, y)
        effects = np.asarray(made.fixed_effects)[self.live[rows]]
        codes = np.column_stack([np.unique(e, return_inverse=True)[1] for e in effects.T])
        if int(codes.max(axis=0).sum()) <= _MANY:
            listed, columns = list(names), [X]
            for name, column in zip(made.fixed_effects.columns, codes.T, strict=True):
                levels = np.arange(column.max() + 1)
                columns.append((column[:, None] == levels).astype(np.float64))
                effect = _EFFECT.sub(r"\1", str(name))
                listed += [f"{effect}[{level}]" for level in levels]
            return FittedDesign(listed, np.column_stack(columns), outcome, y)
        unit = X / np.maximum(np.sqrt((X**2).sum(axis=0)), 1e-300)
        unit = demean(unit, codes.astype(np.uintp), np.ones(len(unit)), tol=1e-10)[0]
        unit[:, np.sqrt((unit**2).sum(axis=0)) < _SMALL] = 0.0
        return FittedDesign(names, unit)

    # ---- columns ----------------------------------------------------------------------------

    def equation(self) -> Equation:
        model, kind = self.model, type(self.model).__name__
        names = tuple(str(name) for name in model._coefnames)
        if kind not in ("Feols", "Feiv"):
            return self._linearize()
        refuse_if(
            (
                not hasattr(model, "_X"),
                f"{self.name} fitted with lean=True cannot be audited; fit it with lean=False",
            )
        )
        root = np.ones(1)
        if model._has_weights:
            with np.errstate(divide="ignore"):
                root = np.sqrt(np.asarray(model._weights, dtype=np.float64).ravel())[:, None]
        y = np.asarray(model._Y_untransformed, dtype=np.float64).ravel()[self.live]
        # Without the effects: that takes combinations of their own dummies from each column.
        with np.errstate(invalid="ignore", divide="ignore"):
            X = (np.asarray(model._X, dtype=np.float64) / root)[self.live]
        more: dict[str, Any] = {}
        if kind == "Feiv":
            exogenous = [str(name) for name in model._coefnames_z]
            endogenous = [name for name in names if name not in exogenous]
            Z = (np.asarray(model._Z, dtype=np.float64) / root)[self.live]
            outside = [j for j, name in enumerate(exogenous) if name not in names]
            if len(endogenous) == len(outside) == 1:
                more["endogenous"] = endogenous[0]
                more["instruments"] = tuple((exogenous[j], Z[:, j]) for j in outside)
            else:  # removals by the second stage, confirmed by refits
                square = 1.0 if self.weight is None else np.sqrt(self.weight)[:, None]
                at = [names.index(name) for name in endogenous]
                X[:, at] = Z @ np.linalg.lstsq(square * Z, square * X[:, at], rcond=None)[0]
                more["working"] = y
        return Equation(
            str(model._depvar), y, names, X, self.places, self.given, self.row_names, self.table,
            absorbed=self._list_effects(), weights=self.weight, errors=self._read_errors(),
            model=self, **more,
        )  # fmt: skip

    def _linearize(self) -> Equation:
        """A regression that has the coefficients of fepois or feglm, or nearly."""
        model, rows = self.model, self.live
        every = self.design(np.arange(self.n))
        y = np.asarray(model._Y_untransformed, dtype=np.float64).ravel()[rows]
        line = np.asarray(model._Y_hat_link, dtype=np.float64).ravel()[rows]
        mean = np.asarray(model._Y_hat_response, dtype=np.float64).ravel()[rows]
        rate = {"fepois": mean, "feglm-logit": mean * (1 - mean)}.get(self.method)
        spread = rate
        if self.method == "feglm-probit":
            rate, spread = np.exp(-line * line / 2) / np.sqrt(2 * np.pi), mean * (1 - mean)
        rate = np.ones(self.n) if rate is None else np.maximum(rate, 1e-9)
        weight = rate if spread is None else rate * rate / np.maximum(spread, 1e-9)
        weight = weight if self.weight is None else weight * self.weight
        kind = str(model._vcov_type_detail)
        by = f"{kind} by {' and '.join(self.clusters)}" if self.clusters else kind
        return Equation(
            str(model._depvar), y, tuple(every.names), every.X, self.places, self.given,
            self.row_names, self.table, weights=weight,
            errors=StandardErrors(OWN, by=by, normal=self.method != "feglm-gaussian"),
            model=self, working=line + (y - mean) / rate,
        )  # fmt: skip

    def _list_effects(self) -> tuple[tuple[str, Any], ...]:
        """Names and codes of the effects in the order of the formula; the model's own changes."""
        model = self.model
        if not model._has_fixef:
            return ()
        written = [each.strip() for each in str(model._fixef).split("+")]
        names = [_EFFECT.sub(r"\1", str(name)) for name in model._fe.columns]
        codes = np.asarray(model._fe)[self.live].T
        places = {name: j for j, name in enumerate(written)}
        found = zip(names, codes, strict=True)
        return tuple(sorted(found, key=lambda e: (places.get(e[0], len(places)), e[0])))

    def _read_errors(self) -> StandardErrors:
        model = self.model
        kind, ssc = str(model._vcov_type_detail), model._ssc_dict
        known: dict[str, Any] = {
            "k_adj": bool(ssc["k_adj"]),
            "g_adj": bool(ssc["G_adj"]),
            "effects": str(ssc["k_fixef"]) if model._has_fixef else "full",
            "singletons": not model._drop_singletons,
        }
        if model._has_weights and model._weights_type != "aweights":
            return StandardErrors(OWN, by=f"{kind} frequency-weighted")
        if kind == "iid":
            return StandardErrors(**known)
        if kind in (*HC, "hetero"):
            return StandardErrors("HC1" if kind == "hetero" else kind, **known)
        if kind != "CRV1":
            return StandardErrors(OWN, by=kind)
        labels = tuple(np.asarray(model._cluster_df[name])[self.live] for name in self.clusters)
        return StandardErrors(
            "cluster", labels, " and ".join(self.clusters), g_min=ssc["G_df"] == "min", **known
        )
