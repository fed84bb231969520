// The moments of all subsets of a few points, grouped by size.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "hot_loops.hpp"

namespace quadsweep {

class SubsetTable {
  public:
    explicit SubsetTable(int points)
        : members_(std::size_t{1} << points), row_(members_.size()), first_(points + 2, 0) {
        std::iota(members_.begin(), members_.end(), 0u);
        std::stable_sort(members_.begin(), members_.end(), [](std::uint32_t a, std::uint32_t b) {
            return std::popcount(a) < std::popcount(b);
        });
        for (std::size_t r = 0; r < members_.size(); ++r) {
            row_[members_[r]] = static_cast<int>(r);
            ++first_[std::popcount(members_[r]) + 1];
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        for (auto* column : {&x_, &y_, &xx_, &xy_, &yy_}) column->assign(members_.size(), 0.0);
    }

    // single(b) is the moments of point b.
    template <class Single>
    void fill(Single&& single) {
        for (std::uint32_t mask = 1; mask < members_.size(); ++mask) {
            const int from = row_[mask & (mask - 1)], to = row_[mask];
            const Moments& s = single(std::countr_zero(mask));
            x_[to] = x_[from] + s.x;
            y_[to] = y_[from] + s.y;
            xx_[to] = xx_[from] + s.xx;
            xy_[to] = xy_[from] + s.xy;
            yy_[to] = yy_[from] + s.yy;
        }
    }

    int sizes() const { return static_cast<int>(first_.size()) - 1; }
    int begin(int size) const { return first_[size]; }
    int end(int size) const { return first_[size + 1]; }
    std::uint32_t members(int row) const { return members_[row]; }
    Moments moments(int r) const { return {x_[r], y_[r], xx_[r], xy_[r], yy_[r]}; }
    MomentTable view(int size) const {
        const int b = begin(size);
        return {x_.data() + b,  y_.data() + b,  xx_.data() + b,
                xy_.data() + b, yy_.data() + b, end(size) - b};
    }

  private:
    std::vector<std::uint32_t> members_;  // of each row, as bits
    std::vector<int> row_;                // of each mask
    std::vector<int> first_;              // row of each size
    std::vector<double> x_, y_, xx_, xy_, yy_;
};

}  // namespace quadsweep
