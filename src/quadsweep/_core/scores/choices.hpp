// The sets of items that may go: at most m items in all, of each block one set; and the largest sum
// of their values that any choice has.
//
// A block is what is free of a unit, if its sets are few. Else each of its items is one by itself:
// then what a set takes depends on the others of the unit, and is known up to a slack.
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
    int owner;  // a block, or a cluster
};

class Choices {
  public:
    // Lists the sets of free items, which are in ascending order; none if there are more than
    // `most`.
    Choices(const Question& question, const std::vector<int>& free, int m, double most);

    bool listed() const { return listed_; }
    std::size_t size() const { return count.size(); }
    int blocks() const { return static_cast<int>(unit.size()); }
    // Whether some cluster has several blocks, whose scores add up before they are squared.
    bool is_coarse() const { return blocks() > static_cast<int>(cluster.size()); }
    bool is_alone(int g) const { return cluster_first[g + 1] - cluster_first[g] == 1; }

    // No less than the largest sum of these values of sets.
    double largest(const double* value) const;
    // The same of value + curvature ((G + L)^2 - G^2), L the sum of `own` in a cluster; where no
    // cluster has several blocks that is part of the values.
    double largest(const double* value, double curvature) const;
    // The largest sum of values over the sets of one of the clusters listed.
    double largest_in_cluster(int g, const double* value) const;
    // The free items that are in a choice with a sum of at least `need`.
    std::vector<int> possible(const double* value, double curvature, double need) const;
    // The value of a set by itself.
    double alone(std::size_t s, const double* value, double curvature) const;

    int m;
    std::vector<int> unit;                    // of each block
    std::vector<char> split;                  // whether its unit has other blocks
    std::vector<int> member, member_first;    // the free items of each
    std::vector<std::size_t> first;           // the sets of each
    std::vector<int> block_of, count;         // of each set: whose, and how many items
    std::vector<std::uint64_t> mask;          // which members
    std::vector<int> item;                    // the first of them
    std::vector<int> cluster, cluster_first;  // with free items: the blocks of each
    std::vector<int> cluster_of;              // of each block, among these
    // What each set adds to its cluster's score, up to how much, and G of all clusters.
    void add_scores(std::vector<double> own_of_sets, std::vector<double> slack_of_sets,
                    const std::vector<double>& score_of_clusters);

  private:
    struct Piece {
        double slope, constant;
    };
    struct Part {
        int unit, from, to;  // among the free items
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
    // The sums of the k largest increments of all owners but one, k = 0 ... m.
    void sum_others(const std::vector<Increment>& sorted, const std::vector<double>& all, int owner,
                    bool owns, std::vector<double>& sums) const;

    std::vector<double> score_, own_, slack_;  // G of each cluster listed; what each set adds
    std::vector<double> low_, high_;           // of G and what is added
    double width_ = 0;                         // half that of an interval of these
    bool listed_ = true;
};

}  // namespace quadsweep::scores
