// From rows to leaves of a kd-tree, many rows at a time.
//
// A grid over the plane says of each of its cells which is the lowest node that has all of it: for
// most rows that is their leaf, or a node close to it, and what is left of the way they go side by
// side, level by level. Rows on their way to leaves that nobody wants are left behind at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "growing.hpp"
#include "loops.hpp"

namespace quadsweep::outofcore {

// Some rows: their numbers from the first one of them on, their leaves, and x and y as placed.
struct Located {
    std::int64_t first;
    int size;
    const std::int32_t *position, *leaf;
    const double *x, *y;
};

class Locator {
  public:
    Locator() = default;
    Locator(const Placing& at, const std::vector<Node>& nodes,
            const std::vector<std::int32_t>& leaf);

    // Calls visit(Located) for the rows, in order and some at a time, those of wanted leaves alone
    // where `wanted` is not empty. Gives back how many had a missing value.
    template <class Visit>
    std::int64_t each(std::span<const double> x, std::span<const double> y,
                      std::span<const std::uint8_t> wanted, Visit&& visit) const {
        std::vector<Ref> towards;
        if (!wanted.empty()) towards = starts_towards(wanted);
        const std::vector<Ref>& start = wanted.empty() ? start_ : towards;
        std::int64_t missing = 0;
        Rows rows;
        for (std::size_t from = 0; from < x.size(); from += block) {
            const std::size_t size = std::min(block, x.size() - from);
            missing += enter(x.subspan(from, size), y.subspan(from, size), start, rows);
            descend(rows);
            if (!wanted.empty()) keep(wanted, rows);
            visit(Located{static_cast<std::int64_t>(from), rows.size, rows.position, rows.ref,
                          rows.at[0], rows.at[1]});
        }
        return missing;
    }

  private:
    // A node: its number, then one bit for its axis; a leaf: its number, all bits turned over.
    using Ref = std::int32_t;
    struct Step {
        double threshold;
        Ref next[2];
    };
    static constexpr Ref nowhere = INT32_MIN;
    static constexpr std::size_t block = 1024;
    struct Rows {
        double at[2][block];  // x, y, placed
        std::int32_t position[block];
        Ref ref[block];  // after the last step the leaf
        std::int32_t cell[block];
        int size = 0;
    };
    // Cells are powers of two wide, so that the cell of a number is exact and no cell is cut by a
    // threshold that lies between two of them.
    struct Axis : GridSide {
        bool between(double threshold) const {
            const double at = threshold * scale;
            return at == std::floor(at) && at > first && at <= last;
        }
    };
    static constexpr int grid = 512;

    void make_grid();
    std::vector<Ref> starts_towards(std::span<const std::uint8_t> wanted) const;
    void place(std::span<const double> x, std::span<const double> y, Rows& rows) const;
    std::int64_t enter(std::span<const double> x, std::span<const double> y,
                       const std::vector<Ref>& start, Rows& rows) const;
    void descend(Rows& rows) const;
    static void keep(std::span<const std::uint8_t> wanted, Rows& rows);

    Placing at_;
    Ref root_ = ~0;
    std::vector<Step> steps_;  // by number of node; those of leaves are not used
    Axis axis_[2];
    std::vector<Ref> start_;
};

}  // namespace quadsweep::outofcore
