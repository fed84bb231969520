#include "cells.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shared/threads.hpp"

namespace quadsweep::regression {
namespace {

constexpr int worth_a_thread = 20000;  // items
constexpr int worth_a_look = 4096;     // items, at the clock

}  // namespace

void Cells::add(Gram& to, int at) const {
    const double* mean = numbers(at) + 2 * columns;
    for (int e = 0; e < Gram::entries(columns); ++e) to.s[e] += cell[at].copies * mean[e];
}

class CellBuilder {
  public:
    CellBuilder(Cells& cells, const Items& items, const Placed& placed, int leaf_items,
                const std::function<bool()>& over)
        : cells_(cells), items_(items), leaf_(leaf_items), order_(items.size()), over_(over) {
        std::iota(order_.begin(), order_.end(), 0);
        cells_.columns = items.columns;
        cells_.combination = placed.combination;
        cells_.varying = placed.combination.empty() ? items.columns : placed.searched;
    }

    std::vector<int> build(int n_jobs) {
        const int n = items_.size();
        cells_.cell.resize(count(n));
        cells_.numbers_.resize(cells_.cell.size() * cells_.stride());
        fill(0, 1, 0, n, n_jobs);
        // A product and an addition for each row of a leaf, an addition and a division a level.
        cells_.roundings = 2.0 * leaf_ + 4 + 3 * std::ceil(std::log2(n + 1.0));
        return std::move(order_);
    }

  private:
    int count(int n) const {  // cells of a tree over n items
        return n <= leaf_ ? 1 : 1 + count(n / 2) + count(n - n / 2);
    }
    double* numbers(int at) { return cells_.numbers_.data() + cells_.stride() * at; }

    // Cell `at` over order [first, last); its descendants take the places from `free` on: the two
    // children, then all below the left one, then all below the right one.
    void fill(int at, int free, int first, int last, int n_jobs) {
        if (last - first > worth_a_look && over_()) return;
        Cells::Cell& c = cells_.cell[at];
        c.first = first;
        c.last = last;
        frame(c, numbers(at));
        if (last - first <= leaf_) {
            sum_items(c, numbers(at) + 2 * cells_.columns);
            return;
        }
        const int middle = first + (last - first) / 2;
        halve(first, middle, last, longest(numbers(at)));
        c.left = free;
        const int below_left = count(middle - first) - 1;
        const auto left = [&, jobs = n_jobs / 2] { fill(free, free + 2, first, middle, jobs); };
        const auto right = [&, jobs = n_jobs - n_jobs / 2] {
            fill(free + 1, free + 2 + below_left, middle, last, jobs);
        };
        if (n_jobs > 1 && last - first > worth_a_thread) {
            const Thread other(left);
            right();
        } else {
            left();
            right();
        }
        sum_children(c, at);
    }

    void frame(const Cells::Cell& c, double* numbers) const {
        for (int j = 0; j < cells_.columns; ++j) {
            const auto& column = items_.column[j];
            double low = infinity, high = -infinity;
            for (int i = c.first; i < c.last; ++i) {
                const double v = column[order_[i]];
                low = std::min(low, v);
                high = std::max(high, v);
            }
            const double centre = low + (high - low) / 2;
            numbers[j] = centre;
            numbers[cells_.columns + j] = std::max(high - centre, centre - low);
        }
    }

    int longest(const double* numbers) const {
        const double* half = numbers + cells_.columns;
        return static_cast<int>(std::max_element(half, half + cells_.varying) - half);
    }

    void halve(int first, int middle, int last, int along) {
        const auto& column = items_.column[along];
        std::vector<std::pair<double, int>> keyed;
        keyed.reserve(last - first);
        for (int i = first; i < last; ++i) keyed.emplace_back(column[order_[i]], order_[i]);
        std::nth_element(keyed.begin(), keyed.begin() + (middle - first), keyed.end());
        for (int i = first; i < last; ++i) order_[i] = keyed[i - first].second;
    }

    void sum_items(Cells::Cell& c, double* mean) const {
        Gram sum;
        for (int i = c.first; i < c.last; ++i) {
            items_.add(sum, order_[i], items_.copies[order_[i]]);
            c.copies += items_.copies[order_[i]];
        }
        for (int e = 0; e < Gram::entries(cells_.columns); ++e) mean[e] = sum.s[e] / c.copies;
    }

    void sum_children(Cells::Cell& c, int at) {
        Gram sum;
        for (int child : {c.left, c.left + 1}) {
            cells_.add(sum, child);
            c.copies += cells_.cell[child].copies;
        }
        double* mean = numbers(at) + 2 * cells_.columns;
        for (int e = 0; e < Gram::entries(cells_.columns); ++e) mean[e] = sum.s[e] / c.copies;
    }

    Cells& cells_;
    const Items& items_;
    int leaf_;
    std::vector<int> order_;
    const std::function<bool()>& over_;
};

Cells make_cells(Items& items, const Placed& placed, int leaf_items, int n_jobs,
                 const std::function<bool()>& over) {
    Cells cells;
    CellBuilder builder(cells, items, placed, leaf_items, over);
    const std::vector<int> order = builder.build(n_jobs);
    if (over()) return {};
    for (auto& column : items.column) {
        std::vector<double> moved;
        moved.reserve(order.size());
        for (int i : order) moved.push_back(column[i]);
        column = std::move(moved);
    }
    std::vector<int> copies;
    Identical identical;
    for (int i : order) {
        copies.push_back(items.copies[i]);
        identical.add(items.units(i));
    }
    items.copies = std::move(copies);
    items.identical = std::move(identical);
    return cells;
}

}  // namespace quadsweep::regression
