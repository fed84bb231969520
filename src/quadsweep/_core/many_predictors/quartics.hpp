// Quartics below truncated squares, and forms of degree four on a sphere
// (docs/theory/many-predictors.md).
//
// With e = r - s the excess (e^2 - t)_+ is at most a ((e - e0) (e - h))^2 for |s| <= reach, e0 and
// h within (-sqrt t, sqrt t); with h left out a is another. Any choice is valid; the one is
// returned whose expectation is least under given moments of s.
//
// A quartic in v is v2' M v2, v2 the products of two entries of v, those of different ones times
// the root of two, so that |v2| = |v|^2. M is not unique: matrices that are zero on all v2, and on
// the sphere all multiples of the constraint v_0^2 - |v|^2 / 2, can be added.
#pragma once

#include <vector>

namespace quadsweep::many_predictors {

constexpr int coefficients = 5;  // of a quartic in s, from the constant one

// Of each row the coefficients of a quartic in s that is at least the excess of (r - s)^2 over t
// where |s| <= reach, and the most its terms sum to in absolute value: coefficients + 1 for each
// row, a row after the other. t > 0 and |r| - reach < sqrt t; moments are the first to fourth of s.
void choose_majorants(const std::vector<double>& r, const std::vector<double>& t,
                      const std::vector<double>& reach, const double* moments,
                      std::vector<double>& out);

class SphereForms {
  public:
    explicit SphereForms(int variables);

    int dimension() const { return dimension_; }
    // The matrix of the same quartic that is a symmetric tensor; the lower triangle is not read.
    void symmetrise(double* matrix) const;
    // The same less v2' k times a quadratic form, k the constraint, so that no such multiple is
    // left in it; `multiplier` is that form, as the coefficients of v2.
    void project(double* matrix, double* multiplier) const;
    // Takes v2' k times the quadratic form off, and symmetrises.
    void subtract_multiple(double* matrix, const double* multiplier) const;

  private:
    int at(int i, int j) const { return place_[i * variables_ + j]; }

    int variables_, dimension_;
    std::vector<int> place_;     // of the product of two variables
    std::vector<double> scale_;  // of it
    std::vector<double> constraint_;
};

}  // namespace quadsweep::many_predictors
