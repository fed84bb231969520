// What becomes of a box that could not be closed: two narrower ones, or two that differ in how many
// copies of an item they keep.
#pragma once

#include "bound.hpp"
#include "box.hpp"

namespace quadsweep::regression {

// The root of each frame.
Boxes roots(const Form& form, const Items& items, const Cells& cells, int k);

// The one root of a box of fits; null where no bound on the coefficients is at hand.
std::unique_ptr<Box> root_of_fits(const Form& form, const Items& items, int k);
void take_tau(Box& box, const Form& form, double tau);

// Whether only deciding items can close the box. `centre` is the bound at its centre.
bool wants_items(const Box& box, const Bounder& bounder, double centre);

// The parameter whose width costs most is halved.
void split(std::unique_ptr<Box> box, const Bounder& bounder, Boxes& children);

// The copies that move the multipliers most are cut in half: at most z of them, or more.
void branch_on_copies(std::unique_ptr<Box> box, Bounder& bounder, const Items& items,
                      Boxes& children);

}  // namespace quadsweep::regression
