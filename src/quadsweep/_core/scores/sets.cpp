#include "sets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "shared/largest.hpp"

namespace quadsweep::scores {

Sets::Sets(const Question& question, const Base& base, const Choices& choices)
    : question_(question), base_(base), choices_(choices), q_(base.q), n_(choices.size()) {
    value_.assign((values() + 2) * n_, 0.0);
    both_.assign(question.of_parts() ? 0 : n_ * q_ * (q_ + 1), 0.0);
    const bool exact =
        std::find(choices.split.begin(), choices.split.end(), 1) == choices.split.end();
    if (!exact) slack_.assign((values() + 3) * n_, 0.0);
    int unit = -1;
    for (int a = 0; a < choices.blocks(); ++a) {
        if (choices.split[a] && choices.unit[a] != unit) bound_means(a);
        unit = choices.unit[a];
        measure(a);
    }
}

// Rows that go add up to s, and take w w' each and s s' over what is left of the unit's weight:
// half of that with w each. A mean s over the weight left is no larger than the largest sums of
// members allow, nor than the largest of the rows kept.
void Sets::bound_means(int a) {
    const int d = base_.width, unit = choices_.unit[a];
    int to = a;
    while (to < choices_.blocks() && choices_.unit[to] == unit) ++to;
    const int members = to - a, most = std::min(choices_.m, members);
    std::vector<std::vector<double>> sums(2 * d);
    std::vector<double> weights, largest(d, 0.0), v(d);
    double stays = 0;
    for (int item = question_.unit_first[unit], b = a; item < question_.unit_first[unit + 1];
         ++item) {
        if (base_.item_gone[item]) continue;
        double weight = 0;
        std::fill(v.begin(), v.end(), 0.0);
        for (int i = question_.item_first[item]; i < question_.item_first[item + 1]; ++i) {
            weight += question_.effect[i] * question_.effect[i];
            for (int k = 0; k < d; ++k) v[k] += question_.effect[i] * base_.at(i)[k];
        }
        for (int k = 0; k < d && weight > 0; ++k)
            largest[k] = std::max(largest[k], std::abs(v[k]) / weight);
        if (b == to || choices_.member[choices_.member_first[b]] != item) {
            stays += weight;
            continue;
        }
        ++b;
        weights.push_back(weight);
        for (int k = 0; k < d; ++k) {
            sums[2 * k].push_back(std::max(v[k], 0.0));
            sums[2 * k + 1].push_back(std::max(-v[k], 0.0));
        }
    }
    // Of the weights the smallest are left.
    std::sort(weights.begin(), weights.end());
    std::vector<double> left(members + 1, stays);
    for (int r = members - 1; r >= 0; --r) left[r] = left[r + 1] + weights[members - 1 - r];
    mean_.assign(d, 0.0);
    for (int k = 0; k < d; ++k) {
        for (auto* sum : {&sums[2 * k], &sums[2 * k + 1]}) {
            std::sort(sum->begin(), sum->end(), std::greater<double>());
            double total = 0;
            for (int r = 1; r <= most; ++r) {
                total += (*sum)[r - 1];
                if (left[r] > 0)
                    mean_[k] = std::max(mean_[k], std::min(total / left[r], largest[k]));
            }
        }
        mean_[k] *= 1 + 1e-9;
    }
}

// The sets of a block, each from the one with its last member.
void Sets::measure(int a) {
    const int d = base_.width, unit = choices_.unit[a];
    const std::size_t from = choices_.member_first[a];
    const int members = static_cast<int>(choices_.member_first[a + 1] - from);
    const bool split = choices_.split[a] != 0;
    sums_.resize(static_cast<std::size_t>(members + 1) * d * d);
    std::fill(sums_.begin(), sums_.begin() + d * d, 0.0);
    // The unit's rows but for the members, and each of these.
    left_.assign(static_cast<std::size_t>(members + 2) * (d + 1), 0.0);
    const bool effect = question_.effect[question_.item_first[question_.unit_first[unit]]] > 0 ||
                        question_.unit_first[unit + 1] - question_.unit_first[unit] > 1;
    bool emptied = true;
    if (!split && effect) {
        int next = 0;
        for (int item = question_.unit_first[unit]; item < question_.unit_first[unit + 1]; ++item) {
            if (base_.item_gone[item]) continue;
            const bool is_member = next < members && choices_.member[from + next] == item;
            next += is_member;
            emptied = emptied && is_member;
            double* sum = &left_[static_cast<std::size_t>(is_member ? next : 0) * (d + 1)];
            for (int i = question_.item_first[item]; i < question_.item_first[item + 1]; ++i) {
                sum[d] += question_.effect[i] * question_.effect[i];
                for (int k = 0; k < d; ++k) sum[k] += question_.effect[i] * base_.at(i)[k];
            }
        }
    }
    std::vector<double> products(d * d), moves(split ? d * d : 0), left(d + 1);
    for (std::size_t s = choices_.first[a]; s < choices_.first[a + 1]; ++s) {
        const int n = choices_.count[s], last = 63 - std::countl_zero(choices_.mask[s]);
        double* sum = &sums_[static_cast<std::size_t>(n) * d * d];
        std::copy(sum - d * d, sum, sum);
        const int item = choices_.member[from + last];
        for (int i = question_.item_first[item]; i < question_.item_first[item + 1]; ++i) {
            const double* w = base_.at(i);
            for (int k = 0; k < d; ++k) {
                for (int b = 0; b <= k; ++b) sum[k * d + b] += w[k] * w[b];
            }
        }
        std::copy(sum, sum + d * d, products.begin());
        if (split) {
            std::fill(left.begin(), left.end(), 0.0);
            for (int i = question_.item_first[item]; i < question_.item_first[item + 1]; ++i) {
                for (int k = 0; k < d; ++k) left[k] += question_.effect[i] * base_.at(i)[k];
            }
            for (int k = 0; k < d; ++k) {
                for (int b = 0; b <= k; ++b) {
                    moves[k * d + b] =
                        0.5 * (std::abs(left[k]) * mean_[b] + mean_[k] * std::abs(left[b]));
                }
            }
        } else if (effect && !(emptied && n == members)) {
            std::copy(left_.begin(), left_.begin() + d + 1, left.begin());
            for (int j = 0; j < members; ++j) {
                if (choices_.mask[s] >> j & 1) continue;
                const double* v = &left_[static_cast<std::size_t>(j + 1) * (d + 1)];
                for (int k = 0; k <= d; ++k) left[k] += v[k];
            }
            for (int k = 0; k < d && left[d] > 0; ++k) {
                for (int b = 0; b <= k; ++b) products[k * d + b] += left[k] * left[b] / left[d];
            }
        }
        store(s, products.data(), split ? moves.data() : nullptr);
    }
}

void Sets::store(std::size_t s, const double* products, const double* moves) {
    const int d = base_.width, p = q_ + 1;
    const auto at = [&](const double* of, int a, int b) {
        return of[std::max(a, b) * d + std::min(a, b)];
    };
    const auto put = [&](int k, int a, int b) {
        value_[k * n_ + s] = at(products, a, b);
        if (moves) slack_[k * n_ + s] = at(moves, a, b);
    };
    double k1 = 0, k2 = 0, wrong1 = 0, wrong2 = 0, wrong_both = 0;
    for (int a = 0; a < p; ++a) {
        for (int b = 0; b < p; ++b) {
            const double v = at(products, a, b), wrong = moves ? at(moves, a, b) : 0;
            k2 += v * v;
            wrong2 += wrong * wrong;
            if (a == q_) continue;
            if (b < q_) k1 += v * v;
            if (b < q_) wrong1 += wrong * wrong;
            wrong_both += wrong * wrong;
            if (!both_.empty()) both_[(s * q_ + a) * p + b] = v;
        }
    }
    for (int a = 0; a < q_; ++a) {
        put(a, a, q_);
        put(at_outcome() + a, a, q_ + 2);
        put(at_residual() + a, a, q_ + 1);
    }
    put(at_residual() + q_, q_, q_ + 1);
    value_[at_norm() * n_ + s] = std::sqrt(k1) + std::sqrt(wrong1);
    value_[(at_norm() + 1) * n_ + s] = std::sqrt(k2) + std::sqrt(wrong2);
    put(values(), q_, q_ + 2);
    put(values() + 1, q_, q_);
    if (moves) slack_[(values() + 2) * n_ + s] = std::sqrt(wrong_both);
}

double Sets::length(int which, std::size_t s) const {
    double sum = 0;
    if (which == 2) {
        for (int k = 0; k < q_ * (q_ + 1); ++k) sum += both(s)[k] * both(s)[k];
        return std::sqrt(sum) + slack_of_both(s);
    }
    const int from = which == 0 ? at_residual() : 0;
    for (int k = from; k < from + q_; ++k) {
        const double v = std::abs(value(k)[s]) + slack(k, s);
        sum += v * v;
    }
    if (which == 1) {
        const double v = std::abs(with_itself(s)) + slack_with_itself(s);
        sum += v * v;
    }
    return std::sqrt(sum);
}

}  // namespace quadsweep::scores
