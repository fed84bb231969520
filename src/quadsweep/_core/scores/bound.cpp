#include "bound.hpp"

#include <algorithm>
#include <cmath>

#include "shared/largest.hpp"

namespace quadsweep::scores {
namespace {

constexpr int rounds = 8, narrowings = 3;
constexpr double worth_another = 0.97;  // of the free items left, for another round
constexpr double most_k = 0.97;         // of what is removed, in any direction
constexpr double most_leverage = 0.98;
constexpr int most_pairs = 2'500;  // rows of which all pairs are looked at
constexpr int few_controls = 3;
constexpr double scales[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5};
constexpr double near_scale = 0.25;  // of the best one of the last narrowing
constexpr double multipliers[] = {0.3, 1.0, 3.0};

double length(const std::vector<double>& v) {
    double sum = 0;
    for (double x : v) sum += x * x;
    return std::sqrt(sum);
}

}  // namespace

Bound::Bound(const Question& question, const std::vector<int>& removed, int m, double most_sets,
             const Control& control)
    : question_(question),
      base_(question, removed),
      control_(control),
      q_(question.controls),
      m_(m),
      most_sets_(most_sets) {}

Outcome Bound::run(std::vector<int>& free) {
    if (!base_.is_clear()) return Outcome::unknown;
    const double distance = base_.distance();
    margin_ = base_.rounding * (1 + question_.threshold * (1 + std::sqrt(base_.squared)));
    missing_ = -distance;
    if (distance < -margin_) return Outcome::found;
    if (m_ == 0 || free.empty()) return distance > margin_ ? Outcome::refuted : Outcome::near;
    for (int round = 0; round < rounds; ++round) {
        const std::size_t before = free.size();
        const Outcome outcome = look(free);
        if (outcome != Outcome::open || control_.over()) return outcome;
        if (free.empty()) return distance > margin_ ? Outcome::refuted : Outcome::near;
        if (static_cast<double>(free.size()) > worth_another * static_cast<double>(before)) break;
    }
    if (!std::binary_search(free.begin(), free.end(), worst_)) worst_ = free.front();
    return Outcome::open;
}

// One round, with all sets of the items that are free.
Outcome Bound::look(std::vector<int>& free) {
    choices_ = std::make_unique<Choices>(question_, free, m_, most_sets_);
    if (!choices_->listed()) return Outcome::unknown;
    measure_sets();
    sum_boxes();
    sum_rows();
    best_ = none;
    scale_ = 0;
    for (int time = 0; time <= narrowings && !control_.over(); ++time) {
        if (!bound_shifts() || !bound_leverages()) break;
        cost_sets();
        choose_scale(time == 0);
        if (best_ > margin_) return Outcome::refuted;
        if (time == narrowings || total_ <= 0) break;
        narrow_boxes();
    }
    missing_ = best_ > none ? -best_ : infinity;
    choose_worst();
    if (best_ > none) {
        const double curvature = question_.gained ? 0 : scale_;
        free = choices_->possible(cost_.data(), curvature, need_ - margin_);
    }
    return Outcome::open;
}

// ---- sets
// ----------------------------------------------------------------------------------------

void Bound::measure_sets() {
    const std::size_t n = choices_->size();
    value_.assign(values() * n, 0.0);
    both_.assign(question_.of_parts() ? 0 : n * q_ * (q_ + 1), 0.0);
    with_outcome_.resize(n);
    with_itself_.resize(n);
    own_.resize(n);
    std::vector<double> products;
    for (std::size_t s = 0; s < n; ++s) measure_set(s, products);
    cancelled_ = 0;
    std::vector<double> sizes(n);
    if (!question_.is_coarse()) {
        for (std::size_t s = 0; s < n; ++s) {
            const int u = choices_->unit[choices_->unit_of[s]];
            const double own = std::abs(own_[s]);
            sizes[s] = question_.of_parts() ? std::abs(base_.item_square[choices_->item[s]])
                                            : own * (2 * std::abs(base_.score[u]) + own);
        }
        cancelled_ = choices_->largest(sizes.data());
        tops_.clear();
        return;
    }
    choices_->add_scores(own_, base_.score);
    double largest = 0;
    for (double g : base_.score) largest = std::max(largest, std::abs(g));
    for (std::size_t s = 0; s < n; ++s) sizes[s] = std::abs(own_[s]);
    const double moved = choices_->largest(sizes.data());
    cancelled_ = moved * (2 * largest + moved);
    // In every cluster the largest sums of the norms of what may go.
    tops_.assign(3 * n, 0.0);
    std::vector<double> norms(3 * n);
    const int p = q_ + 1;
    for (std::size_t s = 0; s < n; ++s) {
        double term = with_itself_[s] * with_itself_[s], residual = 0, both = 0;
        for (int a = 0; a < q_; ++a) {
            term += value(a)[s] * value(a)[s];
            residual += value(at_residual() + a)[s] * value(at_residual() + a)[s];
        }
        for (int k = 0; k < q_ * p; ++k) both += both_[s * q_ * p + k] * both_[s * q_ * p + k];
        norms[s] = std::sqrt(residual);
        norms[n + s] = std::sqrt(term);
        norms[2 * n + s] = std::sqrt(both);
    }
    for (std::size_t g = 0; g < choices_->cluster.size(); ++g) {
        const std::size_t from = choices_->first[choices_->cluster_first[g]];
        const std::size_t to = choices_->first[choices_->cluster_first[g + 1]];
        for (int k = 0; k < 3; ++k) {
            const double top = choices_->largest_in_cluster(static_cast<int>(g), &norms[k * n]);
            std::fill(tops_.begin() + k * n + from, tops_.begin() + k * n + to, top);
        }
    }
}

// What goes with a set: sums of products of the rows kept, less those without it.
void Bound::measure_set(std::size_t s, std::vector<double>& products) {
    const int d = base_.width, p = q_ + 1, u = choices_->unit[choices_->unit_of[s]];
    const std::size_t n = choices_->size();
    const int first = question_.unit_first[u];
    products.assign(d * d, 0.0);
    std::vector<double>& left = trial_;
    left.assign(d, 0.0);
    double effect = 0;
    bool emptied = true;
    const auto gone = [&](int item) { return (choices_->mask[s] >> (item - first) & 1) != 0; };
    for (int item = first; item < question_.unit_first[u + 1]; ++item) {
        if (base_.item_gone[item]) continue;
        for (int i = question_.item_first[item]; i < question_.item_first[item + 1]; ++i) {
            const double* w = base_.at(i);
            if (gone(item)) {
                for (int a = 0; a < d; ++a) {
                    for (int b = 0; b <= a; ++b) products[a * d + b] += w[a] * w[b];
                }
            } else {
                emptied = false;
                effect += question_.effect[i] * question_.effect[i];
                for (int a = 0; a < d; ++a) left[a] += question_.effect[i] * w[a];
            }
        }
    }
    if (!emptied && effect > 0) {
        for (int a = 0; a < d; ++a) {
            for (int b = 0; b <= a; ++b) products[a * d + b] += left[a] * left[b] / effect;
        }
    }
    const auto product = [&](int a, int b) {
        return products[std::max(a, b) * d + std::min(a, b)];
    };
    double k1 = 0, k2 = 0;
    for (int a = 0; a < p; ++a) {
        for (int b = 0; b < p; ++b) {
            const double v = product(a, b);
            k2 += v * v;
            if (a < q_ && b < q_) k1 += v * v;
            if (a < q_ && !both_.empty()) both_[(s * q_ + a) * p + b] = v;
        }
    }
    for (int a = 0; a < q_; ++a) {
        value_[a * n + s] = product(a, q_);
        value_[(at_outcome() + a) * n + s] = product(a, q_ + 2);
        value_[(at_residual() + a) * n + s] = product(a, q_ + 1);
    }
    value_[(at_residual() + q_) * n + s] = product(q_, q_ + 1);
    value_[at_norm() * n + s] = std::sqrt(k1);
    value_[(at_norm() + 1) * n + s] = std::sqrt(k2);
    with_outcome_[s] = product(q_, q_ + 2);
    with_itself_[s] = product(q_, q_);
    own_[s] = -product(q_, q_ + 1);
}

// ---- what goes altogether
// ------------------------------------------------------------------------

void Bound::sum_boxes() {
    const std::size_t n = choices_->size();
    low_.assign(values(), 0.0);
    high_.assign(values(), 0.0);
    std::vector<double> negative(n);
    for (int k = 0; k < values(); ++k) {
        high_[k] = choices_->largest(value(k)) + base_.rounding;
        if (k >= at_norm()) continue;
        for (std::size_t s = 0; s < n; ++s) negative[s] = -value(k)[s];
        low_[k] = -choices_->largest(negative.data()) - base_.rounding;
    }
}

// Of rows one by one, with many controls or large leverages: from all pairs.
void Bound::sum_rows() {
    most_term_ = most_outcome_ = most_residual_ = most_k1_ = most_k2_ = infinity;
    const int n = static_cast<int>(choices_->size());
    const bool single = question_.units() == question_.rows;
    if (!single || n > most_pairs || (q_ <= few_controls && high_[at_norm() + 1] <= 0.5)) return;
    std::vector<int> rows(n);
    for (int s = 0; s < n; ++s) rows[s] = question_.item_first[choices_->item[s]];
    for (int i : rows) {
        if (question_.effect[i] != 0) return;
    }
    std::vector<double> sums[3], pairs[5];
    double k1 = 0, k2 = 0;
    for (int s = 0; s < n && !control_.over(); ++s) {
        const double* v = base_.at(rows[s]);
        const double h = base_.leverage[rows[s]], ht = base_.leverage_with_term[rows[s]];
        const double own = std::sqrt(std::sqrt(ht) + 1e-12);
        for (auto& p : pairs) p.clear();
        for (int o = 0; o < n; ++o) {
            if (o == s) continue;
            const double* w = base_.at(rows[o]);
            double k = 0;
            for (int a = 0; a < q_; ++a) k += v[a] * w[a];
            const double kt = k + v[q_] * w[q_];
            const double scale =
                std::sqrt(std::sqrt(base_.leverage_with_term[rows[o]]) + 1e-12) / own;
            pairs[0].push_back(std::max(k * v[q_] * w[q_], 0.0));
            pairs[1].push_back(std::max(k * v[q_ + 2] * w[q_ + 2], 0.0));
            pairs[2].push_back(std::max(kt * v[q_ + 1] * w[q_ + 1], 0.0));
            pairs[3].push_back(std::abs(k) * scale);
            pairs[4].push_back(std::abs(kt) * scale);
        }
        sums[0].push_back(h * v[q_] * v[q_] + sum_of_largest(pairs[0], m_ - 1));
        sums[1].push_back(h * v[q_ + 2] * v[q_ + 2] + sum_of_largest(pairs[1], m_ - 1));
        sums[2].push_back(ht * v[q_ + 1] * v[q_ + 1] + sum_of_largest(pairs[2], m_ - 1));
        k1 = std::max(k1, h + sum_of_largest(pairs[3], m_ - 1));
        k2 = std::max(k2, ht + sum_of_largest(pairs[4], m_ - 1));
    }
    if (control_.over()) return;
    const double more = base_.rounding;
    most_term_ = std::sqrt(sum_of_largest(sums[0], m_) + more);
    most_outcome_ = std::sqrt(sum_of_largest(sums[1], m_) + more);
    most_residual_ = std::sqrt(sum_of_largest(sums[2], m_) + more);
    most_k1_ = k1 + more;
    most_k2_ = k2 + more;
}

// How far the coefficients of the term and of the residual on the controls may move; false where
// the controls may become dependent.
bool Bound::bound_shifts() {
    k1_ = std::min(most_k1_, high_[at_norm()]);
    k2_ = std::min(most_k2_, high_[at_norm() + 1]);
    if (k1_ >= most_k || k2_ >= most_k) return false;
    const auto norm = [&](int from, int dimension) {
        double sum = 0;
        for (int k = from; k < from + dimension; ++k) sum += reach(k) * reach(k);
        return std::sqrt(sum);
    };
    length_term_ = std::min(norm(0, q_), most_term_);
    length_outcome_ = std::min(norm(at_outcome(), q_), most_outcome_);
    length_residual_ = std::min(norm(at_residual(), q_ + 1), most_residual_);
    t_ = length_term_ / (1 - k1_);
    r_ = length_residual_ / (1 - k2_);
    t_more_ = k1_ * t_;
    r_more_ = k2_ * r_;
    return true;
}

// How the weights of HC2 and HC3 may grow: by no more than a form in the rows removed.
bool Bound::bound_leverages() {
    growth_.clear();
    if (question_.exponent == 0 || question_.gained) return true;
    const int p = q_ + 1;
    growth_.assign(p * p, 0.0);
    for (int j = 0; j < question_.rows; ++j) {
        if (!base_.kept[j]) continue;
        const double h = base_.leverage_with_term[j], grown = h * k2_ / (1 - k2_);
        if (h + grown >= most_leverage) return false;
        if (!(grown > 0)) continue;
        const double* w = base_.at(j);
        const double now = std::pow(1 - h, -2 * question_.exponent);
        const double then = std::pow(1 - h - grown, -2 * question_.exponent);
        const double u = std::abs(w[q_]) + std::sqrt(base_.leverage[j]) * t_;
        const double e = std::abs(w[q_ + 1]) + std::sqrt(h) * r_;
        const double f = (then - now) / grown * u * u * e * e;
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b <= a; ++b) growth_[a * p + b] += (a == b ? 1 : 2) * f * w[a] * w[b];
        }
    }
    return true;
}

