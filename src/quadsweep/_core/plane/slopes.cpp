#include "slopes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "shared/parallel.hpp"
#include "strips.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

double square(double x) { return x * x; }

struct Interval {
    double lo, hi;
};

// Joins those that touch.
void join(std::vector<Interval>& some) {
    std::sort(some.begin(), some.end(), [](Interval p, Interval q) { return p.lo < q.lo; });
    std::size_t kept = 0;
    for (const Interval one : some) {
        if (kept > 0 && one.lo <= some[kept - 1].hi) {
            some[kept - 1].hi = std::max(some[kept - 1].hi, one.hi);
        } else {
            some[kept++] = one;
        }
    }
    some.resize(kept);
}

// Subsets whose own p1 is within `half` of this one, by their mean of y - p1 x. Coordinates are
// those of the points, exchanged for steep lines: frames turn them over.
struct Range {
    int frame;
    double p1, half;
    std::vector<Interval> open;

    double steepest() const { return std::fabs(p1) + half; }
};

// How the lines of a frame read there.
struct Axes {
    explicit Axes(const LineCriterion::Frame& f)
        : exchanged(f.wx.x == 0), x(f.wx.x + f.wx.y), y(f.w.x + f.w.y) {}
    // Its own inverse.
    Range turned(Range range) const {
        range.p1 *= x * y;
        for (Interval& one : range.open) one = turned(one, y);
        return range;
    }
    static Interval turned(Interval one, double sign) {
        return sign > 0 ? one : Interval{-one.hi, -one.lo};
    }

    bool exchanged;
    double x, y;  // 1, or -1 where they are turned over
};

// ---- how finely to look ---------------------------------------------------------------------

// Beyond it, from 0, there are few points.
double far_out(std::span<const double> places) {
    std::vector<double> away;
    away.reserve(places.size());
    for (const double p : places) away.push_back(std::fabs(p));
    const auto few = std::min(tuning::most_strays, away.size() / 8);
    const auto last = away.begin() + static_cast<std::ptrdiff_t>(away.size() - 1 - few);
    std::nth_element(away.begin(), last, away.end());
    return *last;
}

struct Far {
    explicit Far(const Cells& cells) : x(far_out(cells.x)), y(far_out(cells.y)) {}
    double x, y;
};

struct Scale {
    Scale(const LineCriterion& criterion, const Scan& scan, const Range& range,
          const Far* far = nullptr) {
        const LineCriterion::Frame& f = criterion.frame(range.frame);
        const auto sum = [&](const Affine& of, double xx, double yy) {
            return of.x * of.x * xx + of.y * of.y * yy;
        };
        const Centred& good = scan.good;
        const Cell& all = scan.cells.cell[0];
        const double rho = criterion.hurts();
        const double along = sum(f.wx, good.a, good.b);
        residual = rho > 0
                       ? std::sqrt((sum(f.w, good.a, good.b) - good.c * good.c / along) / scan.k)
                       : std::sqrt(-criterion.base_at(range.frame, range.p1) / scan.k);
        extent =
            std::sqrt(std::max(sum(f.wx, all.sums.xx, all.sums.yy) / all.weight, along / scan.k));
        // Points at the ends of a line count however far from it they are, up to what their place
        // along it makes up for.
        const double farthest = far == nullptr ? 0 : f.wx.x != 0 ? far->x : far->y;
        const double ends = std::sqrt(rho / (1 - rho)) * range.steepest() * farthest;
        reach = tuning::strip_reach * (residual + 2 * range.half * extent + ends) +
                2 * range.half * farthest;
        bin = tuning::strip_bin * range.half * extent;
        rows = std::clamp(tuning::rows_by_width * residual / (range.half * extent),
                          tuning::least_rows, tuning::most_rows);
    }
    double residual;  // of a good subset's points, about
    double extent;    // of points along x
    double reach;     // from a line to the farthest points that it needs, given how far they are
    double bin;
    double rows;
};

// ---- the lines of a range of slopes ---------------------------------------------------------

// What is known of one line.
struct Seen {
    double spare;       // of any k points, for each of them
    double spread = 0;  // of x over those that it chose
    double weight = 0;  // of these
    Moments chosen{};
};

