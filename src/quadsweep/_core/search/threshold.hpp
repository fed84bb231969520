// The least sum of costs that fills up a subset, from below.
//
// For every lambda, need * lambda - sum (lambda - cost)^+ is such a bound and the best lambda makes
// it exact; written as S + lambda (need - W), with W and S the weight and cost of what lies below
// lambda, it needs no selection, only passes over the costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "shared/hot_loops.hpp"
#include "shared/objectives.hpp"

namespace quadsweep {

// The cost at which the weights, in ascending order of cost, reach `need`. Reorders.
template <typename Weight>
double weighted_quantile(std::vector<std::pair<double, Weight>>& costs, double need) {
    auto first = costs.begin(), last = costs.end();
    double below = 0;
    // Moves those that are `less` to the front of what is left and adds up their weights.
    const auto gather = [&](auto from, auto less, double& weight) {
        return std::partition(from, last, [&](const auto& one) {
            if (!less(one.first)) return false;
            weight += one.second;
            return true;
        });
    };
    std::uint32_t random = 1;
    const auto any = [&] {
        random = random * 1664525u + 1013904223u;
        return first[static_cast<std::ptrdiff_t>(random >> 8) % (last - first)].first;
    };
    while (last - first > 1) {
        const double p = any(), q = any(), r = any();
        const double pivot = std::max(std::min(p, q), std::min(std::max(p, q), r));
        double less = 0, equal = 0;
        const auto middle = gather(first, [&](double cost) { return cost < pivot; }, less);
        if (middle != first && below + less >= need) {
            last = middle;
            continue;
        }
        // What is no number counts as equal, so that something is gathered each time.
        const auto end = gather(middle, [&](double cost) { return !(cost > pivot); }, equal);
        below += less + equal;
        if (below >= need || end == last) return pivot;
        first = end;
    }
    return first->first;
}

// A lambda to start from: the right quantile of a few of the costs.
inline double guess_threshold(const double* cost, const double* weight, std::size_t size,
                              double need) {
    const std::size_t step = 1 + size / 256;
    std::vector<double> some;
    double total = 0;
    for (std::size_t i = 0; i < size; ++i) {
        total += weight[i];
        if (i % step == 0 && weight[i] > 0) some.push_back(cost[i]);
    }
    if (some.empty()) return 0;
    const double share = std::clamp(need / std::max(total, 1.0), 0.0, 1.0);
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(some.size() - 1));
    std::nth_element(some.begin(), some.begin() + at, some.end());
    return some[at];
}

class Threshold {
  public:
    // Where little is left to gain: this share of the bound.
    static constexpr double enough = 0.02;
    static constexpr double first_stride = 1.25;  // of what the last density of costs suggests

    // Whether subsets of `need` or more points are asked for (then lambda is not below 0), or of
    // just as many.
    explicit Threshold(bool k_or_more) : k_or_more_(k_or_more) {}

    // Returns offset + D(lambda), where D is at most the least sum of `need` costs. The offset is
    // what is kept in any case less what is to be beaten, so that a positive result closes a box;
    // its rounding is the caller's to add up.
    //
    // Maximises the concave, piecewise linear D(lambda) = S + lambda (need - W) by a bracket on its
    // slope, from `lambda`, and leaves the best one there. tally(lambda) gives W and S, the Tally
    // of all with cost < lambda. Any lambda gives a bound, so it stops when little is left to gain
    // or, where that is enough, when offset + D is positive for certain.
    template <class TallyBelow>
    double maximise(TallyBelow tally, double need, double offset, bool positive_is_enough,
                    double& lambda) {
        double best = -infinity, best_lambda = lambda;
        double lo = -infinity, hi = infinity, d_lo = 0, d_hi = 0, s_lo = 0, s_hi = 0;
        double at = k_or_more_ ? std::max(lambda, 0.0) : lambda;
        double step = 0;
        for (int pass = 0; pass < 100; ++pass) {
            const Tally t = tally(at);
            const double slope = need - t.weight, d = t.cost + at * slope;
            if (d > best) {
                best = d;
                best_lambda = at;
            }
            if (std::fabs(slope) < 1e-9 || (k_or_more_ && slope <= 0 && at == 0)) break;
            if (!std::isfinite(d)) break;
            if (positive_is_enough &&
                offset + best > 1e-8 * (std::fabs(offset) + std::fabs(best))) {
                break;
            }
            if (slope > 0) {
                lo = at;
                d_lo = d;
                s_lo = slope;
            } else {
                hi = at;
                d_hi = d;
                s_hi = slope;
            }
            if (lo == -infinity || hi == infinity) {
                if (step == 0 && density_ > 0) step = first_stride * std::fabs(slope) / density_;
                if (step == 0)
                    step = std::max(0.05 * std::fabs(at), 1e-3 * std::fabs(d) / (need + 1));
                if (step == 0) step = 1e-6;
                at += slope > 0 ? step : -step;
                if (k_or_more_) at = std::max(at, 0.0);
                step *= 3;
                continue;
            }
            // The tangents at both ends meet above the maximum.
            const double meet = (d_hi - d_lo + s_lo * lo - s_hi * hi) / (s_lo - s_hi);
            const double most = d_lo + s_lo * (meet - lo);
            density_ = (s_lo - s_hi) / (hi - lo);
            if (most - best <= enough * std::fabs(offset + best)) break;
            if (!(hi - lo > 4 * ulp * (std::fabs(lo) + std::fabs(hi)))) break;
            const double secant = lo + (hi - lo) * (s_lo / (s_lo - s_hi));
            at = pass % 2 == 0 ? secant : meet;
            if (!(at > lo && at < hi)) at = lo + (hi - lo) / 2;
        }
        lambda = best_lambda;
        beyond_ = best_lambda == lo ? hi : lo;
        return offset + best;
    }

    // The other end of the bracket that the last one was found in.
    double beyond() const { return beyond_; }

  private:
    bool k_or_more_;
    double beyond_ = 0;
    double density_ = 0;  // of the costs around the last one, for the first step to the next
};

}  // namespace quadsweep
