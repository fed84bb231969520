#include "strips.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuning.hpp"

namespace quadsweep {
namespace {

using Item = Nearby::Item;

Moments exchanged(const Moments& m) { return {m.y, m.x, m.yy, m.xy, m.xx}; }

// Far from any line: 45 units in the last place of what z and bins are computed from.
constexpr double place_rounding = 1e-14;
constexpr double outwards = 1 + 1e-9, inwards = 1 - 1e-9;

// The largest and the least square of x - x0 over a row.
struct Squares {
    double most, least;
};
Squares squares(double lo, double hi) {
    const double a = lo * lo, b = hi * hi;
    return {std::max(a, b), lo * hi > 0 ? std::min(a, b) : 0};
}

}  // namespace

// ---- points near some lines -----------------------------------------------------------------

void Nearby::gather(const Cells& cells, const Lines& lines, const Wanted& wanted) {
    items_.clear();
    strays_.clear();
    rows_.clear();
    complete_ = true;
    most_x_ = lines.exchanged ? cells.reach_y : cells.reach_x;
    most_y_ = lines.exchanged ? cells.reach_x : cells.reach_y;
    const double most = std::max({most_x_, most_y_, 1.0}), weight = cells.cell[0].weight;
    // No sum is larger than weight * most^2: all of them stay below 2^61.
    unit_[0] = std::ldexp(1.0, std::ilogb(most * weight) - 60);
    unit_[1] = std::ldexp(1.0, std::ilogb(most * most * weight) - 60);
    farthest_ = std::min(wanted.farthest, most_x_);
    collect(cells, lines, wanted);
    if (!items_.empty()) sort_into_rows(wanted.rows);
}

void Nearby::collect(const Cells& cells, const Lines& lines, const Wanted& wanted) {
    const double steepest = std::max(std::fabs(lines.lo[0]), std::fabs(lines.hi[0]));
    const double lo = lines.lo[1] - wanted.reach, hi = lines.hi[1] + wanted.reach;
    const auto near = [&](double x, double y, double wide) {
        const double a = y - lines.lo[0] * x, b = y - lines.hi[0] * x;
        return std::max(a, b) + wide >= lo && std::min(a, b) - wide <= hi;
    };
    const double first = 1 / unit_[0], second = 1 / unit_[1];
    const auto add = [&](const Item& at, double weight, const Moments& m) {
        using Whole = std::int64_t;
        items_.push_back(at);
        items_.back().sums = {static_cast<Whole>(weight),
                              {static_cast<Whole>(m.x * first), static_cast<Whole>(m.y * first),
                               static_cast<Whole>(m.xx * second), static_cast<Whole>(m.xy * second),
                               static_cast<Whole>(m.yy * second)}};
    };
    std::vector<int> below{0};
    while (!below.empty()) {
        const Cell& c = cells.cell[below.back()];
        below.pop_back();
        Item at{c.x, c.y, c.hx, c.hy, {}};
        if (lines.exchanged) {
            std::swap(at.x, at.y);
            std::swap(at.hx, at.hy);
        }
        const double wide = at.hy + steepest * at.hx;
        const bool stray = std::fabs(at.x) + at.hx > farthest_;
        if (!stray && !near(at.x, at.y, wide)) {
            complete_ = false;
            continue;
        }
        if (!stray && wide <= wanted.width) {
            add(at, c.weight, lines.exchanged ? exchanged(c.sums) : c.sums);
        } else if (!c.leaf()) {
            below.insert(below.end(), {c.left + 1, c.left});
        } else {
            for (int p = c.first; p < c.last; ++p) {
                double x = cells.x[p], y = cells.y[p];
                if (lines.exchanged) std::swap(x, y);
                if (std::fabs(x) > farthest_) {
                    strays_.push_back({x, y, static_cast<double>(cells.weight[p])});
                    continue;
                }
                if (!near(x, y, 0)) {
                    complete_ = false;
                    continue;
                }
                const double w = cells.weight[p];
                add({x, y, 0, 0, {}}, w, {w * x, w * y, w * x * x, w * x * y, w * y * y});
            }
        }
    }
}

// Halfway between as many items a row and rows as wide as each other, wider where points are few.
std::vector<double> Nearby::row_ends(double rows) const {
    std::vector<double> some;
    for (std::size_t i = 0; i < items_.size(); i += 1 + items_.size() / 4096) {
        some.push_back(items_[i].x);
    }
    std::sort(some.begin(), some.end());
    const std::size_t size = some.size();
    const double middle = some[size / 2];
    const double unit = std::max(some[9 * size / 10] - middle, middle - some[size / 10]);
    const auto place = [&](double x) { return std::asinh((x - middle) / unit); };
    const double lo = place(some.front()), width = place(some.back()) - lo;
    std::vector<double> ends;
    for (std::size_t i = 0; i < size && unit > 0 && width > 0; ++i) {
        const double by_number = static_cast<double>(i) / static_cast<double>(size);
        const double share = (by_number + (place(some[i]) - lo) / width) / 2;
        if (share * rows >= static_cast<double>(ends.size() + 1)) ends.push_back(some[i]);
    }
    return ends;
}

void Nearby::sort_into_rows(double rows) {
    const std::vector<double> ends = row_ends(rows);
    Array<int> row(items_.size());
    std::vector<std::size_t> start(ends.size() + 2, 0);
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const auto end = std::upper_bound(ends.begin(), ends.end(), items_[i].x);
        row[i] = static_cast<int>(end - ends.begin());
        ++start[row[i] + 1];
    }
    for (std::size_t r = 1; r < start.size(); ++r) start[r] += start[r - 1];
    auto next = start;
    for (std::size_t r = 0; r + 1 < start.size(); ++r) {
        while (next[r] < start[r + 1]) {  // in place: into the row where it belongs
            const std::size_t at = next[r], to = next[row[at]]++;
            if (to == at) continue;
            std::swap(items_[at], items_[to]);
            std::swap(row[at], row[to]);
        }
    }
    for (std::size_t r = 0; r + 1 < start.size(); ++r) {
        Row one{start[r], start[r + 1], infinity, -infinity, 0, 0};
        if (one.first == one.last) continue;
        for (std::size_t i = one.first; i < one.last; ++i) {
            const Item& item = items_[i];
            one.lo = std::min(one.lo, item.x - item.hx);
            one.hi = std::max(one.hi, item.x + item.hx);
            one.hx = std::max(one.hx, item.hx);
            one.hy = std::max(one.hy, item.hy);
        }
        one.lo -= place_rounding * most_x_;
        one.hi += place_rounding * most_x_;
        rows_.push_back(one);
    }
}

