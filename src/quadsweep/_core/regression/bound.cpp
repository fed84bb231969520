#include "bound.hpp"

#include <algorithm>
#include <cmath>

#include "loops.hpp"
#include "shared/cholesky.hpp"
#include "shared/hot_loops.hpp"

namespace quadsweep::regression {

QUADSWEEP_FOLLOWING(RegressionLoops, regression_loops)

namespace {

constexpr double cost_roundings = 40;  // in a row's e or u, relative to the sum of its terms
// Items in a box of some depth for which the tangent, with its remainder, is better than equations.
constexpr std::size_t few_left = 6;
constexpr int first_depths = 8;
// From some depth on the two take turns, for some boxes are closed by one of them alone: where
// theta may be zero for y, by which the equations are multiplied, from the first; else where heavy
// tails have each dimension halved some times.
constexpr double often_halved = 3.5;
constexpr int climbs = 8;  // evaluations for the multipliers

}  // namespace

std::vector<const double*> Bounder::columns() const {
    std::vector<const double*> out;
    for (const Column& c : column_) out.push_back(c.data());
    return out;
}

void Bounder::load(const Box& box) {
    box_ = &box;
    const bool few = box.open.items() <= few_left && box.depth >= first_depths;
    const double deep =
        box.frame == form_.response() ? often_halved * (form_.searched - 1) : first_depths;
    const bool others_turn = box.depth >= deep && box.depth % 2 == 1;
    const bool sign = form_.kind == Kind::sign;  // has no tangent
    equations_ = sign || (form_.equations() && !few && !others_turn);
    kept_ = box.kept.total();
    count_ = box.open.point.size();
    padded_ = (count_ + 7) / 8 * 8;
    const auto& from = items_.grouped() ? items_.product : items_.column;
    column_.resize(from.size());
    for (std::size_t j = 0; j < from.size(); ++j) {
        column_[j].assign(padded_, 0.0);
        for (std::size_t i = 0; i < count_; ++i) column_[j][i] = from[j][box.open.point[i]];
    }
    weight_.assign(padded_, 0.0);
    for (std::size_t i = 0; i < count_; ++i) weight_[i] = box.open.copies[i];
    for (Column* c :
         {&e_, &left_factor_, &u_centre_, &u_[0], &u_[1], &u_[2], &u_[3], &cost_, &mask_,
          &best_mask_, &row_error_, &magnitude_, &out_, &in_, &lowest_, &highest_}) {
        c->resize(padded_);
    }
    cells_.load(box.open.cell);
}

// The coefficients of u in all columns.
void Bounder::coefficients_u(const double* theta, const double* g, double* phi) const {
    std::fill(phi, phi + most_columns, 0.0);
    if (form_.s_u == 0) return;
    if (equations_) {
        const int y = form_.response();
        const double root = std::sqrt(std::max(left_[y] * theta[y], 0.0));
        for (int j = 0; j < form_.free_count; ++j) phi[j] = -root * g[j];
        for (int a = 0; a < form_.active; ++a) phi[form_.searched + a] = root;
        return;
    }
    for (int j = 0; j < form_.free_count; ++j) phi[j] = -g[j];
    for (int a = 0; a < form_.active; ++a) {
        phi[form_.searched + a] = theta[form_.first_active() + a];
    }
}

// What the other square of the kept items costs.
double Bounder::kept_other(const double* phi) const {
    if (form_.s_u == 0 || box_->kept_units == 0) return 0;
    return form_.s_u * kept_.form(phi, phi, form_.columns);
}

// What the decided items cost a step from the centre, and the base.
double Bounder::offset(const double* step, double kept_other) const {
    const int y = form_.response();
    const double at = theta0_[y] + step[y];
    double sum = -form_.base * (equations_ ? left_[y] : at) * at;
    if (box_->kept_units == 0) return sum;
    double kept = 0;
    for (int j = 0; j < form_.searched; ++j) {
        kept += kept_left_[j] * (theta0_[j] + times_ * step[j]);
    }
    return sum + form_.s_e * kept - kept_other;
}

void Bounder::fill_groups(const double* right, const double* phi, double* out) {
    double a[Gram::entries(most_columns)];
    quadratic(form_, left_, right, phi, a);
    regression_loops().combine(columns().data(), a, static_cast<int>(column_.size()),
                               static_cast<int>(padded_), out);
}

double Bounder::guess(const double* cost, const CellEnds& ends) const {
    if (!cells_.empty()) return guess_with_cells(cost, ends);
    return guess_threshold(cost, weight_.data(), count_, box_->need);
}

double Bounder::solve(const double* cost, const CellEnds& ends, double offset, double& lambda,
                      bool positive_is_enough) {
    const auto& loops = hot_loops();
    const auto below = [&](double at) {
        Tally t = loops.tally(cost, weight_.data(), static_cast<int>(padded_), at);
        if (!cells_.empty()) {
            const Tally whole = loops.tally(ends.cost.data(), ends.weight.data(),
                                            static_cast<int>(ends.cost.size()), at);
            t.weight += whole.weight;
            t.cost += whole.cost;
        }
        return t;
    };
    return threshold_.maximise(below, box_->need, offset, positive_is_enough, lambda);
}

// Of rows or groups, at the centre, for the left factor that there is.
void Bounder::central_costs(const double* phi) {
    const auto& loops = regression_loops();
    const int size = static_cast<int>(padded_);
    if (items_.grouped()) {
        fill_groups(theta0_, phi, cost_.data());
        return;
    }
    if (form_.s_u > 0) {
        loops.combine(columns().data(), phi, form_.columns, size, u_centre_.data());
    }
    loops.combine(columns().data(), left_, form_.left_columns(), size, left_factor_.data());
    loops.costs(left_factor_.data(), e_.data(), form_.s_e, u_centre_.data(), form_.s_u, size,
                cost_.data());
}

// The bound at the centre for these multipliers, and what it chooses.
double Bounder::evaluate(const double* g, double& lambda, Choice& choice) {
    const double zero[most_searched] = {};
    double phi[most_columns];
    coefficients_u(theta0_, g, phi);
    central_costs(phi);
    if (!cells_.empty()) {
        cells_.at(form_, left_, theta0_);
        cells_.other(form_, 0, phi);
        cells_.centre_ends(form_, centre_ends_);
    }
    if (std::isnan(lambda)) lambda = guess(cost_.data(), centre_ends_);
    choice.value = solve(cost_.data(), centre_ends_, offset(zero, kept_other(phi)), lambda, false);
    choice.lambda = lambda;
    n_evaluations += static_cast<double>(count_ + cells_.size());
    return choice.value;
}

// Over what the mask chooses.
double Bounder::chosen_product(int i, int j) const {
    const auto& loops = regression_loops();
    const int size = static_cast<int>(padded_);
    if (items_.grouped()) {
        return loops.product(mask_.data(), column_[Gram::at(i, j)].data(), nullptr, size);
    }
    const double rows = loops.product(mask_.data(), column_[i].data(), column_[j].data(), size);
    return cells_.empty() ? rows : rows + cells_.product(share_, i, j);
}

// The sums over what is chosen that the multipliers need, or all of them.
void Bounder::add_chosen(Choice& choice, bool all) {
    if (!all) {
        choice.units = box_->kept_units + regression_loops().chosen(cost_.data(), weight_.data(),
                                                                    static_cast<int>(padded_),
                                                                    choice.lambda, mask_.data());
        cells_.chosen(centre_ends_, choice.lambda, share_);
        for (double share : share_) choice.units += share;
        choice.sums = kept_;
    }
    const int f = equations_ ? 0 : form_.free_count;
    int e = 0;
    for (int i = 0; i < form_.columns; ++i) {
        for (int j = 0; j <= i; ++j, ++e) {
            const bool wanted = j < f && (i < f || i >= form_.searched);
            if (all != wanted) choice.sums.s[e] += chosen_product(i, j);
        }
    }
}

// g = the fit of u's active part on the free columns over the chosen, for theta; how it changes
// with theta is left in slope_. False where the free columns are dependent there.
bool Bounder::least_squares(const Gram& s, const double* theta, double* g) {
    const int f = form_.free_count;
    double l[most_searched][most_searched], right[most_active][most_searched];
    for (int j = 0; j < f; ++j) {
        for (int i = 0; i <= j; ++i) l[j][i] = s(j, i);
    }
    const auto counts = [](double pivot, double entry) { return pivot > 1e-12 * entry; };
    if (!cholesky(f, l[0], most_searched, counts)) return false;
    std::fill(g, g + f, 0.0);
    for (int a = 0; a < form_.active; ++a) {
        double* r = right[a];
        for (int j = 0; j < f; ++j) r[j] = s(form_.searched + a, j);
        solve_lower(f, l[0], most_searched, r);
        solve_upper(f, l[0], most_searched, r);
        for (int j = 0; j < f; ++j) g[j] += theta[form_.first_active() + a] * r[j];
    }
    for (int a = 0; a < form_.active; ++a) std::copy(right[a], right[a] + f, slope_[a]);
    return true;
}

Choice Bounder::centre(Box& box, bool thoroughly) {
    const auto& loops = regression_loops();
    std::copy(box.centre, box.centre + form_.searched, theta0_);
    for (auto& s : slope_) std::fill(s, s + most_searched, 0.0);
    if (!items_.grouped()) {
        loops.combine(columns().data(), theta0_, form_.searched, static_cast<int>(padded_),
                      e_.data());
    }
    order_dimensions(box);
    times_ = equations_ ? 1 : 2;
    if (equations_) {
        choose_multipliers(box, thoroughly);
    } else {
        std::copy(theta0_, theta0_ + form_.searched, left_);
    }
    for (int j = 0; j < form_.searched; ++j) {
        kept_left_[j] = 0;
        for (int l = 0; l < form_.left_columns(); ++l) kept_left_[j] += kept_(j, l) * left_[l];
    }
    double lambda = box.guessed ? box.lambda : std::nan("");
    const int f = form_.s_u > 0 && !equations_ ? form_.free_count : 0;
    Choice best;
    evaluate(box.g, lambda, best);
    add_chosen(best, false);
    swap_masks();
    double wanted[most_searched], g[most_searched];
    double step = 1;
    bool direction = f > 0 && least_squares(best.sums, theta0_, wanted);
    for (int climb = 1; climb < climbs && direction; ++climb) {
        // What the quadratic above could still give: |s| |wanted - g|^2 in the free columns' norm.
        double change[most_searched] = {};
        for (int j = 0; j < f; ++j) change[j] = wanted[j] - box.g[j];
        const double gain = form_.s_u * best.sums.form(change, change, f);
        if (!(gain > 0.03 * std::fabs(best.value)) || !std::isfinite(gain)) break;
        for (int j = 0; j < f; ++j) g[j] = box.g[j] + step * change[j];
        Choice trial;
        evaluate(g, lambda, trial);
        if (trial.value > best.value) {
            add_chosen(trial, false);
            swap_masks();
            best = trial;
            std::copy(g, g + f, box.g);
            direction = least_squares(best.sums, theta0_, wanted);
        } else {
            step /= 3;
        }
    }
    box.lambda = best.lambda;
    box.guessed = true;
    swap_masks();
    return best;
}

void Bounder::order_dimensions(const Box& box) {
    dims_ = inner_ = 0;
    for (int j = 0; j < form_.first_active(); ++j) {
        if (j != box.frame) dimension_[dims_++] = j;
    }
    inner_ = dims_;
    for (int j = form_.first_active(); j < form_.searched && !box.of_fits; ++j) {
        if (j != box.frame) dimension_[dims_++] = j;
    }
    outer_ = dims_ - inner_;
    corners_ = 1 << dims_;
}

void Bounder::corner_theta(const Box& box, int corner, double* theta) const {
    std::copy(box.centre, box.centre + form_.searched, theta);
    for (int d = 0; d < dims_; ++d) {
        const int j = dimension_[d];
        theta[j] += (corner >> d & 1) != 0 ? box.half[j] : -box.half[j];
    }
}

void Bounder::corner_g(const Box& box, const double* theta, double* g) const {
    for (int j = 0; j < form_.free_count; ++j) {
        g[j] = box.g[j];
        for (int a = 0; a < form_.active; ++a) {
            const int at = form_.first_active() + a;
            g[j] += slope_[a][j] * (theta[at] - box.centre[at]);
        }
    }
}

void Bounder::bound(const Box& box) {
    const auto& loops = regression_loops();
    if (row_.size() < static_cast<std::size_t>(corners_)) {
        row_.resize(corners_);
        ends_.resize(corners_);
    }
    for (int q = 0; q < corners_; ++q) row_[q].resize(padded_);
    double theta[most_searched], g[most_searched], phi[most_columns], step[most_searched];
    double right[most_searched], other = 0;
    const int size = static_cast<int>(padded_);
    if (!cells_.empty()) prepare_cells(box);
    if (!items_.grouped()) {
        CornerTask task{};
        task.size = size;
        task.inner = inner_;
        task.outer = outer_;
        task.e = e_.data();
        if (equations_) task.left = left_factor_.data();
        task.s_e = form_.s_e;
        task.s_u = form_.s_u;
        task.lambda = box.lambda;
        if (form_.s_u > 0) task.u_centre = u_centre_.data();
        for (int d = 0; d < dims_; ++d) {
            task.column[d] = column_[dimension_[d]].data();
            task.step[d] = times_ * form_.s_e * box.half[dimension_[d]];
        }
        for (int o = 0; o < 1 << outer_ && form_.s_u > 0; ++o) {
            corner_theta(box, o << inner_, theta);
            corner_g(box, theta, g);
            coefficients_u(theta, g, phi);
            loops.combine(columns().data(), phi, form_.columns, size, u_[o].data());
            task.u[o] = u_[o].data();
        }
        double* out[most_corners];
        for (int q = 0; q < corners_; ++q) out[q] = row_[q].data();
        task.out = out;
        loops.corners(task);
    }
    double largest = 0;
    for (int q = 0; q < corners_; ++q) {
        corner_theta(box, q, theta);
        if (q % (1 << inner_) == 0) {  // u sees the outer dimensions only
            corner_g(box, theta, g);
            coefficients_u(theta, g, phi);
            other = kept_other(phi);
        }
        for (int j = 0; j < form_.searched; ++j) {
            step[j] = theta[j] - box.centre[j];
            right[j] = theta0_[j] + times_ * step[j];
        }
        if (items_.grouped()) fill_groups(right, phi, row_[q].data());
        lambda_[q] = q == 0 ? box.lambda : lambda_[q - 1];
        if (!cells_.empty()) cells_.corner_ends(form_, right, q >> inner_, ends_[q]);
        offset_[q] = offset(step, other);
        value_[q] = solve(row_[q].data(), ends_[q], offset_[q], lambda_[q], true);
        if (!std::isfinite(value_[q])) value_[q] = -infinity;
        const double y = theta[form_.response()];
        largest = std::max(largest,
                           form_.base * std::fabs((equations_ ? left_[form_.response()] : y) * y));
    }
    n_evaluations +=
        static_cast<double>(corners_) * static_cast<double>(count_ + cells_.size()) / 4;
    measure_errors(box, largest);
}

Bounder::Largest Bounder::largest_coefficients(const Box& box) const {
    Largest most{};
    for (int j = 0; j < form_.searched; ++j) {
        const double half = box.half[j];
        most.theta[j] = std::fabs(box.centre[j]) + half;
        most.left[j] = equations_ ? std::fabs(left_[j]) : most.theta[j];
        most.reach[j] = times_ * half;
        most.right[j] = most.theta[j] + (equations_ ? 0 : 2 * half);
        most.difference[j] = std::fabs(theta0_[j] - left_[j]) + times_ * half;
    }
    for (int j = form_.searched; j < form_.left_columns(); ++j) {
        most.left[j] = most.difference[j] = std::fabs(left_[j]);
    }
    double corner[most_searched], g[most_searched], at[most_columns];
    for (int o = 0; o < 1 << outer_; ++o) {
        corner_theta(box, o << inner_, corner);
        corner_g(box, corner, g);
        coefficients_u(corner, g, at);
        for (int j = 0; j < form_.columns; ++j) {
            most.phi[j] = std::max(most.phi[j], std::fabs(at[j]));
        }
    }
    return most;
}

void Bounder::row_errors(const Largest& most) {
    ErrorTask task{};
    task.size = static_cast<int>(padded_);
    task.columns = form_.columns;
    task.searched = form_.searched;
    task.in_left = form_.left_columns();
    const auto all = columns();
    task.column = all.data();
    task.left = most.left;
    task.theta = most.theta;
    task.reach = most.reach;
    task.phi = most.phi;
    for (int j = 0; j < form_.columns; ++j) {
        if (j < form_.searched) task.offset_e += most.theta[j] * form_.floor[j];
        if (j < form_.left_columns()) task.offset_left += most.left[j] * form_.floor[j];
        task.offset_u += most.phi[j] * form_.floor[j];
    }
    task.s_e = form_.s_e;
    task.s_u = form_.s_u;
    task.slack = cost_roundings * ulp;
    task.left_factor = left_factor_.data();
    task.e = e_.data();
    task.error = row_error_.data();
    task.magnitude = magnitude_.data();
    regression_loops().errors(task);
}

void Bounder::group_errors(const Largest& most) {
    const auto size_at = [&](int i, int j) {
        return form_.s_u * most.phi[i] * most.phi[j] +
               form_.s_e * (most.left[i] * most.right[j] + most.right[i] * most.left[j]) / 2;
    };
    for (std::size_t g = 0; g < padded_; ++g) {
        double sum = 0;
        for (int i = 0; i < form_.columns; ++i) {
            for (int j = 0; j < form_.columns; ++j) {
                // An entry's terms are bounded by the squares.
                const double root =
                    std::sqrt(column_[Gram::at(i, i)][g]) * std::sqrt(column_[Gram::at(j, j)][g]);
                sum += size_at(i, j) * (root + form_.floor[i] * form_.floor[j]);
            }
        }
        magnitude_[g] = sum;
        row_error_[g] = (cost_roundings + 2 * items_.roundings) * ulp * sum;
    }
}

// Forward error of the bounds: of the costs below their thresholds (or that may be, for all that
// rounding tells), of their sums (64 additions in a row in a block of the loop, one a block) and of
// what is decided.
void Bounder::measure_errors(const Box& box, double base) {
    const Largest most = largest_coefficients(box);
    if (items_.grouped()) {
        group_errors(most);
    } else {
        row_errors(most);
    }
    const double* rows[most_corners];
    for (int q = 0; q < corners_; ++q) rows[q] = row_[q].data();
    MarginTask task{static_cast<int>(padded_),
                    corners_,
                    rows,
                    lambda_,
                    lift_,
                    out_.data(),
                    in_.data(),
                    lowest_.data(),
                    highest_.data()};
    regression_loops().extremes(task);
    const auto& loops = regression_loops();
    const int size = static_cast<int>(padded_);
    const double costs =
        loops.touched(weight_.data(), row_error_.data(), lowest_.data(), row_error_.data(), size);
    const double sums =
        loops.touched(weight_.data(), magnitude_.data(), lowest_.data(), row_error_.data(), size);
    double kept = 0;
    if (box.kept_units > 0) {
        double floor[most_columns];
        const double many = box.kept_units * (1 + items_.roundings);
        for (int j = 0; j < form_.columns; ++j) floor[j] = form_.floor[j] * std::sqrt(many);
        kept = form_.s_e * std::sqrt(kept_.magnitude(most.left, floor, form_.left_columns()) *
                                     kept_.magnitude(most.right, floor, form_.searched)) +
               form_.s_u * kept_.magnitude(most.phi, floor, form_.columns);
    }
    double threshold = 0;
    for (int q = 0; q < corners_; ++q) threshold = std::max(threshold, std::fabs(lambda_[q]));
    error_ =
        costs * (1 + 1e-6) + ulp * (4 * base + (80 + static_cast<double>(padded_) / 512) * sums +
                                    (120 + 4 * items_.roundings + 4 * tree_.roundings) * kept +
                                    8 * threshold * (std::abs(box.need) + 1));
    // Of cells the ends are widened already; what is left are the sums and weights that are shares.
    if (!cells_.empty()) {
        error_ += ulp * (96 + static_cast<double>(cells_.size()) / 128) *
                  (touched_cells() + threshold * cells_.copies());
    }
    if (!std::isfinite(error_)) error_ = infinity;
    smooth_ = with_remainder(box);
    least_ = std::max(*std::min_element(value_, value_ + corners_), smooth_);
    if (least_ >= error_) return;
    if (!cells_.empty()) measure_coarseness();

    // The box stays: margins for deciding items, and squares for choosing what to split.
    for (int q = 0; q < corners_; ++q) lift_[q] = (error_ - value_[q]) * (1 + 1e-9);
    regression_loops().margins(task);
    if (equations_) {
        measure_curvature();
        return;
    }
    const auto worst = std::min_element(value_, value_ + corners_) - value_;
    loops.chosen(row_[worst].data(), weight_.data(), size, lambda_[worst], mask_.data());
    cells_.chosen(ends_[worst], lambda_[worst], share_);
    for (int j = 0; j < form_.searched; ++j) diagonal_[j] = kept_(j, j) + chosen_product(j, j);
}

double Bounder::width_cost(const Box& box, int column) const {
    const double squared = box.half[column] * box.half[column];
    if (equations_) {
        return squared * std::max(curvature_[column], 1e-4 * (box.kept_units + box.need));
    }
    // The remainder of what is already kept is not lost.
    const double open =
        smooth_ > -infinity ? diagonal_[column] - 0.9 * kept_(column, column) : diagonal_[column];
    // No share of another column's squares: beside heavy tails there this one would be halved for
    // nothing, again and again.
    const double least = 0.01 * (box.kept_units + box.need);
    return form_.s_e * squared * std::max(open, least);
}

double Bounder::width_cost(const Box& box, double centre) const {
    if (equations_) return centre - least_;
    double sum = 0;
    for (int j = 0; j < form_.searched; ++j) sum += width_cost(box, j);
    return sum;
}

// Keeping a copy of an item with cost above lambda lifts the bound by cost - lambda, leaving one
// below it out by lambda - cost. Both are concave over the box, so the corners decide; and a lift
// by the least amount at all corners lifts the affine function too.
bool Bounder::fix(Box& box) {
    const double smooth = (error_ - smooth_) * (1 + 1e-9);
    std::copy(change_, change_ + most_searched, box.change);
    auto newly = std::make_shared<Decided>();
    std::size_t to = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        const int item = box.open.point[i], copies = box.open.copies[i];
        int most = copies, least = 0;
        if (copies == 1) {
            const double own = row_error_[i];
            if (out_[i] >= own || lowest_[i] - smooth >= own) most = 0;
            if (in_[i] >= own || -highest_[i] - smooth >= own) least = 1;
        } else {
            double out = 0, in = 0;  // copies that cannot be kept, or left out
            for (int q = 0; q < corners_; ++q) {
                if (!(lift_[q] > 0)) continue;
                const double d = row_[q][i] - lambda_[q], own = row_error_[i];
                out = std::max(out, d - own > 0 ? lift_[q] / (d - own) : infinity);
                in = std::max(in, -d - own > 0 ? lift_[q] / (-d - own) : infinity);
            }
            const double far = lowest_[i] - row_error_[i], near = -highest_[i] - row_error_[i];
            if (far > 0) out = std::min(out, smooth / far);
            if (near > 0) in = std::min(in, smooth / near);
            if (out <= copies) most = std::max(1, static_cast<int>(std::ceil(out))) - 1;
            if (in <= copies) least = copies - (std::max(1, static_cast<int>(std::ceil(in))) - 1);
        }
        if (least > most) return false;
        if (least > 0) {
            newly->points.push_back({item, least});
            Gram added;
            items_.add(added, item, least);
            box.kept.add(added, form_.columns);
            box.need -= least;
            box.kept_units += least;
        }
        if (most > least) {
            box.open.point[to] = item;
            box.open.copies[to++] = most - least;
        }
    }
    box.open.point.resize(to);
    box.open.copies.resize(to);
    if (!cells_.empty() && !fix_cells(box, *newly)) return false;
    decide(box.decided, std::move(newly));
    return true;
}

const std::vector<double>& Bounder::pull(const Box& box) {
    pull_.assign(box.open.point.size(), 0.0);
    double phi[most_columns];
    coefficients_u(box.centre, box.g, phi);
    for (std::size_t i = 0; i < box.open.point.size(); ++i) {
        const Gram g = items_.gram(box.open.point[i]);
        const double e = g.form(box.centre, box.centre, form_.searched);
        const double u = g.form(phi, phi, form_.columns);
        pull_[i] = box.open.copies[i] * std::sqrt(std::max(form_.s_u > 0 ? u : e, 0.0));
    }
    return pull_;
}

Gram Bounder::everything(const Box& box) {
    Gram g = box.kept.total();
    for (std::size_t i = 0; i < box.open.point.size(); ++i)
        items_.add(g, box.open.point[i], box.open.copies[i]);
    for (int at : box.open.cell) tree_.add(g, at);
    return g;
}

}  // namespace quadsweep::regression
