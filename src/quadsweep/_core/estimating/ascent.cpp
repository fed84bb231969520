#include "ascent.hpp"

#include <algorithm>
#include <cmath>

#include "shared/cholesky.hpp"

namespace quadsweep::estimating {
namespace {

constexpr double widths[] = {0.3, 0.1, 0.03, 0.01};  // of the costs' spread

double spread(const std::vector<double>& cost, const std::vector<int>& open) {
    double sum = 0, squares = 0;
    for (int i : open) {
        sum += cost[i];
        squares += cost[i] * cost[i];
    }
    const auto count = static_cast<double>(open.size());
    if (count == 0) return 1;
    return std::max(std::sqrt(std::max(squares / count - (sum / count) * (sum / count), 0.0)),
                    1e-12 * (std::fabs(sum / count) + 1e-300));
}

}  // namespace

void Ascent::climb(const Box& box, int kept, const double* from, const Try& attempt) {
    const int count = f_.items(), size = f_.multipliers();
    cost_.resize(count);
    share_.assign(count, 1.0);
    for (int i : box.out) share_[i] = 0;
    at_open_.resize(box.open.size());
    kept_ = kept;
    double now[most_multipliers], step[most_multipliers], next[most_multipliers];
    std::copy(from, from + size, now);
    f_.aim(now);
    f_.central_costs(cost_.data());
    const double scale = spread(cost_, box.open);
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
void Ascent::threshold(const Box& box, double width) {
    const std::size_t count = box.open.size();
    if (count == 0) return;
    for (std::size_t k = 0; k < count; ++k) at_open_[k] = cost_[box.open[k]];
    const auto [least, most] = std::minmax_element(at_open_.begin(), at_open_.end());
    double low = *least - width, high = *most + width;
    const double* cost = at_open_.data();
    const double steep = 1 / width;
    if (!(at_ > low && at_ < high)) at_ = low + (high - low) / 2;
    for (int pass = 0; pass < 60; ++pass) {
        double sum = 0, slope = 0;
        const double at = at_;
#pragma omp simd reduction(+ : sum, slope)
        for (std::size_t k = 0; k < count; ++k) {
            const double p = (at - cost[k]) * steep + 0.5;
            const double share = p > 1 ? 1.0 : p > 0 ? p : 0.0;
            sum += share;
            slope += share == p ? 1.0 : 0.0;
        }
        const double miss = kept_ - sum;
        if (std::fabs(miss) < 1e-9) break;
        (miss > 0 ? low : high) = at_;
        const double newton = slope > 0 ? at_ + miss * width / slope : infinity;
        at_ = newton > low && newton < high ? newton : low + (high - low) / 2;
    }
    for (std::size_t k = 0; k < count; ++k) {
        share_[box.open[k]] = std::clamp((at_ - cost[k]) * steep + 0.5, 0.0, 1.0);
    }
}

double Ascent::value(const Box& box, const double* multiplier, double width) {
    f_.aim(multiplier);
    f_.central_costs(cost_.data());
    threshold(box, width);
    double sum = 0;
    const double *cost = cost_.data(), *share = share_.data();
    const std::size_t count = cost_.size();
    // Shares of items that are not open are 0 or 1: what they add to the squares is the same for
    // all multipliers.
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < count; ++i) {
        sum += share[i] * cost[i] + width / 2 * (share[i] - 0.5) * (share[i] - 0.5);
    }
    sum += f_.base();
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
    const auto& gradient = f_.gradients();
    std::vector<int> between;
    for (int i : box.open) {
        if (share_[i] > 0 && share_[i] < 1) between.push_back(i);
    }
    const double inside = std::max(static_cast<double>(between.size()), 1.0);
    const double* share = share_.data();
    const std::size_t count = share_.size();
    for (int l = 0; l < size; ++l) {
        const double* g = gradient[l].data();
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < count; ++i) sum += share[i] * g[i];
        first[l] += sum;
        for (int i : between) mean[l] += g[i];
        mean[l] /= inside;
    }
    for (int i : between) {
        for (int l = 0; l < size; ++l) {
            for (int k = 0; k <= l; ++k) {
                h[l * size + k] += (gradient[l][i] - mean[l]) * (gradient[k][i] - mean[k]) / width;
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
    return solve_definite(size, h, size, step);
}

}  // namespace quadsweep::estimating