// ---- lines of about one slope ---------------------------------------------------------------

void Strips::set(double slope, double lo, double hi, double bin, double reach) {
    slope_ = slope;
    bin_ = bin;
    reach_ = reach;
    from_ = lo - reach_;
    bins_ = static_cast<int>(std::ceil((hi + reach_ - from_) / bin_)) + 1;
    rounded_ = place_rounding * (nearby_.most_y() + std::fabs(slope) * nearby_.most_x() +
                                 std::fabs(lo) + std::fabs(hi) + reach_);
    const auto& rows = nearby_.rows();
    before_.assign(rows.size() * (bins_ + 1), {});
    const double per = 1 / bin_;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        WholeSums* const sums = before_.data() + r * (bins_ + 1) + 1;
        for (std::size_t i = rows[r].first; i < rows[r].last; ++i) {
            const Item& item = nearby_.items()[i];
            const double place = (item.y - slope * item.x - from_) * per;
            if (place >= 0 && place < bins_) sums[static_cast<int>(place)] += item.sums;
        }
        for (int b = 1; b < bins_; ++b) sums[b] += sums[b - 1];
    }
}

namespace {

// Where lambda + more + rho (m + f)^2 - f^2 is 0, from above.
double outermost(double rho, double m, double lambda, double more) {
    const double turn = rho * m / (1 - rho);
    return outwards * (turn + std::sqrt(turn * turn + (lambda + rho * m * m + more) / (1 - rho)));
}

}  // namespace

// Whether none of the points that are not at hand, which may lie anywhere along x, is needed.
bool Strips::reaches_all(const At& line, const Costs& costs) const {
    const double x = nearby_.farthest(), away = line.eta * (x + std::fabs(line.x0));
    const double m = 2 * std::fabs(line.p1) * x + std::fabs(line.p2 - line.gamma) + costs.rounded;
    const double out = outermost(costs.rho, m, line.lambda, away * away * outwards);
    return out + std::fabs(line.p1 - slope_) * x + costs.rounded <= reach_;
}

