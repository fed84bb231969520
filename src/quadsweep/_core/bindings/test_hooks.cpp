// Parts of the engine by themselves, for the tests: nothing else calls these.
#include "test_hooks.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "plane/closing.hpp"
#include "plane/ranges.hpp"
#include "plane/selection.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace quadsweep {
namespace {

using Column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Points points_of(const Column& x, const Column& y) {
    Points points;
    points.x.assign(x.data(), x.data() + x.size());
    points.y.assign(y.data(), y.data() + y.size());
    points.given_x = points.x;
    points.given_y = points.y;
    return points;
}

Cells cells_of(const Column& x, const Column& y) { return make_cells(points_of(x, y), {}, 1); }

// For each column: least and greatest mean of k points, and the least, the least positive and the
// most that their centred squares can add up to.
std::vector<std::vector<double>> column_ranges(const Column& x, const Column& y, int k) {
    const Points points = points_of(x, y);
    const Ranges r = ranges(make_cells(points, {}, 1), points, {}, k, 1);
    return {{r.x_lo, r.x_hi, r.a_least, r.a_least_positive, r.a_most},
            {r.y_lo, r.y_hi, r.b_least, r.b_least_positive, r.b_most}};
}

// Distinct points, and the largest number of copies of one.
std::pair<int, int> collapsed(const Column& x, const Column& y) {
    const Cells cells = cells_of(x, y);
    return {cells.size(), *std::max_element(cells.weight.begin(), cells.weight.end())};
}

std::int64_t count_ways(const std::vector<int>& copies, int need, bool at_least,
                        std::int64_t most) {
    Undecided open;
    open.copies = copies;
    open.point.resize(copies.size());
    return ways(open, need, at_least, most);
}

// Every way to fill up a box: how many copies of each point are kept, and the sum of x over them.
std::vector<std::pair<std::vector<int>, double>> listed_ways(const Column& x,
                                                             const std::vector<int>& copies,
                                                             int need, bool at_least) {
    Cells cells;
    cells.x.assign(x.data(), x.data() + x.size());
    cells.y = cells.x;
    Undecided open;
    open.copies = copies;
    for (int p = 0; p < cells.size(); ++p) open.point.push_back(p);
    std::vector<std::pair<std::vector<int>, double>> out;
    const auto visit = [&](const Moments& m, double, const Picks& picks) {
        std::vector<int> kept(copies.size(), 0);
        for (const auto [point, count] : picks) kept[point] = count;
        out.emplace_back(kept, m.x);
    };
    list_ways(cells, open, need, at_least, {}, visit);
    return out;
}

// The k points where a quadratic (xx, xy, yy, x, y, 1) is least, and their sums of x and x^2.
std::tuple<std::vector<int>, double, double> cheapest_points(const Column& x, const Column& y,
                                                             const std::vector<double>& f, int k) {
    const Cells cells = cells_of(x, y);
    const Selection s = cheapest(cells, {f.at(0), f.at(1), f.at(2), f.at(3), f.at(4), f.at(5)}, k);
    return {indices(cells, s), s.moments.x, s.moments.xx};
}

}  // namespace

void add_test_hooks(nb::module_& m) {
    m.def("column_ranges", &column_ranges, "x"_a, "y"_a, "k"_a);
    m.def("collapsed", &collapsed, "x"_a, "y"_a);
    m.def("count_ways", &count_ways, "copies"_a, "need"_a, "at_least"_a, "most"_a);
    m.def("list_ways", &listed_ways, "x"_a, "copies"_a, "need"_a, "at_least"_a);
    m.def("cheapest_points", &cheapest_points, "x"_a, "y"_a, "quadratic"_a, "k"_a);
}

}  // namespace quadsweep
