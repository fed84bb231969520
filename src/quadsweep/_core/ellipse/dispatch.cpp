#include <cstring>

#include "loops.hpp"
#include "shared/hot_loops.hpp"

namespace quadsweep::ellipse {

extern const EllipseLoops ellipse_loops_baseline;
#ifdef QUADSWEEP_X86
extern const EllipseLoops ellipse_loops_avx2;
extern const EllipseLoops ellipse_loops_avx512;
#endif

const EllipseLoops& ellipse_loops() {
#ifdef QUADSWEEP_X86
    const char* name = hot_loops().name;
    if (std::strcmp(name, "avx512") == 0) return ellipse_loops_avx512;
    if (std::strcmp(name, "avx2") == 0) return ellipse_loops_avx2;
#endif
    return ellipse_loops_baseline;
}

}  // namespace quadsweep::ellipse
