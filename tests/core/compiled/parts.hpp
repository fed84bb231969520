// Parts of the compiled half that only tests ask for: a module of its own, `quadsweep._core_parts`,
// built where the package is installed for development and never part of a wheel.
#pragma once

#include "bindings/python.hpp"

namespace quadsweep {

void bind_plane_parts(nb::module_& m);
void bind_regression_parts(nb::module_& m);

}  // namespace quadsweep
