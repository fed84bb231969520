// Can removing up to m free items, besides those already removed, make the test lost or gained? The
// bound is additive over items. It narrows boxes of the removed sums and excludes items.
#pragma once

#include <memory>
#include <vector>

#include "base.hpp"
#include "choices.hpp"
#include "question.hpp"
#include "sets.hpp"
#include "shared/control.hpp"

namespace quadsweep::scores {

enum class Outcome {
    refuted,  // no removal of the node breaks the claim
    open,
    found,    // the items removed for good break it by themselves
    near,     // nothing else can be removed, and rounding hides whether these break it
    unknown,  // ill-conditioned, or too many sets of items
};

class Bound {
  public:
    Bound(const Question& question, const std::vector<int>& removed, int m, double most_sets,
          const Control& control);

    // Erases from `free` the items that no breaking removal contains.
    Outcome run(std::vector<int>& free);

    double missing() const { return missing_; }  // distance of the bound from zero
    int worst() const { return worst_; }         // the item to branch on

  private:
    double reach(int k) const { return std::max(high_[k], -low_[k]); }

    Outcome look(std::vector<int>& free);
    void measure_sets();
    void sum_norms();
    void sum_boxes();
    void sum_rows();
    bool bound_shifts();
    bool bound_leverages();
    void cost_sets();
    double cost_of_set(std::size_t s, double& of_product) const;
    double sum_of_item(int item, double sum) const;
    double most_of(const double* by, const double* wrong, int dimension, int from, double wider,
                   double length) const;
    double rest() const;
    void choose_scale(bool first);
    void offer(double scale, double fixed);
    void narrow_boxes();
    void choose_worst();

    const Question& question_;
    const Base base_;
    const Control& control_;
    int q_, m_;
    double most_sets_;
    std::unique_ptr<Choices> choices_;
    std::unique_ptr<Sets> sets_;

    std::vector<double> tops_;  // of each cluster: the three largest sums of lengths
    std::vector<double> low_, high_;
    std::vector<double> multiplier_[2];  // the best for each end of the box; 0: none narrowed it
    std::size_t summed_ = 0;             // number of free items when pairs were last summed
    double most_term_ = infinity, most_outcome_ = infinity, most_residual_ = infinity;
    double most_k1_ = infinity, most_k2_ = infinity;
    // Bounds on lengths: the three sums of products, the coefficients, and what these add to sums.
    double length_term_ = 0, length_outcome_ = 0, length_residual_ = 0;
    double k1_ = 0, k2_ = 0, t_ = 0, r_ = 0, t_more_ = 0, r_more_ = 0;
    std::vector<double> growth_;  // growth of the weights: a matrix

    std::vector<double> of_product_, of_scores_, cost_, trial_;
    double scale_ = 0, need_ = 0, total_ = 0, best_ = 0, margin_ = 0, missing_ = 0;
    double cancelled_ = 0;  // sum of the squared scores that are subtracted
    int worst_ = -1;
};

}  // namespace quadsweep::scores
