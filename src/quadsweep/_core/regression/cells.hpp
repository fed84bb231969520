// A tree of cells over the rows of a search: each knows its rectangle in all columns, how many
// copies it holds and their sums of products. That is enough to bound any quadratic of the columns
// over its rows, and to count them in or out as a whole.
//
// Rows are put in the order of the tree, so that a cell is a range of items. Cells are halved where
// they are longest: the columns are placed (table.hpp) so that lengths compare.
#pragma once

#include <functional>
#include <vector>

#include "items.hpp"

namespace quadsweep::regression {

struct Cells {
    struct Cell {
        int first, last;  // its items
        int left = -1;    // children, -1 in a leaf; the right one follows the left one
        int copies = 0;

        bool leaf() const { return left < 0; }
        bool unloaded() const { return false; }
    };

    std::vector<Cell> cell;  // cell[0] is the root
    int columns = 0;
    // Columns in which a quadratic is bounded, the first ones: all that are searched, and active
    // ones that are no combinations of them.
    int varying = 0;
    std::vector<std::vector<double>> combination;  // see Placed
    double roundings = 0;  // in any mean of products, relative to the squares' means

    bool empty() const { return cell.empty(); }
    // centre and half of each column, then the means of products in the order of a Gram
    const double* numbers(int at) const { return numbers_.data() + stride() * at; }
    void add(Gram& to, int at) const;

  private:
    friend class CellBuilder;
    std::size_t stride() const { return 2 * columns + Gram::entries(columns); }

    std::vector<double> numbers_;
};

// Reorders the items. Empty, and nothing is reordered, where time is over; any thread asks.
Cells make_cells(Items& items, const Placed& placed, int leaf_items, int n_jobs,
                 const std::function<bool()>& over);

}  // namespace quadsweep::regression
