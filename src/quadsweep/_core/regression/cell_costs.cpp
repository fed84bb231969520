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
    for (Column* c : {&e_, &reach_e_, &square_, &reach_d_, &error_, &magnitude_}) c->resize(size_);
    for (Column& c : slope_) c.resize(size_);
    for (Other& o : other_) {
        o.u.resize(size_);
        o.reach.resize(size_);
        o.square.resize(size_);
    }
}

void CellCosts::at(const Form& form, const double* theta) {
    std::copy(theta, theta + form.searched, theta_);
    std::fill(e_.begin(), e_.end(), 0.0);
    std::fill(reach_e_.begin(), reach_e_.end(), 0.0);
    std::fill(square_.begin(), square_.end(), 0.0);
    for (int j = 0; j < form.searched; ++j) {
        std::fill(slope_[j].begin(), slope_[j].end(), 0.0);
        for (int l = 0; l < form.searched; ++l) {
            const Column& mean = mean_[Gram::at(j, l)];
            for (std::size_t i = 0; i < size_; ++i) slope_[j][i] += theta[l] * mean[i];
        }
        const double size = std::fabs(theta[j]);
        for (std::size_t i = 0; i < size_; ++i) {
            e_[i] += theta[j] * centre_[j][i];
            reach_e_[i] += size * half_[j][i];
            square_[i] += theta[j] * slope_[j][i];
        }
    }
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

// m bounds the terms of e anywhere in the cell, and with them the root of e's mean square; likewise
// those of u, in the columns it is summed up in here and in those of the rows.
void CellCosts::measure(const Form& form, const double* theta, const double* half,
                        const double* phi) {
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
        double m = 0, d = 0, mu = 0, reach = 0;
        for (int j = 0; j < form.columns; ++j) {
            const double size = std::fabs(centre_[j][i]) + half_[j][i] + form.floor[j];
            mu += there[j] * size;
            if (j >= form.searched) continue;
            m += theta[j] * size;
            d += half[j] * size;
            reach += half[j] * half_[j][i];
        }
        reach_d_[i] = reach;
        magnitude_[i] = (form.s_e * m * (m + 2 * d) + form.s_u * mu * mu) * (1 + 1e-9);
        error_[i] = 2 * slack * magnitude_[i];
    }
}

void CellCosts::ends(const Form& form, const double* step, int which, const double* reach,
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
    task.varying = cells_.varying;
    task.centre = centre;
    task.half = half;
    task.slope = slope;
    task.theta = theta_;
    task.step = step;
    task.phi = o.phi.data();
    task.s_e = form.s_e;
    task.s_u = form.s_u;
    task.e = e_.data();
    task.u = o.u.data();
    task.reach_e = reach_e_.data();
    task.reach_d = reach;
    task.reach_u = o.reach.data();
    task.square_e = square_.data();
    task.square_u = o.square.data();
    task.weight = weight_.data();
    task.error = error;
    task.low = out.cost.data();
    task.high = task.low + size_;
    task.low_weight = out.weight.data();
    task.high_weight = task.low_weight + size_;
    several_loops().cell_ends(task);
}

void CellCosts::centre_ends(const Form& form, CellEnds& out) const {
    const double zero[most_columns] = {};
    ends(form, zero, 0, nothing_.data(), nothing_.data(), out);
}

void CellCosts::corner_ends(const Form& form, const double* step, int which, CellEnds& out) const {
    ends(form, step, which, reach_d_.data(), error_.data(), out);
}

double CellCosts::product(const std::vector<double>& share, int i, int j) const {
    return several_loops().product(share.data(), mean_[Gram::at(i, j)].data(), nullptr,
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
