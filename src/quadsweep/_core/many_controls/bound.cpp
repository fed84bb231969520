#include "bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "regression/loops.hpp"
#include "shared/largest.hpp"

namespace quadsweep::many_controls {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr double most_l = 0.999;   // from here on a term counts as infinite
constexpr double ranked_l = 0.98;  // and this is what it is ranked by
constexpr double cap = 0.7;        // of l, in the first rounds; 0.5 to 0.85 were no better
constexpr double least_cap = 0.3, most_cap = 0.97;
constexpr int sampled = 256;

// Of the positive ones.
double largest_sum(std::vector<double>& values, int k) {
    k = largest_first(values, k);
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += std::max(values[i], 0.0);
    return sum;
}

}  // namespace

Bound::Bound(const State& state, const std::vector<char>& marked, int m, const Deadline& deadline)
    : state_(state), marked_(marked), m_(m), deadline_(deadline), plain_(state.plain) {
    prepare();
}

void Bound::prepare() {
    const int size = state_.size(), rows = state_.rows(), rank = state_.rank;
    for (int i = 0; i < size; ++i) {
        if (marked_[i]) alive_.push_back(i);
    }
    w_.assign(rows, 0.0);
    cost_.assign(size, 0.0);
    square_.assign(size, 0.0);
    h_.assign(size, 0.0);
    for (int i : alive_) {
        for (int a = state_.start[i]; a < state_.start[i + 1]; ++a) {
            w_[a] = state_.p[a] + state_.q[a];
            cost_[i] += state_.p[a] * state_.q[a] - state_.extra[a];
            square_[i] += w_[a] * w_[a];
        }
    }
    length_.resize(size);
    for (int i = 0; i < size; ++i) length_[i] = std::sqrt(square_[i]);
    exact_a_.assign(size, 0);
    exact_l_.assign(size, 0);
    if (plain_) {
        for (int k = 0; k < rank; ++k) {
            const double* z = state_.column(k);
            for (int a = 0; a < rows; ++a) h_[a] += z[a] * z[a];
        }
        for (int a = 0; a < rows; ++a) h_[a] += state_.e[a] * state_.e[a];
        mates_.resize(state_.left.size());
        for (int i : alive_) {
            if (state_.class_of[i] >= 0) mates_[state_.class_of[i]].push_back(i);
        }
        return;
    }
    const std::size_t square = static_cast<std::size_t>(rank) * rank;
    gram_.assign(size * square, 0.0);
    u_.assign(static_cast<std::size_t>(rank) * size, 0.0);
    lambda_.assign(size, 0.0);
    std::vector<double> power(square), next(square);
    for (int i : alive_) {
        double* gram = gram_.data() + i * square;
        for (int j = 0; j < rank; ++j) {
            const double* zj = state_.column(j);
            for (int k = 0; k <= j; ++k) {
                const double* zk = state_.column(k);
                double sum = 0;
                for (int a = state_.start[i]; a < state_.start[i + 1]; ++a) sum += zj[a] * zk[a];
                gram[j * rank + k] = gram[k * rank + j] = sum;
            }
            for (int a = state_.start[i]; a < state_.start[i + 1]; ++a) {
                u_[static_cast<std::size_t>(j) * size + i] += zj[a] * w_[a];
            }
        }
        // The largest eigenvalue is at most the Frobenius norm of the eighth power, to the 1/8.
        power.assign(gram, gram + square);
        double scale = 1, exponent = 1;
        for (int doubling = 0; doubling < 4; ++doubling) {
            double norm = 0;
            for (double v : power) norm += v * v;
            norm = std::sqrt(norm);
            if (!(norm > 0)) break;
            lambda_[i] = scale * std::pow(norm, 1 / exponent);
            if (doubling == 3) break;
            for (double& v : power) v /= norm;
            for (int j = 0; j < rank; ++j) {
                for (int k = 0; k < rank; ++k) {
                    double sum = 0;
                    for (int l = 0; l < rank; ++l) sum += power[j * rank + l] * power[l * rank + k];
                    next[j * rank + k] = sum;
                }
            }
            power.swap(next);
            scale *= std::pow(norm, 1 / exponent);
            exponent *= 2;
        }
        h_[i] = lambda_[i];
    }
}

