#include <nanobind/stl/string.h>

#include "python.hpp"
#include "shared/points.hpp"

NB_MODULE(_core, m) {
    using namespace quadsweep;
    m.doc() = "The compiled half of quadsweep; see _core/README.md.";
    bind_plane(m);
    bind_regression(m);
    bind_estimating(m);
    bind_many_controls(m);
    bind_many_predictors(m);
    bind_outofcore(m);
    bind_scores(m);
    nb::list statuses;
    for (int s = 0; s < 6; ++s) statuses.append(text(static_cast<Status>(s)));
    m.attr("STATUSES") = statuses;
}
