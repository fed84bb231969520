// The fit to all rows but some, in coordinates in which the controls are orthonormal and the term
// has length one: everything that the bound of what else is removed starts from.
#pragma once

#include <vector>

#include "question.hpp"

namespace quadsweep::scores {

class Base {
  public:
    // Without these items.
    Base(const Question& question, const std::vector<int>& removed);

    // Whether doubles tell what is left of every column; else nothing else is filled in.
    bool is_clear() const { return clear_; }
    // By how much C passes T |S|, or misses it: the test is lost, or gained, at zero and below.
    double distance() const;

    int q = 0, width = 0;  // controls; and with the term, residual and outcome
    double c = 0;          // C
    double squared = 0;    // |S|^2
    double rounding = 0;   // of sums of products of columns of length one
    // Row by row, about the units' means: controls, term, residual, outcome without its controls.
    std::vector<double> row;
    const double* at(int i) const { return row.data() + static_cast<std::size_t>(i) * width; }
    std::vector<char> kept;
    std::vector<int> item_gone;  // whether an item is
    std::vector<double> weight;  // of every row's score: (1 - leverage)^-exponent
    std::vector<double> leverage, leverage_with_term;
    // Of each cluster, or part of an item: its score; and how it moves with the coefficients of the
    // term on the controls (q), of the residual on these and the term (q + 1), and with both (q by
    // q + 1; not where clusters are rows).
    std::vector<double> score, by_term, by_residual, by_both;
    std::vector<double> direction;  // scores, or gained: over their length
    // Sums over clusters: of direction times by_term and by_residual, and bounds of the length of
    // direction times by_both, and of the others' largest stretch.
    std::vector<double> pull_term, pull_residual;
    // Where clusters go with their items, the same sums over those of each item, and of direction
    // times the score.
    std::vector<double> item_square, item_term, item_residual, item_both;
    double pull_both = 0, stretch_term = 0, stretch_residual = 0, stretch_both = 0;

  private:
    bool orthonormalise(const Question& question);
    bool weigh(const Question& question);
    void sum_clusters(const Question& question);
    void sum_directions(const Question& question);
    void sum_items(const Question& question);

    bool clear_ = false, gained_ = false;
    double threshold_ = 0;
    std::vector<int> cluster_of_row_;
};

}  // namespace quadsweep::scores