// Products of lengths in the place of K_ij; for m candidates, and their classes' shares on top.
void Bound::quick(Sums& sums) const {
    const int size = state_.size();
    sums.l.assign(size, 0.0);
    sums.plus.assign(size, 0.0);
    sums.minus.assign(size, 0.0);
    std::vector<double> products;
    for (int j : alive_) products.push_back(std::sqrt(h_[j]) * length_[j]);
    const double all = largest_sum(products, m_ - 1);
    for (int i : alive_) {
        sums.plus[i] = h_[i] * length_[i] + std::sqrt(h_[i]) * all;
        sums.minus[i] = std::max(std::sqrt(h_[i]) * all - h_[i] * length_[i], 0.0);
    }
    quick_l(sums);
}

void Bound::quick_l(Sums& sums) const {
    std::vector<double> products;
    for (int j : alive_) products.push_back(std::sqrt(h_[j]) * sums.d[j]);
    const double all = largest_sum(products, m_ - 1);
    for (int i : alive_) sums.l[i] = h_[i] + std::sqrt(h_[i]) * all / sums.d[i];
}

// Of a class at least one row stays: where all the others of it are candidates, the least of them.
void Bound::limit_mates(int i, double* values, double sign) const {
    const int c = state_.class_of[i];
    if (c < 0 || static_cast<int>(mates_[c].size()) < state_.left[c]) return;
    int least = -1;
    for (int j : mates_[c]) {
        if (j != i && (least < 0 || sign * values[j] < sign * values[least])) least = j;
    }
    if (least >= 0) values[least] = 0;
}

// The sum of the k largest positive ones of sign times the values.
double Bound::top(const double* values, int size, int k, double sign) {
    k = std::min(k, size);
    if (k <= 0) return 0;
    buffer_.clear();
    if (4 * k < size && size > 4 * sampled) {
        const int step = size / sampled;
        for (int i = 0; i < sampled; ++i) buffer_.push_back(sign * values[i * step]);
        const int at = std::min(sampled - 1, 4 + static_cast<int>(1.5 * k * sampled / size));
        std::nth_element(buffer_.begin(), buffer_.begin() + at, buffer_.end(),
                         std::greater<double>());
        const double threshold = std::max(buffer_[at], 0.0);
        buffer_.clear();
        for (int i = 0; i < size; ++i) {
            if (sign * values[i] > threshold) buffer_.push_back(sign * values[i]);
        }
        if (static_cast<int>(buffer_.size()) >= k || threshold == 0) {
            return largest_sum(buffer_, k);
        }
        buffer_.clear();
    }
    for (int i = 0; i < size; ++i) {
        if (sign * values[i] > 0) buffer_.push_back(sign * values[i]);
    }
    return largest_sum(buffer_, k);
}

void Bound::evaluate(int i, Sums& sums, bool with_a) {
    if (!plain_) {
        evaluate_group(i, sums, with_a);
        return;
    }
    const int size = state_.size(), rank = state_.rank;
    row_.assign(size, 0.0);
    value_.resize(size);
    std::vector<const double*> columns(rank);
    std::vector<double> za(rank);
    for (int k = 0; k < rank; ++k) {
        columns[k] = state_.column(k);
        za[k] = columns[k][i];
    }
    if (rank > 0) {
        regression::regression_loops().combine(columns.data(), za.data(), rank, size, row_.data());
    }
    if (state_.class_of[i] >= 0) {
        for (int j : mates_[state_.class_of[i]]) row_[j] += state_.e[i] * state_.e[j];
    }
    row_[i] = 0;
    if (with_a) {
        const double sign = w_[i] < 0 ? -1 : 1;
        for (int way : {1, -1}) {
            for (int j = 0; j < size; ++j) value_[j] = row_[j] * w_[j];
            limit_mates(i, value_.data(), way * sign);
            const double others = top(value_.data(), size, m_ - 1, way * sign);
            const double own = way * h_[i] * length_[i];
            (way > 0 ? sums.plus : sums.minus)[i] = std::max(own + others, 0.0);
        }
        exact_a_[i] = 1;
    }
    for (int j = 0; j < size; ++j) value_[j] = marked_[j] ? std::fabs(row_[j]) * sums.d[j] : 0.0;
    limit_mates(i, value_.data(), 1);
    sums.l[i] = h_[i] + top(value_.data(), size, m_ - 1, 1) / sums.d[i];
    exact_l_[i] = 1;
}

