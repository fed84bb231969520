#include "worker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "closing.hpp"
#include "plane/concentrate.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

bool hidden_by_rounding(const Bound& bound) { return !(bound.least() < -4 * bound.error); }

}  // namespace

Worker::Worker(const Problem& problem, const CertifiedOptions& options, const Placement& placement,
               const Criterion& criterion, Incumbents& known, Parts& parts)
    : problem_(problem),
      options_(options),
      placed_(placement),
      known_(known),
      parts_(parts),
      criterion_(criterion.clone()),
      bounder_(placement.cells, options.at_most),
      opener_(*criterion_, bounder_) {}

bool Worker::process(std::unique_ptr<Box> box, Boxes& children) {
    ++boxes_;
    criterion_->aim(known_.target() / placed_.unit);
    if (!criterion_->valid()) return false;
    if (known_.at_limit() || box->upper <= known_.target() + known_.tol()) return true;
    Choice choice;
    Bound bound;
    if (opener_.close(*box, choice, bound) == Ending::closed) return true;
    propose(*box, choice);
    const double value = bound.least() - bound.error;
    box->upper = std::min(box->upper, criterion_->upper(*box, value) * placed_.unit);
    box->priority = value;
    const Choice worst = bounder_.chosen_at_worst(bound);
    if (!bounder_.fix(*box, bound)) return true;
    if (hidden_by_rounding(bound) && parts_.resolve(rows_of(placed_.cells, *box))) return true;
    const bool in_points =
        wants_points(*box, *criterion_, placed_.cells, choice.value, worst, bound);
    if (list(*box, options_.enumerate * (in_points ? tuning::stuck_listing : 1))) return true;
    if (!in_points) {
        split(std::move(box), *criterion_, worst, children);
    } else if (box->open.cell.empty()) {
        branch_on_copies(std::move(box), *criterion_, placed_.cells, children);
    } else {
        bounder_.open_level(*box);
        children.push_back(std::move(box));
    }
    return true;
}

void Worker::propose(const Box& box, const Choice& choice) {
    const double k = problem_.k;
    if (std::fabs(choice.weight - k) > tuning::weight_doubt * k) return;
    const bool coarse = !box.open.cell.empty();
    // Cells that straddle the threshold count in part: their score promises a little too much.
    const double doubt = coarse ? tuning::coarse_doubt * std::fabs(known_.target()) : 0;
    if (!known_.promises(score_of_choice(choice.moments, choice.weight), doubt)) {
        if (coarse && choice.value < 0) explore_from(choice);
    } else if (coarse) {
        known_.polish(rescaled(choice));
    } else if (const auto whole = filled(box, choice)) {
        if (known_.promises(score_of_choice(*whole, k))) known_.polish(*whole);
    }
}

// Cells hide how good the centre's own subset is. Concentration steps show it, as long as they take
// no more than a share of the time.
void Worker::explore_from(const Choice& choice) {
    if (explored_ > tuning::explored_share * bounder_.looked_at + tuning::explored_first) return;
    const Polished p = known_.polished(rescaled(choice), known_.worth());
    explored_ += p.selection.looked_at;
    known_.offer(p);
}

double Worker::score_of_choice(const Moments& m, double weight) const {
    return score(problem_.objective, centred(m, weight), weight);
}

// A choice may be a copy or two short of k, and fewer points score more. So its gradient chooses
// again, exactly as many as the box needs of those it has open.
std::optional<Moments> Worker::filled(const Box& box, const Choice& choice) const {
    const Cells& cells = placed_.cells;
    auto gain = quadratic_form(problem_.objective, centred(choice.moments, choice.weight));
    if (!gain) return std::nullopt;
    gain->mx = choice.moments.x / choice.weight;
    gain->my = choice.moments.y / choice.weight;
    std::vector<std::pair<double, std::size_t>> worth;
    for (std::size_t i = 0; i < box.open.point.size(); ++i) {
        const int p = box.open.point[i];
        worth.emplace_back(-(*gain)(cells.x[p], cells.y[p]), i);
    }
    std::sort(worth.begin(), worth.end());
    Moments m = box.kept.moments();
    std::int64_t need = box.need;
    for (const auto& [cost, i] : worth) {
        const int p = box.open.point[i];
        for (int z = box.open.copies[i]; z > 0 && need > 0; --z, --need) {
            m.add(cells.x[p], cells.y[p]);
        }
    }
    return need == 0 ? std::optional(m) : std::nullopt;
}

Moments Worker::rescaled(const Choice& c) const {
    const double f = problem_.k / c.weight;
    const Moments& m = c.moments;
    return {f * m.x, f * m.y, f * m.xx, f * m.xy, f * m.yy};
}

bool Worker::list(Box& box, std::int64_t most) {
    const Cells& cells = placed_.cells;
    double weight = 0;
    for (int at : box.open.cell) weight += cells.cell[at].weight;
    if (weight > tuning::listable_copies) return false;
    bounder_.open_all(box);
    if (ways(box.open, box.need, options_.at_most, most) > most) return false;
    // Of the decided moments, of up to `need` points added to them, and of placing them.
    Slack slack{
        (40.0 + cells.roundings + static_cast<double>(std::max<std::int64_t>(box.need, 64))) *
        0x1p-52};
    slack.xx = slack.xy = slack.yy = least_square;
    visit(problem_.objective, [&]<class O>() {
        const auto look = [&](const Moments& m, double kept, const Picks& picks) {
            const double best = O::optimistic(centred_range(m, kept, slack), kept);
            if (!(best * placed_.unit <= known_.target() + known_.margin())) {
                known_.offer(collect(cells, box, picks));
            }
        };
        Lister(box, cells, options_.at_most, look).run();
    });
    return true;
}

}  // namespace quadsweep
