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
        each(x, y, [&](std::size_t i, std::int32_t leaf, double px, double py) {
            if (wanted[leaf] != 0) take(i, leaf, px, py);
        });
    }

    // The same with some leaves cut into 2^levels pieces each, at the middle of the wider side of
    // what they hold. The first piece keeps the leaf's number, the others get new ones at the end.
    Partition refined(std::span<const std::int32_t> leaves, std::span<const Leaf> table,
                      int levels) const;

  private:
    static constexpr std::size_t block = 256;  // rows that go down the tree side by side
    struct Rows {
        double at[2][block];  // x, y
        std::int32_t position[block], leaf[block];
        std::size_t size = 0;
    };
    void place(std::span<const double> x, std::span<const double> y, std::size_t from,
               Rows& rows) const;
    void descend(Rows& rows) const;
    void finish();

    template <class Visit>
    void each(std::span<const double> x, std::span<const double> y, Visit&& visit) const {
        Rows rows;
        for (std::size_t from = 0; from < x.size(); from += block) {
            place(x, y, from, rows);
            descend(rows);
            for (std::size_t i = 0; i < rows.size; ++i) {
                visit(from + rows.position[i], rows.leaf[i], rows.at[0][i], rows.at[1][i]);
            }
        }
    }

    Placing at_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> leaf_;
    int leaves_ = 0, depth_ = 0;
};

// The different values of a column but missing ones, in order of appearance; false if there are
// more than `most`.
bool distinct(std::span<const double> column, std::size_t most, std::vector<double>& found);

}  // namespace quadsweep::streamed
