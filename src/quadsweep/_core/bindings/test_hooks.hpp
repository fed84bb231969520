// Parts of the engine by themselves, for the tests.
#pragma once

#include <nanobind/nanobind.h>

namespace quadsweep {

void add_test_hooks(nanobind::module_& m);

}  // namespace quadsweep
