// What the search decides about: rows (identical ones once, with the number of copies), or groups
// of rows, each with its sums of products.
#pragma once

#include <vector>

#include "gram.hpp"
#include "table.hpp"

namespace quadsweep::several {

struct Items {
    int columns = 0;
    std::vector<std::vector<double>> column;   // of rows: [column][item]
    std::vector<std::vector<double>> product;  // of groups: [entry of a Gram][item]
    std::vector<int> copies;
    std::vector<std::vector<int>> units;  // each item stands for these
    double roundings = 0;                 // additions in a group's sums

    int size() const { return static_cast<int>(copies.size()); }
    bool grouped() const { return !product.empty(); }
    Gram gram(int item) const;  // of one copy
    void add(Gram& to, int item, double times) const;
};

// Which rows are identical is decided once, on the data as given.
std::vector<std::vector<int>> identical_units(const Table& table);
Items make_items(const Table& table, const Placed& placed,
                 const std::vector<std::vector<int>>& identical);

}  // namespace quadsweep::several
