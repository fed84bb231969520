// The criteria by name, and what their parametrisations share: axes, roots, the order of corners.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "plane/criterion.hpp"
#include "plane/ranges.hpp"

namespace quadsweep {

// `tol` is added to the score to be beaten; `good` are the centred sums of a good subset.
std::unique_ptr<Criterion> correlation_above(const Ranges& ranges, bool squared, double score,
                                             double tol);
std::unique_ptr<Criterion> correlation_below(const Ranges& ranges, const Centred& good,
                                             double score, double tol);
// The covariance of f and g, whose constants do not matter.
std::unique_ptr<Criterion> product_above(const Ranges& ranges, const Centred& good, const Affine& f,
                                         const Affine& g, double score, double tol);
std::unique_ptr<Criterion> residuals_below(const Ranges& ranges, double score, double tol);
std::unique_ptr<Criterion> spread_below(const Ranges& ranges, double score, double tol);

inline Affine axis_x(double sign = 1) { return {sign, 0, 0}; }
inline Affine axis_y(double sign = 1) { return {0, sign, 0}; }

// A box over lo1 <= p1 <= hi1, lo2 <= p2 <= hi2.
Box make_root(int frame, double lo1, double hi1, double lo2, double hi2);

// A node at a distance d from the box's centre, in a lattice whose parts have half-widths eta.
struct Offset {
    double d[2], eta[2];
};
template <class Visit>
void each_offset(const Box& box, PartCounts parts, Visit&& visit) {
    const int cut[] = {box.half[0] > 0 ? parts.of[0] : 0, parts.of[1]};
    Offset at{};
    for (int i = 0; i < 2; ++i) {
        // An ulp more, as nodes are rounded.
        const double more = 0x1p-51 * (std::fabs(box.centre[i]) + box.half[i]);
        at.eta[i] = cut[i] > 0 ? box.half[i] / cut[i] + more : 0;
    }
    const auto place = [&](int i, int j) {
        return cut[i] > 0 ? box.half[i] * (2.0 * j / cut[i] - 1) : 0;
    };
    for (int j = 0; j <= cut[0]; ++j) {
        at.d[0] = place(0, j);
        for (int l = 0; l <= cut[1]; ++l) {
            at.d[1] = place(1, l);
            visit(at);
        }
    }
}

// Corners are (lo1, lo2), (lo1, hi2), (hi1, lo2), (hi1, hi2); where one parameter alone counts, its
// ends take the place of p2's. The sign of p1 - centre and of p2 - centre at a corner:
inline double sign1(int corner) { return (corner & 2) != 0 ? 1.0 : -1.0; }
inline double sign2(int corner) { return (corner & 1) != 0 ? 1.0 : -1.0; }

}  // namespace quadsweep
