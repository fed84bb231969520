#include "relaxation.hpp"

#include <cmath>
#include <numeric>

#include "plane/closing.hpp"
#include "plane/concentrate.hpp"

namespace quadsweep::ellipse {
namespace {

constexpr double moved = 0.5;        // a determinant that falls by this wants another placing
constexpr double far = 0x1p150;      // coordinates whose costs may leave the range of a double
constexpr int farthest = 850;        // exponent of a spread, so that residuals do not underflow
constexpr double log_split = 1.5;    // ratio of the ends beyond which l is halved as a logarithm
constexpr double narrowest = 1e-13;  // width of a box that splitting does not narrow any more
// Of the points costed, for concentration from centres: at first, and after so many times all
// points, where they are many. The subsets that replace those of the starts are nearly all found at
// first.
constexpr double explored_first = 0.1, explored_later = 0.02;
constexpr double explored_enough = 20;
constexpr int many_points = 1000;
constexpr int hidden_listing = 1000;  // times as many are listed where rounding hides the bound

double centre(const Box& box, Parameter p) {
    if (p == L && box.hi[L] > log_split * box.lo[L]) {
        return std::sqrt(box.lo[L]) * std::sqrt(box.hi[L]);
    }
    return box.lo[p] + box.half(p);
}
bool divisible(const Box& box, Parameter p) {
    return box.hi[p] - box.lo[p] > narrowest * box.most(p) && centre(box, p) > box.lo[p] &&
           centre(box, p) < box.hi[p];
}

}  // namespace

void Relaxation::offer(const std::vector<int>& subset) {
    if (static_cast<int>(subset.size()) != k_) return;
    const double score = accurate_score(problem_.points, subset, Objective::mcd);
    if (score == undefined) return;
#ifdef QUADSWEEP_DEBUG_SOLUTION
    if (hides_solution(score, solution_score())) return;
#endif
    const Lock lock(mutex_);
    reference_.offer(score, subset);
    if (options_.above && !(score > *options_.above)) return;
    if (best_.offer(score, subset)) {
        target_.raise(score);
        exact_fit_ = fits_exactly();
        if (placed_ && score > placed_score_ * moved) outdated_ = true;
    }
    if (options_.above) decided_ = true;
}

ExactSums Relaxation::reference_sums() const {
    const Points& p = problem_.points;
    return exact_sums(p.given_x, p.given_y, reference_.subset,
                      k_ <= static_cast<int>(precise_points));
}

// All on a line, at the level of the rounding of the numbers given: any bound but 0 would mean
// nothing.
bool Relaxation::fits_exactly() const {
    const ExactSums s = reference_sums();
    return !(s.a.hi > 0 && s.b.hi > 0 && s.rest.hi > 0x1p-100 * s.b.hi);
}

bool Relaxation::place_on_reference() {
    const ExactSums sums = reference_sums();
    const double k = k_;
    Placing at;
    at.slope = std::ldexp((sums.c / sums.a).value(), sums.ey - sums.ex);
    at.ex = std::ilogb(std::sqrt(sums.a.hi / k)) + sums.ex;
    at.ey = std::ilogb(std::sqrt(sums.rest.hi / k)) + sums.ey;
    if (!std::isfinite(at.slope) || std::max(std::abs(at.ex), std::abs(at.ey)) > farthest) {
        return false;
    }
    for (int i : reference_.subset) {
        at.x0 += problem_.points.given_x[i] / k;
        at.y0 += problem_.points.given_y[i] / k;
    }
    return place(at);
}

bool Relaxation::place(const Placing& at) {
    const Points& p = problem_.points;
    cells_ = make_cells(p, at, problem_.n_jobs);
    unit_ = std::ldexp(1.0, 2 * (at.ex - p.ex) + 2 * (at.ey - p.ey));
    placed_ = true;
    outdated_ = false;
    placed_score_ = reference_.score;
    if (!(std::max(cells_.reach_x, cells_.reach_y) < far) || !std::isnormal(unit_)) return false;
    if (!std::isnormal(target() / unit_)) return false;
    ranges_ = ranges(cells_, k_);
    return ranges_.valid();
}

Boxes Relaxation::roots() const {
    auto open = std::make_shared<Undecided>();
    open->point.resize(cells_.size());
    std::iota(open->point.begin(), open->point.end(), 0);
    open->copies.assign(cells_.weight.begin(), cells_.weight.end());
    Boxes boxes;
    for (const Rectangle& root : ranges_.roots()) {
        auto box = std::make_unique<Box>();
        static_cast<Rectangle&>(*box) = root;
        box->ranges = ranges_;
        box->ranged = true;
        box->open = open;
        box->need = k_;
        boxes.push_back(std::move(box));
    }
    return boxes;
}

// ---- one thread's look at a box -----------------------------------------------------------------

bool Relaxation::Worker::aim() {
    t_ = -r_.aim() / r_.unit_;
    bounder_.aim(t_);
    return true;
}

#ifdef QUADSWEEP_DEBUG_SOLUTION
double Relaxation::solution_score() const {
    const std::vector<int>& rows = debug_solution.rows;
    if (static_cast<int>(rows.size()) != k_) return undefined;
    return accurate_score(problem_.points, rows, Objective::mcd);
}

double Relaxation::Worker::solution_score() const {
    const double score = r_.solution_score();
    return score != undefined && r_.worth(score) ? score : undefined;
}

bool Relaxation::Worker::holds_solution(const Box& box, bool loosely) const {
    if (solution_score() == undefined) return false;
    const Cells& cells = r_.cells_;
    const std::vector<int>& rows = debug_solution.rows;
    Moments m;
    for (int p = 0; p < cells.size(); ++p) {
        for (int row : cells.members(p)) {
            if (std::binary_search(rows.begin(), rows.end(), row)) m.add(cells.x[p], cells.y[p]);
        }
    }
    const double k = r_.k_;
    const Centred s = centred(m, k);
    double own[parameters];
    own[L] = std::sqrt(s.b / k);
    own[S] = -s.c / s.b;
    own[A] = m.x / k + own[S] * m.y / k;
    own[Y] = m.y / k;
    for (Parameter p : {L, S, A, Y}) {
        if (!is_between(own[p], box.middle(p), box.half(p), std::fabs(own[p]) + 1, loosely)) {
            return false;
        }
    }
    return agrees_with_solution(box.decided.get(), *box.open, cells.cell, cells.weight,
                                [&](int p) { return cells.members(p); });
}
#endif

Ending Relaxation::Worker::bound(Box& box) {
    if (!bounder_.load(box)) return Ending::closed;
    const Choice choice = bounder_.plain(box);
    offer_centre(box, choice);
    if (bounder_.close(choice)) return Ending::closed;
    // What is missing of a mean cost, det / t times at least lo / hi is missing of det / t.
    missing_ = bounder_.missing() / r_.k_ * (box.hi[L] / box.lo[L]);
    return Ending::open;
}

void Relaxation::Worker::offer_centre(const Box& box, const Choice& choice) {
    const double k = r_.k_;
    if (!(std::fabs(choice.weight - k) < 0.5 * k)) return;
    const Centred m = centred(choice.moments, choice.weight);
    const double det = (m.a * m.b - m.c * m.c) / (choice.weight * choice.weight);
    // Of exactly k points: those that are missing, or too many, cost about the threshold, and the
    // points of an ellipse 2 each.
    const bool many = r_.cells_.size() > many_points;
    const double missing = many ? k / choice.weight - 1 : 0;
    if (!(det * std::exp(missing * (choice.lambda - 2)) < t_)) {
        if (!(det < 2 * t_) || box.depth % 4 != 0) return;
        const double costed = bounder_.n_evaluations, first = explored_first * costed;
        const double later = explored_later * costed + explored_enough * r_.cells_.size();
        if (explored_ > (many ? std::min(first, later) : first)) return;
    }
    Selection from;
    const double f = k / choice.weight;
    const Moments& c = choice.moments;
    from.moments = {f * c.x, f * c.y, f * c.xx, f * c.xy, f * c.yy};
    double score = undefined;
    const Selection found =
        concentrate(r_.cells_, from, Objective::mcd, k, score, r_.target() / r_.unit_);
    explored_ += found.n_evaluations;
    if (found.weight == k && score * r_.unit_ > r_.aim()) r_.offer(indices(r_.cells_, found));
}

double Relaxation::Worker::upper(const Box&) const {
    return -t_ * std::max(0.0, 1 - missing_) * r_.unit_;
}

Ending Relaxation::Worker::fix(Box& box) {
    hidden_ = hidden_by_rounding(box);
    return bounder_.fix(box) ? Ending::open : Ending::closed;
}

// Where neither the bound nor what the box's width costs it is clear of the rounding.
bool Relaxation::Worker::hidden_by_rounding(const Box& box) const {
    double width = 0;
    for (Parameter p : {L, S, A, Y}) width += bounder_.width_cost(box, p);
    const double error = bounder_.error();
    return !(bounder_.missing() > 5 * error) && !(r_.k_ * width > 16 * error);
}

bool Relaxation::Worker::enumerate(const Box& box) {
    const std::int64_t most = r_.options_.enumeration_limit * (hidden_ ? hidden_listing : 1);
    if (ways(*box.open, box.need, false, most) > most) return false;
    const Slack slack = listing_slack(64, box.need);
    list_ways(r_.cells_, *box.open, box.need, false, box.kept,
              [&](const Moments& m, double k, const Picks& picks) {
                  const double best = optimistic(Objective::mcd, centred_range(m, k, slack), k);
                  if (best < -t_) return;
                  Selection all;
                  all.points = all_kept(box.decided.get(), picks, r_.cells_.size()).points;
                  r_.offer(indices(r_.cells_, all));
              });
    return true;
}

// A box that rounding keeps open, or that is as narrow as can be, is not split any more.
Ending Relaxation::Worker::branch(std::unique_ptr<Box> box, Boxes& children) {
    if (hidden_) return Ending::deferred;
    Parameter widest = L;
    double most = -1;
    for (Parameter p : {L, S, A, Y}) {
        const double cost = bounder_.width_cost(*box, p);
        if (cost > most && divisible(*box, p)) {
            most = cost;
            widest = p;
        }
    }
    if (most < 0) return Ending::deferred;
    ++box->depth;
    const double middle = centre(*box, widest);
    auto other = std::make_unique<Box>(*box);
    box->hi[widest] = middle;
    other->lo[widest] = middle;
    children.push_back(std::move(box));
    children.push_back(std::move(other));
    return Ending::open;
}

}  // namespace quadsweep::ellipse
