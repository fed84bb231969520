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
        row->first_lambda = unknown;
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

// The sums below `lambda`, the threshold to begin with, come with the costs.
void Bounder::fill(Row& row, const Cost& cost, double base, double lambda) {
    row.first = hot_loops().costs(x_.data(), y_.data(), w_.data(), static_cast<int>(padded_), cost,
                                  lambda, row.cost.data());
    row.first_lambda = n_cells_ > 0 ? unknown : lambda;
    if (n_cells_ > 0) {
        double* low = row.cost.data() + padded_;
        double* low_weight = row.weight.data() + padded_;
        hot_loops().cell_costs(cell_table(), cost, magnitude_,
                               (cost_roundings + cell_roundings()) * ulp, low, low + n_cells_,
                               low_weight, low_weight + n_cells_);
    }
    row.offset = base;
    if (box_->kept.copies() > 0)
        row.offset += cost.about(0, 0).total(box_->kept.moments(), box_->kept.copies());
    n_evaluations += static_cast<double>(points_ + n_cells_);
}

double Bounder::solve(const Row& row, double& lambda, bool positive_is_enough) {
    const auto& loops = hot_loops();
    const int rows = static_cast<int>(row.cost.size());
    const auto below = [&](double at) {
        if (at == row.first_lambda) return row.first;
        return loops.tally(row.cost.data(), row.weight.data(), rows, at);
    };
    return threshold_.maximise(below, static_cast<double>(box_->need), row.offset,
                               positive_is_enough, lambda);
}

Choice Bounder::choose(const Cost& cost, double base, double lambda) {
    fill(centre_, cost, base, lambda);
    Choice choice;
    choice.lambda = std::isnan(lambda)
                        ? guess_threshold(centre_.cost.data(), centre_.weight.data(),
                                          centre_.cost.size(), static_cast<double>(box_->need))
                        : lambda;
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
    if (!(std::fabs(missing) > tuning::filled_share * whole) || !std::isfinite(threshold_.beyond()))
        return;
    Choice other;
    other.lambda = threshold_.beyond();
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

Bound Bounder::bound(std::span<const Node> nodes, double lambda) {
    magnitude_ = {};
    for (const Node& node : nodes) magnitude_.cover(node.cost);
    Bound b;
    b.corners = static_cast<int>(nodes.size());
    // All of them first: the sums of one are not waited for before the next is begun.
    for (int q = 0; q < b.corners; ++q) fill(row_[q], nodes[q].cost, nodes[q].base, lambda);
    double base = 0;
    for (int q = 0; q < b.corners; ++q) {
        b.lambda[q] = q == 0 ? lambda : b.lambda[q - 1];
        b.value[q] = solve(row_[q], b.lambda[q], true);
        base = std::max(base, std::fabs(nodes[q].base));
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

Ends Bounder::ends(const Row& row) const {
    const double *cost = row.cost.data() + padded_, *weight = row.weight.data() + padded_;
    return {cost, cost + n_cells_, weight, weight + n_cells_, n_cells_};
}

// The row with every cell shrunk to its mean, in `centre_`.
void Bounder::shrink_cells(const Row& row) {
    double *cost = centre_.cost.data() + padded_, *weight = centre_.weight.data() + padded_;
    shrink_to_means(ends(row), cost, cost + n_cells_, weight, weight + n_cells_);
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
    for (const double at : {lambda, b.lambda[worst]}) widen_gaps(ends(row), at, gap_);
}

void Bounder::open_all(Box& box) const {
    std::vector<int> unloaded, below(box.open.cell.rbegin(), box.open.cell.rend());
    while (!below.empty()) {
        const int at = below.back();
        below.pop_back();
        const Cell& c = cells_.cell[at];
        if (c.leaf()) {
            open_cell(cells_, cells_.weight, at, box.open, unloaded);
        } else {
            below.insert(below.end(), {c.left + 1, c.left});
        }
    }
    box.open.cell = std::move(unloaded);
}

std::vector<int> Bounder::unloaded_and_cut(const Bound& b) const {
    std::vector<int> found;
    for (std::size_t j = 0; j < n_cells_; ++j) {
        const int at = box_->open.cell[j];
        if (!cells_.cell[at].unloaded()) continue;
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
    decide(box.decided, std::move(newly));
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
