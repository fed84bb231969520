#include "robust.hpp"

#include <algorithm>
#include <cmath>

namespace quadsweep::estimating {
namespace {

class RobustEquations : public Equations {
  public:
    explicit RobustEquations(const RobustTest& test)
        : t_(test), n_(test.rows), q_(test.controls), last_(2 * q_ + 1) {
        for (auto* c :
             {&u_, &w_, &p_, &v_, &ru_, &rw_, &rho_, &of_u_, &of_w_, &flat_, &du_, &dw_, &cross_}) {
            c->resize(n_);
        }
        step_u_.assign(std::size_t{1} << q_, Column(n_));
        step_w_.assign(std::size_t{1} << q_, Column(n_));
        for (auto* c : {&v0_, &rho0_, &along_, &slope0_}) c->resize(t_.scores());
        linear_.resize(n_);
        score_.resize(t_.scores());
    }

    int items() const override { return t_.items(); }
    int dims() const override { return 2 * q_ + 1; }
    int multipliers() const override { return 2 * q_ + 2; }

    void load(const Box& box) override {
        box_ = &box;
        b_ = box.centre[2 * q_];
        hb_ = box.half[2 * q_];
        u_ = t_.x;
        w_ = t_.y;
        std::fill(ru_.begin(), ru_.end(), 0.0);
        std::fill(rw_.begin(), rw_.end(), 0.0);
        for (int j = 0; j < q_; ++j) {
            const Column& z = t_.z[j];
            const double delta = box.centre[j], gamma = box.centre[q_ + j];
            const double hd = box.half[j], hg = box.half[q_ + j];
            for (int i = 0; i < n_; ++i) {
                u_[i] -= delta * z[i];
                w_[i] -= gamma * z[i];
                ru_[i] += hd * std::fabs(z[i]);
                rw_[i] += hg * std::fabs(z[i]);
            }
        }
        for (int i = 0; i < n_; ++i) {
            const double e = w_[i] - b_ * u_[i];
            p_[i] = e - b_ * u_[i];
            v_[i] = u_[i] * e;
            cross_[i] = ru_[i] * rw_[i];
            rho_[i] = ru_[i] *
                      (rw_[i] + std::fabs(b_) * ru_[i] + 2 * std::fabs(u_[i]) * hb_ + hb_ * ru_[i]);
        }
        sum_scores(v_, v0_);
        sum_scores(rho_, rho0_);
        corner_steps(0, step_u_);
        corner_steps(q_, step_w_);
        if (t_.above) chi_ = t_.tau * t_.tau / (box.low + box.high);
    }

    void start(double* multiplier) const override {
        std::fill(multiplier, multiplier + multipliers(), 0.0);
        double squares = 0;
        for (double v : v0_) squares += v * v;
        multiplier[last_] = t_.above ? 1 : t_.tau / (2 * std::sqrt(std::max(squares, 1e-12)));
    }
    void allow(double* multiplier) const override {
        double& last = multiplier[last_];
        if (!t_.above) last = std::max(last, 0.2 * kappa_);
    }

    void aim(const double* multiplier) override {
        std::copy(multiplier, multiplier + multipliers(), m_);
        nu_ = m_[2 * q_];
        kappa_ = t_.above ? 0 : m_[last_];
        first_ = t_.above ? -t_.sign * m_[last_] : box_->side;
        std::fill(of_u_.begin(), of_u_.end(), 0.0);
        std::fill(of_w_.begin(), of_w_.end(), 0.0);
        for (int j = 0; j < q_; ++j) {
            const Column& z = t_.z[j];
            const double lambda = m_[j], mu = m_[q_ + j];
            for (int i = 0; i < n_; ++i) {
                of_u_[i] += lambda * z[i];
                of_w_[i] += mu * z[i];
            }
        }
        for (int i = 0; i < n_; ++i) {
            flat_[i] = first_ * u_[i] * w_[i] - std::fabs(first_) * cross_[i] + of_u_[i] * u_[i] +
                       of_w_[i] * w_[i];
            du_[i] = first_ * w_[i] + of_u_[i];
            dw_[i] = first_ * u_[i] + of_w_[i];
        }
    }

