// The boxes that wait: the one with the highest bound first and, once they take more memory than
// they should, the last one first, so that one branch is finished before the next is opened. Then
// what waits beyond that memory is never more than the boxes along one branch for each thread.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "box.hpp"
#include "branching.hpp"

namespace quadsweep {

class Frontier {
  public:
    // Beyond `memory` bytes, depth first.
    explicit Frontier(double memory) : memory_(memory) {}

    void push(std::unique_ptr<Box> box) {
        tighten(*box);
        bytes_ += bytes(*box);
        if (bytes_ > memory_) {
            branch_.push_back(std::move(box));
        } else {
            heap_.push_back(std::move(box));
            std::push_heap(heap_.begin(), heap_.end(), Later{});
        }
    }
    std::unique_ptr<Box> pop() {
        Boxes& from = branch_.empty() ? heap_ : branch_;
        if (branch_.empty()) std::pop_heap(heap_.begin(), heap_.end(), Later{});
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
    struct Later {
        bool operator()(const std::unique_ptr<Box>& p, const std::unique_ptr<Box>& q) const {
            return p->upper != q->upper ? p->upper < q->upper : p->priority > q->priority;
        }
    };

    template <class T>
    static double bytes(const std::vector<T>& v) {
        return static_cast<double>(v.capacity() * sizeof(T));
    }
    static double bytes(const Box& box) {
        const Undecided& o = box.open;
        double all = sizeof(Box) + bytes(o.cell) + bytes(o.point) + bytes(o.copies);
        if (box.decided) all += bytes(box.decided->cells) + bytes(box.decided->points);
        return all;
    }
    static void tighten(Box& box) {
        for (auto* items : {&box.open.cell, &box.open.point, &box.open.copies}) {
            if (items->capacity() > 2 * items->size()) items->shrink_to_fit();
        }
    }

    double memory_, bytes_ = 0;
    Boxes heap_, branch_;
};

}  // namespace quadsweep
