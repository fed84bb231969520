// A box of the search: a rectangle of parameters, and what is already decided for all subsets whose
// own parameters lie in it.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "search/decisions.hpp"
#include "shared/objectives.hpp"

namespace quadsweep {

// Moments of the decided copies. Each addition keeps what it rounds away (Knuth's two-sum), so that
// the sum is off by hardly more than its terms are, however many they were.
class DecidedMoments {
  public:
    void add(const Moments& m, double copies) {
        accumulate(sum_.x, lost_.x, m.x);
        accumulate(sum_.y, lost_.y, m.y);
        accumulate(sum_.xx, lost_.xx, m.xx);
        accumulate(sum_.xy, lost_.xy, m.xy);
        accumulate(sum_.yy, lost_.yy, m.yy);
        copies_ += copies;
    }
    void add(double x, double y, double copies) {
        add({copies * x, copies * y, copies * x * x, copies * x * y, copies * y * y}, copies);
    }

    Moments moments() const { return sum_ + lost_; }
    double copies() const { return copies_; }

  private:
    static void accumulate(double& sum, double& lost, double term) {
        const double to = sum + term, added = to - sum;
        lost += (sum - (to - added)) + (term - added);
        sum = to;
    }

    Moments sum_, lost_;
    double copies_ = 0;
};

// Good multipliers for a box, a guess from its parent. A subset that beats the threshold does so
// whatever they are, so any value gives a bound. tv has none.
struct LineMultipliers {   // r > t, cov, dv, lts
    double gamma = 0;      // the free mean at the centre's p1
    double curvature = 0;  // of the bound in gamma
    double tilt = 0;       // change of gamma with p1
};
struct BelowMultipliers {  // r < t
    double alpha = 0;      // the free mean
    double curvature = 0;  // of the bound in alpha
    double tau = 1;        // the free slope
};
using Multipliers = std::variant<std::monostate, LineMultipliers, BelowMultipliers>;

struct Box {
    int frame = 0;              // which of the criterion's parametrisations
    double centre[2], half[2];  // of the two searched parameters
    Multipliers multipliers;
    double lambda = 0;        // threshold of the parent's centre
    double upper = infinity;  // no subset of the box scores more
    double missing = 0;       // by how much the bound failed to close it

    Undecided open;
    std::int64_t need = 0;  // points still to be kept
    DecidedMoments kept;
    std::shared_ptr<const Decided> decided;
};
using Boxes = std::vector<std::unique_ptr<Box>>;

inline double bytes(const Box& box) { return sizeof(Box) + bytes(box.open, box.decided.get()); }

}  // namespace quadsweep
