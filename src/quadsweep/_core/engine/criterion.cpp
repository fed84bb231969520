#include "criterion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadsweep {
namespace {

constexpr double turn = 1.75;  // where flat and steep parametrisations meet, away from slope 1
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

Box make_root(int frame, double lo1, double hi1, double lo2, double hi2) {
    Box box;
    box.frame = frame;
    box.centre[0] = lo1 + (hi1 - lo1) / 2;
    box.centre[1] = lo2 + (hi2 - lo2) / 2;
    // Rounding may not leave an edge uncovered.
    box.half[0] = (hi1 - lo1) / 2 * (1 + 1e-12) + 1e-14 * std::fabs(box.centre[0]);
    box.half[1] = (hi2 - lo2) / 2 * (1 + 1e-12) + 1e-14 * std::fabs(box.centre[1]);
    box.lambda = unknown;
    return box;
}

double signs(int corner, int parameter) { return (corner >> parameter & 1) != 0 ? 1.0 : -1.0; }

// Climbs a concave function of one multiplier, given its value and slope, by a bracket and secants;
// stops when a parabola promises less than a few per cent of the value. `at` and `curvature` (the
// slope's derivative, < 0) start from the parent's and are left at the best point found; a positive
// curvature is a guess at its size, not to be relied on for stopping. A kink may leave a curvature
// that promises nothing: no more than `most` of it is believed.
//
// evaluate(at, slope) -> Choice
template <class Evaluate>
Choice ascend(double& at, double& curvature, double most, Evaluate&& evaluate) {
    Choice best;
    double chosen = at, lo = -infinity, hi = infinity, s_lo = 0, s_hi = 0, stride = 1;
    double last = 0, last_slope = 0;
    for (int step = 0; step < 8; ++step) {
        double slope = 0;
        const Choice choice = evaluate(at, slope);
        if (choice.value > best.value) {
            best = choice;
            chosen = at;
        }
        if (slope == 0) break;
        if (step > 0 && at != last && slope != last_slope) {
            curvature = std::min((slope - last_slope) / (at - last), -1e-300);
        }
        const double believed = std::min(std::fabs(curvature), most);
        if (curvature < 0 && slope * slope <= 0.15 * believed * std::fabs(best.value)) break;
        last = at;
        last_slope = slope;
        if (slope > 0) {
            lo = at;
            s_lo = slope;
        } else {
            hi = at;
            s_hi = slope;
        }
        if (lo > -infinity && hi < infinity) {
            at = lo + (hi - lo) * (s_lo / (s_lo - s_hi));
            if (!(at > lo && at < hi)) break;
        } else {
            at += stride * slope / believed;
            stride *= 2;
        }
    }
    at = chosen;
    return best;
}

// e^2 + s U^2 + d with e = w - p1 wx - p2 linearised and, for s < 0, U = u + p1 ux - gamma exact
// and gamma affine in p1 and free: r, cov, dv, lts.
class LineCriterion : public Criterion {
  public:
    struct Frame {
        Affine w, wx, u, ux;
        double lo1, hi1, lo2, hi2;
        bool steep = false;
    };

    Corners corners(Box& box, Chooser& chooser, Choice& best) const override {
        best = search_gamma(box, chooser);
        const Frame& f = frames_[box.frame];
        const Affine e = f.w - box.centre[0] * f.wx - box.centre[1];
        Corners out;
        out.count = box.half[0] > 0 ? 4 : 2;
        for (int q = 0; q < out.count; ++q) {
            const double d1 = out.count == 4 ? signs(q, 1) * box.half[0] : 0;
            const double d2 = signs(q, 0) * box.half[1];
            Cost& cost = out.cost[q];
            cost.e = e;
            cost.l = 2.0 * (d1 * f.wx + d2);
            cost.p = cost.q = f.u + (box.centre[0] + d1) * f.ux - gamma(box, d1);
            cost.s = s_;
            cost.d = d_;
            out.base[q] = base(f, box.centre[0] + d1);
        }
        return out;
    }

    // The remainder that linearising dropped: sum of (X d1 + d2)^2 over the points chosen.
    double width_cost(const Box& box, int parameter, const Choice& worst) const override {
        const double h2 = box.half[parameter] * box.half[parameter];
        if (parameter == 1) return h2 * least_k_;
        const Affine& x = frames_[box.frame].wx;
        return h2 * std::max(x.x * x.x * worst.moments.xx + x.y * x.y * worst.moments.yy,
                             0.01 * least_k_);
    }

    double pull(const Box& box, double x, double y) const override {
        const Frame& f = frames_[box.frame];
        const Affine u = f.u + box.centre[0] * f.ux - box.multiplier[0];
        const Affine e = f.w - box.centre[0] * f.wx - box.centre[1];
        return s_ < 0 ? std::fabs(u(x, y)) : std::fabs(e(x, y));
    }

