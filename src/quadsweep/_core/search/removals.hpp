// Searches for units whose removal breaks a claim. Nodes are branched on units, and the first
// removal found ends the search.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "driver.hpp"
#include "shared/threads.hpp"

namespace quadsweep {

// Base of such relaxations: what threads share.
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

// Base of workers that only bound and branch: they neither propose nor list.
class RemovalWorker {
  public:
    bool aim() const { return true; }
    void propose(const auto&) const {}
    bool enumerate(const auto&) const { return false; }
    double n_evaluations() const { return evaluations_; }

  protected:
    double evaluations_ = 0;
};

// Result of a search from one node. `refuted`: it finished and no removal breaks the claim.
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
