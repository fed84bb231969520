#include "relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quadsweep::estimating {
namespace {

constexpr double share_of_chord = 0.3;  // of what a bound misses, for the range to be split
constexpr double few = 50;  // removals that take no longer than a box; more where splitting is idle

}  // namespace

bool MultiplierRelaxation::note(Verdict verdict, const std::vector<int>& removal) {
    if (verdict == Verdict::holds) return !finished();
    const Lock lock(mutex_);
    if (verdict == Verdict::breaks) {
        if (breaking_.empty()) breaking_ = removal;
        over_ = true;
    } else if (unclear_.size() < question_.most_unclear) {
        std::vector<int> sorted = removal;
        std::sort(sorted.begin(), sorted.end());
        if (std::find(unclear_.begin(), unclear_.end(), sorted) == unclear_.end()) {
            unclear_.push_back(std::move(sorted));
        }
    } else {
        over_ = true;
    }
    return !over_;
}

Bounder::Bounder(MultiplierRelaxation& relaxation)
    : relaxation_(relaxation),
      f_(relaxation.question().equations()),
      fits_(relaxation.question().refits()),
      ascent_(*f_),
      corners_(1 << f_->dims()) {
    cost_.resize(f_->items());
    at_.assign(corners_, std::vector<double>(f_->items()));
    selection_.resize(corners_);
    guess_.assign(corners_, -infinity);
    order_.resize(corners_);
    std::iota(order_.begin(), order_.end(), 0);
}

// For every t, sum min(c - t, 0) + t (number kept) is not above the least sum; with the largest
// costs removed it is exact for t between `stays` and `goes`. Where fewer may be removed, no item
// with a cost below zero is, and t is zero or on the side that the count allows.
Bounder::Selection Bounder::select(const double* cost, const Box& box, double& guess) {
    const double* counted = counted_.data();
    const std::size_t items = counted_.size();
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < items; ++i) sum += counted[i] * cost[i];
    const int open = static_cast<int>(box.open.size());
    chosen_.resize(open);
    const auto reach = [&](double least) {
        int count = 0;
        for (int i : box.open) {
            chosen_[count] = cost[i];
            count += cost[i] >= least;
        }
        return count;
    };
    int count = reach(guess);
    if (count <= most_) count = reach(-infinity);
    const auto begin = chosen_.begin(), end = begin + count;
    const auto down = std::greater<>();
    if (most_ < count) std::nth_element(begin, begin + most_, end, down);
    if (const int wanted = most_ + most_ / 2 + 8; count > 2 * wanted) {
        std::nth_element(begin + most_ + 1, begin + wanted, end, down);
        guess = chosen_[wanted];
    }
    int gone = most_;
    if (fewest_ < most_ && !(*std::min_element(begin, begin + most_) > 0)) {
        std::sort(begin, begin + most_, down);
        gone = fewest_;
        while (gone < most_ && chosen_[gone] > 0) ++gone;
    }
    for (int i = 0; i < gone; ++i) sum -= chosen_[i];
    Selection s;
    s.value = sum;
    s.goes = gone > 0 ? *std::min_element(begin, begin + gone) : infinity;
    s.stays = gone < count ? chosen_[gone] : -infinity;
    if (fewest_ < most_) {
        if (gone < most_) s.goes = std::min(s.goes, 0.0);
        if (gone > fewest_) s.stays = std::max(s.stays, 0.0);
    }
    return s;
}

// The worst corner with these multipliers; given up once it cannot be better than the best so far.
double Bounder::attempt(const Box& box, const double* multiplier) {
    f_->aim(multiplier);
    const double base = f_->base() - f_->error();
    double worst = infinity;
    for (std::size_t at = 0; at < order_.size(); ++at) {
        const int corner = order_[at];
        f_->costs(corner, cost_.data());
        evaluations_ += f_->items();
        const double value = base + select(cost_.data(), box, guess_[corner]).value;
        if (value < worst) worst = value;
        if (!(value > best_value_)) {
            std::rotate(order_.begin(), order_.begin() + at, order_.begin() + at + 1);
            return worst;
        }
    }
    best_value_ = worst;
    std::copy(multiplier, multiplier + f_->multipliers(), best_);
    return worst;
}

Ending Bounder::bound(Box& box) {
    const Question& asked = relaxation_.question();
    const int out = static_cast<int>(box.out.size()), open = static_cast<int>(box.open.size());
    fewest_ = std::max(asked.fewest - out, 0);
    most_ = std::min(asked.most - out, open);
    worst_ = 0;
    if (most_ < fewest_ || most_ < 0) return Ending::closed;
    counted_.assign(f_->items(), 1.0);
    for (int i : box.out) counted_[i] = 0;
    f_->load(box);
    best_value_ = -infinity;
    double from[most_multipliers];
    const auto attempted = [&](const double* m) { return attempt(box, m); };
    f_->start(from);
    const auto climb = [&] {
        attempt(box, from);
        if (!(best_value_ > 0)) ascent_.climb(box, open - most_, from, attempted);
    };
    if (box.inherited) {
        double fresh[most_multipliers];
        std::copy(from, from + most_multipliers, fresh);
        std::copy(box.multiplier, box.multiplier + most_multipliers, from);
        climb();
        std::copy(fresh, fresh + most_multipliers, from);
    }
    if (!(best_value_ > 0)) climb();
    if (best_value_ > 0) return Ending::closed;
    std::copy(best_, best_ + f_->multipliers(), box.multiplier);
    box.inherited = true;
    evaluate_corners(box);
    return worst_ > 0 ? Ending::closed : Ending::open;
}