// Along the intercepts.
class Walker {
  public:
    Walker(const LineCriterion& criterion, const Scan& scan, const Strips& strips,
           const Range& range)
        : strips_(strips),
          half_(range.half),
          asked_{scan.k, criterion.hurts(), criterion.base_at(range.frame, range.p1),
                 2 * scan.cells.roundings + 8} {
        const Scale scale(criterion, scan, range);
        stride_ = range.half * scale.extent;
        lambda_ = 2 * scale.residual * scale.residual + stride_ * stride_;
        line_ = {range.p1, 0, range.half, 0, 0, lambda_};
        curvature_ = 4 * asked_.rho * asked_.k;
    }
    // What is left of an interval is added to `left`.
    void along(const Interval& open, std::vector<Interval>& left);

    Seen worst{infinity};
    std::uint64_t lines = 0;

  private:
    Seen look(double p2);

    const Strips& strips_;
    double half_;
    StripQuestion asked_;
    double stride_, lambda_;
    Strips::At line_;    // the last one, with good multipliers
    double mean_x_ = 0;  // of what it chose
    double curvature_;   // of the bound in gamma
};

// Both multipliers are moved by Newton's method as long as that promises more than a share of what
// there is to spare.
Seen Walker::look(double p2) {
    ++lines;
    const double rho = asked_.rho, k = asked_.k;
    const double enough = tuning::worth_closing * stride_ * stride_;
    Strips::At at = line_;
    at.p2 = p2;
    at.gamma = p2 + 2 * at.p1 * mean_x_;
    Seen best{-infinity};
    double last_gamma = 0, last_slope = 0;
    for (int trial = 0; trial < tuning::line_trials; ++trial) {
        at.x0 = mean_x_;
        const Strips::Trial t = strips_.at(asked_, at);
        if (!(t.value > -infinity)) {
            if (best.spare > -infinity) break;
            at.lambda /= 4;
            continue;
        }
        const double w = t.inside_weight;
        if (t.value / k > best.spare) {
            best = {t.value / k, 0, w, t.inside};
            line_ = at;
            if (w > 0) {
                mean_x_ = t.inside.x / w;
                best.spread = std::sqrt(std::max(t.inside.xx / w - mean_x_ * mean_x_, 0.0));
            }
        }
        const double missing = k - t.weight;
        const double density = std::max(t.weight, 0.1 * k) / (2 * at.lambda);
        const double slope = 2 * rho * (t.inside.y + at.p1 * t.inside.x - at.gamma * w);
        if (rho > 0 && trial > 0 && at.gamma != last_gamma) {
            curvature_ =
                std::clamp((last_slope - slope) / (at.gamma - last_gamma), rho * k, 16 * rho * k);
        }
        last_gamma = at.gamma;
        last_slope = slope;
        const double promised =
            missing * missing / (2 * density) + (rho > 0 ? slope * slope / (2 * curvature_) : 0);
        if (promised <= tuning::line_share * k * std::max(best.spare, enough)) break;
        at.lambda *= std::clamp(1 + missing / (density * at.lambda), 0.4, 2.5);
        if (rho > 0) at.gamma += slope / curvature_;
    }
    if (best.spare < worst.spare && best.weight > k / 2) worst = best;
    return best;
}

// A line with something to spare closes all intercepts about it up to the root of that.
void Walker::along(const Interval& open, std::vector<Interval>& left) {
    double from = open.lo, stride = stride_;
    line_.lambda = lambda_;
    for (int tried = 0; from < open.hi;) {
        const double p2 = from + std::min(stride, (open.hi - from) / 2 + stride / 4);
        const Seen seen = look(p2);
        const double wide = std::max(seen.spread * half_, 0.1 * stride_);
        const bool closes = seen.spare > tuning::worth_closing * wide * wide;
        const double radius = closes ? std::sqrt(seen.spare) * (1 - 1e-9) : wide;
        const double back = closes ? p2 - radius : from;  // up to here it is not known
        if ((closes ? back > from : stride > 1.5 * wide) && tried < 3) {
            ++tried;
            stride = 0.8 * radius;
            continue;
        }
        if (!closes) {
            left.push_back({from, std::min(p2 + radius, open.hi)});
        } else if (back > from) {
            left.push_back({from, back});
        }
        from = p2 + radius;
        stride = 0.95 * radius;
        tried = 0;
    }
}

