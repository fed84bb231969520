#pragma once

#include <nanobind/nanobind.h>

namespace quadsweep::several {

void bind(nanobind::module_& m);
void bind_test_hooks(nanobind::module_& m);

}  // namespace quadsweep::several
