// A partition of the plane into rectangles, for data that do not fit in memory, and what one pass
// over the rows can know of each: count, extent and sums.
//
// The partition is a kd-tree grown from a sample (growing.hpp). A threshold t sends v < t to the
// left and v >= t to the right, so identical points are never parted; a point that is much of a
// leaf's sample gets a leaf of its own, between v and the next larger number.
//
// Everything is in placed coordinates (points.hpp), as the engine has them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "growing.hpp"
#include "locator.hpp"

namespace quadsweep::outofcore {

// Rows one by one: where they are among those given, and their leaf, x and y, placed.
struct Picked {
    std::vector<std::int64_t> position;
    std::vector<std::int32_t> leaf;
    std::vector<double> x, y;

    void add(const Located& rows, std::span<const std::uint8_t> wanted);
};

// What the leaves are for: subsets of a share of the rows, and moments of good ones, for one row.
struct Aim {
    Objective objective = Objective::r2;
    double share = 1;
    std::vector<Moments> starts;
};

class Partition {
  public:
    Partition(Placing at, std::vector<Node> nodes, std::vector<std::int32_t> leaf);
    // Of a sample as given, into at most so many leaves.
    static Partition of_sample(const Placing& at, std::span<const double> x,
                               std::span<const double> y, int leaves, const Aim& aim);

    const Placing& placing() const { return at_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    // Of every node its leaf, -1 for inner ones.
    const std::vector<std::int32_t>& leaf() const { return leaf_; }
    int leaves() const { return leaves_; }
    // Leaves by how likely they are to be opened, where the partition was just made with an aim.
    const std::vector<std::int32_t>& nearest() const { return nearest_; }

    // The leaf of every row as given, -1 where a value is missing.
    std::vector<std::int32_t> locate(std::span<const double> x, std::span<const double> y) const;
    // Adds rows to the table, those of wanted leaves alone where `wanted` is not empty. Gives back
    // how many had a missing value.
    std::int64_t add(std::span<const double> x, std::span<const double> y,
                     std::span<const std::uint8_t> wanted, std::span<Leaf> table) const;
    // Adds all rows and picks those of wanted leaves.
    std::int64_t add_and_pick(std::span<const double> x, std::span<const double> y,
                              std::span<const std::uint8_t> wanted, std::span<Leaf> table,
                              Picked& rows) const;
    // Those of wanted leaves alone.
    Picked pick(std::span<const double> x, std::span<const double> y,
                std::span<const std::uint8_t> wanted) const;

    // The same with some leaves cut into 2^levels pieces each, at the middle of the wider side of
    // what they hold. The first piece keeps the leaf's number, the others get new ones at the end.
    Partition refined(std::span<const std::int32_t> leaves, std::span<const Leaf> table,
                      int levels) const;

  private:
    Placing at_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> leaf_;
    int leaves_ = 0;
    std::vector<std::int32_t> nearest_;
    Locator locator_;
};

// The different values of a column but missing ones, in order of appearance; false if there are
// more than `most`.
bool distinct(std::span<const double> column, std::size_t most, std::vector<double>& found);

}  // namespace quadsweep::outofcore
