// cov(f, g) > t: one searched mean, one free one. cov is that of x and y, dv that of x - y and
// x + y, and 4 cov(f, g) = var(f + g) - var(f - g). The mean of f + g is free, and the less it
// varies between good subsets the better, so f and g are first brought to the same spread: dividing
// f by what multiplies g changes nothing else.
#include <algorithm>
#include <cmath>

#include "line.hpp"
#include "plane/tuning.hpp"

namespace quadsweep {
namespace {

class Difference final : public LineCriterion {
  public:
    Difference(const Ranges& r, const Centred& good, Affine f, Affine g, double score, double tol)
        : LineCriterion(r.k), tol_(tol) {
        const auto spread = [&](const Affine& of) {
            return of.x * of.x * good.a + of.y * of.y * good.b + 2 * of.x * of.y * good.c;
        };
        balance_ = std::sqrt(std::sqrt(spread(f) / spread(g)));
        balance_ =
            balance_ > 0 ? std::clamp(balance_, 1 / tuning::most_balance, tuning::most_balance) : 1;
        f = (1 / balance_) * f;
        g = balance_ * g;
        const Affine e = f - g;
        const auto [x_least, x_most] = std::minmax({e.x * r.x_lo, e.x * r.x_hi});
        const auto [y_least, y_most] = std::minmax({e.y * r.y_lo, e.y * r.y_hi});
        const double rounding =
            1e-15 * (x_most - x_least + y_most - y_least + std::fabs(x_most) + std::fabs(y_most));
        Frame frame{e, {}, f + g, {}, 0, 0, 0, 0};
        frame.lo2 = x_least + y_least - rounding;
        frame.hi2 = x_most + y_most + rounding;
        frames_.push_back(frame);
        s_ = -1;
        aim(score);
    }
    void aim(double score) override {
        t_ = score + tol_;
        d_ = 4 * t_;
    }
    double upper(const Box&, double value) const override {
        return t_ - value / (4 * least_k_) * (1 + 1e-12);
    }
    std::unique_ptr<Criterion> clone() const override {
        return std::make_unique<Difference>(*this);
    }
    double constant() const override { return balance_; }

  private:
    double tol_, t_ = 0, balance_ = 1;
};

}  // namespace

std::unique_ptr<Criterion> product_above(const Ranges& ranges, const Centred& good, const Affine& f,
                                         const Affine& g, double score, double tol) {
    return std::make_unique<Difference>(ranges, good, f, g, score, tol);
}

}  // namespace quadsweep
