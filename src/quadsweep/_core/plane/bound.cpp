#include "bound.hpp"

#include <algorithm>
#include <cmath>

#include "shared/hot_loops.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

// In one point's cost, relative to its Magnitude: 48 of the arithmetic, 8 for a point that was
// rounded when it was placed (an ulp of each coordinate, and a cost is a sum of products of two).
constexpr double cost_roundings = 56;
constexpr double underflow = 1e-240;  // what products may lose below the range of a double

void fetch_early(const Cell& cell) {
#if defined(__GNUC__)
    __builtin_prefetch(&cell);
    __builtin_prefetch(&cell.sums.yy);
#else
    static_cast<void>(cell);
#endif
}

int ceiling(double copies) { return static_cast<int>(std::ceil(copies)); }

}  // namespace

// In a cell's mean cost: its moments' own about the origin, at most three times for the shift to
// the rectangle's centre (half an ulp each), and those of the shift.
double Bounder::cell_roundings() const { return 2 * cells_.roundings + 8; }

double Bound::least() const {
    double smallest = infinity;
    for (int q = 0; q < corners; ++q) smallest = std::fmin(smallest, value[q]);
    return smallest;
}

void Bounder::load(const Box& box) {
    box_ = &box;
    points_ = box.open.point.size();
    padded_ = (points_ + 7) / 8 * 8;
    n_cells_ = box.open.cell.size();
    x_.assign(padded_, 0.0);
    y_.assign(padded_, 0.0);
    w_.assign(padded_, 0.0);
    for (std::size_t i = 0; i < points_; ++i) {
        const int p = box.open.point[i];
        x_[i] = cells_.x[p];
        y_[i] = cells_.y[p];
        w_[i] = box.open.copies[i];
    }
    const std::size_t rows = padded_ + 2 * n_cells_;
    for (Row* row : {&row_[0], &row_[1], &row_[2], &row_[3], &centre_}) {
        row->cost.resize(rows);
        row->weight.resize(rows);
        std::copy(w_.begin(), w_.end(), row->weight.begin());
    }
    if (n_cells_ > 0) load_cells();
    gap_.assign(n_cells_, 0.0);
}

void Bounder::load_cells() {
    for (auto& column : cell_rows_) column.resize(n_cells_);
    constexpr std::size_t ahead = 12;  // cells lie anywhere in memory: asked for early
    for (std::size_t j = 0; j < n_cells_; ++j) {
        if (j + ahead < n_cells_) fetch_early(cells_.cell[box_->open.cell[j + ahead]]);
        const Cell& c = cells_.cell[box_->open.cell[j]];
        const double unit = 1 / c.weight, x = c.x, y = c.y;
        const double mx = unit * c.sums.x, my = unit * c.sums.y;
        // About the rectangle's centre.
        const double values[] = {x,
                                 y,
                                 c.hx,
                                 c.hy,
                                 c.weight,
                                 mx - x,
                                 my - y,
                                 unit * c.sums.xx - x * (2 * mx - x),
                                 unit * c.sums.xy - x * my - y * (mx - x),
                                 unit * c.sums.yy - y * (2 * my - y)};
        for (int i = 0; i < 10; ++i) cell_rows_[i][j] = values[i];
    }
}

CellTable Bounder::cell_table() const {
    const auto at = [&](int i) { return cell_rows_[i].data(); };
    return {at(0),
            at(1),
            at(2),
            at(3),
            at(4),
            at(5),
            at(6),
            at(7),
            at(8),
            at(9),
            static_cast<int>(n_cells_)};
}

void Bounder::fill(Row& row, const Cost& cost, double base) {
    hot_loops().costs(x_.data(), y_.data(), static_cast<int>(padded_), cost, row.cost.data());
    if (n_cells_ > 0) {
        double* low = row.cost.data() + padded_;
        double* low_weight = row.weight.data() + padded_;
        hot_loops().cell_costs(cell_table(), cost, magnitude_,
                               (cost_roundings + cell_roundings()) * ulp, low, low + n_cells_,
                               low_weight, low_weight + n_cells_);
    }
    row.offset = base + cost.about(0, 0).total(box_->kept.moments(), box_->kept.copies());
    looked_at += static_cast<double>(points_ + n_cells_);
}

