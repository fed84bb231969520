#include "growing.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "engine/selection.hpp"

namespace quadsweep::streamed {
namespace {

constexpr std::size_t common = 4;  // copies in a sample: a point that gets a leaf of its own

double after(double v) { return std::nextafter(v, infinity); }

// The number with the fewest binary digits from lo to hi.
double roundest(double lo, double hi) {
    if (!(lo < hi) || !(hi - lo < 1e300)) return hi;
    for (int e = std::ilogb(hi - lo) + 1;; --e) {
        const double unit = std::ldexp(1.0, e), at = std::ceil(lo / unit) * unit;
        if (at >= lo && at <= hi) return at;
        if (!(unit > 0)) return hi;
    }
}

double cost_at(const Quadratic& f, const Sampled& p) { return moved(f, p.at[0], p.at[1]).c; }

// Part of a sample, where it lies, and the rectangle that the thresholds above it leave.
struct Piece {
    int node;
    std::size_t first, last;
    double lo[2] = {-infinity, -infinity}, hi[2] = {infinity, infinity};
    double from[2] = {infinity, infinity}, to[2] = {-infinity, -infinity};
    double priority = 0;

    bool operator<(const Piece& o) const {
        return priority != o.priority ? priority < o.priority : node > o.node;
    }
    bool one_point() const { return from[0] == to[0] && from[1] == to[1]; }
};

struct Threshold {
    int axis;
    double threshold;
};

class Grower {
  public:
    Grower(std::vector<Sampled>& sample, const std::vector<Focus>& foci)
        : sample_(sample), foci_(foci) {}

    std::vector<Node> grow(int most) {
        nodes_.resize(1);
        add({0, 0, sample_.size()});
        for (int leaves = 1; leaves < most && !open_.empty();) {
            const Piece piece = open_.top();
            open_.pop();
            Threshold cut{};
            if (!choose(piece, cut)) continue;
            ++leaves;
            split(piece, cut);
        }
        return std::move(nodes_);
    }

  private:
    void add(Piece piece) {
        if (piece.last - piece.first < 2) return;
        for (const int axis : {0, 1}) {
            piece.from[axis] = infinity;
            piece.to[axis] = -infinity;
            for (std::size_t i = piece.first; i < piece.last; ++i) {
                piece.from[axis] = std::min(piece.from[axis], sample_[i].at[axis]);
                piece.to[axis] = std::max(piece.to[axis], sample_[i].at[axis]);
            }
        }
        double blur = foci_.empty() || piece.one_point() ? 1 : 0;
        for (const Focus& focus : foci_) blur = std::max(blur, focus.blur(piece.from, piece.to));
        piece.priority = blur * static_cast<double>(piece.last - piece.first);
        open_.push(piece);
    }

    bool choose(const Piece& piece, Threshold& cut) const {
        if (piece.one_point()) return isolate(piece, cut);
        const int axis = piece.to[0] - piece.from[0] > piece.to[1] - piece.from[1] ? 0 : 1;
        const auto from = sample_.begin() + static_cast<std::ptrdiff_t>(piece.first);
        const auto to = sample_.begin() + static_cast<std::ptrdiff_t>(piece.last);
        const auto less = [axis](const Sampled& p, const Sampled& q) {
            return p.at[axis] < q.at[axis];
        };
        const auto high = from + (to - from) * 5 / 8, low = from + (to - from) * 3 / 8;
        std::nth_element(from, high, to, less);
        std::nth_element(from, low, high, less);
        cut = {axis, roundest(low->at[axis], high->at[axis])};
        if (!(cut.threshold > piece.from[axis])) cut.threshold = after(cut.threshold);
        return true;
    }

    // All of the sample is one point: what is left of it and right of it goes elsewhere.
    static bool isolate(const Piece& piece, Threshold& cut) {
        if (piece.last - piece.first < common) return false;
        for (const int axis : {0, 1}) {
            for (const double threshold : {piece.from[axis], after(piece.from[axis])}) {
                if (threshold > piece.lo[axis] && threshold < piece.hi[axis]) {
                    cut = {axis, threshold};
                    return true;
                }
            }
        }
        return false;
    }

    void split(const Piece& piece, const Threshold& cut) {
        const auto from = sample_.begin() + static_cast<std::ptrdiff_t>(piece.first);
        const auto to = sample_.begin() + static_cast<std::ptrdiff_t>(piece.last);
        const auto middle = std::partition(
            from, to, [&](const Sampled& p) { return p.at[cut.axis] < cut.threshold; });
        const auto child = static_cast<int>(nodes_.size());
        nodes_[piece.node] = {cut.threshold, child, cut.axis};
        nodes_.resize(nodes_.size() + 2);
        Piece left = piece, right = piece;
        left.node = child;
        right.node = child + 1;
        left.last = right.first = static_cast<std::size_t>(middle - sample_.begin());
        left.hi[cut.axis] = right.lo[cut.axis] = cut.threshold;
        add(left);
        add(right);
    }

    std::vector<Sampled>& sample_;
    const std::vector<Focus>& foci_;
    std::vector<Node> nodes_;
    std::priority_queue<Piece> open_;
};

}  // namespace

double Focus::blur(const double (&lo)[2], const double (&hi)[2]) const {
    Cell cell{};
    cell.x = lo[0] + (hi[0] - lo[0]) / 2;
    cell.y = lo[1] + (hi[1] - lo[1]) / 2;
    cell.hx = (hi[0] - lo[0]) / 2;
    cell.hy = (hi[1] - lo[1]) / 2;
    const CellRange r = range_over(moved(cost, cell.x, cell.y), cell);
    const double width = r.high - r.low;
    const double away = std::max({0.0, r.low - level, level - r.high});
    if (!(width > 0)) return away > 0 ? 0 : 1;
    const double near = width / (width + away);
    return near * near * near * near * width / (width + unit);
}

std::vector<Focus> foci(std::span<const Sampled> sample, Objective objective, double share,
                        const std::vector<Moments>& starts) {
    std::vector<Focus> out;
    std::vector<double> costs(sample.size());
    for (const Moments& m : starts) {
        auto gain = quadratic_form(objective, centred(m, 1));
        if (!gain || sample.empty()) continue;
        gain->mx = m.x;
        gain->my = m.y;
        Focus focus{loss(*gain)};
        std::transform(sample.begin(), sample.end(), costs.begin(),
                       [&](const Sampled& p) { return cost_at(focus.cost, p); });
        const auto k = static_cast<std::ptrdiff_t>(share * static_cast<double>(costs.size() - 1));
        std::nth_element(costs.begin(), costs.begin() + k, costs.end());
        focus.level = costs[k];
        double away = 0;
        for (const double cost : costs) away += std::fabs(cost - focus.level);
        focus.unit = away / static_cast<double>(costs.size());
        out.push_back(focus);
    }
    return out;
}

std::vector<Node> grow(std::vector<Sampled>& sample, int leaves, const std::vector<Focus>& at) {
    return Grower(sample, at).grow(leaves);
}

}  // namespace quadsweep::streamed