// |K_gh| at most the Frobenius norm and the product of the roots of the largest eigenvalues;
// w_g' K_gh w_h = u_g.u_h and |K_gh w_h|^2 = u_h' M_g u_h.
void Bound::evaluate_group(int g, Sums& sums, bool with_a) {
    const int size = state_.size(), rank = state_.rank;
    const std::size_t square = static_cast<std::size_t>(rank) * rank;
    const double* gram = gram_.data() + g * square;
    std::vector<double> pairs, lengths, norms;
    double own_pair = 0, own_length = 0;
    for (int h : alive_) {
        double pair = 0, long_square = 0, trace = 0;
        const double* other = gram_.data() + h * square;
        for (int j = 0; j < rank; ++j) {
            const double uj = u_[static_cast<std::size_t>(j) * size + h];
            pair += u_[static_cast<std::size_t>(j) * size + g] * uj;
            double sum = 0;
            for (int k = 0; k < rank; ++k) {
                sum += gram[j * rank + k] * u_[static_cast<std::size_t>(k) * size + h];
                trace += gram[j * rank + k] * other[j * rank + k];
            }
            long_square += uj * sum;
        }
        const double length = std::sqrt(std::max(long_square, 0.0));
        if (h == g) {
            own_pair = pair;
            own_length = length;
            continue;
        }
        pairs.push_back(pair);
        lengths.push_back(length);
        norms.push_back(sums.d[h] * std::min(std::sqrt(std::max(trace, 0.0)),
                                             std::sqrt(lambda_[g] * lambda_[h])));
    }
    if (with_a) {
        sums.minus[g] = own_length + largest_sum(lengths, m_ - 1);  // |a|
        sums.plus[g] = own_pair + largest_sum(pairs, m_ - 1);       // w.a
        exact_a_[g] = 1;
    }
    sums.l[g] = lambda_[g] + largest_sum(norms, m_ - 1) / sums.d[g];
    exact_l_[g] = 1;
}

double Bound::term(int i, const Sums& sums, bool second, double ceiling) const {
    double l = sums.l[i];
    if (l > ceiling) {
        if (ceiling == most_l) return unbounded;
        l = ceiling;
    }
    if (!second) return cost_[i] + square_[i] * l / (1 - l) / 4;
    const double plus = sums.plus[i], minus = sums.minus[i];
    if (!plain_) {
        if (!exact_a_[i]) return unbounded;
        return cost_[i] + (plus + minus * minus / (1 - l)) / 4;
    }
    const double up = length_[i] * plus + plus * plus / (1 - l);
    const double down = -length_[i] * minus + minus * minus / (1 - l);
    return cost_[i] + std::max(up, down) / 4;
}

double Bound::total(const Sums& sums, bool second, std::vector<double>& terms) const {
    terms.assign(state_.size(), -unbounded);
    std::vector<double> values;
    for (int i : alive_) values.push_back(terms[i] = term(i, sums, second, most_l));
    return largest_sum(values, m_);
}

// Where l is above the cap, d grows.
void Bound::lower(Sums& sums) const {
    for (int i : alive_) {
        if (exact_l_[i] && sums.l[i] > cap) sums.d[i] *= std::pow(sums.l[i] / cap, 0.7);
    }
}

// Candidates that are not among the m largest can afford an l of their own, up to which they
// leave those alone.
void Bound::balance(Sums& sums) const {
    std::vector<double> sorted;
    for (int i : alive_) sorted.push_back(term(i, sums, true, ranked_l));
    const int at = std::min(m_, static_cast<int>(sorted.size())) - 1;
    const std::vector<double> ranked = sorted;
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end(), std::greater<double>());
    for (std::size_t r = 0; r < alive_.size(); ++r) {
        const int i = alive_[r];
        if (!exact_l_[i] || ranked[r] >= sorted[at]) continue;
        const double largest = plain_ ? std::max(sums.plus[i], sums.minus[i]) : sums.minus[i];
        const double first = plain_ ? length_[i] * sums.plus[i] : sums.plus[i];
        const double room = 4 * (sorted[at] - cost_[i]) - first;
        const double own =
            room > 0 ? std::clamp(1 - largest * largest / room, least_cap, most_cap) : least_cap;
        const double l = std::max(sums.l[i], 0.05);
        sums.d[i] *= std::pow(l / own, l > own ? 0.7 : 0.4);
    }
}