// A threshold to start from where the parent has none: the right quantile of a few of the costs.
double Bounder::guess(const Row& row) const {
    const std::size_t rows = row.cost.size(), step = 1 + rows / 256;
    std::vector<double> some;
    double total = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        total += row.weight[i];
        if (i % step == 0 && row.weight[i] > 0) some.push_back(row.cost[i]);
    }
    if (some.empty()) return 0;
    const double share =
        std::clamp(static_cast<double>(box_->need) / std::max(total, 1.0), 0.0, 1.0);
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(some.size() - 1));
    std::nth_element(some.begin(), some.begin() + at, some.end());
    return some[at];
}

// Maximises the concave, piecewise linear D(lambda) = S + lambda (need - W) by a bracket on its
// slope. Any lambda gives a valid bound, so it stops when little is left to gain or, at a corner,
// when the bound is positive for certain.
double Bounder::solve(const Row& row, double& lambda, bool positive_is_enough) {
    const auto& loops = hot_loops();
    const int rows = static_cast<int>(row.cost.size());
    const auto need = static_cast<double>(box_->need);
    double best = -infinity, best_lambda = lambda;
    double lo = -infinity, hi = infinity, d_lo = 0, d_hi = 0, s_lo = 0, s_hi = 0;
    double at = at_least_ ? std::max(lambda, 0.0) : lambda;
    double step = 0;
    for (int pass = 0; pass < 100; ++pass) {
        const Tally t = loops.tally(row.cost.data(), row.weight.data(), rows, at);
        const double slope = need - t.weight, d = t.cost + at * slope;
        if (d > best) {
            best = d;
            best_lambda = at;
        }
        if (std::fabs(slope) < 1e-9 || (at_least_ && slope <= 0 && at == 0)) break;
        if (positive_is_enough &&
            row.offset + best > 1e-8 * (std::fabs(row.offset) + std::fabs(best))) {
            break;
        }
        if (slope > 0) {
            lo = at;
            d_lo = d;
            s_lo = slope;
        } else {
            hi = at;
            d_hi = d;
            s_hi = slope;
        }
        if (lo == -infinity || hi == infinity) {
            if (step == 0 && density_ > 0)
                step = tuning::first_stride * std::fabs(slope) / density_;
            if (step == 0) step = std::max(0.05 * std::fabs(at), 1e-3 * std::fabs(d) / (need + 1));
            if (step == 0) step = 1e-6;
            at += slope > 0 ? step : -step;
            if (at_least_) at = std::max(at, 0.0);
            step *= 3;
            continue;
        }
        // The tangents at both ends meet above the maximum.
        const double meet = (d_hi - d_lo + s_lo * lo - s_hi * hi) / (s_lo - s_hi);
        const double most = d_lo + s_lo * (meet - lo);
        density_ = (s_lo - s_hi) / (hi - lo);
        const double value = row.offset + best;
        if (most - best <= tuning::threshold_share * std::fabs(value)) break;
        if (!(hi - lo > 4 * ulp * (std::fabs(lo) + std::fabs(hi)))) break;
        const double secant = lo + (hi - lo) * (s_lo / (s_lo - s_hi));
        at = pass % 2 == 0 ? secant : meet;
        if (!(at > lo && at < hi)) at = lo + (hi - lo) / 2;
    }
    lambda = best_lambda;
    beyond_ = best_lambda == lo ? hi : lo;
    return row.offset + best;
}

Choice Bounder::choose(const Cost& cost, double base, double lambda) {
    fill(centre_, cost, base);
    Choice choice;
    choice.lambda = std::isnan(lambda) ? guess(centre_) : lambda;
    choice.value = solve(centre_, choice.lambda, false);
    add_chosen(centre_, choice);
    fill_up(centre_, choice);
    return choice;
}

