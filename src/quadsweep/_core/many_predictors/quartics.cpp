#include "quartics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadsweep::many_predictors {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Touching points as multiples of sqrt t stay within this, so that the excess is divided by no less
// than 2e-5 t, the root of the cubic is well conditioned and `upwards` covers all rounding.
constexpr double most_share = 0.995;
constexpr double upwards = 1 + 1e-9, upwards_by_size = 1e-12;
constexpr int most_steps = 60;
// Pairs of touching points tried: in standard deviations from the expected residual, and as
// multiples of sqrt t of both signs.
constexpr double deviations[][2] = {{-1, 1},   {-0.5, 0.5}, {-1.6, 1.6}, {-1, 0},  {0, 1},
                                    {-2, 0.3}, {-0.3, 2},   {-2.3, 1},   {-1, 2.3}};
constexpr double symmetric_shares[] = {0.1414213562, 0.316227766, 0.4472135955, 0.5916079783,
                                       0.7071067812};

struct Row {
    double r, t, root, low, high, reach;
};

// The largest (e^2 - t) / ((e - e0) (e - h))^2 where sqrt t < e <= high, 0 if there is none. It
// rises up to the one root of e^3 - (e0 h + 2 t) e + t (e0 + h) there, a convex function, to which
// Newton's steps fall from any larger number.
double largest_on_right(double e0, double h, const Row& row, double high) {
    if (!(high > row.root)) return 0;
    const double slope = e0 * h + 2 * row.t, constant = row.t * (e0 + h);
    double e = high;
    if ((high * high - slope) * high + constant > 0) {
        e = std::min(high, 2 * std::sqrt(slope / 3));
        for (int step = 0; step < most_steps; ++step) {
            const double value = (e * e - slope) * e + constant;
            const double down = value / (3 * e * e - slope);
            if (!(down > 1e-15 * e)) break;
            e -= down;
        }
    }
    const double product = (e - e0) * (e - h);
    return std::max((e - row.root) * (e + row.root), 0.0) / (product * product);
}

// The same of (e^2 - t) / (e - e0)^2.
double largest_on_right(double e0, const Row& row, double high) {
    if (!(high > row.root)) return 0;
    if (e0 * high >= row.t) return row.t / ((row.root - e0) * (row.root + e0));
    return (high - row.root) * (high + row.root) / ((high - e0) * (high - e0));
}

// a (s^2 k2 + s k1 + k0)^2, and its expectation.
struct Majorant {
    double a = 0, k2 = 0, k1 = 0, k0 = 0, loss = infinity;
};

class Chooser {
  public:
    Chooser(const Row& row, const double moments[4]) : row_(row) {
        for (int k = 0; k < 4; ++k) m_[k] = moments[k];
        m_[1] = std::max(m_[1], m_[0] * m_[0]);
        m_[3] = std::max(m_[3], m_[1] * m_[1]);
        inflate_ = upwards + upwards_by_size * std::fabs(row.r) / row.root;
    }

    Majorant best() {
        const double mean = row_.r - m_[0];
        const double sd = std::sqrt(std::max(m_[1] - m_[0] * m_[0], 1e-12 * m_[1] + 1e-300));
        const double sum = row_.t + mean * mean + sd * sd;
        const double under = std::max(sum * sum - 4 * mean * mean * row_.t, 0.0);
        for (double e0 : {mean, mean + 0.5 * sd, mean - 0.5 * sd, 0.0,
                          2 * mean * row_.t / (sum + std::sqrt(under))}) {
            try_one(e0);
        }
        for (const auto& by : deviations) try_two(mean + by[0] * sd, mean + by[1] * sd);
        for (double share : symmetric_shares) try_two(-share * row_.root, share * row_.root);
        return best_;
    }

  private:
    double clipped(double e) const {
        return std::clamp(e, -most_share * row_.root, most_share * row_.root);
    }
    void try_one(double e0) {
        e0 = clipped(e0);
        Majorant one;
        one.a = inflate_ * std::max(largest_on_right(e0, row_, row_.high),
                                    largest_on_right(-e0, row_, -row_.low));
        one.k1 = -1;
        one.k0 = row_.r - e0;
        one.loss = one.a * (one.k0 * one.k0 - 2 * one.k0 * m_[0] + m_[1]);
        if (one.loss < best_.loss) best_ = one;
    }
    void try_two(double e0, double h) {
        e0 = clipped(e0);
        h = clipped(h);
        Majorant one;
        one.a = inflate_ * std::max(largest_on_right(e0, h, row_, row_.high),
                                    largest_on_right(-e0, -h, row_, -row_.low));
        const double s0 = row_.r - e0, s1 = row_.r - h, sum = s0 + s1, product = s0 * s1;
        one.k2 = 1;
        one.k1 = -sum;
        one.k0 = product;
        one.loss = one.a * std::max(m_[3] - 2 * sum * m_[2] + (sum * sum + 2 * product) * m_[1] -
                                        2 * sum * product * m_[0] + product * product,
                                    0.0);
        if (one.loss < best_.loss) best_ = one;
    }