Outcome Bound::run(Sums& sums, int first_rounds, int rounds) {
    const int size = state_.size();
    Outcome best;
    best.total = unbounded;
    if (sums.d.empty()) {
        std::vector<double> lengths;
        for (int i : alive_) lengths.push_back(length_[i]);
        std::sort(lengths.begin(), lengths.end());
        const double floor = std::max(lengths[lengths.size() / 10], 1e-3 * lengths.back());
        sums.d.assign(size, 1.0);
        for (int i : alive_) sums.d[i] = std::pow(std::max(length_[i], floor) + 1e-300, 0.6);
    }
    if (sums.l.empty()) quick(sums);
    if (!plain_) std::fill(exact_a_.begin(), exact_a_.end(), 0);
    Sums kept = sums;
    std::vector<double> terms, sorted;
    for (int round = 0;; ++round) {
        double sum = unbounded;
        while (!deadline_.over()) {
            sum = total(sums, true, terms);
            if (sum + state_.allowed() < state_.value) break;
            sorted.clear();
            for (int i : alive_) sorted.push_back(terms[i]);
            const int at = std::min(m_, static_cast<int>(sorted.size())) - 1;
            std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end(),
                             std::greater<double>());
            bool any = false;
            for (int i : alive_) {
                const bool matters =
                    terms[i] >= sorted[at] || (round < first_rounds && sums.l[i] > cap);
                if (!matters || (exact_l_[i] && exact_a_[i])) continue;
                if (deadline_.over()) break;
                evaluate(i, sums, !exact_a_[i]);
                any = true;
            }
            if (!any) break;
        }
        for (bool second : {true, false}) {
            if (!second) sum = total(sums, false, terms);
            if (sum < best.total || best.term.empty()) {
                best.total = sum;
                best.term = terms;
                if (second) kept = sums;
            }
        }
        best.closed = best.total + state_.allowed() < state_.value;
        if (best.closed || round + 1 >= first_rounds + rounds || deadline_.over()) break;
        if (round < first_rounds) {
            lower(sums);
            if (round + 1 == first_rounds) sums.d = kept.d;
        } else {
            balance(sums);
        }
        std::fill(exact_l_.begin(), exact_l_.end(), 0);
        quick_l(sums);
    }
    double highest = -unbounded;
    for (int i : alive_) {
        const double ranked =
            std::isfinite(best.term[i]) ? best.term[i] : 1 + term(i, sums, true, ranked_l);
        if (ranked > highest || best.worst < 0) {
            highest = ranked;
            best.worst = i;
        }
    }
    sums = std::move(kept);
    return best;
}

Sums inherited(const State& before, const std::vector<char>& marked, int removed,
               const State& after, const Sums& sums) {
    Sums out;
    std::vector<int> at(after.item.size());
    for (int i = 0, j = 0; j < after.size(); ++i) {
        if (before.item[i] == after.item[j]) at[j++] = i;
    }
    for (int i : at) out.d.push_back(sums.d[i]);
    if (!before.plain) return out;
    const int size = before.size(), rank = before.rank;
    std::vector<const double*> columns(rank);
    std::vector<double> za(rank), row(size, 0.0);
    double h = 0;
    for (int k = 0; k < rank; ++k) {
        columns[k] = before.column(k);
        za[k] = columns[k][removed];
        h += za[k] * za[k];
    }
    if (rank > 0) {
        regression::regression_loops().combine(columns.data(), za.data(), rank, size, row.data());
    }
    for (int j = 0; before.class_of[removed] >= 0 && j < size; ++j) {
        if (before.class_of[j] == before.class_of[removed])
            row[j] += before.e[removed] * before.e[j];
    }
    h += before.e[removed] * before.e[removed];
    double steepest = 0;
    for (int j = 0; j < size; ++j) {
        if (marked[j] && j != removed) {
            steepest = std::max(steepest, std::fabs(row[j]) / sums.d[j]);
        }
    }
    const double w_removed = before.p[removed] + before.q[removed];
    const double w = std::fabs(w_removed), rest = 1 - h;
    const double reach = sums.l[removed] * sums.d[removed] / rest;
    const double a = std::max(sums.plus[removed], sums.minus[removed]);
    for (int i : at) {
        const double k = std::fabs(row[i]);
        out.l.push_back(sums.l[i] + k * reach / sums.d[i]);
        const double more =
            w / rest * steepest * sums.l[i] * sums.d[i] + k / rest * (a + 2 * h * w);
        const double before_w = before.p[i] + before.q[i];
        const double after_w = before_w + row[i] / rest * w_removed;
        const bool same = (before_w < 0) == (after_w < 0);
        out.plus.push_back((same ? sums.plus : sums.minus)[i] + more);
        out.minus.push_back((same ? sums.minus : sums.plus)[i] + more);
    }
    return out;
}

}  // namespace quadsweep::many_controls
