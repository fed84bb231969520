#include "pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "shared/largest.hpp"
#include "shared/parallel.hpp"

namespace quadsweep::many_predictors {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();
constexpr double shares[] = {1.0, 0.85, 0.7, 0.5, 0.3, 0.0};
// Steps go towards this part of the best sum so far, this far; 0.999 as far each time.
constexpr double aim = 0.75, length = 0.08, shorter = 0.999;
constexpr double slack = 0.1;  // of the least one summed: the next ones are not far below
constexpr int batch = 16;      // rows a task

}  // namespace

std::vector<double> largest_row_sums(const double* matrix, const std::vector<double>& weight, int k,
                                     int sign) {
    const std::size_t n = weight.size();
    std::vector<double> sums(n), values(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = matrix + i * n;
        for (std::size_t j = 0; j < n; ++j) {
            values[j] = (sign == 0 ? std::fabs(row[j]) : sign * row[j]) * weight[j];
        }
        values[i] = nothing;
        sums[i] = sum_of_largest(values, k);
        values.resize(n);
    }
    return sums;
}

PairBound::PairBound(Costs costs, int m) : costs_(std::move(costs)), m_(m) {
    const std::size_t n = static_cast<std::size_t>(costs_.rows);
    multiplier_.assign(n * n, 0.0f);
    least_.assign(n, nothing);
    row_.resize(n);
    stale_.assign(n, 1);
    top_.resize(n);
    for (double u : costs_.u) most_u_ = std::max(most_u_, std::fabs(u));
}

PairBound::Row PairBound::evaluate(int i, double g, std::vector<double>& values,
                                   std::vector<double>& buffer) {
    const int n = costs_.rows;
    Row out{share_ * linear_[i], std::fabs(share_ * linear_[i])};
    if (m_ == 1) return out;
    const double* pair = costs_.pairs + static_cast<std::size_t>(i) * n;
    const float* pi = multiplier_.data() + static_cast<std::size_t>(i) * n;
    const double tilt = g * costs_.u[i], part = (1 - share_) / (m_ - 1);
    const double* u = costs_.u.data();
    const double* own = linear_.data();
    for (int j = 0; j < n; ++j) {
        values[j] = pair[j] - tilt * u[j] + part * own[j] + static_cast<double>(pi[j]);
    }
    values[i] = nothing;
    buffer.clear();
    const double before = least_[i] - slack * std::fabs(least_[i]);
    for (int j = 0; j < n; ++j) {
        if (values[j] >= before) buffer.push_back(values[j]);
    }
    if (static_cast<int>(buffer.size()) < m_ - 1) buffer = values;
    const int k = largest_first(buffer, m_ - 1);
    least_[i] = buffer[k - 1];
    for (int j = 0; j < k; ++j) {
        out.sum += buffer[j];
        out.size += std::fabs(buffer[j]);
    }
    // Each of them was summed from terms no larger than these.
    out.size += m_ * (std::fabs(tilt) * most_u_ + std::fabs(part) * most_linear_);
    return out;
}

// The sum of the m largest, with what rounding may have taken off.
double PairBound::evaluate_all(double g, int n_jobs, Control& control) {
    const int n = costs_.rows;
    std::vector<int> tasks;
    for (int i = 0; i < n; ++i) {
        if (stale_[i]) tasks.push_back(i);
    }
    const int jobs = static_cast<int>(tasks.size()) > 8 * batch ? std::max(n_jobs, 1) : 1;
    std::vector<std::vector<double>> values(jobs, std::vector<double>(n)), buffer(jobs);
    const std::int64_t batches = (static_cast<std::int64_t>(tasks.size()) + batch - 1) / batch;
    parallel_for(jobs, batches, [&](int worker, std::int64_t task) {
        const std::size_t end = std::min(tasks.size(), static_cast<std::size_t>(task + 1) * batch);
        for (std::size_t at = static_cast<std::size_t>(task) * batch; at < end; ++at) {
            row_[tasks[at]] = evaluate(tasks[at], g, values[worker], buffer[worker]);
            stale_[tasks[at]] = 0;
        }
        if (worker == 0) control.look([] { return Progress{}; });
        return !control.stopped();
    });
    if (control.stopped()) return std::numeric_limits<double>::infinity();
    std::iota(top_.begin(), top_.end(), 0);
    std::nth_element(top_.begin(), top_.begin() + (m_ - 1), top_.end(),
                     [&](int a, int b) { return row_[a].sum > row_[b].sum; });
    double sum = 0, size = 0;
    for (int at = 0; at < m_; ++at) sum += row_[top_[at]].sum;
    for (const Row& row : row_) size = std::max(size, row.size);
    return sum + 2.3e-16 * (2 * m_ + 20) * m_ * size;
}

