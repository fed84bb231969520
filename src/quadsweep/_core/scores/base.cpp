#include "base.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shared/cholesky.hpp"

namespace quadsweep::scores {
namespace {

constexpr double least_pivot = 1e-8;           // of a column's square that has to be left of it
constexpr double highest_leverage = 1 - 1e-7;  // of a row whose score is divided by 1 - leverage
constexpr double most_rounding = 1e-6;

// No less than the largest eigenvalue of a positive semidefinite matrix: |A^4|^(1/4).
double largest_eigenvalue(int n, std::vector<double> a) {
    double trace = 0;
    for (int i = 0; i < n; ++i) trace += a[i * n + i];
    if (!(trace > 0)) return 0;
    for (double& v : a) v /= trace;
    std::vector<double> square(a.size());
    for (int time = 0; time < 2; ++time) {
        std::fill(square.begin(), square.end(), 0.0);
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < n; ++k) {
                for (int j = 0; j < n; ++j) square[i * n + j] += a[i * n + k] * a[k * n + j];
            }
        }
        std::swap(a, square);
    }
    double sum = 0;
    for (double v : a) sum += v * v;
    return trace * std::pow(sum, 1.0 / 8) * (1 + 1e-12);
}

}  // namespace

Base::Base(const Question& question, const std::vector<int>& removed)
    : q(question.controls),
      width(question.controls + 3),
      kept(question.rows, 1),
      item_gone(question.items(), 0),
      gained_(question.gained),
      threshold_(question.threshold),
      cluster_of_row_(question.rows) {
    for (int item : removed) {
        item_gone[item] = 1;
        for (int i = question.item_first[item]; i < question.item_first[item + 1]; ++i) kept[i] = 0;
    }
    const auto start = [&](int g) {
        return question.of_parts()
                   ? question.part_first[g]
                   : question.item_first[question.unit_first[question.cluster_first[g]]];
    };
    for (int g = 0; g < question.scores(); ++g) {
        const int from = start(g), to = start(g + 1);
        std::fill(cluster_of_row_.begin() + from, cluster_of_row_.begin() + to, g);
    }
    clear_ = orthonormalise(question) && weigh(question) && rounding < most_rounding;
    if (!clear_) return;
    sum_clusters(question);
    sum_directions(question);
    if (question.of_parts()) sum_items(question);
}

double Base::distance() const {
    const double t = threshold_ * std::sqrt(squared);
    return gained_ ? t - c : c - t;
}

bool Base::orthonormalise(const Question& question) {
    const int d = q + 2;
    std::vector<double> z(question.columns);
    const auto given = [&](int i) { return z.data() + static_cast<std::size_t>(i) * d; };
    std::vector<double> mean(d);
    for (int u = 0; u < question.units(); ++u) {
        const int from = question.item_first[question.unit_first[u]];
        const int to = question.item_first[question.unit_first[u + 1]];
        double total = 0;
        std::fill(mean.begin(), mean.end(), 0.0);
        for (int i = from; i < to; ++i) {
            if (!kept[i]) continue;
            total += question.effect[i] * question.effect[i];
            for (int a = 0; a < d; ++a) mean[a] += question.effect[i] * given(i)[a];
        }
        if (!(total > 0)) continue;
        for (int i = from; i < to; ++i) {
            for (int a = 0; a < d; ++a) given(i)[a] -= question.effect[i] * mean[a] / total;
        }
    }
    std::vector<double> gram(d * d, 0.0);
    for (int i = 0; i < question.rows; ++i) {
        if (!kept[i]) continue;
        const double* v = given(i);
        for (int a = 0; a < d; ++a) {
            for (int b = 0; b <= a; ++b) gram[a * d + b] += v[a] * v[b];
        }
    }
    // The columns have length one on all rows: what is left of them is compared with that.
    const double y_square = gram[d * d - 1];
    if (!(y_square > 0)) return false;
    int pivots = 0;
    const bool definite = cholesky(d, gram.data(), d, [&](double pivot, double) {
        return ++pivots == d ? pivot > 1e-20 : pivot > least_pivot;
    });
    if (!definite) return false;
    c = gram[(d - 1) * d + q];
    row.assign(static_cast<std::size_t>(question.rows) * width, 0.0);
    for (int i = 0; i < question.rows; ++i) {
        const double* v = given(i);
        double* w = row.data() + static_cast<std::size_t>(i) * width;
        for (int a = 0; a <= q; ++a) {
            double sum = v[a];
            for (int e = 0; e < a; ++e) sum -= gram[a * d + e] * w[e];
            w[a] = sum / gram[a * d + a];
        }
        double sum = v[q + 1];
        for (int e = 0; e < q; ++e) sum -= gram[(d - 1) * d + e] * w[e];
        w[q + 2] = sum;
        w[q + 1] = sum - c * w[q];
    }
    // The squared length of the inverse of the triangle is no less than the condition of the sums.
    double condition = 0;
    std::vector<double> unit(q + 1);
    for (int a = 0; a <= q; ++a) {
        std::fill(unit.begin(), unit.end(), 0.0);
        unit[a] = 1;
        solve_lower(q + 1, gram.data(), d, unit.data());
        for (double v : unit) condition += v * v;
    }
    const double n = question.rows;
    rounding = condition * (16 * question.error +
                            16 * (n + 64) * width * std::numeric_limits<double>::epsilon());
    return true;
}

