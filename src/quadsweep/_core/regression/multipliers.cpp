// The multipliers of the normal equations, and of the other square, for a box: one step of Newton's
// method from those of the box it was split from, at the centre, on
//
//     sum of the k smallest costs, smoothed, + base - sum_d half_d |slope_d|
//
// where slope_d is the derivative of the sum by dimension d. Its last part is what a corner adds to
// first order: without it the maximum is unbounded wherever no subset solves the equations at the
// centre, and multipliers that look best there are worthless at the corners. Any multipliers give a
// bound, so nothing here needs a proof.
#include <algorithm>
#include <cmath>
#include <utility>

#include "bound.hpp"
#include "loops.hpp"
#include "shared/cholesky.hpp"

namespace quadsweep::regression {
namespace {

constexpr double smoothing = 0.3;  // of the spread of the costs; less where the box is narrow
constexpr double narrowest = 1e-4, few_widths = 0.02;
constexpr double rounded_off = 1e-3;  // |slope| near zero, of its standard deviation
constexpr int most_steps = 4;         // for a width
constexpr int shortened = 3;          // tries of a step, each a third of the last
constexpr int most_passes = 40;       // to find the threshold
constexpr int most_unknowns = 2 * most_searched;

void copy_multipliers(const Box& from, Box& to) {
    std::copy(from.left, from.left + most_searched, to.left);
    std::copy(from.g, from.g + most_searched, to.g);
    to.lambda = from.lambda;
}

}  // namespace

// Item by item, rows or groups and then cells.
void Bounder::column_times(int column, const double* combination, const double* of_rows,
                           Column& out) {
    const auto& loops = regression_loops();
    const int size = static_cast<int>(padded_);
    out.resize(padded_ + cells_.size());
    if (items_.grouped()) {
        const double* entry[most_columns];
        for (int l = 0; l < form_.columns; ++l) entry[l] = column_[Gram::at(column, l)].data();
        loops.combine(entry, combination, form_.columns, size, out.data());
    } else {
        loops.multiply(column_[column].data(), of_rows, size, out.data());
    }
    if (!cells_.empty()) cells_.column_times(column, combination, out.data() + padded_);
}

Shares Bounder::shares_at(double threshold, double width) {
    const auto& loops = regression_loops();
    Shares s = loops.shares(cost_.data(), weight_.data(), static_cast<int>(padded_), threshold,
                            width, mask_.data());
    if (cells_.empty()) return s;
    const Shares more =
        loops.shares(cell_cost_.data(), cells_.weight().data(), static_cast<int>(cells_.size()),
                     threshold, width, share_.data());
    return {s.sum + more.sum, s.squares + more.squares};
}

// The costs at the centre; of cells, their means.
void Bounder::price(const double* g) {
    double phi[most_columns];
    coefficients_u(theta0_, g, phi);
    central_costs(phi);
    cell_cost_.resize(cells_.size());
    share_.resize(cells_.size());
    if (cells_.empty()) return;
    double a[Gram::entries(most_columns)];
    quadratic(form_, left_, theta0_, phi, a);
    cells_.costs(a, cell_cost_.data());
}

// Shares that add up to what is needed; the smoothed sum of costs, from the sums over them.
void Bounder::smooth(const Box& box, const double* g, Smoothed& at) {
    double phi[most_columns];
    coefficients_u(theta0_, g, phi);
    price(g);
    const double need = box.need, near = 1e-3 * (1 + std::fabs(need));
    double low = -infinity, high = infinity, below = 0, above = 0, stride = at.width;
    Shares s;
    for (int pass = 0; pass < most_passes; ++pass) {
        if (k_or_more_) at.threshold = std::max(at.threshold, 0.0);
        s = shares_at(at.threshold, at.width);
        const double missing = need - s.sum;
        if (std::fabs(missing) < near || (k_or_more_ && at.threshold == 0 && missing < 0)) break;
        if (missing > 0) {
            low = at.threshold;
            below = missing;
        } else {
            high = at.threshold;
            above = missing;
        }
        if (low == -infinity || high == infinity) {
            at.threshold += missing > 0 ? stride : -stride;
            stride *= 2;
        } else {
            const double secant = low + (high - low) * (below / (below - above));
            at.threshold = pass % 3 == 2 ? low + (high - low) / 2 : secant;
        }
    }
    at.sums = kept_;
    int e = 0;
    for (int i = 0; i < form_.columns; ++i) {
        for (int j = 0; j <= i; ++j) at.sums.s[e++] += chosen_product(i, j);
    }
    const int y = form_.response();
    const double other = form_.s_u > 0 ? form_.s_u * at.sums.form(phi, phi, form_.columns) : 0;
    at.value = form_.s_e * at.sums.form(left_, theta0_, form_.left_columns()) - other -
               form_.base * left_[y] * theta0_[y] + at.width / 2 * (s.squares - s.sum) +
               at.threshold * (need - s.sum);
    const double units = std::max(box.kept_units + need, 1.0);
    const double size = at.sums.form(left_, left_, form_.left_columns()) / units;
    for (int d = 0; d < dims_; ++d) {
        const int j = dimension_[d];
        double slope = 0;
        for (int l = 0; l < form_.left_columns(); ++l) slope += at.sums(j, l) * left_[l];
        slope *= form_.s_e;
        if (j == y) slope -= other / theta0_[y] + form_.base * left_[y];
        const double floor = rounded_off * form_.s_e * std::sqrt(at.sums(j, j) * size);
        at.slope[d] = slope;
        at.rounded[d] = std::sqrt(slope * slope + floor * floor) + 1e-300;
        at.value -= box.half[j] * at.rounded[d];
    }
}

// The copies whose share is neither 0 nor 1.
void Bounder::mark_between() {
    between_.resize(padded_ + cells_.size());
    for (std::size_t i = 0; i < padded_; ++i) {
        between_[i] = mask_[i] > 0 && mask_[i] < weight_[i] ? weight_[i] : 0;
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const double all = cells_.weight()[i];
        between_[padded_ + i] = share_[i] > 0 && share_[i] < all ? all : 0;
    }
}

// After `smooth`: the step to the maximum of its quadratic model.
bool Bounder::newton(const Box& box, const double* g, const Smoothed& at, double* step) {
    const auto& loops = regression_loops();
    const int fitted = form_.fitted, free = form_.s_u > 0 ? form_.free_count : 0;
    const int count = fitted + free, all = static_cast<int>(padded_ + cells_.size());
    double e[most_columns] = {}, phi[most_columns];
    std::copy(theta0_, theta0_ + form_.searched, e);
    coefficients_u(theta0_, g, phi);
    const double twice = 2 * form_.s_u * std::fabs(theta0_[form_.response()]);
    mark_between();
    gradient_.resize(count);
    double mean[most_unknowns], h[most_unknowns][most_unknowns];
    const double inside = [&] {
        double sum = 1e-300;
        for (double w : between_) sum += w;
        return sum;
    }();
    for (int a = 0; a < count; ++a) {
        const bool of_fit = a < fitted;
        const int column = of_fit ? a : a - fitted;
        column_times(column, of_fit ? e : phi, of_fit ? e_.data() : u_centre_.data(), gradient_[a]);
        const double times = of_fit ? form_.s_e : twice;
        for (double& v : gradient_[a]) v *= times;
        step[a] = times * [&] {
            double sum = 0;
            const double* with = of_fit ? e : phi;
            for (int l = 0; l < form_.columns; ++l) sum += at.sums(column, l) * with[l];
            return sum;
        }();
        mean[a] = loops.product(between_.data(), gradient_[a].data(), nullptr, all) / inside;
    }
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b <= a; ++b) {
            const double products =
                loops.product(between_.data(), gradient_[a].data(), gradient_[b].data(), all);
            h[a][b] = (products - inside * mean[a] * mean[b]) / at.width;
            if (b >= fitted)
                h[a][b] +=
                    twice * std::fabs(theta0_[form_.response()]) * at.sums(a - fitted, b - fitted);
        }
    }
    for (int d = 0; d < dims_; ++d) {
        const double times = form_.s_e * box.half[dimension_[d]] / at.rounded[d];
        for (int a = 0; a < fitted; ++a) {
            const double by = at.sums(dimension_[d], a);
            step[a] -= times * at.slope[d] * by;
            // The curvature of a secant parabola: Newton's own vanishes away from zero.
            for (int b = 0; b <= a; ++b) {
                h[a][b] += times * form_.s_e * by * at.sums(dimension_[d], b);
            }
        }
    }
    double trace = 0;
    for (int a = 0; a < count; ++a) trace += h[a][a];
    for (int a = 0; a < count; ++a) h[a][a] += 1e-9 * trace + 1e-300;
    return solve_definite(count, h[0], most_unknowns, step);
}