// Where many costs are nearly equal, the threshold that is good enough for a bound may lie below or
// above all of them. As many as are needed are then taken of those between it and the other end of
// its bracket: what moves a multiplier is the mean over a whole subset.
void Bounder::fill_up(const Row& row, Choice& choice) const {
    const double whole = box_->kept.copies() + static_cast<double>(box_->need);
    const double missing = whole - choice.weight;
    if (!(std::fabs(missing) > tuning::filled_share * whole) || !std::isfinite(beyond_)) return;
    Choice other;
    other.lambda = beyond_;
    add_chosen(row, other);
    const double share = missing / (other.weight - choice.weight);
    if (!(share > 0 && share <= 1)) return;
    choice.moments +=
        {share * (other.moments.x - choice.moments.x), share * (other.moments.y - choice.moments.y),
         share * (other.moments.xx - choice.moments.xx),
         share * (other.moments.xy - choice.moments.xy),
         share * (other.moments.yy - choice.moments.yy)};
    choice.weight = whole;
}

// Moments and weight of what lies below choice.lambda, the decided copies included.
void Bounder::add_chosen(const Row& row, Choice& choice) const {
    choice.moments = hot_loops().below(x_.data(), y_.data(), w_.data(), row.cost.data(),
                                       static_cast<int>(padded_), choice.lambda, choice.weight);
    for (std::size_t j = 0; j < n_cells_; ++j) {
        const std::size_t low = padded_ + j, high = low + n_cells_;
        const Cell& c = cells_.cell[box_->open.cell[j]];
        double taken = 0;
        if (row.cost[low] < choice.lambda) taken += row.weight[low];
        if (row.cost[high] < choice.lambda) taken += row.weight[high];
        if (taken == 0) continue;
        const double share = taken / c.weight;
        const Moments& s = c.sums;
        choice.moments += {share * s.x, share * s.y, share * s.xx, share * s.xy, share * s.yy};
        choice.weight += taken;
    }
    choice.moments += box_->kept.moments();
    choice.weight += box_->kept.copies();
}

Choice Bounder::chosen_at_worst(const Bound& b) const {
    const auto worst = std::min_element(b.value, b.value + b.corners) - b.value;
    Choice choice;
    choice.value = b.value[worst];
    choice.lambda = b.lambda[worst];
    add_chosen(row_[worst], choice);
    return choice;
}

Bound Bounder::bound(const Corners& corners, double lambda) {
    magnitude_ = {};
    for (int q = 0; q < corners.count; ++q) magnitude_.cover(corners.cost[q]);
    Bound b;
    b.corners = corners.count;
    double base = 0;
    for (int q = 0; q < corners.count; ++q) {
        fill(row_[q], corners.cost[q], corners.base[q]);
        b.lambda[q] = q == 0 ? lambda : b.lambda[q - 1];
        b.value[q] = solve(row_[q], b.lambda[q], true);
        base = std::max(base, std::fabs(corners.base[q]));
    }
    b.error = rounding_counts ? rounding(b) + 4 * ulp * base : 0;
    // Nothing follows from costs that may have left the range of a double.
    const double copies = box_->kept.copies() + cells_.cell[0].weight;
    if (!(copies * magnitude_(cells_.reach_x, cells_.reach_y) + base < 1e300)) {
        b.error = infinity;
        std::fill_n(b.value, b.corners, -infinity);
    }
    measure_coarseness(b);
    return b;
}

// Forward error of a bound. A cost is off by at most cost_roundings ulps of its Magnitude; a sum
// adds a rounding for each addition in a row (64 in a block of the loop, one a block), a cell those
// of its moments. Only what lies below its threshold, or may lie there for all that rounding tells,
// enters a bound.
double Bounder::rounding(const Bound& b) const {
    const double per_cost = cost_roundings * ulp;
    double touched = magnitude_.total(box_->kept.moments(), box_->kept.copies());
    touched += hot_loops().touched(x_.data(), y_.data(), w_.data(), static_cast<int>(padded_),
                                   corner_rows(b, 0), magnitude_, per_cost);
    // The low ends of cells are already widened by their own rounding.
    if (n_cells_ > 0) touched += touched_cells(b);
    double threshold = 0;
    for (int q = 0; q < b.corners; ++q) threshold = std::max(threshold, std::fabs(b.lambda[q]));
    const double sums = 64 + static_cast<double>(padded_ + 2 * n_cells_) / 512 + cell_roundings();
    const auto need = static_cast<double>(box_->need);
    return ulp * ((cost_roundings + sums) * touched + 8 * threshold * (need + 1)) +
           underflow * (need + box_->kept.copies() + 1);
}

