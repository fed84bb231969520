// Closing a box without its bound: because no subset of it has both a value and its own theta here.
#pragma once

#include "box.hpp"
#include "cells.hpp"
#include "form.hpp"
#include "items.hpp"

namespace quadsweep::regression {

double least_eigenvalue(const Gram& sums, int columns);

// True if the question has no value on any subset of the box, or if on all its rows some columns of
// Z depend on each other along directions that no theta of the box is free of: the theta of least
// norm of every such subset lies elsewhere. `all`: the sums of everything kept or open. Never said
// of a box with open cells.
bool hopeless(const Table& table, const Items& items, const Cells& cells, const Form& form,
              const Box& box, const Gram& all);

}  // namespace quadsweep::regression
