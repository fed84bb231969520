// The k cheapest points of a tree of cells, opening only the cells the threshold cuts.
#pragma once

#include <optional>
#include <vector>

#include "box.hpp"
#include "cells.hpp"
#include "plane/concentrate.hpp"
#include "shared/cost.hpp"

namespace quadsweep {

struct Selection {
    double weight = 0;
    Moments moments;
    std::vector<int> cells;  // kept whole
    std::vector<Copies> points;
    std::vector<int> cut;      // unloaded cells that the threshold cuts
    double n_evaluations = 0;  // cells and points costed on the way
};

// What is done with unloaded cells that the threshold cuts: each is kept whole where there is room
// for it and else left out, or counted in part, which is an estimate of what its points would give.
enum class Cut { whole, in_part };

Selection cheapest(const Cells& cells, const Quadratic& cost, double k, Cut rule = Cut::whole);

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
// (weight 0): the k cheapest points of its gradient, while the score rises. Near the end every step
// is a share of the last one, so where they go on for long a walk also tries the place they lead
// to.
class Walk {
  public:
    Walk(const Cells& cells, Objective objective, double k, Selection from, Cut rule = Cut::whole);

    // False once the score no longer rises.
    bool step();
    const Selection& at() const { return at_; }
    double score() const { return score_; }
    // Whether steps that go on like the last ones leave it far behind `worth`.
    bool hopeless(double worth) const;

  private:
    Selection chosen_at(const Moments& about, double& score) const;
    std::optional<Moments> ahead() const;
    bool move_to(Selection next, double score);

    const Cells& cells_;
    Objective objective_;
    double k_;
    Cut rule_;
    Selection at_;
    Moments before_;  // of the place before
    double score_ = undefined, rise_ = infinity, last_rise_ = infinity;
    int steps_ = 0;
};

// A walk to its end, or to where it is hopeless. `score` is that of what is returned.
Selection concentrate(const Cells& cells, Selection from, Objective objective, double k,
                      double& score, double worth = undefined, Cut rule = Cut::whole);

}  // namespace quadsweep
