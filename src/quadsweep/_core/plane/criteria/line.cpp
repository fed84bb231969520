#include "line.hpp"

#include <algorithm>
#include <cmath>

#include "ascent.hpp"

namespace quadsweep {
namespace {

LineMultipliers& multipliers(Box& box) { return std::get<LineMultipliers>(box.multipliers); }
const LineMultipliers& multipliers(const Box& box) {
    return std::get<LineMultipliers>(box.multipliers);
}

}  // namespace

std::vector<Box> LineCriterion::roots() const {
    std::vector<Box> out;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        const Frame& f = frames_[i];
        if (f.lo1 <= f.hi1) {
            out.push_back(make_root(static_cast<int>(i), f.lo1, f.hi1, f.lo2, f.hi2));
            out.back().multipliers = first_multipliers();
        }
    }
    return out;
}

Corners LineCriterion::corners(Box& box, Chooser& chooser, Choice& best) const {
    best = search_gamma(box, chooser);
    const LineMultipliers& m = multipliers(box);
    const Frame& f = frames_[box.frame];
    const Affine e = f.w - box.centre[0] * f.wx - box.centre[1];
    Corners out;
    out.count = box.half[0] > 0 ? 4 : 2;
    for (int q = 0; q < out.count; ++q) {
        const double d1 = out.count == 4 ? sign1(q) * box.half[0] : 0;
        const double d2 = sign2(q) * box.half[1];
        Cost& cost = out.node[q].cost;
        cost.e = e;
        cost.l = 2.0 * (d1 * f.wx + d2);
        cost.p = cost.q = f.u + (box.centre[0] + d1) * f.ux - (m.gamma + m.tilt * d1);
        cost.s = s_;
        cost.d = d_;
        out.node[q].base = base(f, box.centre[0] + d1);
    }
    return out;
}

void LineCriterion::lattice(const Box& box, PartCounts parts, std::vector<Node>& nodes) const {
    const LineMultipliers& m = multipliers(box);
    const Frame& f = frames_[box.frame];
    nodes.clear();
    Node node;  // where e is about p2 = 0; the same along a row of the lattice
    double row = infinity;
    each_offset(box, parts, [&](const Offset& at) {
        const auto& [d, eta] = at;
        if (d[0] != row) {
            row = d[0];
            const double p1 = box.centre[0] + d[0];
            // e^2 - (eta1 X)^2 - eta2^2
            node.cost.e = f.w - (p1 - eta[0]) * f.wx;
            node.cost.l = (2 * eta[0]) * f.wx;
            node.cost.p = node.cost.q = f.u + p1 * f.ux - (m.gamma + m.tilt * d[0]);
            node.cost.s = s_;
            node.cost.d = d_ - eta[1] * eta[1];
            node.base = base(f, p1);
        }
        nodes.push_back(node);
        nodes.back().cost.e.c -= box.centre[1] + d[1];
    });
}

// The bound at the centre is concave in gamma, with slope 2 |s| (sum of U over the chosen).
Choice LineCriterion::search_gamma(Box& box, Chooser& chooser) const {
    LineMultipliers& free = multipliers(box);
    const Frame& f = frames_[box.frame];
    const double p1 = box.centre[0];
    const Affine u = f.u + p1 * f.ux;
    Cost cost;
    cost.e = f.w - p1 * f.wx - box.centre[1];
    cost.s = s_;
    cost.d = d_;
    double lambda = box.lambda;
    const double most = -8 * s_ * least_k_;  // at least -2 s k even if the chosen stay the same
    const auto evaluate = [&](double gamma, double& slope) {
        cost.p = cost.q = u - gamma;
        const Choice c = chooser.choose(cost, base(f, p1), lambda);
        lambda = c.lambda;
        slope = -2 * s_ * (u.x * c.moments.x + u.y * c.moments.y + (u.c - gamma) * c.weight);
        return c;
    };
    const Choice best = ascend(free.gamma, free.curvature, most, evaluate);
    const Moments& m = best.moments;
    free.tilt = best.weight > 0 ? (f.ux.x * m.x + f.ux.y * m.y) / best.weight + f.ux.c : 0;
    box.lambda = best.lambda;
    return best;
}

// The remainder that linearising dropped: sum of (X d1 + d2)^2 over the points chosen.
double LineCriterion::width_cost(const Box& box, int parameter, const Choice& worst) const {
    const double h2 = box.half[parameter] * box.half[parameter];
    if (parameter == 1) return h2 * least_k_;
    const Affine& x = frames_[box.frame].wx;
    return h2 *
           std::max(x.x * x.x * worst.moments.xx + x.y * x.y * worst.moments.yy, 0.01 * least_k_);
}

double LineCriterion::pull(const Box& box, Place point, Place mean) const {
    const Frame& f = frames_[box.frame];
    const Affine u = f.u + box.centre[0] * f.ux;
    const Affine e = f.w - box.centre[0] * f.wx - box.centre[1];
    return std::fabs(s_ < 0 ? u(point.x, point.y) - u(mean.x, mean.y) : e(point.x, point.y));
}

void LineCriterion::inherit(Box& child, int parameter, double by) const {
    LineMultipliers& m = multipliers(child);
    if (parameter == 0) m.gamma += m.tilt * by;
}

FreeMean LineCriterion::free_mean(const Box& box) const {
    const LineMultipliers& m = multipliers(box);
    const double change = m.tilt * box.half[0];
    return {m.gamma - change, m.gamma + change, m.gamma, 0};
}

#ifdef QUADSWEEP_DEBUG_SOLUTION
std::optional<Place> LineCriterion::own(int frame, const Moments& sums, double k) const {
    const Frame& f = frames_[frame];
    const double mx = sums.x / k, my = sums.y / k;
    const Centred s = centred(sums, k);
    const auto of = [&](const Affine& p, const Affine& q) {
        return p.x * q.x * s.a + p.y * q.y * s.b + (p.x * q.y + p.y * q.x) * s.c;
    };
    const double p1 = own_slope(f, {of(f.wx, f.wx), of(f.w, f.w), of(f.w, f.wx)});
    return Place{p1, f.w(mx, my) - p1 * f.wx(mx, my)};
}
#endif

void set_p2(LineCriterion::Frame& f, double x_lo, double x_hi, double y_lo, double y_hi) {
    const double products[] = {f.lo1 * x_lo, f.lo1 * x_hi, f.hi1 * x_lo, f.hi1 * x_hi};
    f.lo_x = x_lo;
    f.hi_x = x_hi;
    f.lo2 = y_lo - *std::max_element(products, products + 4);
    f.hi2 = y_hi - *std::min_element(products, products + 4);
}

}  // namespace quadsweep
