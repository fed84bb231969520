#include "selection.hpp"

#include <algorithm>
#include <cmath>

#include "search/threshold.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

// A cell or, with cell < 0, a point.
struct Candidate {
    double low, high;
    double weight;
    int cell, point;
};

// The threshold of the k cheapest points lies between the quantiles of the candidates' low ends and
// of their high ends: both, or numbers a little farther out.
class Window {
  public:
    // From what is not decided and still needed.
    void narrow(const std::vector<Candidate>& open, double need) {
        if (open.size() <= few) {
            low_ = quantile(open, &Candidate::low, need);
            high_ = quantile(open, &Candidate::high, need);
        } else {
            narrow_by_bins(open, need);
        }
    }
    bool above(const Candidate& c) const { return c.low > high_; }
    bool below(const Candidate& c) const { return c.high < low_; }

  private:
    static constexpr std::size_t few = 256;
    static constexpr int bins = 512;
    // What begins in a bin, and what ends there.
    struct Bin {
        double begins = 0, ends = 0, lowest = infinity, highest = -infinity;
    };

    double quantile(const std::vector<Candidate>& all, double Candidate::* end, double need) {
        scratch_.clear();
        for (const Candidate& c : all) scratch_.emplace_back(c.*end, c.weight);
        return weighted_quantile(scratch_, need);
    }

    void narrow_by_bins(const std::vector<Candidate>& open, double need) {
        const double from = low_, scale = bins / (high_ - low_);
        if (!(scale > 0 && scale < infinity)) return;
        const auto bin_of = [&](double v) {
            return static_cast<int>(std::clamp((v - from) * scale, 0.0, bins - 1.0));
        };
        bin_.assign(bins, {});
        for (const Candidate& c : open) {
            Bin &first = bin_[bin_of(c.low)], &last = bin_[bin_of(c.high)];
            first.begins += c.weight;
            first.lowest = std::min(first.lowest, c.low);
            last.ends += c.weight;
            last.highest = std::max(last.highest, c.high);
        }
        double begun = 0, ended = 0;
        for (const Bin& b : bin_) {
            if (begun < need && begun + b.begins >= need) low_ = b.lowest;
            if (ended < need && ended + b.ends >= need) high_ = b.highest;
            begun += b.begins;
            ended += b.ends;
        }
    }

    double low_ = -infinity, high_ = infinity;
    std::vector<std::pair<double, double>> scratch_;
    std::vector<Bin> bin_;
};

Moments weighted(double w, double x, double y) {
    return {w * x, w * y, w * x * x, w * x * y, w * y * y};
}

double value(const Quadratic& f, double x, double y) {
    return x * (f.xx * x + f.xy * y + f.x) + y * (f.yy * y + f.y) + f.c;
}

// Few points: cost them all and find the threshold by selection. Ties go to the first in order.
Selection cheapest_of_few(const Cells& cells, const Quadratic& cost, int k) {
    const int n = cells.size();
    const bool single = cells.member.size() == cells.x.size();
    std::vector<double> costs(n), scratch;
    for (int p = 0; p < n; ++p) costs[p] = value(cost, cells.x[p], cells.y[p]);
    if (single) {
        scratch = costs;
    } else {
        for (int p = 0; p < n; ++p) scratch.insert(scratch.end(), cells.weight[p], costs[p]);
    }
    std::nth_element(scratch.begin(), scratch.begin() + (k - 1), scratch.end());
    const double threshold = scratch[k - 1];
    Selection out;
    out.points.reserve(std::min(n, k));
    const auto take = [&](int p, int copies) {
        out.points.push_back({p, copies});
        out.moments += weighted(copies, cells.x[p], cells.y[p]);
        out.weight += copies;
    };
    for (int p = 0; p < n; ++p) {
        if (costs[p] < threshold) take(p, cells.weight[p]);
    }
    for (int p = 0; p < n && out.weight < k; ++p) {
        if (costs[p] == threshold) {
            take(p, std::min(cells.weight[p], k - static_cast<int>(out.weight)));
        }
    }
    return out;
}