double Bounder::touched_cells(const Bound& b) const {
    const CornerRows r = corner_rows(b, padded_);
    const CellTable c = cell_table();
    double touched = 0;
    for (std::size_t j = 0; j < n_cells_; ++j) {
        bool below = false;
        for (int q = 0; q < 4; ++q) below |= r.cost[q][j] < r.lambda[q];
        if (below) {
            touched +=
                c.weight[j] * magnitude_(std::fabs(c.x[j]) + c.hx[j], std::fabs(c.y[j]) + c.hy[j]);
        }
    }
    return touched;
}

// The row with every cell shrunk to its mean, in `centre_`: the bound can only be higher than the
// true one (Jensen).
void Bounder::shrink_cells(const Row& row) {
    for (std::size_t j = 0; j < n_cells_; ++j) {
        const std::size_t low = padded_ + j, high = low + n_cells_;
        const double weight = row.weight[low] + row.weight[high];
        const double sum = row.weight[low] * row.cost[low] + row.weight[high] * row.cost[high];
        centre_.cost[low] = centre_.cost[high] = sum / weight;
        centre_.weight[low] = centre_.weight[high] = weight / 2;
    }
}

double Bounder::outlook(const Choice& chosen) {
    if (n_cells_ == 0) return chosen.value;
    double lambda = chosen.lambda;
    shrink_cells(centre_);
    return solve(centre_, lambda, false);
}

// At the worst corner the difference to shrunk cells bounds what cells cost, the change of lambda
// included.
void Bounder::measure_coarseness(const Bound& b) {
    coarseness_ = 0;
    if (n_cells_ == 0) return;
    const auto worst = std::min_element(b.value, b.value + b.corners) - b.value;
    const Row& row = row_[worst];
    centre_.offset = row.offset;
    std::copy_n(row.cost.begin(), padded_, centre_.cost.begin());
    shrink_cells(row);
    double lambda = b.lambda[worst];
    coarseness_ = std::max(0.0, solve(centre_, lambda, false) - b.value[worst]);
    for (const double at : {lambda, b.lambda[worst]}) {
        for (std::size_t j = 0; j < n_cells_; ++j) {
            const std::size_t low = padded_ + j, high = low + n_cells_;
            const double below = row.weight[low] * (at - row.cost[low]);
            const double above = row.weight[high] * (row.cost[high] - at);
            // the chord minus what the mean alone would give
            gap_[j] = std::max(gap_[j], std::min(below, above));
        }
    }
}

bool Bounder::open_cells(Box& box) const {
    double total = 0;
    int straddling = 0;
    for (double gap : gap_) {
        if (gap > 0) {
            total += gap;
            ++straddling;
        }
    }
    if (straddling == 0) return false;
    const double least = tuning::opened_share * total / straddling;
    std::vector<int> kept;
    bool opened = false;
    for (std::size_t j = 0; j < n_cells_; ++j) {
        const int at = box.open.cell[j];
        if (gap_[j] < least || gap_[j] == 0 || cells_.cell[at].sealed()) {
            kept.push_back(at);
        } else {
            open_cell(box, at, kept);
            opened = true;
        }
    }
    box.open.cell = std::move(kept);
    return opened;
}

void Bounder::open_level(Box& box) const {
    std::vector<int> finer;
    for (int at : box.open.cell) open_cell(box, at, finer);
    box.open.cell = std::move(finer);
}

void Bounder::open_cell(Box& box, int at, std::vector<int>& finer) const {
    const Cell& c = cells_.cell[at];
    if (c.sealed()) {
        finer.push_back(at);
        return;
    }
    if (!c.leaf()) {
        finer.push_back(c.left);
        finer.push_back(c.left + 1);
        return;
    }
    for (int p = c.first; p < c.last; ++p) {
        box.open.point.push_back(p);
        box.open.copies.push_back(cells_.weight[p]);
    }
}

void Bounder::open_all(Box& box) const {
    std::vector<int> sealed, below(box.open.cell.rbegin(), box.open.cell.rend());
    while (!below.empty()) {
        const int at = below.back();
        below.pop_back();
        const Cell& c = cells_.cell[at];
        if (c.leaf()) {
            open_cell(box, at, sealed);
        } else {
            below.insert(below.end(), {c.left + 1, c.left});
        }
    }
    box.open.cell = std::move(sealed);
}

