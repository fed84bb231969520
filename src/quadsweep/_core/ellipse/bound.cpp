#include "bound.hpp"

#include <algorithm>
#include <cmath>

#include "root.hpp"
#include "shared/hot_loops.hpp"

namespace quadsweep::ellipse {
namespace {

constexpr double ulp = 0x1p-52;
constexpr double kept_roundings = 120;

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

}  // namespace

Rows Bounder::rows() {
    return {x_.data(), y_.data(), weight_.data(),      P_.data(),
            E_.data(), H_.data(), point_error_.data(), padded_};
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
    for (Column* c : {&P_, &E_, &H_, &point_error_}) c->resize(padded_);
    cost_.resize(corners);
    kept_ = box.kept.moments();
    const double kept = box.kept.copies();
    const Ranges here{spread_of(x_, weight_, box.need, kept, kept_.x, kept_.xx),
                      spread_of(y_, weight_, box.need, kept, kept_.y, kept_.yy)};
    if (!here.contract_spread(box) || !here.contract(box)) return false;
    centre_ = centre_of(box);
    return true;
}

CentreTask Bounder::centre_task(const Multipliers& m) const {
    const Fit& c = centre_;
    return {weight_of_e_, m.phi, m.n1, m.n2, m.n3, base_, c.l, c.s, c.a, c.g, c.v};
}

// What the decided points cost at a corner.
double Bounder::kept_cost(const Multipliers& m, const Fit& step) const {
    const double kept = box_->kept.copies();
    if (kept == 0) return 0;
    const Affine e = centre_.e(), f = centre_.f(), de = step.e(), df = step.f();
    const Affine nu{0, m.n2, m.n1}, constant{0, 0, 1};
    const Quadratic cost = product(e, weight_of_e_ * e + nu + 2 * weight_of_e_ * de) +
                           product(nu, de) + product(m.phi * f, f + 2 * df) +
                           product(constant, m.n3 * f + m.n3 * df - base_);
    return cost.total(kept_, kept);
}

// The sizes of its terms, at any corner.
double Bounder::kept_size(const Multipliers& m, const Reach& r) const {
    const double kept = box_->kept.copies();
    if (kept == 0) return 0;
    const double x = std::sqrt(std::fabs(kept_.xx)), y = std::sqrt(std::fabs(kept_.yy));
    const double one = std::sqrt(kept);
    const double e = r.l * x + r.s * y + r.a * one, de = r.dl * x + r.ds * y + r.da * one;
    const double f = r.g * y + r.v * one, df = r.dg * y + r.dv * one;
    const double nu = std::fabs(m.n2) * y + std::fabs(m.n1) * one;
    return weight_of_e_ * e * (e + 2 * de) + nu * (e + de) + m.phi * f * (f + 2 * df) +
           std::fabs(m.n3) * one * (f + df) + base_ * kept;
}

// A threshold to start from: the right quantile of a few of the costs.
double Bounder::guess() const {
    const int step = 1 + count_ / 256;
    std::vector<double> some;
    double total = 0;
    for (int i = 0; i < count_; ++i) {
        total += weight_[i];
        if (i % step == 0) some.push_back(P_[i]);
    }
    if (some.empty()) return 0;
    const double share = std::clamp(box_->need / std::max(total, 1.0), 0.0, 1.0);
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(some.size() - 1));
    std::nth_element(some.begin(), some.begin() + at, some.end());
    return some[at];
}

// Maximises the concave, piecewise linear D(lambda) = cost + lambda (need - weight) of what is
// below lambda, by a bracket on its slope. Any lambda gives a bound, so it stops when little is
// left to gain or, at a corner, when the bound is positive for certain.
double Bounder::solve(const double* cost, Below at_lambda, double offset, double& lambda,
                      bool positive_is_enough) {
    const auto& loops = hot_loops();
    const double need = box_->need;
    double best = -infinity, best_lambda = lambda;
    double lo = -infinity, hi = infinity, d_lo = 0, d_hi = 0, s_lo = 0, s_hi = 0;
    double at = lambda, step = 0;
    for (int pass = 0; pass < 100; ++pass) {
        if (pass > 0) {
            const Tally t = loops.tally(cost, weight_.data(), padded_, at);
            at_lambda = {t.weight, t.cost};
        }
        const double slope = need - at_lambda.weight, d = at_lambda.cost + at * slope;
        if (d > best) {
            best = d;
            best_lambda = at;
        }
        if (slope == 0 || !std::isfinite(d)) break;
        if (positive_is_enough && offset + best > 1e-8 * (std::fabs(offset) + std::fabs(best))) {
            break;
        }
        if (slope > 0) {
            lo = at;
            d_lo = d;
            s_lo = slope;
        } else {
            hi = at;
            d_hi = d;
            s_hi = slope;
        }
        if (lo == -infinity || hi == infinity) {
            if (step == 0 && density_ > 0) step = 1.25 * std::fabs(slope) / density_;
            if (step == 0) step = std::max(0.05 * std::fabs(at), 1e-3 * std::fabs(d) / (need + 1));
            if (step == 0) step = 1e-6;
            at += slope > 0 ? step : -step;
            step *= 3;
            continue;
        }
        // The tangents at both ends meet above the maximum.
        const double meet = (d_hi - d_lo + s_lo * lo - s_hi * hi) / (s_lo - s_hi);
        const double most = d_lo + s_lo * (meet - lo);
        density_ = (s_lo - s_hi) / (hi - lo);
        if (most - best <= 0.02 * std::fabs(offset + best)) break;
        if (!(hi - lo > 4 * ulp * (std::fabs(lo) + std::fabs(hi)))) break;
        const double secant = lo + (hi - lo) * (s_lo / (s_lo - s_hi));
        at = pass % 2 == 0 ? secant : meet;
        if (!(at > lo && at < hi)) at = lo + (hi - lo) / 2;
    }
    lambda = best_lambda;
    return offset + best;
}

