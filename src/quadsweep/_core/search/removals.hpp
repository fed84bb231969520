// Searches for units whose removal breaks a claim: nodes are branched on units, and the first
// removal that is found ends them.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "driver.hpp"
#include "shared/threads.hpp"

namespace quadsweep {

// A relaxation without its worker.
class RemovalSearch {
  public:
    bool finished() const { return found_; }
    bool worth(double) const { return true; }
    Progress progress(const Standing& standing) const {
        Progress now;
        now.bound = standing.open;
        return now;
    }
    void offer(const std::vector<int>& gone) {
        const Lock lock(mutex_);
        removal = gone;
        found_ = true;
    }

    std::vector<int> removal;

  protected:
    Mutex mutex_;

  private:
    std::atomic<bool> found_{false};
};

// What a worker has whose bound() is all that it does with a node but branching.
class RemovalWorker {
  public:
    bool aim() const { return true; }
    void propose(const auto&) const {}
    bool enumerate(const auto&) const { return false; }
    double n_evaluations() const { return evaluations_; }

  protected:
    double evaluations_ = 0;
};

// Searches from one node. `refuted`: there is no removal, and no limit came first.
struct RemovalsSearched {
    bool refuted;
    std::int64_t nodes;
};
template <class R>
RemovalsSearched search_removals(R& search, std::unique_ptr<typename R::Box> root,
                                 const Limits& limits, Control& control) {
    Driver<R> driver(search, limits, control);
    std::vector<std::unique_ptr<typename R::Box>> roots;
    roots.push_back(std::move(root));
    driver.begin(std::move(roots));
    driver.run();
    const Standing standing = driver.standing();
    const bool refuted = standing.closed && standing.valid && standing.deferred == undefined &&
                         !search.finished() && !driver.too_many_boxes() && !control.stopped();
    return {refuted, static_cast<std::int64_t>(driver.n_boxes())};
}

}  // namespace quadsweep
