// What the one search (search/driver.hpp) needs to know of multiple regression: the data where they
// are placed, the best subset so far, and how one thread bounds a box of theta.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "bound.hpp"
#include "box.hpp"
#include "search.hpp"
#include "search/driver.hpp"
#include "search/target.hpp"
#include "shared/threads.hpp"

namespace quadsweep::regression {

class Relaxation {
  public:
    using Box = regression::Box;
    class Worker;

    Relaxation(const Table& table, const Options& options, const Control& control);

    // Puts the columns where the fit of these units is the origin. Like the tree, not done, or not
    // in full, where time is over.
    void place_on(const std::vector<int>& reference);
    void make_tree(int leaf_items);
    void aim() { form_.aim(threshold()); }
    // Whether what takes long with many rows is to be left half done.
    bool over() const;

    // ---- the best so far --------------------------------------------------------------------
    void offer(std::vector<int> units);
    // Where rounding hides the score, 32 digits must tell.
    bool promises(const Own& own) const {
        return own.best == infinity || in_table_units(own.best) > target() + margin();
    }
    const Incumbent& best() const { return best_; }
    // Subsets that may be better, as far as 32 digits tell; nothing is proved where they are too
    // many.
    const std::vector<std::vector<int>>& unclear() const { return unclear_; }
    bool too_many_unclear() const { return too_many_unclear_; }
    double target() const { return target_; }
    void raise(double score) { target_.raise(score); }
    // A subset above the threshold is known, not necessarily the best.
    bool decided() const { return decided_; }
    // No subset scores more, whatever the data.
    double limit() const;
    double tolerance() const;
    // A subset is worth collecting if it beats the target by this.
    double margin() const { return tolerance() / 100; }
    // What the criterion is aimed at, in the search's units.
    double threshold() const;
    double in_table_units(double score) const {
        return table_.kind == Kind::lts ? score * placed_.y_scale * placed_.y_scale : score;
    }
    bool at_limit() const {
        return fits_exactly_ || (is_fit(table_.kind) && target() + tolerance() >= limit());
    }

    // ---- for the driver ---------------------------------------------------------------------
    bool finished() const { return decided_ || too_many_unclear_; }
    bool worth(double upper) const {
        return !decided_ && !at_limit() && !(upper <= target() + tolerance());
    }
    double bound(const Standing& standing) const;
    Progress progress(const Standing& standing) const { return {target(), bound(standing), 0, 0}; }

    const Table& table() const { return table_; }
    const Options& options() const { return options_; }
    const Control& control() const { return control_; }
    const Items& items() const { return items_; }
    const Cells& cells() const { return cells_; }
    const Form& form() const { return form_; }
    bool no_value() const { return no_value_; }

  private:
    double sum_least_total() const;
#ifdef QUADSWEEP_DEBUG_SOLUTION
    double solution_score() const;
#endif
    void leave_open(const std::vector<int>& units, double most);

    const Table& table_;
    const Options& options_;
    const Control& control_;
    Identical identical_;
    Placed placed_;
    Items items_;
    Cells cells_;
    Form form_;
    bool no_value_ = false;
    double least_total_ = 0;
    Target target_;
    std::atomic<bool> decided_{false}, too_many_unclear_{false};
    std::atomic<bool> fits_exactly_{false};  // lts: nothing but rounding is left
    Mutex mutex_;
    Incumbent best_;
    std::vector<std::vector<int>> unclear_;
};

class Relaxation::Worker {
  public:
    explicit Worker(Relaxation& relaxation);

    bool aim();
    Ending bound(Box& box);
    void propose(const Box&) {}  // `bound` has, from the centre
    double upper(const Box& box) const;
    double missing() const { return bounder_.error() - bounder_.least(); }
    Ending fix(Box& box);
    bool enumerate(const Box& box);
    Ending branch(std::unique_ptr<Box> box, Boxes& children);
    double n_evaluations() const { return bounder_.n_evaluations; }
#ifdef QUADSWEEP_DEBUG_SOLUTION
    bool holds_solution(const Box& box, bool loosely) const;
    double solution_score() const;
#endif

  private:
    void offer_centre(const Box& box);
    void choose_tau(Box& box);
    bool fine_enough(const Box& box) const;
    int rows_in_cells(const Box& box) const;

    Relaxation& r_;
    Bounder bounder_;
    Choice choice_;          // at the centre of the box
    bool by_items_ = false;  // only deciding items can close it
    bool again_ = false;     // so little of it is left that it is bounded again
    double explored_ = 0;    // rows costed for proposals
};

}  // namespace quadsweep::regression
