// The boxes that wait: the one with the highest bound first and, once they take more memory than
// they should, the last one first, so that one branch is finished before the next is opened. Then
// what waits beyond that memory is never more than the boxes along one branch for each thread.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "shared/objectives.hpp"

namespace quadsweep {

// A box has `upper`, which no score of its subsets exceeds, and `missing`, by how much its bound
// failed to close it; bytes(box) is its memory.
template <class Box>
class Frontier {
  public:
    using Boxes = std::vector<std::unique_ptr<Box>>;

    // Beyond `memory` bytes, depth first.
    explicit Frontier(double memory) : memory_(memory) {}

    void push(std::unique_ptr<Box> box) {
        bytes_ += bytes(*box);
        if (bytes_ > memory_) {
            branch_.push_back(std::move(box));
        } else {
            heap_.push_back(std::move(box));
            std::push_heap(heap_.begin(), heap_.end(), later);
        }
    }
    std::unique_ptr<Box> pop() {
        Boxes& from = branch_.empty() ? heap_ : branch_;
        if (branch_.empty()) std::pop_heap(heap_.begin(), heap_.end(), later);
        auto box = std::move(from.back());
        from.pop_back();
        bytes_ -= bytes(*box);
        return box;
    }
    bool empty() const { return heap_.empty() && branch_.empty(); }
    void clear() {
        heap_.clear();
        branch_.clear();
        bytes_ = 0;
    }
    // No subset of any box scores more.
    double upper() const {
        double most = heap_.empty() ? undefined : heap_.front()->upper;
        for (const auto& box : branch_) most = std::max(most, box->upper);
        return most;
    }
    double memory() const { return bytes_; }

  private:
    static bool later(const std::unique_ptr<Box>& p, const std::unique_ptr<Box>& q) {
        return p->upper != q->upper ? p->upper < q->upper : p->missing < q->missing;
    }

    double memory_, bytes_ = 0;
    Boxes heap_, branch_;
};

}  // namespace quadsweep
