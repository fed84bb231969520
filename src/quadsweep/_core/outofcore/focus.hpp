// The boundaries of good subsets of a sample: there a search will have to look closely.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/cost.hpp"
#include "shared/points.hpp"

namespace quadsweep::outofcore {

struct Sampled {
    double at[2];  // x, y, placed
};

struct Rectangle {
    double lo[2] = {-infinity, -infinity}, hi[2] = {infinity, infinity};
};
inline int wider_side(const Rectangle& r) { return r.hi[0] - r.lo[0] > r.hi[1] - r.lo[1] ? 0 : 1; }

// The boundary of a good subset of the sample: where a cost is at its level.
struct Focus {
    Quadratic cost;
    double level = 0, unit = 1;  // `unit`: how far costs are from it, on average

    // From 0 to 1: how much rows of a rectangle, which differ in cost by its extent, may blur the
    // boundary.
    double blur(const Rectangle& r) const;
    // How far a rectangle is from the boundary, in its own width and a little more: 0 if cut.
    double distance(const Rectangle& r) const;
};

// Of starts that are moments of good subsets of a share of the rows, for one row; steps of
// concentration on all of the sample take each to a boundary closer to that of all rows.
std::vector<Focus> foci(std::span<const Sampled> sample, Objective objective, double share,
                        const std::vector<Moments>& starts);

}  // namespace quadsweep::outofcore
