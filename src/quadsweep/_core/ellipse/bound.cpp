#include "bound.hpp"

#include <algorithm>
#include <cmath>

#include "shared/hot_loops.hpp"

namespace quadsweep::ellipse {

QUADSWEEP_FOLLOWING(EllipseLoops, ellipse_loops)

namespace {

constexpr double kept_roundings = 120;
constexpr int improvements = 3;  // of the multipliers of a box

Quadratic product(const Affine& f, const Affine& g) {
    return {
        f.x * g.x, f.x * g.y + f.y * g.x, f.y * g.y, f.x * g.c + f.c * g.x, f.y * g.c + f.c * g.y,
        f.c * g.c};
}
Quadratic operator+(const Quadratic& p, const Quadratic& q) {
    return {p.xx + q.xx, p.xy + q.xy, p.yy + q.yy, p.x + q.x, p.y + q.y, p.c + q.c};
}

double beyond(double a, double width) {
    return std::copysign(std::max(std::fabs(a) - width, 0.0), a);
}

// What the width of a box may be, given that its centre is rounded.
double padded_half(const Rectangle& box, Parameter p) {
    return box.half(p) * (1 + 4 * ulp) + 4 * ulp * box.most(p);
}

}  // namespace

// The mean is convex in l^2 and in (S', A'), so it is largest at their ends; in Y' it is a parabola
// that may open downwards, by `hollow`, and is then above its ends by no more than that.
double most_a_point(const Rectangle& box, const Fit& centre, const Multipliers& free, double t) {
    const auto [l, s, a, g, v] = centre;
    const auto [e2, phi, n1, n2, n3] = free;
    const double hS = padded_half(box, S), hA = padded_half(box, A), hY = padded_half(box, Y);
    const double y0 = box.middle(Y);
    double most = -infinity, size = 0;
    for (int corner = 0; corner < 16; ++corner) {
        const double end = (corner & 1) != 0 ? box.hi[L] : box.lo[L], w = end * end;
        const double dS = (corner & 2) != 0 ? hS : -hS, dA = (corner & 4) != 0 ? hA : -hA;
        const double dY = (corner & 8) != 0 ? hY : -hY, y = y0 + dY;
        const double m = dS * y - dA;
        const double squares =
            e2 * (l * l * (t / w + dS * dS * w + m * m)) + phi * (g * g * (w + dY * dY));
        const double along = n2 * l * (dS * (w + y * y) - dA * y);
        const double hollow = std::max(-(e2 * l * l * dS * dS + phi * g * g + n2 * l * dS), 0.0);
        const double lines = n1 * l * m + n3 * g * dY + hollow * dY * dY;
        most = std::max(most, squares + along + lines);
        size = std::max(size, squares + std::fabs(n2) * l * (hS * (w + y * y) + hA * std::fabs(y)) +
                                  std::fabs(n1) * l * (hS * std::fabs(y) + hA) +
                                  std::fabs(n3) * g * hY + hollow * dY * dY);
    }
    return most + 64 * ulp * size;
}

Rows Bounder::rows() {
    return {x_.data(), y_.data(), weight_.data(), cost_.data(), point_error_.data(), padded_};
}

bool Bounder::load(Box& box) {
    box_ = &box;
    const Undecided& open = *box.open;
    count_ = static_cast<int>(open.point.size());
    padded_ = (count_ + 7) / 8 * 8;
    for (Column* c : {&x_, &y_, &weight_}) c->assign(padded_, 0.0);
    for (int i = 0; i < count_; ++i) {
        x_[i] = cells_.x[open.point[i]];
        y_[i] = cells_.y[open.point[i]];
        weight_[i] = open.copies[i];
    }
    for (Column* c : {&cost_, &point_error_}) c->resize(padded_);
    kept_ = box.kept.moments();
    if (!box.ranged) {
        const double kept = box.kept.copies();
        box.ranges = {spread_of(x_, weight_, box.need, kept, kept_.x, kept_.xx),
                      spread_of(y_, weight_, box.need, kept, kept_.y, kept_.yy)};
        box.ranged = true;
    }
    if (!box.ranges.contract(box)) return false;
    centre_ = centre_of(box);
    return true;
}

CostTask Bounder::task(const Multipliers& m) const {
    const Fit& c = centre_;
    return {m.e2, m.phi, m.n1, m.n2, m.n3, c.l, c.s, c.a, c.g, c.v};
}

double Bounder::kept_cost(const Multipliers& m) const {
    const double kept = box_->kept.copies();
    if (kept == 0) return 0;
    const Affine e = centre_.e(), f = centre_.f(), nu{0, m.n2, m.n1};
    return (product(e, m.e2 * e + nu) + product(f, m.phi * f + m.n3)).total(kept_, kept);
}

// The sizes of its terms.
double Bounder::kept_size(const Multipliers& m) const {
    const double kept = box_->kept.copies();
    if (kept == 0) return 0;
    const double x = std::sqrt(std::fabs(kept_.xx)), y = std::sqrt(std::fabs(kept_.yy));
    const double one = std::sqrt(kept);
    const Fit& c = centre_;
    const double e = c.l * x + std::fabs(c.s) * y + std::fabs(c.a) * one;
    const double f = c.g * y + std::fabs(c.v) * one;
    return e * (m.e2 * e + std::fabs(m.n2) * y + std::fabs(m.n1) * one) +
           f * (m.phi * f + std::fabs(m.n3) * one);
}

double Bounder::solve(double offset, double& lambda) {
    const auto below = [&](double at) {
        n_evaluations += count_ / 4.0;
        return hot_loops().tally(cost_.data(), weight_.data(), padded_, at);
    };
    return threshold_.maximise(below, box_->need, offset, true, lambda);
}

Choice Bounder::evaluate(const Multipliers& m, double lambda, bool guessed) {
    ellipse_loops().costs(rows(), task(m));
    n_evaluations += count_;
    Choice c;
    c.lambda = guessed ? lambda : guess_threshold(cost_.data(), weight_.data(), count_, box_->need);
    const double k = box_->need + box_->kept.copies();
    c.value = solve(kept_cost(m) - k * most_a_point(*box_, centre_, m, t_), c.lambda);
    if (!std::isfinite(c.value)) c.value = -infinity;
    if (c.value > 0) return c;
    c.moments = hot_loops().below(x_.data(), y_.data(), weight_.data(), cost_.data(), padded_,
                                  c.lambda, c.weight);
    c.moments += kept_;
    c.weight += box_->kept.copies();
    return c;
}

Choice Bounder::plain(Box& box) {
    const Choice c = evaluate({1 / t_}, box.lambda, box.guessed);
    box.lambda = c.lambda;
    box.guessed = true;
    return c;
}

// Where the chosen points lie aside by more than the box is wide, the ellipse of the threshold is
// moved the other way, by as much: then they cost more, and the subsets of the box hardly.
Multipliers Bounder::better(const Multipliers& now, const Choice& chosen) const {
    const double w = chosen.weight;
    const Moments& s = chosen.moments;
    const double mx = s.x / w, my = s.y / w;
    const double yy = s.yy / w - my * my, xy = s.xy / w - mx * my;
    const Fit& c = centre_;
    const double hS = c.l * box_->half(S), hA = c.l * box_->half(A);
    // As they are now: of e + (n1 + n2 y) t / 2 and f + n3 / (2 phi).
    const double slope = (yy > 0 ? (c.l * xy + c.s * yy) / yy : 0) + now.n2 * t_ / 2;
    const double mean_e = c.l * mx + c.s * my - c.a + (now.n1 + now.n2 * my) * t_ / 2;
    const double own_f = c.g * my - c.v, mean_f = own_f + now.n3 / (2 * now.phi);
    const double square_f = std::max(c.g * c.g * yy + own_f * own_f, 1e-9);
    const double along = beyond(slope, hS);
    const double aside = beyond(mean_e, hA + std::fabs(my) * hS);
    Multipliers out{1 / t_};
    out.phi = std::clamp(1 + beyond(std::log(square_f), 0.5 * std::log(box_->hi[L] / box_->lo[L])),
                         0.1, 4.0);
    out.n1 = 2 / t_ * (aside - along * my);
    out.n2 = 2 / t_ * along;
    out.n3 = 2 * out.phi * beyond(mean_f, c.g * box_->half(Y));
    return out;
}

bool Bounder::clear(const Multipliers& free, double lambda, double value) {
    error_ = measure_error(free, lambda);
    lambda_ = lambda;
    value_ = value;
    return value > error_;
}

// By f alone: no k points have their mean and spread of y here.
bool Bounder::clear_by_f(const Choice& chosen) {
    const Affine f = centre_.f();
    const double squares = product(f, f).total(chosen.moments, chosen.weight) / chosen.weight;
    if (!(squares * box_->lo[L] > 1.1 * box_->hi[L])) return false;
    const Multipliers only_f{0, 1};
    const Choice c = evaluate(only_f, 0, false);
    return c.value > 0 && clear(only_f, c.lambda, c.value);
}

bool Bounder::close(const Choice& plain) {
    const Multipliers none{1 / t_};
    if (plain.value > 0 && clear(none, plain.lambda, plain.value)) return true;
    if (plain.weight > 0 && clear_by_f(plain)) return true;
    Multipliers best = none, now = none;
    Choice at = plain, found = plain;
    for (int i = 0; i < improvements && at.weight > 0; ++i) {
        now = better(now, at);
        at = evaluate(now, at.lambda, true);
        if (!(at.value > found.value)) break;
        found = at;
        best = now;
    }
    ellipse_loops().costs(rows(), task(best));
    return clear(best, found.lambda, found.value);
}

// Forward error of the bound: of the costs below the threshold, of their sum, of the decided
// points.
double Bounder::measure_error(const Multipliers& free, double lambda) {
    const double sums = 72 + padded_ / 512.0;
    const double touched = ellipse_loops().errors(rows(), task(free), lambda, sums);
    return touched * (1 + 1e-6) + 8 * ulp * std::fabs(lambda) * (box_->need + 1) +
           kept_roundings * ulp * kept_size(free);
}

bool Bounder::fix(Box& box) {
    const double lift = error_ - value_;
    if (!std::isfinite(lift)) return true;
    left_.point.clear();
    left_.copies.clear();
    auto sure = std::make_shared<Decided>();
    std::int64_t available = 0;
    int need = box.need;
    DecidedMoments kept = box.kept;
    // Fewer than lift / up copies are kept against the threshold, or left out.
    const auto possible = [&](double up, int copies) {
        if (!(up * copies > lift)) return copies;
        return static_cast<int>(std::ceil(lift / up)) - 1;
    };
    for (int i = 0; i < count_; ++i) {
        const int point = box.open->point[i], copies = box.open->copies[i];
        const double above = cost_[i] - lambda_, error = point_error_[i];
        const int most = possible(above - error, copies);
        const int least = copies - possible(-above - error, copies);
        if (most < least) return false;
        if (least > 0) {
            kept.add(cells_.x[point], cells_.y[point], least);
            sure->points.push_back({point, least});
            need -= least;
        }
        if (most > least) {
            left_.point.push_back(point);
            left_.copies.push_back(most - least);
            available += most - least;
        }
    }
    if (need < 0 || need > available) return false;
    if (sure->points.empty() && left_.point.size() == box.open->point.size() &&
        left_.copies == box.open->copies) {
        return true;
    }
    decide(box.decided, std::move(sure));
    box.kept = kept;
    box.need = need;
    box.open = std::make_shared<Undecided>(left_);  // with no more memory than it needs
    box.ranged = false;
    return true;
}

double Bounder::width_cost(const Box& box, Parameter p) const {
    const double half = box.half(p), l = centre_.l, g = centre_.g;
    const double ratio = box.hi[L] / box.lo[L], y = box.most(Y);
    switch (p) {
        case L:
            return ratio - 2 + 1 / ratio;
        case S:
            return l * l / t_ * (box.hi[L] * box.hi[L] + y * y) * half * half;
        case A:
            return l * l / t_ * half * half;
        case Y:
            break;
    }
    return g * g * half * half;
}

}  // namespace quadsweep::ellipse
