#pragma once

#include <nanobind/nanobind.h>

namespace quadsweep::estimating {

void bind(nanobind::module_& m);

}  // namespace quadsweep::estimating
