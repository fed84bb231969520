// The bound of a box: over its undecided points, the least sum of costs that fills up the subset
// (search/threshold.hpp), at each corner, from below, rounding included. Cells that are not opened
// stand for two weights (search/opening.hpp).
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "box.hpp"
#include "cells.hpp"
#include "criterion.hpp"
#include "search/opening.hpp"
#include "search/threshold.hpp"
#include "shared/hot_loops.hpp"

namespace quadsweep {

struct Bound {
    int corners = 0;
    double value[4];   // lower bounds, before `error` is taken off
    double lambda[4];  // the thresholds that gave them
    double error = 0;  // forward bound on the rounding in any of them

    double least() const;
};

class Bounder final : public Chooser {
  public:
    // `k_or_more`: subsets of `need` or more points; then lambda is not below 0.
    Bounder(const Cells& cells, bool k_or_more) : cells_(cells), threshold_(k_or_more) {}

    // Copies the box's undecided items into rows for the loops; again whenever they change.
    void load(const Box& box);
    Choice choose(const Cost& cost, double base, double lambda) override;
    // At up to four nodes.
    Bound bound(std::span<const Node> nodes, double lambda);
    // What is chosen at the corner with the least bound.
    Choice chosen_at_worst(const Bound& bound) const;

    // How far the unopened cells may have lowered the bound, and opening those that matter most.
    double coarseness() const { return coarseness_; }
    bool open_cells(Box& box) const {
        return quadsweep::open_cells(cells_, cells_.weight, gap_, box.open);
    }
    // About what choose(), just called, would have given with every cell opened; rather more.
    double outlook(const Choice& chosen);
    void open_level(Box& box) const { quadsweep::open_level(cells_, cells_.weight, box.open); }
    void open_all(Box& box) const;  // down to points; unloaded cells stay
    // Unloaded cells of the box, as it was bounded, that the threshold cuts at some corner or
    // between two of them.
    std::vector<int> unloaded_and_cut(const Bound& bound) const;

    // Moves decided copies out of the undecided ones. False if the box can hold no subset.
    bool fix(Box& box, const Bound& bound);

    double n_evaluations = 0;     // points and cells costed so far
    bool rounding_counts = true;  // false: as if arithmetic were exact, to see that it matters

  private:
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    // Costs at one corner: points (padded), then the low ends of cells, then their high ends.
    struct Row {
        std::vector<double> cost, weight;
        double offset = 0;  // cost of the decided points, and the base
        double first_lambda = unknown;
        Tally first;  // of what is below it
    };
    void fill(Row& row, const Cost& cost, double base, double lambda);
    void load_cells();
    CellTable cell_table() const;
    double solve(const Row& row, double& lambda, bool positive_is_enough);
    void add_chosen(const Row& row, Choice& choice) const;
    void fill_up(const Row& row, Choice& choice) const;
    double touched_cells(const Bound& b) const;
    double rounding(const Bound& bound) const;
    double cell_roundings() const;
    CornerRows corner_rows(const Bound& bound, std::size_t from) const;
    Ends ends(const Row& row) const;  // of its cells
    void shrink_cells(const Row& row);
    void measure_coarseness(const Bound& bound);
    bool fix_cells(Box& box, const Bound& bound, Decided& newly);
    bool fix_points(Box& box, const Bound& bound, Decided& newly);

    const Cells& cells_;
    Threshold threshold_;
    const Box* box_ = nullptr;
    std::size_t points_ = 0, padded_ = 0, n_cells_ = 0;
    std::vector<double> x_, y_, w_;
    std::vector<double> cell_rows_[10];  // the columns of a CellTable
    Row row_[4], centre_;
    Magnitude magnitude_;
    std::vector<double> out_, in_;  // copies required, of each point or cell
    std::vector<double> gap_;       // coarseness of each cell
    double coarseness_ = 0;
};

}  // namespace quadsweep
