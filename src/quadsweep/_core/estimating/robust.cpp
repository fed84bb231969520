#include "robust.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quadsweep::estimating {
namespace {

class RobustEquations : public Equations {
  public:
    explicit RobustEquations(const RobustTest& test)
        : t_(test), n_(test.rows), q_(test.controls), last_(2 * q_ + 1) {
        for (int j = 0; j < q_; ++j) columns_.push_back(&t_.z[j]);
        columns_.push_back(&t_.x);
        for (auto* c : {&u_, &e_, &v_, &of_u_, &of_e_, &row_, &linear_}) c->resize(n_);
        u_at_.assign(std::size_t{1} << q_, Column(n_));
        e_at_.assign(std::size_t{2} << q_, Column(n_));
        for (auto* c : {&v0_, &score_, &along_, &cost_}) c->resize(t_.scores());
        gradient_.assign(multipliers(), Column(items()));
    }

    int items() const override { return t_.items(); }
    int dims() const override { return 2 * q_ + 1; }
    int multipliers() const override { return 2 * q_ + 2; }

    void load(const Box& box) override {
        box_ = &box;
        u_ = t_.x;
        e_ = t_.y;
        for (int j = 0; j < q_; ++j) subtract(*columns_[j], box.centre[j], u_);
        for (int j = 0; j <= q_; ++j) subtract(*columns_[j], box.centre[q_ + j], e_);
        for (int i = 0; i < n_; ++i) v_[i] = u_[i] * e_[i];
        sum_scores(v_, v0_);
        at_corners(u_, q_, box.half, u_at_);
        at_corners(e_, q_ + 1, box.half + q_, e_at_);
        if (t_.above) chi_ = t_.tau * t_.tau / (box.low + box.high);
        all_ = Slopes();
        for (int item = 0; item < items(); ++item) add_slopes(item, 1, all_);
        load_sizes();
        load_gradients();
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
        kappa_ = t_.above ? 0 : m_[last_];
        first_ = t_.above ? -t_.sign * m_[last_] : box_->side;
        for (int i = 0; i < n_; ++i) of_u_[i] = first_ * t_.y[i];
        std::fill(of_e_.begin(), of_e_.end(), 0.0);
        for (int j = 0; j < q_; ++j) subtract(*columns_[j], -m_[j], of_u_);
        for (int j = 0; j <= q_; ++j) subtract(*columns_[j], -m_[q_ + j], of_e_);
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
        finish(u_at_[corner & ((1 << q_) - 1)], e_at_[corner >> q_], out);
    }
    void central_costs(double* out) override { finish(u_, e_, out); }

    double error() const override {
        double total = std::fabs(first_) * y_times_u_;
        for (int k = 0; k < last_; ++k) total += std::fabs(m_[k]) * times_[k];
        total += (t_.above ? 3 * chi_ : kappa_) * squares_;
        return (roundings + 2.0 * n_) * ulp * (total + std::fabs(base()));
    }

    const std::vector<std::vector<double>>& gradients() override { return gradient_; }

    // Most shares are one.
    void slopes(const double* share, double* slope, double* by) const override {
        Slopes sum = all_;
        for (int item = 0; item < items(); ++item) {
            if (share[item] != 1) add_slopes(item, share[item] - 1, sum);
        }
        sum.at(m_, dims(), multipliers(), slope, by);
    }

  private:
    using Column = std::vector<double>;

