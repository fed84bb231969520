// All subsets of data whose squares a double cannot hold (a sentinel of 1e200 among ordinary
// points): each scored by itself from its rows as given, compared with an exponent of its own.
//
// A determinant is worse: beside 1e200 the products of ordinary points vanish, and every subset
// with two such rows would seem to lie on a line. So it is summed from its triangles, by Cauchy and
// Binet,
//
//     k^3 det = sum over triples of |1 x y|^2,
//
// each triangle from exact products whose exponents are kept apart.
#include "wide_listing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "concentrate.hpp"
#include "shared/exact_sums.hpp"

namespace quadsweep {
namespace {

constexpr double most_listed = 5e6;  // subsets; or tens of triangles, for determinants

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

// m 2^e.
struct Wide {
    double m = 0;
    int e = 0;
};

Wide normalised(double m, int e) {
    int by = 0;
    m = std::frexp(m, &by);
    return {m, m != 0 ? e + by : 0};
}

// The sum of a few terms, off by a few units of 2^-53 of itself whatever cancels: the largest are
// added exactly, and what they leave takes part again if it is no longer far above the others.
Wide sum(std::vector<Wide> terms) {
    constexpr int together = 700, far = 600;  // powers of two: squares of neither leave the range
    for (;;) {
        std::erase_if(terms, [](const Wide& t) { return t.m == 0; });
        if (terms.empty()) return {};
        const auto lower = [](const Wide& p, const Wide& q) { return p.e < q.e; };
        const int top = std::max_element(terms.begin(), terms.end(), lower)->e;
        ExactSum<16> large;
        std::vector<Wide> rest;
        for (const Wide& t : terms) {
            t.e >= top - together ? large.add(std::ldexp(t.m, t.e - top)) : rest.push_back(t);
        }
        const Wide total = normalised(large.value(), top);
        if (rest.empty() || (total.m != 0 && total.e > top - far)) return total;
        rest.push_back(total);
        terms = std::move(rest);
    }
}

// Twice the area of the triangle of three rows as given.
Wide triangle(const Points& p, int i, int j, int l) {
    std::vector<Wide> terms;
    const auto add = [&](int a, int b, double sign) {
        const Wide x = normalised(p.given_x[a], 0), y = normalised(p.given_y[b], 0);
        const DoubleDouble product = two_product(sign * x.m, y.m);
        for (const double part : {product.hi, product.lo}) {
            terms.push_back(normalised(part, x.e + y.e));
        }
    };
    add(i, j, 1), add(j, l, 1), add(l, i, 1);
    add(j, i, -1), add(l, j, -1), add(i, l, -1);
    return sum(std::move(terms));
}

// Minus the determinant of a subset's covariance.
class Determinants {
  public:
    explicit Determinants(const Points& points) : points_(points) {}

    WideScore operator()(const std::vector<int>& subset) {
        const int k = static_cast<int>(subset.size());
        std::vector<Wide> squares;
        int top = 0;
        for (int a = 0; a < k; ++a) {
            for (int b = a + 1; b < k; ++b) {
                for (int c = b + 1; c < k; ++c) {
                    const Wide t = area(subset[a], subset[b], subset[c]);
                    if (t.m == 0) continue;
                    top = squares.empty() ? 2 * t.e : std::max(top, 2 * t.e);
                    squares.push_back({t.m * t.m, 2 * t.e});
                }
            }
        }
        DoubleDouble total;
        for (const Wide& s : squares) total = total + DoubleDouble{std::ldexp(s.m, s.e - top), 0};
        return {-total / (1.0 * k * k * k), top};
    }

  private:
    Wide area(int i, int j, int l) {
        const auto [at, fresh] = known_.try_emplace({i, j, l});
        if (fresh) at->second = triangle(points_, i, j, l);
        return at->second;
    }

    const Points& points_;
    std::map<std::array<int, 3>, Wide> known_;
};

struct Best {
    WideScore score;
    std::vector<int> subset;
};

// Adds to `best` all subsets of size k; false if stopped.
bool list(const Problem& problem, int k, Control& control, Best& best, std::uint64_t& nodes) {
    const Points& p = problem.points;
    std::vector<int> subset(k);
    std::iota(subset.begin(), subset.end(), 0);
    Determinants determinant(p);
    const auto scored = [&] {
        if (problem.objective == Objective::mcd) return determinant(subset);
        return wide_score(exact_sums(p.given_x, p.given_y, subset, true), k, problem.objective);
    };
    do {
        const WideScore score = scored();
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
    for (int k = problem.k; k <= largest; ++k) {
        const double triangles = problem.objective == Objective::mcd ? subsets_of(k, 3) / 10 : 1;
        all += subsets_of(problem.size(), k) * std::fmax(triangles, 1);
    }
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