// ---- all of them, round by round ------------------------------------------------------------

// Ranges that have a table in common.
struct Group {
    std::size_t first, last;
    double slope, lo, hi, bin, reach, rows;
};

class Scanner {
  public:
    Scanner(const LineCriterion& criterion, const Scan& scan, Control& control)
        : criterion_(criterion),
          scan_(scan),
          far_(scan.cells),
          control_(control),
          workers_(scan.n_jobs, Strips(nearby_)) {}

    // Leaves open what is.
    void look(std::vector<Range>& ranges);
    // Halves of them.
    std::vector<Range> halved(const std::vector<Range>& ranges) const;
    std::vector<Box> boxes(const std::vector<Range>& ranges) const;
    std::uint64_t lines = 0;
    double evaluations = 0;

  private:
    struct Found {
        double value;
        Moments moments;
    };
    bool exchanged(const Range& r) const { return Axes(criterion_.frame(r.frame)).exchanged; }
    // A subset's mean of x.
    Interval means(const Range& range) const;
    std::vector<Group> groups(const std::vector<Range>& ranges) const;
    void look(const std::vector<Group>& all, std::vector<Range>& ranges);
    void keep(const Seen& worst, bool exchanged, double unit);
    void propose();

    const LineCriterion& criterion_;
    const Scan& scan_;
    Far far_;
    Control& control_;
    std::vector<Found> found_;
    Nearby nearby_;
    std::vector<Strips> workers_;  // one a thread
};

std::vector<Group> Scanner::groups(const std::vector<Range>& ranges) const {
    std::vector<Group> out;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const Range& r = ranges[i];
        const Scale scale(criterion_, scan_, r, &far_);
        const double lo = r.open.front().lo, hi = r.open.back().hi;
        Group next{i, i + 1, r.p1, lo, hi, scale.bin, scale.reach, scale.rows};
        if (!out.empty()) {
            Group& g = out.back();
            const Range& first = ranges[g.first];
            const bool same =
                exchanged(first) == exchanged(r) && std::fabs(first.half - r.half) <= 1e-9 * r.half;
            if (same && r.p1 - first.p1 <= 2 * tuning::together * r.half * (1 + 1e-9)) {
                g = {g.first,
                     i + 1,
                     first.p1 + (r.p1 - first.p1) / 2,
                     std::min(g.lo, lo),
                     std::max(g.hi, hi),
                     g.bin,
                     std::max(g.reach, scale.reach),
                     std::max(g.rows, scale.rows)};
                continue;
            }
        }
        out.push_back(next);
    }
    for (Group& g : out) {
        // At the table's own slope a point lies elsewhere, by as much as rows differ.
        const Range& r = ranges[g.first];
        const double turned = std::fabs(g.slope - r.p1);
        g.reach += turned * (exchanged(r) ? far_.y : far_.x);
        g.bin = std::max(g.bin, (g.hi - g.lo + 2 * g.reach) / tuning::most_bins);
    }
    return out;
}

void Scanner::look(std::vector<Range>& ranges) {
    std::sort(ranges.begin(), ranges.end(), [&](const Range& p, const Range& q) {
        const bool one = exchanged(p), other = exchanged(q);
        return one != other ? one < other : p.p1 < q.p1;
    });
    const std::vector<Group> all = groups(ranges);
    for (std::size_t i = 0; i < all.size();) {
        const bool swapped = exchanged(ranges[all[i].first]);
        Lines lines_of{swapped, {infinity, infinity}, {-infinity, -infinity}};
        double reach = 0, bin = infinity, rows = 0;
        std::vector<Group> some;
        for (; i < all.size() && exchanged(ranges[all[i].first]) == swapped; ++i) {
            const Group& g = all[i];
            some.push_back(g);
            reach = std::max(reach, g.reach);
            bin = std::min(bin, g.bin);
            rows = std::max(rows, g.rows);
            lines_of.lo[0] = std::min(lines_of.lo[0], g.slope);
            lines_of.hi[0] = std::max(lines_of.hi[0], g.slope);
            lines_of.lo[1] = std::min(lines_of.lo[1], g.lo);
            lines_of.hi[1] = std::max(lines_of.hi[1], g.hi);
        }
        if (control_.stopped()) return;
        const Nearby::Wanted wanted{reach, tuning::cell_in_bin * bin, rows,
                                    swapped ? far_.y : far_.x};
        nearby_.gather(scan_.cells, lines_of, wanted);
        look(some, ranges);
    }
    std::erase_if(ranges, [](const Range& r) { return r.open.empty(); });
    propose();
}

