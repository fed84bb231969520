#include "strips.hpp"

#include <algorithm>
#include <cmath>

#include "criteria/ascent.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

using Item = Nearby::Item;

Moments in_frame(const Moments& m, const Affine& x, const Affine& y) {
    return {x.x * m.x + x.y * m.y, y.x * m.x + y.y * m.y, x.x * x.x * m.xx + x.y * x.y * m.yy,
            (x.x * y.y + x.y * y.x) * m.xy, y.x * y.x * m.xx + y.y * y.y * m.yy};
}

// Far from any line: 45 units in the last place of what z and bins are computed from.
constexpr double place_rounding = 1e-14;
constexpr double outwards = 1 + 1e-9, inwards = 1 - 1e-9;

}  // namespace

// ---- points near some lines -----------------------------------------------------------------

Nearby::Nearby(const Cells& cells, const LineCriterion::Frame& frame, const Lines& lines,
               const Grain& grain, double rows) {
    const bool flat = frame.wx.x != 0;
    most_x_ = flat ? cells.reach_x : cells.reach_y;
    most_y_ = flat ? cells.reach_y : cells.reach_x;
    const double most = std::max({most_x_, most_y_, 1.0}), weight = cells.cell[0].weight;
    // No sum is larger than weight * most^2: all of them stay below 2^61.
    unit_[0] = std::ldexp(1.0, std::ilogb(most * weight) - 60);
    unit_[1] = std::ldexp(1.0, std::ilogb(most * most * weight) - 60);
    collect(cells, frame, lines, grain);
    if (!items_.empty()) sort_into_rows(rows);
}

void Nearby::collect(const Cells& cells, const LineCriterion::Frame& frame, const Lines& lines,
                     const Grain& grain) {
    const Affine &to_x = frame.wx, &to_y = frame.w;
    const double steepest = std::max(std::fabs(lines.lo[0]), std::fabs(lines.hi[0]));
    const double lo = lines.lo[1] - grain.reach, hi = lines.hi[1] + grain.reach;
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
        const Item at{to_x(c.x, c.y),
                      to_y(c.x, c.y),
                      to_x.x != 0 ? c.hx : c.hy,
                      to_x.x != 0 ? c.hy : c.hx,
                      {}};
        const double wide = at.hy + steepest * at.hx;
        if (!near(at.x, at.y, wide)) continue;
        if (wide <= tuning::cell_in_bin * grain.bin) {
            add(at, c.weight, in_frame(c.sums, to_x, to_y));
        } else if (!c.leaf()) {
            below.insert(below.end(), {c.left + 1, c.left});
        } else {
            for (int p = c.first; p < c.last; ++p) {
                const double x = to_x(cells.x[p], cells.y[p]), y = to_y(cells.x[p], cells.y[p]);
                if (!near(x, y, 0)) continue;
                const double w = cells.weight[p];
                add({x, y, 0, 0, {}}, w, {w * x, w * y, w * x * x, w * x * y, w * y * y});
            }
        }
    }
}

// Halfway between as many items a row and rows as wide as each other.
std::vector<double> Nearby::row_ends(double rows) const {
    std::vector<double> some;
    for (std::size_t i = 0; i < items_.size(); i += 1 + items_.size() / 4096) {
        some.push_back(items_[i].x);
    }
    std::sort(some.begin(), some.end());
    const double lo = some.front(), width = some.back() - lo;
    std::vector<double> ends;
    for (std::size_t i = 0; i < some.size() && width > 0; ++i) {
        const double share =
            (static_cast<double>(i) / static_cast<double>(some.size()) + (some[i] - lo) / width) /
            2;
        if (share * rows >= static_cast<double>(ends.size() + 1)) {
            ends.push_back(some[i]);
        }
    }
    return ends;
}

