#include "locator.hpp"

#include "shared/hot_loops.hpp"

namespace quadsweep::outofcore {

QUADSWEEP_FOLLOWING(OutOfCoreLoops, outofcore_loops)

Locator::Locator(const Placing& at, const std::vector<Node>& nodes,
                 const std::vector<std::int32_t>& leaf)
    : at_(at), steps_(nodes.size()) {
    const auto ref = [&](std::int32_t node) {
        return leaf[node] >= 0 ? ~leaf[node] : 2 * node + nodes[node].axis;
    };
    root_ = ref(0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (leaf[i] >= 0) continue;
        const std::int32_t child = nodes[i].child;
        steps_[i] = {nodes[i].threshold, {ref(child), ref(child + 1)}};
    }
    make_grid();
}

void Locator::make_grid() {
    std::vector<double> thresholds[2];
    std::vector<Ref> below{root_};
    while (!below.empty()) {
        const Ref ref = below.back();
        below.pop_back();
        if (ref < 0) continue;
        thresholds[ref & 1].push_back(steps_[ref >> 1].threshold);
        below.insert(below.end(), {steps_[ref >> 1].next[0], steps_[ref >> 1].next[1]});
    }
    for (const int a : {0, 1}) {
        std::vector<double>& all = thresholds[a];
        if (all.empty()) continue;
        // Few are far out, and cells are for where many are.
        std::sort(all.begin(), all.end());
        const double lo = all[all.size() / 256], hi = all[all.size() - 1 - all.size() / 256];
        if (!(hi > lo && hi - lo < 1e300)) continue;
        // Not wider than 1: then nothing is lost by scaling, however small it is.
        const int e = std::min(std::ilogb((hi - lo) / (grid - 4)) + 1, 0);
        const double scale = std::ldexp(1.0, -e), middle = lo + (hi - lo) / 2;
        const double from = e < 0 ? lo * scale - 1 : std::max(lo, middle - grid / 2.0);
        const double first = std::floor(from);
        if (!std::isnormal(scale) || std::fabs(first) > 1e9) continue;
        axis_[a] = {{scale, first, first + grid - 1}};
    }
    struct Part {
        Ref ref;
        int lo[2], hi[2];  // cells
    };
    start_.resize(static_cast<std::size_t>(grid) * grid);
    std::vector<Part> open{{root_, {0, 0}, {grid, grid}}};
    while (!open.empty()) {
        const Part part = open.back();
        open.pop_back();
        for (int row = part.lo[1]; row < part.hi[1]; ++row) {
            std::fill_n(start_.begin() + static_cast<std::ptrdiff_t>(row) * grid + part.lo[0],
                        part.hi[0] - part.lo[0], part.ref);
        }
        if (part.ref < 0) continue;
        const Step& step = steps_[part.ref >> 1];
        const int axis = part.ref & 1, at = axis_[axis].cell(step.threshold);
        Part left = part, right = part;
        left.ref = step.next[0];
        right.ref = step.next[1];
        left.hi[axis] = std::min(part.hi[axis], at);
        right.lo[axis] =
            std::max(part.lo[axis], at + (axis_[axis].between(step.threshold) ? 0 : 1));
        for (const Part& next : {left, right}) {
            if (next.lo[0] < next.hi[0] && next.lo[1] < next.hi[1]) open.push_back(next);
        }
    }
}

std::vector<Locator::Ref> Locator::starts_towards(std::span<const std::uint8_t> wanted) const {
    std::vector<char> live(steps_.size(), 0);
    const auto leads = [&](Ref ref) { return (ref < 0 ? wanted[~ref] : live[ref >> 1]) != 0; };
    for (std::size_t i = steps_.size(); i-- > 0;) {  // nodes come before their children
        live[i] = leads(steps_[i].next[0]) || leads(steps_[i].next[1]) ? 1 : 0;
    }
    std::vector<Ref> start(start_.size());
    std::transform(start_.begin(), start_.end(), start.begin(),
                   [&](Ref ref) { return leads(ref) ? ref : nowhere; });
    return start;
}

void Locator::place(std::span<const double> x, std::span<const double> y, Rows& rows) const {
    const double fx = std::ldexp(1.0, -at_.ex), fy = std::ldexp(1.0, -at_.ey);
    if (at_.slope == 0 && std::isnormal(fx) && std::isnormal(fy)) {
        const double x0 = at_.x0, y0 = at_.y0;
        for (std::size_t i = 0; i < x.size(); ++i) rows.at[0][i] = (x[i] - x0) * fx;
        for (std::size_t i = 0; i < x.size(); ++i) rows.at[1][i] = (y[i] - y0) * fy;
        return;
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        rows.at[0][i] = x[i];
        rows.at[1][i] = y[i];
        at_(rows.at[0][i], rows.at[1][i]);
    }
}

std::int64_t Locator::enter(std::span<const double> x, std::span<const double> y,
                            const std::vector<Ref>& start, Rows& rows) const {
    const auto given = static_cast<int>(x.size());
    const OutOfCoreLoops& loops = outofcore_loops();
    place(x, y, rows);
    loops.grid_cells(rows.at[0], rows.at[1], given, axis_[0], axis_[1], grid, rows.cell);
    const int missing = loops.missing(x.data(), y.data(), given);
    if (missing == 0 && &start == &start_) {
        for (int i = 0; i < given; ++i) rows.position[i] = i;
        for (int i = 0; i < given; ++i) rows.ref[i] = start[rows.cell[i]];
        rows.size = given;
        return missing;
    }
    int size = 0;
    for (int i = 0; i < given; ++i) {
        const Ref ref = start[rows.cell[i]];
        const bool known = (x[i] - x[i]) + (y[i] - y[i]) == 0;  // both finite
        rows.at[0][size] = rows.at[0][i];
        rows.at[1][size] = rows.at[1][i];
        rows.position[size] = i;
        rows.ref[size] = ref;
        size += known & (ref != nowhere) ? 1 : 0;
    }
    rows.size = size;
    return missing;
}

void Locator::descend(Rows& rows) const {
    std::uint16_t on_the_way[block];
    int left = 0;
    for (int i = 0; i < rows.size; ++i) {
        on_the_way[left] = static_cast<std::uint16_t>(i);
        left += rows.ref[i] >= 0 ? 1 : 0;
    }
    while (left > 0) {
        int still = 0;
        for (int j = 0; j < left; ++j) {
            const std::uint16_t i = on_the_way[j];
            const Ref ref = rows.ref[i];
            const Step& step = steps_[ref >> 1];
            const Ref next = step.next[rows.at[ref & 1][i] >= step.threshold ? 1 : 0];
            rows.ref[i] = next;
            on_the_way[still] = i;
            still += next >= 0 ? 1 : 0;
        }
        left = still;
    }
    for (int i = 0; i < rows.size; ++i) rows.ref[i] = ~rows.ref[i];
}

void Locator::keep(std::span<const std::uint8_t> wanted, Rows& rows) {
    int size = 0;
    for (int i = 0; i < rows.size; ++i) {
        const std::int32_t leaf = rows.ref[i];
        rows.at[0][size] = rows.at[0][i];
        rows.at[1][size] = rows.at[1][i];
        rows.position[size] = rows.position[i];
        rows.ref[size] = leaf;
        size += wanted[leaf] != 0 ? 1 : 0;
    }
    rows.size = size;
}

}  // namespace quadsweep::outofcore
