"""Which standard errors a test uses, in the words of statsmodels and of pyfixest.

With x~ what the controls leave of x and e the residuals, all on the k rows kept, and p columns:

    classical   sum e^2 / (k - p) / sum x~^2,             k - p degrees of freedom
    HC0         sum (x~ e)^2 / (sum x~^2)^2
    HC1         HC0 times k / (k - p)
    HC2, HC3    e / sqrt(1 - h) and e / (1 - h) in place of e, h the leverage
    cluster     G / (G - 1) (k - 1) / (k - p) sum_g (sum_g x~ e)^2 / (sum x~^2)^2, G - 1 degrees;
                by two variables: of the first, plus of the second, less of both together
    known       1 / sum x~^2, the weights one over the variances of the rows

The libraries differ in the factors and in the distribution; the fields say which are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.arrays import Ints, Mask
from quadsweep.messages import argument

HC = ("HC0", "HC1", "HC2", "HC3")
CLASSICAL = ("classical", "iid", "nonrobust")
OWN = "own"  # of a fitted model, known to its library alone
JOINT = "Wald test of several terms"  # what own errors of such a test are called
KNOWN = "known"  # variances of the rows, one over their weights
_CORRECTED = ("classical", "HC1", "cluster")  # kinds that divide by k - p

Labels = Callable[[Any], tuple[Any, str]]  # of all rows, and what they are called


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """The standard errors of a t or z test.

    Attributes
    ----------
    kind : classical, HC0, HC1, HC2, HC3, cluster, known, or own: only refits of the model have
        them.
    clusters : labels of the rows, by one or two variables; empty unless the kind is cluster.
    by : what the clusters are called, or the library's name of its own errors.
    k_adj : whether the factor with k - p applies; pyfixest applies it to HC2 and HC3 too.
    g_adj : whether the factor with G - 1 applies.
    g_min : whether two variables share the factor of the one with fewer clusters.
    cluster_freedom : whether clusters have G - 1 degrees of freedom, or k - p.
    normal : whether p-values are those of the normal distribution.
    effects : which fixed effects count among the p columns: ``full``, ``nonnested`` (those nested
        in clusters do not) or ``none``.
    nested_each : what a nested fixed effect counts all the same: 1 where it holds the intercept.
    beside : columns beside the fixed effects, where some of these explain others and each level
        counts all the same, as in pyfixest; 0 where the rank counts.
    singletons : whether rows that are alone in their fixed effect count; pyfixest drops them.
    k_only : whether clusters have the factor k / (k - p), as linearmodels does without G.
    reduced_form : whether the test is that of the instrument in the reduced form (Anderson-Rubin).
    """

    kind: str = "classical"
    clusters: tuple[Any, ...] = ()
    by: str = ""
    k_adj: bool = True
    g_adj: bool = True
    g_min: bool = False
    cluster_freedom: bool = True
    normal: bool = False
    effects: str = "nonnested"
    nested_each: int = 1
    beside: int = 0
    singletons: bool = True
    k_only: bool = False
    reduced_form: bool = False

    @property
    def classical(self) -> bool:
        """Whether the test is that of the partial correlation, which proofs cover."""
        usual = self.k_adj and not self.normal and self.effects != "none" and not self.beside
        return self.kind == "classical" and usual

    def plain(self, absorbed: bool) -> bool:
        """Whether the factors are those of the rows, columns and clusters alone."""
        if self.beside or (self.kind == "cluster" and self.k_only):
            return False
        counted = self.effects == "full" or (self.effects != "none" and self.kind != "cluster")
        return not absorbed or (self.singletons and counted)

    @property
    def test(self) -> str:
        if self.reduced_form:
            return "Anderson-Rubin test"
        name = "z test" if self.normal else "t test"
        if self.by == JOINT:
            return JOINT
        if self.kind == KNOWN:
            return f"{name}, known variances"
        if self.kind == "classical":
            return f"classical {name}{'' if self.k_adj else ' without correction for k'}"
        if self.kind == "cluster":
            return f"{name}, standard errors {self.label}"
        return f"{name}, {self.label} standard errors"

    @property
    def label(self) -> str:
        """The standard errors in a word or two."""
        if self.kind == "cluster":
            return f"clustered by {self.by}"
        return self.by if self.kind == OWN else self.kind

    def usable(self, n: int) -> Mask:
        """Rows whose clusters are known."""
        good = np.ones(n, dtype=bool)
        for labels in self.clusters:
            good &= ~missing(labels)
        return good

    def select_rows(self, rows: Any) -> StandardErrors:
        """For some of the rows, the clusters numbered."""
        return replace(self, clusters=tuple(numbered(labels[rows]) for labels in self.clusters))


@dataclass(frozen=True)
class CovType:
    """Standard errors in statsmodels' words; p-values are normal unless ``use_t`` is given."""

    name: str
    kwds: Mapping[str, Any]