bool Base::weigh(const Question& question) {
    const int n = question.rows;
    leverage.resize(n);
    leverage_with_term.resize(n);
    weight.assign(n, 1.0);
    double largest = 0;
    for (int i = 0; i < n; ++i) {
        const double* w = at(i);
        double sum = 0;
        for (int a = 0; a < q; ++a) sum += w[a] * w[a];
        leverage[i] = sum;
        leverage_with_term[i] = sum + w[q] * w[q];
        if (question.exponent > 0 && kept[i]) {
            if (leverage_with_term[i] > highest_leverage) return false;
            largest = std::max(largest, leverage_with_term[i]);
            weight[i] = std::pow(1 - leverage_with_term[i], -question.exponent);
        }
    }
    rounding /= 1 - largest;
    return true;
}

void Base::sum_clusters(const Question& question) {
    const int g_count = question.scores(), p = q + 1;
    score.assign(g_count, 0.0);
    by_term.assign(static_cast<std::size_t>(g_count) * q, 0.0);
    by_residual.assign(static_cast<std::size_t>(g_count) * p, 0.0);
    if (!question.of_rows()) by_both.assign(static_cast<std::size_t>(g_count) * q * p, 0.0);
    for (int i = 0; i < question.rows; ++i) {
        if (!kept[i]) continue;
        const std::size_t g = cluster_of_row_[i];
        const double *w = at(i), x = weight[i] * w[q], e = weight[i] * w[q + 1];
        score[g] += x * w[q + 1];
        for (int a = 0; a < q; ++a) by_term[g * q + a] += e * w[a];
        for (int a = 0; a < p; ++a) by_residual[g * p + a] += x * w[a];
        if (question.of_rows()) continue;
        for (int a = 0; a < q; ++a) {
            for (int b = 0; b < p; ++b) by_both[(g * q + a) * p + b] += w[a] * w[b];
        }
    }
    squared = 0;
    for (double s : score) squared += s * s;
    direction = score;
    if (gained_ && squared > 0) {
        for (double& v : direction) v /= std::sqrt(squared);
    }
}

void Base::sum_directions(const Question& question) {
    const int p = q + 1;
    pull_term.assign(q, 0.0);
    pull_residual.assign(p, 0.0);
    std::vector<double> of_term(q * q, 0.0), of_residual(p * p, 0.0), both(q * p, 0.0);
    for (std::size_t g = 0; g < score.size(); ++g) {
        const double *t = &by_term[g * q], *r = &by_residual[g * p];
        for (int a = 0; a < q; ++a) {
            pull_term[a] += direction[g] * t[a];
            for (int b = 0; b < q; ++b) of_term[a * q + b] += t[a] * t[b];
        }
        for (int a = 0; a < p; ++a) {
            pull_residual[a] += direction[g] * r[a];
            for (int b = 0; b < p; ++b) of_residual[a * p + b] += r[a] * r[b];
        }
    }
    std::vector<double> squares(p * p, 0.0);
    for (int i = 0; i < question.rows; ++i) {
        if (!kept[i]) continue;
        const double* w = at(i);
        const double v = direction[cluster_of_row_[i]] * weight[i];
        for (int a = 0; a < q; ++a) {
            for (int b = 0; b < p; ++b) both[a * p + b] += v * w[a] * w[b];
        }
        if (!question.of_rows()) continue;
        const double square = weight[i] * weight[i] * leverage[i];
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b < p; ++b) squares[a * p + b] += square * w[a] * w[b];
        }
    }
    std::vector<double> product(q * q, 0.0);
    for (int a = 0; a < q; ++a) {
        for (int b = 0; b < q; ++b) {
            for (int e = 0; e < p; ++e) product[a * q + b] += both[a * p + e] * both[b * p + e];
        }
    }
    pull_both = std::sqrt(largest_eigenvalue(q, product));
    stretch_term = std::sqrt(largest_eigenvalue(q, of_term));
    stretch_residual = std::sqrt(largest_eigenvalue(p, of_residual));
    if (question.of_rows()) {
        stretch_both = std::sqrt(largest_eigenvalue(p, squares));
        return;
    }
    // The rows kept have sums of products that add up to no more than the identity over clusters.
    double largest = 0;  // of their norms; the last row of each is that of the term
    for (std::size_t g = 0; g < score.size(); ++g) {
        double sum = 0;
        for (int k = 0; k < q * p; ++k) sum += by_both[g * q * p + k] * by_both[g * q * p + k];
        for (int b = 0; b < p; ++b) sum += by_residual[g * p + b] * by_residual[g * p + b];
        largest = std::max(largest, std::sqrt(sum));
    }
    stretch_both = std::min(1.0, std::sqrt(largest));
}

void Base::sum_items(const Question& question) {
    const int p = q + 1;
    const std::size_t count = question.items();
    item_square.assign(count, 0.0);
    item_term.assign(count * q, 0.0);
    item_residual.assign(count * p, 0.0);
    item_both.assign(count, 0.0);
    std::vector<double> both;
    for (std::size_t item = 0; item < count; ++item) {
        if (item_gone[item]) continue;
        both.assign(q * p, 0.0);
        for (int i = question.item_first[item]; i < question.item_first[item + 1]; ++i) {
            const double *w = at(i), v = direction[cluster_of_row_[i]] * weight[i];
            item_square[item] += v * w[q] * w[q + 1];
            for (int a = 0; a < p; ++a) item_residual[item * p + a] += v * w[q] * w[a];
            for (int a = 0; a < q; ++a) {
                item_term[item * q + a] += v * w[q + 1] * w[a];
                for (int b = 0; b < p; ++b) both[a * p + b] += v * w[a] * w[b];
            }
        }
        double sum = 0;
        for (double v : both) sum += v * v;
        item_both[item] = std::sqrt(sum);
    }
}

}  // namespace quadsweep::scores
