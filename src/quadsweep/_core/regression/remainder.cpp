// What the tangent at the centre drops, as far as it is known: see the top of bound.hpp.
#include <algorithm>
#include <cmath>

#include "bound.hpp"
#include "shared/cholesky.hpp"

namespace quadsweep::regression {

// The largest share s found with K - s diag(K) >= 0 for the kept items' sums over the dimensions.
double Bounder::diagonal_share() const {
    const auto definite = [&](double share) {
        double l[most_dims][most_dims];
        for (int a = 0; a < dims_; ++a) {
            const int i = dimension_[a];
            for (int b = 0; b <= a; ++b) {
                const int j = dimension_[b];
                l[a][b] = kept_(i, j) / std::sqrt(kept_(i, i) * kept_(j, j));
                if (a == b) l[a][b] = 1 - share - 1e-9;
            }
        }
        return cholesky(dims_, l[0], most_dims, [](double pivot, double) { return pivot > 0; });
    };
    double low = 0, high = 1;
    for (int i = 0; i < 6; ++i) {
        const double share = (low + high) / 2;
        (definite(share) ? low : high) = share;
    }
    return low;
}

// In units of the half-widths the affine function is
// level + sum of slope_j z_j, |z_j| <= 1, fitted to the corners and lowered to be below them all.
double Bounder::with_remainder(const Box& box) {
    below_ = {};
    if (equations_ || box.kept_units == 0) return -infinity;
    const double share = diagonal_share();
    if (share == 0) return -infinity;
    double level = 0, size = 0;
    double* slope = below_.slope;
    for (int q = 0; q < corners_; ++q) {
        level += value_[q] / corners_;
        size = std::max(size, std::fabs(value_[q]));
        for (int d = 0; d < dims_; ++d) {
            slope[d] += ((q >> d & 1) != 0 ? value_[q] : -value_[q]) / corners_;
        }
    }
    double below = infinity;
    for (int q = 0; q < corners_; ++q) {
        double at = level;
        for (int d = 0; d < dims_; ++d) at += (q >> d & 1) != 0 ? slope[d] : -slope[d];
        below = std::min(below, value_[q] - at);
    }
    double sum = level + below - 1e-13 * size;
    for (int d = 0; d < dims_; ++d) {
        const int j = dimension_[d];
        below_.square[d] = form_.s_e * share * kept_(j, j) * box.half[j] * box.half[j] * (1 - 1e-9);
        sum += below_.least(d);
    }
    return std::isfinite(sum) ? sum : -infinity;
}

}  // namespace quadsweep::regression