// ---- costs
// ---------------------------------------------------------------------------------------

// No less than the product of `by` with a vector that is in a box, a bit wider, and no longer.
double Bound::most_of(const double* by, int dimension, int from, double wider,
                      double most_length) const {
    double sum = 0, square = 0;
    for (int k = 0; k < dimension; ++k) {
        sum += std::max(by[k] * (high_[from + k] + wider), by[k] * (low_[from + k] - wider));
        square += by[k] * by[k];
    }
    return std::min(sum, std::sqrt(square) * most_length);
}

void Bound::cost_sets() {
    const std::size_t n = choices_->size();
    of_product_.resize(n);
    of_scores_.resize(n);
    for (std::size_t s = 0; s < n; ++s) of_scores_[s] = cost_of_set(s, of_product_[s]);
}

// What a set takes of C, and what it adds to |S|^2 (to minus S in one direction, where gained).
double Bound::cost_of_set(std::size_t s, double& of_product) const {
    const int p = q_ + 1, u = choices_->unit[choices_->unit_of[s]];
    const bool coarse = question_.is_coarse(), gained = question_.gained;
    std::size_t g = u;
    if (coarse) {
        const auto after = std::upper_bound(choices_->cluster_first.begin(),
                                            choices_->cluster_first.end(), choices_->unit_of[s]);
        g = choices_->cluster[after - choices_->cluster_first.begin() - 1];
    }
    const double own = own_[s], sign = gained ? -1 : 1;
    static thread_local std::vector<double> by;
    by.resize(2 * p);
    for (int a = 0; a < q_; ++a) {
        by[a] = sign * value(a)[s];
        by[p + a] = sign * value(at_outcome() + a)[s];
    }
    of_product =
        sign * with_outcome_[s] + 0.5 * (most_of(by.data(), q_, at_outcome(), 0, length_outcome_) +
                                         most_of(by.data() + p, q_, 0, 0, length_term_));
    // What the shifts of the coefficients do to the scores: on all clusters, but for what goes.
    double sum = 0;
    for (int a = 0; a < q_; ++a) sum += base_.pull_term[a] * value(a)[s];
    for (int a = 0; a < p; ++a) sum += base_.pull_residual[a] * value(at_residual() + a)[s];
    sum *= sign;
    if (question_.of_parts()) return sum_of_item(choices_->item[s], sum);
    const double moved = gained ? 0 : own;
    double stays = base_.direction[g];
    if (!coarse && !gained) stays += own;
    for (int a = 0; a < q_; ++a) {
        by[a] = sign * (moved * base_.by_term[g * q_ + a] - stays * value(at_residual() + a)[s]);
    }
    sum += most_of(by.data(), q_, 0, t_more_, t_);
    for (int a = 0; a < p; ++a) {
        const double with_term = a < q_ ? value(a)[s] : with_itself_[s];
        by[a] = sign * (moved * base_.by_residual[g * p + a] - stays * with_term);
    }
    sum += most_of(by.data(), p, at_residual(), r_more_, r_);
    double square = 0;
    for (int k = 0; k < q_ * p; ++k) {
        const double v = moved * base_.by_both[g * q_ * p + k] - stays * both_[s * q_ * p + k];
        square += v * v;
    }
    sum += t_ * r_ * std::sqrt(square);
    if (gained) return sum - base_.direction[g] * own;
    if (coarse) {
        const std::size_t n = choices_->size();
        sum += std::abs(own) * (t_ * tops_[s] + r_ * tops_[n + s] + t_ * r_ * tops_[2 * n + s]);
        return 2 * sum;
    }
    return 2 * sum + own * (2 * base_.score[g] + own);
}

