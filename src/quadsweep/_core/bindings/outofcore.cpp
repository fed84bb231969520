// Partitions of the plane for Python: rows in, tables of leaves out, without the GIL.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "outofcore/partition.hpp"
#include "outofcore/search.hpp"
#include "python.hpp"

using namespace nanobind::literals;

namespace quadsweep::outofcore {
namespace {

using Flags = Given<std::uint8_t>;
using Numbers = Given<std::int32_t>;
using Table = nb::ndarray<double, nb::shape<-1, 16>, nb::c_contig, nb::device::cpu>;
using Place = std::tuple<double, double, int, int, double>;  // a Placing

static_assert(sizeof(Leaf) == 16 * sizeof(double));

std::span<Leaf> leaves(const Table& t) { return {reinterpret_cast<Leaf*>(t.data()), t.shape(0)}; }
Placing placing_of(const Place& g) {
    return {std::get<0>(g), std::get<1>(g), std::get<2>(g), std::get<3>(g), std::get<4>(g)};
}
Place given(const Placing& at) { return {at.x0, at.y0, at.ex, at.ey, at.slope}; }

void check(const Column& x, const Column& y) {
    if (x.size() != y.size()) throw std::invalid_argument("x and y differ in length");
}
void check(const Column& x, const Column& y, const Table& table, const Partition& p) {
    check(x, y);
    if (table.shape(0) != static_cast<std::size_t>(p.leaves())) {
        throw std::invalid_argument("the table needs a row for every leaf");
    }
}
std::span<const std::uint8_t> checked(const Flags& wanted, const Partition& p) {
    if (wanted.size() != 0 && wanted.size() != static_cast<std::size_t>(p.leaves())) {
        throw std::invalid_argument("as many flags as leaves are wanted");
    }
    return {wanted.data(), wanted.size()};
}

// A number that other rows, or these in another order, do not have: not one against forgers.
std::uint64_t fingerprint(const Column& x, const Column& y) {
    check(x, y);
    nb::gil_scoped_release released;
    std::uint64_t state[2] = {x.size(), ~x.size()};
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (const auto& [lane, value] : {std::pair(0, x.data()[i]), std::pair(1, y.data()[i])}) {
            const double one = value == value ? value : std::numeric_limits<double>::quiet_NaN();
            state[lane] = (std::rotl(state[lane], 27) ^ std::bit_cast<std::uint64_t>(one)) *
                          0x9e3779b97f4a7c15u;
        }
    }
    std::uint64_t both = state[0] ^ std::rotl(state[1], 32);
    for (int round = 0; round < 2; ++round) both = (both ^ (both >> 29)) * 0xbf58476d1ce4e5b9u;
    return both ^ (both >> 32);
}

std::int64_t add(const Partition& p, const Column& x, const Column& y, const Flags& wanted,
                 const Table& table) {
    check(x, y, table, p);
    const auto of = checked(wanted, p);
    nb::gil_scoped_release released;
    return p.add(span(x), span(y), of, leaves(table));
}

nb::tuple arrays(Picked&& rows) {
    return nb::make_tuple(to_numpy(std::move(rows.position)), to_numpy(std::move(rows.leaf)),
                          to_numpy(std::move(rows.x)), to_numpy(std::move(rows.y)));
}

nb::tuple pick(const Partition& p, const Column& x, const Column& y, const Flags& wanted) {
    check(x, y);
    const auto of = checked(wanted, p);
    return arrays(unlocked([&] { return p.pick(span(x), span(y), of); }));
}

nb::tuple add_and_pick(const Partition& p, const Column& x, const Column& y, const Flags& wanted,
                       const Table& table) {
    check(x, y, table, p);
    const auto of = checked(wanted, p);
    if (of.empty()) throw std::invalid_argument("a flag for every leaf is needed");
    Picked rows;
    const std::int64_t missing =
        unlocked([&] { return p.add_and_pick(span(x), span(y), of, leaves(table), rows); });
    return nb::make_tuple(missing, arrays(std::move(rows)));
}

nb::object locate(const Partition& p, const Column& x, const Column& y) {
    check(x, y);
    return nb::cast(to_numpy(unlocked([&] { return p.locate(span(x), span(y)); })));
}

nb::tuple state(const Partition& p) {
    std::vector<double> threshold;
    std::vector<std::int32_t> child, axis, leaf = p.leaf();
    for (const Node& node : p.nodes()) {
        threshold.push_back(node.threshold);
        child.push_back(node.child);
        axis.push_back(node.axis);
    }
    return nb::make_tuple(given(p.placing()), to_numpy(std::move(threshold)),
                          to_numpy(std::move(child)), to_numpy(std::move(axis)),
                          to_numpy(std::move(leaf)));
}

std::vector<Moments> moments_of(const std::vector<std::vector<double>>& rows) {
    std::vector<Moments> out;
    for (const auto& r : rows) out.push_back({r.at(0), r.at(1), r.at(2), r.at(3), r.at(4)});
    return out;
}
std::vector<double> as_list(const Moments& m) { return {m.x, m.y, m.xx, m.xy, m.yy}; }

nb::tuple plan_sample(const Column& x, const Column& y, const std::string& objective, double share,
                      std::uint64_t seed, int n_jobs) {
    check(x, y);
    const Plan out = unlocked(
        [&] { return plan(span(x), span(y), objective_named(objective), share, seed, n_jobs); });
    std::vector<std::vector<double>> starts;
    for (const Moments& m : out.starts) starts.push_back(as_list(m));
    return nb::make_tuple(given(out.at), starts);
}

using Pair = std::tuple<double, double>;  // coefficients of x and y

std::optional<Product> product_of(const std::optional<std::tuple<Pair, Pair>>& given) {
    if (!given) return std::nullopt;
    const auto affine = [](const Pair& p) { return Affine{std::get<0>(p), std::get<1>(p), 0}; };
    return Product{affine(std::get<0>(*given)), affine(std::get<1>(*given))};
}

Until until_named(const std::string& wanted) {
    if (wanted == "proved") return Until::proved;
    if (wanted == "decided") return Until::decided;
    if (wanted == "begun") return Until::begun;
    throw std::invalid_argument("a search ends when proved, decided or begun; got " + wanted);
}

// Scores in placed coordinates; Python makes values of them.
nb::dict search_loaded(LoadedPartition& loaded, const std::string& objective, std::int64_t k,
                       double tol, const std::vector<std::vector<double>>& starts, double gap_x,
                       double gap_y, double tilt, double most_rows, double memory,
                       double time_limit, int n_jobs, nb::object callback, const std::string& until,
                       double above, bool k_or_more,
                       const std::optional<std::tuple<Pair, Pair>>& product, bool mirrored) {
    Question question;
    question.objective = objective_named(objective);
    question.product = product_of(product);
    question.k = k;
    question.tol = tol;
    question.n_jobs = n_jobs;
    question.memory = memory;
    question.most_rows = most_rows;
    question.gap_x = gap_x;
    question.gap_y = gap_y;
    question.tilt = tilt;
    question.until = until_named(until);
    question.above = above;
    question.k_or_more = k_or_more;
    Control control(time_limit);
    Found found;
    watched(control, callback, scores_as([](double score) { return score; }),
            [&] { found = loaded.search(question, moments_of(starts), mirrored, control); });
    std::vector<std::int32_t> copied;
    std::vector<std::int64_t> copies;
    for (const auto& [one, count] : found.copies) {
        copied.push_back(one);
        copies.push_back(count);
    }
    return dict_of("real", found.real, "leaves", to_numpy(std::move(found.leaves)), "rows",
                   to_numpy(std::move(found.rows)), "copied", to_numpy(std::move(copied)), "copies",
                   to_numpy(std::move(copies)), "moments", as_list(found.moments), "score",
                   found.score, "bound", found.bound, "status", text(found.status), "refuted",
                   found.refuted, "estimate", found.estimate, "nodes", found.nodes, "wanted",
                   to_numpy(std::move(found.wanted)));
}

void restore(Partition& p, const std::tuple<Place, Column, Numbers, Numbers, Numbers>& state) {
    const auto& [at, threshold, child, axis, leaf] = state;
    std::vector<Node> nodes(threshold.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i] = {threshold.data()[i], child.data()[i], axis.data()[i]};
    }
    new (&p) Partition(placing_of(at), std::move(nodes),
                       std::vector<std::int32_t>(leaf.data(), leaf.data() + leaf.size()));
}

}  // namespace
}  // namespace quadsweep::outofcore