    std::vector<Box> roots() const override {
        std::vector<Box> out;
        for (std::size_t i = 0; i < frames_.size(); ++i) {
            const Frame& f = frames_[i];
            if (f.lo1 <= f.hi1) {
                out.push_back(make_root(static_cast<int>(i), f.lo1, f.hi1, f.lo2, f.hi2));
                out.back().multiplier[1] = 4 * s_ * least_k_;
            }
        }
        return out;
    }

  protected:
    virtual double base(const Frame&, double) const { return 0; }

    // gamma at distance d1 from the centre's p1.
    static double gamma(const Box& box, double d1) {
        return box.multiplier[0] + box.multiplier[2] * d1;
    }

    // The bound at the centre is concave in gamma, with slope 2 |s| (sum of U over the chosen).
    Choice search_gamma(Box& box, Chooser& chooser) const {
        const Frame& f = frames_[box.frame];
        const double p1 = box.centre[0];
        const Affine u = f.u + p1 * f.ux;
        Cost cost;
        cost.e = f.w - p1 * f.wx - box.centre[1];
        cost.s = s_;
        cost.d = d_;
        double lambda = box.lambda;
        const double most = -8 * s_ * least_k_;  // at least -2 s k even if the chosen stay the same
        const Choice best =
            ascend(box.multiplier[0], box.multiplier[1], most, [&](double gamma, double& slope) {
                cost.p = cost.q = u - gamma;
                const Choice c = chooser.choose(cost, base(f, p1), lambda);
                lambda = c.lambda;
                slope =
                    -2 * s_ * (u.x * c.moments.x + u.y * c.moments.y + (u.c - gamma) * c.weight);
                return c;
            });
        const Moments& m = best.moments;
        box.multiplier[2] =
            best.weight > 0 ? (f.ux.x * m.x + f.ux.y * m.y) / best.weight + f.ux.c : 0;
        box.lambda = best.lambda;
        return best;
    }

    explicit LineCriterion(int least_k) : least_k_(least_k) {}

