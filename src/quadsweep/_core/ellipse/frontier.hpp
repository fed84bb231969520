// The boxes that wait: the one with the highest bound first and, once they take more memory than
// they should, the last one first.
#pragma once

#include <algorithm>

#include "box.hpp"

namespace quadsweep::ellipse {

class Frontier {
  public:
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
    double bytes() const { return bytes_; }

  private:
    static bool later(const std::unique_ptr<Box>& p, const std::unique_ptr<Box>& q) {
        return p->upper != q->upper ? p->upper < q->upper : p->priority > q->priority;
    }
    // As if the halves of a box shared nothing.
    static double bytes(const Box& box) {
        double all = sizeof(Box) + 2 * sizeof(int) * static_cast<double>(box.open->point.size());
        if (box.decided) {
            all += sizeof(Decided::Copies) * static_cast<double>(box.decided->points.size());
        }
        return all;
    }

    double memory_, bytes_ = 0;
    Boxes heap_, branch_;
};

}  // namespace quadsweep::ellipse
