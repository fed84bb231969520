// Distinct points with weights, in the order of a kd-tree whose nodes ("cells") hold moments.
//
// Identical points become one point with a weight, so that rounded data and counts are as small as
// they look. A cell knows its rectangle, the weight in it and its moments: enough to bound any
// quadratic over its points, and to add up exactly where a quadratic stays on one side of a
// threshold over the whole rectangle.
#pragma once

#include <cstdint>
#include <span>

#include "shared/array.hpp"
#include "shared/control.hpp"
#include "shared/moments.hpp"
#include "shared/points.hpp"

namespace quadsweep {

struct Cell {
    double x, y;    // centre of the rectangle
    double hx, hy;  // half its sides
    double weight;
    Moments sums;     // about the origin
    int first, last;  // its points, in tree order
    int left = -1;    // children, -1 in a leaf; the right one follows the left one
    bool leaf() const { return left < 0; }
    bool unloaded() const { return leaf() && first == last; }  // its points are not in memory
};

struct Cells {
    Array<double> x, y;  // distinct points in tree order
    Array<int> weight;
    Array<int> member, first_member;  // point p stands for member[first_member[p] ...]
    Array<Cell> cell;                 // cell[0] is the root
    double roundings = 0;             // in any cell's moments, relative to its sums of squares
    double reach_x = 0, reach_y = 0;  // no coordinate is farther from the origin
    bool resident = true;             // every point has its members; false: see outofcore/

    int size() const { return static_cast<int>(x.size()); }
    std::span<const int> members(int p) const {
        return {member.data() + first_member[p],
                static_cast<std::size_t>(first_member[p + 1] - first_member[p])};
    }
};

// Points are identical if their rows as given are, wherever they are placed.
// `control` may end it half-way: then there are no cells.
Cells make_cells(const Points& points, const Placing& at, int n_jobs, Control* control = nullptr);

}  // namespace quadsweep