// The mean and the standard deviation of the costs at the centre.
std::pair<double, double> Bounder::spread_of_costs() const {
    double sum = 0, squares = 0, weight = 0;
    const auto add = [&](double w, double cost) {
        sum += w * cost;
        squares += w * cost * cost;
        weight += w;
    };
    for (std::size_t i = 0; i < padded_; ++i) add(weight_[i], cost_[i]);
    for (std::size_t i = 0; i < cells_.size(); ++i) add(cells_.weight()[i], cell_cost_[i]);
    const double mean = sum / std::max(weight, 1.0);
    const double variance = squares / std::max(weight, 1.0) - mean * mean;
    return {mean, std::sqrt(std::max(variance, 1e-24 * mean * mean)) + 1e-300};
}

// A step of Newton's method, shortened until it rises. False where it does not.
bool Bounder::climb(Box& box, double width) {
    const int fitted = form_.fitted, free = form_.s_u > 0 ? form_.free_count : 0;
    Smoothed now;
    now.width = smoothed_over_ = width;
    now.threshold = box.lambda;
    smooth(box, box.g, now);
    box.lambda = now.threshold;
    reached_ = now.value;
    double step[most_unknowns], g[most_searched];
    if (!newton(box, box.g, now, step)) return false;
    double times = 1;
    for (int tried = 0; tried < shortened; ++tried, times /= 3) {
        for (int j = 0; j < fitted; ++j) left_[j] = box.left[j] + times * step[j];
        for (int j = 0; j < free; ++j) g[j] = box.g[j] + times * step[fitted + j];
        Smoothed next = now;
        smooth(box, g, next);
        if (!(next.value > now.value)) continue;
        std::copy(left_, left_ + fitted, box.left);
        std::copy(g, g + free, box.g);
        box.lambda = next.threshold;
        reached_ = next.value;
        mark_between();
        return true;
    }
    std::copy(box.left, box.left + fitted, left_);
    return false;
}

