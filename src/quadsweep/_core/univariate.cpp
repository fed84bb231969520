// The k numbers of smallest variance, in O(n log n).
//
// Some best subset is k neighbours in sorted order (the vertex principle). Windows that contain the
// sorted position B share sums of u = x - x[B], those left of B and those from B on: additions
// only, and because x[B] is in the window itself, Suu <= (k + 1) a, so that nothing cancels that
// matters, however heavy the tails. Windows that may be the best, given rounding, are scored again.
#include <algorithm>
#include <numeric>
#include <vector>

#include "methods.hpp"

namespace quadsweep {
namespace {

struct Window {
    int first;
    double optimistic, pessimistic;  // the score lies between them
};

std::vector<int> sorted_order(const std::vector<double>& x) {
    std::vector<int> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return x[i] < x[j]; });
    return order;
}

// Windows of k that start in (pivot - k, pivot].
void windows_around(const std::vector<double>& x, int pivot, int k, std::vector<Window>& out) {
    const int n = static_cast<int>(x.size());
    const int last = std::min(n, pivot + k);
    std::vector<Moments> from_pivot(1);
    for (int i = pivot; i < last; ++i) {
        from_pivot.push_back(from_pivot.back());
        from_pivot.back().add(x[i] - x[pivot], 0);
    }
    const Slack slack{(k + 8) * 0x1p-52, 0, 0, 0};
    Moments left;
    for (int first = pivot; first >= 0 && first > pivot - k; --first) {
        if (first < pivot) left.add(x[first] - x[pivot], 0);
        const int behind = k - (pivot - first);
        if (pivot + behind > n) continue;
        const CentredRange m = centred_range(left + from_pivot[behind], k, slack);
        out.push_back({first, -m.a_lo / k, -m.a_hi / k});
    }
}

}  // namespace

Answer univariate(const Problem& problem, Control& control) {
    const int n = problem.size(), k = problem.k;
    const std::vector<int> order = sorted_order(problem.points.x);
    std::vector<double> x(n);
    for (int i = 0; i < n; ++i) x[i] = problem.points.x[order[i]];

    std::vector<Window> windows;
    for (int pivot = 0; pivot < n && !control.stopped(); pivot += k) {
        windows_around(x, pivot, k, windows);
        control.look([] { return Progress{}; });
    }
    double best_floor = undefined;
    for (const Window& w : windows) best_floor = std::max(best_floor, w.pessimistic);
    std::erase_if(windows, [&](const Window& w) { return w.optimistic < best_floor; });
    std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
        return std::pair(-a.pessimistic, a.first) < std::pair(-b.pessimistic, b.first);
    });

    // On a regular grid all windows tie; scoring all of them again would cost n k. Those left out
    // differ from the best by rounding only, and the bound says by how much.
    const std::size_t rescored = std::min<std::size_t>(windows.size(), 16 + 32 * n / k);
    Incumbent best;
    Answer answer;
    for (std::size_t i = 0; i < rescored && !control.stopped(); ++i) {
        std::vector<int> subset(order.begin() + windows[i].first,
                                order.begin() + windows[i].first + k);
        std::sort(subset.begin(), subset.end());
        best.offer(accurate_score(problem.points, subset, problem.objective), subset);
        control.look([&] { return Progress{best.score, infinity, i, 0}; });
    }
    answer.inliers = best.subset;
    answer.score = answer.bound = best.score;
    for (std::size_t i = rescored; i < windows.size(); ++i)
        answer.bound = std::max(answer.bound, std::min(windows[i].optimistic, 0.0));
    answer.nodes = static_cast<std::uint64_t>(n - k + 1);
    answer.status = control.status(Status::optimal);
    if (answer.status != Status::optimal) answer.bound = trivial_bound(problem);
    return answer;
}

}  // namespace quadsweep
