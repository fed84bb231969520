// Which compilation of hot_loops.cpp this processor gets.
#include <atomic>

#include "hot_loops.hpp"

#if defined(QUADSWEEP_X86) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace quadsweep {

extern const HotLoops hot_loops_baseline;
#ifdef QUADSWEEP_X86
extern const HotLoops hot_loops_avx2;
extern const HotLoops hot_loops_avx512;
#endif

namespace {

#ifdef QUADSWEEP_X86
#ifdef _MSC_VER
bool cpu_has(int leaf_register, int bit, unsigned long long saved_state) {
    int info[4];
    __cpuid(info, 1);
    const bool has_xgetbv = (info[2] >> 27) & 1;
    if (!has_xgetbv || (_xgetbv(0) & saved_state) != saved_state) return false;
    __cpuidex(info, 7, 0);
    return (info[leaf_register] >> bit) & 1;
}
bool has_avx2() { return cpu_has(1, 5, 0x6); }
bool has_avx512() {
    return cpu_has(1, 16, 0xe6) && cpu_has(1, 17, 0xe6) && cpu_has(1, 30, 0xe6) &&
           cpu_has(1, 31, 0xe6);
}
#else
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif
#endif

struct Compilation {
    const HotLoops* loops;
    bool (*runs)();  // on this processor
};

constexpr Compilation compilations[] = {
#ifdef QUADSWEEP_X86
    {&hot_loops_avx512, has_avx512},
    {&hot_loops_avx2, has_avx2},
#endif
    {&hot_loops_baseline, [] { return true; }},
};

const HotLoops* available(std::string_view name) {
    for (const auto& [loops, runs] : compilations) {
        if ((name == "auto" || name == loops->name) && runs()) return loops;
    }
    return nullptr;
}

std::atomic<const HotLoops*> chosen{nullptr};

}  // namespace

const HotLoops& hot_loops() {
    const HotLoops* loops = chosen.load(std::memory_order_relaxed);
    if (loops == nullptr) {
        loops = available("auto");
        chosen.store(loops, std::memory_order_relaxed);
    }
    return *loops;
}

bool choose_hot_loops(std::string_view name) {
    const HotLoops* loops = available(name);
    if (loops != nullptr) chosen = loops;
    return loops != nullptr;
}

}  // namespace quadsweep
