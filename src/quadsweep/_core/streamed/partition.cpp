#include "partition.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace quadsweep::streamed {
namespace {

constexpr std::size_t common = 4;  // copies in a sample: a point that gets a leaf of its own

void accumulate(double& sum, double& lost, double term) {
    const double to = sum + term, added = to - sum;
    lost += (sum - (to - added)) + (term - added);
    sum = to;
}

void accumulate(Moments& sums, Moments& lost, const Moments& terms) {
    accumulate(sums.x, lost.x, terms.x);
    accumulate(sums.y, lost.y, terms.y);
    accumulate(sums.xx, lost.xx, terms.xx);
    accumulate(sums.xy, lost.xy, terms.xy);
    accumulate(sums.yy, lost.yy, terms.yy);
}

double after(double v) { return std::nextafter(v, infinity); }

struct Sampled {
    double at[2];
};

// Part of a sample, and the rectangle that the thresholds above it leave.
struct Piece {
    int node;
    std::size_t first, last;
    double lo[2] = {-infinity, -infinity}, hi[2] = {infinity, infinity};
};

struct Cut {
    int axis;
    double threshold;
};

class Grower {
  public:
    Grower(std::vector<Sampled>& sample, int leaves) : sample_(sample), most_(leaves) {}

    std::vector<Node> grow() {
        nodes_.resize(1);
        std::vector<Piece> level{{0, 0, sample_.size()}}, next;
        int leaves = 1;
        while (!level.empty()) {
            next.clear();
            for (Piece& piece : level) {
                Cut cut{};
                if (leaves >= most_ || !choose(piece, cut)) continue;
                ++leaves;
                split(piece, cut, next);
            }
            level.swap(next);
        }
        return std::move(nodes_);
    }

  private:
    bool choose(const Piece& piece, Cut& cut) const {
        if (piece.last - piece.first < 2) return false;
        double lo[2], hi[2];
        for (int axis : {0, 1}) {
            lo[axis] = infinity;
            hi[axis] = -infinity;
            for (std::size_t i = piece.first; i < piece.last; ++i) {
                lo[axis] = std::min(lo[axis], sample_[i].at[axis]);
                hi[axis] = std::max(hi[axis], sample_[i].at[axis]);
            }
        }
        if (lo[0] == hi[0] && lo[1] == hi[1]) return isolate(piece, lo, cut);
        cut.axis = hi[0] - lo[0] > hi[1] - lo[1] ? 0 : 1;
        const auto from = sample_.begin() + static_cast<std::ptrdiff_t>(piece.first);
        const auto to = sample_.begin() + static_cast<std::ptrdiff_t>(piece.last);
        const auto middle = from + (to - from) / 2;
        std::nth_element(from, middle, to, [axis = cut.axis](const Sampled& p, const Sampled& q) {
            return p.at[axis] < q.at[axis];
        });
        const double median = middle->at[cut.axis];
        cut.threshold = median > lo[cut.axis] ? median : after(median);
        return true;
    }

    // All of the sample is one point: what is left of it and right of it goes elsewhere.
    static bool isolate(const Piece& piece, const double (&point)[2], Cut& cut) {
        if (piece.last - piece.first < common) return false;
        for (const int axis : {0, 1}) {
            for (const double threshold : {point[axis], after(point[axis])}) {
                if (threshold > piece.lo[axis] && threshold < piece.hi[axis]) {
                    cut = {axis, threshold};
                    return true;
                }
            }
        }
        return false;
    }

    void split(const Piece& piece, const Cut& cut, std::vector<Piece>& next) {
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
        next.push_back(left);
        next.push_back(right);
    }

    std::vector<Sampled>& sample_;
    int most_;
    std::vector<Node> nodes_;
};

// A part of the plane that a refined leaf is cut into.
struct Rectangle {
    int node;
    double lo[2], hi[2];
};

}  // namespace

void Leaf::add(double x, double y) {
    count += 1;
    x_lo = x < x_lo ? x : x_lo;
    x_hi = x > x_hi ? x : x_hi;
    y_lo = y < y_lo ? y : y_lo;
    y_hi = y > y_hi ? y : y_hi;
    accumulate(sums, lost, {x, y, x * x, x * y, y * y});
}

void Leaf::merge(const Leaf& other) {
    count += other.count;
    x_lo = std::min(x_lo, other.x_lo);
    x_hi = std::max(x_hi, other.x_hi);
    y_lo = std::min(y_lo, other.y_lo);
    y_hi = std::max(y_hi, other.y_hi);
    accumulate(sums, lost, other.sums);
    lost += other.lost;
}

Partition::Partition(Placing at, std::vector<Node> nodes, std::vector<std::int32_t> leaf)
    : at_(at), nodes_(std::move(nodes)), leaf_(std::move(leaf)) {
    finish();
}

Partition::Partition(const Placing& at, std::span<const double> x, std::span<const double> y,
                     int leaves)
    : at_(at) {
    std::vector<Sampled> sample(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        sample[i] = {{x[i], y[i]}};
        at_(sample[i].at[0], sample[i].at[1]);
    }
    nodes_ = Grower(sample, leaves).grow();
    leaf_.assign(nodes_.size(), -1);
    int next = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].child == 0) leaf_[i] = next++;
    }
    finish();
}

void Partition::finish() {
    std::vector<int> depth(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (leaf_[i] >= 0) {
            nodes_[i] = {infinity, static_cast<std::int32_t>(i), 0};
            leaves_ = std::max(leaves_, leaf_[i] + 1);
            depth_ = std::max(depth_, depth[i]);
        } else {
            depth[nodes_[i].child] = depth[nodes_[i].child + 1] = depth[i] + 1;
        }
    }
}