void Nearby::sort_into_rows(double rows) {
    const std::vector<double> ends = row_ends(rows);
    std::vector<int> row(items_.size());
    std::vector<std::size_t> start(ends.size() + 2, 0);
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const auto end = std::upper_bound(ends.begin(), ends.end(), items_[i].x);
        row[i] = static_cast<int>(end - ends.begin());
        ++start[row[i] + 1];
    }
    for (std::size_t r = 1; r < start.size(); ++r) start[r] += start[r - 1];
    std::vector<Item> sorted(items_.size());
    auto next = start;
    for (std::size_t i = 0; i < items_.size(); ++i) sorted[next[row[i]]++] = items_[i];
    items_ = std::move(sorted);
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

// ---- the lines of one slope -----------------------------------------------------------------

void Slope::set(int frame, double p1, double lo, double hi, const Grain& grain) {
    p1_ = p1;
    base_ = criterion_.base_at(frame, p1);
    std::copy_n(grain.eta, 2, eta_);
    bin_ = grain.bin;
    reach_ = grain.reach;
    from_ = lo - reach_;
    bins_ = static_cast<int>(std::ceil((hi + reach_ - from_) / bin_)) + 1;
    rounded_ = place_rounding * (nearby_.most_y() + std::fabs(p1) * nearby_.most_x() +
                                 std::fabs(lo) + std::fabs(hi) + reach_);
    worst_ = {};
    const auto& rows = nearby_.rows();
    before_.assign(rows.size() * (bins_ + 1), {});
    const double per = 1 / bin_;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        WholeSums* const sums = before_.data() + r * (bins_ + 1) + 1;
        for (std::size_t i = rows[r].first; i < rows[r].last; ++i) {
            const Item& item = nearby_.items()[i];
            const double place = (item.y - p1 * item.x - from_) * per;
            if (place >= 0 && place < bins_) sums[static_cast<int>(place)] += item.sums;
        }
        for (int b = 1; b < bins_; ++b) sums[b] += sums[b - 1];
    }
}

// With f = |z - p2| and m the largest |2 p1 x + p2 - gamma| of the row, v is at most
// rho (m + f)^2 + more; so lambda - cost is at most g(f) = lambda + more + rho (m + f)^2 - f^2,
// which falls from f = `turn` on and is 0 at `outer`. Likewise for the least one, and every point
// up to `inner` costs no more than lambda. False where the table does not reach so far.
bool Slope::add_row(std::size_t row, double p2, double gamma, double lambda, Below& below) const {
    const Nearby::Row& of = nearby_.rows()[row];
    const double rho = criterion_.hurts();
    const double slack = of.hy + std::fabs(p1_) * of.hx + rounded_;
    const double u1 = 2 * p1_ * of.lo + p2 - gamma, u2 = 2 * p1_ * of.hi + p2 - gamma;
    const double a1 = std::fabs(u1), a2 = std::fabs(u2);
    const double m = std::max(a1, a2) + rounded_;
    const double m_least = u1 * u2 > 0 ? std::min(a1, a2) - rounded_ : 0;
    const double x1 = of.lo * of.lo, x2 = of.hi * of.hi, e1 = eta_[0] * eta_[0];
    const double more = e1 * std::max(x1, x2) + eta_[1] * eta_[1];
    const double least = e1 * (of.lo * of.hi > 0 ? std::min(x1, x2) : 0) + eta_[1] * eta_[1];

    const double turn = rho * m / (1 - rho);
    const double outer = turn + std::sqrt(turn * turn + (lambda + rho * m * m + more) / (1 - rho));
    const double out = outer * outwards + slack;
    if (!(out <= reach_)) return false;
    const double far = std::max(0.0, m_least - out);
    const double in = std::sqrt(lambda + rho * far * far + least) * inwards - slack;

    const double per = 1 / bin_;
    const auto bin_at = [&](double z) { return static_cast<int>((z - from_) * per); };
    const int first = std::max(0, bin_at(p2 - out)), last = std::min(bins_, bin_at(p2 + out) + 1);
    int whole = last, end = last;  // bins for certain below lambda
    if (in > 0 && bin_at(p2 - in) + 1 < bin_at(p2 + in)) {
        whole = bin_at(p2 - in) + 1;
        end = bin_at(p2 + in);
    }
    const WholeSums* const sums = before_.data() + row * (bins_ + 1);
    if (whole < end) (below.inside += sums[end]) -= sums[whole];
    const auto cut = [&](int b) {
        const auto weight = static_cast<double>(sums[b + 1].weight - sums[b].weight);
        if (weight == 0) return;
        const double left = from_ + b * bin_;
        const double f = std::max({left - p2 - slack, p2 - (left + bin_) - slack, turn});
        const double gain = lambda + more + rho * (m + f) * (m + f) - f * f;
        if (!(gain > 0)) return;
        below.most += weight * gain;
        below.weight += weight;
    };
    for (int b = first; b < whole; ++b) cut(b);
    for (int b = end; b < last; ++b) cut(b);
    return true;
}