// The same of an item whose clusters go with it, from what the shifts do to all clusters.
double Bound::sum_of_item(int item, double sum) const {
    const int p = q_ + 1;
    const double sign = question_.gained ? -1 : 1;
    static thread_local std::vector<double> by;
    by.resize(p);
    for (int a = 0; a < q_; ++a) by[a] = -sign * base_.item_term[item * q_ + a];
    sum += most_of(by.data(), q_, 0, t_more_, t_);
    for (int a = 0; a < p; ++a) by[a] = -sign * base_.item_residual[item * p + a];
    sum += most_of(by.data(), p, at_residual(), r_more_, r_);
    sum += t_ * r_ * base_.item_both[item];
    if (question_.gained) return sum + base_.item_square[item];
    sum = 2 * sum - base_.item_square[item];
    if (growth_.empty()) return sum;
    double form = 0;
    for (int i = question_.item_first[item]; i < question_.item_first[item + 1]; ++i) {
        const double* w = base_.at(i);
        for (int a = 0; a < p; ++a) {
            for (int b = 0; b <= a; ++b) form += growth_[a * p + b] * w[a] * w[b];
        }
    }
    return sum + form / (1 - k2_);
}

// Of |S|^2, what does not depend on which items go.
double Bound::rest() const {
    const double pulls = t_more_ * length(base_.pull_term) + r_more_ * length(base_.pull_residual) +
                         base_.pull_both * t_ * r_;
    if (question_.gained) return pulls;
    double stretch = base_.stretch_term * t_ + base_.stretch_residual * r_;
    if (!question_.of_parts()) {
        const std::size_t n = choices_->size();
        std::vector<double> of_term(n), of_residual(n);
        for (std::size_t s = 0; s < n; ++s) {
            double x = with_itself_[s] * with_itself_[s], e = 0;
            for (int a = 0; a < q_; ++a) {
                x += value(a)[s] * value(a)[s];
                e += value(at_residual() + a)[s] * value(at_residual() + a)[s];
            }
            const bool coarse = question_.is_coarse();
            of_term[s] = coarse ? std::sqrt(e) * tops_[s] : e;
            of_residual[s] = coarse ? std::sqrt(x) * tops_[n + s] : x;
        }
        stretch += std::sqrt(choices_->largest(of_term.data())) * t_ +
                   std::sqrt(choices_->largest(of_residual.data())) * r_;
    }
    stretch += base_.stretch_both * t_ * r_;
    return 2 * pulls + stretch * stretch;
}

