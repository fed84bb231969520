#pragma once

#include <nanobind/nanobind.h>

namespace quadsweep::streamed {

void bind(nanobind::module_& m);

}  // namespace quadsweep::streamed
