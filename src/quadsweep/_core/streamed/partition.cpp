#include "partition.hpp"

#include <algorithm>
#include <array>
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

// All five at once.
void accumulate(Moments& sums, Moments& lost, const Moments& terms) {
    using Five = std::array<double, 5>;
    Five s = std::bit_cast<Five>(sums), l = std::bit_cast<Five>(lost);
    const Five t = std::bit_cast<Five>(terms);
    for (int i = 0; i < 5; ++i) accumulate(s[i], l[i], t[i]);
    sums = std::bit_cast<Moments>(s);
    lost = std::bit_cast<Moments>(l);
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

struct Threshold {
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
                Threshold cut{};
                if (leaves >= most_ || !choose(piece, cut)) continue;
                ++leaves;
                split(piece, cut, next);
            }
            level.swap(next);
        }
        return std::move(nodes_);
    }

  private:
    bool choose(const Piece& piece, Threshold& cut) const {
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
    static bool isolate(const Piece& piece, const double (&point)[2], Threshold& cut) {
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

    void split(const Piece& piece, const Threshold& cut, std::vector<Piece>& next) {
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
    constexpr int most_top = 8;
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
    top_ = std::min(depth_, most_top);
    end_of_.assign(nodes_.size(), -1);
    std::vector<int> height(nodes_.size(), 0);
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        if (leaf_[i] >= 0) continue;
        height[i] = 1 + std::max(height[nodes_[i].child], height[nodes_[i].child + 1]);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (depth[i] > top_ || (depth[i] < top_ && leaf_[i] < 0)) continue;
        end_of_[i] = static_cast<std::int16_t>(ends_.size());
        ends_.push_back(static_cast<std::int32_t>(i));
        below_.push_back(height[i]);
    }
    make_grid();
}

void Partition::make_grid() {
    struct Part {
        std::int32_t node;
        int lo[2], hi[2];  // cells
    };
    if (nodes_.size() < 256) return;
    // The first levels have the first nodes: a refined partition adds its own at the end.
    const int most = *std::max_element(ends_.begin(), ends_.end());
    if (most > INT16_MAX) return;
    double lo[2] = {infinity, infinity}, hi[2] = {-infinity, -infinity};
    for (int i = 0; i <= most; ++i) {
        if (end_of_[i] >= 0) continue;
        const int a = nodes_[i].axis;
        lo[a] = std::min(lo[a], nodes_[i].threshold);
        hi[a] = std::max(hi[a], nodes_[i].threshold);
    }
    for (const int a : {0, 1}) {
        const double margin = (hi[a] - lo[a]) / 16, width = hi[a] - lo[a] + 2 * margin;
        if (width > 0 && width < 1e300) axis_[a] = {lo[a] - margin, grid / width};
    }
    start_.assign(static_cast<std::size_t>(grid) * grid, 0);
    std::vector<Part> open{{0, {0, 0}, {grid, grid}}};
    while (!open.empty()) {
        const Part part = open.back();
        open.pop_back();
        for (int row = part.lo[1]; row < part.hi[1]; ++row) {
            std::fill_n(start_.begin() + static_cast<std::ptrdiff_t>(row) * grid + part.lo[0],
                        part.hi[0] - part.lo[0], static_cast<std::int16_t>(part.node));
        }
        if (end_of_[part.node] >= 0) continue;
        const Node& node = nodes_[part.node];
        const int at = axis_[node.axis].cell(node.threshold);
        Part left = part, right = part;
        left.node = node.child;
        right.node = node.child + 1;
        left.hi[node.axis] = std::min(part.hi[node.axis], at);
        right.lo[node.axis] = std::max(part.lo[node.axis], at + 1);
        for (const Part& next : {left, right}) {
            if (next.lo[0] < next.hi[0] && next.lo[1] < next.hi[1]) open.push_back(next);
        }
    }
}

void Partition::enter(Rows& rows) const {
    if (start_.empty()) {
        std::fill_n(rows.node.begin(), rows.size, 0);
        descend(rows.placed.data(), rows.node.data(), rows.size, top_);
        return;
    }
    constexpr std::size_t some = 512;
    Placed placed[some];
    std::int32_t node[some], which[some];
    for (std::size_t from = 0; from < rows.size; from += some) {
        const std::size_t to = std::min(rows.size, from + some);
        std::size_t left = 0;  // rows in cells that a threshold cuts
        for (std::size_t i = from; i < to; ++i) {
            const Placed& p = rows.placed[i];
            const int at = axis_[1].cell(p.at[1]) * grid + axis_[0].cell(p.at[0]);
            const std::int32_t start = start_[at];
            rows.node[i] = start;
            placed[left] = p;
            node[left] = 0;
            which[left] = static_cast<std::int32_t>(i);
            left += end_of_[start] < 0 ? 1 : 0;
        }
        descend(placed, node, left, top_);
        for (std::size_t i = 0; i < left; ++i) rows.node[which[i]] = node[i];
    }
}

void Partition::place(std::span<const double> x, std::span<const double> y, std::size_t from,
                      std::size_t to, Rows& rows) const {
    const double fx = std::ldexp(1.0, -at_.ex), fy = std::ldexp(1.0, -at_.ey);
    const bool plain = at_.slope == 0 && std::isnormal(fx) && std::isnormal(fy);
    std::size_t size = 0;
    for (std::size_t i = from; i < to; ++i) {
        const double X = x[i], Y = y[i];
        rows.placed[size] = {{plain ? (X - at_.x0) * fx : X, plain ? (Y - at_.y0) * fy : Y}};
        rows.position[size] = static_cast<std::int32_t>(i - from);
        size += (X - X) + (Y - Y) == 0 ? 1 : 0;  // both finite
    }
    rows.size = size;
    if (plain) return;
    for (std::size_t i = 0; i < size; ++i) at_(rows.placed[i].at[0], rows.placed[i].at[1]);
}

void Partition::descend(const Placed* placed, std::int32_t* node, std::size_t size,
                        int levels) const {
    const Node* nodes = nodes_.data();
    const auto down = [&](const Placed* p, std::int32_t* at, std::size_t width) {
        for (std::size_t j = 0; j < width; ++j) {
            const Node& here = nodes[at[j]];
            at[j] = here.child + static_cast<std::int32_t>(p[j].at[here.axis] >= here.threshold);
        }
    };
    std::size_t i = 0;
    for (; i + lanes <= size; i += lanes) {
        std::int32_t at[lanes];
        std::copy_n(node + i, lanes, at);
        for (int level = 0; level < levels; ++level) down(placed + i, at, lanes);
        std::copy_n(at, lanes, node + i);
    }
    for (int level = 0; level < levels; ++level) down(placed + i, node + i, size - i);
}

std::vector<char> Partition::with_wanted(std::span<const std::uint8_t> wanted) const {
    std::vector<char> live(wanted.empty() ? 0 : nodes_.size(), 0);
    for (std::size_t i = live.size(); i-- > 0;) {
        if (leaf_[i] >= 0) {
            live[i] = wanted[leaf_[i]] != 0 ? 1 : 0;
        } else {
            live[i] = live[nodes_[i].child] | live[nodes_[i].child + 1];
        }
    }
    return live;
}

void Partition::leave_behind(Rows& rows, const std::vector<char>& live) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < rows.size; ++i) {
        rows.placed[size] = rows.placed[i];
        rows.position[size] = rows.position[i];
        rows.node[size] = rows.node[i];
        size += live[rows.node[i]] != 0 ? 1 : 0;
    }
    rows.size = size;
}