// lambda k - sum (lambda - cost)^+ over all points, as in search/threshold.hpp.
Slope::Trial Slope::at(double p2, double gamma, double lambda) const {
    Below below;
    for (std::size_t row = 0; row < nearby_.rows().size(); ++row) {
        if (!add_row(row, p2, gamma, lambda, below)) return {-infinity, 0, 0, {}, 0};
    }
    Cost cost;
    cost.e = {-(p1_ - eta_[0]), 1, -p2};
    cost.l = {2 * eta_[0], 0, 0};
    cost.s = -criterion_.hurts();
    if (cost.s < 0) cost.p = cost.q = {p1_, 1, -gamma};
    cost.d = -eta_[1] * eta_[1];
    Magnitude magnitude;
    magnitude.cover(cost);
    const Quadratic f = cost.about(0, 0);
    const WholeSums& s = below.inside;
    const double first = nearby_.first_unit(), second = nearby_.second_unit();
    Trial t{};
    t.inside_weight = static_cast<double>(s.weight);
    t.inside = {first * static_cast<double>(s.of.x), first * static_cast<double>(s.of.y),
                second * static_cast<double>(s.of.xx), second * static_cast<double>(s.of.xy),
                second * static_cast<double>(s.of.yy)};
    t.weight = t.inside_weight + below.weight;
    t.value =
        base_ + lambda * (k_ - t.inside_weight) + f.total(t.inside, t.inside_weight) - below.most;
    // Each item's sums were cut to whole units; each cost, whether summed or bounded, is off by its
    // rounding and that of a cell's moments.
    const double cut = first * (std::fabs(f.x) + std::fabs(f.y)) +
                       second * (std::fabs(f.xx) + std::fabs(f.xy) + std::fabs(f.yy));
    const double each =
        ulp * (128 + roundings_) * magnitude(nearby_.most_x() + reach_, nearby_.most_y() + reach_);
    const double all = t.inside_weight + below.weight;
    t.error =
        all * (cut + each) + 128 * ulp * (lambda * (k_ + all) + std::fabs(base_) + below.most);
    return t;
}

// gamma is climbed as in a box, lambda for each as in search/threshold.hpp.
bool Slope::positive(double p2) {
    Trial best{-infinity, 0, 0, {}, 0};
    const auto evaluate = [&](double gamma, double& slope) {
        Trial here{-infinity, 0, 0, {}, 0};
        const auto below = [&](double lambda) {
            const Trial t = at(p2, gamma, lambda);
            if (t.value > here.value) here = t;
            return Tally{t.weight, t.value - base_ - lambda * (k_ - t.weight)};
        };
        Choice choice;
        choice.value = threshold_.maximise(below, k_, base_, true, lambda_);
        if (!(lambda_ > 0)) lambda_ = first_lambda_;
        if (here.value > best.value) best = here;
        const double rho = criterion_.hurts();
        const double sum = here.inside.y + p1_ * here.inside.x - gamma * here.inside_weight;
        slope = best.value > best.error ? 0 : 2 * rho * sum;
        return choice;
    };
    double gamma = p2 + 2 * p1_ * mean_x_;
    ascend(gamma, curvature_, 8 * criterion_.hurts() * k_, evaluate);
    if (p1_ != 0) mean_x_ = (gamma - p2) / (2 * p1_);
    if (best.value > best.error) return true;
    if (best.value < worst_.value && best.inside_weight > k_ / 2) {
        worst_ = {best.value, best.inside_weight, best.inside};
    }
    return false;
}

}  // namespace quadsweep
