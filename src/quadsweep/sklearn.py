"""The scikit-learn estimators, under the name that users import."""

from quadsweep.estimators.covariance import ExactMinCovDet
from quadsweep.estimators.outliers import TrimmedOutlierDetector
from quadsweep.estimators.trimmed import TrimmedRegressor

__all__ = ["ExactMinCovDet", "TrimmedOutlierDetector", "TrimmedRegressor"]
