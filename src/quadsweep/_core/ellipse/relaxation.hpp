// What the one search (search/driver.hpp) needs to know of the covariance determinant: the points
// where they are placed, the best subset so far, and how one thread bounds a box (box.hpp).
//
// A score is minus a determinant, in the units of problem.points.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "bound.hpp"
#include "plane/certified.hpp"
#include "root.hpp"
#include "search/debug_solution.hpp"
#include "search/relaxation.hpp"
#include "search/target.hpp"
#include "shared/exact_sums.hpp"
#include "shared/threads.hpp"

namespace quadsweep::ellipse {

class Relaxation {
  public:
    using Box = ellipse::Box;
    class Worker;

    Relaxation(const Problem& problem, const CertifiedOptions& options)
        : problem_(problem), options_(options), k_(problem.k) {
        if (options.above) target_.raise(*options.above);
    }

    // Coordinates in which the best subset is about as wide as it is high, without a tilt, around
    // the origin. Changes every determinant by the same power of two. False beyond the search's
    // arithmetic.
    bool place_on_reference();
    Boxes roots() const;

    // ---- the best so far --------------------------------------------------------------------
    void offer(const std::vector<int>& subset);
    const Incumbent& best() const { return best_; }
    double target() const { return target_; }
    // What no subset of a closed box passes.
    double aim() const { return target() * (1 - std::max(0.8 * problem_.tol, 1e-15)); }
    // The bound of an optimal answer.
    double worst_allowed() const { return target() * (1 - std::max(problem_.tol, 1e-14)); }
    // A subset above the threshold is known, not necessarily the best.
    bool decided() const { return decided_; }
    bool exact_fit() const { return exact_fit_; }
    bool nothing_better() const { return decided_ || exact_fit_ || !(target() < 0); }
    bool placed() const { return placed_; }
    // So much better a subset is known that the points are to be placed on it.
    bool outdated() const { return outdated_; }

    // ---- for the driver ---------------------------------------------------------------------
    bool finished() const { return decided_ || outdated_; }
    bool worth(double upper) const { return !nothing_better() && !(upper <= aim()); }
    double bound(const Standing& standing) const {
        return std::min(std::max(standing.open, aim()), 0.0);
    }
    Progress progress(const Standing& standing) const {
        const bool known = placed_ && target() != undefined;
        return {target(), known ? bound(standing) : 0, 0, 0};
    }

  private:
#ifdef QUADSWEEP_DEBUG_SOLUTION
    double solution_score() const;
#endif
    ExactSums reference_sums() const;
    bool fits_exactly() const;
    bool place(const Placing& at);

    const Problem& problem_;
    const CertifiedOptions& options_;
    int k_;
    double unit_ = 1;  // of the placed coordinates
    Cells cells_;
    Ranges ranges_{};
    bool placed_ = false;
    double placed_score_ = undefined;
    std::atomic<bool> exact_fit_{false}, decided_{false}, outdated_{false};
    Target target_;
    Mutex mutex_;
    Incumbent best_;
    // The same, whether above the threshold or not: the search is placed on it.
    Incumbent reference_;
};

class Relaxation::Worker {
  public:
    explicit Worker(Relaxation& relaxation) : r_(relaxation), bounder_(relaxation.cells_) {}

    bool aim();
    Ending bound(Box& box);
    void propose(const Box&) {}  // `bound` has, from the centre
    double upper(const Box& box) const;
    double missing() const { return missing_; }
    Ending fix(Box& box);
    bool enumerate(const Box& box);
    Ending branch(std::unique_ptr<Box> box, Boxes& children);
    double n_evaluations() const { return bounder_.n_evaluations; }
#ifdef QUADSWEEP_DEBUG_SOLUTION
    bool holds_solution(const Box& box, bool loosely) const;
    double solution_score() const;
#endif

  private:
    void offer_centre(const Box& box, const Choice& choice);
    bool hidden_by_rounding(const Box& box) const;

    Relaxation& r_;
    Bounder bounder_;
    double t_ = 1;         // the determinant that is asked for, placed
    double missing_ = 0;   // of det / t
    bool hidden_ = false;  // by rounding
    double explored_ = 0;
};

}  // namespace quadsweep::ellipse