// Only points and unloaded cells are left, tied around the threshold.
void fill_up(const Cells& cells, const Quadratic& cost, double k, Cut rule,
             std::vector<Candidate> tied, Selection& out) {
    std::vector<std::pair<double, const Candidate*>> order;
    for (const Candidate& c : tied) {
        const bool point = c.cell < 0;
        order.emplace_back(point ? c.low : cost.total(cells.cell[c.cell].sums, c.weight) / c.weight,
                           &c);
    }
    std::sort(order.begin(), order.end(), [](const auto& p, const auto& q) {
        return p.first != q.first ? p.first < q.first : p.second->point < q.second->point;
    });
    double threshold = -infinity;
    for (const auto& [mean, c] : order) {
        const double room = k - out.weight;
        if (room <= 0) break;
        if (c->cell >= 0 && c->weight > room && rule == Cut::whole) continue;
        const double taken = std::min(room, c->weight);
        if (c->cell < 0) {
            out.points.push_back({c->point, static_cast<int>(taken)});
            out.moments += weighted(taken, cells.x[c->point], cells.y[c->point]);
        } else {
            const double share = taken / c->weight;
            const Moments& s = cells.cell[c->cell].sums;
            (share == 1 ? out.cells : out.cut).push_back(c->cell);
            out.moments += {share * s.x, share * s.y, share * s.xx, share * s.xy, share * s.yy};
        }
        out.weight += taken;
        threshold = mean;
    }
    for (const Candidate& c : tied) {
        if (c.cell >= 0 && c.low < threshold && c.high > threshold) out.cut.push_back(c.cell);
    }
    std::sort(out.cut.begin(), out.cut.end());
    out.cut.erase(std::unique(out.cut.begin(), out.cut.end()), out.cut.end());
}

Selection settled(const Cells& cells, const Gain& gain, Selection best, Objective objective,
                  double k, Cut rule, double& best_score) {
    const auto mean = [&](const Selection& s) { return Mean{s.moments.x / k, s.moments.y / k}; };
    settle(gain, mean(best), [&](const Gain& about) {
        Selection here = cheapest(cells, loss(about), k, rule);
        const Mean at = mean(here);
        const double value = score(objective, centred(here.moments, k), k);
        if (value > best_score) {
            best_score = value;
            best = std::move(here);
        }
        return at;
    });
    return best;
}

}  // namespace

Quadratic loss(const Gain& gain) {
    return moved({-gain.uu, -gain.uw, -gain.ww}, -gain.mx, -gain.my);
}

Quadratic moved(const Quadratic& f, double x0, double y0) {
    return {f.xx,
            f.xy,
            f.yy,
            f.x + 2 * f.xx * x0 + f.xy * y0,
            f.y + 2 * f.yy * y0 + f.xy * x0,
            value(f, x0, y0)};
}

CellRange range_over(const Quadratic& f, const Cell& c) {
    const double slope = std::fabs(f.x) * c.hx + std::fabs(f.y) * c.hy;
    const double xx = f.xx * c.hx * c.hx, yy = f.yy * c.hy * c.hy;
    const double xy = std::fabs(f.xy) * c.hx * c.hy;
    return {f.c - slope + std::min(xx, 0.0) + std::min(yy, 0.0) - xy,
            f.c + slope + std::max(xx, 0.0) + std::max(yy, 0.0) + xy};
}

Selection cheapest(const Cells& cells, const Quadratic& cost, double k, Cut rule) {
    if (cells.resident && cells.member.size() <= 4096) {
        return cheapest_of_few(cells, cost, static_cast<int>(k));
    }
    Selection out;
    std::vector<Candidate> open, next;
    Window threshold;
    const auto add_cell = [&](int at) {
        const Cell& c = cells.cell[at];
        if (c.leaf() && !c.unloaded()) {
            for (int p = c.first; p < c.last; ++p) {
                const double v = value(cost, cells.x[p], cells.y[p]);
                next.push_back({v, v, static_cast<double>(cells.weight[p]), -1, p});
            }
        } else {
            const CellRange r = range_over(moved(cost, c.x, c.y), c);
            next.push_back({r.low, r.high, c.weight, at, -1});
        }
    };
    add_cell(0);
    for (bool coarse = true; coarse;) {
        open.swap(next);
        next.clear();
        const double need = k - out.weight;
        if (need <= 0 || open.empty()) return out;
        threshold.narrow(open, need);
        coarse = false;
        out.n_evaluations += static_cast<double>(open.size());
        for (const Candidate& c : open) {
            if (threshold.above(c)) continue;
            if (threshold.below(c)) {
                out.weight += c.weight;
                if (c.cell >= 0) {
                    out.cells.push_back(c.cell);
                    out.moments += cells.cell[c.cell].sums;
                } else {
                    out.points.push_back({c.point, static_cast<int>(c.weight)});
                    out.moments += weighted(c.weight, cells.x[c.point], cells.y[c.point]);
                }
            } else if (c.cell >= 0 && !cells.cell[c.cell].unloaded()) {
                coarse = true;
                for (int child : {cells.cell[c.cell].left, cells.cell[c.cell].left + 1}) {
                    const int grandchild = cells.cell[child].left;  // two levels at a time
                    if (grandchild < 0) {
                        add_cell(child);
                    } else {
                        add_cell(grandchild);
                        add_cell(grandchild + 1);
                    }
                }
            } else {
                next.push_back(c);
            }
        }
    }
    fill_up(cells, cost, k, rule, std::move(next), out);
    return out;
}

