// Branch and bound: the points are placed about a good subset, boxes of the criterion's parameters
// wait in a frontier, threads take them, and what they leave open goes back, until nothing waits.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "answer.hpp"
#include "certified.hpp"
#include "criterion.hpp"
#include "frontier.hpp"
#include "incumbents.hpp"
#include "parts.hpp"
#include "placement.hpp"
#include "shared/threads.hpp"
#include "worker.hpp"

namespace quadsweep {

class Search {
  public:
    Search(const Problem& problem, const CertifiedOptions& options, Control& control);

    CertifiedAnswer run();

  private:
    bool begin();
    void search();
    void place_on_best();
    void grow_roots();
    Undecided everything() const;
    void explore();
    void work(int id);
    Worker worker();
    void process(Worker& worker, std::unique_ptr<Box> box, Boxes& children);
    void count_boxes(Worker& worker);
    void list_all();

    bool finished() const;
    bool halt() const;
    int largest() const;
    Standing standing() const;
    Progress progress() const;
    void attend_unlocked(Lock& lock);
    CertifiedAnswer answer() const;

    const Problem& problem_;
    const CertifiedOptions& options_;
    Control& control_;
    Placement placed_;
    Incumbents known_;
    Parts parts_;
    std::unique_ptr<Criterion> criterion_;
    std::atomic<bool> valid_{true};  // the criterion: what it closed is closed
    std::atomic<bool> too_many_boxes_{false};
    double most_boxes_ = infinity;

    Mutex mutex_;  // of all below
    Condition changed_;
    Frontier frontier_;
    std::vector<double> held_;  // upper ends of the boxes that threads are looking at
    int active_ = 0;
    std::uint64_t boxes_ = 0;
    double looked_at_ = 0;
};

}  // namespace quadsweep
