#include "growing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace quadsweep::outofcore {
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

Rectangle around(std::span<const Sampled> sample) {
    Rectangle r{{infinity, infinity}, {-infinity, -infinity}};
    for (const Sampled& p : sample) {
        for (const int axis : {0, 1}) {
            r.lo[axis] = std::min(r.lo[axis], p.at[axis]);
            r.hi[axis] = std::max(r.hi[axis], p.at[axis]);
        }
    }
    return r;
}

// Part of a sample, all that the thresholds above it leave, and where its rows are.
struct Piece {
    int node;
    std::size_t first, last;
    Rectangle all{}, rows{};
    double priority = 0;

    bool operator<(const Piece& o) const {
        return priority != o.priority ? priority < o.priority : node > o.node;
    }
    bool one_point() const { return rows.lo[0] == rows.hi[0] && rows.lo[1] == rows.hi[1]; }
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
        piece.rows = around(std::span(sample_).subspan(piece.first, piece.last - piece.first));
        double blur = foci_.empty() || piece.one_point() ? 1 : 0;
        for (const Focus& focus : foci_) blur = std::max(blur, focus.blur(piece.rows));
        piece.priority = blur * static_cast<double>(piece.last - piece.first);
        open_.push(piece);
    }

    bool choose(const Piece& piece, Threshold& cut) const {
        if (piece.one_point()) return isolate(piece, cut);
        const int axis = wider_side(piece.rows);
        const auto from = sample_.begin() + static_cast<std::ptrdiff_t>(piece.first);
        const auto to = sample_.begin() + static_cast<std::ptrdiff_t>(piece.last);
        const auto less = [axis](const Sampled& p, const Sampled& q) {
            return p.at[axis] < q.at[axis];
        };
        const auto high = from + (to - from) * 5 / 8, low = from + (to - from) * 3 / 8;
        std::nth_element(from, high, to, less);
        std::nth_element(from, low, high, less);
        cut = {axis, roundest(low->at[axis], high->at[axis])};
        if (!(cut.threshold > piece.rows.lo[axis])) cut.threshold = after(cut.threshold);
        return true;
    }

    // All of the sample is one point: what is left of it and right of it goes elsewhere.
    static bool isolate(const Piece& piece, Threshold& cut) {
        if (piece.last - piece.first < common) return false;
        for (const int axis : {0, 1}) {
            for (const double threshold : {piece.rows.lo[axis], after(piece.rows.lo[axis])}) {
                if (threshold > piece.all.lo[axis] && threshold < piece.all.hi[axis]) {
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
        left.all.hi[cut.axis] = right.all.lo[cut.axis] = cut.threshold;
        add(left);
        add(right);
    }

    std::vector<Sampled>& sample_;
    const std::vector<Focus>& foci_;
    std::vector<Node> nodes_;
    std::priority_queue<Piece> open_;
};

}  // namespace

std::vector<Node> grow(std::vector<Sampled>& sample, int leaves, const std::vector<Focus>& at) {
    return Grower(sample, at).grow(leaves);
}

std::vector<std::int32_t> by_distance(const std::vector<Node>& nodes,
                                      std::span<const Sampled> sample,
                                      const std::vector<Focus>& at) {
    if (at.empty()) return {};
    std::vector<Rectangle> of(nodes.size());
    of[0] = around(sample);
    std::vector<double> distance;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto [threshold, child, axis] = nodes[i];
        if (child != 0) {
            of[child] = of[child + 1] = of[i];
            of[child].hi[axis] = of[child + 1].lo[axis] = threshold;
            continue;
        }
        distance.push_back(infinity);
        for (const Focus& f : at) {
            const double d = f.distance(of[i]);
            if (d < distance.back()) distance.back() = d;  // what is not a number is far away
        }
    }
    std::vector<std::int32_t> order(distance.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return distance[a] < distance[b]; });
    return order;
}

}  // namespace quadsweep::outofcore
