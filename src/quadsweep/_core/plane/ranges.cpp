#include "ranges.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "shared/parallel.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

struct ColumnRange {
    double mean_lo, mean_hi, least, least_positive, most;
    bool constant = false;
};

// What the root of a tree knows of a column.
struct Extent {
    double centre, half, weight, squares;
};

// How much of the values lies in each of `bins` bins of this width. Neighbours in a tree often
// share a bin, and would wait for each other: so four that are far apart in turn.
std::vector<double> histogram(std::span<const double> v, std::span<const int> weight, double from,
                              double width, int bins) {
    const double scale = width > 0 ? 1 / width : 0;
    std::vector<double> count(bins + 1, 0.0);
    const auto add = [&](std::size_t i) {
        count[static_cast<int>((v[i] - from) * scale)] += weight[i];
    };
    const std::size_t apart = v.size() / 4;
    for (std::size_t i = 0; i < apart; ++i) {
        for (const std::size_t part : {0, 1, 2, 3}) add(i + part * apart);
    }
    for (std::size_t i = 4 * apart; i < v.size(); ++i) add(i);
    return count;
}

// For many values, the same from a histogram. A value is moved by at most half a bin's width w, so
// a mean moves by w/2 at most, and the root of a centred sum of squares of k values by sqrt(k) w/2.
ColumnRange column_range_by_bins(std::span<const double> v, std::span<const int> weight,
                                 const Extent& all, int k) {
    constexpr int bins = tuning::range_bins;
    const double from = all.centre - all.half, n = all.weight, width = 2 * all.half / bins;
    const std::vector<double> count = histogram(v, weight, from, width, bins);
    const auto centre = [&](int bin) { return from + (bin + 0.5) * width; };
    // Sum over the values ranked [first, first + k), from a cursor that only moves forward.
    const auto mean_of = [&](double first) {
        double rank = 0, sum = 0;
        for (int b = 0; b <= bins; ++b) {
            const double taken = std::min(rank + count[b], first + k) - std::max(rank, first);
            if (taken > 0) sum += taken * centre(b);
            rank += count[b];
        }
        return sum / k;
    };
    ColumnRange r{};
    const double slack = width * 0.51 + 1e-12 * (std::fabs(all.centre) + all.half);
    r.mean_lo = mean_of(0) - slack;
    r.mean_hi = mean_of(n - k) + slack;
    r.most = all.squares * (1 + 1e-9);

    // Windows of k values that begin with all of a bin, or end with all of one: between two such
    // windows the centred sum is concave in the copies moved, so the least is at one of them.
    const double middle = centre(bins / 2);
    std::vector<double> c1(bins + 2, 0.0), s1(bins + 2, 0.0), ss1(bins + 2, 0.0);
    for (int b = 0; b <= bins; ++b) {
        const double d = centre(b) - middle;
        c1[b + 1] = c1[b] + count[b];
        s1[b + 1] = s1[b] + count[b] * d;
        ss1[b + 1] = ss1[b] + count[b] * d * d;
    }
    const auto upto = [&](double rank, double& s, double& ss) {
        const int b =
            static_cast<int>(std::upper_bound(c1.begin(), c1.end(), rank) - c1.begin()) - 1;
        const double part = rank - c1[b], d = b <= bins ? centre(b) - middle : 0;
        s = s1[b] + part * d;
        ss = ss1[b] + part * d * d;
    };
    r.least = infinity;
    for (int b = 0; b <= bins + 1; ++b) {
        for (const double first : {c1[b], c1[b] - k}) {
            if (first < 0 || first + k > n) continue;
            double s0, ss0, s2, ss2;
            upto(first, s0, ss0);
            upto(first + k, s2, ss2);
            r.least = std::min(r.least, (ss2 - ss0) - (s2 - s0) * (s2 - s0) / k);
        }
    }
    const double root = std::sqrt(std::max(0.0, r.least - 1e-9 * ss1[bins + 1])) -
                        std::sqrt(static_cast<double>(k)) * slack;
    r.least = root > 0 ? root * root : 0;
    r.least_positive = r.least;
    return r;
}

