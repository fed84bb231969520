#include "relaxation.hpp"

#include <algorithm>
#include <cmath>

#include "branching.hpp"
#include "closing.hpp"
#include "concentrate.hpp"
#include "search/listing.hpp"

namespace quadsweep::regression {
namespace {

constexpr double explored_share = 0.05;  // of the rows and cells costed: for proposals
constexpr int many_rows = 50000;         // whose set-up takes time that a limit notices
constexpr int few_rows = 2048;           // in cells: then rows are no dearer than their cells
constexpr double coarse_share = 0.25;    // of the bound: what unopened cells may take away from it
constexpr double closing_share = 0.8;    // of the bound: opening them may close the box
constexpr double bounded_again = 0.5;    // of a box: what is left of it need not be split at once
constexpr double poor_centre = 0.3;      // of the bound: what is lost at the centre already
constexpr int stuck_listing = 20;        // times as many are listed where splitting does not help
constexpr std::size_t most_unclear = 500;  // subsets that are left to exact arithmetic

}  // namespace

Relaxation::Relaxation(const Table& table, const Options& options, const Control& control)
    : table_(table), options_(options), control_(control) {
    if (options.above) raise(*options.above);
}

double Relaxation::limit() const {
    if (table_.kind == Kind::r2) return 1;
    return table_.kind == Kind::lts ? 0 : infinity;
}

double Relaxation::tolerance() const {
    if (table_.kind == Kind::r2) return options_.tol;
    const bool relative = table_.kind == Kind::lts && target() != undefined;
    return relative ? options_.tol * std::fabs(target()) : 0;
}

double Relaxation::threshold() const {
    if (table_.kind == Kind::r2) return target() + options_.tol;
    if (table_.kind == Kind::lts) {
        return -target() * (1 - options_.tol) / (placed_.y_scale * placed_.y_scale);
    }
    return *options_.above;
}

double Relaxation::bound(const Standing& standing) const {
    if (fits_exactly_ || too_many_unclear_) return limit();
    return std::min(std::max(standing.open, target() + tolerance()), limit());
}

void Relaxation::offer(std::vector<int> units) {
    const auto size = static_cast<int>(units.size());
    if (options_.k_or_more ? size < options_.k : size != options_.k) return;
    std::sort(units.begin(), units.end());
    auto [score, known, off, fits_exactly] = score_of(table_, units);
#ifdef QUADSWEEP_DEBUG_SOLUTION
    if (hides_solution(score, solution_score())) return;
#endif
    const double most = score == undefined ? limit() : std::min(score + off, limit());
    if (!known && !options_.above) {
        leave_open(units, most);
        score -= off;
    }
    // A question is answered by whoever checks the subset, where 32 digits do not tell.
    const bool near = options_.above && off > ulp && std::fabs(score - *options_.above) <= off;
    const bool unclear = options_.above && (!known || near) && !(most <= *options_.above);
    if (!unclear && (score == undefined || std::isnan(score))) return;
    if (options_.above && !unclear && !(score > *options_.above)) return;
    const Lock lock(mutex_);
    if (best_.offer(unclear ? *options_.above : score, units)) raise(score);
    if (options_.above) decided_ = true;
    if (fits_exactly && !options_.above) fits_exactly_ = true;
}

void Relaxation::leave_open(const std::vector<int>& units, double most) {
    if (most <= target()) return;
    const Lock lock(mutex_);
    if (std::find(unclear_.begin(), unclear_.end(), units) != unclear_.end()) return;
    if (unclear_.size() == most_unclear) too_many_unclear_ = true;
    if (!too_many_unclear_) unclear_.push_back(units);
}

void Relaxation::place_on(const std::vector<int>& reference) {
    if (identical_.size() == 0) identical_ = identical_units(table_);
    const auto ended = [this] { return over(); };
    Placed placed = place(table_, reference, ended);
    if (over()) return;
    placed_ = std::move(placed);
    items_ = make_items(table_, placed_, identical_);
    form_ = Form(table_.kind, table_.centred, placed_);
    no_value_ = placed_.no_value;
    if (options_.above || target() != undefined) form_.aim(threshold());
    if (table_.kind == Kind::r2 && !no_value_) least_total_ = sum_least_total();
}

bool Relaxation::over() const { return table_.rows > many_rows && control_.over(); }

void Relaxation::make_tree(int leaf_items) {
    cells_ = make_cells(items_, placed_, leaf_items, options_.n_jobs, [this] { return over(); });
}

// Of y about its mean (or zero): of k neighbours.
double Relaxation::sum_least_total() const {
    const int k = options_.k;
    const auto& ones = table_.design.empty() ? table_.y.hi : table_.design[0].hi;
    const bool plain =
        std::all_of(ones.begin(), ones.end(), [&](double one) { return one == ones[0]; });
    if (table_.grouped() || !table_.centred || !plain) return 0;
    std::vector<double> y = placed_.column[placed_.searched];
    std::sort(y.begin(), y.end());
    double least = infinity;
    if (y.size() > 4096) {  // a window that moves on, and what its sums may have lost
        double sum = 0, squares = 0, largest = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            const double gone = i < static_cast<std::size_t>(k) ? 0 : y[i - k];
            sum += y[i] - gone;
            squares += y[i] * y[i] - gone * gone;
            largest = std::max(largest, squares);
            if (i + 1 >= static_cast<std::size_t>(k)) {
                least = std::min(least, squares - sum * sum / k);
            }
        }
        const double lost = 0x1p-50 * static_cast<double>(y.size()) * largest;
        return std::max(least * (1 - 1e-9) - lost, 0.0);
    }
    for (std::size_t i = 0; i + k <= y.size(); ++i) {
        double total = 0, mean = 0;
        for (int j = 0; j < k; ++j) mean += y[i + j] / k;
        for (int j = 0; j < k; ++j) total += (y[i + j] - mean) * (y[i + j] - mean);
        least = std::min(least, total);
    }
    return least * (1 - 1e-9);
}