// sqrt(v) <= v / 2s + s / 2 for every s: the best of some.
void Bound::choose_scale(bool first) {
    const double last = scale_, fixed = rest(), length_of_scores = std::sqrt(base_.squared);
    best_ = none;
    if (question_.gained) {
        offer(question_.threshold, fixed);
        return;
    }
    if (!(length_of_scores > 0)) return;
    for (double times : scales) {
        const double scale = question_.threshold / (2 * times * length_of_scores);
        if (first || last == 0 || std::abs(scale / last - 1) <= near_scale) offer(scale, fixed);
    }
}

// The bound for costs of the product plus `scale` times those of the scores.
void Bound::offer(double scale, double fixed) {
    const std::size_t n = choices_->size();
    const double of_product = length_term_ * length_outcome_ * k1_ / (1 - k1_);
    const double t = question_.threshold;
    double need = 0, curvature = 0;
    if (question_.gained) {
        need = t * (std::sqrt(base_.squared) - fixed) - base_.c - of_product;
    } else {
        curvature = scale;
        need = base_.c - of_product - t * t / (4 * scale) - scale * (base_.squared + fixed);
    }
    trial_.resize(n);
    for (std::size_t s = 0; s < n; ++s) trial_[s] = of_product_[s] + scale * of_scores_[s];
    const double total = choices_->largest(trial_.data(), curvature);
    if (!(need - total > best_)) return;
    best_ = need - total;
    need_ = need;
    total_ = total;
    scale_ = scale;
    margin_ = base_.rounding * (1 + of_product + t * (1 + std::sqrt(base_.squared)) +
                                scale * (base_.squared + fixed + cancelled_) + std::abs(total));
    std::swap(cost_, trial_);
}

