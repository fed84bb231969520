// An upper bound on what m candidates can take from the form: scaled diagonal dominance, both
// orders (docs/theory/many-controls.md).
//
// With w = p + q, P = (I - K_OO)^-1, a = K_OO w_O and any d > 0, l_i the row sum of the m - 1
// largest |K_ij| d_j / d_i and |K_ii|:
//
//     what O takes <= sum over O of c_i + (w_i a_i + a_i^2 / (1 - l_i)) / 4      (second order)
//     what O takes <= sum over O of c_i + w_i^2 l_i / (1 - l_i) / 4               (first order)
//
// c_i = p_i q_i - extra_i. a_i lies between -A-_i and A+_i, the sums of the m - 1 largest K_ij w_j
// of either sign, and the second order is convex in it. A candidate's sums are formed only while
// bounds that cost nothing (products of lengths, or what was known before) leave it among the m
// largest.
#pragma once

#include <memory>
#include <vector>

#include "form.hpp"
#include "shared/control.hpp"

namespace quadsweep::many_controls {

// Of each candidate: bounds from above of its sums, with d and w that they are for.
struct Sums {
    std::vector<double> d, l, plus, minus;
};

struct Outcome {
    bool closed = false;
    double total = 0;          // of the m largest terms
    std::vector<double> term;  // of each candidate; infinite where its l reaches 1
    int worst = -1;            // the candidate to branch on
};

// When to end in the middle of a bound, from any thread.
struct Deadline {
    const Control& control;
    double seconds = infinity;
    bool over() const { return control.stopped() || control.seconds() >= seconds; }
};

class Bound {
  public:
    // The candidates that are marked, of which up to m go.
    Bound(const State& state, const std::vector<char>& marked, int m, const Deadline& deadline);

    // Improves `sums`, which start from what was known, or empty: d first so that no l is near 1,
    // then so that the m largest terms are small.
    Outcome run(Sums& sums, int first_rounds, int rounds);

  private:
    void prepare();
    void quick(Sums& sums) const;
    void quick_l(Sums& sums) const;
    void evaluate(int i, Sums& sums, bool with_a);
    void evaluate_group(int g, Sums& sums, bool with_a);
    double term(int i, const Sums& sums, bool second, double most_l) const;
    double total(const Sums& sums, bool second, std::vector<double>& terms) const;
    void lower(Sums& sums) const;
    void balance(Sums& sums) const;
    double top(const double* values, int size, int k, double sign);
    void limit_mates(int i, double* values, double sign) const;

    const State& state_;
    const std::vector<char>& marked_;
    int m_;
    const Deadline& deadline_;
    bool plain_;
    std::vector<int> alive_;
    std::vector<double> w_, cost_, h_, square_;  // of each candidate; w of each row
    std::vector<double> length_;                 // of w of each candidate
    std::vector<double> gram_, u_, lambda_;      // of groups: Z'Z, Z'w, its largest eigenvalue
    std::vector<std::vector<int>> mates_;        // of each class, the marked candidates
    std::vector<char> exact_a_, exact_l_;
    std::vector<double> row_, value_, buffer_;
};

// After `removed` went: bounds of the sums of what is left, which `after` holds.
Sums inherited(const State& before, const std::vector<char>& marked, int removed,
               const State& after, const Sums& sums);

}  // namespace quadsweep::many_controls
