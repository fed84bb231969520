#include "slopes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "shared/parallel.hpp"
#include "strips.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

// An ulp or two beyond both ends, so that rounding of lattices leaves no gap.
double overlap(double lo, double hi) { return 0x1p-50 * (std::fabs(lo) + std::fabs(hi)); }

// What a line through the good subset leaves, a point, in a frame's coordinates.
double residual(const LineCriterion::Frame& f, const Scan& scan) {
    const auto sum = [&](const Affine& of) {
        return of.x * of.x * scan.good.a + of.y * of.y * scan.good.b;
    };
    return (sum(f.w) - scan.good.c * scan.good.c / sum(f.wx)) / scan.k;
}

// Parts lose `share` of the residual by either parameter. Points at the ends of a line count
// however far from it they are, up to what their place along it makes up for.
Grain grain_for(const LineCriterion& criterion, const Lines& lines, const Scan& scan,
                double share) {
    const LineCriterion::Frame& f = criterion.frame(lines.frame);
    const double rest = residual(f, scan);
    const Cell& all = scan.cells.cell[0];
    const double square =
        std::max((f.wx.x * f.wx.x * all.sums.xx + f.wx.y * f.wx.y * all.sums.yy) / all.weight,
                 (f.wx.x * f.wx.x * scan.good.a + f.wx.y * f.wx.y * scan.good.b) / scan.k);
    const double rho = criterion.hurts();
    const double steepest = std::max(std::fabs(lines.lo[0]), std::fabs(lines.hi[0]));
    const double along = std::sqrt(rho / (1 - rho)) * steepest *
                         (f.wx.x != 0 ? scan.cells.reach_x : scan.cells.reach_y);
    return {{std::sqrt(share * rest / square), std::sqrt(share * rest)},
            tuning::strip_bin * std::sqrt(share * rest),
            tuning::strip_reach * (std::sqrt(rest) + along)};
}

// The nodes of a lattice over lines; positive or not.
struct Lattice {
    Lattice(const Lines& over, const Grain& wanted) : lines(over) {
        for (int i = 0; i < 2; ++i) {
            const double width = lines.hi[i] - lines.lo[i];
            parts[i] = std::max(1.0, std::ceil(width / (2 * wanted.eta[i])));
            eta[i] = width / (2 * parts[i]) * (1 + 1e-12) + overlap(lines.lo[i], lines.hi[i]);
        }
    }
    double place(int i, double at) const {
        return lines.lo[i] + (lines.hi[i] - lines.lo[i]) * (at / parts[i]);
    }
    double nodes() const { return (parts[0] + 1) * (parts[1] + 1); }

    Lines lines;
    double parts[2], eta[2];
};

// The parts of a lattice that are not closed, as few rectangles that are mostly open.
class Cover {
  public:
    // `positive`: of each node, p1 by p1.
    Cover(const Lattice& lattice, const std::vector<char>& positive)
        : lattice_(lattice),
          n1_(static_cast<int>(lattice.parts[0])),
          n2_(static_cast<int>(lattice.parts[1])),
          open_(static_cast<std::size_t>(n1_) * n2_) {
        for (int i = 0; i < n1_; ++i) {
            for (int j = 0; j < n2_; ++j) {
                const char* const node = positive.data() + static_cast<std::size_t>(i) * (n2_ + 1);
                const char *const low = node + j, *const high = low + n2_ + 1;
                const bool closed = low[0] != 0 && low[1] != 0 && high[0] != 0 && high[1] != 0;
                open_[static_cast<std::size_t>(i) * n2_ + j] = closed ? 0 : 1;
            }
        }
    }
    void rectangles(std::vector<Lines>& out) const { split({0, n1_, 0, n2_}, out); }

