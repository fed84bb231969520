#include "hot_loops.hpp"

#define QUADSWEEP_CONCAT_(a, b) a##b
#define QUADSWEEP_CONCAT(a, b) QUADSWEEP_CONCAT_(a, b)
#define QUADSWEEP_STRING_(a) #a
#define QUADSWEEP_STRING(a) QUADSWEEP_STRING_(a)

namespace quadsweep {
namespace {

template <class O>
int screen(const MomentTable& t, const Moments& base, double k, const Slack& slack, double best) {
    int hits = 0;
    for (int i = 0; i < t.size; ++i) {
        const Moments s{base.x + t.x[i], base.y + t.y[i], base.xx + t.xx[i], base.xy + t.xy[i],
                        base.yy + t.yy[i]};
        hits += O::optimistic(centred_range(s, k, slack), k) >= best;
    }
    return hits;
}

}  // namespace

extern const HotLoops QUADSWEEP_CONCAT(hot_loops_, QUADSWEEP_ISA);
const HotLoops QUADSWEEP_CONCAT(hot_loops_, QUADSWEEP_ISA) = {
    QUADSWEEP_STRING(QUADSWEEP_ISA),
    {screen<R2>, screen<R>, screen<Cov>, screen<DV>, screen<TV>, screen<Var>, screen<LTS>},
};

}  // namespace quadsweep
