#include "link.hpp"

#include <algorithm>
#include <cmath>

namespace quadsweep::estimating {
namespace {

constexpr double steepest = 0.09622504486493766, at_steepest = 1.3169578969248168;

double bend(double eta) {
    const double m = mean_of(Link::logit, eta);
    return m * (1 - m) * (1 - 2 * m);
}
// The largest second derivative of the logistic mean between two ends, at least 0, rounded up.
double most_bent(double low, double high) {
    if (low <= -at_steepest && -at_steepest <= high) return steepest;
    return std::max({bend(low), bend(high), 0.0}) * (1 + 1e-12) + 1e-300;
}

class LinkEquations : public Equations {
  public:
    explicit LinkEquations(const LinkTest& test)
        : t_(test), n_(test.rows), q_(test.controls), step_(std::size_t{1} << q_, Column(n_)) {
        for (auto* c : {&rest_, &slope_, &up_, &down_, &most_, &a_, &flat_, &row_, &bent_}) {
            c->resize(n_);
        }
        gradient_.assign(q_, Column(items()));
    }

    int items() const override { return static_cast<int>(t_.item_first.size()) - 1; }
    int dims() const override { return q_; }
    int multipliers() const override { return q_; }

    void load(const Box& box) override {
        box_ = &box;
        Column eta = t_.offset, reach(n_, 0.0);
        for (int j = 0; j < q_; ++j) {
            for (int i = 0; i < n_; ++i) {
                eta[i] += box.centre[j] * t_.z[j][i];
                reach[i] += box.half[j] * std::fabs(t_.z[j][i]);
            }
        }
        for (int i = 0; i < n_; ++i) {
            const double m = mean_of(t_.link, eta[i]), r = reach[i];
            const double half = r * r / 2;
            rest_[i] = t_.y[i] - m;
            slope_[i] = slope_of(t_.link, m);
            if (t_.link == Link::logit) {
                up_[i] = half * most_bent(eta[i] - r, eta[i] + r);
                down_[i] = half * most_bent(-eta[i] - r, -eta[i] + r);
                most_[i] = 1;
            } else {
                most_[i] = std::exp(eta[i] + r) * (1 + 1e-12);
                up_[i] = half * most_[i];
                down_[i] = 0;
            }
        }
        for (int corner = 0; corner < 1 << q_; ++corner) {
            Column& c = step_[corner];
            std::fill(c.begin(), c.end(), 0.0);
            for (int j = 0; j < q_; ++j) {
                const double step = (corner >> j & 1 ? 1 : -1) * box.half[j];
                for (int i = 0; i < n_; ++i) c[i] += step * t_.z[j][i];
            }
        }
        all_ = Slopes();
        for (int item = 0; item < items(); ++item) add_slopes(item, 1, all_);
        load_sizes();
    }

    void start(double* multiplier) const override { std::fill(multiplier, multiplier + q_, 0.0); }
    void allow(double*) const override {}

    void aim(const double* multiplier) override {
        std::copy(multiplier, multiplier + q_, m_);
        row_ = t_.x;
        for (int j = 0; j < q_; ++j) {
            const double *z = t_.z[j].data(), m = m_[j];
            for (int i = 0; i < n_; ++i) row_[i] -= m * z[i];
        }
#pragma omp simd
        for (int i = 0; i < n_; ++i) {
            const double a = t_.sign * t_.weight[i] * row_[i];
            a_[i] = a;
            flat_[i] = a * rest_[i] - std::fabs(a) * (a > 0 ? up_[i] : down_[i]);
            bent_[i] = a * slope_[i];
        }
    }
    double base() const override { return 0; }
    void base_slopes(double* first, double* second) const override {
        std::fill(first, first + q_, 0.0);
        std::fill(second, second + q_, 0.0);
    }

    void costs(int corner, double* out) override {
        const Column& step = step_[corner];
#pragma omp simd
        for (int i = 0; i < n_; ++i) row_[i] = flat_[i] - bent_[i] * step[i];
        sum_items(row_, out);
    }
    void central_costs(double* out) override { sum_items(flat_, out); }

    double error() const override {
        double total = of_x_;
        for (int j = 0; j < q_; ++j) total += std::fabs(m_[j]) * times_[j];
        return (roundings + 2.0 * n_) * ulp * total;
    }

    const std::vector<std::vector<double>>& gradients() override {
        Column left(n_);
        for (int i = 0; i < n_; ++i) {
            left[i] = -t_.sign * t_.weight[i] * (rest_[i] - (a_[i] > 0 ? up_[i] : -down_[i]));
        }
        for (int j = 0; j < q_; ++j) {
            for (int i = 0; i < n_; ++i) row_[i] = left[i] * t_.z[j][i];
            sum_items(row_, gradient_[j].data());
        }
        return gradient_;
    }
    // Most shares are one.
    void slopes(const double* share, double* slope, double* by) const override {
        Slopes sum = all_;
        for (int item = 0; item < items(); ++item) {
            if (share[item] != 1) add_slopes(item, share[item] - 1, sum);
        }
        sum.at(m_, q_, q_, slope, by);
    }

  private:
    using Column = std::vector<double>;

    void add_slopes(int item, double share, Slopes& sum) const {
        for (int i = t_.item_first[item]; i < t_.item_first[item + 1]; ++i) {
            for (int j = 0; j < q_; ++j) {
                const double z = share * t_.sign * t_.weight[i] * slope_[i] * t_.z[j][i];
                sum.alone[j] -= t_.x[i] * z;
                for (int l = 0; l < q_; ++l) sum.by[j * q_ + l] += t_.z[l][i] * z;
            }
        }
    }
    // Sums of the sizes of the terms: what each multiplier can be rounded by.
    void load_sizes() {
        of_x_ = 0;
        std::fill(std::begin(times_), std::end(times_), 0.0);
        for (int i = 0; i < n_; ++i) {
            double eta = t_.offset_size[i];
            for (int j = 0; j < q_; ++j) {
                eta += (std::fabs(box_->centre[j]) + box_->half[j]) * t_.z_size[j][i];
            }
            const double each =
                t_.weight[i] * (std::fabs(t_.y[i]) + most_[i] * (1 + eta * (1 + eta)));
            of_x_ += each * t_.x_size[i];
            for (int j = 0; j < q_; ++j) times_[j] += each * t_.z_size[j][i];
        }
    }

    void sum_items(const Column& rows, double* out) const {
        if (items() == n_) {
            std::copy(rows.begin(), rows.end(), out);
            return;
        }
        for (int item = 0; item < items(); ++item) {
            double sum = 0;
            for (int i = t_.item_first[item]; i < t_.item_first[item + 1]; ++i) sum += rows[i];
            out[item] = sum;
        }
    }

    const LinkTest& t_;
    int n_, q_;
    const Box* box_ = nullptr;
    double m_[most_multipliers] = {};
    std::vector<Column> step_;                // z . d at each corner
    Column rest_, slope_, up_, down_, most_;  // at the centre: y - m, m', what the tangent misses
    Column a_, flat_, bent_, row_;            // with the multipliers
    Slopes all_;                              // with every share one
    std::vector<Column> gradient_;
    double of_x_ = 0, times_[most_multipliers] = {};  // of sizes
};

}  // namespace

std::unique_ptr<Equations> link_equations(const LinkTest& test) {
    return std::make_unique<LinkEquations>(test);
}

}  // namespace quadsweep::estimating