def in_one_word(vcov: Any, cov_type: str | None, cov_kwds: Any) -> Any:
    """``vcov`` as pyfixest has it, or the pair of statsmodels in its place.

    >>> in_one_word(None, "HC1", None)
    CovType(name='HC1', kwds={})
    """
    if cov_type is None:
        if cov_kwds is not None:
            raise ValueError("cov_kwds goes with cov_type; got cov_kwds alone")
        return vcov
    if vcov is not None:
        raise ValueError(f"give vcov or cov_type; got {vcov!r} and {cov_type!r}")
    return CovType(cov_type, dict(cov_kwds or {}))


def numbered(labels: Any) -> Ints:
    """Labels as whole numbers from 0, in the order of their texts."""
    return np.unique(labels.astype(str), return_inverse=True)[1].astype(np.int64)


def missing(labels: Any) -> Mask:
    """Where labels are None or NaN."""
    return np.array([v is None or v != v for v in labels.tolist()], dtype=bool)


def asked_for(vcov: Any, labels: Labels) -> StandardErrors:
    """From ``vcov`` as pyfixest takes it, or a column of clusters; p-values by Student's t."""
    if not isinstance(vcov, CovType):
        return replace(_of_vcov(vcov, labels), singletons=False)
    return _cov_type(vcov, labels)


def _of_vcov(vcov: Any, labels: Labels) -> StandardErrors:
    if vcov is None or (isinstance(vcov, str) and vcov in CLASSICAL):
        return StandardErrors()
    if isinstance(vcov, str) and vcov == KNOWN:
        return StandardErrors(KNOWN, normal=True)
    if isinstance(vcov, str) and vcov == "anderson-rubin":
        return StandardErrors(reduced_form=True)
    if isinstance(vcov, str) and (vcov in HC or vcov == "hetero"):
        kind = "HC1" if vcov == "hetero" else vcov
        return StandardErrors(kind, k_adj=kind in _CORRECTED)
    if isinstance(vcov, Mapping):
        return _crv(vcov, labels)
    if isinstance(vcov, str):
        try:
            return clustered([part.strip() for part in vcov.split("+")], labels)
        except ValueError:
            raise ValueError(
                f"{argument('vcov')} must be 'classical', {', '.join(map(repr, HC))}, 'known', "
                f"{{'CRV1': 'column'}} or a column of clusters; got {vcov!r}"
            ) from None
    return clustered([vcov], labels)


def _crv(vcov: Mapping[str, Any], labels: Labels) -> StandardErrors:
    if len(vcov) != 1 or "CRV1" not in vcov:
        raise ValueError(f"clustered standard errors are {{'CRV1': 'column'}}; got {dict(vcov)!r}")
    by = vcov["CRV1"]
    if isinstance(by, str):
        by = [part.strip() for part in by.split("+")]
    elif not isinstance(by, (list, tuple)) or np.ndim(by[0]) == 0:
        by = [by]
    return clustered(list(by), labels)


def _cov_type(asked: CovType, labels: Labels) -> StandardErrors:
    kwds = dict(asked.kwds)
    use_t = bool(kwds.pop("use_t", asked.name == "nonrobust"))
    if asked.name == "cluster" and "groups" in kwds:
        groups = kwds.pop("groups")
        by = list(groups) if isinstance(groups, (list, tuple)) and np.ndim(groups[0]) else [groups]
        if isinstance(groups, (list, tuple)) and all(isinstance(name, str) for name in groups):
            by = list(groups) if len(groups) <= 2 else [groups]
        corrected = bool(kwds.pop("use_correction", True))
        freedom = bool(kwds.pop("df_correction", True))
        if not kwds:
            return replace(
                clustered(by, labels), k_adj=corrected, g_adj=corrected, g_min=False,
                cluster_freedom=freedom, normal=not use_t, effects="full",
            )  # fmt: skip
    if asked.name == "fixed scale" and not kwds:
        return StandardErrors(KNOWN, normal=not use_t)
    if asked.name in ("nonrobust", *HC) and not kwds:
        name = "classical" if asked.name == "nonrobust" else asked.name
        return StandardErrors(name, k_adj=name in _CORRECTED, normal=not use_t)
    raise ValueError(
        f"cov_type must be 'nonrobust', 'fixed scale', {', '.join(map(repr, HC))} or 'cluster' "
        f"with cov_kwds={{'groups': ...}}; got {asked.name!r} with {sorted(asked.kwds)}"
    )


def clustered(by: list[Any], labels: Labels) -> StandardErrors:
    """By one or two variables."""
    if not 1 <= len(by) <= 2:
        raise ValueError(f"clusters are by one or two variables; got {len(by)}")
    found, names = zip(*(labels(one) for one in by), strict=True)
    named = ["the labels given" if name == "vcov" else name for name in names]
    return StandardErrors("cluster", tuple(found), " and ".join(dict.fromkeys(named)), g_min=True)
