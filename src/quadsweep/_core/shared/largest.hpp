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

// The sum of the k largest of numbers above zero that come one by one.
class LargestSum {
  public:
    LargestSum(int k) : k_(std::max(k, 0)) {}

    void clear() { heap_.clear(); }
    void add(double value) {
        if (!(value > 0) || k_ == 0) return;
        if (heap_.size() < k_) {
            heap_.push_back(value);
            std::push_heap(heap_.begin(), heap_.end(), std::greater<double>());
        } else if (value > heap_.front()) {
            std::pop_heap(heap_.begin(), heap_.end(), std::greater<double>());
            heap_.back() = value;
            std::push_heap(heap_.begin(), heap_.end(), std::greater<double>());
        }
    }
    double sum() const {
        double total = 0;
        for (double v : heap_) total += v;
        return total;
    }

  private:
    std::size_t k_;
    std::vector<double> heap_;  // the smallest first
};

}  // namespace quadsweep
