// Boxes of multiple regression, by themselves.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "parts.hpp"
#include "regression/bound.hpp"
#include "regression/branching.hpp"

using namespace nanobind::literals;

namespace quadsweep::regression {
namespace {

using Rows = Matrix;

Kind kind_of(const std::string& name) {
    if (name == "r2") return Kind::r2;
    if (name == "lts") return Kind::lts;
    if (name == "sign") return Kind::sign;
    if (name == "above") return Kind::above;
    if (name == "below") return Kind::below;
    throw std::invalid_argument("no such kind: " + name);
}

// A question about columns that are taken as they are: searched ones, then those of u.
struct Asked {
    Items items;
    Form form;

    Asked(const std::string& name, const Rows& rows, double t) {
        const Kind kind = kind_of(name);
        Placed placed;
        placed.active = kind == Kind::lts ? 0 : kind == Kind::above || kind == Kind::below ? 2 : 1;
        placed.searched = static_cast<int>(rows.shape(1)) - placed.active;
        const int others = kind == Kind::lts ? 1 : placed.active;
        placed.fitted = placed.searched - others;
        for (std::size_t j = 0; j < rows.shape(1); ++j) {
            placed.column.emplace_back();
            for (std::size_t i = 0; i < rows.shape(0); ++i) {
                placed.column[j].push_back(rows.data()[i * rows.shape(1) + j]);
            }
        }
        placed.floor.assign(rows.shape(1), 0.0);
        items.columns = static_cast<int>(rows.shape(1));
        items.column = placed.column;
        for (int i = 0; i < static_cast<int>(rows.shape(0)); ++i) {
            items.copies.push_back(1);
            items.identical.add({&i, 1});
        }
        form = Form(kind, true, placed);
        form.aim(t);
    }
};

std::vector<double> entries(const double* from, int count) { return {from, from + count}; }

nb::dict described(const Box& box, const Form& form) {
    nb::dict out;
    out["frame"] = box.frame;
    out["centre"] = entries(box.centre, form.searched);
    out["half"] = entries(box.half, form.searched);
    out["of_fits"] = box.of_fits;
    return out;
}

nb::list regression_roots(const std::string& kind, const Rows& rows, double t, int k) {
    const Asked asked(kind, rows, t);
    nb::list out;
    for (const auto& box : roots(asked.form, asked.items, {}, k)) {
        out.append(described(*box, asked.form));
    }
    return out;
}

// The bound of a box, what it decides and what is left of the box; `share` 0: it is closed.
nb::dict regression_box(const std::string& kind, const Rows& rows, double t, int k, int frame,
                        const std::vector<double>& centre, const std::vector<double>& half,
                        const std::vector<int>& kept) {
    const Asked asked(kind, rows, t);
    const Cells none;
    Box box;
    box.frame = frame;
    std::copy(centre.begin(), centre.end(), box.centre);
    std::copy(half.begin(), half.end(), box.half);
    box.need = k - static_cast<int>(kept.size());
    box.kept_units = static_cast<int>(kept.size());
    for (int i = 0; i < asked.items.size(); ++i) {
        if (std::find(kept.begin(), kept.end(), i) == kept.end()) {
            box.open.point.push_back(i);
            box.open.copies.push_back(1);
        } else {
            box.kept.add(asked.items.gram(i), asked.form.columns);
        }
    }
    Bounder bounder(asked.items, none, asked.form, false);
    bounder.load(box);
    bounder.centre(box);
    bounder.bound(box);
    const double value = bounder.least() - bounder.error();
    double share = 0;
    if (value < 0 && bounder.fix(box)) share = bounder.cut(box);
    nb::dict out = described(box, asked.form);
    out["bound"] = value;
    out["share"] = share;
    out["open"] = box.open.point;
    std::vector<int> decided;
    for (const Decided* d = box.decided.get(); d != nullptr; d = d->before.get()) {
        for (const auto& [item, count] : d->points) decided.push_back(item);
    }
    out["decided"] = decided;
    return out;
}

}  // namespace
}  // namespace quadsweep::regression

void quadsweep::bind_regression_parts(nb::module_& m) {
    using namespace regression;
    m.def("regression_roots", &regression_roots, "kind"_a, "rows"_a, "t"_a, "k"_a);
    m.def("regression_box", &regression_box, "kind"_a, "rows"_a, "t"_a, "k"_a, "frame"_a,
          "centre"_a, "half"_a, "kept"_a);
}
