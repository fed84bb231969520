// The bound of a box (box.hpp) with its rounding, and what it decides about points.
#pragma once

#include <vector>

#include "box.hpp"
#include "loops.hpp"
#include "plane/cells.hpp"
#include "search/threshold.hpp"

namespace quadsweep::ellipse {

// What the bound chooses: `weight` of it, usually k. Positive values close the box.
struct Choice {
    double value = 0, lambda = 0, weight = 0;
    Moments moments;
};

class Bounder {
  public:
    explicit Bounder(const Cells& cells) : cells_(cells) {}

    double n_evaluations = 0;  // points costed

    // The determinant that is asked for.
    void aim(double determinant) { t_ = determinant; }
    // Takes from the box what none of its subsets can have; false if nothing is left.
    bool load(Box& box);
    // The bound without multipliers, and what it chooses.
    Choice plain(Box& box);
    // True if the box is closed, by what `plain` has found or with better multipliers.
    bool close(const Choice& plain);
    // By how much the bound, less its rounding, stays below zero.
    double missing() const { return error_ - value_; }
    double error() const { return error_; }

    // Takes from the box what no subset of it that passes keeps or does without; false if it is
    // closed by that.
    bool fix(Box& box);

    // How much the width of a parameter adds to what a point of a subset may cost.
    double width_cost(const Box& box, Parameter p) const;

  private:
    using Column = std::vector<double>;

    Rows rows();
    CostTask task(const Multipliers& free) const;
    Choice evaluate(const Multipliers& free, double lambda, bool guessed);
    Multipliers better(const Multipliers& now, const Choice& chosen) const;
    bool clear(const Multipliers& free, double lambda, double value);
    bool clear_by_f(const Choice& chosen);
    double kept_cost(const Multipliers& free) const;
    double kept_size(const Multipliers& free) const;
    double solve(double offset, double& lambda);
    double measure_error(const Multipliers& free, double lambda);

    const Cells& cells_;
    const Box* box_ = nullptr;
    double t_ = 1;
    Fit centre_;
    Moments kept_;
    int count_ = 0, padded_ = 0;
    Threshold threshold_{false};
    Undecided left_;  // what `fix` leaves open
    Column x_, y_, weight_, cost_, point_error_;
    double value_ = 0, lambda_ = 0, error_ = 0;
};

}  // namespace quadsweep::ellipse