std::vector<int> Bounder::sealed_and_cut(const Bound& b) const {
    std::vector<int> found;
    for (std::size_t j = 0; j < n_cells_; ++j) {
        const int at = box_->open.cell[j];
        if (!cells_.cell[at].sealed()) continue;
        bool below = false, above = false;
        for (int q = 0; q < b.corners; ++q) {
            below |= row_[q].cost[padded_ + j] < b.lambda[q];
            above |= row_[q].cost[padded_ + n_cells_ + j] > b.lambda[q];
        }
        if (below && above) found.push_back(at);
    }
    return found;
}

CornerRows Bounder::corner_rows(const Bound& b, std::size_t from) const {
    CornerRows rows;
    for (int i = 0; i < 4; ++i) {
        const int q = i % b.corners;
        rows.cost[i] = row_[q].cost.data() + from;
        rows.lambda[i] = b.lambda[q];
        rows.lift[i] = (b.error - b.value[q]) * (1 + 1e-9);
    }
    return rows;
}

// Keeping j copies of a point with cost above lambda lifts the bound by j (cost - lambda); leaving
// out j copies of one below it, by j (lambda - cost). Both are concave over the box, so the corners
// decide.
bool Bounder::fix(Box& box, const Bound& bound) {
    auto newly = std::make_shared<Decided>();
    if (!fix_points(box, bound, *newly) || !fix_cells(box, bound, *newly)) return false;
    if (!newly->cells.empty() || !newly->points.empty()) {
        newly->before = std::move(box.decided);
        box.decided = std::move(newly);
    }
    return true;
}

bool Bounder::fix_points(Box& box, const Bound& bound, Decided& newly) {
    out_.resize(padded_);
    in_.resize(padded_);
    hot_loops().required(x_.data(), y_.data(), static_cast<int>(padded_), corner_rows(bound, 0),
                         magnitude_, rounding_counts ? cost_roundings * ulp : 0, out_.data(),
                         in_.data());
    std::size_t to = 0;
    for (std::size_t i = 0; i < points_; ++i) {
        const int p = box.open.point[i], copies = box.open.copies[i];
        // Keeping j copies is impossible from j = ceil(out) on, leaving out j from ceil(in) on.
        const int most = out_[i] > copies ? copies : std::max(1, ceiling(out_[i])) - 1;
        const int least = in_[i] > copies ? 0 : copies - (std::max(1, ceiling(in_[i])) - 1);
        if (least > most) return false;
        if (least > 0) {
            newly.points.push_back({p, least});
            box.kept.add(x_[i], y_[i], least);
            box.need -= least;
        }
        if (most > least) {
            box.open.point[to] = p;
            box.open.copies[to++] = most - least;
        }
    }
    box.open.point.resize(to);
    box.open.copies.resize(to);
    return true;
}

bool Bounder::fix_cells(Box& box, const Bound& bound, Decided& newly) {
    if (n_cells_ == 0) return true;
    // Rows of low ends decide what is out, rows of high ends what is in; both are widened already.
    std::vector<double> unused(n_cells_);
    out_.resize(n_cells_);
    in_.resize(n_cells_);
    const auto& loops = hot_loops();
    const int size = static_cast<int>(n_cells_);
    const double* x = cell_rows_[0].data();
    loops.required(x, x, size, corner_rows(bound, padded_), magnitude_, 0, out_.data(),
                   unused.data());
    loops.required(x, x, size, corner_rows(bound, padded_ + n_cells_), magnitude_, 0, unused.data(),
                   in_.data());
    std::size_t to = 0;
    for (std::size_t j = 0; j < n_cells_; ++j) {
        const int at = box.open.cell[j];
        const Cell& c = cells_.cell[at];
        if (out_[j] <= 1 && in_[j] <= 1) return false;
        if (out_[j] <= 1) continue;
        if (in_[j] <= 1) {
            newly.cells.push_back(at);
            box.kept.add(c.sums, c.weight);
            box.need -= static_cast<std::int64_t>(c.weight);
            continue;
        }
        box.open.cell[to++] = at;
    }
    box.open.cell.resize(to);
    return true;
}

}  // namespace quadsweep
