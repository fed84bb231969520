"""scikit-learn estimators: ``trimmed`` has a regressor and an outlier detector, ``covariance`` the
exact minimum covariance determinant.

Imports solving and inputs; translates scikit-learn's names and conventions and computes nothing
itself. Public as ``quadsweep.sklearn``.
"""
