#include "loops.hpp"

#define QUADSWEEP_CONCAT_(a, b) a##b
#define QUADSWEEP_CONCAT(a, b) QUADSWEEP_CONCAT_(a, b)

namespace quadsweep::outofcore {
namespace {

int missing(const double* x, const double* y, int size) {
    int count = 0;
#pragma omp simd reduction(+ : count)
    for (int i = 0; i < size; ++i) count += (x[i] - x[i]) + (y[i] - y[i]) == 0 ? 0 : 1;
    return count;
}

void grid_cells(const double* x, const double* y, int size, const GridSide& x_side,
                const GridSide& y_side, int across, int* cell) {
    const GridSide h = x_side, v = y_side;
#pragma omp simd
    for (int i = 0; i < size; ++i) cell[i] = v.cell(y[i]) * across + h.cell(x[i]);
}

// Leaves are in no order, and what is known of them is more than the nearest cache holds.
QUADSWEEP_INLINE void expect(const Leaf& leaf) {
#if defined(__GNUC__)
    __builtin_prefetch(&leaf, 1);
    __builtin_prefetch(&leaf.sums.yy, 1);
#else
    static_cast<void>(leaf);
#endif
}

void add(const double* x, const double* y, const int* leaf, int size, Leaf* table) {
    constexpr int ahead = 16, four = 4;
    for (int i = 0; i < size; ++i) {
        expect(table[leaf[i + ahead < size ? i + ahead : i]]);
        Leaf& at = table[leaf[i]];
        const double px = x[i], py = y[i];
        at.count += 1;
        at.x_lo = px < at.x_lo ? px : at.x_lo;
        at.x_hi = px > at.x_hi ? px : at.x_hi;
        at.y_lo = py < at.y_lo ? py : at.y_lo;
        at.y_hi = py > at.y_hi ? py : at.y_hi;
        const double term[four] = {px, py, px * px, px * py};
        double sum[four] = {at.sums.x, at.sums.y, at.sums.xx, at.sums.xy};
        double lost[four] = {at.lost.x, at.lost.y, at.lost.xx, at.lost.xy};
#pragma omp simd
        for (int l = 0; l < four; ++l) accumulate(sum[l], lost[l], term[l]);
        at.sums = {sum[0], sum[1], sum[2], sum[3], at.sums.yy};
        at.lost = {lost[0], lost[1], lost[2], lost[3], at.lost.yy};
        accumulate(at.sums.yy, at.lost.yy, py * py);
    }
}

}  // namespace

extern const OutOfCoreLoops QUADSWEEP_CONCAT(outofcore_loops_, QUADSWEEP_ISA);
const OutOfCoreLoops QUADSWEEP_CONCAT(outofcore_loops_, QUADSWEEP_ISA) = {missing, grid_cells, add};

}  // namespace quadsweep::outofcore
