"""Fitted models of statsmodels, fitted again to some of their rows.

By formula, the formula is evaluated anew on the rows kept of ``model.data.frame``, as a user would
who deletes rows; where it uses functions that are gone, the columns stay as computed from all rows,
and ``assumed`` says so. Rows that the model left out (missing values, weights of zero) stay in.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable
from itertools import product
from typing import Any, ClassVar

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.inputs.equations import Equation
from quadsweep.inputs.fitted.adapter import (
    Adapter,
    FittedDesign,
    Options,
    complement,
    refuse_if,
    require_two_clusters,
    slice_rows,
    tabulate_figures,
)
from quadsweep.inputs.fitted.protocol import Figures
from quadsweep.inputs.standard_errors import HC, KNOWN, OWN, StandardErrors

_OWN = {  # the arguments of each model that are not among its initial keywords
    "OLS": (), "WLS": ("weights",), "GLS": ("sigma",), "RLM": ("M",), "QuantReg": (), "GLM": (),
    "Logit": (), "Probit": (), "Poisson": (), "NegativeBinomial": (),
}  # fmt: skip
_DERIVED = {"formula", "model_spec", "missing_idx", "n_trials", "weights", "cholsigmainv"}
_SETTINGS = ("maxiter", "tol", "gtol", "xtol", "ftol", "pgtol", "factr", "norm", "maxfun")
_BINARY, _COUNTS = ("Binomial", "Logit", "Probit"), ("Poisson", "NegativeBinomial")
_RLM_STEPS = 50  # the library's default; it never says that they were too few


class Statsmodels(Adapter):
    """OLS, WLS, GLS, GLM, Logit, Probit, Poisson, NegativeBinomial, RLM or QuantReg."""

    library = "statsmodels"
    joint_options: ClassVar[Options] = {"scalar": True}

    def __init__(self, result: Any, data: Any = None) -> None:
        super().__init__(result, data)
        model: Any = getattr(result, "model", None)
        self.fitted: Any = model
        self.kind = type(model).__name__
        # Restricted fits hold the fit that was made in another result.
        self.inner = getattr(result, "results_constrained", result)
        self.family = type(model.family).__name__ if self.kind == "GLM" else self.kind
        self.name = _describe(result, model)
        self._refuse()
        self.frame: Any = getattr(model.data, "frame", None)
        self.X = np.array(model.exog, dtype=np.float64)
        self.y = np.array(model.data.endog)  # both columns of counts; model.endog has their share
        self.column_names = [str(name) for name in model.exog_names][: len(result.params)]
        self.scale = getattr(model, "scaletype", None)  # later fits of the model change it
        self.init = {k: v for k, v in model._get_init_kwds().items() if k not in _DERIVED}
        self.init |= {key: getattr(model, key) for key in _OWN[self.kind]}
        self._place_rows(data)
        self._choose_formula()

    def _refuse(self) -> None:
        kind, made = self.kind, type(getattr(self.model, "_results", self.model))
        kept = getattr(self.inner, "mle_retvals", None) or {}
        converged = getattr(self.inner, "converged", True) and kept.get("converged", True)
        refuse_if(
            (kind not in _OWN or not hasattr(self.model, "params"),
             f"{self.name} are not supported; give results of {', '.join(_OWN)}"),
            ("Regularized" in made.__name__ or "L1" in made.__name__ or not hasattr(made, "bse"),
             f"{self.name} are penalised and have no such standard errors; fit the model with "
             "fit()"),
            (getattr(self.fitted, "exog", None) is None or self.fitted.endog is None,
             f"{self.name} have no data after remove_data(); fit the model again"),
            (converged is False, f"{self.name}: the model did not converge; raise maxiter"),
        )  # fmt: skip

    def _place_rows(self, data: Any) -> None:
        """Find the rows in the table that was given: the one before ``subset=`` if it is here."""
        model, n = self.fitted, len(self.X)
        gone = getattr(model.data, "missing_row_idx", None)
        used = np.flatnonzero(complement(n + (0 if gone is None else len(gone)), gone or []))
        self.used = used  # in the frame
        self.given = n if self.frame is None else len(self.frame)
        self.given = max(self.given, int(used.max()) + 1)
        index = getattr(model.data, "row_labels", None) if self.frame is None else self.frame.index
        self.table, places = self.frame, used
        if data is not None:
            if self.frame is not None and len(data) != len(self.frame):
                places = _locate(self.frame.index, data)[used]
            else:
                self.require_length(data, self.given)
            self.table, self.given, index = data, len(data), getattr(data, "index", None)
        self.index = list(range(self.given)) if index is None else list(index)
        weights = [self.init.get(key) for key in ("weights", "freq_weights", "var_weights")]
        idle = np.zeros(n, dtype=bool)
        for weight in weights:
            idle |= np.zeros(n, dtype=bool) if weight is None else np.asarray(weight) == 0
        self.idle, self.live = np.flatnonzero(idle), np.flatnonzero(~idle)
        self.n, self.places = len(self.live), places[self.live]

    def _choose_formula(self) -> None:
        """Keep the formula if it gives the columns again."""
        names = [str(name) for name in self.fitted.exog_names]
        self.formula = getattr(self.fitted, "formula", None) if self.frame is not None else None
        self.drop_cols: list[str] = []
        if self.formula is None:
            return
        self.frame = self.frame.copy()
        try:
            again = self._make_model(np.arange(len(self.X)))
            self.drop_cols = [name for name in again.exog_names if name not in names]
        except Exception:  # a function of the user's that is gone, or a matrix by row
            self.formula = None
            self.assumed += ("columns stay as computed from all rows",)

    # ---- refits -----------------------------------------------------------------------------

    def _make_model(self, rows: Ints) -> Any:
        # A Binomial family remembers the counts of its last model: each model has its own.
        init = {k: copy.deepcopy(v) if k == "family" else v for k, v in self.init.items()}
        make, n = type(self.fitted), len(self.X)
        if self.formula is None:
            init = {key: slice_rows(value, rows, n) for key, value in init.items()}
            return make(self.y[rows], self.X[rows], **init)
        # patsy computes transforms from the rows with missing values, too.
        kept = complement(len(self.frame), self.used)
        kept[self.used[rows]] = True
        for key, value in init.items():
            if np.ndim(value) > 0:
                by_row = np.full(len(kept), np.nan)
                by_row[self.used] = value
                init[key] = by_row[kept]
        scope: dict[str, Any] = {"np": np}
        for factor in getattr(self.fitted.data.model_spec, "factor_infos", {}).values():
            for names in reversed(getattr(factor.state.get("eval_env"), "_namespaces", [])):
                scope.update(names)
        return make.from_formula(
            self.formula, self.frame[kept], eval_env=scope, drop_cols=self.drop_cols, **init
        )

    def fit(self, rows: Ints) -> Any:
        rows = np.sort(np.concatenate([self.idle, self.live[rows]]))
        model, result = self._make_model(rows), self.model
        if self.kind == "QuantReg":
            return model.fit(q=result.q, **self.chosen)
        if self.kind == "RLM":
            kept = {key: result.fit_options[key] for key in ("cov", "conv", "scale_est")}
            return model.fit(**kept, **self.chosen)
        if self.inner is not result:  # other standard errors than the usual fail the check
            quiet = {} if self.kind == "GLM" else {"disp": 0}
            with contextlib.redirect_stdout(None):  # it prints all the same
                return model.fit_constrained(
                    (result.constraints.coefs, result.constraints.constants), **quiet
                )
        errors = self._list_errors(rows)
        if self.kind == "GLM":
            return model.fit(method=result.method, scale=self.scale, **errors, **self.chosen)
        settings = getattr(result, "mle_settings", None)
        if settings:
            errors |= {"method": settings["optimizer"], "disp": 0}
            errors |= {key: settings[key] for key in _SETTINGS if key in settings}
        return model.fit(**errors)

    def _list_errors(self, rows: Ints) -> Options:
        kind, kept = self.model.cov_type, dict(self.model.cov_kwds or {})
        freedom = kept.pop("adjust_df", None)
        words = {
            key: slice_rows(value, rows, len(self.X)) for key, value in kept.items()
            if value is not None and key not in ("description", "use_t")
        }  # fmt: skip
        if kind.lower().startswith(("cluster", "hac-")):
            words["df_correction"] = freedom
            require_two_clusters(words.get("groups", words.get("time")))
        return {"cov_type": kind, "cov_kwds": words or None, "use_t": self.model.use_t}

    def list_trials(self) -> Iterable[Options]:
        if self.kind == "GLM" and self.inner is self.model:
            return [{"tol": tol} for tol in (1e-8, 1e-10, 1e-12, 1e-14)]
        if self.kind == "RLM":
            return [{"update_scale": True}, {"update_scale": False}]
        if self.kind != "QuantReg":
            return [{}]
        kernels = ("epa", "biw", "cos", "gau", "par")
        widths = ("hsheather", "bofinger", "chamberlain")
        return [
            {"vcov": vcov, "kernel": kernel, "bandwidth": width}
            for vcov, kernel, width in product(("robust", "iid"), kernels, widths)
        ]

    def read_figures(self, result: Any) -> dict[str, Figures]:
        names = self.column_names if self.formula is None else list(result.model.exog_names)
        df = np.inf
        if result.use_t:
            df = getattr(result, "df_resid_inference", None) or result.df_resid
        columns = (result.params, result.bse, result.tvalues, result.pvalues)
        return tabulate_figures(names, columns, df)

    def find_failure(self, result: Any) -> str:
        converged = getattr(getattr(result, "results_constrained", result), "converged", True)
        if self.kind == "RLM":
            converged = result.fit_history["iteration"] < _RLM_STEPS
        return "" if converged else "the fit did not converge"

    def approach_boundary(self, result: Any) -> float:
        if self.family not in _BINARY + _COUNTS:
            return 1.0
        mean = np.asarray(result.predict(), dtype=np.float64)
        if self.family in _COUNTS:  # of a mean count, in units of the mean
            return float(mean.min() / max(mean.mean(), 1e-300))
        return float(min(mean.min(), (1 - mean).min()))

    def design(self, rows: Ints) -> FittedDesign:
        rows = self.live[rows]
        X, names = self.X[rows], self.column_names[: self.X.shape[1]]
        if self.family in _BINARY + _COUNTS:
            outcome = "binary" if self.family in _BINARY else "count"
            return FittedDesign(names, X, outcome, np.asarray(self.fitted.endog, np.float64)[rows])
        return FittedDesign(names, X)

    # ---- columns ----------------------------------------------------------------------------

    def equation(self) -> Equation:
        link = self._find_link()
        working, weights = None, self._find_weights()
        if link is None:
            link, (working, weights) = "", self._linearize()
        y = np.asarray(self.fitted.endog, dtype=np.float64)
        names = self.column_names[: self.X.shape[1]]
        return Equation(
            str(self.fitted.endog_names), y[self.live], tuple(names), self.X[self.live],
            self.places, self.given, self.row_names, self.table, weights=weights,
            errors=self._read_errors(link, working is not None), link=link, model=self,
            working=working,
        )  # fmt: skip

    def _find_link(self) -> str | None:
        """``logit``, ``poisson``, "" of least squares; None where there is no search."""
        kind, family = self.kind, getattr(self.fitted, "family", None)
        if family is not None:
            pair = type(family).__name__, type(family.link).__name__
            kind = {("Binomial", "Logit"): "Logit", ("Poisson", "Log"): "Poisson",
                    ("Gaussian", "Identity"): "OLS"}.get(pair, "")  # fmt: skip
        cannot = f"{self.name} cannot be audited"
        refuse_if(
            (self.inner is not self.model,
             f"{cannot} with constraints; without them they can"),
            (kind == "GLS" and np.ndim(self.fitted.sigma) == 2,
             f"{cannot} with a full covariance; with one variance a row they can"),
            (self.kind == "NegativeBinomial",
             f"{cannot}; GLM results with the family NegativeBinomial(alpha=...) can"),
        )  # fmt: skip
        if self._has_offset():
            return None
        links = {"OLS": "", "WLS": "", "GLS": "", "Logit": "logit", "Poisson": "poisson"}
        return links.get(kind)

    def _linearize(self) -> tuple[Floats, Floats]:
        """Outcome and weights of a regression that has the model's coefficients, or nearly, and
        whose influences are those of one step of Newton's method."""
        model, beta = self.fitted, np.asarray(self.model.params, dtype=np.float64)
        line = self.X @ beta
        rest = np.asarray(model.endog, dtype=np.float64) - line
        if self.kind == "RLM":
            score, weight = np.asarray(self.model.weights) * rest, np.asarray(self.model.weights)
        elif self.kind == "QuantReg":
            score = float(np.abs(rest).mean()) * (self.model.q - (rest < 0))
            weight = np.ones(len(rest))
        else:
            score, weight = model.score_factor(beta), np.abs(model.hessian_factor(beta))
        weight = np.maximum(np.asarray(weight, dtype=np.float64), 1e-9 * np.max(weight))
        return (line + np.asarray(score) / weight)[self.live], weight[self.live]

    def _has_offset(self) -> bool:
        columns = (getattr(self.fitted, name, None) for name in ("offset", "exposure"))
        return any(column is not None and np.any(np.asarray(column) != 0) for column in columns)

    def _find_weights(self) -> Floats | None:
        """What multiplies the squares or the likelihood of each row; None if it is 1."""
        model, total = self.fitted, np.ones(len(self.X))
        if self.kind == "WLS":
            total = total * model.weights
        elif self.kind == "GLS" and model.sigma is not None:
            total = total * model.cholsigmainv**2
        elif self.kind == "GLM":
            total = total * model.freq_weights * model.var_weights * model.n_trials
        if getattr(self.model, "cov_type", "") == "fixed scale":  # rows of known variance
            return np.asarray(total / self.model.scale, dtype=np.float64)[self.live]
        return None if np.all(total == 1) else np.asarray(total, dtype=np.float64)[self.live]

    def _read_errors(self, link: str, by_refits: bool) -> StandardErrors:
        result, kind = self.model, str(getattr(self.model, "cov_type", "nonrobust"))
        normal, kwds = not result.use_t, dict(getattr(result, "cov_kwds", None) or {})
        own = StandardErrors(OWN, by=kind, normal=normal)
        if by_refits:
            return own
        if link:
            plain = kind == "nonrobust" and normal and getattr(result, "scale", 1.0) == 1.0
            return StandardErrors() if plain else own
        if kind == "nonrobust":
            return StandardErrors(normal=normal)
        if kind == "fixed scale":
            return StandardErrors(KNOWN, normal=normal)
        if kind in HC:
            return StandardErrors(kind, k_adj=kind == "HC1", normal=normal)
        if kind != "cluster":
            return own
        groups, corrected = kwds["groups"], bool(kwds.get("use_correction", True))
        labels = np.asarray(groups)[self.live]
        by: Any = getattr(groups, "name", None) or getattr(groups, "columns", ("its groups",))
        return StandardErrors(
            "cluster",
            tuple(labels.reshape(len(labels), -1).T),
            by if isinstance(by, str) else " and ".join(map(str, by)),
            k_adj=corrected,
            g_adj=corrected,
            cluster_freedom=bool(kwds.get("adjust_df", True)),
            normal=normal,
        )


def _describe(result: Any, model: Any) -> str:
    """Such as "GLM results (Binomial, Logit) of statsmodels"."""
    if model is None:
        return f"{type(result).__name__} of statsmodels"
    if type(model).__name__ != "GLM":
        return f"{type(model).__name__} results of statsmodels"
    family = model.family
    return f"GLM results ({type(family).__name__}, {type(family.link).__name__}) of statsmodels"


def _locate(index: Any, data: Any) -> Ints:
    """The rows of a table whose labels these are."""
    wrong = f"data must be the table that the model was given; got {len(data):,} rows"
    if not hasattr(data, "index") or not data.index.is_unique:
        raise ValueError(f"{wrong}, whose labels do not tell the {len(index):,} of the model")
    places = np.asarray(data.index.get_indexer(index), dtype=np.int64)
    if (places < 0).any():
        raise ValueError(f"{wrong} without some of the {len(index):,} of the model")
    return places
