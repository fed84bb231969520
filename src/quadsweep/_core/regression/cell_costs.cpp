#include "cell_costs.hpp"

#include <algorithm>
#include <cmath>

#include "loops.hpp"

namespace quadsweep::regression {
namespace {

constexpr double cell_cost_roundings = 60;  // in e, d, u and what is made of them

}  // namespace

void CellCosts::load(const std::vector<int>& open) {
    const int columns = cells_.columns, entries = Gram::entries(columns);
    size_ = open.size();
    centre_.resize(columns);
    half_.resize(columns);
    mean_.resize(entries);
    for (auto* group : {&centre_, &half_, &mean_}) {
        for (Column& c : *group) c.resize(size_);
    }
    weight_.resize(size_);
    nothing_.assign(size_, 0.0);
    copies_ = 0;
    for (std::size_t i = 0; i < size_; ++i) {
        const double* numbers = cells_.numbers(open[i]);
        for (int j = 0; j < columns; ++j) {
            centre_[j][i] = numbers[j];
            half_[j][i] = numbers[columns + j];
        }
        for (int e = 0; e < entries; ++e) mean_[e][i] = numbers[2 * columns + e];
        weight_[i] = cells_.cell[open[i]].copies;
        copies_ += weight_[i];
    }
    for (Column* c :
         {&factor_, &reach_left_, &reach_centre_, &reach_difference_, &error_, &magnitude_}) {
        c->resize(size_);
    }
    for (Column& c : slope_) c.resize(size_);
    for (Other& o : other_) {
        o.u.resize(size_);
        o.reach.resize(size_);
        o.square.resize(size_);
    }
}

void CellCosts::at(const Form& form, const double* left, const double* theta) {
    const int in_left = form.left_columns();
    std::copy(left, left + in_left, left_);
    std::copy(theta, theta + form.searched, theta_);
    std::fill(factor_.begin(), factor_.end(), 0.0);
    std::fill(reach_left_.begin(), reach_left_.end(), 0.0);
    std::fill(reach_centre_.begin(), reach_centre_.end(), 0.0);
    double all[most_columns] = {};
    std::copy(left, left + in_left, all);
    for (int j = 0; j < in_left; ++j) {
        if (j < form.searched) column_times(j, all, slope_[j].data());
        const double size = std::fabs(left[j]);
        const double apart = std::fabs((j < form.searched ? theta[j] : 0) - left[j]);
        for (std::size_t i = 0; i < size_; ++i) {
            factor_[i] += left[j] * centre_[j][i];
            reach_left_[i] += size * half_[j][i];
            reach_centre_[i] += apart * half_[j][i];
        }
    }
}

void CellCosts::column_times(int column, const double* combination, double* out) const {
    std::fill(out, out + size_, 0.0);
    for (int l = 0; l < cells_.columns; ++l) {
        if (combination[l] == 0) continue;
        const Column& mean = mean_[Gram::at(column, l)];
        for (std::size_t i = 0; i < size_; ++i) out[i] += combination[l] * mean[i];
    }
}

void CellCosts::costs(const double* quadratic, double* out) const {
    std::vector<const double*> entries;
    for (const Column& c : mean_) entries.push_back(c.data());
    regression_loops().combine(entries.data(), quadratic, static_cast<int>(entries.size()),
                               static_cast<int>(size_), out);
}

std::vector<double> CellCosts::in_varying(const Form& form, const double* phi) const {
    std::vector<double> out(phi, phi + cells_.varying);
    for (std::size_t a = 0; a < cells_.combination.size(); ++a) {
        for (int j = 0; j < form.searched; ++j) {
            out[j] += phi[form.searched + static_cast<int>(a)] * cells_.combination[a][j];
        }
    }
    return out;
}

void CellCosts::other(const Form& form, int which, const double* phi) {
    Other& o = other_[which];
    o.phi = in_varying(form, phi);
    std::fill(o.u.begin(), o.u.end(), 0.0);
    std::fill(o.reach.begin(), o.reach.end(), 0.0);
    std::fill(o.square.begin(), o.square.end(), 0.0);
    if (form.s_u == 0) return;
    for (std::size_t v = 0; v < o.phi.size(); ++v) {
        const double times = o.phi[v], size = std::fabs(times);
        if (times == 0) continue;
        for (std::size_t i = 0; i < size_; ++i) {
            o.u[i] += times * centre_[v][i];
            o.reach[i] += size * half_[v][i];
        }
    }
    for (int j = 0; j < form.columns; ++j) {
        for (int l = 0; l <= j; ++l) {
            const double times = (j == l ? 1 : 2) * phi[j] * phi[l];
            if (times == 0) continue;
            const Column& mean = mean_[Gram::at(j, l)];
            for (std::size_t i = 0; i < size_; ++i) o.square[i] += times * mean[i];
        }
    }
}

// l and r bound the terms of the factors anywhere in the cell, and with them the roots of their
// mean squares; likewise those of u, in the columns it is summed up in here and in those of the
// rows.
void CellCosts::measure(const Form& form, const double* left, const double* right,
                        const double* difference, const double* phi) {
    const double slack = (cell_cost_roundings + 2 * cells_.roundings) * ulp;
    std::vector<double> there(form.columns);
    for (int j = 0; j < form.columns; ++j) there[j] = phi[j];
    for (std::size_t a = 0; a < cells_.combination.size(); ++a) {
        for (int j = 0; j < form.searched; ++j) {
            there[j] +=
                phi[form.searched + static_cast<int>(a)] * std::fabs(cells_.combination[a][j]);
        }
    }
    for (std::size_t i = 0; i < size_; ++i) {
        double l = 0, r = 0, mu = 0, reach = 0;
        for (int j = 0; j < form.columns; ++j) {
            const double size = std::fabs(centre_[j][i]) + half_[j][i] + form.floor[j];
            mu += there[j] * size;
            if (j >= form.left_columns()) continue;
            l += left[j] * size;
            reach += difference[j] * half_[j][i];
            if (j < form.searched) r += right[j] * size;
        }
        reach_difference_[i] = reach;
        magnitude_[i] = (form.s_e * l * r + form.s_u * mu * mu) * (1 + 1e-9);
        error_[i] = 2 * slack * magnitude_[i];
    }
}

void CellCosts::ends(const Form& form, const double* right, int which, const double* reach,
                     const double* error, CellEnds& out) const {
    out.cost.resize(2 * size_);
    out.weight.resize(2 * size_);
    const double *centre[most_columns], *half[most_columns], *slope[most_searched];
    for (int v = 0; v < cells_.varying; ++v) {
        centre[v] = centre_[v].data();
        half[v] = half_[v].data();
    }
    for (int j = 0; j < form.searched; ++j) slope[j] = slope_[j].data();
    const Other& o = other_[which];
    CellTask task{};
    task.size = static_cast<int>(size_);
    task.searched = form.searched;
    task.in_left = form.left_columns();
    task.varying = cells_.varying;
    task.centre = centre;
    task.half = half;
    task.slope = slope;
    task.left = left_;
    task.right = right;
    task.phi = o.phi.data();
    task.s_e = form.s_e;
    task.s_u = form.s_u;
    task.left_factor = factor_.data();
    task.u = o.u.data();
    task.reach_left = reach_left_.data();
    task.reach_difference = reach;
    task.reach_u = o.reach.data();
    task.square_u = o.square.data();
    task.weight = weight_.data();
    task.error = error;
    task.low = out.cost.data();
    task.high = task.low + size_;
    task.low_weight = out.weight.data();
    task.high_weight = task.low_weight + size_;
    regression_loops().cell_ends(task);
}

void CellCosts::centre_ends(const Form& form, CellEnds& out) const {
    ends(form, theta_, 0, reach_centre_.data(), nothing_.data(), out);
}

void CellCosts::corner_ends(const Form& form, const double* right, int which, CellEnds& out) const {
    ends(form, right, which, reach_difference_.data(), error_.data(), out);
}

double CellCosts::product(const std::vector<double>& share, int i, int j) const {
    return regression_loops().product(share.data(), mean_[Gram::at(i, j)].data(), nullptr,
                                      static_cast<int>(size_));
}

void CellCosts::chosen(const CellEnds& ends, double lambda, std::vector<double>& share) const {
    share.assign(size_, 0.0);
    for (std::size_t low = 0; low < size_; ++low) {
        const std::size_t high = low + size_;
        if (ends.cost[low] < lambda) share[low] += ends.weight[low];
        if (ends.cost[high] < lambda) share[low] += ends.weight[high];
    }
}

}  // namespace quadsweep::regression
