// What a search may say: the subset, what no subset passes, and how much of that is proved.
#pragma once

#include "certified.hpp"
#include "incumbents.hpp"
#include "parts.hpp"
#include "search/relaxation.hpp"

namespace quadsweep {

// The status is `optimal` only where the gap is what docs/certificate.md allows.
void conclude(const Problem& problem, const CertifiedOptions& options, const Control& control,
              const Incumbents& known, const Parts& parts, const Standing& standing,
              CertifiedAnswer& answer);

// What no subset passes as far as is known now.
double live_bound(const Incumbents& known, const Parts& parts, const Standing& standing);

}  // namespace quadsweep
