#include "focus.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "plane/selection.hpp"

namespace quadsweep::outofcore {
namespace {

constexpr int steps = 6;          // of concentration, at most
constexpr double margin = 0.005;  // units that a boundary may be off, beside a rectangle's width

double cost_at(const Quadratic& f, const Sampled& p) { return moved(f, p.at[0], p.at[1]).c; }

CellRange costs_in(const Quadratic& cost, const Rectangle& r) {
    Cell cell{};
    cell.x = r.lo[0] + (r.hi[0] - r.lo[0]) / 2;
    cell.y = r.lo[1] + (r.hi[1] - r.lo[1]) / 2;
    cell.hx = (r.hi[0] - r.lo[0]) / 2;
    cell.hy = (r.hi[1] - r.lo[1]) / 2;
    return range_over(moved(cost, cell.x, cell.y), cell);
}

// Concentration over a sample.
class Steps {
  public:
    Steps(std::span<const Sampled> sample, Objective objective, double share)
        : sample_(sample),
          objective_(objective),
          k_(static_cast<std::ptrdiff_t>(share * static_cast<double>(sample.size() - 1))),
          costs_(sample.size()),
          sorted_(sample.size()) {}

    // About the boundary of the cheapest rows, as the moments m of good ones have it.
    std::optional<Focus> about(const Moments& m) {
        auto gain = quadratic_form(objective_, centred(m, 1));
        if (!gain) return std::nullopt;
        gain->mx = m.x;
        gain->my = m.y;
        Focus focus{loss(*gain)};
        std::transform(sample_.begin(), sample_.end(), costs_.begin(),
                       [&](const Sampled& p) { return cost_at(focus.cost, p); });
        if (!std::isfinite(std::reduce(costs_.begin(), costs_.end()))) return std::nullopt;
        sorted_ = costs_;
        std::nth_element(sorted_.begin(), sorted_.begin() + k_, sorted_.end());
        focus.level = sorted_[k_];
        double away = 0;
        for (const double cost : costs_) away += std::fabs(cost - focus.level);
        focus.unit = away / static_cast<double>(costs_.size());
        return focus;
    }
    // Moments of the rows within the last boundary, for one row.
    Moments within(double level) const {
        Moments sum;
        double count = 0;
        for (std::size_t i = 0; i < sample_.size(); ++i) {
            if (costs_[i] > level) continue;
            const double x = sample_[i].at[0], y = sample_[i].at[1];
            sum += {x, y, x * x, x * y, y * y};
            count += 1;
        }
        const double f = 1 / count;
        return {f * sum.x, f * sum.y, f * sum.xx, f * sum.xy, f * sum.yy};
    }

  private:
    std::span<const Sampled> sample_;
    Objective objective_;
    std::ptrdiff_t k_;
    std::vector<double> costs_, sorted_;
};

}  // namespace

double Focus::blur(const Rectangle& at) const {
    const CellRange r = costs_in(cost, at);
    const double width = r.high - r.low;
    const double away = std::max({0.0, r.low - level, level - r.high});
    if (!(width > 0)) return away > 0 ? 0 : 1;
    const double near = width / (width + away);
    return near * near * near * near * width / (width + unit);
}

double Focus::distance(const Rectangle& at) const {
    const CellRange r = costs_in(cost, at);
    const double away = std::max({0.0, r.low - level, level - r.high});
    return away / (r.high - r.low + margin * unit);
}

std::vector<Focus> foci(std::span<const Sampled> sample, Objective objective, double share,
                        const std::vector<Moments>& starts) {
    std::vector<Focus> out;
    if (sample.empty()) return out;
    Steps concentration(sample, objective, share);
    for (const Moments& m : starts) {
        auto focus = concentration.about(m);
        for (int step = 0; focus && step < steps; ++step) {
            const auto next = concentration.about(concentration.within(focus->level));
            if (!next) break;
            focus = next;
        }
        if (focus) out.push_back(*focus);
    }
    return out;
}

}  // namespace quadsweep::outofcore
