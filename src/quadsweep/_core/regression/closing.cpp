#include "closing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "concentrate.hpp"
#include "shared/cholesky.hpp"

namespace quadsweep::regression {
namespace {

constexpr double suspicious = 1e-12;  // a share of a column that may well be nothing

// Eigenvectors of a small symmetric matrix by Jacobi's rotations.
struct Eigen {
    int n;
    double a[most_searched][most_searched], v[most_searched][most_searched];

    Eigen(const Gram& g, int size) : n(size) {
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                a[i][j] = g(i, j);
                v[i][j] = i == j;
            }
        }
        for (int sweep = 0; sweep < 50; ++sweep) {
            for (int p = 0; p < n; ++p) {
                for (int q = p + 1; q < n; ++q) rotate(p, q);
            }
        }
    }
    void rotate(int p, int q) {
        if (a[p][q] == 0) return;
        const double ratio = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = std::copysign(1.0, ratio) / (std::fabs(ratio) + std::hypot(1.0, ratio));
        const double c = 1 / std::hypot(1.0, t), s = t * c;
        const auto turn = [c, s](double& u, double& w) {
            const double x = u, y = w;
            u = c * x - s * y;
            w = s * x + c * y;
        };
        for (int i = 0; i < n; ++i) turn(a[i][p], a[i][q]);
        for (int i = 0; i < n; ++i) turn(a[p][i], a[q][i]);
        for (int i = 0; i < n; ++i) turn(v[i][p], v[i][q]);
    }
};

// Whether what is left of a column on the fitted ones is next to nothing.
bool looks_dependent(const Gram& all, const Form& form) {
    const Own o = own(form, all);
    if (o.best == infinity || o.score == undefined) return true;
    double l[most_searched][most_searched];
    for (int j = 0; j < form.fitted; ++j) {
        for (int i = 0; i <= j; ++i) l[j][i] = all(j, i);
    }
    const auto counts = [](double pivot, double entry) { return pivot > suspicious * entry; };
    return !cholesky(form.fitted, l[0], most_searched, counts);
}

// Whether theta's part in the `count` directions of least variation is nowhere zero in the box.
bool leaves_null_space(const Gram& all, const Form& form, const Box& box, int count) {
    const Eigen eigen(all, form.fitted);
    std::vector<int> order(form.fitted);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int i, int j) { return eigen.a[i][i] < eigen.a[j][j]; });
    const double largest = eigen.a[order.back()][order.back()];
    // A clear gap, so that the directions are known well.
    if (count < form.fitted && !(eigen.a[order[count]][order[count]] > 1e-9 * largest)) {
        return false;
    }
    for (int d = 0; d < count; ++d) {
        double at = 0, reach = 0;
        for (int j = 0; j < form.fitted; ++j) {
            at += box.centre[j] * eigen.v[j][order[d]];
            reach += box.half[j] * std::fabs(eigen.v[j][order[d]]);
        }
        if (std::fabs(at) > reach + 1e-3) return true;
    }
    return false;
}

}  // namespace

double least_eigenvalue(const Gram& sums, int columns) {
    const Eigen eigen(sums, columns);
    double least = infinity, largest = 0;
    for (int j = 0; j < columns; ++j) {
        least = std::min(least, eigen.a[j][j]);
        largest = std::max(largest, eigen.a[j][j]);
    }
    return least - 1e-12 * largest;
}

bool hopeless(const Table& table, const Items& items, const Cells& cells, const Form& form,
              const Box& box, const Gram& all) {
    if (!box.open.cell.empty() || !looks_dependent(all, form)) return false;
    std::vector<int> units;
    for (const Decided* d = box.decided.get(); d != nullptr; d = d->before.get()) {
        for (const auto& [item, count] : d->points) units.push_back(items.units(item)[0]);
        for (int at : d->cells) {
            for (int i = cells.cell[at].first; i < cells.cell[at].last; ++i) {
                units.push_back(items.units(i)[0]);
            }
        }
    }
    for (int item : box.open.point) units.push_back(items.units(item)[0]);
    const Dependence found = dependence(table, table.rows_of(units));
    if (found.no_value) return true;
    const int everywhere = static_cast<int>(table.design.size()) - form.fitted;
    const int here = found.dependent - everywhere;
    return here > 0 && leaves_null_space(all, form, box, here);
}

}  // namespace quadsweep::regression
