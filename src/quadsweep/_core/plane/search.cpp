#include "search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "answer.hpp"
#include "closing.hpp"
#include "shared/methods.hpp"
#include "slopes.hpp"
#include "starts.hpp"
#include "tuning.hpp"

namespace quadsweep {

Search::Search(const Problem& problem, const CertifiedOptions& options, Control& control)
    : problem_(problem),
      options_(options),
      control_(control),
      relaxation_(problem, options, [this] { return driver_.halt(); }),
      known_(relaxation_.known),
      driver_(relaxation_,
              {problem.n_jobs, tuning::serial_work, most_boxes(),
               std::min(problem.memory_limit / 2, tuning::most_waiting), problem.memory_limit},
              control) {}

// As many as take the time of listing all subsets.
double Search::most_boxes() const {
    if (options_.enumeration_limit < CertifiedOptions{}.enumeration_limit) return infinity;
    double all = 0;
    for (int size = problem_.k; size <= largest() && all <= tuning::most_listed; ++size) {
        all += subsets(problem_.size(), size, tuning::most_listed);
    }
    if (!(all <= tuning::most_listed)) return infinity;
    return std::min(tuning::boxes_before_listing, all / 10) + all / tuning::listed_a_box;
}

CertifiedAnswer Search::run() {
    if (begin()) search();
    if (driver_.too_many_boxes() && !control_.stopped()) list_all();
    return answer();
}

// The first subsets. False if they already answer the question.
bool Search::begin() {
    if (options_.above) known_.raise(*options_.above);
    known_.set_tolerance();
    offer_starts(problem_, options_, control_, relaxation_.placed, known_);
    known_.set_tolerance();
    if (problem_.k < problem_.size() && !relaxation_.placed.ready()) {
        driver_.invalidate();  // stopped before there was a box
        return false;
    }
    if (known_.target() == undefined) return false;  // no subset has a value
    const double least = problem_.objective == Objective::r2 ? 0 : -1;
    if (is_correlation(problem_.objective) && known_.target() < least) {
        known_.offer_any();  // any subset that has a value is above that
        return false;
    }
    return problem_.k < problem_.size();
}

void Search::search() {
    Placement& placed = relaxation_.placed;
    while (!finished()) {
        driver_.clear();
        if (const auto at = closer(problem_, placed, known_.best().subset, known_.target())) {
            if (!placed.move(problem_, *at, control_)) return driver_.invalidate();
        }
        relaxation_.criterion =
            make_criterion(problem_.objective, placed.ranges, known_.sums(),
                           known_.target() / placed.unit, known_.tol() / placed.unit);
        if (!relaxation_.criterion->valid()) return driver_.invalidate();  // nothing is proved
        driver_.begin(roots());
        // Again, should an exact fit have halted it that was then surpassed.
        do driver_.run();
        while (!driver_.standing().closed && !driver_.halt());
        if (control_.stopped() || known_.decided() || driver_.too_many_boxes()) return;
        // A better value may ask for a finer proof.
        if (driver_.standing().valid && known_.tol() <= known_.tolerance()) return;
        known_.set_tolerance();
    }
}

// The most points a subset may have.
int Search::largest() const { return options_.k_or_more ? problem_.size() : problem_.k; }

// The criterion's, or what is left of them where few of many points are kept.
std::vector<Box> Search::first_boxes() {
    Criterion& criterion = *relaxation_.criterion;
    const LineCriterion* lines = criterion.lines();
    if (lines == nullptr || known_.empty()) return criterion.roots();
    const auto propose = [&](const Moments& m) {
        known_.offer(known_.polished(m, known_.worth()));
        criterion.aim(known_.target() / relaxation_.placed.unit);
    };
    const Scan scan{relaxation_.placed.cells, known_.sums(), static_cast<double>(problem_.k),
                    problem_.n_jobs, propose};
    const double bytes = tuning::scanned_bytes * static_cast<double>(problem_.size());
    if (bytes > problem_.memory_limit / 2 || !worth_scanning(*lines, scan)) {
        return criterion.roots();
    }
    Scanned scanned = scan_slopes(*lines, scan, control_);
    scanned_ += scanned.evaluations;
    lines_ += scanned.lines;
    return std::move(scanned.left);
}

Boxes Search::roots() {
    const Undecided open = everything();
    Boxes boxes;
    for (Box& root : first_boxes()) {
        boxes.push_back(std::make_unique<Box>(std::move(root)));
        boxes.back()->open = open;
        boxes.back()->need = problem_.k;
    }
    return boxes;
}

Undecided Search::everything() const {
    const Cells& cells = relaxation_.placed.cells;
    // k copies of one point have no correlation: keep fewer, and the bound sees it.
    const bool capped = is_correlation(problem_.objective) && !options_.k_or_more &&
                        *std::max_element(cells.weight.begin(), cells.weight.end()) >= problem_.k;
    Undecided open;
    if (capped || !options_.cells || cells.size() <= tuning::whole_points) {
        open.point.resize(cells.size());
        std::iota(open.point.begin(), open.point.end(), 0);
        open.copies.assign(cells.weight.begin(), cells.weight.end());
        if (capped) {
            for (int& c : open.copies) c = std::min(c, problem_.k - 1);
        }
        return open;
    }
    open.cell = {0};
    while (open.cell.size() < tuning::root_cells) {
        std::vector<int> finer;
        for (int at : open.cell) {
            finer.push_back(cells.cell[at].left);
            finer.push_back(cells.cell[at].left + 1);
        }
        open.cell = std::move(finer);
    }
    return open;
}

// The boxes have cost as much as listing all subsets would.
void Search::list_all() {
    Problem sized = problem_;
    for (; sized.k <= largest(); ++sized.k) {
        const Answer best = exhaustive(sized, control_);
#ifdef QUADSWEEP_DEBUG_SOLUTION
        listing_solution = true;
#endif
        if (!best.inliers.empty()) known_.offer(best.inliers);
        if (control_.stopped()) return;
    }
    driver_.clear();
    known_.set_tolerance();
}

CertifiedAnswer Search::answer() const {
    CertifiedAnswer a;
    a.nodes = driver_.n_boxes() + lines_;
    a.n_evaluations = driver_.n_evaluations() + scanned_;
    conclude(problem_, options_, control_, known_, relaxation_.parts, driver_.standing(), a);
    return a;
}

}  // namespace quadsweep
