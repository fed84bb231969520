// The moments of all subsets of a few points, grouped by size.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "shared/hot_loops.hpp"
#include "shared/moment_columns.hpp"

namespace quadsweep {

// The rows of one size are followed by copies of the last, so that vector loops have no remainder.
class SubsetTable {
  public:
    explicit SubsetTable(int points) : blocks_(points + 1) {
        std::vector<int> row(std::size_t{1} << points);
        for (int size = 0; size <= points; ++size) {
            blocks_[size].begin = static_cast<int>(members_.size());
            for (std::uint32_t mask = 0; mask < row.size(); ++mask) {
                if (std::popcount(mask) != size) continue;
                row[mask] = static_cast<int>(members_.size());
                append(mask, row);
            }
            blocks_[size].end = static_cast<int>(members_.size());
            while (members_.size() % lanes != 0) append(members_.back(), row);
            blocks_[size].padded = static_cast<int>(members_.size()) - blocks_[size].begin;
        }
        for (auto* column : {&x_, &y_, &xx_, &xy_, &yy_}) column->assign(members_.size(), 0.0);
    }

    // single(b) is the moments of point b.
    template <class Single>
    void fill(Single&& single) {
        for (const Sum& sum : sums_) {
            const Moments s = single(sum.point);
            x_[sum.to] = x_[sum.from] + s.x;
            y_[sum.to] = y_[sum.from] + s.y;
            xx_[sum.to] = xx_[sum.from] + s.xx;
            xy_[sum.to] = xy_[sum.from] + s.xy;
            yy_[sum.to] = yy_[sum.from] + s.yy;
        }
    }

    int sizes() const { return static_cast<int>(blocks_.size()); }
    int begin(int size) const { return blocks_[size].begin; }
    int end(int size) const { return blocks_[size].end; }
    std::uint32_t members(int row) const { return members_[row]; }
    Moments moments(int r) const { return {x_[r], y_[r], xx_[r], xy_[r], yy_[r]}; }

    // Rows begin .. end of a size and the copies after them.
    MomentTable view(int size) const {
        const int b = begin(size);
        return {x_.data() + b,  y_.data() + b,  xx_.data() + b,
                xy_.data() + b, yy_.data() + b, blocks_[size].padded};
    }

  private:
    static constexpr std::size_t lanes = 4;

    struct Block {
        int begin = 0, end = 0, padded = 0;
    };
    struct Sum {
        int to, from, point;  // row `to` is row `from` with one more point
    };

    void append(std::uint32_t mask, const std::vector<int>& row) {
        if (mask != 0) {
            sums_.push_back({static_cast<int>(members_.size()), row[mask & (mask - 1)],
                             std::countr_zero(mask)});
        }
        members_.push_back(mask);
    }

    std::vector<std::uint32_t> members_;  // of each row, as bits
    std::vector<Block> blocks_;           // of each size
    std::vector<Sum> sums_;
    std::vector<double> x_, y_, xx_, xy_, yy_;
};

}  // namespace quadsweep
