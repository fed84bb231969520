// The bound of a box: over its undecided items, the least sum of costs that fills up the subset, at
// each corner, from below, rounding included.
//
// Each cost is s_e times a product of two factors, minus s_u u^2. The left one is the same in the
// whole box, the right one affine in theta, so that a cost is concave in theta, and so is the sum
// of the k smallest: its least value over the box is at one of the 2^D corners.
// search/threshold.hpp finds that sum, from below.
//
// Where one column is fitted on Z, the normal equations choose the left factor. (For the sign of a
// slope see form.hpp.) At a subset's own theta the residuals e = theta . c are orthogonal to Z,
// so that sum e^2 theta_y' / theta_y = sum e l for every l = theta_y' y + nu . z, with multipliers
// nu. Nothing is dropped, and boxes that hold no subset's own theta close for large nu. theta_y' is
// the centre's: everything is multiplied by theta_y' theta_y > 0 instead of theta_y^2, the other
// square too, which makes it affine in theta. `multipliers.cpp` chooses nu and g.
//
// Else e^2 >= a (2 e - a) for every number a. For a row chosen at the centre a = e0 = theta0 . c,
// which makes it the tangent there; for the other rows an a nearer to zero loses
// less, most for those far away (`anchors` in loops.cpp).
//
// What the tangent drops, s_e sum ((theta - theta0) . c)^2, is known for the items already kept. An
// affine function that is below the bounds at all corners is below the concave bound everywhere;
// added to the kept items' quadratic it has its least value over the box in closed form, once the
// quadratic is replaced by a diagonal one below it. Where most items are decided this is nearly
// exact, whatever the box's width.
//
// A subset that is better has its own theta where the bound is below zero. Along an edge of the box
// the bound is above the chord of its ends, so where all chords of one direction are above zero the
// box ends earlier; the smooth function above says the same about each direction in closed form.
//
// A cell that is not opened stands for two weights at the ends of its range of costs
// (cell_costs.hpp), which keeps a bound a bound.
//
// The multipliers g of the other square are free. With the tangent an ascent at the
// centre finds them: its direction is least squares on the chosen items, and a step that does not
// increase the bound is halved.
// At a corner they are the centre's plus what least squares says about the change of theta.
#pragma once

#include <cmath>
#include <vector>

#include "box.hpp"
#include "cell_costs.hpp"
#include "form.hpp"
#include "items.hpp"
#include "loops.hpp"
#include "search/opening.hpp"
#include "search/threshold.hpp"

namespace quadsweep::regression {

struct Choice {
    double value = -infinity;  // the bound at the centre
    double lambda = 0;
    double units = 0;  // chosen and kept
    Gram sums;         // of them
    bool complete = false;
};

class Bounder {
  public:
    Bounder(const Items& items, const Cells& tree, const Form& form, bool k_or_more)
        : items_(items),
          tree_(tree),
          cells_(tree),
          form_(form),
          k_or_more_(k_or_more),
          threshold_(k_or_more) {}

    void aim(const Form& form) { form_ = form; }
    const Form& form() const { return form_; }
    // Whether the normal equations bound the box that was loaded.
    bool equations() const { return equations_; }

    // Copies the box's undecided items into columns for the loops; again whenever they change.
    void load(const Box& box);
    // Climbs to good multipliers, kept in the box for its children. The cheapest choice at the
    // centre comes back.
    Choice centre(Box& box, bool thoroughly = false);
    // Its sums are those the multipliers need; this adds the others. Right after `centre`.
    void complete(Choice& choice) {
        if (!choice.complete) add_chosen(choice, true);
        choice.complete = true;
    }
    // All corners; after `centre`.
    void bound(const Box& box);

    int corners() const { return corners_; }
    // No subset has less than this in the box, before error() is taken off.
    double least() const { return least_; }
    double error() const { return error_; }
    // What a parameter's half-width costs where the bound is least: the remainder dropped there.
    double width_cost(const Box& box, int column) const;
    // All of them, from the bound at the centre.
    double width_cost(const Box& box, double centre) const;
    // How far the unopened cells may have lowered the bound, and opening those that matter most.
    // False where none does.
    double coarseness() const { return coarseness_; }
    bool open_cells(Box& box) const {
        return quadsweep::open_cells(tree_, items_.copies, gap_, box.open);
    }
    void open_level(Box& box) const { quadsweep::open_level(tree_, items_.copies, box.open); }
    void open_all(Box& box) const {
        while (!box.open.cell.empty()) open_level(box);
    }
    // Moves decided copies out of the undecided ones. False if the box can hold no subset.
    bool fix(Box& box);
    // Cuts off the sides of the box where the bound is not below zero; the share that is left.
    double cut(Box& box) const;
    // How strongly each open item moves what keeps the bound from being exact.
    const std::vector<double>& pull(const Box& box);
    // Sums of everything that is kept or open.
    Gram everything(const Box& box);

    double n_evaluations = 0;  // rows costed so far

  private:
    using Column = std::vector<double>;

