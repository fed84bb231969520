// The boxes that wait: the most promising first, or, when they take too much memory, the youngest.
#pragma once

#include <algorithm>

#include "box.hpp"

namespace quadsweep::regression {

class Frontier {
  public:
    void push(std::unique_ptr<Box> box) {
        held_ += weight(*box);
        if (held_ > most_held) {
            young_.push_back(std::move(box));
        } else {
            heap_.push_back(std::move(box));
            std::push_heap(heap_.begin(), heap_.end(), later);
        }
    }
    std::unique_ptr<Box> pop() {
        std::unique_ptr<Box> box;
        if (young_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            box = std::move(heap_.back());
            heap_.pop_back();
        } else {
            box = std::move(young_.back());
            young_.pop_back();
        }
        held_ -= weight(*box);
        return box;
    }
    bool empty() const { return heap_.empty() && young_.empty(); }
    void clear() {
        heap_.clear();
        young_.clear();
        held_ = 0;
    }
    double upper() const {
        double most = heap_.empty() ? undefined : heap_.front()->upper;
        for (const auto& box : young_) most = std::max(most, box->upper);
        return most;
    }

  private:
    static constexpr std::size_t most_held =
        100'000'000;  // undecided items and cells, 8 bytes each

    static std::size_t weight(const Box& box) { return box.open.size() + box.cell.size() + 256; }
    static bool later(const std::unique_ptr<Box>& p, const std::unique_ptr<Box>& q) {
        return p->upper != q->upper ? p->upper < q->upper : p->priority > q->priority;
    }

    Boxes heap_, young_;
    std::size_t held_ = 0;
};

}  // namespace quadsweep::regression