    // of -= times * column
    static void subtract(const Column& column, double times, Column& of) {
        for (std::size_t i = 0; i < of.size(); ++i) of[i] -= times * column[i];
    }
    // What is left of a column at each corner of its coefficients' ranges.
    void at_corners(const Column& centre, int count, const double* half,
                    std::vector<Column>& out) const {
        for (int corner = 0; corner < 1 << count; ++corner) {
            out[corner] = centre;
            for (int j = 0; j < count; ++j) {
                subtract(*columns_[j], (corner >> j & 1 ? 1 : -1) * half[j], out[corner]);
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

    void add_slopes(int item, double share, Slopes& sum) const {
        for (int g = t_.item_first[item]; g < t_.item_first[item + 1]; ++g) {
            for (int i = t_.score_first[g]; i < t_.score_first[g + 1]; ++i) {
                add_row(i, share, v0_[g], sum);
            }
        }
    }
    void add_row(int i, double share, double v, Slopes& sum) const {
        const int size = last_ + 1;
        const double chord = 2 * chi_ * v;
        for (int j = 0; j < q_; ++j) {
            const double z = share * t_.z[j][i];
            double* row = sum.by + j * size;
            for (int l = 0; l < q_; ++l) row[l] -= z * t_.z[l][i];
            if (t_.above) sum.alone[j] -= z * chord * e_[i];
            if (!t_.above) sum.alone[j] -= z * box_->side * t_.y[i];
            row[last_] += z * (t_.above ? t_.sign * t_.y[i] : 2 * v * e_[i]);
        }
        for (int j = 0; j <= q_; ++j) {
            const double z = share * (*columns_[j])[i];
            double* row = sum.by + (q_ + j) * size;
            for (int l = 0; l <= q_; ++l) row[q_ + l] -= z * (*columns_[l])[i];
            if (t_.above) sum.alone[q_ + j] -= z * chord * u_[i];
            if (!t_.above) row[last_] += 2 * v * z * u_[i];
        }
    }

    // Of the sizes of u and e in the box: what each multiplier, and the squares, can be rounded by.
    void load_sizes() {
        Column u = t_.x_size, e = t_.y_size;
        for (int k = 0; k < last_; ++k) {
            const double reach = std::fabs(box_->centre[k]) + box_->half[k];
            subtract(size_of(k), -reach, k < q_ ? u : e);
        }
        y_times_u_ = product(t_.y_size, u);
        for (int k = 0; k < last_; ++k) times_[k] = product(size_of(k), k < q_ ? u : e);
        squares_ = 0;
        for (int g = 0; g < t_.scores(); ++g) {
            double sum = 0;
            for (int i = t_.score_first[g]; i < t_.score_first[g + 1]; ++i) sum += u[i] * e[i];
            squares_ += sum * sum;
        }
    }
    // Of the column whose coefficient is parameter k.
    const Column& size_of(int k) const {
        const int j = k < q_ ? k : k - q_;
        return j < q_ ? t_.z_size[j] : t_.x_size;
    }
    static double product(const Column& a, const Column& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
        return sum;
    }

    void load_gradients() {
        for (int k = 0; k < last_; ++k) {
            const Column& column = *columns_[k < q_ ? k : k - q_];
            const Column& with = k < q_ ? u_ : e_;
            for (int i = 0; i < n_; ++i) row_[i] = column[i] * with[i];
            sum_items(row_, gradient_[k]);
        }
        if (t_.above) {
            for (int i = 0; i < n_; ++i) row_[i] = -t_.sign * u_[i] * t_.y[i];
            sum_items(row_, gradient_[last_]);
            return;
        }
        for (int item = 0; item < items(); ++item) {
            double sum = 0;
            for (int g = t_.item_first[item]; g < t_.item_first[item + 1]; ++g) {
                sum -= v0_[g] * v0_[g];
            }
            gradient_[last_][item] = sum;
        }
    }
    void sum_items(const Column& rows, Column& out) const {
        for (int item = 0; item < items(); ++item) {
            double sum = 0;
            for (int i = t_.score_first[t_.item_first[item]];
                 i < t_.score_first[t_.item_first[item + 1]]; ++i) {
                sum += rows[i];
            }
            out[item] = sum;
        }
    }

    void finish(const Column& u, const Column& e, double* out) {
        const bool single = t_.scores() == n_;
        if (single && t_.items() == n_ && !t_.above) {
            const double *of_u = of_u_.data(), *of_e = of_e_.data(), *a = u.data(), *b = e.data();
            const double kappa = kappa_;
#pragma omp simd
            for (int i = 0; i < n_; ++i) {
                const double v = a[i] * b[i];
                out[i] = of_u[i] * a[i] + of_e[i] * b[i] - kappa * v * v;
            }
            return;
        }
        double* v = single ? score_.data() : row_.data();
#pragma omp simd
        for (int i = 0; i < n_; ++i) {
            linear_[i] = of_u_[i] * u[i] + of_e_[i] * e[i];
            v[i] = u[i] * e[i];
        }
        if (!single) {
            sum_scores(row_, score_);
            sum_scores(linear_, along_);
        }
        const double* linear = single ? linear_.data() : along_.data();
        const bool one = t_.items() == t_.scores();
        double* cost = one ? out : cost_.data();
        const double* s = score_.data();
        if (t_.above) {
#pragma omp simd
            for (int g = 0; g < t_.scores(); ++g) {
                cost[g] = linear[g] + chi_ * v0_[g] * (2 * s[g] - v0_[g]);
            }
        } else {
#pragma omp simd
            for (int g = 0; g < t_.scores(); ++g) cost[g] = linear[g] - kappa_ * s[g] * s[g];
        }
        if (one) return;
        for (int item = 0; item < t_.items(); ++item) {
            double sum = 0;
            for (int g = t_.item_first[item]; g < t_.item_first[item + 1]; ++g) sum += cost[g];
            out[item] = sum;
        }
    }

    const RobustTest& t_;
    int n_, q_, last_;
    const Box* box_ = nullptr;
    double chi_ = 0, kappa_ = 0, first_ = 1, m_[most_multipliers] = {};
    std::vector<const Column*> columns_;  // the controls, and x
    Column u_, e_, v_, v0_;               // at the centre; of each score
    std::vector<Column> u_at_, e_at_;     // at the corners
    Column of_u_, of_e_;                  // with the multipliers
    Column row_, linear_, score_, along_, cost_;
    Slopes all_;  // with every share one
    std::vector<Column> gradient_;
    double y_times_u_ = 0, times_[most_multipliers] = {}, squares_ = 0;  // of sizes
};

// The sum of the m largest.
double largest(std::vector<double> values, int m) {
    m = std::min<int>(m, static_cast<int>(values.size()));
    std::partial_sort(values.begin(), values.begin() + m, values.end(), std::greater<>());
    double sum = 0;
    for (int i = 0; i < m; ++i) sum += std::max(values[i], 0.0);
    return sum;
}

constexpr double slack = 1 + 1e-9;

struct Range {
    double low = -infinity, high = infinity;
};
Range both(Range a, Range b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }
// a - b c
Range minus_product(Range a, Range b, Range c) {
    const double products[] = {b.low * c.low, b.low * c.high, b.high * c.low, b.high * c.high};
    return {a.low - slack * *std::max_element(products, products + 4) - 1e-9,
            a.high - slack * *std::min_element(products, products + 4) + 1e-9};
}

// Of sums over the rows of an item.
class Sums {
  public:
    explicit Sums(const RobustTest& test) : t_(test) {}

    std::vector<double> products(const std::vector<double>& a, const std::vector<double>& b) const {
        std::vector<double> out(t_.items());
        for (int item = 0; item < t_.items(); ++item) {
            for (int i = t_.score_first[t_.item_first[item]];
                 i < t_.score_first[t_.item_first[item + 1]]; ++i) {
                out[item] += a[i] * b[i];
            }
        }
        return out;
    }

  private:
    const RobustTest& t_;
};

// A regression on orthogonal columns of mean square one, to which its outcome is orthogonal:
// without the rows O, G = n I - sum_O c c' has least eigenvalue at least n - sum_O |c|^2, the
// coefficients are -G^-1 r with r = sum_O c y, and |G^-1 r - r / n| <= (1 / least - 1 / n) |r|.
struct Regression {
    std::vector<Range> coefficient;
    double least = 0, norm = 0;  // of |r|

    Regression(const Sums& sums, const std::vector<const std::vector<double>*>& columns,
               const std::vector<double>& y, double n, int most) {
        std::vector<double> squares, norms;
        std::vector<std::vector<double>> parts;
        for (const auto* c : columns) {
            const auto square = sums.products(*c, *c);
            parts.push_back(sums.products(*c, y));
            squares.resize(square.size());
            norms.resize(square.size());
            for (std::size_t i = 0; i < square.size(); ++i) {
                squares[i] += square[i];
                norms[i] += parts.back()[i] * parts.back()[i];
            }
        }
        for (double& v : norms) v = std::sqrt(v);
        least = n - slack * largest(squares, most);
        norm = slack * largest(norms, most);
        if (!(least > 1e-3 * n)) return;
        const double rest = (1 / least - 1 / n) * norm;
        for (auto& part : parts) {
            const double low = -slack * (largest(part, most) / n + rest) - 1e-9;
            for (double& v : part) v = -v;
            coefficient.push_back({low, slack * (largest(part, most) / n + rest) + 1e-9});
        }
    }
};

}  // namespace

std::unique_ptr<Equations> robust_equations(const RobustTest& test) {
    return std::make_unique<RobustEquations>(test);
}

// With r_x and r_y of the regressions on the controls alone, sum u^2 = n - sum_O x^2 - r_x' G^-1
// r_x, and sum u w likewise; b is their quotient, and the coefficients of the controls are gamma -
// b delta. The regression on the controls and x at once has them all, too.
std::vector<std::unique_ptr<Box>> robust_roots(const RobustTest& t, int most) {
    const int q = t.controls;
    const double n = t.rows;
    const Sums sums(t);
    std::vector<const std::vector<double>*> columns;
    for (const auto& z : t.z) columns.push_back(&z);
    const Regression of_x(sums, columns, t.x, n, most), of_y(sums, columns, t.y, n, most);
    if (of_x.coefficient.empty()) return {};
    const double a =
        n - slack * largest(sums.products(t.x, t.x), most) - of_x.norm * of_x.norm / of_x.least;
    if (!(a > 1e-3 * n)) return {};
    std::vector<double> product = sums.products(t.x, t.y);
    const double cross = of_x.norm * of_y.norm / of_x.least;
    const double c = std::accumulate(product.begin(), product.end(), 0.0);
    const double c_low = c - slack * (largest(product, most) + cross) - 1e-9 * n;
    for (double& v : product) v = -v;
    const double c_high = c + slack * (largest(product, most) + cross) + 1e-9 * n;
    Range b{slack * c_low / (c_low < 0 ? a : n), slack * c_high / (c_high > 0 ? a : n)};
    std::vector<Range> ranges = of_x.coefficient;
    for (int j = 0; j < q; ++j) {
        ranges.push_back(minus_product(of_y.coefficient[j], b, of_x.coefficient[j]));
    }
    columns.push_back(&t.x);
    std::vector<double> rest = t.y;
    for (int i = 0; i < t.rows; ++i) rest[i] -= c / n * t.x[i];
    const Regression all(sums, columns, rest, n, most);
    if (!all.coefficient.empty()) {
        for (int j = 0; j < q; ++j) ranges[q + j] = both(ranges[q + j], all.coefficient[j]);
        const Range moved = all.coefficient[q];
        b = both(b, {c / n + moved.low - 1e-9, c / n + moved.high + 1e-9});
    }
    std::vector<std::unique_ptr<Box>> out;
    for (int side : {1, -1}) {
        const Range part = both(b, side > 0 ? Range{0, infinity} : Range{-infinity, 0});
        if (!(part.low < part.high) || (t.above && side != t.sign)) continue;
        auto box = std::make_unique<Box>();
        box->side = side;
        for (int j = 0; j <= 2 * q; ++j) {
            const Range range = j < 2 * q ? ranges[j] : part;
            box->centre[j] = (range.low + range.high) / 2;
            box->half[j] = slack * (range.high - range.low) / 2;
        }
        box->low = 0;
        box->high = side > 0 ? c_high : -c_low;
        for (int i = 0; i < t.items(); ++i) box->open.push_back(i);
        out.push_back(std::move(box));
    }
    return out;
}

}  // namespace quadsweep::estimating
