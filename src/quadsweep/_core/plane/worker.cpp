#include "worker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "concentrate.hpp"
#include "search/debug_solution.hpp"
#include "tuning.hpp"

namespace quadsweep {

// ---- boxes over cells -----------------------------------------------------------------------

CellWorker::CellWorker(const Cells& cells, const Criterion& criterion, bool k_or_more, double unit)
    : cells_(cells),
      k_or_more_(k_or_more),
      unit_(unit),
      criterion_(criterion.clone()),
      bounder_(cells, k_or_more),
      opener_(*criterion_, bounder_) {}

bool CellWorker::listable(double copies) { return copies <= tuning::listable_copies; }

bool CellWorker::branch(std::unique_ptr<Box> box, bool in_points, Boxes& children) {
    if (!in_points) {
        split(std::move(box), *criterion_, worst_, children);
    } else if (box->open.cell.empty()) {
        branch_on_copies(std::move(box), *criterion_, cells_, children);
    } else {
        const auto before = box->open.cell;
        bounder_.open_level(*box);
        if (box->open.cell == before) return false;
        children.push_back(std::move(box));
    }
    for (auto& child : children) child->open.shrink();
    return true;
}

// The moments of what is chosen at the centre, as if of k points.
Moments CellWorker::rescaled(double k) const {
    const double f = k / choice_.weight;
    const Moments& m = choice_.moments;
    return {f * m.x, f * m.y, f * m.xx, f * m.xy, f * m.yy};
}

// ---- rows in memory -------------------------------------------------------------------------

Progress PlaneRelaxation::progress(const Standing& standing) const {
    return {known.target(), live_bound(known, parts, standing), 0, 0};
}

Worker::Worker(PlaneRelaxation& r)
    : CellWorker(r.placed.cells, *r.criterion, r.options.k_or_more, r.placed.unit), r_(r) {}

bool Worker::aim() { return CellWorker::aim(r_.known.target() / unit_); }

Ending Worker::bound(Box& box) {
    return close(box) == Ending::closed ? Ending::closed : Ending::open;
}

#ifdef QUADSWEEP_DEBUG_SOLUTION
double Worker::solution_score() const {
    const std::vector<int>& rows = debug_solution.rows;
    if (rows.empty() || r_.options.depth > 0 || std::ssize(rows) < r_.problem.k) return undefined;
    const double score = accurate_score(r_.problem.points, rows, r_.problem.objective);
    return r_.worth(score) && score > r_.parts.bound() ? score : undefined;
}

bool Worker::holds_solution(const Box& box, bool loosely) const {
    const std::vector<int>& rows = debug_solution.rows;
    if (solution_score() == undefined) return false;
    const auto own = criterion_->own(box.frame, r_.placed.moments_of(r_.problem.points, rows),
                                     static_cast<double>(rows.size()));
    if (!own) return false;
    const double place[] = {own->x, own->y}, far = std::fabs(own->x) + std::fabs(own->y) + 1;
    for (int i = 0; i < 2; ++i) {
        if (box.half[i] == 0) continue;  // a parameter that is not searched
        if (!is_between(place[i], box.centre[i], box.half[i], far, loosely)) return false;
    }
    return agrees_with_solution(box.decided.get(), box.open, cells_.cell, cells_.weight,
                                [&](int p) { return cells_.members(p); });
}
#endif

Ending Worker::fix(Box& box) {
    if (!decide_points(box)) return Ending::closed;
    const bool hidden_by_rounding = !(bound_.least() < -4 * bound_.error);
    if (hidden_by_rounding && r_.parts.resolve(rows_of(cells_, box))) return Ending::closed;
    in_points_ = wants_points(box);
    return Ending::open;
}

bool Worker::enumerate(Box& box) {
    const std::int64_t most =
        r_.options.enumeration_limit * (in_points_ ? tuning::stuck_listing : 1);
    // Of the decided moments, of up to `need` points added to them, and of placing them.
    const Slack slack = listing_slack(40.0 + cells_.roundings, box.need);
    return visit(r_.problem.objective, [&]<class O>() {
        return list(box, most, [&](const Moments& m, double kept, const Picks& picks) {
            const double best = O::optimistic(centred_range(m, kept, slack), kept);
            if (!(best * unit_ <= r_.known.target() + r_.known.margin())) {
                r_.known.offer(collect(cells_, box, picks));
            }
        });
    });
}

Ending Worker::branch(std::unique_ptr<Box> box, Boxes& children) {
    CellWorker::branch(std::move(box), in_points_, children);
    return Ending::open;
}

void Worker::propose(const Box& box) {
    const double k = r_.problem.k;
    if (std::fabs(choice_.weight - k) > tuning::weight_doubt * k) return;
    const bool coarse = !box.open.cell.empty();
    // Cells that straddle the threshold count in part: their score promises a little too much.
    const double doubt = coarse ? tuning::coarse_doubt * std::fabs(r_.known.target()) : 0;
    if (!r_.known.promises(score_of_choice(choice_.moments, choice_.weight), doubt)) {
        if (coarse && choice_.value < 0) explore();
    } else if (coarse) {
        r_.known.polish(rescaled(k));
    } else if (const auto whole = filled(box)) {
        if (r_.known.promises(score_of_choice(*whole, k))) r_.known.polish(*whole);
    }
}

// Cells hide how good the centre's own subset is. Concentration steps show it, as long as they take
// no more than a share of the time.
void Worker::explore() {
    const double most = tuning::explored_share * n_evaluations() + tuning::explored_first;
    if (explored_ > most) return;
    const Polished p = r_.known.polished(rescaled(r_.problem.k), r_.known.worth());
    explored_ += p.selection.n_evaluations;
    r_.known.offer(p);
}

double Worker::score_of_choice(const Moments& m, double weight) const {
    return score(r_.problem.objective, centred(m, weight), weight);
}

// A choice may be a copy or two short of k, and fewer points score more. So its gradient chooses
// again, exactly as many as the box needs of those it has open.
std::optional<Moments> Worker::filled(const Box& box) const {
    auto gain = quadratic_form(r_.problem.objective, centred(choice_.moments, choice_.weight));
    if (!gain) return std::nullopt;
    gain->mx = choice_.moments.x / choice_.weight;
    gain->my = choice_.moments.y / choice_.weight;
    std::vector<std::pair<double, std::size_t>> worth;
    for (std::size_t i = 0; i < box.open.point.size(); ++i) {
        const int p = box.open.point[i];
        worth.emplace_back(-(*gain)(cells_.x[p], cells_.y[p]), i);
    }
    std::sort(worth.begin(), worth.end());
    Moments m = box.kept.moments();
    std::int64_t need = box.need;
    for (const auto& [cost, i] : worth) {
        const int p = box.open.point[i];
        for (int z = box.open.copies[i]; z > 0 && need > 0; --z, --need) {
            m.add(cells_.x[p], cells_.y[p]);
        }
    }
    return need == 0 ? std::optional(m) : std::nullopt;
}

}  // namespace quadsweep
