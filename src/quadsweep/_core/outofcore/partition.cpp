#include "partition.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace quadsweep::outofcore {
namespace {

// All five at once.
void accumulate_all(Moments& sums, Moments& lost, const Moments& terms) {
    using Five = std::array<double, 5>;
    Five s = std::bit_cast<Five>(sums), l = std::bit_cast<Five>(lost);
    const Five t = std::bit_cast<Five>(terms);
    for (int i = 0; i < 5; ++i) accumulate(s[i], l[i], t[i]);
    sums = std::bit_cast<Moments>(s);
    lost = std::bit_cast<Moments>(l);
}

// A part of the plane that a refined leaf is cut into.
struct Portion {
    int node;
    Rectangle at;
};

}  // namespace

void Picked::add(const Located& rows, std::span<const std::uint8_t> wanted) {
    for (int i = 0; i < rows.size; ++i) {
        if (wanted[rows.leaf[i]] == 0) continue;
        position.push_back(rows.first + rows.position[i]);
        leaf.push_back(rows.leaf[i]);
        x.push_back(rows.x[i]);
        y.push_back(rows.y[i]);
    }
}

void Leaf::merge(const Leaf& other) {
    count += other.count;
    x_lo = std::min(x_lo, other.x_lo);
    x_hi = std::max(x_hi, other.x_hi);
    y_lo = std::min(y_lo, other.y_lo);
    y_hi = std::max(y_hi, other.y_hi);
    accumulate_all(sums, lost, other.sums);
    lost += other.lost;
}

Partition::Partition(Placing at, std::vector<Node> nodes, std::vector<std::int32_t> leaf)
    : at_(at),
      nodes_(std::move(nodes)),
      leaf_(std::move(leaf)),
      leaves_(1 + *std::max_element(leaf_.begin(), leaf_.end())),
      locator_(at_, nodes_, leaf_) {}

Partition Partition::of_sample(const Placing& at, std::span<const double> x,
                               std::span<const double> y, int leaves, const Aim& aim) {
    std::vector<Sampled> sample(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        sample[i] = {{x[i], y[i]}};
        at(sample[i].at[0], sample[i].at[1]);
    }
    const std::vector<Focus> where = foci(sample, aim.objective, aim.share, aim.starts);
    std::vector<Node> nodes = grow(sample, leaves, where);
    std::vector<std::int32_t> order = by_distance(nodes, sample, where);
    std::vector<std::int32_t> leaf(nodes.size(), -1);
    int next = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].child == 0) leaf[i] = next++;
    }
    Partition out(at, std::move(nodes), std::move(leaf));
    out.nearest_ = std::move(order);
    return out;
}

std::vector<std::int32_t> Partition::locate(std::span<const double> x,
                                            std::span<const double> y) const {
    std::vector<std::int32_t> leaf(x.size(), -1);
    locator_.each(x, y, {}, [&](const Located& rows) {
        for (int i = 0; i < rows.size; ++i) leaf[rows.first + rows.position[i]] = rows.leaf[i];
    });
    return leaf;
}

std::int64_t Partition::add(std::span<const double> x, std::span<const double> y,
                            std::span<const std::uint8_t> wanted, std::span<Leaf> table) const {
    const auto add = outofcore_loops().add;
    return locator_.each(x, y, wanted, [&](const Located& rows) {
        add(rows.x, rows.y, rows.leaf, rows.size, table.data());
    });
}

std::int64_t Partition::add_and_pick(std::span<const double> x, std::span<const double> y,
                                     std::span<const std::uint8_t> wanted, std::span<Leaf> table,
                                     Picked& picked) const {
    const auto add = outofcore_loops().add;
    return locator_.each(x, y, {}, [&](const Located& rows) {
        add(rows.x, rows.y, rows.leaf, rows.size, table.data());
        picked.add(rows, wanted);
    });
}

Picked Partition::pick(std::span<const double> x, std::span<const double> y,
                       std::span<const std::uint8_t> wanted) const {
    Picked picked;
    locator_.each(x, y, wanted, [&](const Located& rows) { picked.add(rows, wanted); });
    return picked;
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
        std::vector<Portion> pieces{{node_of[one], {{l.x_lo, l.y_lo}, {l.x_hi, l.y_hi}}}}, finer;
        for (int level = 0; level < levels; ++level) {
            finer.clear();
            for (const Portion& piece : pieces) {
                const Rectangle& r = piece.at;
                const int axis = wider_side(r);
                const double middle = r.lo[axis] + (r.hi[axis] - r.lo[axis]) / 2;
                const double threshold = middle > r.lo[axis] ? middle : r.hi[axis];
                if (!(threshold > r.lo[axis])) {
                    finer.push_back(piece);
                    continue;
                }
                const auto child = static_cast<std::int32_t>(nodes.size());
                nodes[piece.node] = {threshold, child, axis};
                nodes.resize(nodes.size() + 2);
                leaf.resize(nodes.size(), -1);
                leaf[child] = leaf[piece.node];
                leaf[child + 1] = next++;
                leaf[piece.node] = -1;
                Portion left{child, r}, right{child + 1, r};
                left.at.hi[axis] = right.at.lo[axis] = threshold;
                finer.push_back(left);
                finer.push_back(right);
            }
            pieces.swap(finer);
        }
    }
    return {at_, std::move(nodes), std::move(leaf)};
}

}  // namespace quadsweep::outofcore
