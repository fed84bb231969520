#include "items.hpp"

#include <algorithm>
#include <numeric>

namespace quadsweep::several {

Gram Items::gram(int item) const {
    Gram g;
    add(g, item, 1);
    return g;
}

void Items::add(Gram& to, int item, double times) const {
    if (grouped()) {
        for (std::size_t e = 0; e < product.size(); ++e) to.s[e] += times * product[e][item];
        return;
    }
    double c[most_columns];
    for (int j = 0; j < columns; ++j) c[j] = column[j][item];
    to.add(c, columns, times);
}

std::vector<std::vector<int>> identical_units(const Table& table) {
    std::vector<std::vector<int>> out;
    if (table.grouped()) {
        for (int g = 0; g < table.units; ++g) out.push_back({g});
        return out;
    }
    std::vector<const std::vector<double>*> columns;
    const auto add = [&](const Column& c) {
        if (!c.empty()) columns.push_back(&c.hi);
        if (!c.lo.empty()) columns.push_back(&c.lo);
    };
    for (const auto& c : table.design) add(c);
    add(table.y);
    add(table.x);
    std::vector<int> order(table.rows);
    std::iota(order.begin(), order.end(), 0);
    const auto compare = [&](int a, int b) {
        for (const auto* c : columns) {
            if ((*c)[a] != (*c)[b]) return (*c)[a] < (*c)[b] ? -1 : 1;
        }
        return 0;
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        const int c = compare(a, b);
        return c != 0 ? c < 0 : a < b;
    });
    for (int i : order) {
        if (out.empty() || compare(out.back()[0], i) != 0) out.emplace_back();
        out.back().push_back(i);
    }
    // In the order of the data, so that neighbours stay neighbours.
    std::sort(out.begin(), out.end());
    return out;
}

Items make_items(const Table& table, const Placed& placed,
                 const std::vector<std::vector<int>>& identical) {
    Items items;
    items.columns = static_cast<int>(placed.column.size());
    items.units = identical;
    const std::size_t count = identical.size();
    for (const auto& same : identical) items.copies.push_back(static_cast<int>(same.size()));
    if (!table.grouped()) {
        for (const auto& c : placed.column) {
            std::vector<double> of(count);
            for (std::size_t i = 0; i < count; ++i) of[i] = c[identical[i][0]];
            items.column.push_back(std::move(of));
        }
        return items;
    }
    items.product.assign(Gram::entries(items.columns), std::vector<double>(count));
    for (std::size_t g = 0; g < count; ++g) {
        Gram sum;
        double c[most_columns];
        for (int row : table.members[g]) {
            for (int j = 0; j < items.columns; ++j) c[j] = placed.column[j][row];
            sum.add(c, items.columns, 1);
        }
        for (std::size_t e = 0; e < items.product.size(); ++e) items.product[e][g] = sum.s[e];
        items.roundings = std::max(items.roundings, static_cast<double>(table.members[g].size()));
    }
    return items;
}

}  // namespace quadsweep::several
