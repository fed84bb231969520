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
#include "shared/hot_loops.hpp"

namespace quadsweep::outofcore {

class Locator {
  public:
    Locator() = default;
    Locator(const Placing& at, const std::vector<Node>& nodes,
            const std::vector<std::int32_t>& leaf);

    // Calls visit(position, leaf, x, y), x and y as placed, for the rows, in order, those of wanted
    // leaves alone where `wanted` is not empty. Gives back how many had a missing value. A visitor
    // that has something to fetch is told to expect(leaf) some rows ahead.
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
            for (std::size_t i = 0; i < rows.size; ++i) {
                const std::int32_t leaf = ~rows.ref[i];
                if constexpr (requires { visit.expect(leaf); }) {
                    visit.expect(~rows.ref[std::min(i + ahead, rows.size - 1)]);
                }
                if (wanted.empty() || wanted[leaf] != 0) {
                    visit(from + rows.position[i], leaf, rows.at[0][i], rows.at[1][i]);
                }
            }
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
    static constexpr std::size_t block = 1024, ahead = 16;
    struct Rows {
        double at[2][block];  // x, y, placed
        std::uint32_t position[block];
        Ref ref[block];
        std::int32_t cell[block];
        std::size_t size = 0;
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

    Placing at_;
    Ref root_ = ~0;
    std::vector<Step> steps_;  // by number of node; those of leaves are not used
    Axis axis_[2];
    std::vector<Ref> start_;
};

}  // namespace quadsweep::outofcore
