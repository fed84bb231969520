// The data as given, and what is computed from them in 32 digits: the score of a subset, whether
// columns depend on each other on some rows, and the columns that the search works with.
//
// Z are the columns that are fitted (predictors or controls, the intercept among them as a column
// of ones, first), y the response, x the term whose coefficient is asked for (audits only).
//
// One rule for dependence: a column is dependent on the columns before it when it is a combination
// of them, exactly (span.hpp). Dependent columns add nothing to a fit.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "loops.hpp"
#include "shared/double_double.hpp"
#include "shared/objectives.hpp"

namespace quadsweep::regression {

constexpr int most_searched = 12;  // columns with a searched coefficient
constexpr int most_active = 2;     // of them, those that the other square sees too
constexpr int most_columns = most_searched + most_active;
static_assert(most_dims == most_searched - 1);
constexpr int most_corners = 1 << most_dims;

enum class Kind {
    r2,     // R2 of y on Z above t
    lts,    // residual sum of squares of y on Z below t
    sign,   // partial correlation of x and y above 0
    above,  // above t > 0
    below,  // above t < 0
};
constexpr bool is_fit(Kind kind) { return kind == Kind::r2 || kind == Kind::lts; }

// Values to 32 digits: a product of two doubles, a weight's root and a value, is exact.
struct Column {
    std::vector<double> hi, lo;  // lo is empty where all of it is zero

    std::size_t size() const { return hi.size(); }
    bool empty() const { return hi.empty(); }
    DoubleDouble at(std::size_t i) const { return {hi[i], lo.empty() ? 0 : lo[i]}; }
};

struct Table {
    Kind kind = Kind::r2;
    int rows = 0;
    std::vector<Column> design;             // Z, scaled by powers of two
    Column x, y;                            // likewise
    int y_exponent = 0;                     // y as given = y * 2^y_exponent
    bool exact = true;                      // no digit of theirs was lost in scaling
    bool centred = true;                    // R2 is about the first column's fit, not about zero
    int units = 0;                          // what is counted: rows, or groups of rows
    std::vector<std::vector<int>> members;  // rows of each group; empty: a unit is a row

    bool grouped() const { return !members.empty(); }
    std::vector<int> rows_of(std::span<const int> chosen) const;
};

// Larger is better: R2, minus the residual sum of squares, the partial correlation; and whether 32
// digits are enough to know it: columns may be so nearly dependent on these rows that they are not.
struct Scored {
    double score = 0;
    bool known = true;          // to the digits that are asked for
    double off = 0;             // by how much rounding may have moved it, at most
    bool fits_exactly = false;  // lts: what is left is the rounding of the numbers given
};
Scored score_of(const Table& table, std::span<const int> units);

// Whether, on these rows, some column of Z depends on the others, or the question has no value on
// any subset of them.
struct Dependence {
    int dependent = 0;  // columns of Z
    bool no_value = false;
};
Dependence dependence(const Table& table, std::span<const int> rows);

// The columns of the search: Z orthonormal on the rows of `reference` (in mean square), what is
// left of y (and x) on it with unit mean square there, combined as the kind of question needs. A
// column that depends on the others on all rows is left out. `floor` is how large an entry must be
// for its relative error to be an ulp.
struct Placed {
    int searched = 0, active = 0, fitted = 0;  // fitted = searched - active: columns of Z
    std::vector<std::vector<double>> column;   // searched, then one for each active
    std::vector<double> floor;
    // Each active one as a combination of the searched columns; empty where it is none.
    std::vector<std::vector<double>> combination;
    double y_scale = 1;     // a residual of y is this times one of the search's
    bool no_value = false;  // the question has no value on any subset
};
// Left half done where time is over.
Placed place(const Table& table, std::span<const int> reference, const std::function<bool()>& over);

}  // namespace quadsweep::regression