// ---- one thread's look at a box -----------------------------------------------------------------

Relaxation::Worker::Worker(Relaxation& relaxation)
    : r_(relaxation),
      bounder_(relaxation.items_, relaxation.cells_, relaxation.form_,
               relaxation.options_.k_or_more) {}

bool Relaxation::Worker::aim() {
    Form form = bounder_.form();
    form.aim(r_.threshold());
    bounder_.aim(form);
    return true;
}

#ifdef QUADSWEEP_DEBUG_SOLUTION
double Relaxation::solution_score() const {
    const std::vector<int>& rows = debug_solution.rows;
    const auto size = static_cast<int>(rows.size());
    if (rows.empty() || size < options_.k || (!options_.k_or_more && size > options_.k)) {
        return undefined;
    }
    const Scored found = score_of(table_, rows);
    return found.known && std::isfinite(found.score) ? found.score : undefined;
}

double Relaxation::Worker::solution_score() const {
    const double score = r_.solution_score();
    return score != undefined && r_.worth(score) ? score : undefined;
}

bool Relaxation::Worker::holds_solution(const Box& box, bool loosely) const {
    if (box.of_fits) return loosely;  // of other parameters
    if (solution_score() == undefined) return false;
    const Items& items = r_.items_;
    const std::vector<int>& rows = debug_solution.rows;
    Gram sums;
    for (int i = 0; i < items.size(); ++i) {
        int count = 0;
        for (int unit : items.units(i)) {
            count += std::binary_search(rows.begin(), rows.end(), unit);
        }
        if (count > 0) items.add(sums, i, count);
    }
    const Form& form = bounder_.form();
    const Own solution = own(form, sums);
    const double unit = solution.theta[box.frame];
    if (unit == 0) return false;
    for (int j = 0; j < form.searched; ++j) {
        const double theta = solution.theta[j] / unit;
        if (j != box.frame && !is_between(theta, box.centre[j], box.half[j], 1, loosely)) {
            return false;
        }
    }
    return agrees_with_solution(box.decided.get(), box.open, r_.cells_.cell, items.copies,
                                [&](int i) { return items.units(i); });
}
#endif

Ending Relaxation::Worker::bound(Box& box) {
    if (box.of_fits) take_tau(box, bounder_.form(), box.tau);
    for (bool first = true;; first = false) {
        if (rows_in_cells(box) <= std::min(few_rows, r_.items_.size() / 4)) bounder_.open_all(box);
        bounder_.load(box);
        choice_ = bounder_.centre(box);
        if (box.of_fits) choose_tau(box);
        if (first && (choice_.value < 0 || box.depth < 8 || box.depth % 4 == 0)) offer_centre(box);
        bounder_.bound(box);
        if (bounder_.least() >= bounder_.error()) return Ending::closed;
        if (!fine_enough(box) && bounder_.open_cells(box)) continue;
        // Before deciding items one by one, multipliers that are as good as they get.
        if (!bounder_.equations() || choice_.value >= poor_centre * bounder_.least()) {
            return Ending::open;
        }
        choice_ = bounder_.centre(box, true);
        bounder_.bound(box);
        return bounder_.least() >= bounder_.error() ? Ending::closed : Ending::open;
    }
}

int Relaxation::Worker::rows_in_cells(const Box& box) const {
    int rows = 0;
    for (int at : box.open.cell) rows += r_.cells_.cell[at].last - r_.cells_.cell[at].first;
    return rows;
}

// Cells are opened while they are what keeps the box open, or much of it: not where halving the box
// would gain more.
bool Relaxation::Worker::fine_enough(const Box& box) const {
    if (box.open.cell.empty()) return true;
    const double coarse = bounder_.coarseness(), short_by = std::fabs(bounder_.least());
    if (coarse <= coarse_share * short_by) return true;
    if (coarse >= closing_share * short_by) return false;
    const double width = bounder_.width_cost(box, choice_.value);
    return coarse < width;
}

