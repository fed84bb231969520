// A partition of the plane into rectangles, for data that do not fit in memory, and what one pass
// over the rows can know of each: count, extent and sums.
//
// The partition is a kd-tree grown from a sample: halved at medians of the wider side, so that all
// leaves hold about as many rows. A threshold t sends v < t to the left and v >= t to the right, so
// identical points are never parted; a point that is much of a leaf's sample gets a leaf of its
// own, between v and the next larger number.
//
// Everything is in placed coordinates (points.hpp), as the engine has them. Each sum keeps what its
// additions round away (Knuth's two-sum), so that it is off by about as much as its terms are, over
// any number of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/points.hpp"

namespace quadsweep::streamed {

// One row of the table of a pass, as doubles: a count is exact up to 2^53.
struct Leaf {
    double count = 0;
    double x_lo = infinity, x_hi = -infinity, y_lo = infinity, y_hi = -infinity;
    Moments sums, lost;
    double unused = 0;  // 128 bytes: two lines of the cache

    bool empty() const { return count == 0; }
    bool point() const { return x_lo == x_hi && y_lo == y_hi; }
    Moments total() const { return sums + lost; }
    void add(double x, double y);
    void merge(const Leaf& other);
};

// A node of the tree. In a leaf the threshold is infinite and the child the node itself, so that a
// row that has arrived stays where it is.
struct Node {
    double threshold = infinity;
    std::int32_t child = 0;  // the left one; the right one follows it
    std::int32_t axis = 0;   // 0: x, 1: y
};

class Partition {
  public:
    Partition(Placing at, std::vector<Node> nodes, std::vector<std::int32_t> leaf);
    // Of a sample as given, into at most so many leaves.
    Partition(const Placing& at, std::span<const double> x, std::span<const double> y, int leaves);

    const Placing& placing() const { return at_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    // Of every node its leaf, -1 for inner ones.
    const std::vector<std::int32_t>& leaf() const { return leaf_; }
    int leaves() const { return leaves_; }

    // The leaf of every row as given, -1 where a value is missing.
    void locate(std::span<const double> x, std::span<const double> y,
                std::span<std::int32_t> leaf) const;
    // Adds rows to the table, those of wanted leaves alone where `wanted` is not empty. Gives back
    // how many had a missing value.
    std::int64_t add(std::span<const double> x, std::span<const double> y,
                     std::span<const std::uint8_t> wanted, std::span<Leaf> table) const;
    // Calls take(position, leaf, placed x, placed y) for the rows of wanted leaves.
    template <class Take>
    void pick(std::span<const double> x, std::span<const double> y,
              std::span<const std::uint8_t> wanted, Take&& take) const {
        const std::vector<char> live = with_wanted(wanted);
        each(x, y, live, [&](std::size_t i, std::int32_t leaf, const Placed& at) {
            if (wanted[leaf] != 0) take(i, leaf, at.at[0], at.at[1]);
        });
    }

    // The same with some leaves cut into 2^levels pieces each, at the middle of the wider side of
    // what they hold. The first piece keeps the leaf's number, the others get new ones at the end.
    Partition refined(std::span<const std::int32_t> leaves, std::span<const Leaf> table,
                      int levels) const;

  private:
    static constexpr std::size_t block = 1024;  // rows that are placed and located at a time
    struct Placed {
        double at[2];  // x, y
    };
    struct Rows {
        explicit Rows(std::size_t most)
            : placed(most + lanes), position(most + lanes), node(most + lanes) {}
        std::vector<Placed> placed;
        std::vector<std::int32_t> position, node;
        std::size_t size = 0;
    };
    static constexpr std::size_t lanes = 8;  // rows that go down the tree side by side

    void place(std::span<const double> x, std::span<const double> y, std::size_t from,
               std::size_t to, Rows& rows) const;
    // The first levels, for all rows.
    void enter(Rows& rows) const;
    void make_grid();
    // So many levels down from where the rows are.
    void descend(const Placed* placed, std::int32_t* node, std::size_t size, int levels) const;
    // Of every node, whether any leaf below it is wanted; empty for all of them.
    std::vector<char> with_wanted(std::span<const std::uint8_t> wanted) const;
    void finish();

    // Rows on their way to leaves that are not wanted are left behind half-way.
    template <class Visit>
    void each(std::span<const double> x, std::span<const double> y, const std::vector<char>& live,
              Visit&& visit) const {
        Rows rows(block);
        for (std::size_t from = 0; from < x.size(); from += block) {
            place(x, y, from, std::min(x.size(), from + block), rows);
            enter(rows);
            if (!live.empty()) leave_behind(rows, live);
            descend(rows.placed.data(), rows.node.data(), rows.size, depth_ - top_);
            for (std::size_t i = 0; i < rows.size; ++i) {
                visit(from + rows.position[i], leaf_[rows.node[i]], rows.placed[i]);
            }
        }
    }
    static void leave_behind(Rows& rows, const std::vector<char>& live);

    Placing at_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> leaf_;
    int leaves_ = 0, depth_ = 0;
    // The first levels, whose nodes stay in the cache, and what is below each of their ends.
    int top_ = 0;
    std::vector<std::int32_t> ends_;
    std::vector<std::int16_t> end_of_;  // of every node that is one, its number
    std::vector<int> below_;            // levels

    // A grid over the plane, and of each of its cells the lowest of these nodes that has all of it:
    // for most rows one look takes the place of the first levels.
    struct Axis {
        double lo = 0, scale = 0;
        // Never falls as v rises: what is in another cell than a threshold is on one side of it.
        int cell(double v) const {
            const double at = (v - lo) * scale, from = at > 0 ? at : 0;
            return static_cast<int>(from < grid - 1 ? from : grid - 1);
        }
    };
    static constexpr int grid = 512;
    Axis axis_[2];
    std::vector<std::int16_t> start_;
};

// The different values of a column but missing ones, in order of appearance; false if there are
// more than `most`.
bool distinct(std::span<const double> column, std::size_t most, std::vector<double>& found);

}  // namespace quadsweep::streamed
