// What every binding needs: arrays in and out, names, the GIL, Ctrl-C and progress. Arrays come in
// validated (inputs/validation.py).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <exception>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "shared/control.hpp"
#include "shared/objectives.hpp"
#include "shared/points.hpp"

namespace quadsweep {

namespace nb = nanobind;

template <class T, std::size_t dimensions = 1>
using Given = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
using Column = Given<double>;
using Matrix = Given<double, 2>;

template <class T>
std::span<const T> span(const Given<T>& c) {
    return {c.data(), c.size()};
}

template <class T>
std::vector<T> entries(const Given<T>& v) {
    return {v.data(), v.data() + v.size()};
}

template <class T>
auto to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(held->data(), shape, owner);
}
template <class T>
auto to_numpy(std::vector<T>&& values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

// Rows as Python counts them.
inline auto to_rows(const std::vector<int>& rows) {
    return to_numpy(std::vector<std::int64_t>(rows.begin(), rows.end()));
}

// A dictionary from names and values in turn.
inline void add_entries(nb::dict&) {}
template <class Value, class... More>
void add_entries(nb::dict& to, const char* name, Value&& value, More&&... more) {
    to[name] = std::forward<Value>(value);
    add_entries(to, std::forward<More>(more)...);
}
template <class... Entries>
nb::dict dict_of(Entries&&... entries) {
    nb::dict out;
    add_entries(out, std::forward<Entries>(entries)...);
    return out;
}
inline std::string text(Status status) { return std::string(name(status)); }
// How a search that is over ended.
inline std::string ending(const Control& control) { return text(control.status(Status::optimal)); }

// What `work` returns, done without the GIL.
template <class Work>
auto unlocked(Work work) {
    const nb::gil_scoped_release released;
    return work();
}

inline Objective objective_named(const std::string& wanted) {
    for (int i = 0; i < objectives; ++i) {
        const auto o = static_cast<Objective>(i);
        if (name(o) == wanted) return o;
    }
    throw std::invalid_argument("unknown objective " + wanted);
}

// Does `work` without the GIL, which is taken again only to look for Ctrl-C and to report progress:
// report(callback, now). Ctrl-C is taken as a wish to see the best so far: the exception is
// swallowed, the answer says `interrupted`. A callback that raises ends the call with its own
// exception, one that returns False ends the search.
template <class Report, class Work>
void watched(Control& control, const nb::object& callback, Report report, Work work) {
    std::exception_ptr failure;
    control.on_tick = [&](const Progress& now) {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            PyErr_Clear();
            return false;
        }
        if (callback.is_none()) return true;
        try {
            const nb::object wish = report(callback, now);
            return !(nb::isinstance<nb::bool_>(wish) && !nb::cast<bool>(wish));
        } catch (...) {
            failure = std::current_exception();
            return false;
        }
    };
    {
        nb::gil_scoped_release released;
        work();
    }
    if (failure) std::rethrow_exception(failure);
}
// A report of (value, bound, nodes, seconds), with scores as value(score).
template <class Value>
auto scores_as(Value value) {
    return [=](const nb::object& callback, const Progress& now) {
        return callback(value(now.score), value(now.bound), now.nodes, now.seconds);
    };
}
// A report of (nodes, seconds).
inline nb::object counted(const nb::object& callback, const Progress& now) {
    return callback(now.nodes, now.seconds);
}

template <class Work>
void watched(Control& control, Work work) {
    const auto nothing = [](const nb::object&, const Progress&) -> nb::object {
        return nb::none();
    };
    watched(control, nb::none(), nothing, work);
}

// One for each folder that Python asks.
void bind_plane(nb::module_& m);
void bind_estimating(nb::module_& m);
void bind_many_controls(nb::module_& m);
void bind_many_predictors(nb::module_& m);
void bind_regression(nb::module_& m);
void bind_outofcore(nb::module_& m);
void bind_scores(nb::module_& m);

}  // namespace quadsweep
