#include <cstring>

#include "loops.hpp"
#include "shared/hot_loops.hpp"

namespace quadsweep::regression {

extern const SeveralLoops several_loops_baseline;
#ifdef QUADSWEEP_X86
extern const SeveralLoops several_loops_avx2;
extern const SeveralLoops several_loops_avx512;
#endif

const SeveralLoops& several_loops() {
#ifdef QUADSWEEP_X86
    const char* name = hot_loops().name;
    if (std::strcmp(name, "avx512") == 0) return several_loops_avx512;
    if (std::strcmp(name, "avx2") == 0) return several_loops_avx2;
#endif
    return several_loops_baseline;
}

}  // namespace quadsweep::regression
