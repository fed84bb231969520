// The best subset so far, the score that a box must beat, and how much more than that it must
// promise to stay open.
#pragma once

#include <atomic>
#include <vector>

#include "certified.hpp"
#include "placement.hpp"
#include "search/target.hpp"
#include "selection.hpp"
#include "shared/exact_sums.hpp"
#include "shared/threads.hpp"

namespace quadsweep {

// A selection that concentration steps have led to, and its score where the points are placed.
struct Polished {
    Selection selection;
    double score = undefined;
};

// What `tol` means (docs/certificate.md): absolute for r and r2, else relative to the value; cov
// and dv are differences and may be zero, so no finer than a share of what they are made of.
double tolerance_of(Objective objective, double tol, double target, double made_of);
// sqrt(ab)/k or (a + b)/k; 1 is the scale of the data.
double spread_of(Objective objective, const Centred& sums, double k);

class Incumbents {
  public:
    Incumbents(const Problem& problem, const CertifiedOptions& options, const Placement& placement)
        : problem_(problem),
          options_(options),
          placed_(placement),
          limit_(trivial_bound(problem)) {}

    const Incumbent& best() const { return best_; }
    bool empty() const { return best_.subset.empty(); }
    // The score to be beaten: of the best subset, or the one that was asked for.
    double target() const { return target_; }
    void raise(double score) { target_.raise(score); }
    // No subset scores more, whatever the data; and whether that is reached.
    double limit() const { return limit_; }
    bool at_limit() const { return target() + tol_ >= limit_; }
    // A subset above the threshold that was asked for is found; it need not be the best.
    bool decided() const { return decided_; }

    void offer(const std::vector<int>& subset);
    void offer(const Polished& p);
    // Concentration steps from these moments, given up where they cannot pass `worth`.
    Polished polished(const Moments& about, double worth = undefined) const;
    void polish(const Moments& about) { offer(polished(about)); }
    // Some subset that has a value, whatever it is.
    void offer_any();
    // Whether a score where the points are placed is worth collecting the subset for.
    bool promises(double placed_score, double doubt = 0) const {
        return placed_score * placed_.unit > target() + margin_ + doubt;
    }
    // The least placed score that would do.
    double worth() const { return (target() + margin_) / placed_.unit; }
    double margin() const { return margin_; }

    // Centred sums of the best subset, or of all points.
    Centred sums() const;

    // What `tol` means for the best subset (docs/certificate.md).
    double tolerance() const;
    // Fixes the tolerance that boxes are closed with.
    void set_tolerance();
    double tol() const { return tol_; }
    // Residuals at the level of the rounding of y itself: any bound but 0 would mean nothing.
    bool exact_fit() const { return exact_fit_; }

  private:
    double made_of() const;
    ExactSums sums_of(const std::vector<int>& subset) const;
    bool fits_exactly(const std::vector<int>& subset) const;

    const Problem& problem_;
    const CertifiedOptions& options_;
    const Placement& placed_;
    double limit_;
    Mutex mutex_;
    Incumbent best_;
    Target target_;
    std::atomic<bool> decided_{false}, exact_fit_{false};
    double tol_ = 0, margin_ = 0;
};

}  // namespace quadsweep
