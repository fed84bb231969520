// A relaxation for the one search, as small as one can be: the k points whose x vary least.
//
// The parameter of a subset is its mean m, a box is an interval of means with the centre c and the
// half-width h. A subset of the box has
//
//     sum (x - m)^2 = sum (x - c)^2 - k (m - c)^2  >=  sum of the k smallest (x - c)^2 - k h^2,
//
// and is closed where that is not below the least sum known, less a share `tol` for ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "search/driver.hpp"
#include "search/listing.hpp"
#include "search/target.hpp"
#include "search/threshold.hpp"
#include "shared/points.hpp"

namespace quadsweep::least_variance {

struct Box {
    double lo, hi;  // of the mean
    std::vector<int> open;
    double upper = infinity, missing = 0;
};
using Boxes = std::vector<std::unique_ptr<Box>>;

inline double bytes(const Box& box) { return sizeof(Box) + quadsweep::bytes(box.open); }

class Relaxation {
  public:
    using Box = least_variance::Box;
    class Worker;
    Relaxation(std::vector<double> points, int kept) : x(std::move(points)), k(kept) {
        std::vector<int> first(k);
        std::iota(first.begin(), first.end(), 0);
        offer(std::move(first));
    }

    Boxes roots() const {
        const auto [lo, hi] = std::minmax_element(x.begin(), x.end());
        Boxes out;
        out.push_back(std::make_unique<Box>(Box{*lo, *hi, std::vector<int>(x.size())}));
        std::iota(out[0]->open.begin(), out[0]->open.end(), 0);
        return out;
    }
    void offer(std::vector<int> subset) {
        std::sort(subset.begin(), subset.end());
        double mean = 0, sum = 0;
        for (int i : subset) mean += x[i] / k;
        for (int i : subset) sum += (x[i] - mean) * (x[i] - mean);
        const Lock lock(mutex);
        if (best.offer(-sum, subset)) target.raise(-sum);
    }

    bool finished() const { return target >= 0; }
    double goal() const { return target * (1 - tol); }
    bool worth(double upper) const { return upper > goal(); }
    Progress progress(const Standing& now) const {
        return {target, std::max(now.open, goal()), 0, 0};
    }

    static constexpr double tol = 1e-9;
    const std::vector<double> x;
    const int k;
    Target target;
    Incumbent best;
    Mutex mutex;
};

class Relaxation::Worker {
  public:
    explicit Worker(Relaxation& relaxation) : r_(relaxation) {}
    bool aim() {
        goal_ = -r_.goal();
        return true;
    }
    Ending bound(const Box& box) {
        const double centre = box.lo + (box.hi - box.lo) / 2;
        const double half = std::max(centre - box.lo, box.hi - centre) * (1 + 4 * ulp);
        const std::size_t n = box.open.size();
        cost_.resize(n);
        for (std::size_t i = 0; i < n; ++i) cost_[i] = std::pow(r_.x[box.open[i]] - centre, 2);
        evaluations_ += static_cast<double>(n);
        const auto below = [&](double at) {
            Tally t;
            for (double c : cost_) t = c < at ? Tally{t.weight + 1, t.cost + c} : t;
            return t;
        };
        const double lost = r_.k * half * half + goal_;
        value_ = threshold_.maximise(below, r_.k, -lost, true, lambda_);
        error_ = (static_cast<double>(n) + 16) * ulp * (value_ + 2 * lost + 2 * r_.k * lambda_);
        return value_ >= error_ ? Ending::closed : Ending::open;
    }
    void propose(const Box& box) {
        std::vector<std::size_t> order(box.open.size());
        std::iota(order.begin(), order.end(), 0);
        std::nth_element(order.begin(), order.begin() + (r_.k - 1), order.end(),
                         [&](auto i, auto j) { return cost_[i] < cost_[j]; });
        std::vector<int> subset;
        for (int i = 0; i < r_.k; ++i) subset.push_back(box.open[order[i]]);
        r_.offer(std::move(subset));
    }
    double upper(const Box&) const { return std::min(error_ - value_ - goal_, 0.0); }
    double missing() const { return error_ - value_; }
    Ending fix(Box& box) {
        std::vector<int> left;
        for (std::size_t i = 0; i < cost_.size(); ++i) {
            if (value_ + (cost_[i] - lambda_) < 2 * error_) left.push_back(box.open[i]);
        }
        box.open = std::move(left);
        return box.open.size() < static_cast<std::size_t>(r_.k) ? Ending::closed : Ending::open;
    }
    bool enumerate(const Box& box) {
        const Undecided open{{}, box.open, std::vector<int>(box.open.size(), 1)};
        if (ways(open, r_.k, false, 20) > 20) return false;
        list_ways(
            open, r_.k, false, 0, [](int&, std::size_t) {},
            [&](int, const Picks& picks) {
                std::vector<int> subset;
                for (const auto [point, count] : picks) subset.push_back(point);
                r_.offer(std::move(subset));
                return true;
            });
        return true;
    }
    Ending branch(std::unique_ptr<Box> box, Boxes& children) {
        const double centre = box->lo + (box->hi - box->lo) / 2;
        if (!(centre > box->lo && centre < box->hi)) return Ending::deferred;
        auto other = std::make_unique<Box>(*box);
        box->hi = other->lo = centre;
        children.push_back(std::move(box));
        children.push_back(std::move(other));
        return Ending::open;
    }
    double n_evaluations() const { return evaluations_; }

  private:
    Relaxation& r_;
    Threshold threshold_{false};
    std::vector<double> cost_;
    double goal_ = 0, lambda_ = 0, value_ = 0, error_ = 0, evaluations_ = 0;
};

}  // namespace quadsweep::least_variance
