// What one pass over the rows can know of a leaf of a partition.
#pragma once

#include "shared/moments.hpp"
#include "shared/objectives.hpp"

namespace quadsweep::outofcore {

// One row of the table of a pass, as doubles: a count is exact up to 2^53. Each sum keeps what its
// additions round away (Knuth's two-sum), so that it is off by about as much as its terms are, over
// any number of rows.
struct Leaf {
    double count = 0;
    double x_lo = infinity, x_hi = -infinity, y_lo = infinity, y_hi = -infinity;
    Moments sums, lost;
    double unused = 0;  // 128 bytes: two lines of the cache

    bool empty() const { return count == 0; }
    bool point() const { return x_lo == x_hi && y_lo == y_hi; }
    Moments total() const { return sums + lost; }
    void merge(const Leaf& other);
};

QUADSWEEP_INLINE void accumulate(double& sum, double& lost, double term) {
    const double to = sum + term, added = to - sum;
    lost += (sum - (to - added)) + (term - added);
    sum = to;
}

}  // namespace quadsweep::outofcore
