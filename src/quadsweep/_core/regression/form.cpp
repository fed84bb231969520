#include "form.hpp"

#include <algorithm>
#include <cmath>

namespace quadsweep::regression {
namespace {

constexpr double thin_pivot = 1e-9;  // pivots below this share: the fit is left to 32 digits

// Cholesky of the leading `fitted` columns, and the fits of other columns on them. Thin columns
// are passed over.
class Solver {
  public:
    Solver(const Gram& s, const Form& form) : s_(s), fitted_(form.fitted) {
        const int fitted = form.fitted;
        for (int j = 0; j < fitted; ++j) {
            for (int i = 0; i < j; ++i) l_[j][i] = inner(j, i) * inverse_[i];
            double pivot = s(j, j);
            for (int i = 0; i < j; ++i) pivot -= l_[j][i] * l_[j][i];
            const double nothing = 1e-13 * form.floor[j];  // rounding of an entry, and room
            const bool vanishes = s(j, j) <= nothing * nothing;
            const bool counts = !vanishes && pivot > thin_pivot * s(j, j);
            share_ *= counts ? pivot / s(j, j) : 1;
            singular_ |= !counts && !vanishes;
            inverse_[j] = counts ? 1 / std::sqrt(pivot) : 0;
        }
    }
    // L^-1 times the products of a column with the fitted ones.
    struct Half {
        double v[most_searched];
    };
    Half half(int column) const {
        Half h{};
        for (int j = 0; j < fitted_; ++j) {
            double sum = s_(column, j);
            for (int i = 0; i < j; ++i) sum -= l_[j][i] * h.v[i];
            h.v[j] = sum * inverse_[j];
        }
        return h;
    }
    double left(int a, const Half& ha, int b, const Half& hb) const {
        double sum = s_(a, b);
        for (int j = 0; j < fitted_; ++j) sum -= ha.v[j] * hb.v[j];
        return sum;
    }
    void coefficients(const Half& h, double* out) const {
        for (int j = fitted_; j-- > 0;) {
            double sum = h.v[j];
            for (int i = j + 1; i < fitted_; ++i) sum -= l_[i][j] * out[i];
            out[j] = sum * inverse_[j];
        }
    }
    bool singular() const { return singular_; }
    // What is left of a column is off by at most this share of its sum of squares: backward
    // error of Cholesky, times the condition, which is at most e / share.
    double error() const { return 600 * ulp / share_; }

  private:
    double inner(int j, int i) const {
        double sum = s_(j, i);
        for (int e = 0; e < i; ++e) sum -= l_[j][e] * l_[i][e];
        return sum;
    }

    const Gram& s_;
    int fitted_;
    double l_[most_searched][most_searched] = {}, inverse_[most_searched] = {};
    double share_ = 1;
    bool singular_ = false;
};

void fit_r2(const Form& f, const Gram& s, Own& o) {
    const int y = f.searched - 1;
    const Solver solver(s, f);
    const auto h = solver.half(y);
    double beta[most_searched] = {};
    solver.coefficients(h, beta);
    for (int j = 0; j < f.fitted; ++j) o.theta[j] = -beta[j];
    o.theta[y] = 1;
    std::copy(o.theta, o.theta + f.searched, o.left);
    const double rss = std::max(solver.left(y, h, y, h), 0.0);
    const double rss_error = solver.error() * s(y, y);
    if (f.kind == Kind::lts) {
        o.score = -rss;
        o.best = solver.singular() ? infinity : -(rss - rss_error);
        return;
    }
    const int v = f.searched;
    double tss = s(v, v), tss_error = 64 * ulp * s(v, v);
    if (f.free_count == 1 && s(0, 0) > 0) {
        o.g[0] = s(v, 0) / s(0, 0);
        tss -= o.g[0] * s(v, 0);
    }
    if (tss > tss_error) o.score = 1 - rss / tss;
    o.best = solver.singular() || !(tss > 2 * tss_error)
                 ? infinity
                 : 1 - (rss - rss_error) / (tss + tss_error);
}

// The same for x and y given Z: their own tau, and the fits of what the two squares hold.
void fit_partial(const Form& f, const Gram& s, Own& o) {
    const Solver solver(s, f);
    const int first = f.fitted, others = f.searched;
    const bool sign = f.kind == Kind::sign;
    const int x_at = sign ? others : first, y_at = f.response();
    const auto x = solver.half(x_at), y = solver.half(y_at);
    const double a = solver.left(x_at, x, x_at, x), b = solver.left(y_at, y, y_at, y);
    const double c = -solver.left(x_at, x, y_at, y);  // of opposite signs
    const double a_error = solver.error() * s(x_at, x_at), b_error = solver.error() * s(y_at, y_at);
    if (!sign) o.theta[first] = a > 0 && b > 0 ? std::sqrt(b / a) : 1;
    o.theta[y_at] = 1;
    double fit[most_searched];
    for (int act = 0; act < f.active; ++act) {
        solver.coefficients(solver.half(first + act), fit);
        for (int j = 0; j < f.fitted; ++j) o.theta[j] -= o.theta[first + act] * fit[j];
        solver.coefficients(solver.half(others + act), fit);
        for (int j = 0; j < f.fitted; ++j) o.g[j] += o.theta[first + act] * fit[j];
    }
    std::copy(o.theta, o.theta + f.searched, o.left);
    if (sign) {
        for (int j = 0; j < f.fitted; ++j) o.left[j] = -o.g[j];
        o.left[y_at] = 0;
        o.left[x_at] = 1;
    }
    if (a > a_error && b > b_error) o.score = c / std::sqrt(a * b);
    if (solver.singular() || !(a > 2 * a_error && b > 2 * b_error)) return;
    const double up = c + std::sqrt(a_error * b_error);
    o.best = up / std::sqrt(up > 0 ? (a - a_error) * (b - b_error) : (a + a_error) * (b + b_error));
}

}  // namespace

Form::Form(Kind which, bool centred, const Placed& placed)
    : kind(which),
      searched(placed.searched),
      active(placed.active),
      fitted(placed.fitted),
      columns(static_cast<int>(placed.column.size())) {
    if (kind == Kind::r2) free_count = centred ? 1 : 0;
    if (kind == Kind::above || kind == Kind::below) free_count = fitted;
    std::copy(placed.floor.begin(), placed.floor.end(), floor);
}

void Form::aim(double t) {
    s_e = 1;
    s_u = base = 0;
    switch (kind) {
        case Kind::r2:
            s_u = 1 - t;
            break;
        case Kind::lts:
            base = t;
            break;
        case Kind::sign:
            break;
        case Kind::above:
            s_u = (1 - t) / (1 + t);
            break;
        case Kind::below:
            s_e = (1 + t) / (1 - t);
            s_u = 1;
            break;
    }
}

void quadratic(const Form& f, const double* left, const double* right, const double* phi,
               double* out) {
    const auto product = [&](int i, int j) {
        return i < f.left_columns() && j < f.searched ? left[i] * right[j] : 0;
    };
    int e = 0;
    for (int i = 0; i < f.columns; ++i) {
        for (int j = 0; j <= i; ++j) {
            const double a = f.s_e * (product(i, j) + product(j, i)) / 2 - f.s_u * phi[i] * phi[j];
            out[e++] = i == j ? a : 2 * a;
        }
    }
}

Own own(const Form& form, const Gram& sums) {
    Own o;
    if (is_fit(form.kind)) {
        fit_r2(form, sums, o);
    } else {
        fit_partial(form, sums, o);
    }
    return o;
}

}  // namespace quadsweep::regression
