#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "threads.hpp"

namespace quadsweep {

void parallel_for(int n_jobs, std::int64_t count,
                  const std::function<bool(int worker, std::int64_t task)>& body) {
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