void quadsweep::bind_outofcore(nb::module_& m) {
    using namespace outofcore;

    nb::class_<Partition>(m, "Partition")
        .def(
            "__init__",
            [](Partition* p, const Place& at, const Column& x, const Column& y, int most,
               const std::string& objective, double share,
               const std::vector<std::vector<double>>& starts) {
                check(x, y);
                const Aim aim{objective_named(objective), share, moments_of(starts)};
                nb::gil_scoped_release released;
                new (p)
                    Partition(Partition::of_sample(placing_of(at), span(x), span(y), most, aim));
            },
            "placing"_a, "x"_a, "y"_a, "leaves"_a, "objective"_a = "r2", "share"_a = 1.0,
            "starts"_a = std::vector<std::vector<double>>())
        .def_prop_ro("leaves", &Partition::leaves)
        .def_prop_ro("placing", [](const Partition& p) { return given(p.placing()); })
        .def_prop_ro("nearest",
                     [](const Partition& p) {
                         return nb::cast(to_numpy(std::vector<std::int32_t>(p.nearest())));
                     })
        .def("locate", &locate, "x"_a, "y"_a)
        .def("add", &add, "x"_a, "y"_a, "wanted"_a, "table"_a)
        .def("add_and_pick", &add_and_pick, "x"_a, "y"_a, "wanted"_a, "table"_a)
        .def("pick", &pick, "x"_a, "y"_a, "wanted"_a)
        .def(
            "refined",
            [](const Partition& p, const Numbers& which, const Table& table, int levels) {
                return p.refined({which.data(), which.size()}, leaves(table), levels);
            },
            "leaves"_a, "table"_a, "levels"_a)
        .def("__getstate__", &state)
        .def("__setstate__", &restore);
    m.def("plan_sample", &plan_sample, "x"_a, "y"_a, "objective"_a, "share"_a, "seed"_a,
          "n_jobs"_a);
    nb::class_<LoadedPartition>(m, "LoadedPartition")
        .def(
            "__init__",
            [](LoadedPartition* loaded, const Partition& p, const Table& table, const Numbers& leaf,
               const Column& x, const Column& y, int n_jobs) {
                check(x, y);
                nb::gil_scoped_release released;
                new (loaded) LoadedPartition(
                    p, leaves(table), {{leaf.data(), leaf.size()}, span(x), span(y)}, n_jobs);
            },
            "partition"_a, "table"_a, "leaf"_a, "x"_a, "y"_a, "n_jobs"_a = 1)
        .def_prop_ro("roundings", &LoadedPartition::roundings)
        .def("search", &search_loaded, "objective"_a, "k"_a, "tol"_a, "starts"_a, "gap_x"_a,
             "gap_y"_a, "tilt"_a, "most_rows"_a, "memory"_a, "time_limit"_a, "n_jobs"_a,
             "callback"_a.none(), "until"_a = "proved", "above"_a = undefined,
             "k_or_more"_a = false, "product"_a.none() = nb::none(), "mirrored"_a = false)
        .def(
            "least_squares",
            [](const LoadedPartition& loaded, std::int64_t k, double gap_x, double gap_y) {
                Question question;
                question.k = k;
                question.gap_x = gap_x;
                question.gap_y = gap_y;
                const Ranges r = loaded.ranges(question);
                return std::make_tuple(r.a_least_positive, r.b_least_positive);
            },
            "k"_a, "gap_x"_a, "gap_y"_a,
            "What no k or more rows vary by less, in x and in y, unless they do not vary.");
    m.def("fingerprint", &fingerprint, "x"_a, "y"_a);
    m.def(
        "distinct",
        [](const Column& column, std::size_t most) -> nb::object {
            std::vector<double> found;
            const bool few = unlocked([&] { return distinct(span(column), most, found); });
            return few ? nb::cast(to_numpy(std::move(found))) : nb::none();
        },
        "column"_a, "most"_a);
    m.def(
        "merge_leaves",
        [](const Table& into, const Numbers& which, const Table& table) {
            if (which.size() != table.shape(0)) throw std::invalid_argument("a leaf for each row");
            nb::gil_scoped_release released;
            for (std::size_t i = 0; i < which.size(); ++i) {
                leaves(into)[which.data()[i]].merge(leaves(table)[i]);
            }
        },
        "into"_a, "leaves"_a, "table"_a);
}