void PairBound::choose_share(double g, int n_jobs, Control& control) {
    double best = std::numeric_limits<double>::infinity(), chosen = 1;
    for (double share : shares) {
        share_ = share;
        std::fill(stale_.begin(), stale_.end(), char{1});
        const double sum = evaluate_all(g, n_jobs, control);
        if (sum < best) {
            best = sum;
            chosen = share;
        }
    }
    share_ = chosen;
    std::fill(stale_.begin(), stale_.end(), char{1});
}

double PairBound::improve(double g, double enough, int steps, int n_jobs, Control& control) {
    const int n = costs_.rows;
    const bool first = linear_.empty();
    linear_.resize(n);
    most_linear_ = 0;
    for (int i = 0; i < n; ++i) {
        linear_[i] = costs_.own[i] - g * costs_.slope[i];
        most_linear_ = std::max(most_linear_, std::fabs(costs_.own[i]) + g * costs_.slope[i]);
    }
    std::fill(stale_.begin(), stale_.end(), char{1});
    if (first && m_ > 1) choose_share(g, n_jobs, control);
    double best = std::numeric_limits<double>::infinity(), far = length;
    for (int number = 0; number < steps; ++number) {
        const double sum = evaluate_all(g, n_jobs, control);
        best = std::min(best, sum);
        if (best <= enough || m_ == 1 || control.stopped()) break;
        if (!(step(g, far * std::fabs(sum - aim * best)) > 0)) break;
        far *= shorter;
    }
    return best;
}

// Takes `length` times the subgradient over its squared length off the multipliers; that length.
double PairBound::step(double g, double distance) {
    const std::size_t n = static_cast<std::size_t>(costs_.rows);
    std::vector<std::vector<int>> chosen(m_);
    std::vector<int> place(n, -1);
    for (int at = 0; at < m_; ++at) place[top_[at]] = at;
    std::vector<char> mark(m_ * n, 0);
    for (int at = 0; at < m_; ++at) {
        const int i = top_[at];
        const double* pair = costs_.pairs + i * n;
        const float* pi = multiplier_.data() + i * n;
        const double tilt = g * costs_.u[i], part = (1 - share_) / (m_ - 1);
        for (std::size_t j = 0; j < n && static_cast<int>(chosen[at].size()) < m_ - 1; ++j) {
            const double value =
                pair[j] - tilt * costs_.u[j] + part * linear_[j] + static_cast<double>(pi[j]);
            if (static_cast<int>(j) != i && value >= least_[i]) {
                chosen[at].push_back(static_cast<int>(j));
                mark[at * n + j] = 1;
            }
        }
    }
    double square = 0;
    for (int pass = 0; pass < 2; ++pass) {
        const float by = pass == 0 ? 0.0f : static_cast<float>(distance / square);
        for (int at = 0; at < m_; ++at) {
            const int i = top_[at];
            for (int j : chosen[at]) {
                if (place[j] >= 0 && mark[place[j] * n + i]) continue;  // both ways: cancels
                if (pass == 0) {
                    square += 2;
                    continue;
                }
                float& one = multiplier_[i * n + j];
                one -= by;
                multiplier_[j * n + i] = -one;
                stale_[i] = stale_[j] = 1;
            }
        }
        if (square == 0) break;
    }
    return square;
}

}  // namespace quadsweep::many_predictors
