// A kd-tree over a sample, finest where a search will have to look.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "focus.hpp"

namespace quadsweep::outofcore {

// A node of the tree; in a leaf the child is 0.
struct Node {
    double threshold = infinity;
    std::int32_t child = 0;  // the left one; the right one follows it
    std::int32_t axis = 0;   // 0: x, 1: y
};

// Cut about in half along the wider side, at the roundest number near the median (what is round is
// between two cells of a grid: locator.hpp); the piece first that has the most rows or, where there
// are foci, that blurs them most; up to so many leaves. Nodes come before their children.
std::vector<Node> grow(std::vector<Sampled>& sample, int leaves, const std::vector<Focus>& at);

// The leaves of such a tree, numbered as its nodes are, in order of their distance from a boundary.
std::vector<std::int32_t> by_distance(const std::vector<Node>& nodes,
                                      std::span<const Sampled> sample,
                                      const std::vector<Focus>& at);

}  // namespace quadsweep::outofcore
