// Parts of the compiled half that only tests ask for, and the example of a relaxation: a module of
// its own, `quadsweep._core_parts`, built where the package is installed for development and never
// part of a wheel.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings/python.hpp"
#include "least_variance.hpp"
#include "plane/bound.hpp"
#include "plane/closing.hpp"
#include "plane/ranges.hpp"
#include "plane/selection.hpp"
#include "plane/slopes.hpp"

using namespace nanobind::literals;

namespace quadsweep {
namespace {

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

// The distinct points of a tree in its order: x, y and weight; their rows; and of every cell its
// first and last point, its left child, its rectangle (centre, half its sides), its weight and
// sums.
using Columns = std::vector<std::vector<double>>;
std::tuple<Columns, Array<int>, Columns> tree(const Column& x, const Column& y, int n_jobs) {
    const Cells cells = make_cells(points_of(x, y), {}, n_jobs);
    Columns out;
    for (const Cell& c : cells.cell) {
        const double first = c.first, last = c.last, left = c.left;
        out.push_back({first, last, left, c.x, c.y, c.hx, c.hy, c.weight, c.sums.x, c.sums.y,
                       c.sums.xx, c.sums.xy, c.sums.yy});
    }
    const auto values = [](const auto& v) { return std::vector<double>(v.begin(), v.end()); };
    return {{values(cells.x), values(cells.y), values(cells.weight)}, cells.member, out};
}

std::int64_t count_ways(const std::vector<int>& copies, int need, bool k_or_more,
                        std::int64_t most) {
    Undecided open;
    open.copies = copies;
    open.point.resize(copies.size());
    return ways(open, need, k_or_more, most);
}

// Every way to fill up a box: how many copies of each point are kept, and the sum of x over them.
std::vector<std::pair<std::vector<int>, double>> listed_ways(const Column& x,
                                                             const std::vector<int>& copies,
                                                             int need, bool k_or_more) {
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
    list_ways(cells, open, need, k_or_more, {}, visit);
    return out;
}

// The k points where a quadratic (xx, xy, yy, x, y, 1) is least, and their sums of x and x^2.
std::tuple<std::vector<int>, double, double> cheapest_points(const Column& x, const Column& y,
                                                             const std::vector<double>& f, int k) {
    const Cells cells = cells_of(x, y);
    const Selection s = cheapest(cells, {f.at(0), f.at(1), f.at(2), f.at(3), f.at(4), f.at(5)}, k);
    return {indices(cells, s), s.moments.x, s.moments.xx};
}

// The bound of one box with one corner: points with the given cost, the first
// `decided` of them decided, `need` of the others to be chosen.
nb::tuple bound_of_cost(const Column& x, const Column& y, const std::vector<double>& cost,
                        double base, int decided, int need) {
    if (cost.size() != 14) throw std::invalid_argument("a cost has 14 coefficients");
    const auto affine = [&](int i) { return Affine{cost[i], cost[i + 1], cost[i + 2]}; };
    Points points;
    Box box;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (static_cast<int>(i) < decided) {
            box.kept.add(x.data()[i], y.data()[i], 1);
        } else {
            points.x.push_back(x.data()[i]);
            points.y.push_back(y.data()[i]);
        }
    }
    box.need = need;
    points.given_x = points.x;
    points.given_y = points.y;
    const Cells cells = make_cells(points, {}, 1);
    Bounder bounder(cells, false);
    box.open.cell = {0};
    bounder.open_all(box);
    bounder.load(box);
    const Node node{{affine(0), affine(3), affine(6), affine(9), cost[12], cost[13]}, base};
    const Bound bound = bounder.bound({&node, 1}, 0);
    return nb::make_tuple(bound.least(), bound.error);
}

// What a scan of slopes leaves of the lines of k points that score more than `score`, where a good
// subset has the centred sums (a, b, c): frames and rectangles.
std::vector<std::tuple<int, double, double, double, double>> scanned(
    const Column& x, const Column& y, int k, const std::string& objective, double score,
    const std::tuple<double, double, double>& good) {
    const Points points = points_of(x, y);
    const Cells cells = make_cells(points, {}, 1);
    const Ranges all = ranges(cells, points, {}, k, 1);
    const auto [a, b, c] = good;
    const auto criterion = make_criterion(objective_named(objective), all, {a, b, c}, score, 0);
    Control control;
    const Scan scan{cells, {a, b, c}, static_cast<double>(k), 1, [](const Moments&) {},
                    2,     infinity};
    std::vector<std::tuple<int, double, double, double, double>> out;
    for (const Box& box : scan_slopes(*criterion->lines(), scan, control).left) {
        out.emplace_back(box.frame, box.centre[0] - box.half[0], box.centre[0] + box.half[0],
                         box.centre[1] - box.half[1], box.centre[1] + box.half[1]);
    }
    return out;
}

// The k numbers that vary least, by the example of a relaxation.
nb::tuple vary_least(const std::vector<double>& x, int k, int n_jobs, double time_limit,
                     double memory_limit, double depth_first_at, double serial_evaluations,
                     double most_boxes, nb::object callback) {
    Control control(time_limit);
    least_variance::Relaxation relaxation(x, k);
    Driver driver(relaxation,
                  Limits{n_jobs, serial_evaluations, most_boxes, depth_first_at, memory_limit},
                  control);
    watched(control, callback, scores_as([](double score) { return -score; }), [&] {
        driver.begin(relaxation.roots());
        driver.run();
    });
    const Standing at = driver.standing();
    const bool proved = at.valid && at.closed && at.deferred == undefined;
    const double open = relaxation.finished() ? undefined : at.open;
    const bool done = proved || relaxation.finished();
    return nb::make_tuple(
        to_numpy(std::vector<std::int64_t>(relaxation.best.subset.begin(),
                                           relaxation.best.subset.end())),
        -relaxation.best.score, -std::max(open, relaxation.goal()),
        std::string(name(done ? Status::optimal : control.status(Status::heuristic))),
        driver.n_boxes());
}

}  // namespace
}  // namespace quadsweep

NB_MODULE(_core_parts, m) {
    using namespace quadsweep;
    m.doc() = "Parts of the compiled half by themselves, for the tests.";
    m.def("bound_of_cost", &bound_of_cost, "x"_a, "y"_a, "cost"_a, "base"_a, "decided"_a, "need"_a);
    m.def("column_ranges", &column_ranges, "x"_a, "y"_a, "k"_a);
    m.def("collapsed", &collapsed, "x"_a, "y"_a);
    m.def("tree", &tree, "x"_a, "y"_a, "n_jobs"_a);
    m.def("count_ways", &count_ways, "copies"_a, "need"_a, "k_or_more"_a, "most"_a);
    m.def("list_ways", &listed_ways, "x"_a, "copies"_a, "need"_a, "k_or_more"_a);
    m.def("cheapest_points", &cheapest_points, "x"_a, "y"_a, "quadratic"_a, "k"_a);
    m.def("scanned", &scanned, "x"_a, "y"_a, "k"_a, "objective"_a, "score"_a, "good"_a);
    m.def("vary_least", &vary_least, "x"_a, "k"_a, "n_jobs"_a = 1, "time_limit"_a = infinity,
          "memory_limit"_a = infinity, "depth_first_at"_a = infinity, "serial_evaluations"_a = 0.0,
          "most_boxes"_a = infinity, "callback"_a.none() = nb::none());
}
