// Writes down why no subset beats a threshold, for a checker that trusts nothing of this.
//
// The search once more, depth first and point by point, with the threshold known from the start:
// the same criteria, bounds, decisions and branchings as in worker.cpp, each noted as it is
// made. The note is a tree in the order in which it is walked; a node carries the multipliers and
// thresholds lambda that a bound or a decision used. docs/proof-format.md says how it is written.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/control.hpp"
#include "shared/points.hpp"

namespace quadsweep {

struct ProofOptions {
    bool k_or_more = false;  // k or more points, instead of exactly k
    double aim = 0;          // the score that bounds refute ...
    double claim = 0;        // ... and the one, not below it, that listed subsets may reach
    std::vector<int> good;   // a good subset, to place the points about
    std::int64_t enumeration_limit = 100;  // subsets of a box that are listed rather than split
    std::size_t most_nodes = 0;            // beyond it the writing is given up; 0: no limit
    bool rounding = true;  // false: bounds as if arithmetic were exact, for the tests
};

struct ProofTree {
    // Of a node: the mean that is free at the ends of p1 and in their middle, tau; then a lambda a
    // corner.
    static constexpr int hints = 8;

    struct Root {
        int frame;
        double lo1, hi1, lo2, hi2;
        std::size_t first;  // node
    };
    enum Kind : std::int8_t { bound, list, split, copies };
    struct Node {
        Kind kind;
        bool hinted;
        int first = 0, second = 0;  // split: the parameter; copies: a row, and how many of it
    };

    double shift[2] = {};  // taken off the columns
    int scale[2] = {};     // powers of two that they are multiplied by
    double tilt = 0;       // a line taken off y
    double constant = 1;   // Criterion::constant
    int corners = 0;
    std::vector<Root> roots;
    std::vector<Node> nodes;
    std::vector<double> numbers;  // `hints` of each hinted node, one after the other
    std::vector<int> better;      // a subset above the claim: then there is no proof
    Status status = Status::optimal;
};

ProofTree prove(const Problem& problem, const ProofOptions& options, Control& control);

}  // namespace quadsweep
