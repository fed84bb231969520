// Variance of x alone: the best subset is always k neighbours in sorted order, so a window slides
// over the sorted rows.
//
// Sums that gain at one end and lose at the other are not to be trusted. All windows that contain
// the sorted position B share sums of u = X - X[B], those left of B and those from B on: additions
// only, in double-double, and because X[B] is in the window itself, Suu <= (k + 1) a, so that
// nothing cancels that matters, however heavy the tails and however far the offset.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "shared/double_double.hpp"
#include "shared/methods.hpp"

namespace quadsweep {
namespace {

std::vector<int> sorted_order(std::span<const double> x) {
    std::vector<int> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return x[i] < x[j]; });
    return order;
}

struct Sums {
    DoubleDouble u, uu;

    void add(const DoubleDouble& t) {
        u = u + t;
        uu = uu + t * t;
    }
};

// The window of k sorted values with the least centred sum of squares; the first of equal ones.
class Slide {
  public:
    Slide(std::vector<double> sorted, int k) : x_(std::move(sorted)), k_(k) {}

    int first = -1;
    DoubleDouble least{infinity, 0};

    // Windows that start in (pivot - k, pivot].
    void around(int pivot) {
        const int n = static_cast<int>(x_.size());
        std::vector<Sums> from_pivot(1);
        for (int i = pivot; i < std::min(n, pivot + k_); ++i) {
            from_pivot.push_back(from_pivot.back());
            from_pivot.back().add(two_sum(x_[i], -x_[pivot]));
        }
        Sums left;
        for (int start = pivot; start >= 0 && start > pivot - k_; --start) {
            if (start < pivot) left.add(two_sum(x_[start], -x_[pivot]));
            const int behind = k_ - (pivot - start);
            if (pivot + behind <= n) look_at(start, left, from_pivot[behind]);
        }
    }

  private:
    // Beyond the range of a double a sum is no number, and never the least.
    void look_at(int start, const Sums& left, const Sums& right) {
        const DoubleDouble u = left.u + right.u;
        const DoubleDouble a = (left.uu + right.uu) - u * u / static_cast<double>(k_);
        const double ahead = first < 0 ? -1 : (a - least).value();
        if (std::isfinite(a.hi) && (ahead < 0 || (ahead == 0 && start < first))) {
            least = a;
            first = start;
        }
    }

    std::vector<double> x_;
    int k_;
};

int exponent_of(std::span<const double> x) {
    double most = 0;
    for (double v : x) most = std::fmax(most, std::fabs(v));
    return most > 0 ? std::ilogb(most) : 0;
}

}  // namespace

Answer univariate(const Problem& problem, Control& control) {
    const int n = problem.size(), k = problem.k;
    const std::vector<int> order = sorted_order(problem.points.given_x);
    std::vector<double> sorted(n);
    for (int i = 0; i < n; ++i) sorted[i] = problem.points.given_x[order[i]];

    Answer answer;
    // In the unit of most points, or where every window is too wide for that, of the widest.
    int first = -1;
    for (const int unit : {problem.points.ex, exponent_of(sorted)}) {
        std::vector<double> x(n);
        place(sorted, 0, unit, x);
        Slide slide(std::move(x), k);
        for (int pivot = 0; pivot < n && !control.stopped(); pivot += k) {
            slide.around(pivot);
            control.look([] { return Progress{}; });
        }
        first = slide.first;
        if (first >= 0 || control.stopped()) break;
    }
    if (first >= 0) {
        answer.inliers.assign(order.begin() + first, order.begin() + first + k);
        std::sort(answer.inliers.begin(), answer.inliers.end());
        answer.score = accurate_score(problem.points, answer.inliers, problem.objective);
    }
    answer.nodes = static_cast<std::uint64_t>(n - k + 1);
    answer.status = control.status(Status::optimal);
    answer.bound = answer.status == Status::optimal ? answer.score : trivial_bound(problem);
    return answer;
}

}  // namespace quadsweep
