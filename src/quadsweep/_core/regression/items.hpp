// What the search decides about: rows (identical ones once, with the number of copies), or groups
// of rows, each with its sums of products.
#pragma once

#include <span>
#include <vector>

#include "gram.hpp"
#include "table.hpp"

namespace quadsweep::regression {

// Units that are alike, one class after the other.
struct Identical {
    std::vector<int> unit, first{0};  // class i: unit[first[i]] ... unit[first[i + 1] - 1]

    int size() const { return static_cast<int>(first.size()) - 1; }
    std::span<const int> operator[](int i) const {
        return {unit.data() + first[i], static_cast<std::size_t>(first[i + 1] - first[i])};
    }
    void add(std::span<const int> units) {
        unit.insert(unit.end(), units.begin(), units.end());
        first.push_back(static_cast<int>(unit.size()));
    }
};

struct Items {
    int columns = 0;
    std::vector<std::vector<double>> column;   // of rows: [column][item]
    std::vector<std::vector<double>> product;  // of groups: [entry of a Gram][item]
    std::vector<int> copies;
    Identical identical;   // the units each item stands for
    double roundings = 0;  // additions in a group's sums

    int size() const { return static_cast<int>(copies.size()); }
    bool grouped() const { return !product.empty(); }
    std::span<const int> units(int item) const { return identical[item]; }
    Gram gram(int item) const;  // of one copy
    void add(Gram& to, int item, double times) const;
};

// Which rows are identical is decided once, on the data as given.
Identical identical_units(const Table& table);
Items make_items(const Table& table, const Placed& placed, const Identical& identical);

}  // namespace quadsweep::regression