    const Row& row_;
    double m_[4], inflate_;
    Majorant best_;
};

}  // namespace

void choose_majorants(const std::vector<double>& r, const std::vector<double>& t,
                      const std::vector<double>& reach, const double* moments,
                      std::vector<double>& out) {
    const std::size_t n = r.size();
    out.assign(n * (coefficients + 1), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        const Row row{r[i], t[i], std::sqrt(t[i]), r[i] - reach[i], r[i] + reach[i], reach[i]};
        const double of_row[4] = {moments[i], moments[n + i], moments[2 * n + i],
                                  moments[3 * n + i]};
        const Majorant one = Chooser(row, of_row).best();
        double* to = out.data() + i * (coefficients + 1);
        to[0] = one.a * one.k0 * one.k0;
        to[1] = 2 * one.a * one.k1 * one.k0;
        to[2] = one.a * (one.k1 * one.k1 + 2 * one.k2 * one.k0);
        to[3] = 2 * one.a * one.k2 * one.k1;
        to[4] = one.a * one.k2 * one.k2;
        const double most = (one.k2 * reach[i] + std::fabs(one.k1)) * reach[i] + std::fabs(one.k0);
        to[5] = one.a * most * most;
    }
}

SphereForms::SphereForms(int variables)
    : variables_(variables), dimension_(variables * (variables + 1) / 2) {
    place_.resize(static_cast<std::size_t>(variables) * variables);
    for (int i = 0; i < variables; ++i) {
        for (int j = i; j < variables; ++j) {
            place_[i * variables + j] = place_[j * variables + i] = static_cast<int>(scale_.size());
            scale_.push_back(i == j ? 1.0 : std::sqrt(2.0));
            constraint_.push_back(i != j ? 0.0 : i == 0 ? 0.5 : -0.5);
        }
    }
}

// Four variables can be paired in three ways; entries of the three pairings get their mean.
void SphereForms::symmetrise(double* matrix) const {
    const std::size_t d = static_cast<std::size_t>(dimension_);
    for (int i = 0; i < variables_; ++i) {
        for (int j = i; j < variables_; ++j) {
            for (int k = j; k < variables_; ++k) {
                for (int l = k; l < variables_; ++l) {
                    const int first[3] = {at(i, j), at(i, k), at(i, l)};
                    const int second[3] = {at(k, l), at(j, l), at(j, k)};
                    double mean = 0;
                    for (int way = 0; way < 3; ++way) {
                        const auto [row, column] = std::minmax(first[way], second[way]);
                        mean += matrix[row * d + column] / (scale_[row] * scale_[column]);
                    }
                    mean /= 3;
                    for (int way = 0; way < 3; ++way) {
                        const int row = first[way], column = second[way];
                        const double value = mean * scale_[row] * scale_[column];
                        matrix[row * d + column] = value;
                        matrix[column * d + row] = value;
                    }
                }
            }
        }
    }
}

// The multiples of the constraint k form a space in which the form of coefficients q has the image
// D q + k (k.q) / 6 under k: D is the same number for all products of two variables.
void SphereForms::project(double* matrix, double* multiplier) const {
    symmetrise(matrix);
    const std::size_t d = static_cast<std::size_t>(dimension_);
    const double diagonal = (variables_ + 4) / 24.0, square = variables_ / 4.0;
    double along = 0;
    for (std::size_t row = 0; row < d; ++row) {
        double sum = 0;
        for (int i = 0; i < variables_; ++i) {
            const std::size_t column = static_cast<std::size_t>(at(i, i));
            sum += matrix[row * d + column] * constraint_[column];
        }
        multiplier[row] = sum / diagonal;
        along += constraint_[row] * multiplier[row];
    }
    const double part = along / (6 * diagonal + square);
    for (std::size_t row = 0; row < d; ++row) multiplier[row] -= part * constraint_[row];
    subtract_multiple(matrix, multiplier);
}

void SphereForms::subtract_multiple(double* matrix, const double* multiplier) const {
    const std::size_t d = static_cast<std::size_t>(dimension_);
    for (std::size_t row = 0; row < d; ++row) {
        for (std::size_t column = row; column < d; ++column) {
            matrix[row * d + column] -= 0.5 * (constraint_[row] * multiplier[column] +
                                               multiplier[row] * constraint_[column]);
        }
    }
    symmetrise(matrix);
}

}  // namespace quadsweep::many_predictors
