#include "cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <span>

#include "shared/parallel.hpp"
#include "shared/threads.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

struct Entry {
    double x, y;
    int point;  // index of the group
    int weight;
};

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
    if (n <= tuning::certain_repeats) return true;
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

// Entries below `pivot` first. No branch depends on the data.
template <double Entry::* key>
Entry* partition(Entry* first, Entry* last, double pivot) {
    Entry* to = first;
    for (Entry* at = first; at != last; ++at) {
        const Entry e = *at;
        *at = *to;
        *to = e;
        to += e.*key < pivot ? 1 : 0;
    }
    return to;
}

// std::nth_element by Floyd and Rivest: two pivots of a sample, just above and just below the rank
// that is wanted, leave little between them.
template <double Entry::* key>
void select(Entry* first, Entry* nth, Entry* last) {
    constexpr std::ptrdiff_t few = 256, sampled = 64, apart = 4;
    for (bool above = true; last - first > few; above = !above) {
        double sample[sampled];
        const std::ptrdiff_t size = last - first, rank = (nth - first) * sampled / size;
        for (std::ptrdiff_t i = 0; i < sampled; ++i) {
            sample[i] = first[(2 * i + 1) * size / (2 * sampled)].*key;
        }
        const auto at = std::clamp<std::ptrdiff_t>(above ? rank + apart : rank - apart, 0, 63);
        std::nth_element(sample, sample + at, sample + sampled);
        Entry* const split = partition<key>(first, last, sample[at]);
        if (split == first) break;  // ties: nothing is smaller
        (nth < split ? last : first) = split;
    }
    std::nth_element(first, nth, last,
                     [](const Entry& p, const Entry& q) { return p.*key < q.*key; });
}

bool ended(Control* control) {
    if (control == nullptr) return false;
    control->look([] { return Progress{}; });
    return control->stopped();
}

class Builder {
  public:
    // `control` ends it half-way; the calling thread attends to it.
    Builder(Cells& cells, std::span<Entry> entries, Control* control)
        : cells_(cells), entries_(entries), control_(control) {}

    void build(int n_jobs) {
        const int n = static_cast<int>(entries_.size());
        fill(0, 1, 0, n, n_jobs, control_ != nullptr);
        // Two products and an addition for each point of a leaf, an addition a level.
        cells_.roundings = 2 + tuning::leaf_points + std::ceil(std::log2(n + 1.0));
    }

    static int count(int n) {  // cells of a tree over n points
        if (n <= tuning::leaf_points) return 1;
        return n % 2 == 0 ? 1 + 2 * count(n / 2) : 1 + count(n / 2) + count(n - n / 2);
    }

  private:
    // Cell `at` over entries [first, last); its descendants take the places from `free` on: the two
    // children, then all below the left one, then all below the right one. `attends`: in the thread
    // that came from the user.
    void fill(int at, int free, int first, int last, int n_jobs, bool attends) {
        if (last - first > tuning::fork_points && stopped(attends)) return;
        Cell& c = cells_.cell[at];
        c.first = first;
        c.last = last;
        frame(c);
        if (last - first <= tuning::leaf_points) {
            sum_points(c);
            return;
        }
        const int middle = first + (last - first) / 2;
        Entry* const all = entries_.data();
        const auto choose = c.hx > c.hy ? select<&Entry::x> : select<&Entry::y>;
        choose(all + first, all + middle, all + last);
        c.left = free;
        const int below_left = count(middle - first) - 1;
        const bool fork = n_jobs > 1 && last - first > tuning::fork_points;
        const auto left = [&, jobs = n_jobs / 2] {
            fill(free, free + 2, first, middle, jobs, attends && !fork);
        };
        const auto right = [&, jobs = n_jobs - n_jobs / 2] {
            fill(free + 1, free + 2 + below_left, middle, last, jobs, attends);
        };
        if (fork) {
            const Thread other(left);
            right();
        } else {
            left();
            right();
        }
        sum_children(cells_.cell[at]);
    }

    bool stopped(bool attends) const {
        return attends ? ended(control_) : control_ != nullptr && control_->stopped();
    }

    void frame(Cell& c) const {
        double xl = infinity, xh = -infinity, yl = infinity, yh = -infinity;
        for (int i = c.first; i < c.last; ++i) {
            const Entry& p = entries_[i];
            xl = std::min(xl, p.x);
            xh = std::max(xh, p.x);
            yl = std::min(yl, p.y);
            yh = std::max(yh, p.y);
        }
        c.x = xl + (xh - xl) / 2;
        c.y = yl + (yh - yl) / 2;
        c.hx = std::max(xh - c.x, c.x - xl);
        c.hy = std::max(yh - c.y, c.y - yl);
    }

    void sum_points(Cell& c) const {
        c.weight = 0;
        c.sums = {};
        for (int i = c.first; i < c.last; ++i) {
            const Entry& p = entries_[i];
            const double w = p.weight, x = p.x, y = p.y;
            c.weight += w;
            c.sums += {w * x, w * y, w * x * x, w * x * y, w * y * y};
        }
    }

    void sum_children(Cell& c) const {
        const Cell &left = cells_.cell[c.left], &right = cells_.cell[c.left + 1];
        c.weight = left.weight + right.weight;
        c.sums = left.sums + right.sums;
    }

    Cells& cells_;
    std::span<Entry> entries_;
    Control* control_;
};

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
    // Not set to zero: each part is first touched by the thread that fills it.
    const auto buffer = std::make_unique_for_overwrite<Entry[]>(n);
    int distinct = n;
    std::vector<int> group;  // of each row; none where every row is a point of its own
    if (worth_collapsing(points)) {
        group = collapse(points, buffer.get(), distinct, control);
        if (std::ssize(group) < n) return {};
    }
    const std::span<Entry> entries(buffer.get(), distinct);
    const Placer place(at);
    Cells cells;
    cells.cell.resize(Builder::count(distinct));
    in_parts(distinct, n_jobs, [&](int first, int last) {
        for (int i = first; i < last; ++i) {
            if (group.empty()) entries[i] = {points.given_x[i], points.given_y[i], i, 1};
            place(entries[i].x, entries[i].y);
        }
    });
    Builder(cells, entries, control).build(n_jobs);
    if (control != nullptr && control->stopped()) return {};
    cells.reach_x = std::fabs(cells.cell[0].x) + cells.cell[0].hx;
    cells.reach_y = std::fabs(cells.cell[0].y) + cells.cell[0].hy;
    collect_points(entries, n_jobs, cells);
    collect_members(entries, group, n, n_jobs, cells);
    return cells;
}

}  // namespace quadsweep