// ---- what follows
// --------------------------------------------------------------------------------

// The costs of a removal in question add up to what is needed: so for every lambda >= 0 no sum over
// it is larger than the largest of itself plus lambda times the cost, less lambda times the need.
void Bound::narrow_boxes() {
    const std::size_t n = choices_->size();
    const double curvature = question_.gained ? 0 : scale_;
    const double need = need_ - margin_;
    trial_.resize(n);
    for (int k = 0; k < values(); ++k) {
        for (double sign : {1.0, -1.0}) {
            if (sign < 0 && k >= at_norm()) continue;
            double end = sign > 0 ? high_[k] : -low_[k];
            if (!(end > 0) || control_.over()) continue;
            for (double multiplier : multipliers) {
                const double lambda = multiplier * end / total_;
                for (std::size_t s = 0; s < n; ++s) {
                    trial_[s] = sign * value(k)[s] + lambda * cost_[s];
                }
                const double most = choices_->largest(trial_.data(), lambda * curvature);
                end = std::min(end, most - lambda * need + base_.rounding);
            }
            end = std::max(end, 0.0);
            (sign > 0 ? high_[k] : low_[k]) = sign * end;
        }
    }
}

void Bound::choose_worst() {
    const bool bounded = best_ > none;
    const double curvature = question_.gained ? 0 : scale_;
    double most = none;
    for (std::size_t s = 0; s < choices_->size(); ++s) {
        if (choices_->count[s] != 1) continue;
        const double v =
            bounded ? choices_->alone(s, cost_.data(), curvature) : value(at_norm() + 1)[s];
        if (v > most) {
            most = v;
            worst_ = choices_->item[s];
        }
    }
}

}  // namespace quadsweep::scores
