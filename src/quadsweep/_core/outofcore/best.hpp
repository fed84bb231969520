// What a question out of core is scored by, and the best selection so far.
#pragma once

#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "plane/concentrate.hpp"
#include "plane/incumbents.hpp"
#include "search.hpp"
#include "search/target.hpp"

namespace quadsweep::outofcore {

// ---- the covariance of a product ----------------------------------------------------------------

// Coefficients of c(f, g) in a, b and c.
struct Form {
    double a, b, c;
};
inline Form form_of(const Product& p) {
    return {p.f.x * p.g.x, p.f.y * p.g.y, p.f.x * p.g.y + p.f.y * p.g.x};
}

inline double score_of(const Question& q, const Moments& m, double k) {
    const Centred s = centred(m, k);
    if (!q.product) return score(q.objective, s, k);
    const Form f = form_of(*q.product);
    return (f.a * s.a + f.b * s.b + f.c * s.c) / k;
}

// No score is above this, given intervals of a, b and c.
inline double most_of(const Question& q, const CentredRange& r, double k) {
    if (!q.product) return optimistic(q.objective, r, k);
    const Form f = form_of(*q.product);
    const double a = f.a > 0 ? f.a * r.a_hi : f.a * r.a_lo;
    const double b = f.b > 0 ? f.b * r.b_hi : f.b * r.b_lo;
    const double c = f.c > 0 ? f.c * r.c_hi : f.c * r.c_lo;
    return (a + b + c + 16 * 0x1p-52 * (std::fabs(a) + std::fabs(b) + std::fabs(c))) / k;
}

inline std::optional<Gain> gain_about(const Question& q, const Moments& m, double k) {
    std::optional<Gain> gain;
    if (q.product) {
        const Form f = form_of(*q.product);
        gain = Gain{0, 0, f.a, f.c, f.b};
    } else {
        gain = quadratic_form(q.objective, centred(m, k));
    }
    if (!gain) return gain;
    gain->mx = m.x / k;
    gain->my = m.y / k;
    return gain;
}

// Concentration steps from moments of k rows.
inline Selection climbed(const Cells& cells, const Question& q, const Moments& about, double& score,
                         double worth) {
    constexpr int steps = 12;
    const auto k = static_cast<double>(q.k);
    Selection at;
    at.moments = about;
    if (!q.product) {
        return concentrate(cells, std::move(at), q.objective, k, score, worth, Cut::in_part);
    }
    score = undefined;
    for (int step = 0; step < steps; ++step) {
        Selection next = cheapest(cells, loss(*gain_about(q, at.moments, k)), k, Cut::in_part);
        next.n_evaluations += at.n_evaluations;
        const double value = score_of(q, next.moments, k);
        if (!(value > score)) break;
        score = value;
        at = std::move(next);
    }
    return at;
}

// ---- the best so far ----------------------------------------------------------------------------

// The best selection so far, and the score that a box must beat.
class Best {
  public:
    Best(const Assembly& assembly, const Question& question, double limit)
        : cells_(assembly.cells),
          question_(question),
          limit_(limit),
          score_(question.above),
          target_(question.above) {}

    double target() const { return target_; }
    double tol() const { return tol_; }
    double margin() const { return tol_ / 100; }
    double limit() const { return limit_; }
    bool at_limit() const { return target() + tol_ >= limit_; }
    bool real() const { return weight_ > 0; }
    double weight() const { return weight_; }
    double score() const { return score_; }
    const Selection& selection() const { return selection_; }
    const Moments& moments() const { return moments_; }

    void raise(double score) { target_.raise(score); }
    // A selection of as many rows as are asked for, its sums added up once more without loss.
    void offer(const Selection& s) {
        DecidedMoments sums;
        for (int at : s.cells) sums.add(cells_.cell[at].sums, cells_.cell[at].weight);
        for (const auto [p, copies] : s.points) sums.add(cells_.x[p], cells_.y[p], copies);
        const double k = sums.copies();
        if (!allows(k)) return;
        const double score = score_of(question_, sums.moments(), k);
        if (score == undefined || !varies(sums.moments())) return;
        const Lock lock(mutex_);
        if (!(score > score_)) return;
        score_ = score;
        selection_ = s;
        moments_ = sums.moments();
        weight_ = k;
        if (question_.until != Until::proved) return;
        const double most = optimistic(question_.objective, range(moments_), k);
        sure_ = most - score <=
                0.25 * tolerance_of(question_.objective, question_.tol, score, spread(moments_));
        raise(score);
        const Centred m = centred(moments_, k);
        const double b = m.b + question_.tilt * question_.tilt * m.a;
        if (question_.objective == Objective::lts && -score <= 0x1p-100 * b) {
            sure_ = true;
            raise(limit_);
        }
    }
    // Rounding of the sums leaves the score certain, as far as the tolerance goes.
    bool sure() const { return sure_; }
    // A correlation is of columns that vary by more than rounding.
    bool varies(const Moments& m) const {
        const CentredRange r = range(m);
        return !is_correlation(question_.objective) || (r.a_lo > 0 && r.b_lo > 0);
    }
    // What `tol` means for the score to be beaten, as for points in memory.
    double tolerance() const {
        return tolerance_of(question_.objective, question_.tol, target(), made_of());
    }
    void set_tolerance() {
        if (question_.until != Until::proved) return;  // a threshold is one
        tol_ = sense(question_.objective) < 0 ? 0.7 * tolerance() : tolerance();
    }
    // A threshold has been passed.
    bool decided() const { return question_.until == Until::decided && real(); }
    Centred sums() const {
        return real() ? centred(moments_, weight_)
                      : centred(cells_.cell[0].sums, cells_.cell[0].weight);
    }

  private:
    bool allows(double copies) const {
        const auto k = static_cast<double>(question_.k);
        if (question_.until == Until::begun) return copies >= 3;
        return question_.k_or_more ? copies >= k : copies == k;
    }
    CentredRange range(const Moments& m) const {
        const Slack slack{(cells_.roundings + 8) * 0x1p-52};
        return centred_range(m, static_cast<double>(question_.k), slack);
    }
    // What a value is made of, no more than is left of it after rounding.
    double spread(const Moments& m) const {
        const CentredRange r = range(m);
        const double k = static_cast<double>(question_.k);
        return spread_of(question_.objective, {std::fmax(r.a_lo, 0), std::fmax(r.b_lo, 0), 0}, k);
    }
    double made_of() const {
        if (real()) return spread(moments_);
        return spread_of(question_.objective, sums(), cells_.cell[0].weight);
    }

    const Cells& cells_;
    const Question& question_;
    double limit_, tol_ = 0;
    Mutex mutex_;
    Selection selection_;
    Moments moments_;
    std::atomic<double> score_, weight_{0};  // read by threads that only look
    bool sure_ = false;
    Target target_;
};

}  // namespace quadsweep::outofcore
