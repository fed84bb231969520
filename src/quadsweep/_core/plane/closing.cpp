#include "closing.hpp"

#include <algorithm>
#include <numeric>

#include "tuning.hpp"

namespace quadsweep {

std::int64_t ways(const Undecided& open, std::int64_t need, bool at_least, std::int64_t most) {
    const std::int64_t total =
        std::accumulate(open.copies.begin(), open.copies.end(), std::int64_t{0});
    if (need > total || (need < 0 && !at_least)) return 0;
    if (at_least && need < 0) need = 0;
    // Fewer of the two: copies kept and copies left out.
    const std::int64_t side = at_least ? total - need : std::min<std::int64_t>(need, total - need);
    if (side > 4096 || open.point.size() > 4096) return most + 1;
    if (!at_least && total == static_cast<std::int64_t>(open.point.size())) {
        std::int64_t count = 1;  // single copies: a binomial coefficient
        for (std::int64_t i = 1; i <= side && count <= most; ++i) {
            count = count * (total - side + i) / i;
        }
        return std::min(count, most + 1);
    }
    // Coefficients of the product of 1 + z + ... + z^copies. They rise up to half the degree and
    // with every factor, so that any of them above `most` settles it.
    std::vector<std::int64_t> count(static_cast<std::size_t>(side) + 1, 0);
    count[0] = 1;
    for (int copies : open.copies) {
        for (std::int64_t s = side; s >= 1; --s) {
            for (std::int64_t z = 1; z <= std::min<std::int64_t>(copies, s); ++z) {
                count[s] += count[s - z];
            }
            if (count[s] > most) return most + 1;
        }
    }
    if (!at_least) return count[side];
    return std::min(std::accumulate(count.begin(), count.end(), std::int64_t{0}), most + 1);
}

Selection chosen(const Cells& cells, const Box& box, const Picks& picks) {
    Selection all;
    std::vector<int> copies(cells.size(), 0);
    for (const Decided* d = box.decided.get(); d != nullptr; d = d->before.get()) {
        all.cells.insert(all.cells.end(), d->cells.begin(), d->cells.end());
        for (const auto [point, count] : d->points) copies[point] += count;
    }
    for (const auto [point, count] : picks) copies[point] += count;
    for (int p = 0; p < cells.size(); ++p) {
        if (copies[p] > 0) all.points.push_back({p, copies[p]});
    }
    return all;
}

std::vector<int> collect(const Cells& cells, const Box& box, const Picks& picks) {
    return indices(cells, chosen(cells, box, picks));
}

std::vector<int> rows_of(const Cells& cells, const Box& box) {
    std::vector<int> rows = collect(cells, box, {});
    const auto add = [&](int point) {
        const auto members = cells.members(point);
        rows.insert(rows.end(), members.begin(), members.end());
    };
    for (int point : box.open.point) add(point);
    for (int at : box.open.cell) {
        for (int p = cells.cell[at].first; p < cells.cell[at].last; ++p) add(p);
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

double subsets(int n, int k) {
    double count = 1;
    for (int i = 0; i < std::min(k, n - k) && count <= tuning::most_listed; ++i) {
        count = count * (n - i) / (i + 1);
    }
    return count <= tuning::most_listed ? count : infinity;
}

}  // namespace quadsweep
