// A kd-tree over a sample, finest where a search will have to look.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/cost.hpp"
#include "shared/points.hpp"

namespace quadsweep::streamed {

// A node of the tree; in a leaf the child is 0.
struct Node {
    double threshold = infinity;
    std::int32_t child = 0;  // the left one; the right one follows it
    std::int32_t axis = 0;   // 0: x, 1: y
};

struct Sampled {
    double at[2];  // x, y, placed
};

// The boundary of a good subset of the sample: where a cost is at its level.
struct Focus {
    Quadratic cost;
    double level = 0, unit = 1;  // `unit`: how far costs are from it, on average

    // From 0 to 1: how much rows from lo to hi, which differ in cost by their cells' extent, may
    // blur the boundary.
    double blur(const double (&lo)[2], const double (&hi)[2]) const;
};
std::vector<Focus> foci(std::span<const Sampled> sample, Objective objective, double share,
                        const std::vector<Moments>& starts);

// Cut about in half along the wider side, at the roundest number near the median (what is round is
// between two cells of a grid: locator.hpp); the piece first that has the most rows or, where there
// are foci, that blurs them most; up to so many leaves. Nodes come before their children.
std::vector<Node> grow(std::vector<Sampled>& sample, int leaves, const std::vector<Focus>& at);

}  // namespace quadsweep::streamed