// Any tau serves; the chosen items' own makes the test sharpest for them.
void Relaxation::Worker::choose_tau(Box& box) {
    for (int step = 0; step < 2; ++step) {
        bounder_.complete(choice_);
        const Own o = own(bounder_.form(), choice_.sums);
        const double wanted = std::clamp(o.theta[bounder_.form().fitted], 0.125, 8.0);
        const double way = std::log(wanted / box.tau);
        if (!(std::fabs(way) > 0.02)) return;
        Box trial = box;
        take_tau(trial, bounder_.form(), box.tau * std::exp(0.7 * way));
        Choice next = bounder_.centre(trial);
        if (!(next.value / trial.tau > choice_.value / box.tau)) {
            choice_ = bounder_.centre(box);
            return;
        }
        choice_ = next;
        box = std::move(trial);
    }
}

void Relaxation::Worker::offer_centre(const Box& box) {
    const int k = r_.options_.k;
    if (!(std::fabs(choice_.units - k) <= 0.5 * k + 1)) return;
    bounder_.complete(choice_);
    const Own o = own(bounder_.form(), choice_.sums);
    if (!(r_.in_table_units(o.score) > r_.target() + r_.margin()) &&
        !(choice_.value < 0 && box.depth % 4 == 0)) {
        return;
    }
    // Cells count in part, so that a score promises a little too much: then steps on all rows may
    // take no more than a share of the time.
    if (!box.open.cell.empty() && explored_ > explored_share * bounder_.n_evaluations) return;
    Concentrator concentrator(r_.items_, bounder_.form(), k, r_.options_.k_or_more);
    const Selection found = concentrator.climb(o, 50, [&] { return r_.over(); });
    if (r_.promises(found.own) && !r_.over()) r_.offer(units_of(r_.items_, found.items));
    explored_ += static_cast<double>(concentrator.steps()) * r_.items_.size();
}

// l theta_y (RSS - (1 - t) TSS) >= value for every subset whose own theta is in the box, l the left
// factor's coefficient of y, or theta_y with the tangent; for lts l theta_y (RSS - t) >= value.
double Relaxation::Worker::upper(const Box& box) const {
    const Form& form = bounder_.form();
    const double value = -missing();
    if (!is_fit(form.kind)) return infinity;
    const int y = form.searched - 1;
    const double theta = std::fabs(box.centre[y]) - box.half[y];
    if (!(theta > 0)) return r_.limit();
    const double left = bounder_.equations() ? std::fabs(box.centre[y]) : theta;
    const double excess = value / (left * theta) * (1 + 1e-12);
    if (form.kind == Kind::lts) return -std::max(r_.in_table_units(form.base + excess), 0.0);
    if (!(r_.least_total_ > 0)) return r_.limit();
    return std::min(1 - form.s_u - excess / r_.least_total_, r_.limit());
}

Ending Relaxation::Worker::fix(Box& box) {
    if (!bounder_.fix(box)) return Ending::closed;
    const double left = bounder_.cut(box);
    if (left == 0) return Ending::closed;
    again_ = left < bounded_again;
    by_items_ = !again_ && wants_items(box, bounder_, choice_.value);
    return Ending::open;
}

bool Relaxation::Worker::enumerate(const Box& box) {
    const bool k_or_more = r_.options_.k_or_more;
    const std::int64_t most = r_.options_.enumeration_limit * (by_items_ ? stuck_listing : 1);
    if (again_ || ways(box.open, box.need, k_or_more, most) > most) return false;
    std::vector<Gram> one;
    for (int item : box.open.point) one.push_back(r_.items_.gram(item));
    const int entries = Gram::entries(r_.items_.columns);
    const auto add = [&](Gram& to, std::size_t i) {
        for (int e = 0; e < entries; ++e) to.s[e] += one[i].s[e];
    };
    const auto look = [&](const Gram& sums, const Picks& picks) {
        if (r_.promises(own(bounder_.form(), sums))) {
            Kept kept = all_kept(box.decided.get(), picks, r_.items_.size());
            for (int at : kept.cells) {
                const auto& c = r_.cells_.cell[at];
                for (int i = c.first; i < c.last; ++i) {
                    kept.points.push_back({i, r_.items_.copies[i]});
                }
            }
            r_.offer(units_of(r_.items_, kept.points));
        }
        return !r_.finished() && !r_.control_.stopped();
    };
    list_ways(box.open, box.need, k_or_more, box.kept.total(), add, look);
    return !r_.control_.stopped();
}

Ending Relaxation::Worker::branch(std::unique_ptr<Box> box, Boxes& children) {
    if (again_) {
        children.push_back(std::move(box));
        return Ending::open;
    }
    if ((by_items_ || box->depth % 6 == 5) &&
        hopeless(r_.table_, r_.items_, r_.cells_, bounder_.form(), *box,
                 bounder_.everything(*box))) {
        return Ending::closed;
    }
    if (by_items_ && !box->open.cell.empty()) {
        bounder_.open_level(*box);
        children.push_back(std::move(box));
    } else if (by_items_) {
        branch_on_copies(std::move(box), bounder_, r_.items_, children);
    } else {
        split(std::move(box), bounder_, children);
    }
    return Ending::open;
}

}  // namespace quadsweep::regression
