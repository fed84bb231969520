// The score to be beaten, shared by threads: undefined (minus infinity) until a subset is known. A
// thread may go on with an earlier one: what does not beat that does not beat a higher one either.
#pragma once

#include <atomic>

#include "shared/objectives.hpp"

namespace quadsweep {

class Target {
  public:
    explicit Target(double score = undefined) : score_(score) {}

    operator double() const { return score_.load(std::memory_order_relaxed); }
    // Never lowers it.
    void raise(double score) {
        double known = score_.load();
        while (score > known && !score_.compare_exchange_weak(known, score)) {
        }
    }

  private:
    std::atomic<double> score_;
};

}  // namespace quadsweep
