#include "cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "shared/threads.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

struct Entry {
    double x, y;
    int point;  // index of the group
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
    int find(double x, double y, const std::vector<Entry>& groups, int next) {
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
    std::vector<Entry> seen;
    Groups groups(most);
    for (std::size_t i = 0; i < most; ++i) {
        const std::size_t j = i * n / most;
        const int g = groups.find(p.given_x[j], p.given_y[j], seen, static_cast<int>(seen.size()));
        if (g < static_cast<int>(seen.size())) return true;
        seen.push_back({p.given_x[j], p.given_y[j], 0});
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
    Builder(Cells& cells, std::vector<Entry>& entries, const std::vector<int>& weight,
            Control* control)
        : cells_(cells), entries_(entries), weight_(weight), control_(control) {}

    void build(int n_jobs) {
        const int n = static_cast<int>(entries_.size());
        cells_.cell.resize(count(n));
        fill(0, 1, 0, n, n_jobs, control_ != nullptr);
        // Two products and an addition for each point of a leaf, an addition a level.
        cells_.roundings = 2 + tuning::leaf_points + std::ceil(std::log2(n + 1.0));
    }

  private:
    static int count(int n) {  // cells of a tree over n points
        if (n <= tuning::leaf_points) return 1;
        return n % 2 == 0 ? 1 + 2 * count(n / 2) : 1 + count(n / 2) + count(n - n / 2);
    }

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
            const double w = weight_[p.point], x = p.x, y = p.y;
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
    std::vector<Entry>& entries_;
    const std::vector<int>& weight_;
    Control* control_;
};

void place_entries(std::vector<Entry>& entries, const Placing& at) {
    const double fx = std::ldexp(1.0, -at.ex), fy = std::ldexp(1.0, -at.ey);
    if (at.slope == 0 && std::isnormal(fx) && std::isnormal(fy)) {
        for (Entry& p : entries) {
            p.x = (p.x - at.x0) * fx;
            p.y = (p.y - at.y0) * fy;
        }
    } else {
        for (Entry& p : entries) at(p.x, p.y);
    }
}

}  // namespace

Cells make_cells(const Points& points, const Placing& at, int n_jobs, Control* control) {
    const auto &X = points.given_x, &Y = points.given_y;
    const int n = points.size();
    Cells cells;
    std::vector<Entry> entries;
    entries.reserve(n);
    std::vector<int> group(n), weight;
    if (worth_collapsing(points)) {
        Groups groups(n);
        for (int i = 0; i < n; ++i) {
            if (i % tuning::fork_points == tuning::fork_points - 1 && ended(control)) return {};
            const auto next = static_cast<int>(entries.size());
            group[i] = groups.find(X[i], Y[i], entries, next);
            if (group[i] == next) {
                entries.push_back({X[i], Y[i], next});
                weight.push_back(0);
            }
            ++weight[group[i]];
        }
    } else {
        for (int i = 0; i < n; ++i) entries.push_back({X[i], Y[i], i});
        std::iota(group.begin(), group.end(), 0);
        weight.assign(n, 1);
    }
    place_entries(entries, at);
    Builder(cells, entries, weight, control).build(n_jobs);
    if (control != nullptr && control->stopped()) return {};
    cells.reach_x = std::fabs(cells.cell[0].x) + cells.cell[0].hx;
    cells.reach_y = std::fabs(cells.cell[0].y) + cells.cell[0].hy;

    const std::size_t distinct = entries.size();
    cells.x.resize(distinct);
    cells.y.resize(distinct);
    cells.weight.resize(distinct);
    cells.first_member.resize(distinct + 1);
    std::vector<int> place(distinct);
    for (std::size_t p = 0; p < distinct; ++p) {
        cells.x[p] = entries[p].x;
        cells.y[p] = entries[p].y;
        cells.weight[p] = weight[entries[p].point];
        cells.first_member[p + 1] = cells.first_member[p] + cells.weight[p];
        place[entries[p].point] = static_cast<int>(p);
    }
    cells.member.resize(n);
    std::vector<int> next(cells.first_member.begin(), cells.first_member.end() - 1);
    for (int i = 0; i < n; ++i) cells.member[next[place[group[i]]]++] = i;
    return cells;
}

}  // namespace quadsweep