    double base() const override {
        if (!t_.above) return -t_.tau * t_.tau / (4 * kappa_);
        const double over = m_[last_] - 1;
        return box_->low * box_->high / (box_->low + box_->high) +
               over * (over > 0 ? box_->low : box_->high);
    }
    void base_slopes(double* first, double* second) const override {
        std::fill(first, first + multipliers(), 0.0);
        std::fill(second, second + multipliers(), 0.0);
        if (!t_.above) {
            first[last_] = t_.tau * t_.tau / (4 * kappa_ * kappa_);
            second[last_] = -2 * first[last_] / kappa_;
        } else {
            first[last_] = m_[last_] > 1 ? box_->low : box_->high;
        }
    }

    void costs(int corner, double* out) override {
        const Column& su = step_u_[corner & ((1 << q_) - 1)];
        const Column& sw = step_w_[(corner >> q_) & ((1 << q_) - 1)];
        const double sb = (corner >> (2 * q_)) & 1 ? hb_ : -hb_;
        const bool single = t_.scores() == n_;
        double* v = single ? score_.data() : along_rows();
#pragma omp simd
        for (int i = 0; i < n_; ++i) {
            linear_[i] = flat_[i] - du_[i] * su[i] - dw_[i] * sw[i];
            v[i] = v_[i] - p_[i] * su[i] - u_[i] * sw[i] - u_[i] * u_[i] * sb;
        }
        finish(v, out);
    }
    void central_costs(double* out) override {
        linear_ = flat_;
        const bool single = t_.scores() == n_;
        double* v = single ? score_.data() : along_rows();
        std::copy(v_.begin(), v_.end(), v);
        finish(v, out);
    }

    double error() const override {
        double total = 0;
        const double b = std::fabs(b_) + hb_;
        for (int g = 0; g < t_.scores(); ++g) {
            double linear = 0, score = 0;
            for (int i = t_.score_first[g]; i < t_.score_first[g + 1]; ++i) {
                double u = t_.x_size[i], w = t_.y_size[i], of_u = 0, of_w = 0;
                for (int j = 0; j < q_; ++j) {
                    const double z = t_.z_size[j][i];
                    u += z * (std::fabs(box_->centre[j]) + box_->half[j]);
                    w += z * (std::fabs(box_->centre[q_ + j]) + box_->half[q_ + j]);
                    of_u += z * std::fabs(m_[j]);
                    of_w += z * std::fabs(m_[q_ + j]);
                }
                linear += std::fabs(first_) * u * w + of_u * u + of_w * w;
                score += u * (w + b * u);
            }
            total +=
                linear + std::fabs(nu_) * score + (kappa_ + (t_.above ? chi_ : 0)) * score * score;
        }
        return (roundings + 2.0 * n_) * ulp * (total + std::fabs(base()));
    }

    void gradients(std::vector<std::vector<double>>& out) const override {
        for (auto& g : out) std::fill(g.begin(), g.end(), 0.0);
        for (int item = 0; item < items(); ++item) {
            for (int g = t_.item_first[item]; g < t_.item_first[item + 1]; ++g) {
                const double v = end_of(g);
                out[2 * q_][item] += v;
                if (!t_.above) out[last_][item] -= v * v;
                for (int i = t_.score_first[g]; i < t_.score_first[g + 1]; ++i) {
                    for (int j = 0; j < q_; ++j) {
                        out[j][item] += t_.z[j][i] * u_[i];
                        out[q_ + j][item] += t_.z[j][i] * w_[i];
                    }
                    if (t_.above) {
                        out[last_][item] -=
                            t_.sign * u_[i] * w_[i] + (m_[last_] > 0 ? cross_[i] : -cross_[i]);
                    }
                }
            }
        }
    }

    void slopes(const double* share, double* slope, double* by) const override {
        const int size = multipliers();
        std::fill(slope, slope + dims(), 0.0);
        std::fill(by, by + dims() * size, 0.0);
        for (int item = 0; item < items(); ++item) {
            if (share[item] == 0) continue;
            for (int g = t_.item_first[item]; g < t_.item_first[item + 1]; ++g) {
                const double v = end_of(g), of_v = slope_of(g, v);
                for (int i = t_.score_first[g]; i < t_.score_first[g + 1]; ++i) {
                    add_slopes(i, share[item], v, of_v, slope, by, size);
                }
            }
        }
    }

  private:
    using Column = std::vector<double>;