Choice Bounder::evaluate(const Multipliers& m, double lambda, bool guessed) {
    base_ = 1 + m.phi;
    ellipse_loops().centre(rows(), centre_task(m));
    Choice c;
    c.lambda = guessed ? lambda : guess();
    const Tally t = hot_loops().tally(P_.data(), weight_.data(), padded_, c.lambda);
    c.value = solve(P_.data(), {t.weight, t.cost}, kept_cost(m, Fit() - Fit()), c.lambda, false);
    c.moments = hot_loops().below(x_.data(), y_.data(), weight_.data(), P_.data(), padded_,
                                  c.lambda, c.weight);
    c.moments += kept_;
    c.weight += box_->kept.copies();
    looked_at += count_;
    return c;
}

// At the centre of a box, what the multipliers multiply should be zero over what is chosen, as it
// is over a subset with its own parameters there. Where it is not, the chosen lie aside, by more
// than the box is wide, and moving the threshold's ellipse away from them raises the bound.
Multipliers Bounder::multipliers(const Box& box, const Choice& at) const {
    const double w = at.weight;
    Multipliers out;
    if (!(w > 0)) return out;
    const Moments& s = at.moments;
    const double my = s.y / w, mx = s.x / w;
    const double yy = s.yy / w - my * my, xy = s.xy / w - mx * my;
    const Fit& c = centre_;
    const double h = 0.5, l = c.l, hS = l * box.half(S), hA = l * box.half(A);
    const double along = yy > 0 ? beyond(l * xy / yy + c.s, h * hS) : 0;  // of e on y
    const double mean_e = beyond(l * mx + c.s * my - c.a, h * (hA + std::fabs(my) * hS));
    const double mean_f = c.g * my - c.v, square_f = c.g * c.g * yy + mean_f * mean_f;
    const double ratio = std::log(box.hi[L] / box.lo[L]);
    const double spread = beyond(std::log(std::max(square_f, 1e-9)), h * ratio);
    out.phi = std::clamp(1 + spread, 0.1, 4.0);
    out.n1 = 2 * weight_of_e_ * (mean_e - along * my);
    out.n2 = 2 * weight_of_e_ * along;
    out.n3 = 2 * beyond(mean_f, h * c.g * box.half(Y));
    return out;
}

Choice Bounder::centre(Box& box) {
    const Choice plain = evaluate({}, box.lambda, box.guessed);
    box.lambda = plain.lambda;
    box.guessed = true;
    free_ = multipliers(box, plain);
    lambda0_ = plain.lambda;
    const Choice aside = evaluate(free_, plain.lambda, true);
    if (aside.value > plain.value) {
        lambda0_ = aside.lambda;
    } else {
        free_ = {};
        base_ = 2;
    }
    return plain;
}

void Bounder::corner(const Box& box, int q) {
    cost_[q].resize(padded_);
    const Fit step = corner_of(box, q) - centre_;
    lambda_[q] = lambda0_;
    const Below t = ellipse_loops().corner(rows(), {step.l, step.s, step.a, step.g, step.v},
                                           lambda_[q], cost_[q].data());
    value_[q] = solve(cost_[q].data(), t, kept_cost(free_, step), lambda_[q], true);
    if (!std::isfinite(value_[q])) value_[q] = -infinity;
    looked_at += count_ / 4.0;
}

void Bounder::bound(const Box& box) {
    ellipse_loops().centre(rows(), centre_task(free_));
    for (int q = 0; q < corners; ++q) corner(box, q);
    error_ = measure_error(box);
}

bool Bounder::too_wide(const Box& box, const Choice& choice) {
    const Affine f = centre_.f();
    const double squares = product(f, f).total(choice.moments, choice.weight) / choice.weight;
    if (!(squares * box.lo[L] > 1.1 * box.hi[L])) return false;
    const Multipliers chosen = free_;
    free_ = {};
    base_ = 1;
    weight_of_e_ = 0;
    const double lambda = lambda0_;
    ellipse_loops().centre(rows(), centre_task(free_));
    lambda0_ = guess();
    bool closed = true;
    for (int q = 0; q < corners; ++q) {
        // S and A do not matter.
        if ((q & 3) == 0) {
            corner(box, q);
            closed = closed && value_[q] > 0;
        } else {
            value_[q] = value_[q & ~3];
            lambda_[q] = lambda_[q & ~3];
            cost_[q] = cost_[q & ~3];
        }
        if (!closed) break;
    }
    if (closed) closed = least() > measure_error(box);
    free_ = chosen;
    base_ = 1 + free_.phi;
    weight_of_e_ = aimed_;
    lambda0_ = lambda;
    return closed;
}