void Scanner::look(const std::vector<Group>& all, std::vector<Range>& ranges) {
    std::vector<Seen> worst(ranges.size(), Seen{infinity});
    std::vector<std::uint64_t> looked(all.size(), 0);
    parallel_for(scan_.n_jobs, std::ssize(all), [&](int id, std::int64_t at) {
        const Group& g = all[at];
        Strips& strips = workers_[id];
        strips.set(g.slope, g.lo, g.hi, g.bin, g.reach);
        for (std::size_t i = g.first; i < g.last; ++i) {
            Range& range = ranges[i];
            Walker walker(criterion_, scan_, strips, range);
            std::vector<Interval> left;
            for (const Interval& open : range.open) walker.along(open, left);
            join(left);
            range.open = std::move(left);
            worst[i] = walker.worst;
            looked[at] += walker.lines;
        }
        if (id == 0) control_.look([] { return Progress{}; });
        return !control_.stopped();
    });
    for (const std::uint64_t some : looked) lines += some;
    evaluations += static_cast<double>(all.size()) * static_cast<double>(nearby_.items().size());
    for (std::size_t i = all.front().first; i < all.back().last; ++i) {
        if (ranges[i].open.empty()) continue;
        const double unit = Scale(criterion_, scan_, ranges[i]).residual;
        // Without what is lost by the range of slopes.
        const double alone = worst[i].spare + square(ranges[i].half * worst[i].spread);
        if (!(alone < -tuning::worth_proposing * square(unit))) continue;
        const bool before = i > all.front().first && worst[i - 1].spare < worst[i].spare;
        const bool after = i + 1 < all.back().last && worst[i + 1].spare < worst[i].spare;
        if (!before && !after) keep(worst[i], exchanged(ranges[i]), square(unit));
    }
}

void Scanner::keep(const Seen& worst, bool exchanged, double unit) {
    if (!(worst.weight > 0)) return;
    const double g = scan_.k / worst.weight;
    const Moments& m = worst.chosen;
    Moments of{g * m.x, g * m.y, g * m.xx, g * m.xy, g * m.yy};
    if (exchanged) {
        std::swap(of.x, of.y);
        std::swap(of.xx, of.yy);
    }
    found_.push_back({worst.spare / unit, of});
}

void Scanner::propose() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& p, const Found& q) { return p.value < q.value; });
    if (found_.size() > tuning::scan_proposals) found_.resize(tuning::scan_proposals);
    for (const Found& f : found_) scan_.propose(f.moments);
    found_.clear();
}

Interval Scanner::means(const Range& range) const {
    const LineCriterion::Frame& f = criterion_.frame(range.frame);
    return Axes::turned({f.lo_x, f.hi_x}, Axes(f).x);
}

std::vector<Range> Scanner::halved(const std::vector<Range>& ranges) const {
    std::vector<Range> out;
    for (const Range& r : ranges) {
        const Interval x = means(r);
        for (const double side : {-0.5, 0.5}) {
            Range half{r.frame, r.p1 + side * r.half, 0, {}};
            half.half = r.half / 2 + 0x1p-52 * (std::fabs(r.p1) + r.half);
            const double by = half.p1 - r.p1, one = -by * x.lo, other = -by * x.hi;
            for (const Interval& open : r.open) {
                const double more = 0x1p-50 * (std::fabs(open.lo) + std::fabs(open.hi) +
                                               std::fabs(one) + std::fabs(other));
                half.open.push_back(
                    {open.lo + std::min(one, other) - more, open.hi + std::max(one, other) + more});
            }
            join(half.open);
            out.push_back(std::move(half));
        }
    }
    return out;
}