    double least_k_;
    std::vector<Frame> frames_;
    double s_ = 0, d_ = 0;
};

Affine axis_x(double sign = 1) { return {sign, 0, 0}; }
Affine axis_y(double sign = 1) { return {0, sign, 0}; }

// The range of p2 = mean of (Y - p1 X) over a rectangle of means.
void set_p2(LineCriterion::Frame& f, double x_lo, double x_hi, double y_lo, double y_hi) {
    const double products[] = {f.lo1 * x_lo, f.lo1 * x_hi, f.hi1 * x_lo, f.hi1 * x_hi};
    f.lo2 = y_lo - *std::max_element(products, products + 4);
    f.hi2 = y_hi - *std::min_element(products, products + 4);
}

// r > t > 0, both for r and (either sign of y) for r2.
class Above final : public LineCriterion {
  public:
    Above(const Ranges& r, bool squared, double score, double tol)
        : LineCriterion(r.k), r_(r), squared_(squared), tol_(tol) {
        // The subset's own slope sqrt(b/a) is one of the searched ones.
        const double least = 0.99 * std::sqrt(r.b_least_positive / r.a_most);
        const double most = 1.01 * std::sqrt(r.b_most / r.a_least_positive);
        for (int sign = +1; sign >= (squared ? -1 : +1); sign -= 2) {
            const double y_lo = sign > 0 ? r.y_lo : -r.y_hi, y_hi = sign > 0 ? r.y_hi : -r.y_lo;
            Frame flat{
                axis_y(sign), axis_x(), axis_y(sign), axis_x(), least, std::min(most, turn), 0, 0};
            set_p2(flat, r.x_lo, r.x_hi, y_lo, y_hi);
            Frame steep{axis_x(), axis_y(sign),
                        axis_x(), axis_y(sign),
                        1 / most, std::min(1 / least, 1 / turn),
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
    Ranges r_;
    bool squared_;
    double tol_, t_ = 0;
};

// cov > t and dv > t: one searched mean, one free one. Both are covariances, of x and y or of x - y
// and x + y, and 4 cov(f, g) = var(f + g) - var(f - g). The mean of f + g is free, and the less it
// varies between good subsets the better, so f and g are first brought to the same spread: dividing
// f by what multiplies g changes nothing else.
class Difference final : public LineCriterion {
  public:
    Difference(const Ranges& r, const Centred& good, bool cov, double score, double tol)
        : LineCriterion(r.k), tol_(tol) {
        const double f_spread = cov ? good.a : good.a + good.b - 2 * good.c;
        const double g_spread = cov ? good.b : good.a + good.b + 2 * good.c;
        balance_ = std::sqrt(std::sqrt(f_spread / g_spread));
        balance_ = balance_ > 0 ? std::clamp(balance_, 1 / most_balance, most_balance) : 1;
        const Affine f = (1 / balance_) * (cov ? axis_x() : axis_x() - axis_y());
        const Affine g = balance_ * (cov ? axis_y() : axis_x() + axis_y());
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
    static constexpr double most_balance = 64;  // its square multiplies the rounding of a cost

    double tol_, t_ = 0, balance_ = 1;
};

// lts < t. A line steeper than `turn` is written x = p1 y + p2, and its residuals in y are 1/p1
// times those in x.
class Residual final : public LineCriterion {
  public:
    Residual(const Ranges& r, double score, double tol) : LineCriterion(r.k), tol_(tol) {
        Frame flat{axis_y(), axis_x(), {}, {}, -turn, turn, 0, 0};
        set_p2(flat, r.x_lo, r.x_hi, r.y_lo, r.y_hi);
        frames_.push_back(flat);
        // No subset with any variance in x has a steeper line than this; the others lose nothing by
        // a flat one.
        const double least = 0.99 * std::sqrt(r.a_least_positive / r.b_most);
        for (const double sign : {1.0, -1.0}) {
            Frame steep{axis_x(), axis_y(), {}, {}, 0, 0, 0, 0, true};
            steep.lo1 = sign > 0 ? least : -1 / turn;
            steep.hi1 = sign > 0 ? 1 / turn : -least;
            if (r.x_constant || least > 1 / turn) continue;  // no line is steep
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
    double base(const Frame& f, double p1) const override { return f.steep ? -t_ * p1 * p1 : -t_; }

    double tol_, t_ = 0;
};

// tv < t: both means searched, nothing free.
class Spread final : public Criterion {
  public:
    Spread(const Ranges& r, double score, double tol) : r_(r), tol_(tol) { aim(score); }

    std::vector<Box> roots() const override {
        return {make_root(0, r_.x_lo, r_.x_hi, r_.y_lo, r_.y_hi)};
    }
    void aim(double score) override { t_ = -(score + tol_); }
    bool valid() const override { return t_ > 0; }

    Corners corners(Box& box, Chooser& chooser, Choice& best) const override {
        const Affine x = axis_x() - box.centre[0], y = axis_y() - box.centre[1];
        best = chooser.choose(Cost{x, {}, y, y, 1, -t_}, 0, box.lambda);
        box.lambda = best.lambda;
        Corners out;
        for (int q = 0; q < 4; ++q) {
            const double d1 = signs(q, 0) * box.half[0], d2 = signs(q, 1) * box.half[1];
            out.cost[q] = {x, {0, 0, 2 * d1}, y, y - 2 * d2, 1, -t_};
        }
        return out;
    }
    double upper(const Box&, double value) const override {
        return -std::max(t_ + value / r_.k * (1 + 1e-12), 0.0);
    }
    double width_cost(const Box& box, int parameter, const Choice&) const override {
        return r_.k * box.half[parameter] * box.half[parameter];
    }
    double pull(const Box& box, double x, double y) const override {
        return std::hypot(x - box.centre[0], y - box.centre[1]);
    }
    std::unique_ptr<Criterion> clone() const override { return std::make_unique<Spread>(*this); }

  private:
    Ranges r_;
    double tol_, t_ = 0;
};

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
// Only the two extremes of gamma are corners. multiplier = {alpha, curvature, 0, tau}.
class Below final : public Criterion {
  public:
    Below(const Ranges& r, double tau0, double score, double tol) : r_(r), tau0_(tau0), tol_(tol) {
        aim(score);
    }

    std::vector<Box> roots() const override {
        const double x_lo = tau0_ * r_.x_lo, x_hi = tau0_ * r_.x_hi;
        Box box = make_root(0, -r_.y_hi - x_hi, -r_.y_lo - x_lo, -r_.y_hi + x_lo, -r_.y_lo + x_hi);
        box.multiplier[1] = -4.0 * r_.k;
        box.multiplier[3] = tau0_;
        return {box};
    }
    void aim(double score) override {
        t_ = -(score + tol_);
        rho_ = (1 - t_) / (1 + t_);
    }
    bool valid() const override { return t_ > 0; }

    Corners corners(Box& box, Chooser& chooser, Choice& best) const override {
        best = search_alpha(box, chooser);
        for (int step = 0; step < 3 && best.weight > 1; ++step) {
            const Centred m = centred(best.moments, best.weight);
            if (!(m.a > 0 && m.b > 0)) break;
            const double tau = box.multiplier[3], way = std::log(std::sqrt(m.b / m.a) / tau);
            if ((1 - rho_) * m.b * way * way <= 0.03 * std::fabs(best.value)) break;
            Box trial = box;
            trial.multiplier[3] = tau * std::exp(way / 2);
            const double mean_x = best.moments.x / best.weight;
            trial.multiplier[0] -= (trial.multiplier[3] - tau) * mean_x;
            const Choice choice = search_alpha(trial, chooser);
            if (choice.value / trial.multiplier[3] <= best.value / tau) break;
            best = choice;
            std::copy(trial.multiplier, trial.multiplier + 4, box.multiplier);
            box.lambda = trial.lambda;
        }
        Corners out;
        out.count = 2;
        for (int q = 0; q < 2; ++q) {
            out.cost[q] = cost(box);
            out.cost[q].l.c = 2 * std::sqrt(rho_) * signs(q, 0) * gamma_width(box);
        }
        return out;
    }
    // rho SS(U) - SS(W) = 2 tau (1 + rho) c - (1 - rho)(b + tau^2 a) >= value: with
    // b + tau^2 a >= 2 tau sqrt(ab), r = c / sqrt(ab) >= t + value / (2 tau (1 + rho) sqrt(ab)).
    double upper(const Box& box, double value) const override {
        const double ab = std::sqrt(r_.a_least) * std::sqrt(r_.b_least);
        const double r = t_ + value * (1 + 1e-12) / (2 * box.multiplier[3] * (1 + rho_) * ab);
        return ab > 0 ? std::min(-r, 1.0) : 1.0;
    }
    double width_cost(const Box& box, int parameter, const Choice&) const override {
        const double width = box.half[parameter] * share(box, parameter);
        return rho_ * r_.k * width * width;
    }
    double pull(const Box& box, double x, double y) const override {
        return std::fabs(cost(box).p(x, y));
    }
    std::unique_ptr<Criterion> clone() const override { return std::make_unique<Below>(*this); }

  private:
    // |d gamma / d p|
    double share(const Box& box, int parameter) const {
        const double ratio = box.multiplier[3] / tau0_;
        return parameter == 1 ? (1 + ratio) / 2 : std::fabs(1 - ratio) / 2;
    }
    double gamma_width(const Box& box) const {
        return (box.half[0] * share(box, 0) + box.half[1] * share(box, 1)) * (1 + 1e-12);
    }

    Cost cost(const Box& box) const {
        const double tau = box.multiplier[3], ratio = tau / tau0_;
        const double gamma = box.centre[1] * (1 + ratio) / 2 + box.centre[0] * (1 - ratio) / 2;
        const Affine w = axis_y(-1) - tau * axis_x() - box.multiplier[0];
        return {std::sqrt(rho_) * (axis_y(-1) + tau * axis_x() - gamma), {}, w, w, -1, 0};
    }

    Choice search_alpha(Box& box, Chooser& chooser) const {
        double lambda = box.lambda;
        double& alpha = box.multiplier[0];
        const Choice best =
            ascend(alpha, box.multiplier[1], 8.0 * r_.k, [&](double at, double& slope) {
                alpha = at;
                const Choice c = chooser.choose(cost(box), 0, lambda);
                lambda = c.lambda;
                slope = 2 * (-c.moments.y - box.multiplier[3] * c.moments.x - at * c.weight);
                return c;
            });
        box.lambda = best.lambda;
        return best;
    }

    Ranges r_;
    double tau0_, tol_, t_ = 0, rho_ = 0;
};

double tau_of(const Centred& m) { return m.a > 0 && m.b > 0 ? std::sqrt(m.b / m.a) : 1; }

}  // namespace

std::unique_ptr<Criterion> make_criterion(Objective objective, const Ranges& ranges,
                                          const Centred& good, double score, double tol) {
    switch (objective) {
        case Objective::r2:
            return std::make_unique<Above>(ranges, true, score, tol);
        case Objective::r:
            if (score + tol >= 0) return std::make_unique<Above>(ranges, false, score, tol);
            return std::make_unique<Below>(ranges, tau_of(good), score, tol);
        case Objective::cov:
            return std::make_unique<Difference>(ranges, good, true, score, tol);
        case Objective::dv:
            return std::make_unique<Difference>(ranges, good, false, score, tol);
        case Objective::tv:
        case Objective::var:
            return std::make_unique<Spread>(ranges, score, tol);
        case Objective::lts:
        case Objective::mcd:  // has a search of its own, ellipse/
            break;
    }
    return std::make_unique<Residual>(ranges, score, tol);
}

}  // namespace quadsweep
