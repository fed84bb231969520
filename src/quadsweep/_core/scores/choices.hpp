// The sets of items that may be removed. A choice takes at most one set of each block and at most m
// items; the class bounds the largest sum of values of a choice.
//
// The free items of a unit are one block, if their sets are few. Else each item is a block; then
// the effect of a set depends on the unit's other sets and is known up to a slack.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "question.hpp"

namespace quadsweep::scores {

inline constexpr double none =
    -std::numeric_limits<double>::infinity();  // the sum if there is no choice

struct Increment {
    double value;
    int owner;  // a block, or a cluster
};

class Choices {
  public:
    // Lists the sets of free items; `free` ascends. Lists none if there are more than `most`.
    Choices(const Question& question, const std::vector<int>& free, int m, double most);

    bool listed() const { return listed_; }
    std::size_t size() const { return count.size(); }
    int blocks() const { return static_cast<int>(unit.size()); }
    // Whether some cluster has several blocks; their scores are added, then squared.
    bool is_coarse() const { return blocks() > static_cast<int>(cluster.size()); }
    bool is_alone(int g) const { return cluster_first[g + 1] - cluster_first[g] == 1; }

    // An upper bound on the sum of these values over a choice of sets.
    double largest(const double* value) const;
    // The same for value + curvature ((G + L)^2 - G^2), with L the sum of `own` in a cluster. If no
    // cluster has several blocks, the values include the second term already.
    double largest(const double* value, double curvature) const;
    // The largest sum of values over the sets of listed cluster g.
    double largest_in_cluster(int g, const double* value) const;
    // The free items that may be in a choice with a sum of at least `need`.
    std::vector<int> possible(const double* value, double curvature, double need) const;
    // The value of one set alone, with its curvature term.
    double alone(std::size_t s, const double* value, double curvature) const;

    int m;
    std::vector<int> unit;                    // of each block
    std::vector<char> split;                  // whether its unit has other blocks
    std::vector<int> member, member_first;    // the free items of each block
    std::vector<std::size_t> first;           // the sets of each block
    std::vector<int> block_of, count;         // of each set: its block and its number of items
    std::vector<std::uint64_t> mask;          // of each set: its members as bits
    std::vector<int> item;                    // of each set: its first item
    std::vector<int> cluster, cluster_first;  // clusters with free items; the blocks of each
    std::vector<int> cluster_of;              // of each block: its place in `cluster`
    // Stores how much each set adds to its cluster's score, its slack, and G of all clusters.
    void add_scores(std::vector<double> own_of_sets, std::vector<double> slack_of_sets,
                    const std::vector<double>& score_of_clusters);

  private:
    struct Piece {
        double slope, constant;
    };
    struct Part {
        int unit, from, to;  // a range of free items
    };

    double most_sets_of(const std::vector<Part>& parts, double of_unit, double most) const;
    void list(std::size_t next, std::uint64_t so_far, int n);
    void add_block(int a, const double* value, std::vector<Increment>& out, int owner) const;
    void add_cluster(int g, const double* value, double curvature,
                     std::vector<Increment>& out) const;
    std::vector<Piece> pieces(int g, double curvature) const;
    std::vector<double> prefix_of(int g, const Piece& piece, const double* value) const;
    void mark_of_cluster(int g, const double* value, double curvature, double need,
                         const std::vector<double>& others,
                         std::vector<std::uint64_t>& alive) const;
    // For k = 0 ... m, the sum of the k largest increments of all owners except one.
    void sum_others(const std::vector<Increment>& sorted, const std::vector<double>& all, int owner,
                    bool owns, std::vector<double>& sums) const;

    std::vector<double> score_, own_, slack_;  // G of each cluster listed; what each set adds
    std::vector<double> low_, high_;           // of G and what is added
    double width_ = 0;                         // half that of an interval of these
    bool listed_ = true;
};

}  // namespace quadsweep::scores
