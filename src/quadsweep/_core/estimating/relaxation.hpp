// The relaxation by multipliers, as the search (search/driver.hpp) wants it: is there a removal of
// `fewest` to `most` items that breaks a claim?
//
// The bound of a box is the worst of its corners, each the least sum of costs with so many items
// removed. An item is decided where its going, or staying, would lift the bound at every corner
// above zero; removals of what is undecided are listed once they are few. Along an edge of the box
// the bound is above the chord of its ends, so where all chords of one direction are above zero the
// box ends earlier.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "ascent.hpp"
#include "box.hpp"
#include "equations.hpp"
#include "removals.hpp"
#include "search/relaxation.hpp"
#include "shared/threads.hpp"

namespace quadsweep::estimating {

struct Question {
    std::function<std::unique_ptr<Equations>()> equations;
    std::function<std::unique_ptr<Refits>()> refits;
    int fewest = 1, most = 1;  // items removed
    double enumerate = 2000;   // removals that are listed rather than split further
    std::size_t most_unclear = 1000;
};

class Bounder;

class MultiplierRelaxation {
  public:
    using Box = estimating::Box;
    using Worker = Bounder;

    explicit MultiplierRelaxation(const Question& question) : question_(question) {}

    bool finished() const { return over_.load(std::memory_order_relaxed); }
    bool worth(double upper) const { return upper > 0; }
    Progress progress(const Standing&) const { return {}; }

    const Question& question() const { return question_; }
    // A removal that was refitted; false where no more are wanted.
    bool note(Verdict verdict, const std::vector<int>& removal);
    const std::vector<int>& breaking() const { return breaking_; }
    const std::vector<std::vector<int>>& unclear() const { return unclear_; }

  private:
    Question question_;
    std::atomic<bool> over_{false};
    Mutex mutex_;
    std::vector<int> breaking_;
    std::vector<std::vector<int>> unclear_;
};

// One thread's look at boxes.
class Bounder {
  public:
    explicit Bounder(MultiplierRelaxation& relaxation);

    bool aim() { return true; }
    Ending bound(Box& box);
    void propose(const Box& box);
    double upper(const Box&) const { return -worst_; }
    double missing() const { return -worst_; }
    Ending fix(Box& box);
    bool enumerate(Box& box);
    Ending branch(std::unique_ptr<Box> box, std::vector<std::unique_ptr<Box>>& children);
    double n_evaluations() const { return evaluations_; }

  private:
    // The least sum at a corner and the thresholds between what goes and what stays.
    struct Selection {
        double value = 0, stays = 0, goes = 0;
    };
    // `guess` is a cost that is reached by more items than go, if by a few more only; a new one is
    // left in its place.
    Selection select(const double* cost, const Box& box, double& guess);
    double attempt(const Box& box, const double* multiplier);
    void evaluate_corners(const Box& box);
    void cut(Box& box) const;

    MultiplierRelaxation& relaxation_;
    std::unique_ptr<Equations> f_;
    std::unique_ptr<Refits> fits_;
    Ascent ascent_;
    int corners_;
    int fewest_ = 0, most_ = 0;    // still to be removed from the open items
    std::vector<double> counted_;  // 0 of what is out, else 1
    std::vector<double> cost_, chosen_;
    std::vector<double> guess_;            // of each corner
    std::vector<std::vector<double>> at_;  // costs at each corner
    std::vector<Selection> selection_;
    std::vector<int> order_;  // of the corners, the worst ones first
    std::vector<int> last_;   // removal proposed before
    double best_[most_multipliers] = {}, best_value_ = 0;
    double worst_ = 0, error_ = 0, evaluations_ = 0;
};

}  // namespace quadsweep::estimating