// One sorted column: means of the k lowest and highest values, the least centred sum of squares of
// k of them (always neighbours), the least positive one (at least two values differ by the smallest
// gap), and one that no subset exceeds. smallest_gap() is asked where k values coincide.
template <class SmallestGap>
ColumnRange column_range(std::span<const double> v, std::span<const int> w, int k,
                         SmallestGap&& smallest_gap) {
    std::vector<double> sorted;
    for (std::size_t i = 0; i < v.size(); ++i) sorted.insert(sorted.end(), w[i], v[i]);
    std::sort(sorted.begin(), sorted.end());
    const int n = static_cast<int>(sorted.size());
    ColumnRange r{};
    double total = 0, low = 0, high = 0, s = 0, ss = 0;
    r.least = infinity;
    for (int i = 0; i < n; ++i) {
        const double x = sorted[i], square = x * x;
        total += square;
        s += x;
        ss += square;
        if (i < k) low += x;
        if (i >= n - k) high += x;
        if (i >= k) {
            s -= sorted[i - k];
            ss -= sorted[i - k] * sorted[i - k];
        }
        if (i >= k - 1) r.least = std::min(r.least, ss - s * s / k);
    }
    // Sums of n terms, added up and taken off again: at most 4 n roundings of the largest.
    const double rounding = (4.0 * n + 8) * 0x1p-52;
    const double reach = std::max(std::fabs(sorted.front()), std::fabs(sorted.back()));
    r.mean_lo = low / k - rounding * reach;
    r.mean_hi = high / k + rounding * reach;
    r.most = total * (1 + rounding);
    r.least = std::max(0.0, r.least - rounding * total);
    r.least_positive = r.least;
    if (r.least == 0) {
        const double gap = smallest_gap();
        r.constant = gap == infinity;
        r.least_positive = r.constant ? 0 : 0.499 * gap * gap;
    }
    return r;
}

// The smallest positive difference of two values of a column as given, in placed units; infinity if
// there is none. Values that differ may have been placed on one another.
double gap_as_given(std::span<const double> column, int exponent) {
    std::vector<double> sorted(column.begin(), column.end());
    std::sort(sorted.begin(), sorted.end());
    double gap = infinity;
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i] > sorted[i - 1]) gap = std::min(gap, sorted[i] - sorted[i - 1]);
    }
    return std::ldexp(gap, -exponent);
}

}  // namespace

Ranges ranges(const Cells& cells, const Points& points, const Placing& at, int k, int n_jobs) {
    ColumnRange x{}, y{};
    const Cell& all = cells.cell[0];
    const Extent extent[] = {{all.x, all.hx, all.weight, all.sums.xx},
                             {all.y, all.hy, all.weight, all.sums.yy}};
    parallel_for(cells.size() > tuning::threaded_ranges ? n_jobs : 1, 2,
                 [&](int, std::int64_t column) {
                     const Array<double>& v = column == 0 ? cells.x : cells.y;
                     ColumnRange& r = column == 0 ? x : y;
                     const auto gap = [&] {
                         if (column == 0) return gap_as_given(points.given_x, at.ex);
                         return at.slope == 0 ? gap_as_given(points.given_y, at.ey) : 0.0;
                     };
                     if (cells.size() > tuning::sorted_ranges)
                         r = column_range_by_bins(v, cells.weight, extent[column], k);
                     if (!(r.least_positive > 0)) r = column_range(v, cells.weight, k, gap);
                     return true;
                 });
    return {k,       x.mean_lo,        x.mean_hi,        y.mean_lo, y.mean_hi, x.least,
            y.least, x.least_positive, y.least_positive, x.most,    y.most,    x.constant};
}

}  // namespace quadsweep
