#include "items.hpp"

#include <algorithm>
#include <numeric>

namespace quadsweep::regression {

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

namespace {

// Rows next to each other that are alike, by the columns as given; each class in the order of the
// data.
std::vector<int> sorted_rows(const std::vector<const std::vector<double>*>& columns, int rows) {
    // The first column that varies settles most comparisons without a look at the others.
    const auto varies = [](const std::vector<double>* c) {
        return std::any_of(c->begin(), c->end(), [&](double v) { return v != c->front(); });
    };
    const auto key = std::find_if(columns.begin(), columns.end(), varies);
    std::vector<std::pair<double, int>> order(rows);
    for (int i = 0; i < rows; ++i) order[i] = {key != columns.end() ? (**key)[i] : 0, i};
    std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        for (const auto* c : columns) {
            if ((*c)[a.second] != (*c)[b.second]) return (*c)[a.second] < (*c)[b.second];
        }
        return a.second < b.second;
    });
    std::vector<int> out(rows);
    for (int i = 0; i < rows; ++i) out[i] = order[i].second;
    return out;
}

}  // namespace

Identical identical_units(const Table& table) {
    Identical out;
    if (table.grouped()) {
        for (int g = 0; g < table.units; ++g) out.add(std::span(&g, 1));
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
    const std::vector<int> order = sorted_rows(columns, table.rows);
    const auto alike = [&](int a, int b) {
        return std::all_of(columns.begin(), columns.end(),
                           [&](const auto* c) { return (*c)[a] == (*c)[b]; });
    };
    std::vector<std::span<const int>> classes;
    for (std::size_t i = 0, from = 0; i < order.size(); ++i) {
        if (i + 1 < order.size() && alike(order[i], order[i + 1])) continue;
        classes.emplace_back(order.data() + from, i + 1 - from);
        from = i + 1;
    }
    // In the order of the data, so that neighbours stay neighbours.
    std::sort(classes.begin(), classes.end(),
              [](const auto& a, const auto& b) { return a[0] < b[0]; });
    for (const auto& c : classes) out.add(c);
    return out;
}

Items make_items(const Table& table, const Placed& placed, const Identical& identical) {
    Items items;
    items.columns = static_cast<int>(placed.column.size());
    items.identical = identical;
    const auto count = static_cast<std::size_t>(identical.size());
    for (std::size_t i = 0; i < count; ++i) {
        items.copies.push_back(static_cast<int>(identical[static_cast<int>(i)].size()));
    }
    if (!table.grouped()) {
        for (const auto& c : placed.column) {
            std::vector<double> of(count);
            for (std::size_t i = 0; i < count; ++i) of[i] = c[identical[static_cast<int>(i)][0]];
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

}  // namespace quadsweep::regression