double Bounder::least() const { return *std::min_element(value_, value_ + corners); }

Choice Bounder::chosen_at_worst() const {
    const auto q = std::min_element(value_, value_ + corners) - value_;
    Choice c;
    c.value = value_[q];
    c.lambda = lambda_[q];
    c.moments = hot_loops().below(x_.data(), y_.data(), weight_.data(), cost_[q].data(), padded_,
                                  c.lambda, c.weight);
    c.moments += kept_;
    c.weight += box_->kept.copies();
    return c;
}

Reach Bounder::reach(const Box& box) const {
    Reach r{centre_.l,
            std::fabs(centre_.s),
            std::fabs(centre_.a),
            centre_.g,
            std::fabs(centre_.v),
            0,
            0,
            0,
            0,
            0,
            72 + padded_ / 512.0};
    const auto cover = [](double& most, double value) { most = std::max(most, std::fabs(value)); };
    for (int q = 0; q < corners; ++q) {
        const Fit at = corner_of(box, q), step = at - centre_;
        cover(r.l, at.l);
        cover(r.s, at.s);
        cover(r.a, at.a);
        cover(r.g, at.g);
        cover(r.v, at.v);
        cover(r.dl, step.l);
        cover(r.ds, step.s);
        cover(r.da, step.a);
        cover(r.dg, step.g);
        cover(r.dv, step.v);
    }
    return r;
}

// Forward error of the bound at any corner: of the costs below the threshold, of their sum, of the
// decided points.
double Bounder::measure_error(const Box& box) {
    const auto& loops = ellipse_loops();
    const Reach reach = this->reach(box);
    loops.errors(rows(), centre_task(free_), reach);
    double touched = 0, threshold = 0;
    for (int q = 0; q < corners; ++q) {
        touched = std::max(touched, loops.touched(rows(), cost_[q].data(), lambda_[q]));
        threshold = std::max(threshold, std::fabs(lambda_[q]));
    }
    const double sum = touched * (1 + 1e-6) + 8 * ulp * threshold * (box.need + 1);
    return sum + kept_roundings * ulp * kept_size(free_, reach);
}

bool Bounder::fix(Box& box) {
    const auto& loops = ellipse_loops();
    out_.assign(padded_, 0.0);
    in_.assign(padded_, 0.0);
    for (int q = 0; q < corners; ++q) {
        const double lift = error_ - value_[q];
        if (!(lift > 0)) continue;
        if (!std::isfinite(lift)) return true;
        loops.required(rows(), cost_[q].data(), lambda_[q], lift, out_.data(), in_.data());
    }
    auto left = std::make_shared<Undecided>();
    auto sure = std::make_shared<Decided>();
    std::int64_t available = 0;
    int need = box.need;
    DecidedMoments kept = box.kept;
    for (int i = 0; i < count_; ++i) {
        const int point = box.open->point[i], copies = box.open->copies[i];
        // Fewer than out_[i] copies are kept against the threshold, fewer than in_[i] left out.
        const int most = out_[i] > copies ? copies : static_cast<int>(std::ceil(out_[i])) - 1;
        const int missing = in_[i] > copies ? copies : static_cast<int>(std::ceil(in_[i])) - 1;
        const int least = copies - missing;
        if (most < least) return false;
        if (least > 0) {
            kept.add(cells_.x[point], cells_.y[point], least);
            sure->points.push_back({point, least});
            need -= least;
        }
        if (most > least) {
            left->point.push_back(point);
            left->copies.push_back(most - least);
            available += most - least;
        }
    }
    if (need < 0 || need > available) return false;
    if (sure->points.empty() && left->point.size() == box.open->point.size() &&
        left->copies == box.open->copies) {
        return true;
    }
    if (!sure->points.empty()) {
        sure->before = box.decided;
        box.decided = std::move(sure);
        box.kept = kept;
    }
    box.need = need;
    box.open = std::move(left);
    return true;
}

double Bounder::width_cost(const Box& box, const Choice& choice, Parameter p) const {
    const Moments& m = choice.moments;
    const double w = choice.weight, half = box.half(p), l = centre_.l, g = centre_.g;
    const Affine e{1, box.middle(S), -box.middle(A)}, f{0, 1, -box.middle(Y)};
    switch (p) {
        case L: {
            const double hg = (1 / box.lo[L] - 1 / box.hi[L]) / 2;
            return half * half * weight_of_e_ * product(e, e).total(m, w) +
                   hg * hg * product(f, f).total(m, w);
        }
        case S:
            return weight_of_e_ * l * l * m.yy * half * half;
        case A:
            return weight_of_e_ * l * l * w * half * half;
        case Y:
            break;
    }
    return g * g * w * half * half;
}

}  // namespace quadsweep::ellipse
