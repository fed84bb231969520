// What r, cov, dv and lts share: residuals about a searched line, against the spread about a mean
// that is free.
//
//   cost = e^2 + s U^2 + d,   e = w - p1 wx - p2,   U = u + p1 ux - gamma,   s <= 0
//
// e^2 is linearised at the box's centre; U^2 is exact, and gamma is affine in p1 and free.
#pragma once

#include <cstdint>
#include <vector>

#include "criteria.hpp"

namespace quadsweep {

class LineCriterion : public Criterion {
  public:
    struct Frame {
        Affine w, wx, u, ux;
        double lo1, hi1, lo2, hi2;
        bool steep = false;
        double lo_x = 0, hi_x = 0;  // of a subset's mean of wx
    };

    std::vector<Box> roots() const override;
    Corners corners(Box& box, Chooser& chooser, Choice& best) const override;
    void lattice(const Box& box, PartCounts parts, std::vector<Node>& nodes) const override;
    double width_cost(const Box& box, int parameter, const Choice& worst) const override;
    double pull(const Box& box, Place point, Place mean) const override;
    void inherit(Box& child, int parameter, double by) const override;
    FreeMean free_mean(const Box& box) const override;
    const LineCriterion* lines() const override { return this; }
#ifdef QUADSWEEP_DEBUG_SOLUTION
    std::optional<Place> own(int frame, const Moments& sums, double k) const override;
#endif

    const Frame& frame(int i) const { return frames_[i]; }
    double hurts() const { return -s_; }  // rho, what the spread about gamma counts with
    double base_at(int i, double p1) const { return base(frames_[i], p1); }
    LineMultipliers first_multipliers() const { return {.curvature = 4 * s_ * least_k_}; }

  protected:
    explicit LineCriterion(std::int64_t least_k) : least_k_(static_cast<double>(least_k)) {}

    virtual double base(const Frame&, double) const { return 0; }
#ifdef QUADSWEEP_DEBUG_SOLUTION
    // Of centred sums of wx, of w and of their product.
    virtual double own_slope(const Frame&, const Centred&) const { return 0; }
#endif

    double least_k_;
    std::vector<Frame> frames_;
    double s_ = 0, d_ = 0;

  private:
    Choice search_gamma(Box& box, Chooser& chooser) const;
};

// Sets the range of p2 = mean of (Y - p1 X) over a rectangle of means.
void set_p2(LineCriterion::Frame& f, double x_lo, double x_hi, double y_lo, double y_hi);

}  // namespace quadsweep