void Partition::locate(std::span<const double> x, std::span<const double> y,
                       std::span<std::int32_t> leaf) const {
    std::fill(leaf.begin(), leaf.end(), -1);
    each(x, y, {}, [&](std::size_t i, std::int32_t at, const Placed&) { leaf[i] = at; });
}

// Many rows at a time: they are sorted by where they are after the first levels, so that the rest
// of the way, and the leaves at its end, are in the cache. The rows of a leaf keep their order.
std::int64_t Partition::add(std::span<const double> x, std::span<const double> y,
                            std::span<const std::uint8_t> wanted, std::span<Leaf> table) const {
    constexpr std::size_t batch = 1 << 18;
    const std::vector<char> live = with_wanted(wanted);
    Rows rows(std::min(batch, x.size()));
    std::vector<Placed> sorted(rows.placed.size());
    std::vector<std::size_t> first(ends_.size() + 1);
    std::int64_t missing = 0;
    for (std::size_t from = 0; from < x.size(); from += batch) {
        const std::size_t to = std::min(x.size(), from + batch);
        place(x, y, from, to, rows);
        missing += static_cast<std::int64_t>(to - from - rows.size);
        enter(rows);
        if (!live.empty()) leave_behind(rows, live);
        std::fill(first.begin(), first.end(), 0);
        for (std::size_t i = 0; i < rows.size; ++i) {
            rows.node[i] = end_of_[rows.node[i]];
            ++first[rows.node[i] + 1];
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<std::size_t> next(first.begin(), first.end() - 1);
        for (std::size_t i = 0; i < rows.size; ++i) sorted[next[rows.node[i]]++] = rows.placed[i];
        for (std::size_t end = 0; end < ends_.size(); ++end) {
            const std::size_t size = first[end + 1] - first[end];
            const Placed* here = sorted.data() + first[end];
            std::int32_t* node = rows.node.data();
            std::fill_n(node, size, ends_[end]);
            descend(here, node, size, below_[end]);
            for (std::size_t i = 0; i < size; ++i) {
                const std::int32_t leaf = leaf_[node[i]];
                if (!wanted.empty() && wanted[leaf] == 0) continue;
                table[leaf].add(here[i].at[0], here[i].at[1]);
            }
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