// With f = |z - p2| and m the largest |2 p1 x + p2 - gamma| of the row, v is at most
// rho (m + f)^2 + more; so lambda - cost is at most g(f) = lambda + more + rho (m + f)^2 - f^2,
// which falls from f = `turn` on and is 0 at `outermost`. Likewise for the least one, and every
// point up to `in` costs no more than lambda. At another slope than the table's a point has moved
// by about as much as the middle of its row. False where the table does not reach so far.
bool Strips::add_row(std::size_t row, const At& line, const Costs& costs, Below& below) const {
    const auto& [p1, p2, eta, x0, gamma, lambda] = line;
    const double rho = costs.rho;
    const Nearby::Row& of = nearby_.rows()[row];
    const double turned = p1 - slope_, centre = p2 + turned * of.middle() - from_;
    const double slack =
        of.hy + std::fabs(p1) * of.hx + std::fabs(turned) * of.half() * outwards + costs.rounded;
    const double u1 = 2 * p1 * of.lo + p2 - gamma, u2 = 2 * p1 * of.hi + p2 - gamma;
    const double a1 = std::fabs(u1), a2 = std::fabs(u2);
    const double m = std::max(a1, a2) + costs.rounded;
    const double m_least = u1 * u2 > 0 ? std::min(a1, a2) - costs.rounded : 0;
    const Squares far_from = squares(of.lo - x0, of.hi - x0);
    const double more = eta * eta * far_from.most, least = eta * eta * far_from.least;

    const double turn = rho * m / (1 - rho);
    const double out = outermost(rho, m, lambda, more) + slack, per = 1 / bin_;
    const int first = static_cast<int>((centre - out) * per);
    const int last = static_cast<int>((centre + out) * per) + 1;
    if (!(centre - out >= 0 && last <= bins_)) return false;
    const double far = std::max(0.0, m_least - out);
    const double in = std::sqrt(lambda + rho * far * far + least) * inwards - slack;
    int whole = last, end = last;  // bins for certain below lambda
    if (in > 0) {
        const int one = static_cast<int>((centre - in) * per) + 1;
        const int other = static_cast<int>((centre + in) * per);
        if (one < other) {
            whole = one;
            end = other;
        }
    }
    const WholeSums* const sums = before_.data() + row * (bins_ + 1);
    if (whole < end) (below.inside += sums[end]) -= sums[whole];
    const auto cut = [&](int from, int to) {
        WholeSums of_cut = sums[to];
        if (of_cut.weight == sums[from].weight) return;
        of_cut -= sums[from];
        const double left = from * bin_ - centre, right = centre - to * bin_;
        const double f = std::max({left - slack, right - slack, turn});
        const double most = lambda + more + rho * (m + f) * (m + f) - f * f;
        if (!(most > 0)) return;
        const double f_far =
            std::max(left + (to - from) * bin_, right + (to - from) * bin_) + slack;
        const double near_end = std::max(0.0, m_least - f_far);
        const double fewest = lambda + least + rho * near_end * near_end - f_far * f_far;
        const auto weight = static_cast<double>(of_cut.weight);
        const double sum = lambda * weight - costs.total(of_cut);
        // The chord from the least gain to the largest one lies above (.)^+.
        const double share = fewest < 0 ? (sum - fewest * weight) / (most - fewest) : weight;
        const double below_lambda = std::clamp(share, 0.0, weight);
        below.most += below_lambda * most;
        below.weight += weight;
        below.likely += below_lambda;
    };
    const auto cut_up = [&](int from, int to) {
        const int step = 1 + (to - from) / tuning::most_cuts;
        for (int b = from; b < to; b += step) cut(b, std::min(b + step, to));
    };
    cut_up(first, whole);
    cut_up(end, last);
    return true;
}

// lambda k - sum (lambda - cost)^+ over all points, as in search/threshold.hpp.
Strips::Trial Strips::at(const StripQuestion& asked, const At& line) const {
    const auto& [p1, p2, eta, x0, gamma, lambda] = line;
    Cost cost;
    cost.e = {-(p1 - eta), 1, -(p2 + eta * x0)};
    cost.l = {2 * eta, 0, -2 * eta * x0};
    cost.s = -asked.rho;
    if (cost.s < 0) cost.p = cost.q = {p1, 1, -gamma};
    Magnitude magnitude;
    magnitude.cover(cost);
    const double first = nearby_.first_unit(), second = nearby_.second_unit();
    const Quadratic f = cost.about(0, 0);
    const Costs costs{asked.rho,
                      rounded_ + 4 * place_rounding * std::fabs(p1) * nearby_.most_x(),
                      {second * f.xx, second * f.xy, second * f.yy, first * f.x, first * f.y, f.c}};
    if (!nearby_.complete() && !reaches_all(line, costs)) return {-infinity, 0, {}, 0};
    Below below;
    for (std::size_t row = 0; row < nearby_.rows().size(); ++row) {
        if (!add_row(row, line, costs, below)) return {-infinity, 0, {}, 0};
    }
    const WholeSums& s = below.inside;
    Trial t{};
    t.inside_weight = static_cast<double>(s.weight);
    t.inside = {first * static_cast<double>(s.of.x), first * static_cast<double>(s.of.y),
                second * static_cast<double>(s.of.xx), second * static_cast<double>(s.of.xy),
                second * static_cast<double>(s.of.yy)};
    t.value = asked.base + lambda * (asked.k - t.inside_weight) + costs.total(s);
    for (const auto& [x, y, weight] : nearby_.strays()) {
        const double gain = lambda - cost(x, y);
        if (!(gain > 0)) continue;
        below.most += weight * gain;
        t.inside_weight += weight;
        t.inside += {weight * x, weight * y, weight * x * x, weight * x * y, weight * y * y};
    }
    t.value -= below.most;
    t.weight = t.inside_weight + below.likely;
    // Each item's sums were cut to whole units; each cost, whether summed or bounded, is off by its
    // rounding and that of a cell's moments.
    const double cut = first * (std::fabs(f.x) + std::fabs(f.y)) +
                       second * (std::fabs(f.xx) + std::fabs(f.xy) + std::fabs(f.yy));
    const double each = ulp * (128 + asked.roundings) *
                        magnitude(nearby_.most_x() + reach_, nearby_.most_y() + reach_);
    const double all = t.inside_weight + below.weight;
    t.value -= all * (cut + each) +
               128 * ulp * (lambda * (asked.k + all) + std::fabs(asked.base) + below.most);
    return t;
}

}  // namespace quadsweep
