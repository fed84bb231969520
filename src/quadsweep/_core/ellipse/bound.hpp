// The bound of a box (box.hpp) with its rounding, and what it decides about points.
#pragma once

#include <vector>

#include "box.hpp"
#include "engine/cells.hpp"
#include "loops.hpp"

namespace quadsweep::ellipse {

// What the bound at the centre chooses: `weight` of it, usually k.
struct Choice {
    double value = 0, lambda = 0, weight = 0;
    Moments moments;
};

class Bounder {
  public:
    explicit Bounder(const Cells& cells) : cells_(cells) {}

    double looked_at = 0;  // points costed

    // Multiplies e^2: one over the determinant that is asked for.
    void aim(double determinant) { aimed_ = weight_of_e_ = 1 / determinant; }

    // Takes from the box what none of its subsets can have; false if nothing is left.
    bool load(Box& box);
    // The bound at the centre of the box without multipliers; chooses those for the corners.
    Choice centre(Box& box);
    // True if f alone shows that no k points have their mean and spread of y here.
    bool too_wide(const Box& box, const Choice& choice);
    // All corners. If the least is at least the error, the box is closed.
    void bound(const Box& box);
    double least() const;
    Choice chosen_at_worst() const;
    double error() const { return error_; }

    // Takes from the box what no subset of it that passes keeps or does without; false if it is
    // closed by that.
    bool fix(Box& box);

    // How much of the bound the width of a parameter costs, for what the centre has chosen.
    double width_cost(const Box& box, const Choice& choice, Parameter p) const;

  private:
    using Column = std::vector<double>;

    Rows rows();
    CentreTask centre_task(const Multipliers& free) const;
    double kept_cost(const Multipliers& free, const Fit& step) const;
    double kept_size(const Multipliers& free, const Reach& reach) const;
    Choice evaluate(const Multipliers& free, double lambda, bool guessed);
    Multipliers multipliers(const Box& box, const Choice& at) const;
    double guess() const;
    double solve(const double* cost, Below at_lambda, double offset, double& lambda,
                 bool positive_is_enough);
    Reach reach(const Box& box) const;
    double measure_error(const Box& box);
    void corner(const Box& box, int q);

    const Cells& cells_;
    const Box* box_ = nullptr;
    double aimed_ = 1, weight_of_e_ = 1, base_ = 2;
    Fit centre_;
    Multipliers free_;
    Moments kept_;
    int count_ = 0, padded_ = 0;
    double density_ = 0, lambda0_ = 0;
    Column x_, y_, weight_, P_, E_, H_, point_error_, out_, in_;
    std::vector<Column> cost_;
    double lambda_[corners] = {}, value_[corners] = {};
    double error_ = 0;
};

}  // namespace quadsweep::ellipse
