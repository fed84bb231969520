#include "cell_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "shared/threads.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

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

int count_cells(int n) {  // of a tree over n points
    if (n <= tuning::leaf_points) return 1;
    if (n % 2 == 0) return 1 + 2 * count_cells(n / 2);
    return 1 + count_cells(n / 2) + count_cells(n - n / 2);
}

void set_frame(Cell& c, double xl, double xh, double yl, double yh) {
    c.x = xl + (xh - xl) / 2;
    c.y = yl + (yh - yl) / 2;
    c.hx = std::max(xh - c.x, c.x - xl);
    c.hy = std::max(yh - c.y, c.y - yl);
}

void sum_points(std::span<const Entry> points, Cell& c) {
    c.weight = 0;
    c.sums = {};
    for (const Entry& p : points) {
        const double w = p.weight, x = p.x, y = p.y;
        c.weight += w;
        c.sums += {w * x, w * y, w * x * x, w * x * y, w * y * y};
    }
}

void sum_children(const Cells& cells, Cell& c) {
    const Cell &left = cells.cell[c.left], &right = cells.cell[c.left + 1];
    c.weight = left.weight + right.weight;
    c.sums = left.sums + right.sums;
}

// The cells below one of few points. Both columns are sorted once; a cut along one of them keeps
// the order of the other, so that no cell below has to select, or to look for its extent.
class Block {
  public:
    Block(Cells& cells, std::span<Entry> entries)
        : cells_(cells), entries_(entries), points_(most(entries)), beyond_(most(entries)) {
        for (Column& c : column_) {
            c.value.resize(most(entries));
            c.order.resize(most(entries));
        }
        aside_.resize(most(entries));
        bin_.resize(most(entries));
        start_.resize(2 * most(entries) + 1);
    }

    // Cell `at` over entries [first, last); the cells below it from `free` on.
    void fill(int at, int free, int first, int last) {
        from_ = first;
        const int n = last - first;
        for (int i = 0; i < n; ++i) {
            points_[i] = entries_[first + i];
            column_[0].value[i] = points_[i].x;
            column_[1].value[i] = points_[i].y;
        }
        for (Column& c : column_) sort(c, n);
        fill_part(at, free, 0, n);
    }

  private:
    struct Column {
        std::vector<double> value;
        std::vector<std::uint16_t> order;  // of the points by value, part by part

        double at(int i) const { return value[order[i]]; }
    };

    static std::size_t most(std::span<const Entry> entries) {
        return std::min<std::size_t>(entries.size(), tuning::block_points);
    }

    // By bins of equal width and then by insertion or, where many share a bin, by comparing.
    void sort(Column& c, int n) {
        const auto [low, high] = std::minmax_element(c.value.begin(), c.value.begin() + n);
        const double from = *low, scale = (2 * n - 1) / (*high - from);
        const bool binned = scale > 0 && scale < infinity && fill_bins(c, n, from, scale);
        const auto order = c.order.begin();
        const auto less = [&](int p, int q) { return c.value[p] < c.value[q]; };
        if (!binned) {
            std::iota(order, order + n, std::uint16_t{0});
            std::stable_sort(order, order + n, less);
            return;
        }
        for (int i = 0; i < n; ++i) order[start_[bin_[i]]++] = static_cast<std::uint16_t>(i);
        for (int i = 1; i < n; ++i) {
            const std::uint16_t p = order[i];
            int j = i;
            for (; j > 0 && less(p, order[j - 1]); --j) order[j] = order[j - 1];
            order[j] = p;
        }
    }

    // Each point's bin, and where the points of a bin begin. False where many share one.
    bool fill_bins(const Column& c, int n, double from, double scale) {
        for (int i = 0; i < n; ++i) {
            bin_[i] = static_cast<std::uint16_t>(static_cast<int>((c.value[i] - from) * scale));
        }
        std::fill_n(start_.begin(), 2 * n + 1, std::uint16_t{0});
        for (int i = 0; i < n; ++i) ++start_[bin_[i] + 1];
        std::int64_t pairs = 0;
        for (int b = 1; b <= 2 * n; ++b) {
            pairs += start_[b] * start_[b];
            start_[b] = static_cast<std::uint16_t>(start_[b] + start_[b - 1]);
        }
        return pairs < tuning::crowded_bins * n;
    }

