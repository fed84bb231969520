"""Fitted models of linearmodels, fitted again to some of their rows.

Its models keep the columns of the rows they used, in the order of the user's table, and no table:
transforms of a formula cannot be computed anew. The options of the errors are kept by the estimator
that a result calls late; several options of ``fit`` are not kept and are found by trying.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.inputs.equations import Equation
from quadsweep.inputs.fitted.adapter import (
    Adapter,
    FittedDesign,
    Options,
    refuse_if,
    require_two_clusters,
    slice_rows,
    tabulate_figures,
)
from quadsweep.inputs.fitted.protocol import Figures
from quadsweep.inputs.standard_errors import OWN, StandardErrors

_PANEL = (
    "PanelOLS", "PooledOLS", "RandomEffects", "BetweenOLS", "FirstDifferenceOLS", "FamaMacBeth",
)  # fmt: skip
_INSTRUMENTS = ("IV2SLS", "IVLIML", "IVGMM")
_SEARCHED = ("PanelOLS", "PooledOLS", "AbsorbingLS")
_ERRORS = {
    "HomoskedasticCovariance": "unadjusted", "HeteroskedasticCovariance": "robust",
    "ClusteredCovariance": "clustered", "DriscollKraay": "driscoll-kraay",
    "ACCovariance": "autocorrelated",
}  # fmt: skip
_STATEFUL = re.compile(r"\b(center|scale|poly|bs|cr|cc|cs|lag)\(")
_MANY = 400  # levels of effects that are not columns


class Linearmodels(Adapter):
    """A panel model, an instrumental variables model or AbsorbingLS."""

    library = "linearmodels"
    joint_figures = ("stat", "pval")

    def __init__(self, result: Any, data: Any = None) -> None:
        super().__init__(result, data)
        model: Any = getattr(result, "model", None)
        self.fitted, self.kind = model, type(model).__name__
        self.name = f"{self.kind} results of linearmodels"
        refuse_if(
            (self.kind not in (*_PANEL, *_INSTRUMENTS, "AbsorbingLS"), f"{self.name} are not "
             f"supported; results of {', '.join((*_PANEL, *_INSTRUMENTS))} and AbsorbingLS are"),
            (_STATEFUL.search(str(getattr(model, "formula", None) or "")), f"{self.name}: the "
             "library keeps no table to compute the formula's transforms from; make the columns "
             "first"),
        )  # fmt: skip
        self.is_panel = self.kind in _PANEL
        self.frame = model.dependent.dataframe if self.is_panel else model.dependent.pandas
        self.n, index = len(self.frame), model._original_index
        self.given, self.index = len(index), list(index)
        used = model._not_null if self.is_panel else ~np.asarray(model._drop_locs)
        self.places = np.flatnonzero(used)
        alone = getattr(model, "_singleton_index", None)
        if alone is not None:
            self.places = self.places[~np.asarray(alone)]
        if data is None and self.is_panel:
            self.table = self.frame.join(model.exog.dataframe).reindex(index)
        elif data is not None:
            self.require_length(data, self.given)

    # ---- refits -----------------------------------------------------------------------------

    def fit(self, rows: Ints) -> Any:
        words = {key: value for key, value in self.chosen.items() if value is not None}
        words = {**self._list_errors(rows), **words}
        if self.chosen.get("bandwidth", 0) is None:
            words.pop("bandwidth", None)
        if self.is_panel:
            return self._make_panel(rows).fit(**words)
        made = self._make_absorbing if self.kind == "AbsorbingLS" else self._make_instruments
        return made(rows).fit(**words)

    def _make_panel(self, rows: Ints) -> Any:
        model = self.fitted
        options: Options = {"check_rank": model._check_rank}
        options["weights"] = model.weights.dataframe.iloc[rows]
        if self.kind == "PanelOLS":
            for key in ("entity_effects", "time_effects", "singletons", "drop_absorbed"):
                options[key] = getattr(model, f"_{key}")
            if model._other_effects:
                options["other_effects"] = model._other_effect_cats.dataframe.iloc[rows]
        return type(model)(self.frame.iloc[rows], model.exog.dataframe.iloc[rows], **options)

    def _make_absorbing(self, rows: Ints) -> Any:
        import pandas as pd

        model = self.fitted
        absorbed = [model._absorb_inter.cat, model._absorb_inter.cont]
        parts = [part.iloc[rows] for part in absorbed if part.shape[1]]
        products = [
            type(each)(*(p.iloc[rows] if p.shape[1] else None for p in (each.cat, each.cont)))
            for each in model._interaction_list
        ]
        options: Options = {"drop_absorbed": model._drop_absorbed}
        if model._is_weighted:
            options["weights"] = model._weight_data.ndarray[rows]
        return type(model)(
            self.frame.iloc[rows], model.exog.pandas.iloc[rows], interactions=products or None,
            absorb=pd.concat(parts, axis=1) if parts else None, **options,
        )  # fmt: skip

    def _make_instruments(self, rows: Ints) -> Any:
        model = self.fitted
        parts = [
            part.pandas.iloc[rows] if part.shape[1] else None
            for part in (model.dependent, model.exog, model.endog, model.instruments)
        ]
        options: Options = {"weights": model.weights.ndarray[rows]}
        if self.kind == "IVLIML":
            options |= {"fuller": model._fuller, "kappa": model._kappa}
        if self.kind == "IVGMM":
            kept = model._weight_kwargs.items()
            options |= {key: slice_rows(value, rows, self.n) for key, value in kept}
            options["weight_type"] = model._weight_type
        return type(model)(*parts, **options)

    def _list_errors(self, rows: Ints) -> Options:
        """The options of the standard errors, on some rows."""
        words: Options = {}
        if self.is_panel:
            made = self.model._deferred_cov.__self__
            for key in ("kernel", "bandwidth", "group_debias", "clusters"):
                if getattr(made, f"_{key}", None) is not None:
                    words[key] = getattr(made, f"_{key}")
            words["cov_type"] = _ERRORS.get(type(made).__name__, "kernel")
            if self.kind == "FamaMacBeth" and words.get("bandwidth") == 0:
                words = {"cov_type": "unadjusted"}
            if getattr(made, "_extra_df", 0) and self.kind != "PanelOLS":
                words["extra_df"] = made._extra_df
        else:
            words = {**self.model.cov_config, "cov_type": self.model._cov_type}
            words.pop("kappa", None)
        if words.get("clusters") is not None:
            labels = self._spread_clusters(np.asarray(words["clusters"]))[rows]
            require_two_clusters(labels)
            words["clusters"] = labels
            if self.is_panel:
                words["clusters"] = type(self.frame)(labels, index=self.frame.index[rows])
        return {**words, "debiased": self.model._debiased}

    def _spread_clusters(self, clusters: Any) -> Any:
        """Labels of the rows: those of entities, or of differences, by row."""
        labels, index = clusters.reshape(len(clusters), -1), self.frame.index
        if self.kind == "BetweenOLS":
            return labels[index.get_level_values(0).factorize()[0]]
        if self.kind != "FirstDifferenceOLS":
            return labels
        differences = self.fitted.dependent.first_difference().index
        by_row = type(self.frame)(labels, index=differences).reindex(index).groupby(level=0)
        return by_row.bfill().groupby(level=0).ffill().fillna(-1).to_numpy(dtype=np.int64)

    def list_trials(self) -> Iterable[Options]:
        trials: list[Options] = [{}]
        made = getattr(self.model, "iterations", 0)
        if self.kind == "PanelOLS" and self.fitted._has_effect:
            pairs = ((True, True), (False, True), (False, False))
            trials = [{"auto_df": auto, "count_effects": count} for auto, count in pairs]
        elif self.kind == "RandomEffects":
            trials = [{"small_sample": False}, {"small_sample": True}]
        elif self.kind == "BetweenOLS":
            trials = [{"reweight": False}, {"reweight": True}]
        elif self.kind == "IVGMM" and made:  # the steps made are kept, their limit is not
            trials = [{"iter_limit": limit} for limit in ((made,) if made <= 2 else (1000, made))]
        width = self._list_errors(np.arange(self.n)).get("bandwidth")  # given, or found
        if width is None:
            return trials
        return [{**trial, "bandwidth": each} for trial in trials for each in (None, width)]

    def read_figures(self, result: Any) -> dict[str, Figures]:
        columns = (result.params, result.std_errors, result.tstats, result.pvalues)
        df = result.df_resid if result._debiased else np.inf
        return tabulate_figures(result.params.index, columns, df)

    def find_used(self, result: Any, rows: Ints) -> Ints:
        alone = getattr(result.model, "_singleton_index", None)
        return rows if alone is None else rows[~np.asarray(alone)]

    def must_identify(self, figures: Mapping[str, Figures]) -> bool:
        unchecked = self.is_panel and not self.fitted._check_rank
        return unchecked or any(term not in figures for term in self.terms)

    @cached_property
    def effects(self) -> tuple[tuple[str, Ints], ...]:
        """Names and codes of what is absorbed."""
        model, found = self.fitted, []
        if self.kind == "AbsorbingLS":
            table = model._absorb_inter.cat
            found = [(str(name), table[name]) for name in table.columns]
        elif self.kind == "PanelOLS":
            names = self._name_levels()
            if model.entity_effects:
                found.append((names[0], model.dependent.entity_ids.ravel()))
            if model.time_effects:
                found.append((names[1], model.dependent.time_ids.ravel()))
            if model.other_effects:
                table = model._other_effect_cats.dataframe
                found += [(str(name), table[name]) for name in table.columns]
        codes = ((name, np.unique(np.asarray(c), return_inverse=True)[1]) for name, c in found)
        return tuple((name, each.astype(np.int64)) for name, each in codes)

    def _name_levels(self) -> tuple[str, str]:
        names = self.frame.index.names
        return str(names[0] or "entity"), str(names[1] or "time")

    def design(self, rows: Ints) -> FittedDesign | None:
        if (
            self.kind not in ("PanelOLS", "PooledOLS")
            or sum(int(codes.max()) + 1 for _, codes in self.effects) > _MANY
        ):
            return None
        X = np.asarray(self.fitted.exog.values2d, dtype=np.float64)[rows]
        names, columns = [str(name) for name in self.fitted.exog.vars], [X]
        for name, codes in self.effects:
            levels = np.arange(codes.max() + 1)
            columns.append((codes[rows][:, None] == levels).astype(np.float64))
            names += [f"{name}[{level}]" for level in levels]
        return FittedDesign(names, np.column_stack(columns))

    # ---- columns ----------------------------------------------------------------------------

    def equation(self) -> Equation:
        if self.kind in _INSTRUMENTS:
            return self._instrumented()
        model = self.fitted
        if self.kind == "AbsorbingLS":
            refuse_if((model._interaction_list or model._absorb_inter.cont.shape[1], f"{self.name} "
                       "cannot be audited with absorbed products or numbers; with absorbed "
                       "categories they can"))  # fmt: skip
            y, X, outcome = model.dependent.ndarray, model.exog.ndarray, model.dependent.cols[0]
            names = model.exog.cols
            weights = model._weight_data.ndarray if model._is_weighted else np.ones(1)
        else:
            y, X, outcome = model.dependent.values2d, model.exog.values2d, model.dependent.vars[0]
            names, weights = model.exog.vars, model.weights.values2d
        outcomes = np.asarray(y, dtype=np.float64).ravel()
        searched = self.kind in _SEARCHED
        return Equation(
            str(outcome), outcomes,
            tuple(str(name) for name in names), np.asarray(X, dtype=np.float64), self.places,
            self.given, self.row_names, self.table, absorbed=self.effects,
            weights=_list_weights(weights), errors=self._read_errors(), model=self,
            working=None if searched else outcomes,
        )  # fmt: skip

    def _instrumented(self) -> Equation:
        model = self.fitted
        endogenous = [str(name) for name in model.endog.cols]
        exact = model.instruments.shape[1] == len(endogenous) <= 1
        altered = self.kind == "IVLIML" and (model._fuller or model._kappa is not None)
        parts = [part for part in (model.exog, model.endog) if part.shape[1]]
        columns = [np.asarray(part.ndarray, dtype=np.float64) for part in parts]
        X, Z = np.hstack(columns), np.asarray(model.instruments.ndarray, dtype=np.float64)
        y = np.asarray(model.dependent.ndarray, dtype=np.float64).ravel()
        more: dict[str, Any] = {}
        if altered or not exact:  # removals by the second stage, confirmed by refits
            root = np.sqrt(np.asarray(model.weights.ndarray, dtype=np.float64).reshape(-1, 1))
            given, ends = np.split(X, [X.shape[1] - len(endogenous)], axis=1)
            first = np.hstack([given, Z])
            ends = first @ np.linalg.lstsq(root * first, root * ends, rcond=None)[0]
            X = np.hstack([given, ends])
            more["working"] = y
        else:
            more["endogenous"] = endogenous[0] if endogenous else None
            names = enumerate(model.instruments.cols)
            more["instruments"] = tuple((str(name), Z[:, j]) for j, name in names)
        return Equation(
            str(model.dependent.cols[0]), y,
            tuple(str(name) for part in parts for name in part.cols), X,
            self.places, self.given, self.row_names, self.table, **more,
            weights=_list_weights(model.weights.ndarray), errors=self._read_errors(), model=self,
        )  # fmt: skip

    def _read_errors(self) -> StandardErrors:
        result, debiased = self.model, bool(self.model._debiased)
        made = result._deferred_cov.__self__ if self.is_panel else result._cov_estimator
        kind = type(made).__name__
        own = StandardErrors(OWN, by=str(_ERRORS.get(kind, "kernel")), normal=not debiased)
        more = not self.is_panel and dict(result.cov_config).get("extra_df")
        if kind not in list(_ERRORS)[:3] or more or self.kind not in (
            "PanelOLS", "PooledOLS", "IV2SLS"
        ):  # fmt: skip
            return own
        if not debiased and (self.effects or (not self.is_panel and "Homo" in kind)):
            return own
        known = StandardErrors(
            k_adj=debiased,
            g_adj=debiased,
            normal=not debiased,
            cluster_freedom=False,
            singletons=self.kind != "PanelOLS" or bool(self.fitted._singletons),
        )
        return _as_known(known, kind, made, self)

    def name_clusters(self, labels: Ints) -> str:
        """The name of the variable that has these groups, if it is one of the index."""
        if self.is_panel:
            for name, level in zip(self._name_levels(), (0, 1), strict=True):
                values = self.frame.index.get_level_values(level)
                pairs = set(zip(values.tolist(), labels.tolist(), strict=True))
                if len(pairs) == len(set(labels.tolist())) == len(set(values.tolist())):
                    return name
        return "its clusters"


def _as_known(known: StandardErrors, kind: str, made: Any, adapter: Linearmodels) -> StandardErrors:
    """Errors in the words of the search."""
    if kind == "HomoskedasticCovariance":
        return known
    if kind == "HeteroskedasticCovariance":
        return replace(known, kind="HC1" if known.k_adj else "HC0")
    clusters = np.asarray(made._clusters)
    labels = tuple(clusters.reshape(len(clusters), -1).T)
    by = " and ".join(dict.fromkeys(adapter.name_clusters(each) for each in labels))
    clustered = replace(known, kind="cluster", clusters=labels, by=by)
    if not adapter.is_panel:
        return clustered
    return replace(
        clustered,
        g_adj=bool(made._group_debias),
        k_only=not made._group_debias,
        effects="full" if made._extra_df else "nonnested",
        nested_each=int(bool(adapter.fitted.has_constant)),
    )


def _list_weights(weights: Any) -> Floats | None:
    column = np.asarray(weights, dtype=np.float64).ravel()
    return None if np.all(column == 1) else column
