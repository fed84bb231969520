#include "incumbents.hpp"

#include <algorithm>
#include <cmath>

#include "search/debug_solution.hpp"
#include "shared/exact_sums.hpp"

namespace quadsweep {
namespace {

constexpr double least_share = 8e-13;  // of what cov and dv are made of: their finest tolerance

}  // namespace

// A little less than asked, so that the gap as reported keeps to it however it is rounded.
double tolerance_of(Objective objective, double tol, double target, double made_of) {
    const double share = std::max(0.8 * tol, 1e-15);
    if (is_correlation(objective)) return share;
    if (target == undefined) return 0;
    const double relative = share * std::fabs(target);
    if (objective == Objective::tv || objective == Objective::lts) return relative;
    return std::max(relative, least_share * made_of);
}

double spread_of(Objective objective, const Centred& m, double k) {
    return objective == Objective::cov ? std::sqrt(std::fmax(m.a * m.b, 0)) / k : (m.a + m.b) / k;
}

void Incumbents::offer(const std::vector<int>& subset) {
    if (static_cast<int>(subset.size()) < problem_.k) return;
    const double score = accurate_score(problem_.points, subset, problem_.objective);
    if (score == undefined || (options_.above && !(score > *options_.above))) return;
#ifdef QUADSWEEP_DEBUG_SOLUTION
    if (!debug_solution.rows.empty() && options_.depth == 0 && !listing_solution &&
        score >= accurate_score(problem_.points, debug_solution.rows, problem_.objective) - tol_) {
        return;
    }
#endif
    const Lock lock(mutex_);
    if (score == best_.score && fits_exactly(best_.subset) != fits_exactly(subset)) {
        // Of two equals the exact fit: nothing more can be asked of it.
        if (fits_exactly(subset)) best_.subset = subset;
        exact_fit_ = true;
    } else if (best_.offer(score, subset)) {
        raise(score);
        exact_fit_ = fits_exactly(subset);
    }
    if (options_.above) decided_ = true;
}

Polished Incumbents::polished(const Moments& about, double worth) const {
    Polished p;
    p.selection.moments = about;
    p.selection =
        concentrate(placed_.cells, p.selection, problem_.objective, problem_.k, p.score, worth);
    return p;
}

void Incumbents::offer(const Polished& p) {
    if (p.selection.weight == problem_.k && promises(p.score)) {
        offer(indices(placed_.cells, p.selection));
    }
}

// Data so degenerate that no start has a value: two points with different x and, if their y agree,
// a third with another y make one that has, whatever else is kept.
void Incumbents::offer_any() {
    const auto &x = problem_.points.given_x, &y = problem_.points.given_y;
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    const auto i = low - x.begin(), j = high - x.begin();
    const auto other = std::find_if(y.begin(), y.end(), [&](double v) { return v != y[i]; });
    std::vector<char> kept(problem_.size(), 0);
    if (is_correlation(problem_.objective)) {
        if (*low == *high || other == y.end()) return;
        kept[i] = kept[j] = 1;
        if (y[i] == y[j]) kept[other - y.begin()] = 1;
    }
    auto missing = problem_.k - std::count(kept.begin(), kept.end(), 1);
    for (char& point : kept) {
        if (missing > 0 && point == 0) {
            point = 1;
            --missing;
        }
    }
    std::vector<int> subset;
    for (int q = 0; q < problem_.size(); ++q) {
        if (kept[q] != 0) subset.push_back(q);
    }
    offer(subset);
}

Centred Incumbents::sums() const {
    if (empty()) return centred(placed_.cells.cell[0].sums, problem_.size());
    return centred(placed_.moments_of(problem_.points, best_.subset),
                   static_cast<double>(best_.subset.size()));
}

// A threshold asked about with no tolerance has none but the last digits of itself: what k rows
// close together give may lie far below any share of the data's scale.
double Incumbents::tolerance() const {
    const Objective o = problem_.objective;
    const bool difference = o == Objective::cov || o == Objective::dv;
    const bool to_the_letter = options_.above && problem_.tol == 0;
    return tolerance_of(o, problem_.tol, target(), difference && !to_the_letter ? made_of() : 0);
}

// From the rows as given: far from where the points are placed, nothing of it would be left.
double Incumbents::made_of() const {
    if (empty() || !placed_.ready()) return 1;
    const ExactSums s = sums_of(best_.subset);
    const double k = static_cast<double>(best_.subset.size());
    const int unit = value_exponent(problem_.points, problem_.objective);
    if (problem_.objective == Objective::cov) {
        return std::ldexp(std::sqrt(s.a.hi) * std::sqrt(s.b.hi) / k, s.ex + s.ey - unit);
    }
    return (std::ldexp(s.a.hi, 2 * s.ex - unit) + std::ldexp(s.b.hi, 2 * s.ey - unit)) / k;
}

// Where the value may still fall, room for it to do so without a second search.
void Incumbents::set_tolerance() {
    tol_ = sense(problem_.objective) < 0 ? 0.7 * tolerance() : tolerance();
    // No difference below this is worth collecting a subset for.
    margin_ = tol_ / 100;
}

ExactSums Incumbents::sums_of(const std::vector<int>& subset) const {
    const Points& p = problem_.points;
    return exact_sums(p.given_x, p.given_y, subset, subset.size() <= precise_points);
}

bool Incumbents::fits_exactly(const std::vector<int>& subset) const {
    if (problem_.objective != Objective::lts || subset.empty()) return false;
    const ExactSums sums = sums_of(subset);
    return sums.rest.hi <= 0x1p-100 * sums.b.hi;
}

}  // namespace quadsweep
