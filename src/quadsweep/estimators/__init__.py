"""scikit-learn estimators: ``trimmed`` has a regressor, ``outliers`` a detector, ``covariance`` the
exact minimum covariance determinant, ``reweighting`` the scale and the second step of lts.

Imports solving, results and inputs; translates scikit-learn's names and conventions and never
searches itself. Public as ``quadsweep.sklearn``.
"""
