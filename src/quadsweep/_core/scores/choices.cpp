#include "choices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "shared/largest.hpp"

namespace quadsweep::scores {
namespace {

constexpr int most_intervals = 12;  // of the sum of a cluster's scores, for its square
constexpr double coarseness = 0.1;  // of the squares over m^2: what a chord may be above one
constexpr int most_members = 64;    // bits of a mask

// The steps of the concave envelope of f(0) = 0, f(1), ..., as long as they rise.
void add_steps(const std::vector<double>& f, int owner, std::vector<Increment>& out) {
    static thread_local std::vector<int> corner;
    corner.assign(1, 0);
    const auto slope = [&](int from, int to) { return (f[to] - f[from]) / (to - from); };
    for (int j = 1; j < static_cast<int>(f.size()); ++j) {
        if (!(f[j] > none)) continue;
        while (corner.size() > 1 &&
               slope(corner.back(), j) >= slope(corner[corner.size() - 2], corner.back())) {
            corner.pop_back();
        }
        corner.push_back(j);
    }
    for (std::size_t k = 1; k < corner.size(); ++k) {
        const double step = slope(corner[k - 1], corner[k]);
        if (step <= 0) return;
        for (int i = corner[k - 1]; i < corner[k]; ++i) out.push_back({step, owner});
    }
}

// How many sets of up to m of n items there are.
double sets_of(int n, int m) {
    double sum = 0, ways = 1;
    for (int r = 1; r <= std::min(n, m) && sum < 1e18; ++r) {
        ways *= static_cast<double>(n - r + 1) / r;
        sum += ways;
    }
    return sum;
}

bool fit_one_block(int n, int m, double few) { return n <= most_members && sets_of(n, m) <= few; }

double sum_largest(std::vector<Increment>& steps, int m) {
    const auto falls = [](const Increment& a, const Increment& b) { return a.value > b.value; };
    if (static_cast<int>(steps.size()) > m) {
        std::nth_element(steps.begin(), steps.begin() + m, steps.end(), falls);
        steps.resize(m);
    }
    double sum = 0;
    for (const Increment& step : steps) sum += step.value;
    return sum;
}

}  // namespace

Choices::Choices(const Question& question, const std::vector<int>& free, int most_items,
                 double most)
    : m(most_items) {
    std::vector<Part> parts;
    for (int i = 0, u = 0, n = static_cast<int>(free.size()); i < n;) {
        while (question.unit_first[u + 1] <= free[i]) ++u;
        const int from = i;
        while (i < n && free[i] < question.unit_first[u + 1]) ++i;
        parts.push_back({u, from, i});
    }
    const double few = most_sets_of(parts, question.most_sets, most);
    listed_ = few > 0;
    int g = 0;
    for (const Part& part : parts) {
        if (!listed_) break;
        while (question.cluster_first[g + 1] <= part.unit) ++g;
        if (cluster.empty() || cluster.back() != g) {
            cluster.push_back(g);
            cluster_first.push_back(blocks());
        }
        const bool whole = fit_one_block(part.to - part.from, m, few);
        for (int i = part.from; i < part.to;) {
            const int to = whole ? part.to : i + 1;
            unit.push_back(part.unit);
            split.push_back(!whole);
            cluster_of.push_back(static_cast<int>(cluster.size()) - 1);
            member_first.push_back(static_cast<int>(member.size()));
            first.push_back(size());
            member.insert(member.end(), free.begin() + i, free.begin() + to);
            list(0, 0, 0);
            i = to;
        }
    }
    member_first.push_back(static_cast<int>(member.size()));
    first.push_back(size());
    cluster_first.push_back(blocks());
}

// The sets that a block may have, so that there are no more than `most` in all; or zero.
double Choices::most_sets_of(const std::vector<Part>& parts, double of_unit, double most) const {
    for (double few = of_unit; few >= 1; few /= 8) {
        double sum = 0;
        for (const Part& part : parts) {
            const int n = part.to - part.from;
            sum += fit_one_block(n, m, few) ? sets_of(n, m) : n;
        }
        if (sum <= most) return few;
    }
    return 0;
}

// All sets of members of the last block, after those that begin with these.
void Choices::list(std::size_t next, std::uint64_t so_far, int n) {
    if (n == m) return;
    const std::size_t from = member_first.back();
    for (std::size_t j = next; from + j < member.size(); ++j) {
        const std::uint64_t with = so_far | std::uint64_t{1} << j;
        block_of.push_back(blocks() - 1);
        count.push_back(n + 1);
        mask.push_back(with);
        item.push_back(member[from + static_cast<std::size_t>(std::countr_zero(with))]);
        list(j + 1, with, n + 1);
    }
}

void Choices::add_block(int a, const double* value, std::vector<Increment>& out, int owner) const {
    const std::size_t from = first[a], to = first[a + 1];
    if (to - from == 1) {
        if (value[from] > 0) out.push_back({value[from], owner});
        return;
    }
    static thread_local std::vector<double> f;
    f.assign(1, 0.0);
    for (std::size_t s = from; s < to; ++s) {
        if (count[s] >= static_cast<int>(f.size())) f.resize(count[s] + 1, none);
        f[count[s]] = std::max(f[count[s]], value[s]);
    }
    add_steps(f, owner, out);
}

double Choices::largest(const double* value) const {
    static thread_local std::vector<Increment> steps;
    steps.clear();
    for (int a = 0; a < blocks(); ++a) add_block(a, value, steps, a);
    return sum_largest(steps, m);
}

double Choices::largest(const double* value, double curvature) const {
    if (!is_coarse() || !(curvature > 0)) return largest(value);
    static thread_local std::vector<Increment> steps;
    steps.clear();
    for (int g = 0; g < static_cast<int>(cluster.size()); ++g) {
        add_cluster(g, value, curvature, steps);
    }
    return sum_largest(steps, m);
}

double Choices::alone(std::size_t s, const double* value, double curvature) const {
    if (!is_coarse() || !(curvature > 0)) return value[s];
    const double to = 2 * (score_[cluster_of[block_of[s]]] + own_[s]);
    return value[s] +
           curvature * (own_[s] * (to - own_[s]) + slack_[s] * (std::abs(to) + slack_[s]));
}

void Choices::add_scores(std::vector<double> own_of_sets, std::vector<double> slack_of_sets,
                         const std::vector<double>& score_of_clusters) {
    own_ = std::move(own_of_sets);
    slack_ = std::move(slack_of_sets);
    double squares = 0;
    for (double g : score_of_clusters) squares += g * g;
    width_ = std::sqrt(coarseness * squares) / m;
    std::vector<double> most(size()), least(size());
    for (std::size_t s = 0; s < size(); ++s) {
        most[s] = slack_[s] + own_[s];
        least[s] = slack_[s] - own_[s];
    }
    for (int g = 0; g < static_cast<int>(cluster.size()); ++g) {
        score_.push_back(score_of_clusters[cluster[g]]);
        high_.push_back(score_[g] + largest_in_cluster(g, most.data()));
        low_.push_back(score_[g] - largest_in_cluster(g, least.data()));
    }
}

double Choices::largest_in_cluster(int g, const double* value) const {
    static thread_local std::vector<Increment> steps;
    steps.clear();
    for (int a = cluster_first[g]; a < cluster_first[g + 1]; ++a) add_block(a, value, steps, a);
    return sum_largest(steps, m);
}

// (G + L)^2 lies under its chord over each interval of G + L.
std::vector<Choices::Piece> Choices::pieces(int g, double curvature) const {
    std::vector<Piece> out;
    const double pieces = std::ceil(0.5 * (high_[g] - low_[g]) / width_);
    const int intervals =
        pieces >= 1 ? static_cast<int>(std::min<double>(pieces, most_intervals)) : 1;
    for (int t = 0; t < intervals; ++t) {
        const double from = low_[g] + (high_[g] - low_[g]) * t / intervals;
        const double to = low_[g] + (high_[g] - low_[g]) * (t + 1) / intervals;
        out.push_back({curvature * (from + to),
                       curvature * ((from + to) * score_[g] - from * to - score_[g] * score_[g])});
    }
    return out;
}

// The sums of the r largest steps of a cluster's units, r = 0 ... m, by one piece.
std::vector<double> Choices::prefix_of(int g, const Piece& piece, const double* value) const {
    static thread_local std::vector<double> combined;
    static thread_local std::vector<Increment> steps;
    combined.resize(size());
    steps.clear();
    int items = 0;
    for (int a = cluster_first[g]; a < cluster_first[g + 1]; ++a) {
        int most = 0;
        for (std::size_t s = first[a]; s < first[a + 1]; ++s) {
            combined[s] = value[s] + piece.slope * own_[s] + std::abs(piece.slope) * slack_[s];
            most = std::max(most, count[s]);
        }
        add_block(a, combined.data(), steps, a);
        items += most;
    }
    const int top = std::min({m, items, static_cast<int>(steps.size())});
    std::partial_sort(steps.begin(), steps.begin() + top, steps.end(),
                      [](const Increment& a, const Increment& b) { return a.value > b.value; });
    std::vector<double> sums(std::min(m, items) + 1, 0.0);
    for (std::size_t r = 1; r < sums.size(); ++r) {
        sums[r] = sums[r - 1] + (static_cast<int>(r) <= top ? steps[r - 1].value : 0.0);
    }
    return sums;
}

void Choices::add_cluster(int g, const double* value, double curvature,
                          std::vector<Increment>& out) const {
    static thread_local std::vector<double> exact;
    exact.resize(size());
    for (std::size_t s = first[cluster_first[g]]; s < first[cluster_first[g + 1]]; ++s) {
        exact[s] = alone(s, value, curvature);
    }
    if (is_alone(g)) {
        add_block(cluster_first[g], exact.data(), out, g);
        return;
    }
    std::vector<double> f;
    for (const Piece& piece : pieces(g, curvature)) {
        const std::vector<double> sums = prefix_of(g, piece, value);
        if (f.empty()) f.assign(sums.size(), none);
        for (std::size_t r = 0; r < sums.size(); ++r) {
            f[r] = std::max(f[r], sums[r] + piece.constant);
        }
    }
    f[0] = 0;
    if (f.size() > 1) {  // exactly, of one item
        f[1] = none;
        for (std::size_t s = first[cluster_first[g]]; s < first[cluster_first[g + 1]]; ++s) {
            if (count[s] != 1) continue;
            f[1] = std::max(f[1], exact[s]);
        }
    }
    add_steps(f, g, out);
}

void Choices::sum_others(const std::vector<Increment>& sorted, const std::vector<double>& all,
                         int owner, bool owns, std::vector<double>& sums) const {
    if (!owns) {
        sums = all;
        return;
    }
    sums.assign(m + 1, 0.0);
    std::size_t next = 0;
    for (int k = 1; k <= m; ++k) {
        while (next < sorted.size() && sorted[next].owner == owner) ++next;
        sums[k] = sums[k - 1] + (next < sorted.size() ? sorted[next++].value : 0.0);
    }
}

std::vector<int> Choices::possible(const double* value, double curvature, double need) const {
    const bool by_cluster = is_coarse() && curvature > 0;
    const int owners = by_cluster ? static_cast<int>(cluster.size()) : blocks();
    std::vector<Increment> steps;
    for (int a = 0; a < owners; ++a) {
        if (by_cluster) {
            add_cluster(a, value, curvature, steps);
        } else {
            add_block(a, value, steps, a);
        }
    }
    std::sort(steps.begin(), steps.end(),
              [](const Increment& a, const Increment& b) { return a.value > b.value; });
    std::vector<double> all(m + 1, 0.0), others;
    std::vector<char> owns(owners, 0);
    for (int k = 1; k <= m; ++k) {
        const bool there = k <= static_cast<int>(steps.size());
        all[k] = all[k - 1] + (there ? steps[k - 1].value : 0.0);
        if (there) owns[steps[k - 1].owner] = 1;
    }
    std::vector<std::uint64_t> alive(blocks(), 0);
    for (int a = 0; a < owners; ++a) {
        sum_others(steps, all, a, owns[a] != 0, others);
        if (by_cluster) {
            mark_of_cluster(a, value, curvature, need, others, alive);
            continue;
        }
        for (std::size_t s = first[a]; s < first[a + 1]; ++s) {
            if (value[s] + others[m - count[s]] >= need) alive[a] |= mask[s];
        }
    }
    std::vector<int> out;
    for (int a = 0; a < blocks(); ++a) {
        for (std::uint64_t left = alive[a]; left; left &= left - 1) {
            out.push_back(member[member_first[a] + std::countr_zero(left)]);
        }
    }
    return out;
}

void Choices::mark_of_cluster(int g, const double* value, double curvature, double need,
                              const std::vector<double>& others,
                              std::vector<std::uint64_t>& alive) const {
    if (is_alone(g)) {
        const int a = cluster_first[g];
        for (std::size_t s = first[a]; s < first[a + 1]; ++s) {
            if (alone(s, value, curvature) + others[m - count[s]] >= need) alive[a] |= mask[s];
        }
        return;
    }
    for (const Piece& piece : pieces(g, curvature)) {
        // The set with the r largest steps of the cluster, its own unit's among them, and others.
        const std::vector<double> sums = prefix_of(g, piece, value);
        std::vector<double> best(m + 1, none);
        for (int n = 1; n <= m; ++n) {
            for (int r = 0; r + n <= m && r < static_cast<int>(sums.size()); ++r) {
                best[n] = std::max(best[n], sums[r] + others[m - n - r]);
            }
        }
        for (int a = cluster_first[g]; a < cluster_first[g + 1]; ++a) {
            for (std::size_t s = first[a]; s < first[a + 1]; ++s) {
                const double with = value[s] + piece.slope * own_[s] +
                                    std::abs(piece.slope) * slack_[s] + piece.constant;
                if (with + best[count[s]] >= need) alive[a] |= mask[s];
            }
        }
    }
}

}  // namespace quadsweep::scores
