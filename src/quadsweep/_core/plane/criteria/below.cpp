// r > -t with t > 0, for data whose best subsets all have a negative correlation. With y turned
// over (Y = -y) it reads r(x, Y) < t, that is, for every tau > 0,
//
//     rho SS(Y + tau x) - SS(Y - tau x)  <  0.
//
// The roles of the parameters swap: the mean gamma of U = Y + tau x is searched, tau and the mean
// alpha of W = Y - tau x are free:
//
//     cost = rho (U - gamma)^2 - (W - alpha)^2.
//
// tau is chosen anew for each box (divided by tau the bound is concave in it, and climbs towards
// sqrt(b/a) of the chosen points), so gamma alone would not mean the same from box to box. Boxes
// are rectangles of means instead: p2 = mean of Y + tau0 x, p1 = mean of Y - tau0 x, with tau0 that
// of a good subset. Then gamma = p2 (1 + tau/tau0)/2 + p1 (1 - tau/tau0)/2, and p1 hardly matters.
// Only the two extremes of gamma are corners.
#include <algorithm>
#include <cmath>

#include "ascent.hpp"
#include "criteria.hpp"
#include "plane/tuning.hpp"

namespace quadsweep {
namespace {

class Below final : public Criterion {
  public:
    Below(const Ranges& r, double tau0, double score, double tol) : r_(r), tau0_(tau0), tol_(tol) {
        aim(score);
    }

    std::vector<Box> roots() const override {
        const double x_lo = tau0_ * r_.x_lo, x_hi = tau0_ * r_.x_hi;
        Box box = make_root(0, -r_.y_hi - x_hi, -r_.y_lo - x_lo, -r_.y_hi + x_lo, -r_.y_lo + x_hi);
        box.multipliers =
            BelowMultipliers{.curvature = -4.0 * static_cast<double>(r_.k), .tau = tau0_};
        return {box};
    }
    void aim(double score) override {
        t_ = -(score + tol_);
        rho_ = (1 - t_) / (1 + t_);
    }
    bool valid() const override { return t_ > 0; }

    Corners corners(Box& box, Chooser& chooser, Choice& best) const override {
        best = search_multipliers(box, chooser);
        Corners out;
        out.count = 2;
        for (int q = 0; q < 2; ++q) {
            out.node[q].cost = cost(box, multipliers(box));
            out.node[q].cost.l.c = 2 * std::sqrt(rho_) * sign2(q) * gamma_width(box);
        }
        return out;
    }
    // rho SS(U) - SS(W) = 2 tau (1 + rho) c - (1 - rho)(b + tau^2 a) >= value: with
    // b + tau^2 a >= 2 tau sqrt(ab), r = c / sqrt(ab) >= t + value / (2 tau (1 + rho) sqrt(ab)).
    double upper(const Box& box, double value) const override {
        const double ab = std::sqrt(r_.a_least) * std::sqrt(r_.b_least);
        const double r = t_ + value * (1 + 1e-12) / (2 * multipliers(box).tau * (1 + rho_) * ab);
        return ab > 0 ? std::min(-r, 1.0) : 1.0;
    }
    double width_cost(const Box& box, int parameter, const Choice&) const override {
        const double width = box.half[parameter] * share(box, parameter);
        return rho_ * static_cast<double>(r_.k) * width * width;
    }
    double pull(const Box& box, Place point, Place mean) const override {
        const Affine p = cost(box, multipliers(box)).p;
        return std::fabs(p(point.x, point.y) - p(mean.x, mean.y));
    }
    FreeMean free_mean(const Box& box) const override {
        const BelowMultipliers& m = multipliers(box);
        return {m.alpha, m.alpha, m.alpha, m.tau};
    }
    std::unique_ptr<Criterion> clone() const override { return std::make_unique<Below>(*this); }

#ifdef QUADSWEEP_DEBUG_SOLUTION
    std::optional<Place> own(int, const Moments& sums, double k) const override {
        return Place{(-sums.y - tau0_ * sums.x) / k, (-sums.y + tau0_ * sums.x) / k};
    }
#endif

  private:
    static BelowMultipliers& multipliers(Box& box) {
        return std::get<BelowMultipliers>(box.multipliers);
    }
    static const BelowMultipliers& multipliers(const Box& box) {
        return std::get<BelowMultipliers>(box.multipliers);
    }

    // |d gamma / d p|
    double share(const Box& box, int parameter) const {
        const double ratio = multipliers(box).tau / tau0_;
        return parameter == 1 ? (1 + ratio) / 2 : std::fabs(1 - ratio) / 2;
    }
    double gamma_width(const Box& box) const {
        return (box.half[0] * share(box, 0) + box.half[1] * share(box, 1)) * (1 + 1e-12);
    }

    Cost cost(const Box& box, const BelowMultipliers& m) const {
        const double ratio = m.tau / tau0_;
        const double gamma = box.centre[1] * (1 + ratio) / 2 + box.centre[0] * (1 - ratio) / 2;
        const Affine w = axis_y(-1) - m.tau * axis_x() - m.alpha;
        return {std::sqrt(rho_) * (axis_y(-1) + m.tau * axis_x() - gamma), {}, w, w, -1, 0};
    }

    // tau halfway towards that of the chosen points, alpha anew for it, while that gains enough.
    Choice search_multipliers(Box& box, Chooser& chooser) const {
        BelowMultipliers& m = multipliers(box);
        Choice best = search_alpha(box, m, box.lambda, chooser);
        for (int step = 0; step < tuning::tau_steps && best.weight > 1; ++step) {
            const Centred s = centred(best.moments, best.weight);
            if (!(s.a > 0 && s.b > 0)) break;
            const double way = std::log(std::sqrt(s.b / s.a) / m.tau);
            const double worth = tuning::tau_share * std::fabs(best.value);
            if ((1 - rho_) * s.b * way * way <= worth) break;
            BelowMultipliers trial = m;
            trial.tau = m.tau * std::exp(way / 2);
            const double mean_x = best.moments.x / best.weight;
            trial.alpha -= (trial.tau - m.tau) * mean_x;
            double lambda = box.lambda;
            const Choice choice = search_alpha(box, trial, lambda, chooser);
            if (choice.value / trial.tau <= best.value / m.tau) break;
            best = choice;
            m = trial;
            box.lambda = lambda;
        }
        return best;
    }

    Choice search_alpha(const Box& box, BelowMultipliers& m, double& lambda,
                        Chooser& chooser) const {
        const auto evaluate = [&](double alpha, double& slope) {
            m.alpha = alpha;
            const Choice c = chooser.choose(cost(box, m), 0, lambda);
            lambda = c.lambda;
            slope = 2 * (-c.moments.y - m.tau * c.moments.x - alpha * c.weight);
            return c;
        };
        const Choice best = ascend(m.alpha, m.curvature, 8.0 * static_cast<double>(r_.k), evaluate);
        lambda = best.lambda;
        return best;
    }

    Ranges r_;
    double tau0_, tol_, t_ = 0, rho_ = 0;
};

}  // namespace

std::unique_ptr<Criterion> correlation_below(const Ranges& ranges, const Centred& good,
                                             double score, double tol) {
    const double tau0 = good.a > 0 && good.b > 0 ? std::sqrt(good.b / good.a) : 1;
    return std::make_unique<Below>(ranges, tau0, score, tol);
}

}  // namespace quadsweep
