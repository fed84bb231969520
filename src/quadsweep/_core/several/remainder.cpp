// What the tangent at the centre drops, as far as it is known: see the top of bound.hpp.
#include <algorithm>
#include <cmath>
#include <utility>

#include "bound.hpp"

namespace quadsweep::several {
namespace {

constexpr double loose = 1e-6;   // of a half-width: more than rounding can move an end
constexpr double hardly = 0.95;  // of a width: not worth a change
constexpr double most_size = 1e150,
                 smallest = 1e-200;  // of what is squared, or is a difference of it

}  // namespace

// The largest share s found with K - s diag(K) >= 0 for the kept items' sums over the dimensions.
double Bounder::diagonal_share() const {
    const auto definite = [&](double share) {
        double l[most_dims][most_dims];
        for (int a = 0; a < dims_; ++a) {
            const int i = dimension_[a];
            for (int b = 0; b <= a; ++b) {
                const int j = dimension_[b];
                double sum = kept_(i, j) / std::sqrt(kept_(i, i) * kept_(j, j));
                if (a == b) sum = 1 - share - 1e-9;
                for (int e = 0; e < b; ++e) sum -= l[a][e] * l[b][e];
                if (a == b && !(sum > 0)) return false;
                l[a][b] = a == b ? std::sqrt(sum) : sum / l[b][b];
            }
        }
        return true;
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
    if (box.kept_units == 0) return -infinity;
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

// Where along dimension d, in units of its half-width, the bound may be below zero. On an edge the
// concave bound is above the chord of its ends, and what holds on all edges holds between them.
std::pair<double, double> Bounder::may_hold(int d) const {
    double low = 1, high = -1;
    for (int q = 0; q < corners_; ++q) {
        if ((q >> d & 1) != 0) continue;
        const double first = value_[q] - error_, last = value_[q | 1 << d] - error_;
        if (!(std::fabs(first) + std::fabs(last) < most_size)) return {-1, 1};
        const double crossing = -1 + 2 * first / (first - last);
        if (first < 0) low = -1;
        if (last < 0) high = 1;
        if (first >= 0 && last < 0) low = std::min(low, crossing);
        if (last >= 0 && first < 0) high = std::max(high, crossing);
    }
    if (!(smooth_ > -infinity)) return {low, high};
    // The smooth function with all others where it is least: rest + slope z + square z^2 < 0.
    const double square = below_.square[d], slope = below_.slope[d];
    const double rest = smooth_ - below_.least(d) - error_;
    const double inside = slope * slope - 4 * square * rest;
    if (square > 0 && inside > smallest) {
        const double larger = -(slope + std::copysign(std::sqrt(inside), slope)) / 2;
        const auto [first, last] = std::minmax({larger / square, rest / larger});
        low = std::max(low, first);
        high = std::min(high, last);
    }
    return {low, high};
}

double Bounder::contract(Box& box) const {
    if (box.of_fits) return 1;
    double left = 1;
    for (int d = 0; d < dims_; ++d) {
        auto [low, high] = may_hold(d);
        low = std::max(low - loose, -1.0);
        high = std::min(high + loose, 1.0);
        if (low >= high) return 0;
        const int j = dimension_[d];
        const double centre = box.centre[j], half = box.half[j];
        // Some ulps more, for the rounding of the new ends.
        const double narrower = half * (high - low) / 2 + 0x1p-50 * (std::fabs(centre) + half);
        if (!(narrower < hardly * half)) continue;
        box.centre[j] = centre + half * (low + high) / 2;
        box.half[j] = narrower;
        left *= narrower / half;
    }
    return left;
}

}  // namespace quadsweep::several
