#include "assembly.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <stdexcept>

#include "shared/parallel.hpp"

namespace quadsweep::outofcore {
namespace {

constexpr double most_copies = 0x1p30;  // of a point; more are several points in one place
constexpr double compensated = 4;       // roundings of a leaf's sums: its terms' and its own

class Assembler {
  public:
    Assembler(const Partition& partition, std::span<const Leaf> table, const Loaded& loaded,
              int n_jobs)
        : nodes_(partition.nodes()),
          leaf_(partition.leaf()),
          table_(table),
          loaded_(loaded),
          first_(table.size() + 1, 0),
          n_jobs_(n_jobs) {
        for (const std::int32_t leaf : loaded.leaf) ++first_[leaf + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        row_.resize(loaded.leaf.size());
        std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
        for (std::size_t i = 0; i < row_.size(); ++i) {
            row_[next[loaded.leaf[i]]++] = static_cast<std::int32_t>(i);
        }
    }

    Assembly run() {
        sum_up();
        out_.cells.resident = false;
        out_.cells.cell.resize(1);
        out_.cells.first_member = {0};
        line_up(0);
        build(0, 0, 0);
        Cells& cells = out_.cells;
        cells.roundings = compensated + inside_ + depth_;
        const Leaf& root = at_[0];
        cells.reach_x = std::max(std::fabs(root.x_lo), std::fabs(root.x_hi));
        cells.reach_y = std::max(std::fabs(root.y_lo), std::fabs(root.y_hi));
        out_.cell_leaf.resize(cells.cell.size(), -1);
        return std::move(out_);
    }

  private:
    bool is_leaf(int node) const { return leaf_[node] >= 0; }

    // Extents and counts of every node, which come before their children.
    void sum_up() {
        at_.resize(nodes_.size());
        for (std::size_t i = nodes_.size(); i-- > 0;) {
            if (leaf_[i] >= 0) {
                at_[i] = table_[leaf_[i]];
            } else {
                at_[i] = at_[nodes_[i].child];
                at_[i].merge(at_[nodes_[i].child + 1]);
            }
        }
    }

    // Loaded leaves in the order in which they will be grafted.
    void line_up(int node) {
        if (!is_leaf(node)) {
            line_up(nodes_[node].child);
            line_up(nodes_[node].child + 1);
        } else if (first_[leaf_[node] + 1] > first_[leaf_[node]]) {
            queue_.push_back(leaf_[node]);
        }
    }

    void build(int slot, int node, int depth) {
        while (!is_leaf(node)) {
            const int left = nodes_[node].child;
            if (!at_[left].empty() && !at_[left + 1].empty()) break;
            node = at_[left].empty() ? left + 1 : left;
        }
        depth_ = std::max(depth_, depth);
        if (is_leaf(node)) {
            build_leaf(slot, leaf_[node]);
            return;
        }
        const auto left = static_cast<int>(out_.cells.cell.size());
        out_.cells.cell.resize(out_.cells.cell.size() + 2);
        build(left, nodes_[node].child, depth + 1);
        build(left + 1, nodes_[node].child + 1, depth + 1);
        Cell cell = framed(at_[node]);
        const Cell &l = out_.cells.cell[left], &r = out_.cells.cell[left + 1];
        cell.weight = l.weight + r.weight;
        cell.sums = l.sums + r.sums;
        cell.first = l.first;
        cell.last = r.last;
        cell.left = left;
        out_.cells.cell[slot] = cell;
    }

    static Cell framed(const Leaf& of) {
        Cell c{};
        c.x = of.x_lo + (of.x_hi - of.x_lo) / 2;
        c.y = of.y_lo + (of.y_hi - of.y_lo) / 2;
        c.hx = std::max(of.x_hi - c.x, c.x - of.x_lo);
        c.hy = std::max(of.y_hi - c.y, c.y - of.y_lo);
        c.weight = of.count;
        c.sums = of.total();
        c.left = -1;
        return c;
    }

    void build_leaf(int slot, std::int32_t leaf) {
        const int rows = first_[leaf + 1] - first_[leaf];
        if (rows > 0) {
            graft(slot, leaf);
            return;
        }
        const Leaf& of = table_[leaf];
        Cell cell = framed(of);
        cell.first = cell.last = out_.cells.size();
        if (of.point()) add_copies(leaf, cell);
        out_.cells.cell[slot] = cell;
        out_.cell_leaf.resize(out_.cells.cell.size(), -1);
        out_.cell_leaf[slot] = leaf;
    }

    void add_copies(std::int32_t leaf, Cell& cell) {
        const Leaf& of = table_[leaf];
        for (double left = of.count; left > 0; left -= most_copies) {
            add_point(of.x_lo, of.y_lo, static_cast<int>(std::min(left, most_copies)));
            out_.point_leaf.push_back(leaf);
            out_.cells.first_member.push_back(static_cast<int>(out_.cells.member.size()));
        }
        cell.last = out_.cells.size();
    }

    void add_point(double x, double y, int copies) {
        out_.cells.x.push_back(x);
        out_.cells.y.push_back(y);
        out_.cells.weight.push_back(copies);
    }

    std::span<const std::int32_t> rows_of(std::int32_t leaf) const {
        return {row_.data() + first_[leaf], row_.data() + first_[leaf + 1]};
    }

    // A tree over the leaf's rows, made as for any points.
    Cells grown(std::int32_t leaf) const {
        const auto rows = rows_of(leaf);
        if (static_cast<double>(rows.size()) != table_[leaf].count) {
            throw std::runtime_error("the rows have changed between two passes");
        }
        Points points;
        for (const std::int32_t i : rows) {
            points.x.push_back(loaded_.x[i]);
            points.y.push_back(loaded_.y[i]);
        }
        points.given_x = points.x;
        points.given_y = points.y;
        return make_cells(points, {}, 1);
    }

    // The next one in the queue; some are grown at a time, by all threads.
    Cells next_grown() {
        constexpr std::size_t some = 64;
        const std::size_t at = taken_ % some;
        if (at == 0) {
            ready_.resize(std::min(some, queue_.size() - taken_));
            const auto count = static_cast<std::int64_t>(ready_.size());
            parallel_for(n_jobs_, count, [&](int, std::int64_t i) {
                ready_[i] = grown(queue_[taken_ + i]);
                return true;
            });
        }
        ++taken_;
        return std::move(ready_[at]);
    }

    // In the place of the leaf.
    void graft(int slot, std::int32_t leaf) {
        const auto rows = rows_of(leaf);
        const Cells own = next_grown();
        inside_ = std::max(inside_, own.roundings);
        Cells& all = out_.cells;
        const int base = static_cast<int>(all.cell.size()) - 1, first = all.size();
        const auto moved = [&](Cell c) {
            c.first += first;
            c.last += first;
            if (c.left >= 0) c.left += base;
            return c;
        };
        all.cell[slot] = moved(own.cell[0]);
        for (std::size_t i = 1; i < own.cell.size(); ++i) all.cell.push_back(moved(own.cell[i]));
        for (int p = 0; p < own.size(); ++p) {
            add_point(own.x[p], own.y[p], own.weight[p]);
            out_.point_leaf.push_back(-1);
            for (int member : own.members(p)) all.member.push_back(rows[member]);
            all.first_member.push_back(static_cast<int>(all.member.size()));
        }
    }

    const std::vector<Node>& nodes_;
    const std::vector<std::int32_t>& leaf_;
    std::span<const Leaf> table_;
    const Loaded& loaded_;
    std::vector<std::int32_t> first_, row_;  // rows by leaf
    std::vector<Leaf> at_;                   // of every node
    std::vector<std::int32_t> queue_;
    std::vector<Cells> ready_;
    std::size_t taken_ = 0;
    int n_jobs_;
    Assembly out_;
    double inside_ = 0;
    int depth_ = 0;
};

// ---- ranges -----------------------------------------------------------------------------------

struct Span {
    double lo, hi, weight;
};

// The sum of the k smallest of weighted values.
double least_sum(std::vector<std::pair<double, double>>& values, double k) {
    auto first = values.begin(), last = values.end();
    double below = 0, sum = 0;
    while (last - first > 1) {
        const auto middle = first + (last - first) / 2;
        std::nth_element(first, middle, last);
        double weight = 0, part = 0;
        for (auto it = first; it != middle; ++it) {
            weight += it->second;
            part += it->first * it->second;
        }
        if (below + weight >= k) {
            last = middle;
        } else {
            below += weight;
            sum += part;
            first = middle;
        }
    }
    return sum + std::min(k - below, first->second) * first->first;
}

// No k values from these spans have a smaller centred sum of squares, whatever their mean m: they
// are at least as far from it as their spans are. m is halved where this says least.
double least_squares(const std::vector<Span>& spans, double k, double lo, double hi) {
    struct Piece {
        double least, lo, hi;
        bool operator<(const Piece& o) const { return least > o.least; }
    };
    std::vector<std::pair<double, double>> values(spans.size());
    const auto piece = [&](double from, double to) {
        for (std::size_t i = 0; i < spans.size(); ++i) {
            const double gap = std::max({0.0, spans[i].lo - to, from - spans[i].hi});
            values[i] = {gap * gap, spans[i].weight};
        }
        return Piece{least_sum(values, k), from, to};
    };
    std::priority_queue<Piece> open;
    open.push(piece(lo, hi));
    const int most = spans.size() > 4000 ? 48 : 160;
    for (int step = 0; step < most; ++step) {
        const Piece top = open.top();
        const double middle = top.lo + (top.hi - top.lo) / 2;
        if (!(middle > top.lo && middle < top.hi)) break;
        open.pop();
        open.push(piece(top.lo, middle));
        open.push(piece(middle, top.hi));
    }
    return open.top().least;
}

struct ColumnRange {
    double mean_lo, mean_hi, least, least_positive, most;
    bool constant;
};

ColumnRange column_range(const std::vector<Span>& spans, double squares, double k, double gap) {
    double lo = infinity, hi = -infinity;
    std::vector<std::pair<double, double>> low, high;
    for (const Span& s : spans) {
        lo = std::min(lo, s.lo);
        hi = std::max(hi, s.hi);
        low.emplace_back(s.lo, s.weight);
        high.emplace_back(-s.hi, s.weight);
    }
    const double reach = std::max(std::fabs(lo), std::fabs(hi)), slack = 1e-12 * reach;
    ColumnRange r{};
    r.mean_lo = least_sum(low, k) / k - slack;
    r.mean_hi = -least_sum(high, k) / k + slack;
    r.most = squares * (1 + 1e-9);
    const double root =
        std::sqrt(least_squares(spans, k, lo, hi) * (1 - 1e-9)) - std::sqrt(k) * slack;
    r.least = root > 0 ? root * root : 0;
    r.least_positive = r.least;
    r.constant = gap == infinity;
    if (r.least == 0 && gap < infinity) r.least_positive = 0.499 * gap * gap;
    return r;
}

}  // namespace

Assembly assemble(const Partition& partition, std::span<const Leaf> table, const Loaded& loaded,
                  int n_jobs) {
    return Assembler(partition, table, loaded, n_jobs).run();
}

Ranges outer_ranges(std::span<const Leaf> table, double k, double gap_x, double gap_y) {
    std::vector<Span> across, up;
    Moments all;
    for (const Leaf& leaf : table) {
        if (leaf.empty()) continue;
        across.push_back({leaf.x_lo, leaf.x_hi, leaf.count});
        up.push_back({leaf.y_lo, leaf.y_hi, leaf.count});
        all += leaf.total();
    }
    const ColumnRange x = column_range(across, all.xx, k, gap_x);
    const ColumnRange y = column_range(up, all.yy, k, gap_y);
    return {static_cast<std::int64_t>(k),
            x.mean_lo,
            x.mean_hi,
            y.mean_lo,
            y.mean_hi,
            x.least,
            y.least,
            x.least_positive,
            y.least_positive,
            x.most,
            y.most,
            x.constant};
}

}  // namespace quadsweep::outofcore
