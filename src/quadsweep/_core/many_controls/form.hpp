// A sum of products of residuals on many controls, p.q - sum of extra, and its update when items
// (rows, or groups of rows) are removed.
//
// Z' = (E, Q): E the unit vectors of the classes of a partition, Q an orthonormal basis of the
// other controls given the classes; p and q are orthogonal to both. Let K = Z Z' over rows and let
// O be the rows removed: their removal subtracts p_O' (I - K_OO)^-1 q_O. Removing one row a
// subtracts p_a q_a / (kappa (1 - h)) with kappa = 1 - e_a^2 and h = |z_a|^2 / kappa. A rank-one
// update refits the other rows:
//
//     mates of its class   v_j += e_j e_a v_a / kappa for v = z, p, q;  e_j /= sqrt(kappa)
//     all others           z_j += beta (z^.z_j) z^,  p_j += (z^.z_j) p^ / (1 - h),  z^ = z_a /
//     sqrt(kappa)
//
// A state holds only candidates: the items that may still be removed. The last row of a class has
// leverage 1. Removing it loses only the dummy, so it is never a candidate.
#pragma once

#include <optional>
#include <vector>

namespace quadsweep::many_controls {

struct Form {
    int rows = 0, rank = 0, items = 0;
    std::vector<double> z;      // rank columns, one after the other
    std::vector<double> p, q;   // of each row
    std::vector<double> extra;  // of each row, not negative; the last row of a class keeps it
    std::vector<double> e;      // of each row, 0 where it has no class
    std::vector<int> class_of;  // of each row, -1 where it has none
    std::vector<int> item_of;   // of each row
    double rounding = 1e-14;    // error of z, p and q, for columns of length one
};

// The form without some items.
class State {
  public:
    explicit State(const Form& form);

    // The state without one candidate, restricted to those marked; none if rounding is too large.
    std::optional<State> without(int candidate, const std::vector<char>& marked) const;
    // The same with only the candidates that are marked.
    State only(const std::vector<char>& marked) const;

    int size() const { return static_cast<int>(item.size()); }
    int rows() const { return static_cast<int>(p.size()); }
    const double* column(int k) const { return z.data() + static_cast<std::size_t>(k) * p.size(); }
    std::size_t bytes() const;

    int rank = 0;
    bool plain = true;                      // items are rows
    std::vector<int> item;                  // each candidate's number in the form
    std::vector<int> start;                 // the first row of each candidate, and the end
    std::vector<double> z, p, q, extra, e;  // of the candidates' rows
    std::vector<int> class_of;
    std::vector<int> left;  // rows kept of each class
    std::vector<int> gone;  // items removed
    double value = 0, size_of_terms = 0;
    double rounding = 0;

    // Largest rounding error of the value or of a sum of terms.
    double allowed() const { return size_of_terms * (1e-9 + 1e4 * rounding); }

  private:
    State() = default;
    bool remove_row(int row);
    void keep(const std::vector<char>& rows_kept, const std::vector<char>& items_kept);
    void drop_last_of_classes();
};

}  // namespace quadsweep::many_controls
