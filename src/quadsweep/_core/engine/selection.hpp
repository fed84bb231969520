// The k cheapest points of a tree of cells, opening only the cells the threshold cuts.
#pragma once

#include <vector>

#include "box.hpp"
#include "cells.hpp"
#include "planar/concentrate.hpp"
#include "shared/cost.hpp"

namespace quadsweep {

struct Selection {
    double weight = 0;
    Moments moments;
    std::vector<int> cells;  // kept whole
    std::vector<Decided::Copies> points;
    double looked_at = 0;  // cells and points costed on the way
};

Selection cheapest(const Cells& cells, const Quadratic& cost, int k);

// Original indices, sorted.
std::vector<int> indices(const Cells& cells, const Selection& selection);

// Ends of the range of a quadratic over a cell.
struct CellRange {
    double low, high;
};
CellRange range_over(const Quadratic& about_centre, const Cell& cell);

// The same quadratic about another point.
Quadratic moved(const Quadratic& f, double x0, double y0);

// A gain as a cost.
Quadratic loss(const Gain& gain);

// Concentration steps (concentrate.hpp) on the tree, from a selection, or from moments alone
// (weight 0): its gradient's k cheapest points, while the score rises. `score` is that of what is
// returned. A walk whose last step leaves no hope of passing `worth` ends there.
Selection concentrate(const Cells& cells, Selection from, Objective objective, int k, double& score,
                      double worth = undefined);

}  // namespace quadsweep
