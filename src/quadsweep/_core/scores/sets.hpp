// The sums of products that each set of items takes along: those of the rows kept, minus those
// without the set.
#pragma once

#include <vector>

#include "base.hpp"
#include "choices.hpp"
#include "question.hpp"

namespace quadsweep::scores {

class Sets {
  public:
    Sets(const Question& question, const Base& base, const Choices& choices);

    // Positions among the values: products of the controls with the term, the outcome and the
    // residual (then of the term with the residual); then two norms, of the products of the
    // controls, and of those of controls and term.
    int at_outcome() const { return q_; }
    int at_residual() const { return 2 * q_; }
    int at_norm() const { return 3 * q_ + 1; }
    int values() const { return 3 * q_ + 3; }
    const double* value(int k) const { return value_.data() + k * n_; }
    double with_outcome(std::size_t s) const { return value(values())[s]; }  // term times outcome
    double with_itself(std::size_t s) const { return value(values() + 1)[s]; }
    double own(std::size_t s) const { return -value(3 * q_)[s]; }
    const double* both(std::size_t s) const { return both_.data() + s * q_ * (q_ + 1); }

    // Largest error of each value, if other sets of the same unit may be removed too.
    bool is_exact() const { return slack_.empty(); }
    double slack(int k, std::size_t s) const { return slack_.empty() ? 0 : slack_[k * n_ + s]; }
    double slack_with_outcome(std::size_t s) const { return slack(values(), s); }
    double slack_with_itself(std::size_t s) const { return slack(values() + 1, s); }
    double slack_of_own(std::size_t s) const { return slack(3 * q_, s); }
    double slack_of_both(std::size_t s) const { return slack(values() + 2, s); }

    // Upper bounds on the lengths of products: of the controls with the residual; of the term with
    // the controls and itself; of the controls with the controls and the term.
    double length(int which, std::size_t s) const;

  private:
    void measure(int a);
    void bound_means(int a);
    void store(std::size_t s, const double* products, const double* moves);

    const Question& question_;
    const Base& base_;
    const Choices& choices_;
    int q_;
    std::size_t n_;
    std::vector<double> value_, slack_;  // column by column, an entry for each set
    std::vector<double> both_;           // empty if clusters are removed with their items
    std::vector<double> mean_;           // how far a unit's mean may move
    std::vector<double> sums_, left_;    // of a set and of its prefixes
};

}  // namespace quadsweep::scores
