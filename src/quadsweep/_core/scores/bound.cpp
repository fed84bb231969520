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
constexpr double worth_narrowing = 0.02;  // of an end
constexpr double hopeless = 0.3;          // of what goes at most, for what is needed
constexpr double worth_pairs = 0.7;       // of the items that were free the last time

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
    for (auto& of_end : multiplier_) of_end.clear();
    best_ = none;
    scale_ = 0;
    for (int time = 0; time <= narrowings && !control_.over(); ++time) {
        if (!bound_shifts() || !bound_leverages()) break;
        cost_sets();
        choose_scale(time == 0);
        if (best_ > margin_) return Outcome::refuted;
        if (time == narrowings || total_ <= 0 || need_ - margin_ < hopeless * total_) break;
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

void Bound::measure_sets() {
    sets_ = std::make_unique<Sets>(question_, base_, *choices_);
    const std::size_t n = choices_->size();
    std::vector<double> own(n), slack(n), sizes(n);
    double largest = 0;
    for (double g : base_.score) largest = std::max(largest, std::abs(g));
    for (std::size_t s = 0; s < n; ++s) {
        own[s] = sets_->own(s);
        slack[s] = sets_->slack_of_own(s);
        sizes[s] = question_.of_parts() ? std::abs(base_.item_square[choices_->item[s]])
                                        : std::abs(own[s]) + slack[s];
    }
    cancelled_ = choices_->largest(sizes.data());
    tops_.clear();
    if (question_.of_parts()) return;
    cancelled_ *= 2 * largest + cancelled_;
    choices_->add_scores(std::move(own), std::move(slack), base_.score);
    if (choices_->is_coarse()) sum_norms();
}

// In every cluster the largest sums of the lengths of what may go.
void Bound::sum_norms() {
    const std::size_t n = choices_->size();
    std::vector<double> lengths(n);
    for (int k = 0; k < 3; ++k) {
        for (std::size_t s = 0; s < n; ++s) lengths[s] = sets_->length(k, s);
        for (int g = 0; g < static_cast<int>(choices_->cluster.size()); ++g) {
            tops_.push_back(choices_->largest_in_cluster(g, lengths.data()));
        }
    }
}

// ---- what goes altogether ----

void Bound::sum_boxes() {
    const std::size_t n = choices_->size();
    low_.assign(sets_->values(), 0.0);
    high_.assign(sets_->values(), 0.0);
    trial_.resize(n);
    for (int k = 0; k < sets_->values(); ++k) {
        for (double sign : {1.0, -1.0}) {
            if (sign < 0 && k >= sets_->at_norm()) continue;
            const double* value = sets_->value(k);
            for (std::size_t s = 0; s < n; ++s) trial_[s] = sign * value[s] + sets_->slack(k, s);
            (sign > 0 ? high_ : low_)[k] =
                sign * (choices_->largest(trial_.data()) + base_.rounding);
        }
    }
}

// Of rows one by one, with many controls or large leverages: from all pairs.
void Bound::sum_rows() {
    const int n = static_cast<int>(choices_->size());
    if (summed_ > 0 && n > worth_pairs * static_cast<double>(summed_)) return;  // fewer have less
    most_term_ = most_outcome_ = most_residual_ = most_k1_ = most_k2_ = infinity;
    const bool single = question_.units() == question_.rows;
    if (!single || n > most_pairs || (q_ <= few_controls && high_[sets_->at_norm() + 1] <= 0.5))
        return;
    std::vector<int> rows(n);
    for (int s = 0; s < n; ++s) rows[s] = question_.item_first[choices_->item[s]];
    for (int i : rows) {
        if (question_.effect[i] != 0) return;
    }
    std::vector<double> root(n);  // by which the rows of a matrix are scaled, for its row sums
    for (int s = 0; s < n; ++s) {
        root[s] = std::sqrt(std::sqrt(base_.leverage_with_term[rows[s]]) + 1e-12);
    }
    std::vector<double> sums[3];
    double k1 = 0, k2 = 0;
    LargestSum pairs[5] = {m_ - 1, m_ - 1, m_ - 1, m_ - 1, m_ - 1};
    for (int s = 0; s < n && !control_.over(); ++s) {
        const double* v = base_.at(rows[s]);
        const double h = base_.leverage[rows[s]], ht = base_.leverage_with_term[rows[s]];
        for (auto& p : pairs) p.clear();
        for (int o = 0; o < n; ++o) {
            if (o == s) continue;
            const double* w = base_.at(rows[o]);
            double k = 0;
            for (int a = 0; a < q_; ++a) k += v[a] * w[a];
            const double kt = k + v[q_] * w[q_];
            pairs[0].add(k * v[q_] * w[q_]);
            pairs[1].add(k * v[q_ + 2] * w[q_ + 2]);
            pairs[2].add(kt * v[q_ + 1] * w[q_ + 1]);
            pairs[3].add(std::abs(k) * root[o]);
            pairs[4].add(std::abs(kt) * root[o]);
        }
        sums[0].push_back(h * v[q_] * v[q_] + pairs[0].sum());
        sums[1].push_back(h * v[q_ + 2] * v[q_ + 2] + pairs[1].sum());
        sums[2].push_back(ht * v[q_ + 1] * v[q_ + 1] + pairs[2].sum());
        k1 = std::max(k1, h + pairs[3].sum() / root[s]);
        k2 = std::max(k2, ht + pairs[4].sum() / root[s]);
    }
    if (control_.over()) return;
    const double more = base_.rounding;
    most_term_ = std::sqrt(sum_of_largest(sums[0], m_) + more);
    most_outcome_ = std::sqrt(sum_of_largest(sums[1], m_) + more);
    most_residual_ = std::sqrt(sum_of_largest(sums[2], m_) + more);
    most_k1_ = k1 + more;
    most_k2_ = k2 + more;
    summed_ = n;
}

// How far the coefficients of the term and of the residual on the controls may move; false where
// the controls may become dependent.
bool Bound::bound_shifts() {
    k1_ = std::min(most_k1_, high_[sets_->at_norm()]);
    k2_ = std::min(most_k2_, high_[sets_->at_norm() + 1]);
    if (k1_ >= most_k || k2_ >= most_k) return false;
    const auto norm = [&](int from, int dimension) {
        double sum = 0;
        for (int k = from; k < from + dimension; ++k) sum += reach(k) * reach(k);
        return std::sqrt(sum);
    };
    length_term_ = std::min(norm(0, q_), most_term_);
    length_outcome_ = std::min(norm(sets_->at_outcome(), q_), most_outcome_);
    length_residual_ = std::min(norm(sets_->at_residual(), q_ + 1), most_residual_);
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

// ---- costs ----

// No less than the product of `by`, each entry up to `wrong` off, with a vector that is in a box, a
// bit wider, and no longer.
double Bound::most_of(const double* by, const double* wrong, int dimension, int from, double wider,
                      double most_length) const {
    double sum = 0, square = 0, off = 0;
    for (int k = 0; k < dimension; ++k) {
        sum += std::max(by[k] * (high_[from + k] + wider), by[k] * (low_[from + k] - wider));
        sum += wrong[k] * (reach(from + k) + wider);
        square += by[k] * by[k];
        off += wrong[k] * wrong[k];
    }
    return std::min(sum, (std::sqrt(square) + std::sqrt(off)) * most_length);
}

void Bound::cost_sets() {
    const std::size_t n = choices_->size();
    of_product_.resize(n);
    of_scores_.resize(n);
    for (std::size_t s = 0; s < n; ++s) of_scores_[s] = cost_of_set(s, of_product_[s]);
}

// What a set takes of C, and what it adds to |S|^2 (to minus S in one direction, where gained).
double Bound::cost_of_set(std::size_t s, double& of_product) const {
    const int p = q_ + 1, at_outcome = sets_->at_outcome(), at_residual = sets_->at_residual();
    const bool gained = question_.gained;
    const double sign = gained ? -1 : 1;
    static thread_local std::vector<double> by, wrong;
    by.resize(2 * p);
    wrong.resize(2 * p);
    for (int a = 0; a < q_; ++a) {
        by[a] = sign * sets_->value(a)[s];
        wrong[a] = sets_->slack(a, s);
        by[p + a] = sign * sets_->value(at_outcome + a)[s];
        wrong[p + a] = sets_->slack(at_outcome + a, s);
    }
    of_product = sign * sets_->with_outcome(s) + sets_->slack_with_outcome(s) +
                 0.5 * (most_of(by.data(), wrong.data(), q_, at_outcome, 0, length_outcome_) +
                        most_of(by.data() + p, wrong.data() + p, q_, 0, 0, length_term_));
    // What the shifts of the coefficients do to the scores: on all clusters, but for what goes.
    double sum = 0, off = 0;
    for (int a = 0; a < q_; ++a) {
        sum += base_.pull_term[a] * sets_->value(a)[s];
        off += std::abs(base_.pull_term[a]) * sets_->slack(a, s);
    }
    for (int a = 0; a < p; ++a) {
        sum += base_.pull_residual[a] * sets_->value(at_residual + a)[s];
        off += std::abs(base_.pull_residual[a]) * sets_->slack(at_residual + a, s);
    }
    sum = sign * sum + off;
    if (question_.of_parts()) return sum_of_item(choices_->item[s], sum);
    const int cluster = choices_->cluster_of[choices_->block_of[s]];
    const bool joint = !choices_->is_alone(cluster);
    const std::size_t g = choices_->cluster[cluster];
    const double own = sets_->own(s), off_own = sets_->slack_of_own(s);
    const double moved = gained ? 0 : own, off_moved = gained ? 0 : off_own;
    // A cluster of several blocks: what the others add to its score is left to tops_.
    const double stays = base_.direction[g] + (joint || gained ? 0 : own);
    for (int a = 0; a < q_; ++a) {
        const double by_term = base_.by_term[g * q_ + a];
        by[a] = sign * (moved * by_term - stays * sets_->value(at_residual + a)[s]);
        wrong[a] =
            off_moved * std::abs(by_term) + std::abs(stays) * sets_->slack(at_residual + a, s);
    }
    sum += most_of(by.data(), wrong.data(), q_, 0, t_more_, t_);
    for (int a = 0; a < p; ++a) {
        const double by_residual = base_.by_residual[g * p + a];
        const double with_term = a < q_ ? sets_->value(a)[s] : sets_->with_itself(s);
        const double off_term = a < q_ ? sets_->slack(a, s) : sets_->slack_with_itself(s);
        by[a] = sign * (moved * by_residual - stays * with_term);
        wrong[a] = off_moved * std::abs(by_residual) + std::abs(stays) * off_term;
    }
    sum += most_of(by.data(), wrong.data(), p, at_residual, r_more_, r_);
    double square = 0, square_of_both = 0;
    for (int k = 0; k < q_ * p; ++k) {
        const double by_both = base_.by_both[g * q_ * p + k];
        const double v = moved * by_both - stays * sets_->both(s)[k];
        square += v * v;
        square_of_both += by_both * by_both;
    }
    sum += t_ * r_ *
           (std::sqrt(square) + off_moved * std::sqrt(square_of_both) +
            std::abs(stays) * sets_->slack_of_both(s));
    if (gained) return sum - base_.direction[g] * own + std::abs(base_.direction[g]) * off_own;
    if (joint) {
        const std::size_t n = choices_->cluster.size();
        const double* top = &tops_[cluster];
        sum += (std::abs(own) + off_own) * (t_ * top[0] + r_ * top[n] + t_ * r_ * top[2 * n]);
    }
    // The square of a cluster's score is left to the choices where some have several blocks.
    if (choices_->is_coarse()) return 2 * sum;
    return 2 * sum + own * (2 * base_.score[g] + own);
}

// The same of an item whose clusters go with it, from what the shifts do to all clusters.
double Bound::sum_of_item(int item, double sum) const {
    const int p = q_ + 1;
    const double sign = question_.gained ? -1 : 1;
    static thread_local std::vector<double> by, none_wrong;
    by.resize(p);
    none_wrong.assign(p, 0.0);
    for (int a = 0; a < q_; ++a) by[a] = -sign * base_.item_term[item * q_ + a];
    sum += most_of(by.data(), none_wrong.data(), q_, 0, t_more_, t_);
    for (int a = 0; a < p; ++a) by[a] = -sign * base_.item_residual[item * p + a];
    sum += most_of(by.data(), none_wrong.data(), p, sets_->at_residual(), r_more_, r_);
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
            const double e = sets_->length(0, s), x = sets_->length(1, s);
            const int g = choices_->cluster_of[choices_->block_of[s]];
            const bool joint = !choices_->is_alone(g);
            of_term[s] = e * (joint ? tops_[g] : e);
            of_residual[s] = x * (joint ? tops_[choices_->cluster.size() + g] : x);
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

// ---- what follows ----

// The costs of a removal in question add up to what is needed: so for every lambda >= 0 no sum over
// it is larger than the largest of itself plus lambda times the cost, less lambda times the need.
void Bound::narrow_boxes() {
    const std::size_t n = choices_->size();
    const double curvature = question_.gained ? 0 : scale_;
    const double need = need_ - margin_;
    trial_.resize(n);
    const bool first = multiplier_[0].empty();
    for (auto& of_end : multiplier_) of_end.resize(sets_->values(), 0.0);
    for (int k = 0; k < sets_->values(); ++k) {
        for (double sign : {1.0, -1.0}) {
            if (sign < 0 && k >= sets_->at_norm()) continue;
            const double* value = sets_->value(k);
            const double end = sign > 0 ? high_[k] : -low_[k];
            double& best = multiplier_[sign < 0][k];
            if (!(end > 0) || control_.over() || (!first && best == 0)) continue;
            double least = end;
            const double last = best;
            best = 0;
            for (double multiplier : multipliers) {
                if (!first && multiplier != last) continue;
                const double lambda = multiplier * end / total_;
                for (std::size_t s = 0; s < n; ++s) {
                    trial_[s] = sign * value[s] + sets_->slack(k, s) + lambda * cost_[s];
                }
                const double most = choices_->largest(trial_.data(), lambda * curvature);
                const double now = most - lambda * need + base_.rounding;
                if (now < (1 - worth_narrowing) * end && now < least) best = multiplier;
                least = std::min(least, now);
            }
            (sign > 0 ? high_[k] : low_[k]) = sign * std::max(least, 0.0);
        }
    }
}

void Bound::choose_worst() {
    const bool bounded = best_ > none;
    const double curvature = question_.gained ? 0 : scale_;
    double most = none;
    for (std::size_t s = 0; s < choices_->size(); ++s) {
        if (choices_->count[s] != 1) continue;
        const double v = bounded ? choices_->alone(s, cost_.data(), curvature)
                                 : sets_->value(sets_->at_norm() + 1)[s];
        if (v > most) {
            most = v;
            worst_ = choices_->item[s];
        }
    }
}

}  // namespace quadsweep::scores
