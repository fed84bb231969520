#pragma once

#include <nanobind/nanobind.h>

namespace quadsweep::outofcore {

void bind(nanobind::module_& m);

}  // namespace quadsweep::outofcore
