#include "ascent.hpp"

#include <algorithm>
#include <cmath>

namespace quadsweep::estimating {
namespace {

constexpr double widths[] = {0.3, 0.1, 0.03, 0.01};  // of the costs' spread

double spread(const std::vector<double>& cost, const std::vector<char>& open) {
    double sum = 0, squares = 0, count = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
        if (!open[i]) continue;
        sum += cost[i];
        squares += cost[i] * cost[i];
        ++count;
    }
    if (count == 0) return 1;
    return std::max(std::sqrt(std::max(squares / count - (sum / count) * (sum / count), 0.0)),
                    1e-12 * (std::fabs(sum / count) + 1e-300));
}

// Solves a small symmetric positive definite system in place; false where it is not one.
bool solve(int n, double* a, double* b) {
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
            if (i == j) {
                if (!(sum > 0)) return false;
                a[i * n + i] = std::sqrt(sum);
            } else {
                a[i * n + j] = sum / a[j * n + j];
            }
        }
        for (int k = 0; k < j; ++k) b[j] -= a[j * n + k] * b[k];
        b[j] /= a[j * n + j];
    }
    for (int j = n; j-- > 0;) {
        for (int k = j + 1; k < n; ++k) b[j] -= a[k * n + j] * b[k];
        b[j] /= a[j * n + j];
    }
    return true;
}

}  // namespace

void Ascent::climb(const Box& box, int kept, const double* from, const Try& attempt) {
    const int count = f_.items(), size = f_.multipliers();
    cost_.resize(count);
    share_.resize(count);
    open_.assign(count, 0);
    chosen_.assign(count, 1);
    for (int i : box.out) chosen_[i] = 0;
    for (int i : box.open) open_[i] = 1;
    kept_ = kept;
    gradient_.assign(size, std::vector<double>(count));
    double now[most_multipliers], step[most_multipliers], next[most_multipliers];
    std::copy(from, from + size, now);
    f_.aim(now);
    f_.central_costs(cost_.data());
    const double scale = spread(cost_, open_);
    std::fill(std::begin(floor_), std::end(floor_), scale * std::sqrt(static_cast<double>(count)));
    for (double width : widths) {
        const double before = value(box, now, width * scale);
        if (!newton(box, width * scale, step)) continue;
        double times = 1;
        for (int halved = 0; halved < 6; ++halved, times /= 3) {
            for (int l = 0; l < size; ++l) next[l] = now[l] + times * step[l];
            f_.allow(next);
            if (value(box, next, width * scale) > before) {
                std::copy(next, next + size, now);
                if (attempt(now) > 0) return;
                break;
            }
        }
    }
}

// Shares of the open items: (at - cost) / width + 1/2, between 0 and 1, that add up to `kept`.
void Ascent::threshold(double width) {
    double low = infinity, high = -infinity;
    int count = 0;
    for (std::size_t i = 0; i < cost_.size(); ++i) {
        share_[i] = chosen_[i];
        if (!open_[i]) continue;
        low = std::min(low, cost_[i]);
        high = std::max(high, cost_[i]);
        ++count;
    }
    if (count == 0) return;
    low -= width;
    high += width;
    if (!(at_ > low && at_ < high)) at_ = low + (high - low) / 2;
    for (int pass = 0; pass < 60; ++pass) {
        double sum = 0, slope = 0;
        for (std::size_t i = 0; i < cost_.size(); ++i) {
            if (!open_[i]) continue;
            const double p = (at_ - cost_[i]) / width + 0.5;
            sum += std::clamp(p, 0.0, 1.0);
            slope += p > 0 && p < 1;
        }
        const double miss = kept_ - sum;
        if (std::fabs(miss) < 1e-9) break;
        (miss > 0 ? low : high) = at_;
        const double newton = slope > 0 ? at_ + miss * width / slope : infinity;
        at_ = newton > low && newton < high ? newton : low + (high - low) / 2;
    }
    for (std::size_t i = 0; i < cost_.size(); ++i) {
        if (open_[i]) share_[i] = std::clamp((at_ - cost_[i]) / width + 0.5, 0.0, 1.0);
    }
}

double Ascent::value(const Box& box, const double* multiplier, double width) {
    f_.aim(multiplier);
    f_.central_costs(cost_.data());
    threshold(width);
    double sum = f_.base();
    for (std::size_t i = 0; i < cost_.size(); ++i) {
        sum += share_[i] * cost_[i];
        if (open_[i]) sum += width / 2 * (share_[i] - 0.5) * (share_[i] - 0.5);
    }
    f_.slopes(share_.data(), slope_, by_);
    for (int j = 0; j < f_.dims(); ++j) {
        sum -= box.half[j] * std::sqrt(slope_[j] * slope_[j] + floor_[j] * floor_[j] * 1e-6);
    }
    return sum;
}

// After `value`: the step to the maximum of its quadratic model.
bool Ascent::newton(const Box& box, double width, double* step) {
    const int size = f_.multipliers();
    double first[most_multipliers], second[most_multipliers];
    double h[most_multipliers * most_multipliers] = {}, mean[most_multipliers] = {};
    f_.base_slopes(first, second);
    f_.gradients(gradient_);
    double inside = 0;
    std::vector<int> between;
    for (std::size_t i = 0; i < cost_.size(); ++i) {
        if (share_[i] > 0 && share_[i] < 1) between.push_back(static_cast<int>(i));
        if (share_[i] > 0) {
            for (int l = 0; l < size; ++l) first[l] += share_[i] * gradient_[l][i];
        }
    }
    for (int i : between) {
        ++inside;
        for (int l = 0; l < size; ++l) mean[l] += gradient_[l][i];
    }
    for (int l = 0; l < size; ++l) mean[l] /= std::max(inside, 1.0);
    for (int i : between) {
        for (int l = 0; l < size; ++l) {
            for (int k = 0; k <= l; ++k) {
                h[l * size + k] +=
                    (gradient_[l][i] - mean[l]) * (gradient_[k][i] - mean[k]) / width;
            }
        }
    }
    for (int j = 0; j < f_.dims(); ++j) {
        const double root = std::sqrt(slope_[j] * slope_[j] + floor_[j] * floor_[j] * 1e-6);
        const double* by = by_ + j * size;
        for (int l = 0; l < size; ++l) {
            first[l] -= box.half[j] * slope_[j] / root * by[l];
            // The curvature of a secant parabola: Newton's own vanishes away from zero.
            for (int k = 0; k <= l; ++k) h[l * size + k] += box.half[j] / root * by[l] * by[k];
        }
    }
    double trace = 0;
    for (int l = 0; l < size; ++l) {
        h[l * size + l] -= second[l];
        trace += h[l * size + l];
    }
    for (int l = 0; l < size; ++l) h[l * size + l] += 1e-9 * trace + 1e-300;
    std::copy(first, first + size, step);
    return solve(size, h, step);
}

}  // namespace quadsweep::estimating