    void add_slopes(int i, double share, double v, double of_v, double* slope, double* by,
                    int size) const {
        const double uu = share * u_[i] * u_[i];
        slope[2 * q_] -= of_v * uu;
        by[2 * q_ * size + 2 * q_] -= uu;
        if (!t_.above) by[2 * q_ * size + last_] += 2 * v * uu;
        for (int j = 0; j < q_; ++j) {
            const double z = share * t_.z[j][i];
            slope[j] -= z * (du_[i] + of_v * p_[i]);
            slope[q_ + j] -= z * (dw_[i] + of_v * u_[i]);
            double* of_delta = by + j * size;
            double* of_gamma = by + (q_ + j) * size;
            for (int l = 0; l < q_; ++l) {
                of_delta[l] -= z * t_.z[l][i];
                of_gamma[q_ + l] -= z * t_.z[l][i];
            }
            of_delta[2 * q_] -= z * p_[i];
            of_gamma[2 * q_] -= z * u_[i];
            if (t_.above) {
                of_delta[last_] += t_.sign * z * w_[i];
                of_gamma[last_] += t_.sign * z * u_[i];
            } else {
                of_delta[last_] += 2 * v * z * p_[i];
                of_gamma[last_] += 2 * v * z * u_[i];
            }
        }
    }

    void corner_steps(int from, std::vector<Column>& out) const {
        for (int corner = 0; corner < 1 << q_; ++corner) {
            Column& c = out[corner];
            std::fill(c.begin(), c.end(), 0.0);
            for (int j = 0; j < q_; ++j) {
                const double step = (corner >> j & 1 ? 1 : -1) * box_->half[from + j];
                const Column& z = t_.z[j];
                for (int i = 0; i < n_; ++i) c[i] += step * z[i];
            }
        }
    }
    void sum_scores(const Column& rows, Column& out) const {
        for (int g = 0; g < t_.scores(); ++g) {
            double sum = 0;
            for (int i = t_.score_first[g]; i < t_.score_first[g + 1]; ++i) sum += rows[i];
            out[g] = sum;
        }
    }
    double* along_rows() {
        row_.resize(n_);
        return row_.data();
    }

    // From the rows' linear parts and v to the items' costs.
    void finish(const double* v, double* out) {
        if (v != score_.data()) {
            for (int g = 0; g < t_.scores(); ++g) {
                double sum = 0, linear = 0;
                for (int i = t_.score_first[g]; i < t_.score_first[g + 1]; ++i) {
                    sum += v[i];
                    linear += linear_[i];
                }
                score_[g] = sum;
                along_[g] = linear;
            }
        }
        const double* linear = v != score_.data() ? along_.data() : linear_.data();
        const bool one = t_.items() == t_.scores();
        double* cost = one ? out : slope0_.data();
        if (t_.above) {
#pragma omp simd
            for (int g = 0; g < t_.scores(); ++g) {
                const double of_v = nu_ + 2 * chi_ * v0_[g];
                cost[g] = linear[g] + of_v * score_[g] - (of_v < 0 ? -of_v : of_v) * rho0_[g] -
                          chi_ * v0_[g] * v0_[g];
            }
        } else {
#pragma omp simd
            for (int g = 0; g < t_.scores(); ++g) {
                const double lower = score_[g] - rho0_[g], upper = score_[g] + rho0_[g];
                const double at_lower = lower * (nu_ - kappa_ * lower);
                const double at_upper = upper * (nu_ - kappa_ * upper);
                cost[g] = linear[g] + (at_lower < at_upper ? at_lower : at_upper);
            }
        }
        if (one) return;
        for (int item = 0; item < t_.items(); ++item) {
            double sum = 0;
            for (int g = t_.item_first[item]; g < t_.item_first[item + 1]; ++g) sum += cost[g];
            out[item] = sum;
        }
    }

    // Where the least value over v - rho .. v + rho is, at the centre.
    double end_of(int g) const {
        if (t_.above) {
            return v0_[g] - (nu_ + 2 * chi_ * v0_[g] > 0 ? rho0_[g] : -rho0_[g]);
        }
        const double lower = v0_[g] - rho0_[g], upper = v0_[g] + rho0_[g];
        return lower * (nu_ - kappa_ * lower) < upper * (nu_ - kappa_ * upper) ? lower : upper;
    }
    double slope_of(int g, double v) const {
        return t_.above ? nu_ + 2 * chi_ * v0_[g] : nu_ - 2 * kappa_ * v;
    }

