#include "lifted.hpp"

#include <algorithm>
#include <cmath>

#include "shared/hot_loops.hpp"

namespace quadsweep {
namespace {

constexpr double eps = 0x1p-52;
constexpr double known_digits = 1e3;  // a pivot must exceed its error by this factor

struct Pivot {
    int point = -1, column = -1;
    double size = 0;
};

// The largest coordinate of the points that are not zero within their error.
Pivot largest_pivot(const Coordinates& h) {
    Pivot best;
    for (int c = 0; c < h.width; ++c) {
        for (int i = 0; i < h.n; ++i) {
            const double size = std::fabs(h.column(c)[i]);
            if (size > best.size && size > known_digits * h.error[i]) best = {i, c, size};
        }
    }
    return best;
}

void eliminate_column(const Coordinates& from, int t, int pivot, Coordinates& to) {
    const int n = from.n;
    const double* v = from.column(pivot);
    const double size = std::fabs(v[t]);
    const double multiplier_error = 2.5 * from.error[t] / size + 4 * eps;
    for (int c = 0, k = 0; c < from.width; ++c) {
        if (c == pivot) continue;
        const double ratio = from.column(c)[t] / v[t];
        hot_loops().eliminate(from.column(c), v, n, ratio, to.column(k++));
    }
    for (int i = 0; i < n; ++i)
        to.error[i] = 2.5 * from.error[i] + std::fabs(v[i]) * multiplier_error;
}

void resize(Coordinates& h, int n, int width) {
    h.n = n;
    h.width = width;
    h.values.resize(static_cast<std::size_t>(n) * width);
    h.error.resize(n);
}

void set_errors(Coordinates& h) {
    for (int i = 0; i < h.n; ++i) h.error[i] = 4 * eps * h.largest(i);
}

template <class F>
void fill(Coordinates& h, int column, const Points& p, F&& f) {
    for (int i = 0; i < h.n; ++i) h.column(column)[i] = f(p.x[i], p.y[i]);
}

}  // namespace

double Coordinates::largest(int point) const {
    double size = 0;
    for (int c = 0; c < width; ++c) size = std::fmax(size, std::fabs(column(c)[point]));
    return size;
}

Coordinates natural_lift(const Points& p, Objective objective) {
    const auto one = [](double, double) { return 1.0; };
    const auto just_x = [](double x, double) { return x; };
    const auto just_y = [](double, double y) { return y; };
    const auto xx = [](double x, double) { return x * x; };
    const auto xy = [](double x, double y) { return x * y; };
    const int n = p.size();
    Coordinates h;
    switch (objective) {
        case Objective::r2:
        case Objective::r:
        case Objective::lts:
        case Objective::mcd:
            h = Coordinates(n, 6);
            fill(h, 3, p, xx);
            fill(h, 4, p, xy);
            fill(h, 5, p, [](double, double y) { return y * y; });
            break;
        case Objective::cov:
            h = Coordinates(n, 4);
            fill(h, 3, p, xy);
            break;
        case Objective::dv:
            h = Coordinates(n, 4);
            fill(h, 3, p, [](double x, double y) { return (x - y) * (x + y); });
            break;
        case Objective::tv:
            h = Coordinates(n, 4);
            fill(h, 3, p, [](double x, double y) { return x * x + y * y; });
            break;
        case Objective::var:
            h = Coordinates(n, 3);
            fill(h, 2, p, xx);
            break;
    }
    fill(h, 0, p, one);
    fill(h, 1, p, just_x);
    if (objective != Objective::var) fill(h, 2, p, just_y);
    set_errors(h);
    return h;
}

Coordinates given_lift(std::span<const double> rows, int n, int d) {
    Coordinates h(n, d + 1);
    std::vector<double> column(n);
    for (int c = 0; c < d; ++c) {
        for (int i = 0; i < n; ++i) column[i] = rows[static_cast<std::size_t>(i) * d + c];
        const Points standard = standardise(column, column, Objective::var);
        std::copy(standard.x.begin(), standard.x.end(), h.column(c + 1));
    }
    std::fill_n(h.column(0), n, 1.0);
    set_errors(h);
    return h;
}

void scale_points(Coordinates& h) {
    for (int i = 0; i < h.n; ++i) {
        const double size = h.largest(i);
        if (size == 0) continue;
        const int exponent = -std::ilogb(size);
        for (int c = 0; c < h.width; ++c) h.column(c)[i] = std::ldexp(h.column(c)[i], exponent);
        h.error[i] = std::ldexp(h.error[i], exponent);
    }
}

Coordinates independent_columns(const Coordinates& h) {
    Coordinates now = h, next;
    scale_points(now);
    std::vector<int> left(h.width), chosen;
    for (int c = 0; c < h.width; ++c) left[c] = c;
    while (now.width > 0) {
        const Pivot p = largest_pivot(now);
        if (p.point < 0) break;
        chosen.push_back(left[p.column]);
        left.erase(left.begin() + p.column);
        resize(next, now.n, now.width - 1);
        eliminate_column(now, p.point, p.column, next);
        std::swap(now, next);
    }
    std::sort(chosen.begin(), chosen.end());
    Coordinates out(h.n, static_cast<int>(chosen.size()));
    for (int c = 0; c < out.width; ++c) std::copy_n(h.column(chosen[c]), h.n, out.column(c));
    out.error = h.error;
    return out;
}

Coordinates rows_of(const Coordinates& h, std::span<const int> points) {
    Coordinates out(static_cast<int>(points.size()), h.width);
    for (int k = 0; k < out.n; ++k) {
        for (int c = 0; c < h.width; ++c) out.column(c)[k] = h.column(c)[points[k]];
        out.error[k] = h.error[points[k]];
    }
    return out;
}

bool eliminate(const Coordinates& from, int t, Coordinates& to) {
    int pivot = 0;
    for (int c = 1; c < from.width; ++c) {
        if (std::fabs(from.column(c)[t]) > std::fabs(from.column(pivot)[t])) pivot = c;
    }
    if (!(std::fabs(from.column(pivot)[t]) > known_digits * from.error[t])) return false;
    resize(to, from.n, from.width - 1);
    eliminate_column(from, t, pivot, to);
    return true;
}

}  // namespace quadsweep
