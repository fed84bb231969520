// The boxes that wait. The one with the highest bound comes first. Once the boxes exceed a memory
// limit, the newest comes first, so that one branch is finished before the next is opened. Then the
// boxes beyond the limit are at most those along one branch for each thread.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "shared/objectives.hpp"

namespace quadsweep {

// A box has `upper`, the largest score its subsets may have, and `missing`, how far its bound was
// from closing it. bytes(box) is its memory.
template <class Box>
class Frontier {
  public:
    using Boxes = std::vector<std::unique_ptr<Box>>;

    // Beyond `memory` bytes, boxes are taken depth first.
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
    // No subset of a waiting box scores more than this.
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