void Partition::place(std::span<const double> x, std::span<const double> y, std::size_t from,
                      Rows& rows) const {
    const std::size_t to = std::min(x.size(), from + block);
    const double fx = std::ldexp(1.0, -at_.ex), fy = std::ldexp(1.0, -at_.ey);
    const bool plain = at_.slope == 0 && std::isnormal(fx) && std::isnormal(fy);
    std::size_t size = 0;
    for (std::size_t i = from; i < to; ++i) {
        const double X = x[i], Y = y[i];
        rows.at[0][size] = plain ? (X - at_.x0) * fx : X;
        rows.at[1][size] = plain ? (Y - at_.y0) * fy : Y;
        rows.position[size] = static_cast<std::int32_t>(i - from);
        size += std::isfinite(X) && std::isfinite(Y) ? 1 : 0;
    }
    rows.size = size;
    if (plain) return;
    for (std::size_t i = 0; i < size; ++i) at_(rows.at[0][i], rows.at[1][i]);
}

void Partition::descend(Rows& rows) const {
    std::int32_t* at = rows.leaf;
    std::fill_n(at, rows.size, 0);
    const Node* nodes = nodes_.data();
    for (int level = 0; level < depth_; ++level) {
        for (std::size_t i = 0; i < rows.size; ++i) {
            const Node& node = nodes[at[i]];
            const double v = rows.at[node.axis][i];  // no branch to be mispredicted
            at[i] = node.child + static_cast<std::int32_t>(v >= node.threshold);
        }
    }
    for (std::size_t i = 0; i < rows.size; ++i) at[i] = leaf_[at[i]];
}

void Partition::locate(std::span<const double> x, std::span<const double> y,
                       std::span<std::int32_t> leaf) const {
    std::fill(leaf.begin(), leaf.end(), -1);
    each(x, y, [&](std::size_t i, std::int32_t at, double, double) { leaf[i] = at; });
}

std::int64_t Partition::add(std::span<const double> x, std::span<const double> y,
                            std::span<const std::uint8_t> wanted, std::span<Leaf> table) const {
    Rows rows;
    std::int64_t missing = 0;
    for (std::size_t from = 0; from < x.size(); from += block) {
        place(x, y, from, rows);
        missing += static_cast<std::int64_t>(std::min(block, x.size() - from) - rows.size);
        descend(rows);
        for (std::size_t i = 0; i < rows.size; ++i) {
#if defined(__GNUC__)
            constexpr std::size_t ahead = 12;
            if (i + ahead < rows.size) {
                const Leaf* soon = &table[rows.leaf[i + ahead]];
                __builtin_prefetch(soon, 1);
                __builtin_prefetch(reinterpret_cast<const char*>(soon) + 64, 1);
            }
#endif
            if (!wanted.empty() && wanted[rows.leaf[i]] == 0) continue;
            table[rows.leaf[i]].add(rows.at[0][i], rows.at[1][i]);
        }
    }
    return missing;
}

bool distinct(std::span<const double> column, std::size_t most, std::vector<double>& found) {
    const std::size_t mask = std::bit_ceil(4 * most + 4) - 1;
    std::vector<std::int32_t> slot(mask + 1, -1);
    found.clear();
    for (double v : column) {
        if (!std::isfinite(v)) continue;
        v += 0.0;  // no -0
        std::size_t s = (std::bit_cast<std::uint64_t>(v) * 0x9e3779b97f4a7c15u >> 32) & mask;
        while (slot[s] >= 0 && found[slot[s]] != v) s = (s + 1) & mask;
        if (slot[s] >= 0) continue;
        if (found.size() == most) return false;
        slot[s] = static_cast<std::int32_t>(found.size());
        found.push_back(v);
    }
    return true;
}

Partition Partition::refined(std::span<const std::int32_t> which, std::span<const Leaf> table,
                             int levels) const {
    std::vector<std::int32_t> node_of(leaves_, -1);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (leaf_[i] >= 0) node_of[leaf_[i]] = static_cast<std::int32_t>(i);
    }
    std::vector<Node> nodes = nodes_;
    std::vector<std::int32_t> leaf = leaf_;
    std::int32_t next = leaves_;
    for (const std::int32_t one : which) {
        const Leaf& l = table[one];
        std::vector<Rectangle> pieces{{node_of[one], {l.x_lo, l.y_lo}, {l.x_hi, l.y_hi}}}, finer;
        for (int level = 0; level < levels; ++level) {
            finer.clear();
            for (const Rectangle& r : pieces) {
                const int axis = r.hi[0] - r.lo[0] > r.hi[1] - r.lo[1] ? 0 : 1;
                const double middle = r.lo[axis] + (r.hi[axis] - r.lo[axis]) / 2;
                const double threshold = middle > r.lo[axis] ? middle : r.hi[axis];
                if (!(threshold > r.lo[axis])) {
                    finer.push_back(r);
                    continue;
                }
                const auto child = static_cast<std::int32_t>(nodes.size());
                nodes[r.node] = {threshold, child, axis};
                nodes.resize(nodes.size() + 2);
                leaf.resize(nodes.size(), -1);
                leaf[child] = leaf[r.node];
                leaf[child + 1] = next++;
                leaf[r.node] = -1;
                Rectangle left = r, right = r;
                left.node = child;
                right.node = child + 1;
                left.hi[axis] = right.lo[axis] = threshold;
                finer.push_back(left);
                finer.push_back(right);
            }
            pieces.swap(finer);
        }
    }
    return {at_, std::move(nodes), std::move(leaf)};
}

}  // namespace quadsweep::streamed
