// The fit without the items removed for good, in coordinates with orthonormal controls and a term
// of length one. The bound on further removals starts from it.
#pragma once

#include <vector>

#include "question.hpp"

namespace quadsweep::scores {

class Base {
  public:
    // Fits without these items.
    Base(const Question& question, const std::vector<int>& removed);

    // Whether every column is well-conditioned after the removal; else no other member is set.
    bool is_clear() const { return clear_; }
    // Distance to a lost (C - T |S|) or gained test (T |S| - C): it is so at zero or below.
    double distance() const;

    int q = 0, width = 0;  // number of controls; columns of `row`
    double c = 0;          // C
    double squared = 0;    // |S|^2
    double rounding = 0;   // in sums of products of columns of length one
    // Row by row, centred at the units' means: controls, term, residual, outcome less controls.
    std::vector<double> row;
    const double* at(int i) const { return row.data() + static_cast<std::size_t>(i) * width; }
    std::vector<char> kept;
    std::vector<int> item_gone;  // whether each item is removed
    std::vector<double> weight;  // of each row's score: (1 - leverage)^-exponent
    std::vector<double> leverage, leverage_with_term;
    // For each cluster: its score, and the derivatives of the score. They are by the coefficients
    // of the term on the controls (q), by those of the residual on controls and term (q + 1), and
    // by both (q by q + 1; absent if clusters are rows).
    std::vector<double> score, by_term, by_residual, by_both;
    std::vector<double> direction;  // scores; if gained, divided by their length
    // Sums over clusters of direction times by_term and by_residual. Below, pull_both bounds that
    // of direction times by_both, and stretch_* bound how far each of the three can stretch.
    std::vector<double> pull_term, pull_residual;
    // If clusters are removed with their items: the same sums for each item, and those of direction
    // times score.
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
