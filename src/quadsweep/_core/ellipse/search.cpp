// The least covariance determinant of k points, with a proof: branch and bound over the parameters
// of box.hpp. "k or more" is the same question: dropping the farthest of more than k points lowers
// the determinant (docs/theory/separability.md).
#include <algorithm>
#include <numeric>

#include "plane/concentrate.hpp"
#include "relaxation.hpp"
#include "search/driver.hpp"
#include "search/listing.hpp"
#include "shared/methods.hpp"

namespace quadsweep::ellipse {
namespace {

constexpr int starts = 60;             // random starts
constexpr double most_waiting = 5e8;   // bytes of boxes that wait before it goes depth first
constexpr double most_listed = 2e8;    // subsets that may all be listed, where boxes do not end
constexpr double listed_a_box = 4000;  // subsets in the time of one box
constexpr double serial_work = 1e5;    // points costed before more threads are asked for help

class Search {
  public:
    Search(const Problem& problem, const CertifiedOptions& options, Control& control)
        : problem_(problem),
          options_(options),
          control_(control),
          k_(problem.k),
          relaxation_(problem, options),
          driver_(relaxation_,
                  {problem.n_jobs, serial_work, most_boxes(),
                   std::min(problem.memory_limit / 2, most_waiting), problem.memory_limit},
                  control) {}

    CertifiedAnswer run() {
        begin();
        bool placed = true;
        while (k_ < problem_.size() && !relaxation_.nothing_better() && !control_.stopped()) {
            placed = relaxation_.place_on_reference();
            if (!placed) break;
            driver_.begin(relaxation_.roots());
            driver_.run();
            if (!relaxation_.outdated() || control_.stopped() || relaxation_.decided() ||
                driver_.too_many_boxes()) {
                break;
            }
        }
        if (!placed) driver_.invalidate();  // beyond the search's arithmetic
        const bool open = driver_.too_many_boxes() || !placed ||
                          driver_.standing().deferred > relaxation_.worst_allowed();
        if (open && !control_.stopped() && !relaxation_.nothing_better()) list_all();
        return answer();
    }

  private:
    // ---- the first subsets --------------------------------------------------------------------

    bool halt() {
        driver_.attend();
        return control_.stopped() || relaxation_.decided();
    }
    void begin() {
        std::vector<int> everything(problem_.size());
        std::iota(everything.begin(), everything.end(), 0);
        if (k_ == problem_.size()) relaxation_.offer(everything);
        for (const auto& start : options_.starts) relaxation_.offer(start);
        if (k_ == problem_.size() || halt()) return;
        const Halted halted = [&] { return halt(); };
        const auto offer_from = [&](const std::vector<int>& start) {
            relaxation_.offer(
                concentrate_from(problem_.points, Objective::mcd, k_, start, halted).subset);
        };
        for (const auto& start : options_.starts) {
            if (!start.empty()) offer_from(start);
        }
        for (const auto* column : {&problem_.points.given_x, &problem_.points.given_y}) {
            const std::vector<int> window = neighbours(*column);
            relaxation_.offer(window);
            if (halt() || relaxation_.nothing_better()) return;
            offer_from(window);
        }
        if (halt() || relaxation_.nothing_better()) return;
        const int wanted = options_.starting_lines > 0 ? options_.starting_lines : starts;
        const Incumbent found = concentrate_search(problem_, wanted, control_);
        if (!found.subset.empty()) relaxation_.offer(found.subset);
    }

    // The k points next to each other in a column that lie closest.
    std::vector<int> neighbours(std::span<const double> column) const {
        std::vector<int> order(column.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int i, int j) {
            return column[i] != column[j] ? column[i] < column[j] : i < j;
        });
        std::size_t at = 0;
        double least = infinity;
        for (std::size_t i = 0; i + k_ <= order.size(); ++i) {
            const double width = column[order[i + k_ - 1]] - column[order[i]];
            if (width < least) {
                least = width;
                at = i;
            }
        }
        const auto first = order.begin() + static_cast<std::ptrdiff_t>(at);
        std::vector<int> subset(first, first + k_);
        std::sort(subset.begin(), subset.end());
        return subset;
    }

    // ---- listing instead of boxes -------------------------------------------------------------

    double most_boxes() const {
        const double all = subsets(problem_.size(), k_, most_listed);
        if (all == infinity || options_.enumeration_limit < CertifiedOptions{}.enumeration_limit)
            return infinity;
        return std::min(1000.0, all / 10) + all / listed_a_box;
    }

    // The boxes have cost as much as listing all subsets would, or do not end.
    void list_all() {
        if (subsets(problem_.size(), k_, most_listed) == infinity) return;
        const Answer best = exhaustive(problem_, control_);
        if (!best.inliers.empty()) relaxation_.offer(best.inliers);
        if (control_.stopped()) return;
        driver_.clear();
        listed_ = true;
    }

    CertifiedAnswer answer() {
        CertifiedAnswer a;
        a.inliers = relaxation_.best().subset;
        a.score = relaxation_.best().score;
        a.nodes = driver_.n_boxes();
        a.n_evaluations = driver_.n_evaluations();
        const bool found = relaxation_.decided();
        const Standing standing = driver_.standing();
        const bool searched = relaxation_.placed() && standing.valid && !relaxation_.outdated();
        const bool closed = searched && standing.closed && !control_.stopped();
        bool complete =
            !found && (relaxation_.nothing_better() || listed_ || k_ == problem_.size() ||
                       (closed && standing.deferred == undefined));
        a.bound = 0;
        if (complete) {
            a.bound = proved();
        } else if (!found && searched) {
            a.bound = relaxation_.bound(standing);
            complete = closed && a.bound <= relaxation_.worst_allowed();
        }
        a.decided = found || complete;
        a.status = complete ? Status::optimal : control_.status(Status::heuristic);
        return a;
    }
    // Rounded upwards, with what scoring may have lost.
    double proved() const {
        const Incumbent& best = relaxation_.best();
        if (relaxation_.exact_fit() || !(relaxation_.target() < 0)) return 0;
        if (k_ == problem_.size() || listed_) {
            return options_.above ? relaxation_.target() : best.score;
        }
        const double ulps = best.subset.size() > precise_points ? 64 : 4;
        return std::min(relaxation_.aim() * (1 - ulps * 0x1p-52), 0.0);
    }

    const Problem& problem_;
    const CertifiedOptions& options_;
    Control& control_;
    int k_;
    Relaxation relaxation_;
    Driver<Relaxation> driver_;
    bool listed_ = false;
};

}  // namespace
}  // namespace quadsweep::ellipse

namespace quadsweep {

CertifiedAnswer least_determinant(const Problem& problem, const CertifiedOptions& options,
                                  Control& control) {
    return ellipse::Search(problem, options, control).run();
}

}  // namespace quadsweep
