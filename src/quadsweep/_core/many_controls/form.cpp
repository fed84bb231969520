#include "form.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "regression/loops.hpp"

namespace quadsweep::many_controls {
namespace {

constexpr double least_left = 1e-5;     // of kappa and of 1 - h, below which rounding is too large
constexpr double most_rounding = 1e-8;  // relative, of z, p and q
constexpr double unit = 2.3e-16;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

State::State(const Form& form)
    : rank(form.rank), plain(form.items == form.rows), rounding(form.rounding) {
    std::vector<int> order(static_cast<std::size_t>(form.rows));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return form.item_of[a] < form.item_of[b]; });
    const auto gathered = [&](const double* from) {
        std::vector<double> to(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) to[i] = from[order[i]];
        return to;
    };
    p = gathered(form.p.data());
    q = gathered(form.q.data());
    extra = gathered(form.extra.data());
    e = gathered(form.e.data());
    for (int k = 0; k < rank; ++k) {
        const auto column_k = gathered(form.z.data() + static_cast<std::size_t>(k) * order.size());
        z.insert(z.end(), column_k.begin(), column_k.end());
    }
    for (int r : order) class_of.push_back(form.class_of[r]);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const int of = form.item_of[order[i]];
        if (item.empty() || item.back() != of) {
            item.push_back(of);
            start.push_back(static_cast<int>(i));
        }
    }
    start.push_back(form.rows);
    int classes = 0;
    for (int c : class_of) classes = std::max(classes, c + 1);
    left.assign(static_cast<std::size_t>(classes), 0);
    for (int c : class_of) {
        if (c >= 0) ++left[c];
    }
    value = dot(p, q) - std::accumulate(extra.begin(), extra.end(), 0.0);
    size_of_terms = std::sqrt(dot(p, p) * dot(q, q));
    for (double v : extra) size_of_terms += std::fabs(v);
    drop_last_of_classes();
}

std::size_t State::bytes() const {
    return (z.size() + 4 * p.size()) * sizeof(double) +
           (class_of.size() + left.size() + item.size() + start.size()) * sizeof(int);
}

// Row a goes; it stays in the arrays, to be left out by keep().
bool State::remove_row(int a) {
    const int c = class_of[a];
    const std::size_t n = p.size();
    double kappa = 1;
    if (c >= 0) {
        kappa = 1 - e[a] * e[a];
        if (!(kappa > least_left)) return false;
        --left[c];
        for (std::size_t j = 0; j < n; ++j) {
            if (class_of[j] != c || static_cast<int>(j) == a) continue;
            const double share = e[j] * e[a] / kappa;
            for (int k = 0; k < rank; ++k) z[k * n + j] += share * z[k * n + a];
            p[j] += share * p[a];
            q[j] += share * q[a];
            e[j] /= std::sqrt(kappa);
        }
    }
    const double root = std::sqrt(kappa);
    std::vector<double> za(static_cast<std::size_t>(rank)), product(n, 0.0);
    std::vector<const double*> columns(static_cast<std::size_t>(rank));
    double h = 0;
    for (int k = 0; k < rank; ++k) {
        za[k] = z[k * n + a] / root;
        h += za[k] * za[k];
        columns[k] = column(k);
    }
    const double rest = 1 - h;
    if (!(rest > least_left)) return false;
    rounding = (rounding + 8 * (rank + 4) * unit) / (rest * kappa);
    if (rounding > most_rounding) return false;
    const double pa = p[a] / root, qa = q[a] / root;
    value += extra[a] - pa * qa / rest;
    if (rank > 0) {
        regression::regression_loops().combine(columns.data(), za.data(), rank, static_cast<int>(n),
                                               product.data());
    }
    const double beta = h > 1e-8 ? (1 / std::sqrt(rest) - 1) / h : 0.5;
    for (int k = 0; k < rank; ++k) {
        const double times = beta * za[k];
        double* of = z.data() + k * n;
        for (std::size_t j = 0; j < n; ++j) of[j] += times * product[j];
    }
    for (std::size_t j = 0; j < n; ++j) {
        p[j] += product[j] * (pa / rest);
        q[j] += product[j] * (qa / rest);
    }
    return true;
}

void State::keep(const std::vector<char>& rows_kept, const std::vector<char>& items_kept) {
    const std::size_t n = p.size();
    const auto pick = [&](auto& values, std::size_t from) {
        std::size_t to = 0;
        auto out = values;
        out.clear();
        for (std::size_t j = 0; j < n; ++j, ++to) {
            if (rows_kept[j]) out.push_back(values[from + j]);
        }
        return out;
    };
    std::vector<double> kept_z;
    for (int k = 0; k < rank; ++k) {
        const auto one = pick(z, k * n);
        kept_z.insert(kept_z.end(), one.begin(), one.end());
    }
    std::vector<int> items, starts;
    int rows_so_far = 0;
    for (int i = 0; i < size(); ++i) {
        if (!items_kept[i]) continue;
        items.push_back(item[i]);
        starts.push_back(rows_so_far);
        rows_so_far += start[i + 1] - start[i];
    }
    starts.push_back(rows_so_far);
    p = pick(p, 0);
    q = pick(q, 0);
    extra = pick(extra, 0);
    e = pick(e, 0);
    class_of = pick(class_of, 0);
    z = std::move(kept_z);
    item = std::move(items);
    start = std::move(starts);
}

void State::drop_last_of_classes() {
    std::vector<char> rows_kept(p.size(), 1), items_kept(item.size(), 1);
    bool any = false;
    for (std::size_t i = 0; i < item.size(); ++i) {
        const int a = start[i];
        if (class_of[a] < 0 || left[class_of[a]] != 1 || start[i + 1] != a + 1) continue;
        rows_kept[a] = items_kept[i] = 0;
        any = true;
    }
    if (any) keep(rows_kept, items_kept);
}

State State::only(const std::vector<char>& marked) const {
    State out = *this;
    std::vector<char> rows_kept(p.size(), 0);
    for (int i = 0; i < size(); ++i) {
        std::fill(rows_kept.begin() + start[i], rows_kept.begin() + start[i + 1], marked[i]);
    }
    out.keep(rows_kept, marked);
    return out;
}

std::optional<State> State::without(int candidate, const std::vector<char>& marked) const {
    std::vector<char> wanted = marked;
    wanted[candidate] = 1;
    State out = only(wanted);
    int at = 0;
    for (int i = 0; i < candidate; ++i) at += wanted[i];
    for (int a = out.start[at]; a < out.start[at + 1]; ++a) {
        if (!out.remove_row(a)) return std::nullopt;
    }
    out.gone.push_back(item[candidate]);
    std::vector<char> others(out.item.size(), 1);
    others[at] = 0;
    State left_over = out.only(others);
    left_over.drop_last_of_classes();
    return left_over;
}

}  // namespace quadsweep::many_controls
