#include "concentrate.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "loops.hpp"
#include "search/threshold.hpp"

namespace quadsweep::regression {
namespace {

constexpr int few_items = 4096;  // items that are put in order

}  // namespace

Selection Concentrator::step(const Own& from) {
    ++steps_;
    Form f = form_;
    if (f.kind == Kind::r2) f.aim(from.score == undefined ? 0 : from.score);
    double phi[most_columns] = {};
    for (int j = 0; j < f.free_count; ++j) phi[j] = -from.g[j];
    for (int a = 0; a < f.active; ++a) phi[f.searched + a] = from.theta[f.first_active() + a];
    const int n = items_.size();
    std::vector<double> cost(n), u(n);
    if (items_.grouped()) {
        for (int i = 0; i < n; ++i) {
            const Gram g = items_.gram(i);
            cost[i] = f.s_e * g.form(from.left, from.theta, f.left_columns()) -
                      f.s_u * g.form(phi, phi, f.columns);
        }
    } else {
        std::vector<const double*> columns;
        for (const auto& c : items_.column) columns.push_back(c.data());
        const auto& loops = regression_loops();
        std::vector<double> left(n), e(n);
        loops.combine(columns.data(), from.left, f.left_columns(), n, left.data());
        loops.combine(columns.data(), from.theta, f.searched, n, e.data());
        loops.combine(columns.data(), phi, f.columns, n, u.data());
        loops.costs(left.data(), e.data(), f.s_e, u.data(), f.s_u, n, cost.data());
    }
    Selection s = n > few_items ? cheapest_of_many(cost) : cheapest_of_few(cost);
    s.own = own(form_, s.sums);
    return s;
}

Selection Concentrator::cheapest_of_few(const std::vector<double>& cost) {
    const int n = items_.size();
    order_.clear();
    int most = 1;
    for (int i = 0; i < n; ++i) {
        order_.emplace_back(std::isfinite(cost[i]) ? cost[i] : infinity, i);
        most = std::max(most, items_.copies[i]);
    }
    if (most > 1 || k_or_more_) {
        std::sort(order_.begin(), order_.end());
    } else if (k_ < n) {
        std::nth_element(order_.begin(), order_.begin() + k_, order_.end());
    }
    Selection s;
    int left = k_;
    for (const auto& [c, i] : order_) {
        const bool more = k_or_more_ && c < 0;
        if (left <= 0 && !more) break;
        const int taken = more ? items_.copies[i] : std::min(left, items_.copies[i]);
        s.items.push_back({i, taken});
        items_.add(s.sums, i, taken);
        left -= taken;
    }
    return s;
}

// A threshold and a pass, without putting anything in order.
Selection Concentrator::cheapest_of_many(std::vector<double>& cost) {
    order_.clear();
    for (int i = 0; i < items_.size(); ++i) {
        if (!std::isfinite(cost[i])) cost[i] = infinity;
        order_.emplace_back(cost[i], items_.copies[i]);
    }
    const double threshold = weighted_quantile(order_, k_);
    Selection s;
    std::vector<double> weight(cost.size(), 0.0);
    int left = k_;
    const auto take = [&](int i, int copies) {
        s.items.push_back({i, copies});
        weight[i] += copies;
        left -= copies;
    };
    for (int i = 0; i < items_.size(); ++i) {
        if (cost[i] < threshold || (k_or_more_ && cost[i] < 0)) take(i, items_.copies[i]);
    }
    for (int i = 0; i < items_.size() && left > 0; ++i) {
        if (cost[i] == threshold) take(i, std::min(left, items_.copies[i]));
    }
    if (items_.grouped()) {
        for (const auto& [item, copies] : s.items) items_.add(s.sums, item, copies);
        return s;
    }
    int e = 0;
    for (int i = 0; i < items_.columns; ++i) {
        for (int j = 0; j <= i; ++j) {
            s.sums.s[e++] = regression_loops().product(weight.data(), items_.column[i].data(),
                                                       items_.column[j].data(), items_.size());
        }
    }
    return s;
}

Selection Concentrator::climb(const Own& from, int most_steps,
                              const std::function<bool()>& stopped) {
    Selection best = step(from);
    for (int i = 1; i < most_steps; ++i) {
        if (stopped && stopped()) break;
        Selection next = step(best.own);
        if (!(next.own.score > best.own.score)) break;
        best = std::move(next);
    }
    return best;
}

Selection Concentrator::select(const std::vector<int>& units) const {
    std::vector<int> item_of;
    for (int i = 0; i < items_.size(); ++i) {
        for (int u : items_.units(i)) {
            if (static_cast<std::size_t>(u) >= item_of.size()) item_of.resize(u + 1, -1);
            item_of[u] = i;
        }
    }
    std::vector<int> copies(items_.size(), 0);
    for (int u : units) ++copies[item_of[u]];
    Selection s;
    for (int i = 0; i < items_.size(); ++i) {
        if (copies[i] == 0) continue;
        s.items.push_back({i, copies[i]});
        items_.add(s.sums, i, copies[i]);
    }
    s.own = own(form_, s.sums);
    return s;
}

std::vector<Selection> Concentrator::from_random(int starts, int finalists, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Selection> found;
    const int n = items_.size();
    for (int s = 0; s < starts; ++s) {
        Gram sums;
        // As many items as parameters, and one more so that R2 is not always 1.
        for (int i = 0; i < std::min(form_.searched + 1, n); ++i) {
            items_.add(sums, static_cast<int>(random() % static_cast<std::uint64_t>(n)), 1);
        }
        found.push_back(climb(own(form_, sums), 2));
    }
    const auto better = [](const Selection& a, const Selection& b) {
        return a.own.score > b.own.score;
    };
    std::stable_sort(found.begin(), found.end(), better);
    std::vector<Selection> out;
    for (Selection& s : found) {
        if (static_cast<int>(out.size()) == finalists) break;
        if (!out.empty() && s.own.score == out.back().own.score) continue;
        out.push_back(std::move(s));
    }
    for (Selection& s : out) {
        Selection end = climb(s.own, 100);
        if (better(end, s)) s = std::move(end);
    }
    std::stable_sort(out.begin(), out.end(), better);
    return out;
}

Items sample(const Items& items, int most, std::uint64_t seed) {
    if (items.size() <= most) return items;
    std::mt19937_64 random(seed);
    Items some;
    some.columns = items.columns;
    some.column.resize(items.column.size());
    some.product.resize(items.product.size());
    some.copies.assign(most, 1);
    for (int s = 0; s < most; ++s) {
        const auto i = random() % static_cast<std::uint64_t>(items.size());
        for (std::size_t j = 0; j < items.column.size(); ++j) {
            some.column[j].push_back(items.column[j][i]);
        }
        for (std::size_t j = 0; j < items.product.size(); ++j) {
            some.product[j].push_back(items.product[j][i]);
        }
    }
    return some;
}

std::vector<int> units_of(const Items& items, const std::vector<Copies>& chosen) {
    std::vector<int> out;
    for (const auto& [item, count] : chosen) {
        const auto units = items.units(item);
        out.insert(out.end(), units.begin(), units.begin() + count);
    }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace quadsweep::regression
