// r > t > 0, both for r and (either sign of y) for r2.
#include <algorithm>
#include <cmath>

#include "line.hpp"
#include "plane/tuning.hpp"

namespace quadsweep {
namespace {

class Above final : public LineCriterion {
  public:
    Above(const Ranges& r, bool squared, double score, double tol)
        : LineCriterion(r.k), r_(r), squared_(squared), tol_(tol) {
        // The subset's own slope sqrt(b/a) is one of the searched ones.
        const double least = 0.99 * std::sqrt(r.b_least_positive / r.a_most);
        const double most = 1.01 * std::sqrt(r.b_most / r.a_least_positive);
        for (int sign = +1; sign >= (squared ? -1 : +1); sign -= 2) {
            const double y_lo = sign > 0 ? r.y_lo : -r.y_hi, y_hi = sign > 0 ? r.y_hi : -r.y_lo;
            Frame flat{axis_y(sign),
                       axis_x(),
                       axis_y(sign),
                       axis_x(),
                       least,
                       std::min(most, tuning::turn),
                       0,
                       0};
            set_p2(flat, r.x_lo, r.x_hi, y_lo, y_hi);
            Frame steep{axis_x(), axis_y(sign),
                        axis_x(), axis_y(sign),
                        1 / most, std::min(1 / least, 1 / tuning::turn),
                        0,        0,
                        true};
            set_p2(steep, y_lo, y_hi, r.x_lo, r.x_hi);
            frames_.push_back(flat);
            frames_.push_back(steep);
        }
        aim(score);
    }

    void aim(double score) override {
        t_ = squared_ ? std::sqrt(score + tol_) : score + tol_;
        if (t_ == 0) t_ = 1e-18;  // far below what a bound is rounded up by
        s_ = -(1 - t_) / (1 + t_);
    }
    bool valid() const override { return t_ > 0; }

    // SS- >= rho SS+ + value, and SS+ + SS- = 2 (b + p1^2 a), so where r > t the ratio SS-/SS+ is
    // at least rho + value (1 + rho) / (2 (b + p1^2 a)).
    double upper(const Box& box, double value) const override {
        const bool steep = frames_[box.frame].steep;
        const double p1 = std::max(box.centre[0] - box.half[0], 0.0);
        const double a = steep ? r_.b_least : r_.a_least, b = steep ? r_.a_least : r_.b_least;
        const double rho = -s_ + value * (1 - s_) / (2 * (b + p1 * p1 * a));
        if (!(rho > 0)) return 1;
        const double t = std::min((1 - rho) / (1 + rho) * (1 + 1e-12), 1.0);
        return squared_ ? t * t : t;
    }

    std::unique_ptr<Criterion> clone() const override { return std::make_unique<Above>(*this); }

  private:
#ifdef QUADSWEEP_DEBUG_SOLUTION
    double own_slope(const Frame&, const Centred& s) const override {
        return s.c > 0 ? std::sqrt(s.b / s.a) : -1;
    }
#endif
    Ranges r_;
    bool squared_;
    double tol_, t_ = 0;
};

}  // namespace

std::unique_ptr<Criterion> correlation_above(const Ranges& ranges, bool squared, double score,
                                             double tol) {
    return std::make_unique<Above>(ranges, squared, score, tol);
}

}  // namespace quadsweep