std::vector<int> indices(const Cells& cells, const Selection& selection) {
    std::vector<char> kept(cells.member.size(), 0);
    for (int at : selection.cells) {
        const Cell& c = cells.cell[at];
        for (int i = cells.first_member[c.first]; i < cells.first_member[c.last]; ++i) {
            kept[cells.member[i]] = 1;
        }
    }
    for (const auto [point, count] : selection.points) {
        for (int i : cells.members(point).first(count)) kept[i] = 1;
    }
    std::vector<int> out;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (kept[i] != 0) out.push_back(static_cast<int>(i));
    }
    return out;
}

Walk::Walk(const Cells& cells, Objective objective, double k, Selection from, Cut rule)
    : cells_(cells), objective_(objective), k_(k), rule_(rule), at_(std::move(from)) {
    if (at_.weight > 0) score_ = quadsweep::score(objective, centred(at_.moments, k), k);
}

bool Walk::step() {
    if (steps_ == tuning::longest_walk) return false;
    double score = undefined;
    if (const auto further = ahead()) {
        Selection jumped = chosen_at(*further, score);
        if (move_to(std::move(jumped), score)) return true;
    }
    Selection next = chosen_at(at_.moments, score);
    return move_to(std::move(next), score);
}

// The k cheapest points of the gradient at k points with these moments; none where it has none.
Selection Walk::chosen_at(const Moments& about, double& score) const {
    score = undefined;
    std::optional<Gain> gain = quadratic_form(objective_, centred(about, k_));
    if (!gain) return {};
    gain->mx = about.x / k_;
    gain->my = about.y / k_;
    Selection next = cheapest(cells_, loss(*gain), k_, rule_);
    score = quadsweep::score(objective_, centred(next.moments, k_), k_);
    if (!(score > score_) && overshoots(objective_)) {
        next = settled(cells_, *gain, std::move(next), objective_, k_, rule_, score);
    }
    return next;
}

bool Walk::move_to(Selection next, double score) {
    ++steps_;
    next.n_evaluations += at_.n_evaluations;
    const double rise = score - score_;
    if (!(rise > 0)) {
        at_.n_evaluations = next.n_evaluations;
        return false;
    }
    last_rise_ = rise_;
    rise_ = rise;
    before_ = at_.moments;
    score_ = score;
    at_ = std::move(next);
    return true;
}

// Steps that shrink by a factor q of the score go on like a geometric series of factor sqrt(q).
std::optional<Moments> Walk::ahead() const {
    if (steps_ < tuning::steps_before_jumps || steps_ % 3 != 0) return std::nullopt;
    const double q = rise_ / last_rise_;
    if (!(q > 0 && q < 0.95)) return std::nullopt;
    const double way = std::sqrt(q) / (1 - std::sqrt(q));
    const Moments &m = at_.moments, &b = before_;
    return Moments{m.x + way * (m.x - b.x), m.y + way * (m.y - b.y), m.xx + way * (m.xx - b.xx),
                   m.xy + way * (m.xy - b.xy), m.yy + way * (m.yy - b.yy)};
}

bool Walk::hopeless(double worth) const { return worth - score_ > tuning::most_steps * rise_; }

Selection concentrate(const Cells& cells, Selection from, Objective objective, double k,
                      double& score, double worth, Cut rule) {
    Walk walk(cells, objective, k, std::move(from), rule);
    while (walk.step() && !walk.hopeless(worth)) {
    }
    score = walk.score();
    return walk.at();
}

}  // namespace quadsweep
