// Cholesky's L L' of a small symmetric matrix, and systems with it. Rows of the lower triangle are
// `stride` apart; L takes its place.
#pragma once

#include <cmath>

namespace quadsweep {

// counts(pivot, entry): whether a pivot is large enough beside the entry of the diagonal it is left
// of; false where one is not.
template <class Counts>
bool cholesky(int n, double* a, int stride, Counts counts) {
    for (int i = 0; i < n; ++i) {
        double* row = a + i * stride;
        for (int j = 0; j <= i; ++j) {
            const double* other = a + j * stride;
            double sum = row[j];
            for (int e = 0; e < j; ++e) sum -= row[e] * other[e];
            if (i == j && !counts(sum, row[i])) return false;
            row[j] = i == j ? std::sqrt(sum) : sum / other[j];
        }
    }
    return true;
}

// b becomes L^-1 b.
inline void solve_lower(int n, const double* l, int stride, double* b) {
    for (int i = 0; i < n; ++i) {
        for (int e = 0; e < i; ++e) b[i] -= l[i * stride + e] * b[e];
        b[i] /= l[i * stride + i];
    }
}

// b becomes L'^-1 b.
inline void solve_upper(int n, const double* l, int stride, double* b) {
    for (int i = n; i-- > 0;) {
        for (int e = i + 1; e < n; ++e) b[i] -= l[e * stride + i] * b[e];
        b[i] /= l[i * stride + i];
    }
}

// Solves a definite system in place; false where it is not one.
inline bool solve_definite(int n, double* a, int stride, double* b) {
    if (!cholesky(n, a, stride, [](double pivot, double) { return pivot > 0; })) return false;
    solve_lower(n, a, stride, b);
    solve_upper(n, a, stride, b);
    return true;
}

}  // namespace quadsweep
