#pragma once

#include <nanobind/nanobind.h>

namespace quadsweep::regression {

void bind(nanobind::module_& m);
void bind_test_hooks(nanobind::module_& m);

}  // namespace quadsweep::regression
