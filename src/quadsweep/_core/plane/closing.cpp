#include "closing.hpp"

#include <algorithm>

namespace quadsweep {

Selection chosen(const Cells& cells, const Box& box, const Picks& picks) {
    Kept kept = all_kept(box.decided.get(), picks, cells.size());
    Selection all;
    all.cells = std::move(kept.cells);
    all.points = std::move(kept.points);
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

}  // namespace quadsweep
