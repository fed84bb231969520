// lts < t. A line steeper than `turn` is written x = p1 y + p2, and its residuals in y are 1/p1
// times those in x.
#include <algorithm>
#include <cmath>

#include "line.hpp"
#include "plane/tuning.hpp"

namespace quadsweep {
namespace {

class Residual final : public LineCriterion {
  public:
    Residual(const Ranges& r, double score, double tol) : LineCriterion(r.k), tol_(tol) {
        Frame flat{axis_y(), axis_x(), {}, {}, -tuning::turn, tuning::turn, 0, 0};
        set_p2(flat, r.x_lo, r.x_hi, r.y_lo, r.y_hi);
        frames_.push_back(flat);
        // No subset with any variance in x has a steeper line than this; the others lose nothing by
        // a flat one.
        const double least = 0.99 * std::sqrt(r.a_least_positive / r.b_most);
        for (const double sign : {1.0, -1.0}) {
            Frame steep{axis_x(), axis_y(), {}, {}, 0, 0, 0, 0, true};
            steep.lo1 = sign > 0 ? least : -1 / tuning::turn;
            steep.hi1 = sign > 0 ? 1 / tuning::turn : -least;
            if (r.x_constant || least > 1 / tuning::turn) continue;  // no line is steep
            set_p2(steep, r.y_lo, r.y_hi, r.x_lo, r.x_hi);
            frames_.push_back(steep);
        }
        aim(score);
    }
    void aim(double score) override { t_ = -(score + tol_); }
    bool valid() const override { return t_ > 0; }

    double upper(const Box& box, double value) const override {
        double p1 = 1;
        if (frames_[box.frame].steep) p1 = std::fabs(box.centre[0]) - box.half[0];
        const double least = p1 > 0 ? t_ + value / (p1 * p1) * (1 + 1e-12) : 0;
        return -std::max(least, 0.0);
    }
    std::unique_ptr<Criterion> clone() const override { return std::make_unique<Residual>(*this); }

  private:
#ifdef QUADSWEEP_DEBUG_SOLUTION
    double own_slope(const Frame& f, const Centred& s) const override {
        return f.steep ? s.b / s.c : s.c / s.a;
    }
#endif
    double base(const Frame& f, double p1) const override { return f.steep ? -t_ * p1 * p1 : -t_; }

    double tol_, t_ = 0;
};

}  // namespace

std::unique_ptr<Criterion> residuals_below(const Ranges& ranges, double score, double tol) {
    return std::make_unique<Residual>(ranges, score, tol);
}

}  // namespace quadsweep
