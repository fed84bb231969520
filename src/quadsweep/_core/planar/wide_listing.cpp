// All subsets of data whose squares a double cannot hold (a sentinel of 1e200 among ordinary
// points): each scored by itself from its rows as given, compared with an exponent of its own.
#include "wide_listing.hpp"

#include <numeric>

#include "concentrate.hpp"
#include "shared/exact_sums.hpp"

namespace quadsweep {
namespace {

constexpr double most_listed = 5e6;  // subsets, of one size

double subsets_of(int n, int k) {
    double count = 1;
    for (int i = 0; i < std::min(k, n - k); ++i) count = count * (n - i) / (i + 1);
    return count;
}

// The next k of n in dictionary order; false after the last.
bool advance(std::vector<int>& subset, int n) {
    const int k = static_cast<int>(subset.size());
    int i = k - 1;
    while (i >= 0 && subset[i] == n - k + i) --i;
    if (i < 0) return false;
    ++subset[i];
    for (int j = i + 1; j < k; ++j) subset[j] = subset[j - 1] + 1;
    return true;
}

struct Best {
    WideScore score;
    std::vector<int> subset;
};

// Adds to `best` all subsets of size k; false if stopped.
bool list(const Problem& problem, int k, Control& control, Best& best, std::uint64_t& nodes) {
    const Points& p = problem.points;
    std::vector<int> subset(k);
    std::iota(subset.begin(), subset.end(), 0);
    do {
        const ExactSums sums = exact_sums(p.given_x, p.given_y, subset, true);
        const WideScore score = wide_score(sums, k, problem.objective);
        if (best.score < score) best = {score, subset};
        ++nodes;
        const auto say = [&] {
            const int unit = value_exponent(p, problem.objective);
            return Progress{best.score.in_units(unit), infinity, nodes, 0};
        };
        if (control.attend(say)) return false;
    } while (advance(subset, p.size()));
    return true;
}

}  // namespace

Answer list_wide(const Problem& problem, int largest, Control& control) {
    Answer answer;
    double all = 0;
    for (int k = problem.k; k <= largest; ++k) all += subsets_of(problem.size(), k);
    const int unit = value_exponent(problem.points, problem.objective);
    Best best;
    if (all > most_listed) {
        const Incumbent found = concentrate_search(problem, 100, control);
        answer.inliers = found.subset;
        answer.score = found.score;
        answer.bound = trivial_bound(problem);
        answer.status = control.status(Status::heuristic);
        return answer;
    }
    for (int k = problem.k; k <= largest; ++k) {
        if (!list(problem, k, control, best, answer.nodes)) break;
    }
    answer.inliers = best.subset;
    answer.score = best.score.in_units(unit);
    answer.status = control.status(Status::optimal);
    answer.bound = answer.status == Status::optimal ? answer.score : trivial_bound(problem);
    return answer;
}

}  // namespace quadsweep