    const RobustTest& t_;
    int n_, q_, last_;
    const Box* box_ = nullptr;
    double b_ = 0, hb_ = 0, chi_ = 0;
    double m_[most_multipliers] = {}, nu_ = 0, kappa_ = 0, first_ = 1;
    Column u_, w_, p_, v_, ru_, rw_, rho_, cross_;  // at the centre; p is e - b u
    Column of_u_, of_w_, flat_, du_, dw_;           // with the multipliers
    std::vector<Column> step_u_, step_w_;
    Column v0_, rho0_;
    Column linear_, score_, along_, slope0_, row_;
};

// The sum of the m largest.
double largest(std::vector<double> values, int m) {
    m = std::min<int>(m, static_cast<int>(values.size()));
    std::partial_sort(values.begin(), values.begin() + m, values.end(), std::greater<>());
    double sum = 0;
    for (int i = 0; i < m; ++i) sum += std::max(values[i], 0.0);
    return sum;
}

}  // namespace

std::unique_ptr<Equations> robust_equations(const RobustTest& test) {
    return std::make_unique<RobustEquations>(test);
}

// Without the rows O, with rows' Z'Z = n I and x, y orthogonal to Z, G = n I - sum_O z z' has least
// eigenvalue at least n - sum_O |z|^2, delta = -G^-1 sum_O z x, and |G^-1 r - r / n| <= (1 / least
// - 1 / n) |r|; a = n - sum_O x^2 - r' G^-1 r, and c likewise.
std::vector<std::unique_ptr<Box>> robust_roots(const RobustTest& t, int most) {
    const int q = t.controls, items = t.items();
    const double n = t.rows, slack = 1 + 1e-9;
    std::vector<double> zz(items), xx(items), up(items), down(items), norm_x(items), norm_y(items);
    std::vector<std::vector<double>> part(2 * q, std::vector<double>(items));
    double c = 0;
    for (int item = 0; item < items; ++item) {
        double product = 0;
        for (int i = t.score_first[t.item_first[item]]; i < t.score_first[t.item_first[item + 1]];
             ++i) {
            xx[item] += t.x[i] * t.x[i];
            product += t.x[i] * t.y[i];
            for (int j = 0; j < q; ++j) {
                zz[item] += t.z[j][i] * t.z[j][i];
                part[j][item] += t.z[j][i] * t.x[i];
                part[q + j][item] += t.z[j][i] * t.y[i];
            }
        }
        c += product;
        up[item] = -product;
        down[item] = product;
        for (int j = 0; j < q; ++j) {
            norm_x[item] += part[j][item] * part[j][item];
            norm_y[item] += part[q + j][item] * part[q + j][item];
        }
        norm_x[item] = std::sqrt(norm_x[item]);
        norm_y[item] = std::sqrt(norm_y[item]);
    }
    const double least = n - slack * largest(zz, most);
    if (!(least > 1e-3 * n)) return {};
    const double of_x = slack * largest(norm_x, most), of_y = slack * largest(norm_y, most);
    const double a = n - slack * largest(xx, most) - of_x * of_x / least;
    if (!(a > 1e-3 * n)) return {};
    const double cross = of_x * of_y / least;
    const double c_high = c + slack * (largest(up, most) + cross) + 1e-9 * n;
    const double c_low = c - slack * (largest(down, most) + cross) - 1e-9 * n;
    const double b_high = slack * c_high / (c_high > 0 ? a : n);
    const double b_low = slack * c_low / (c_low < 0 ? a : n);
    std::vector<std::unique_ptr<Box>> out;
    for (int side : {1, -1}) {
        const double low = side > 0 ? std::max(b_low, 0.0) : b_low;
        const double high = side > 0 ? b_high : std::min(b_high, 0.0);
        if (!(low < high) || (t.above && side != t.sign)) continue;
        auto box = std::make_unique<Box>();
        box->side = side;
        for (int j = 0; j < 2 * q; ++j) {
            const bool x = j < q;
            const double norm = x ? of_x : of_y, rest = (1 / least - 1 / n) * norm;
            std::vector<double> minus = part[j];
            for (double& v : minus) v = -v;
            const double above = slack * (largest(minus, most) / n + rest) + 1e-9;
            const double below = slack * (largest(part[j], most) / n + rest) + 1e-9;
            box->centre[j] = (above - below) / 2;
            box->half[j] = (above + below) / 2;
        }
        box->centre[2 * q] = (low + high) / 2;
        box->half[2 * q] = (high - low) / 2;
        box->low = 0;
        box->high = side > 0 ? c_high : -c_low;
        for (int i = 0; i < items; ++i) box->open.push_back(i);
        out.push_back(std::move(box));
    }
    return out;
}

}  // namespace quadsweep::estimating