  private:
    struct Part {
        int lo1, hi1, lo2, hi2;
    };
    void split(const Part& in, std::vector<Lines>& out) const {
        Part b{in.hi1, in.lo1, in.hi2, in.lo2};
        double open = 0;
        for (int i = in.lo1; i < in.hi1; ++i) {
            for (int j = in.lo2; j < in.hi2; ++j) {
                if (open_[static_cast<std::size_t>(i) * n2_ + j] == 0) continue;
                ++open;
                b = {std::min(b.lo1, i), std::max(b.hi1, i + 1), std::min(b.lo2, j),
                     std::max(b.hi2, j + 1)};
            }
        }
        if (open == 0) return;
        const int size1 = b.hi1 - b.lo1, size2 = b.hi2 - b.lo2;
        if (open >= tuning::mostly_open * size1 * size2) return out.push_back(lines(b));
        Part one = b, other = b;
        if (size1 >= size2) {
            one.hi1 = other.lo1 = b.lo1 + size1 / 2;
        } else {
            one.hi2 = other.lo2 = b.lo2 + size2 / 2;
        }
        split(one, out);
        split(other, out);
    }
    Lines lines(const Part& b) const {
        Lines of{lattice_.lines.frame,
                 {lattice_.place(0, b.lo1), lattice_.place(1, b.lo2)},
                 {lattice_.place(0, b.hi1), lattice_.place(1, b.hi2)}};
        for (int i = 0; i < 2; ++i) {
            const double more = overlap(of.lo[i], of.hi[i]);
            of.lo[i] -= more;
            of.hi[i] += more;
        }
        return of;
    }

    const Lattice& lattice_;
    int n1_, n2_;
    std::vector<char> open_;
};

class Scanner {
  public:
    Scanner(const LineCriterion& criterion, const Scan& scan, Control& control)
        : criterion_(criterion), scan_(scan), control_(control) {}

    // What is left of these lines.
    std::vector<Lines> look(const std::vector<Lines>& at, double share) {
        std::vector<Lines> left;
        for (const Lines& lines : at) look(lines, share, left);
        propose();
        return left;
    }
    double evaluations = 0;

  private:
    struct Found {
        double value;
        Moments moments;
    };
    void look(const Lines& lines, double share, std::vector<Lines>& left);
    void keep_best(const std::vector<Slope::Worst>& worst, int frame);
    void propose();

    const LineCriterion& criterion_;
    const Scan& scan_;
    Control& control_;
    std::vector<Found> found_;
};

void Scanner::look(const Lines& lines, double share, std::vector<Lines>& left) {
    if (control_.stopped()) return left.push_back(lines);
    const LineCriterion::Frame& frame = criterion_.frame(lines.frame);
    Grain grain = grain_for(criterion_, lines, scan_, share);
    if ((lines.hi[1] - lines.lo[1]) / grain.bin > tuning::most_bins) {
        Lines low = lines, high = lines;
        low.hi[1] = high.lo[1] = lines.lo[1] + (lines.hi[1] - lines.lo[1]) / 2;
        look(low, share, left);
        return look(high, share, left);
    }
    const Lattice lattice(lines, grain);
    std::copy_n(lattice.eta, 2, grain.eta);
    const double rows =
        std::max<double>(tuning::strip_rows, tuning::rows_by_share / std::sqrt(share));
    const Nearby nearby(scan_.cells, frame, lines, grain, rows);
    const auto slopes = static_cast<std::size_t>(lattice.parts[0]) + 1;
    const auto each = static_cast<std::size_t>(lattice.parts[1]) + 1;
    std::vector<char> positive(slopes * each, 0);
    std::vector<Slope::Worst> worst(slopes);
    std::vector<Slope> workers(scan_.n_jobs,
                               Slope(criterion_, nearby, scan_.k, 2 * scan_.cells.roundings + 8));
    const double lambda = 2 * residual(frame, scan_);
    parallel_for(scan_.n_jobs, static_cast<std::int64_t>(slopes), [&](int id, std::int64_t i) {
        Slope& slope = workers[id];
        slope.set(lines.frame, lattice.place(0, static_cast<double>(i)), lines.lo[1], lines.hi[1],
                  grain);
        slope.guess(lambda, 0);
        for (std::size_t j = 0; j < each; ++j) {
            const bool yes = slope.positive(lattice.place(1, static_cast<double>(j)));
            positive[static_cast<std::size_t>(i) * each + j] = yes ? 1 : 0;
        }
        worst[i] = slope.worst();
        if (id == 0) control_.look([] { return Progress{}; });
        return !control_.stopped();
    });
    evaluations += static_cast<double>(slopes) * static_cast<double>(nearby.items().size());
    keep_best(worst, lines.frame);
    Cover(lattice, positive).rectangles(left);
}

