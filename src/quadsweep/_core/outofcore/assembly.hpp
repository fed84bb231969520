// The engine's tree of cells over data most of which are not in memory.
//
// A leaf of the partition is one of three things: unloaded (a rectangle, a weight and sums, and no
// points), one point many times (its rectangle says so), or loaded: an ordinary subtree over its
// rows. Everything the engine concludes from a cell that it has not opened holds for a unloaded
// one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition.hpp"
#include "plane/cells.hpp"
#include "plane/ranges.hpp"

namespace quadsweep::outofcore {

// Rows of leaves that were loaded, in the order of the source: all rows of such a leaf, placed.
struct Loaded {
    std::span<const std::int32_t> leaf;
    std::span<const double> x, y;
};

struct Assembly {
    Cells cells;                           // members are positions in Loaded
    std::vector<std::int32_t> cell_leaf;   // of every cell the leaf that it is, or -1
    std::vector<std::int32_t> point_leaf;  // of every point the leaf all of which it is, or -1
};

Assembly assemble(const Partition& partition, std::span<const Leaf> table, const Loaded& loaded,
                  int n_jobs);

// Outer ranges over all subsets of k rows, from the leaves' rectangles. `gap_x`: no two different
// values of x are closer, in placed units; 0 if not known, infinity if there is one value.
Ranges outer_ranges(std::span<const Leaf> table, double k, double gap_x, double gap_y);

}  // namespace quadsweep::outofcore
