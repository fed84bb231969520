#include "likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shared/cholesky.hpp"

namespace quadsweep::estimating {
namespace {

constexpr int most_steps = 40;
constexpr double settled = 1e-9;  // a step of this length, in the metric of the curvature
constexpr double far = 25;        // a linear predictor beyond which a logit has separated
constexpr double clear = 1e-7;

class LikelihoodRefits : public Refits {
  public:
    explicit LikelihoodRefits(const LikelihoodTest& test)
        : t_(test), n_(test.rows), fitted_(test.columns - (test.sign_alone ? 1 : 0)) {
        gone_.assign(n_, 0);
        level_.push_back(t_.start);
        eta_.resize(n_);
        rest_.resize(n_);
        curve_.resize(n_);
        const auto p = static_cast<std::size_t>(t_.columns);
        hessian_.resize(p * p);
        score_.resize(p);
    }

    void remove(int level, std::span<const int> units) override {
        level_.resize(level + 2);
        removed_.resize(level + 1);
        removed_[level].assign(units.begin(), units.end());
        mark();
        level_[level + 1] = level_[level];
        if (!newton(level_[level + 1])) level_[level + 1] = t_.start;
    }

    Verdict without(int level, int unit) override {
        removed_.resize(level + 1);
        removed_[level] = {unit};
        mark();
        std::vector<double> beta = level_[level];
        if (!newton(beta)) return Verdict::unclear;
        return t_.sign_alone ? by_score() : by_test(beta);
    }

  private:
    const double* column(int j) const {
        return t_.design.data() + static_cast<std::ptrdiff_t>(j) * n_;
    }

    void mark() {
        std::fill(gone_.begin(), gone_.end(), 0);
        for (const auto& units : removed_) {
            for (int u : units)
                std::fill(gone_.begin() + t_.first[u], gone_.begin() + t_.first[u + 1], 1);
        }
    }

    // y - m and m' at beta, both 0 on rows that are gone; whether it is still in range.
    bool evaluate(const std::vector<double>& beta) {
        std::fill(eta_.begin(), eta_.end(), 0.0);
        for (int j = 0; j < fitted_; ++j) {
            const double* c = column(j);
            const double b = beta[j];
            for (int i = 0; i < n_; ++i) eta_[i] += b * c[i];
        }
        double farthest = 0;
        for (int i = 0; i < n_; ++i) {
            if (gone_[i]) {
                rest_[i] = curve_[i] = 0;
                continue;
            }
            const double mean = mean_of(t_.link, eta_[i]);
            rest_[i] = t_.weight[i] * (t_.y[i] - mean);
            curve_[i] = t_.weight[i] * slope_of(t_.link, mean);
            farthest = std::max(farthest, std::fabs(eta_[i]));
        }
        return farthest < far;
    }

    double product(int i, int j) const {
        const double *a = column(i), *b = column(j);
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int r = 0; r < n_; ++r) sum += curve_[r] * a[r] * b[r];
        return sum;
    }

    // The factor of the curvature; false where it is singular.
    bool curvature(int size) {
        for (int i = 0; i < size; ++i) {
            for (int j = 0; j <= i; ++j) hessian_[i * size + j] = product(i, j);
        }
        return cholesky(size, hessian_.data(), size,
                        [](double pivot, double entry) { return pivot > 1e-8 * entry; });
    }

    // How much of a long step makes the likelihood rise: along the linear predictor the third
    // derivative is at most the second.
    double shortened() {
        std::fill(eta_.begin(), eta_.end(), 0.0);
        for (int j = 0; j < fitted_; ++j) {
            for (int i = 0; i < n_; ++i) eta_[i] += score_[j] * column(j)[i];
        }
        double most = 0;
        for (int i = 0; i < n_; ++i) {
            if (!gone_[i]) most = std::max(most, std::fabs(eta_[i]));
        }
        return most > 0 ? std::log1p(most) / most : 1;
    }

    // Newton's method; steps that are long in the metric of the curvature are shortened.
    bool newton(std::vector<double>& beta) {
        const int p = fitted_;
        bool last = false;
        for (int step = 0; step < most_steps; ++step) {
            if (!evaluate(beta)) return false;
            if (last) return true;
            if (!curvature(p)) return false;
            for (int j = 0; j < p; ++j) {
                score_[j] = std::inner_product(rest_.begin(), rest_.end(), column(j), 0.0);
            }
            solve_lower(p, hessian_.data(), p, score_.data());
            const double length = std::sqrt(
                std::inner_product(score_.begin(), score_.begin() + p, score_.begin(), 0.0));
            solve_upper(p, hessian_.data(), p, score_.data());
            const double times = length > 2 ? shortened() : 1;
            for (int j = 0; j < p; ++j) beta[j] += times * score_[j];
            last = length < settled;
        }
        return false;
    }

    Verdict by_score() {
        const double* x = column(t_.columns - 1);
        double sum = 0, xx = 0, rr = 0;
        for (int i = 0; i < n_; ++i) {
            sum += x[i] * rest_[i];
            if (!gone_[i]) xx += x[i] * x[i];
            rr += rest_[i] * rest_[i];
        }
        const double past = t_.side * sum / std::sqrt(xx * rr) - t_.critical;
        return judge(past, 0.1 * t_.critical);
    }

    Verdict by_test(const std::vector<double>& beta) {
        const int p = t_.columns;
        if (!curvature(p)) return Verdict::unclear;
        const double z =
            beta[p - 1] * hessian_[p * p - 1];  // the last entry of the inverse is 1 / l^2
        const double past = t_.side == 0 ? t_.critical - std::fabs(z) : t_.side * z - t_.critical;
        return judge(past, clear);
    }
    static Verdict judge(double past, double margin) {
        if (!(std::fabs(past) > margin)) return Verdict::unclear;
        return past > 0 ? Verdict::breaks : Verdict::holds;
    }

    const LikelihoodTest& t_;
    int n_, fitted_;
    std::vector<char> gone_;
    std::vector<std::vector<int>> removed_;  // at each level
    std::vector<std::vector<double>> level_;
    std::vector<double> eta_, rest_, curve_, hessian_, score_;
};

}  // namespace

double mean_of(Link link, double eta) {
    return link == Link::logit ? 1 / (1 + std::exp(-eta)) : std::exp(eta);
}
double slope_of(Link link, double mean) { return link == Link::logit ? mean * (1 - mean) : mean; }

std::unique_ptr<Refits> refits_of(const LikelihoodTest& test) {
    return std::make_unique<LikelihoodRefits>(test);
}

}  // namespace quadsweep::estimating
