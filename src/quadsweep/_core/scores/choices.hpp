// The sets of items that may go: one of each unit's, at most m items in all; and the largest sum of
// their values that any choice has.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "question.hpp"

namespace quadsweep::scores {

inline constexpr double none =
    -std::numeric_limits<double>::infinity();  // the sum where there is no choice

struct Increment {
    double value;
    int owner;  // a unit, or a cluster
};

class Choices {
  public:
    // Lists the sets of free items, which are in ascending order; none if there are more than
    // `most`.
    Choices(const Question& question, const std::vector<int>& free, int m, double most);

    bool listed() const { return listed_; }
    std::size_t size() const { return count.size(); }
    int units() const { return static_cast<int>(unit.size()); }

    // No less than the largest sum of these values of sets.
    double largest(const double* value) const;
    // The same of value + curvature ((G + L)^2 - G^2), L the sum of `own` in a cluster.
    double largest(const double* value, double curvature) const;
    // The largest sum of values over the sets of one of the clusters listed.
    double largest_in_cluster(int g, const double* value) const;
    // The free items that are in a choice with a sum of at least `need`.
    std::vector<int> possible(const double* value, double curvature, double need) const;
    // The value of a set by itself.
    double alone(std::size_t s, const double* value, double curvature) const;

    int m;
    std::vector<int> unit;                    // those with free items
    std::vector<std::size_t> first;           // the sets of each
    std::vector<int> unit_of, count;          // of each set: whose, and how many items
    std::vector<std::uint64_t> mask;          // which, counted from the unit's first
    std::vector<int> item;                    // the first of them
    std::vector<int> cluster, cluster_first;  // where clusters have several units: units of each
    // Where clusters have several units: what each set adds to its cluster's score, and G.
    void add_scores(std::vector<double> own_of_sets, const std::vector<double>& score_of_clusters);

    std::vector<double> score, own;  // G of each cluster listed; what each set adds

  private:
    struct Piece {
        double slope, constant;
    };

    void list(int u, const std::vector<int>& items, std::size_t next, std::uint64_t so_far, int n);
    void add_unit(int a, const double* value, std::vector<Increment>& out, int owner) const;
    void add_cluster(int g, const double* value, double curvature,
                     std::vector<Increment>& out) const;
    std::vector<Piece> pieces(int g, double curvature) const;
    std::vector<double> prefix_of(int g, const Piece& piece, const double* value) const;
    void mark_of_cluster(int g, const double* value, double curvature, double need,
                         const std::vector<double>& others,
                         std::vector<std::uint64_t>& alive) const;
    // The sums of the k largest increments of all owners but one, k = 0 ... m.
    void sum_others(const std::vector<Increment>& sorted, const std::vector<double>& all, int owner,
                    bool owns, std::vector<double>& sums) const;

    const Question& question_;
    std::vector<double> low_, high_;  // of G and what is added
    double most_;
    bool listed_ = true;
};

}  // namespace quadsweep::scores