    void fill_part(int at, int free, int first, int last) {
        Cell& c = cells_.cell[at];
        c.first = from_ + first;
        c.last = from_ + last;
        const auto& [x, y] = column_;
        set_frame(c, x.at(first), x.at(last - 1), y.at(first), y.at(last - 1));
        if (last - first <= tuning::leaf_points) {
            for (int i = first; i < last; ++i) entries_[from_ + i] = points_[x.order[i]];
            sum_points(entries_.subspan(c.first, last - first), c);
            return;
        }
        const int middle = first + (last - first) / 2;
        cut(c.hx > c.hy ? 0 : 1, first, middle, last);
        c.left = free;
        const int below_left = count_cells(middle - first) - 1;
        fill_part(free, free + 2, first, middle);
        fill_part(free + 1, free + 2 + below_left, middle, last);
        sum_children(cells_, c);
    }

    // The other column's order in two: what lies before the middle of this one, then the rest.
    void cut(int axis, int first, int middle, int last) {
        const std::uint16_t* along = column_[axis].order.data();
        std::uint16_t* other = column_[1 - axis].order.data();
        for (int i = first; i < middle; ++i) beyond_[along[i]] = 0;
        for (int i = middle; i < last; ++i) beyond_[along[i]] = 1;
        int before = first, after = 0;
        for (int i = first; i < last; ++i) {
            const std::uint16_t p = other[i];
            const int side = beyond_[p];
            other[before] = aside_[after] = p;
            before += 1 - side;
            after += side;
        }
        std::copy_n(aside_.begin(), after, other + middle);
    }

    Cells& cells_;
    std::span<Entry> entries_;
    int from_ = 0;
    std::vector<Entry> points_;
    std::vector<std::uint8_t> beyond_;
    Column column_[2];
    std::vector<std::uint16_t> aside_, bin_, start_;
};

class Builder {
  public:
    Builder(Cells& cells, std::span<Entry> entries, int n_jobs, Control* control)
        : cells_(cells),
          entries_(entries),
          control_(control),
          blocks_(std::ssize(entries) > tuning::fork_points ? n_jobs : 1, {cells, entries}),
          sorted_(std::ssize(entries) > tuning::block_points ? tuning::block_points : 0) {}

    void build() {
        const int n = static_cast<int>(entries_.size());
        cells_.cell.resize(count_cells(n));
        fill(0, 1, 0, n, blocks_, control_ != nullptr);
        // Two products and an addition for each point of a leaf, an addition a level.
        cells_.roundings = 2 + tuning::leaf_points + std::ceil(std::log2(n + 1.0));
    }

  private:
    // Cell `at` over entries [first, last), by as many threads as there are blocks; its descendants
    // take the places from `free` on: the two children, then all below the left one, then all below
    // the right one. `attends`: in the thread that came from the user.
    void fill(int at, int free, int first, int last, std::span<Block> blocks, bool attends) {
        if (last - first <= sorted_) return blocks[0].fill(at, free, first, last);
        if (last - first > tuning::fork_points && stopped(attends)) return;
        Cell& c = cells_.cell[at];
        c.first = first;
        c.last = last;
        frame(c);
        if (last - first <= tuning::leaf_points) {
            sum_points(entries_.subspan(first, last - first), c);
            return;
        }
        const int middle = first + (last - first) / 2;
        Entry* const all = entries_.data();
        const auto choose = c.hx > c.hy ? select<&Entry::x> : select<&Entry::y>;
        choose(all + first, all + middle, all + last);
        c.left = free;
        const int below_left = count_cells(middle - first) - 1;
        const bool fork = blocks.size() > 1 && last - first > tuning::fork_points;
        const std::size_t to_the_left = fork ? blocks.size() / 2 : 0;
        const auto left = [&] {
            fill(free, free + 2, first, middle, fork ? blocks.first(to_the_left) : blocks,
                 attends && !fork);
        };
        const auto right = [&] {
            fill(free + 1, free + 2 + below_left, middle, last, blocks.subspan(to_the_left),
                 attends);
        };
        if (fork) {
            const Thread other(left);
            right();
        } else {
            left();
            right();
        }
        sum_children(cells_, c);
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
        set_frame(c, xl, xh, yl, yh);
    }

    Cells& cells_;
    std::span<Entry> entries_;
    Control* control_;
    std::vector<Block> blocks_;  // one a thread
    int sorted_;                 // points of a part whose columns are sorted, if any
};

}  // namespace

bool ended(Control* control) {
    if (control == nullptr) return false;
    control->look([] { return Progress{}; });
    return control->stopped();
}

void build_tree(std::span<Entry> entries, int n_jobs, Control* control, Cells& cells) {
    Builder(cells, entries, n_jobs, control).build();
}

}  // namespace quadsweep