// Those that make the two factors alike, or the columns' own, and the mean cost as the threshold.
double Bounder::start_multipliers(Box& box) {
    const bool sign = form_.kind == Kind::sign;
    for (int j = 0; j < form_.fitted; ++j) left_[j] = box.left[j] = sign ? 0 : theta0_[j];
    std::fill(box.g, box.g + most_searched, 0.0);
    price(box.g);
    const auto [mean, spread] = spread_of_costs();
    box.lambda = mean;
    return spread;
}

// From the parent's. Where these do not promise to close the box, from the start as well: large
// ones that close a box in which no subset solves the equations are worthless in one where some do.
void Bounder::choose_multipliers(Box& box, bool thoroughly) {
    left_[form_.leading()] = theta0_[form_.response()];
    double spread = 0;
    if (box.guessed) {
        std::copy(box.left, box.left + form_.fitted, left_);
        price(box.g);
        spread = spread_of_costs().second;
    } else {
        spread = start_multipliers(box);
    }
    double change = 0;
    for (int j = 0; j < form_.searched; ++j) change += box.half[j] * box.half[j] * box.change[j];
    const double narrow = std::max(2 * std::sqrt(change), narrowest * spread);
    const double width = change > 0 ? std::min(narrow, smoothing * spread) : smoothing * spread;
    climb(box, width);
    if (!box.guessed || reached_ > 0) {
        box.guessed = true;
        if (!thoroughly) return;
    }
    Box before;
    copy_multipliers(box, before);
    const double reached = reached_, over = smoothed_over_;
    spread = start_multipliers(box);
    const double last = thoroughly ? narrowest : few_widths;
    for (double share = smoothing; share > last; share /= 3) {
        for (int step = 0; step < most_steps && climb(box, share * spread); ++step) {
        }
    }
    if (reached_ > reached) return;
    copy_multipliers(before, box);
    std::copy(box.left, box.left + form_.fitted, left_);
    smoothed_over_ = over;
}

// What half a width in each dimension costs to second order: the items near the threshold change
// places.
void Bounder::measure_curvature() {
    const auto& loops = regression_loops();
    const int all = static_cast<int>(padded_ + cells_.size());
    double left[most_columns] = {};
    std::copy(left_, left_ + form_.left_columns(), left);
    double inside = 0;
    for (double w : between_) inside += w;
    Column& product = gradient_[0];
    for (int j = 0; j < form_.searched; ++j) {
        column_times(j, left, left_factor_.data(), product);
        const double sum = loops.product(between_.data(), product.data(), nullptr, all);
        const double squares = loops.product(between_.data(), product.data(), product.data(), all);
        const double about = squares - (inside > 0 ? sum * sum / inside : 0);
        change_[j] = form_.s_e * form_.s_e * about / std::max(inside, 1.0);
        curvature_[j] = form_.s_e * form_.s_e * about / (2 * smoothed_over_);
    }
}

}  // namespace quadsweep::regression
