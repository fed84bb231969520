// What is decided in a box about the points (rows, groups of rows, or identical ones as one with
// copies) that a subset may keep, and what is not.
#pragma once

#include <memory>
#include <vector>

namespace quadsweep {

struct Copies {
    int point, count;
};
using Picks = std::vector<Copies>;

// Whole cells of a tree and copies of points that every subset of a box keeps, and of the boxes
// below it.
struct Decided {
    std::vector<int> cells;
    Picks points;
    std::shared_ptr<const Decided> before;
};

// Adds what was just decided to what is.
inline void decide(std::shared_ptr<const Decided>& decided, std::shared_ptr<Decided> newly) {
    if (newly->cells.empty() && newly->points.empty()) return;
    newly->before = std::move(decided);
    decided = std::move(newly);
}
inline void decide(std::shared_ptr<const Decided>& decided, int point, int copies) {
    auto newly = std::make_shared<Decided>();
    newly->points.push_back({point, copies});
    decide(decided, std::move(newly));
}

// Whole cells, and points of which between 0 and `copies` more may be kept.
struct Undecided {
    std::vector<int> cell, point, copies;

    std::size_t items() const { return cell.size() + point.size(); }
    // That many copies of the point at this place are left to be decided.
    void set_copies(std::size_t at, int count) {
        if (count > 0) {
            copies[at] = count;
        } else {
            point.erase(point.begin() + static_cast<std::ptrdiff_t>(at));
            copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }
    void shrink() {
        for (auto* items : {&cell, &point, &copies}) {
            if (items->capacity() > 2 * items->size()) items->shrink_to_fit();
        }
    }
};

// Memory, in bytes; as if boxes shared nothing.
template <class T>
double bytes(const std::vector<T>& v) {
    return static_cast<double>(v.capacity() * sizeof(T));
}
inline double bytes(const Undecided& open, const Decided* decided) {
    const double all = bytes(open.cell) + bytes(open.point) + bytes(open.copies);
    return decided == nullptr ? all : all + bytes(decided->cells) + bytes(decided->points);
}

// All that is kept: cells as they are, copies added up point by point (there are n), in their
// order.
struct Kept {
    std::vector<int> cells;
    Picks points;
};
inline Kept all_kept(const Decided* decided, const Picks& picks, int n) {
    Kept all;
    std::vector<int> copies(n, 0);
    for (; decided != nullptr; decided = decided->before.get()) {
        all.cells.insert(all.cells.end(), decided->cells.begin(), decided->cells.end());
        for (const auto [point, count] : decided->points) copies[point] += count;
    }
    for (const auto [point, count] : picks) copies[point] += count;
    for (int p = 0; p < n; ++p) {
        if (copies[p] > 0) all.points.push_back({p, copies[p]});
    }
    return all;
}

}  // namespace quadsweep