void Bounder::evaluate_corners(const Box& box) {
    f_->aim(box.multiplier);
    error_ = f_->error();
    const double base = f_->base() - error_;
    worst_ = infinity;
    for (int corner = 0; corner < corners_; ++corner) {
        f_->costs(corner, at_[corner].data());
        evaluations_ += f_->items();
        selection_[corner] = select(at_[corner].data(), box, guess_[corner]);
        selection_[corner].value += base;
        worst_ = std::min(worst_, selection_[corner].value);
    }
}

// The removal that the costs at the centre suggest.
void Bounder::propose(const Box& box) {
    f_->central_costs(cost_.data());
    std::vector<int> order = box.open;
    std::sort(order.begin(), order.end(), [&](int i, int j) { return cost_[i] > cost_[j]; });
    std::vector<int> removal = box.out;
    for (int i = 0; i < most_ && (i < fewest_ || cost_[order[i]] > 0); ++i) {
        removal.push_back(order[i]);
    }
    std::sort(removal.begin(), removal.end());
    if (removal.empty() || removal == last_) return;
    last_ = removal;
    list_removals(*fits_, removal, {}, 0, [&](Verdict verdict, const std::vector<int>& units) {
        if (verdict == Verdict::breaks) relaxation_.note(verdict, units);
        return false;
    });
}

Ending Bounder::fix(Box& box) {
    std::vector<int> open;
    bool changed = false;
    for (int i : box.open) {
        double goes = infinity, stays = infinity;  // the bound where it does
        for (int corner = 0; corner < corners_; ++corner) {
            const Selection& s = selection_[corner];
            const double cost = at_[corner][i];
            goes = std::min(goes, s.value + std::max(s.goes - cost, 0.0));
            stays = std::min(stays, s.value + std::max(cost - s.stays, 0.0));
        }
        const bool never_goes = goes > error_, never_stays = stays > error_;
        if (never_goes && never_stays) return Ending::closed;
        changed |= never_goes || never_stays;
        if (never_stays) box.out.push_back(i);
        if (!never_goes && !never_stays) open.push_back(i);
    }
    if (changed) {
        box.open = std::move(open);
        fewest_ = std::max(relaxation_.question().fewest - static_cast<int>(box.out.size()), 0);
        most_ = relaxation_.question().most - static_cast<int>(box.out.size());
        if (most_ < 0 || fewest_ > static_cast<int>(box.open.size())) return Ending::closed;
        most_ = std::min(most_, static_cast<int>(box.open.size()));
    }
    cut(box);
    return Ending::open;
}

void Bounder::cut(Box& box) const {
    for (int j = 0; j < f_->dims(); ++j) {
        double low = 1, high = 0;
        for (int corner = 0; corner < corners_; ++corner) {
            if (corner >> j & 1) continue;
            const double a = selection_[corner].value - error_;
            const double b = selection_[corner | 1 << j].value - error_;
            if (a >= 0 && b >= 0) continue;
            low = std::min(low, a < 0 ? 0.0 : a / (a - b));
            high = std::max(high, b < 0 ? 1.0 : a / (a - b));
        }
        if (low > high) continue;
        low = std::max(low - 1e-9, 0.0);
        high = std::min(high + 1e-9, 1.0);
        const double from = box.centre[j] - box.half[j], width = 2 * box.half[j];
        box.centre[j] = from + width * (low + high) / 2;
        box.half[j] = width * (high - low) / 2 * (1 + 1e-12) + 1e-15 * std::fabs(box.centre[j]);
    }
}

bool Bounder::enumerate(Box& box) {
    const int open = static_cast<int>(box.open.size());
    const double before = box.ways;
    double& ways = box.ways = 0;
    for (int m = fewest_; m <= most_; ++m) {
        double count = 1;
        for (int i = 0; i < std::min(m, open - m); ++i) count = count * (open - i) / (i + 1);
        ways += count;
    }
    if (ways > relaxation_.question().enumerate) return false;
    if (ways > few && !(ways > before / 2)) return false;
    for (int m = fewest_; m <= most_; ++m) {
        list_removals(*fits_, box.out, box.open, m,
                      [&](Verdict verdict, const std::vector<int>& removal) {
                          return relaxation_.note(verdict, removal);
                      });
        if (relaxation_.finished()) break;
    }
    return true;
}

// In two along its widest dimension, or the range of the numerator where its chord costs most.
Ending Bounder::branch(std::unique_ptr<Box> box, std::vector<std::unique_ptr<Box>>& children) {
    int widest = 0;
    for (int j = 1; j < f_->dims(); ++j) {
        if (box->half[j] > box->half[widest]) widest = j;
    }
    const double half = box->half[widest], range = box->high - box->low;
    const bool by_range = range * range > -4 * worst_ * share_of_chord * (box->low + box->high) &&
                          range > 1e-9 * box->high;
    if (!by_range && !(half > 1e-12 * (1 + std::fabs(box->centre[widest])))) {
        return Ending::deferred;
    }
    const double middle = box->low > 0 ? std::sqrt(box->low * box->high) : box->high / 4;
    for (int side : {-1, 1}) {
        auto child = std::make_unique<Box>(*box);
        child->upper = -worst_;
        if (by_range) {
            (side < 0 ? child->high : child->low) = middle;
        } else {
            child->centre[widest] += side * half / 2;
            child->half[widest] = half / 2 + 1e-15 * (half + std::fabs(box->centre[widest]));
        }
        children.push_back(std::move(child));
    }
    return Ending::open;
}

}  // namespace quadsweep::estimating