std::vector<Box> Scanner::boxes(const std::vector<Range>& ranges) const {
    std::vector<Box> out;
    for (const Range& range : ranges) {
        const Interval x = means(range);
        const double away = range.half * std::max(std::fabs(x.lo), std::fabs(x.hi));
        const Range r = Axes(criterion_.frame(range.frame)).turned(range);
        for (const Interval& open : r.open) {
            out.push_back(
                make_root(r.frame, r.p1 - r.half, r.p1 + r.half, open.lo - away, open.hi + away));
            out.back().multipliers = criterion_.first_multipliers();
        }
    }
    return out;
}

// The criterion's roots, cut into ranges of slopes.
std::vector<Range> all_ranges(const LineCriterion& criterion, const Scan& scan) {
    std::vector<Range> out;
    for (const Box& root : criterion.roots()) {
        const Interval all{root.centre[1] - root.half[1], root.centre[1] + root.half[1]};
        const Axes axes(criterion.frame(root.frame));
        const Scale scale(criterion, scan, {root.frame, root.centre[0], root.half[0], {all}});
        const double wanted =
            root.half[0] * scale.extent / (std::sqrt(tuning::first_share) * scale.residual);
        const double parts = std::ceil(std::clamp(wanted, 1.0, tuning::most_first));
        const double half = root.half[0] / parts;
        for (double i = 0; i < parts; ++i) {
            const double p1 = root.centre[0] + half * (2 * i + 1 - parts);
            out.push_back(axes.turned(
                {root.frame, p1, half + 0x1p-50 * (std::fabs(p1) + root.half[0]), {all}}));
        }
    }
    return out;
}

double lines_over(const LineCriterion& criterion, const Scan& scan,
                  const std::vector<Range>& ranges) {
    double lines = 0;
    for (const Range& r : ranges) {
        const double wide = 2 * r.half * Scale(criterion, scan, r).extent;
        for (const Interval& open : r.open) lines += 1 + (open.hi - open.lo) / wide;
    }
    return lines;
}

// Whether tables of more rows would gain.
bool coarse(const LineCriterion& criterion, const Scan& scan, const std::vector<Range>& ranges) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) {
        const Scale scale(criterion, scan, r);
        return r.half * scale.extent * std::sqrt(scan.k) >= tuning::finest * scale.residual;
    });
}

// Not where k points on a line are known.
bool can_be_better(const LineCriterion& criterion, const Scan& scan) {
    const auto roots = criterion.roots();
    return criterion.hurts() < 1 &&
           std::all_of(
               roots.begin(), roots.end(),
               [&](const Box& root) {
                   return Scale(criterion, scan, {root.frame, root.centre[0], 0, {}}).residual > 0;
               });
}

}  // namespace

bool worth_scanning(const LineCriterion& criterion, const Scan& scan) {
    const Cells& cells = scan.cells;
    if (!(scan.k <= tuning::scanned_share * cells.cell[0].weight)) return false;
    if (cells.size() > tuning::most_scanned) return false;  // a few tables of them
    if (cells.size() <= tuning::least_scanned) return false;
    if (!(std::max(cells.reach_x, cells.reach_y) < 0x1p100)) return false;
    const auto roots = criterion.roots();  // those of one parameter have few boxes
    const auto ranging = [](const Box& root) { return root.half[0] > 0; };
    return std::all_of(roots.begin(), roots.end(), ranging) && can_be_better(criterion, scan);
}

Scanned scan_slopes(const LineCriterion& criterion, const Scan& scan, Control& control) {
    Scanner scanner(criterion, scan, control);
    std::vector<Range> ranges = all_ranges(criterion, scan);
    const double strips = scan.cells.cell[0].weight / scan.k;
    for (int round = 0; round < scan.rounds && !ranges.empty(); ++round) {
        if (control.stopped() || !can_be_better(criterion, scan)) break;  // by what was found
        if (round > 0) ranges = scanner.halved(ranges);
        if (!(lines_over(criterion, scan, ranges) <= scan.most_lines * strips * strips)) break;
        if (round > 0 && !coarse(criterion, scan, ranges)) break;
        scanner.look(ranges);
    }
    return {scanner.boxes(ranges), scanner.lines, scanner.evaluations};
}

}  // namespace quadsweep
