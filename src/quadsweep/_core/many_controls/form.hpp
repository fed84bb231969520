// A sum of products of residuals on many controls, p.q - sum of extra, and its update when items
// (rows, or groups of rows) are removed.
//
// Z' = (E, Q): E the unit vectors of the classes of a partition, Q an orthonormal basis of the
// other controls given the classes; p and q are orthogonal to both. With K = Z Z' over rows and O
// the rows removed, x_O' (I - K_OO)^-1 y_O goes with them. One row a takes p_a q_a / (kappa (1 -
// h)) with kappa = 1 - e_a^2 and h = |z_a|^2 / kappa, and the others are refitted by a rank-one
// update:
//
//     mates of its class   v_j += e_j e_a v_a / kappa for v = z, p, q;  e_j /= sqrt(kappa)
//     all others           z_j += beta (z^.z_j) z^,  p_j += (z^.z_j) p^ / (1 - h),  z^ = z_a /
//     sqrt(kappa)
//
// Only candidates, the items that may still go, are held. The last row of a class has leverage 1:
// without it nothing but its dummy is lost, so it is never a candidate.
#pragma once

#include <optional>
#include <vector>

namespace quadsweep::many_controls {

struct Form {
    int rows = 0, rank = 0, items = 0;
    std::vector<double> z;      // rank columns, one after the other
    std::vector<double> p, q;   // of each row
    std::vector<double> extra;  // of each row, not negative: the last row of a class keeps it
    std::vector<double> e;      // of each row, 0 where it has no class
    std::vector<int> class_of;  // of each row, -1 where it has none
    std::vector<int> item_of;   // of each row
    double rounding = 1e-14;    // of z, p and q, relative to lengths of one
};

// The form without some items.
class State {
  public:
    explicit State(const Form& form);

    // Without one of the candidates, keeping those marked; nothing where rounding is too large.
    std::optional<State> without(int candidate, const std::vector<char>& marked) const;
    // The same with only the candidates that are marked.
    State only(const std::vector<char>& marked) const;

    int size() const { return static_cast<int>(item.size()); }
    int rows() const { return static_cast<int>(p.size()); }
    const double* column(int k) const { return z.data() + static_cast<std::size_t>(k) * p.size(); }
    std::size_t bytes() const;

    int rank = 0;
    bool plain = true;                      // items are rows
    std::vector<int> item;                  // the candidates, by their number in the form
    std::vector<int> start;                 // where the rows of each begin, and one more
    std::vector<double> z, p, q, extra, e;  // of their rows
    std::vector<int> class_of;
    std::vector<int> left;  // rows kept of each class
    std::vector<int> gone;  // items
    double value = 0, size_of_terms = 0;
    double rounding = 0;

    // What rounding may have added to the value or to the sum of some terms.
    double allowed() const { return size_of_terms * (1e-9 + 1e4 * rounding); }

  private:
    State() = default;
    bool remove_row(int row);
    void keep(const std::vector<char>& rows_kept, const std::vector<char>& items_kept);
    void drop_last_of_classes();
};

}  // namespace quadsweep::many_controls
