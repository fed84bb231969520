// Every method that chooses a subset has one signature; bindings.cpp finds them by name here.
#pragma once

#include <string_view>

#include "control.hpp"
#include "points.hpp"

namespace quadsweep {

using Method = Answer (*)(const Problem&, Control&);

Answer certified_method(const Problem& problem, Control& control);
Answer exhaustive(const Problem& problem, Control& control);
Answer naive(const Problem& problem, Control& control);
Answer sweep(const Problem& problem, Control& control);
Answer concentrate(const Problem& problem, Control& control);
Answer univariate(const Problem& problem, Control& control);

inline Method find_method(std::string_view name) {
    if (name == "certified") return certified_method;
    if (name == "exhaustive") return exhaustive;
    if (name == "naive") return naive;
    if (name == "sweep") return sweep;
    if (name == "concentrate") return concentrate;
    if (name == "univariate") return univariate;
    return nullptr;
}

}  // namespace quadsweep
