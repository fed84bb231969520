// The k largest of some numbers.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace quadsweep {

// Brings the k largest to the front, in any order; how many there are of them.
inline int largest_first(std::vector<double>& values, int k) {
    k = std::min(k, static_cast<int>(values.size()));
    if (k > 0 && k < static_cast<int>(values.size())) {
        std::nth_element(values.begin(), values.begin() + (k - 1), values.end(),
                         std::greater<double>());
    }
    return std::max(k, 0);
}

// The sum of the k largest.
inline double sum_of_largest(std::vector<double>& values, int k) {
    k = largest_first(values, k);
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += values[i];
    return sum;
}

}  // namespace quadsweep
