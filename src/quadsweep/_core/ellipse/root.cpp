#include "root.hpp"

#include <algorithm>
#include <cmath>

#include "shared/double_double.hpp"

namespace quadsweep::ellipse {

// The least centred sum of squares belongs to k neighbours in sorted order. A value is off by an
// ulp of itself. A subset whose smallest value is v has a mean within the root r of its centred sum
// of squares from v, so its values together are off by at most sqrt(k) ulps of |v| + 2 r.
Spread spread_of(std::span<const double> values, std::span<const int> weights, int k) {
    std::vector<double> sorted;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sorted.insert(sorted.end(), weights[i], values[i]);
    }
    std::sort(sorted.begin(), sorted.end());
    const auto n = static_cast<int>(sorted.size());
    const double size = k, root_k = std::sqrt(size);
    DoubleDouble s, ss, low, high, total;
    Spread out{0, 0, infinity, 0};
    for (int i = 0; i < n; ++i) {
        const double v = sorted[i];
        const DoubleDouble one{v, 0}, square = two_product(v, v);
        total = total + square;
        s = s + one;
        ss = ss + square;
        if (i < k) low = low + one;
        if (i >= n - k) high = high + one;
        if (i >= k) {
            const double gone = sorted[i - k];
            s = s - DoubleDouble{gone, 0};
            ss = ss - two_product(gone, gone);
        }
        if (i >= k - 1) {
            const double slack = (8 + 4.0 * n) * 0x1p-102 * total.value();
            const double centred = std::max((ss - s * s / size).value() - slack, 0.0);
            const double first = std::fabs(sorted[i - k + 1]);
            const double least =
                std::sqrt(centred) * (1 - 8 * root_k * ulp) - 4 * root_k * ulp * first;
            out.least = std::min(out.least, least);
        }
    }
    const double reach = std::max(std::fabs(sorted.front()), std::fabs(sorted.back()));
    out.mean_lo = low.value() / size - 8 * ulp * reach;
    out.mean_hi = high.value() / size + 8 * ulp * reach;
    // Larger subsets have a larger sum, and are at most n.
    out.least = std::max(out.least, 0.0) / std::sqrt(static_cast<double>(k));
    out.most = std::sqrt(total.value() / size) * (1 + 1e-12);
    return out;
}

Ranges ranges(const Cells& cells, int k) {
    return {spread_of(cells.x, cells.weight, k), spread_of(cells.y, cells.weight, k)};
}

Spread spread_of(const std::vector<double>& values, const std::vector<double>& weights, int need,
                 double kept, double kept_sum, double kept_squares) {
    double low = infinity, high = -infinity, sum = 0, available = 0, size = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (weights[i] == 0) continue;
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
        sum += weights[i] * values[i];
        size += weights[i] * std::fabs(values[i]);
        available += weights[i];
    }
    const double k = kept + need, left = available - need;
    if (available == 0) low = high = 0;
    // Rounding of sums of at most this many terms.
    const double slack = (8 + available) * ulp * (size + std::sqrt(kept * kept_squares));
    Spread out{};
    const double total = kept_sum + sum;
    out.mean_lo = (std::max(kept_sum + need * low, total - left * high) - slack) / k;
    out.mean_hi = (std::min(kept_sum + need * high, total - left * low) + slack) / k;
    const double about = available > 0 ? sum / available : 0;
    const double reach = std::max(high - about, about - low);
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        squares += weights[i] * (values[i] - about) * (values[i] - about);
    }
    const double decided = kept_squares - 2 * about * kept_sum + about * about * kept;
    const double rounding = 1e-9 * (kept_squares + about * about * kept + squares);
    squares = decided + std::min(squares, need * reach * reach) + rounding;
    out.most = std::sqrt(squares / k);
    return out;
}

std::vector<Rectangle> Ranges::roots() const {
    constexpr double wide = 4;  // ends of l in a root
    std::vector<Rectangle> out;
    double from = y.least * (1 - 1e-12);
    while (from < y.most) {
        const double to = std::min(from * wide, y.most * (1 + 1e-12));
        Rectangle box{{from, -infinity, -infinity, y.mean_lo}, {to, infinity, infinity, y.mean_hi}};
        if (contract(box)) out.push_back(box);
        from = to;
    }
    return out;
}

bool Ranges::contract(Rectangle& box) const {
    box.hi[L] = std::min(box.hi[L], y.most * (1 + 1e-12));
    box.lo[Y] = std::max(box.lo[Y], y.mean_lo);
    box.hi[Y] = std::min(box.hi[Y], y.mean_hi);
    const double steepest = x.most / box.lo[L] * (1 + 1e-12);
    box.lo[S] = std::max(box.lo[S], -steepest);
    box.hi[S] = std::min(box.hi[S], steepest);
    const auto [least, most] = std::minmax({box.lo[S] * box.lo[Y], box.lo[S] * box.hi[Y],
                                            box.hi[S] * box.lo[Y], box.hi[S] * box.hi[Y]});
    const double rounding = 16 * ulp *
                            (std::max(std::fabs(x.mean_lo), std::fabs(x.mean_hi)) +
                             std::max(std::fabs(least), std::fabs(most)));
    box.lo[A] = std::max(box.lo[A], x.mean_lo + least - rounding);
    box.hi[A] = std::min(box.hi[A], x.mean_hi + most + rounding);
    for (Parameter p : {L, S, A, Y}) {
        if (!(box.lo[p] <= box.hi[p])) return false;
    }
    return true;
}

}  // namespace quadsweep::ellipse
