"""scikit-learn estimators: ``trimmed`` has a regressor, ``outliers`` a detector, ``covariance`` the
exact minimum covariance determinant, ``efficient`` the MM estimate that follows the exact start.

Imports solving, results and inputs; translates scikit-learn's names and conventions and never
searches itself. Public as ``quadsweep.sklearn``.
"""
