// Tasks 0..count-1 over threads, handed out in order. The calling thread is worker 0 and is the
// only one that may talk to Control::attend.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace quadsweep {

// body(worker, task) -> false to stop taking tasks.
template <class Body>
void parallel_for(int n_jobs, std::int64_t count, Body&& body) {
    const int workers = static_cast<int>(std::clamp<std::int64_t>(count, 1, std::max(n_jobs, 1)));
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failing;
    auto work = [&](int worker) {
        try {
            for (std::int64_t task; (task = next.fetch_add(1)) < count;) {
                if (!body(worker, task)) break;
            }
        } catch (...) {
            const std::lock_guard lock(failing);
            failure = std::current_exception();
            next = count;
        }
    };
    std::vector<std::jthread> threads;
    for (int w = 1; w < workers; ++w) threads.emplace_back(work, w);
    work(0);
    threads.clear();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace quadsweep
