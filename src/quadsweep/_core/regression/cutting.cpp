// Cutting a box: its sides are moved in as far as the bound at the corners shows that no better
// subset has its own theta beyond them. See the top of bound.hpp, and docs/theory/regression.md for
// rounding.
#include <algorithm>
#include <cmath>

#include "bound.hpp"

namespace quadsweep::regression {
namespace {

constexpr double outwards = 1e-6;  // of a half-width: more than rounding can move an end
constexpr double hardly = 0.95;    // of a width: not worth a change
// Of bounds, squares and their products: within these nothing that matters over- or underflows.
constexpr double too_large = 1e150, too_small = 1e-200;

bool tame(double value) { return std::fabs(value) < too_large; }

}  // namespace

// Where the concave bound may be below zero: on an edge it is above the chord of its ends, and what
// holds on all edges holds between them.
Bounder::Range Bounder::between_chords(int d) const {
    Range may{1, -1};
    for (int q = 0; q < corners_; ++q) {
        if ((q >> d & 1) != 0) continue;
        const double first = value_[q] - error_, last = value_[q | 1 << d] - error_;
        if (!tame(first) || !tame(last)) return {-1, 1};
        const double crossing = -1 + 2 * first / (first - last);  // used where signs differ
        if (first < 0) may.low = -1;
        if (last < 0) may.high = 1;
        if (first >= 0 && last < 0) may.low = std::min(may.low, crossing);
        if (last >= 0 && first < 0) may.high = std::max(may.high, crossing);
    }
    return may;
}

// Where rest + slope z + square z^2 is: the smooth function with all other directions where it is
// least.
Bounder::Range Bounder::between_roots(int d) const {
    const double square = below_.square[d], slope = below_.slope[d];
    const double rest = smooth_ - below_.least(d) - error_;
    const double inside = slope * slope - 4 * square * rest;
    if (!tame(rest) || !tame(square) || !tame(slope) || !(square > 0) || !(inside > too_small)) {
        return {-1, 1};
    }
    const double larger = -(slope + std::copysign(std::sqrt(inside), slope)) / 2;
    const double one = larger / square, other = rest / larger;
    return {std::min(one, other), std::max(one, other)};
}

double Bounder::cut(Box& box) const {
    if (box.of_fits) return 1;
    double left = 1;
    for (int d = 0; d < dims_; ++d) {
        const Range chords = between_chords(d), roots = between_roots(d);
        const double low = std::max({chords.low - outwards, roots.low - outwards, -1.0});
        const double high = std::min({chords.high + outwards, roots.high + outwards, 1.0});
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

}  // namespace quadsweep::regression
