// Whether a column is a combination of others on some rows, decided exactly.
//
// Doubles are whole numbers times powers of two, so a rank can be counted modulo a prime. It is at
// most the rank itself, and less only if the prime divides all minors of that size. A minor is a
// whole number that Hadamard's inequality bounds; once the product of the primes tried exceeds the
// bound, one that all of them divide is zero (docs/theory/regression.md).
#pragma once

#include <span>
#include <vector>

#include "table.hpp"

namespace quadsweep::regression {

enum class Span { inside, outside, unknown };

// Where `column` lies relative to the span of `others` on these rows; `others` are independent
// there. Unknown where entries of a row are so far apart that it would take too many primes.
Span place_in_span(std::span<const Column* const> others, const Column& column,
                   std::span<const int> rows);

}  // namespace quadsweep::regression