    void coefficients_u(const double* theta, const double* g, double* phi) const;
    void corner_theta(const Box& box, int corner, double* theta) const;
    void corner_g(const Box& box, const double* theta, double* g) const;
    void fill_groups(const double* right, const double* phi, double* out);
    void central_costs(const double* phi);
    double kept_other(const double* phi) const;
    double offset(const double* step, double kept_other) const;
    double evaluate(const double* g, double& lambda, Choice& choice);
    double chosen_product(int i, int j) const;
    void add_chosen(Choice& choice, bool all);
    bool least_squares(const Gram& sums, const double* theta, double* g);
    double solve(const double* cost, const CellEnds& ends, double offset, double& lambda,
                 bool positive_is_enough);
    double guess(const double* cost, const CellEnds& ends) const;
    // Largest |coefficients| in the box: of the factors, of how far the right one goes from the
    // centre's, of their difference, of u.
    struct Largest {
        double left[most_columns], theta[most_searched], reach[most_searched];
        double right[most_columns], difference[most_columns], phi[most_columns];
    };
    Largest largest_coefficients(const Box& box) const;
    // ---- multipliers.cpp
    struct Smoothed {
        Gram sums;
        double width = 0, threshold = 0, value = 0;
        double slope[most_dims] = {}, rounded[most_dims] = {};
    };
    void choose_multipliers(Box& box, bool thoroughly);
    double start_multipliers(Box& box);
    bool climb(Box& box, double width);
    void price(const double* g);
    std::pair<double, double> spread_of_costs() const;
    void smooth(const Box& box, const double* g, Smoothed& at);
    Shares shares_at(double threshold, double width);
    void mark_between();
    bool newton(const Box& box, const double* g, const Smoothed& at, double* step);
    void column_times(int column, const double* combination, const double* of_rows, Column& out);
    void measure_curvature();
    double guess_with_cells(const double* cost, const CellEnds& ends) const;
    void prepare_cells(const Box& box);
    void swap_masks() {
        std::swap(mask_, best_mask_);
        std::swap(share_, best_share_);
    }
    bool fix_cells(Box& box, Decided& newly) const;
    void cell_margins(std::size_t from, double* out, double* in, double* lowest,
                      double* highest) const;
    void measure_coarseness();
    double touched_cells() const;
    void order_dimensions(const Box& box);
    double with_remainder(const Box& box);
    // Along a dimension, in units of its half-width.
    struct Range {
        double low, high;
    };
    Range between_chords(int dimension) const;
    Range between_roots(int dimension) const;
    double diagonal_share() const;
    void measure_errors(const Box& box, double base);
    void row_errors(const Largest& largest);
    void group_errors(const Largest& largest);
    std::vector<const double*> columns() const;

    const Items& items_;
    const Cells& tree_;
    CellCosts cells_;
    Form form_;
    bool k_or_more_, equations_ = false;
    Threshold threshold_;
    const Box* box_ = nullptr;
    Gram kept_;
    std::size_t count_ = 0, padded_ = 0;
    std::vector<Column> column_;  // of rows, or entries of groups' Grams
    Column weight_, e_, left_factor_, u_centre_, u_[4], cost_, mask_, best_mask_;
    double left_[most_columns] = {};        // coefficients of the left factor
    double times_ = 2;                      // how much farther than theta the right factor goes
    double kept_left_[most_searched] = {};  // sums of each column times the left factor: kept items
    double theta0_[most_columns] = {}, slope_[most_active][most_searched] = {};
    Column cell_cost_, between_;    // of the multipliers: means of cells; items near the threshold
    std::vector<Column> gradient_;  // costs by each multiplier
    double smoothed_over_ = 0;      // the width of the last threshold
    double reached_ = 0;            // by the last step
    double curvature_[most_searched] = {}, change_[most_searched] = {};
    int dims_ = 0, inner_ = 0, outer_ = 0, corners_ = 0;
    int dimension_[most_dims] = {};  // the column of each dimension, those that u sees last
    std::vector<Column> row_;        // costs at each corner
    CellEnds centre_ends_;
    std::vector<CellEnds> ends_;  // at each corner
    Column share_, best_share_;   // copies of each cell that are chosen
    Column gap_;                  // and what it costs the bound
    double coarseness_ = 0;
    double offset_[most_corners];
    double value_[most_corners], lambda_[most_corners], lift_[most_corners];
    // The affine function below all corners, with the kept items' squares, in units of half-widths.
    struct Smooth {
        double slope[most_dims] = {}, square[most_dims] = {};
        // The least of slope z + square z^2 over |z| <= 1.
        double least(int d) const {
            const double along = std::fabs(slope[d]);
            return along >= 2 * square[d] ? square[d] - along : -along * (along / (4 * square[d]));
        }
    };
    Smooth below_;
    double diagonal_[most_searched];  // squares of what is chosen where the bound is least
    double error_ = 0, least_ = 0, smooth_ = 0;
    Column row_error_, magnitude_, out_, in_, lowest_, highest_, pull_;
};

}  // namespace quadsweep::regression
