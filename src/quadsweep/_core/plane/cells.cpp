#include "cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "cell_tree.hpp"
#include "shared/parallel.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

std::uint64_t hash_of(double x, double y) {
    std::uint64_t h = std::bit_cast<std::uint64_t>(x + 0.0) * 0x9e3779b97f4a7c15u;
    h ^= std::bit_cast<std::uint64_t>(y + 0.0) + (h >> 29);
    h *= 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 32);
}

// Open addressing over the distinct points met so far.
class Groups {
  public:
    explicit Groups(std::size_t n) : slot_(std::bit_ceil(2 * n), -1) {}

    // Index of the group of (x, y) as given; `next` if it is new.
    int find(double x, double y, const Entry* groups, int next) {
        const std::size_t mask = slot_.size() - 1;
        for (std::size_t s = hash_of(x, y) & mask;; s = (s + 1) & mask) {
            if (slot_[s] < 0) return slot_[s] = next;
            const Entry& g = groups[slot_[s]];
            if (g.x == x && g.y == y) return slot_[s];
        }
    }

  private:
    std::vector<int> slot_;
};

// Whether identical points are common enough to look for: certain where they
// are few, beyond that by a sample in which every seventh of a per mille of repeats would show.
bool worth_collapsing(const Points& p) {
    const std::size_t n = p.x.size(), most = tuning::sampled_repeats;
    if (n <= most) return true;
    std::vector<Entry> seen(most);
    Groups groups(most);
    for (std::size_t i = 0; i < most; ++i) {
        const std::size_t j = i * n / most;
        const double x = p.given_x[j], y = p.given_y[j];
        const int next = static_cast<int>(i);
        if (groups.find(x, y, seen.data(), next) < next) return true;
        seen[i] = {x, y, next, 1};
    }
    return false;
}

// Identical rows as one entry: the group of each row. None if stopped half-way.
std::vector<int> collapse(const Points& points, Entry* entries, int& distinct, Control* control) {
    const int n = points.size();
    std::vector<int> group(n);
    Groups groups(n);
    distinct = 0;
    for (int i = 0; i < n; ++i) {
        if (i % tuning::fork_points == tuning::fork_points - 1 && ended(control)) return {};
        const double x = points.given_x[i], y = points.given_y[i];
        group[i] = groups.find(x, y, entries, distinct);
        if (group[i] == distinct) {
            entries[distinct] = {x, y, distinct, 0};
            ++distinct;
        }
        ++entries[group[i]].weight;
    }
    return group;
}

// body(first, last) for parts of [0, n), on all threads where there are several.
template <class Body>
void in_parts(int n, int n_jobs, Body&& body) {
    constexpr int each = tuning::fork_points;
    parallel_for(n_jobs, (n + each - 1) / each, [&](int, std::int64_t part) {
        const int first = static_cast<int>(part) * each;
        body(first, std::min(n, first + each));
        return true;
    });
}

void collect_points(std::span<const Entry> entries, int n_jobs, Cells& cells) {
    const auto distinct = entries.size();
    cells.x.resize(distinct);
    cells.y.resize(distinct);
    cells.weight.resize(distinct);
    in_parts(static_cast<int>(distinct), n_jobs, [&](int first, int last) {
        for (int p = first; p < last; ++p) {
            cells.x[p] = entries[p].x;
            cells.y[p] = entries[p].y;
            cells.weight[p] = entries[p].weight;
        }
    });
}

// Groups are numbered as they first appear: without repeats a group is its row.
void collect_members(std::span<const Entry> entries, const std::vector<int>& group, int n,
                     int n_jobs, Cells& cells) {
    const int distinct = static_cast<int>(entries.size());
    cells.member.resize(n);
    cells.first_member.resize(distinct + 1);
    cells.first_member[0] = 0;
    if (distinct == n) {
        in_parts(n, n_jobs, [&](int first, int last) {
            for (int p = first; p < last; ++p) {
                cells.member[p] = entries[p].point;
                cells.first_member[p + 1] = p + 1;
            }
        });
        return;
    }
    std::vector<int> next(distinct);
    for (int p = 0; p < distinct; ++p) {
        next[entries[p].point] = cells.first_member[p];
        cells.first_member[p + 1] = cells.first_member[p] + entries[p].weight;
    }
    for (int i = 0; i < n; ++i) cells.member[next[group[i]]++] = i;
}

}  // namespace

Cells make_cells(const Points& points, const Placing& at, int n_jobs, Control* control) {
    const int n = points.size();
    Array<Entry> buffer(n);
    int distinct = n;
    std::vector<int> group;  // of each row; none where every row is a point of its own
    if (worth_collapsing(points)) {
        group = collapse(points, buffer.data(), distinct, control);
        if (std::ssize(group) < n) return {};
    }
    const std::span<Entry> entries(buffer.data(), distinct);
    const Placer place(at);
    Cells cells;
    in_parts(distinct, n_jobs, [&](int first, int last) {
        for (int i = first; i < last; ++i) {
            if (group.empty()) entries[i] = {points.given_x[i], points.given_y[i], i, 1};
            place(entries[i].x, entries[i].y);
        }
    });
    build_tree(entries, n_jobs, control, cells);
    if (control != nullptr && control->stopped()) return {};
    cells.reach_x = std::fabs(cells.cell[0].x) + cells.cell[0].hx;
    cells.reach_y = std::fabs(cells.cell[0].y) + cells.cell[0].hy;
    collect_points(entries, n_jobs, cells);
    collect_members(entries, group, n, n_jobs, cells);
    return cells;
}

}  // namespace quadsweep
