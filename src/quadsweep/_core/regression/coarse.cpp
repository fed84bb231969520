// Cells in a box's bound: how much they cost it, which are decided as a whole, and which are
// opened.
#include <algorithm>
#include <cmath>

#include "bound.hpp"
#include "loops.hpp"

namespace quadsweep::regression {

double Bounder::guess_with_cells(const double* cost, const CellEnds& ends) const {
    std::vector<std::pair<double, double>> all;
    const std::size_t n = cells_.size();
    for (std::size_t i = 0; i < n; ++i) {
        const double weight = ends.weight[i] + ends.weight[i + n];
        const double sum = ends.weight[i] * ends.cost[i] + ends.weight[i + n] * ends.cost[i + n];
        all.emplace_back(sum / weight, weight);
    }
    for (std::size_t i = 0; i < count_; ++i) all.emplace_back(cost[i], weight_[i]);
    std::sort(all.begin(), all.end());
    double below = 0;
    for (const auto& [at, weight] : all) {
        below += weight;
        if (below >= box_->need) return at;
    }
    return all.back().first;
}

void Bounder::prepare_cells(const Box& box) {
    double phi[most_columns], corner[most_searched], g[most_searched];
    const Largest most = largest_coefficients(box);
    cells_.measure(form_, most.left, most.right, most.difference, most.phi);
    for (int o = 0; o < 1 << outer_; ++o) {
        corner_theta(box, o << inner_, corner);
        corner_g(box, corner, g);
        coefficients_u(corner, g, phi);
        cells_.other(form_, o, phi);
    }
}

double Bounder::touched_cells() const {
    double sum = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        bool below = false;
        for (int q = 0; q < corners_; ++q) below |= ends_[q].cost[i] < lambda_[q];
        if (below)
            sum += (ends_[0].weight[i] + ends_[0].weight[i + cells_.size()]) * cells_.magnitude(i);
    }
    return sum;
}

// At the worst corner the difference to shrunk cells bounds what they cost, the change of lambda
// included.
void Bounder::measure_coarseness() {
    const auto worst = std::min_element(value_, value_ + corners_) - value_;
    const std::size_t n = cells_.size();
    const Ends ends{ends_[worst].cost.data(), ends_[worst].cost.data() + n,
                    ends_[worst].weight.data(), ends_[worst].weight.data() + n, n};
    CellEnds& shrunk = centre_ends_;
    shrunk.cost.resize(2 * n);
    shrunk.weight.resize(2 * n);
    shrink_to_means(ends, shrunk.cost.data(), shrunk.cost.data() + n, shrunk.weight.data(),
                    shrunk.weight.data() + n);
    double lambda = lambda_[worst];
    const double without = solve(row_[worst].data(), shrunk, offset_[worst], lambda, false);
    coarseness_ = std::max(0.0, without - value_[worst]);
    gap_.assign(n, 0.0);
    for (const double at : {lambda, lambda_[worst]}) widen_gaps(ends, at, gap_);
}

// Margins as for rows (loops.hpp), of the ends that start at `from`.
void Bounder::cell_margins(std::size_t from, double* out, double* in, double* lowest,
                           double* highest) const {
    const double* ends[most_corners];
    for (int q = 0; q < corners_; ++q) ends[q] = ends_[q].cost.data() + from;
    const MarginTask task{
        static_cast<int>(cells_.size()), corners_, ends, lambda_, lift_, out, in, lowest, highest};
    regression_loops().extremes(task);
    regression_loops().margins(task);
}

// Low ends decide what is out, high ends what is in; both are widened by rounding already.
bool Bounder::fix_cells(Box& box, Decided& newly) const {
    const std::size_t n = cells_.size();
    const double smooth = (error_ - smooth_) * (1 + 1e-9);
    Column out(n), in(n), lowest(n), highest(n), unused(n), unused_too(n);
    cell_margins(0, out.data(), unused.data(), lowest.data(), unused_too.data());
    cell_margins(n, unused.data(), in.data(), unused_too.data(), highest.data());
    std::size_t to = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const int at = box.open.cell[i];
        const bool is_out = out[i] >= 0 || lowest[i] - smooth >= 0;
        const bool is_in = in[i] >= 0 || -highest[i] - smooth >= 0;
        if (is_out && is_in) return false;
        if (is_out) continue;
        if (!is_in) {
            box.open.cell[to++] = at;
            continue;
        }
        newly.cells.push_back(at);
        Gram added;
        tree_.add(added, at);
        box.kept.add(added, form_.columns);
        box.need -= tree_.cell[at].copies;
        box.kept_units += tree_.cell[at].copies;
    }
    box.open.cell.resize(to);
    return true;
}

}  // namespace quadsweep::regression
