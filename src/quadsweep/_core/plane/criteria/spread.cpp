// tv < t: both means searched, nothing free.
#include <algorithm>
#include <cmath>

#include "criteria.hpp"

namespace quadsweep {
namespace {

class Spread final : public Criterion {
  public:
    Spread(const Ranges& r, double score, double tol) : r_(r), tol_(tol) { aim(score); }

    std::vector<Box> roots() const override {
        return {make_root(0, r_.x_lo, r_.x_hi, r_.y_lo, r_.y_hi)};
    }
    void aim(double score) override { t_ = -(score + tol_); }
    bool valid() const override { return t_ > 0; }

    Corners corners(Box& box, Chooser& chooser, Choice& best) const override {
        const Affine x = axis_x() - box.centre[0], y = axis_y() - box.centre[1];
        best = chooser.choose(Cost{x, {}, y, y, 1, -t_}, 0, box.lambda);
        box.lambda = best.lambda;
        Corners out;
        for (int q = 0; q < 4; ++q) {
            const double d1 = sign1(q) * box.half[0], d2 = sign2(q) * box.half[1];
            out.node[q].cost = {x, {0, 0, 2 * d1}, y, y - 2 * d2, 1, -t_};
        }
        return out;
    }
    void lattice(const Box& box, PartCounts parts, std::vector<Node>& nodes) const override {
        nodes.clear();
        each_offset(box, parts, [&](const Offset& at) {
            const auto& [d, eta] = at;
            const Affine x = axis_x() - (box.centre[0] + d[0]);
            const Affine y = axis_y() - (box.centre[1] + d[1]);
            const double dropped = eta[0] * eta[0] + eta[1] * eta[1];
            nodes.push_back({Cost{x, {}, y, y, 1, -t_ - dropped}, 0});
        });
    }
    double upper(const Box&, double value) const override {
        return -std::max(t_ + value / static_cast<double>(r_.k) * (1 + 1e-12), 0.0);
    }
    double width_cost(const Box& box, int parameter, const Choice&) const override {
        return static_cast<double>(r_.k) * box.half[parameter] * box.half[parameter];
    }
    double pull(const Box& box, Place point, Place /* mean */) const override {
        return std::hypot(point.x - box.centre[0], point.y - box.centre[1]);
    }
    std::unique_ptr<Criterion> clone() const override { return std::make_unique<Spread>(*this); }

#ifdef QUADSWEEP_DEBUG_SOLUTION
    std::optional<Place> own(int, const Moments& sums, double k) const override {
        return Place{sums.x / k, sums.y / k};
    }
#endif

  private:
    Ranges r_;
    double tol_, t_ = 0;
};

}  // namespace

std::unique_ptr<Criterion> spread_below(const Ranges& ranges, double score, double tol) {
    return std::make_unique<Spread>(ranges, score, tol);
}

}  // namespace quadsweep
