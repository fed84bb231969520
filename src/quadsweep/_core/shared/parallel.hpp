// Tasks 0..count-1 over threads, handed out in order. The calling thread is worker 0 and is the
// only one that may talk to Control::attend.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "threads.hpp"

namespace quadsweep {

// body(worker, task) -> false to stop taking tasks.
template <class Body>
void parallel_for(int n_jobs, std::int64_t count, Body&& body) {
    const int workers = static_cast<int>(std::clamp<std::int64_t>(count, 1, std::max(n_jobs, 1)));
    std::atomic<std::int64_t> next{0};
    Failure failure;
    auto work = [&](int worker) {
        const auto take_tasks = [&] {
            for (std::int64_t task; (task = next.fetch_add(1)) < count;) {
                if (!body(worker, task)) break;
            }
        };
        failure.keep(take_tasks, [&] { next = count; });
    };
    std::vector<Thread> threads;
    for (int w = 1; w < workers; ++w) threads.emplace_back(work, w);
    work(0);
    threads.clear();
    failure.rethrow();
}

}  // namespace quadsweep