// Slopes that are worse than their neighbours.
void Scanner::keep_best(const std::vector<Slope::Worst>& worst, int frame) {
    const LineCriterion::Frame& f = criterion_.frame(frame);
    const double unit = residual(f, scan_) * scan_.k;
    for (std::size_t i = 0; i < worst.size(); ++i) {
        const double value = worst[i].value;
        if (!(value < 0) || (i > 0 && worst[i - 1].value < value) ||
            (i + 1 < worst.size() && worst[i + 1].value <= value)) {
            continue;
        }
        const double g = scan_.k / worst[i].weight;
        const Moments& m = worst[i].moments;
        const bool flat = f.wx.x != 0;
        const double sign = (f.wx.x + f.wx.y) * (f.w.x + f.w.y);
        const double x = m.x * (f.wx.x + f.wx.y), y = m.y * (f.w.x + f.w.y);
        found_.push_back({value / unit,
                          {g * (flat ? x : y), g * (flat ? y : x), g * (flat ? m.xx : m.yy),
                           g * sign * m.xy, g * (flat ? m.yy : m.xx)}});
    }
}

void Scanner::propose() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& p, const Found& q) { return p.value < q.value; });
    if (found_.size() > tuning::scan_proposals) found_.resize(tuning::scan_proposals);
    for (const Found& f : found_) scan_.propose(f.moments);
    found_.clear();
}

Lines lines_of(const Box& root) {
    Lines lines{root.frame, {}, {}};
    for (int i = 0; i < 2; ++i) {
        lines.lo[i] = root.centre[i] - root.half[i];
        lines.hi[i] = root.centre[i] + root.half[i];
    }
    return lines;
}

std::vector<Lines> all_lines(const LineCriterion& criterion) {
    std::vector<Lines> lines;
    for (const Box& root : criterion.roots()) lines.push_back(lines_of(root));
    return lines;
}

double nodes_over(const LineCriterion& criterion, const std::vector<Lines>& lines, const Scan& scan,
                  double share) {
    double nodes = 0;
    for (const Lines& some : lines) {
        nodes += Lattice(some, grain_for(criterion, some, scan, share)).nodes();
    }
    return nodes;
}

// Beyond so many in a lattice boxes go on.
double most_nodes(const Scan& scan) {
    const double strips = scan.cells.cell[0].weight / scan.k;
    return scan.most_nodes * strips * strips;
}

}  // namespace

bool worth_scanning(const LineCriterion& criterion, const Scan& scan) {
    const Cells& cells = scan.cells;
    if (!(criterion.hurts() > 0))
        return false;  // lts: placed on its line, steep ones differ too much
    if (!(scan.k <= tuning::scanned_share * cells.cell[0].weight)) return false;
    if (cells.size() > tuning::most_scanned) return false;  // a few tables of them
    if (!(std::max(cells.reach_x, cells.reach_y) < 0x1p100)) return false;
    for (const Box& root : criterion.roots()) {
        if (!(root.half[0] > 0)) return false;  // one parameter: boxes are few
        const Grain grain = grain_for(criterion, lines_of(root), scan, tuning::first_share);
        if (!(grain.reach < tuning::most_reach * grain.bin)) return false;
    }
    const double nodes = nodes_over(criterion, all_lines(criterion), scan, tuning::first_share);
    return nodes >= tuning::least_nodes && nodes <= tuning::most_nodes && nodes <= most_nodes(scan);
}

Scanned scan_slopes(const LineCriterion& criterion, const Scan& scan, Control& control) {
    Scanner scanner(criterion, scan, control);
    std::vector<Lines> left = all_lines(criterion);
    double share = tuning::first_share;
    for (int level = 0; level < scan.levels; ++level, share /= 4) {
        if (!(nodes_over(criterion, left, scan, share) <= most_nodes(scan))) break;
        left = scanner.look(left, share);
    }
    Scanned out;
    for (const Lines& lines : left) {
        Box box = make_root(lines.frame, lines.lo[0], lines.hi[0], lines.lo[1], lines.hi[1]);
        box.multipliers = criterion.first_multipliers();
        out.left.push_back(std::move(box));
    }
    out.evaluations = scanner.evaluations;
    return out;
}

}  // namespace quadsweep
