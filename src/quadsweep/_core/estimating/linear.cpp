#include "linear.hpp"

#include <algorithm>
#include <cmath>

#include "shared/cholesky.hpp"

namespace quadsweep::estimating {
namespace {

constexpr double dropped = 1e-4;     // a length or share below which rounding is not trusted
constexpr double explained = 1e-11;  // one below which a row's leverage counts as 1
constexpr double update_roundings = 256;
constexpr int block = 128;  // rows at a time

double dot(const double* a, const double* b, int count) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
}

// The fit to what is left after some removals. Rows that are gone are zero in every column.
struct Level {
    std::vector<double> basis, s, x, e;  // e: residuals of this level
    double slope = 0;                    // the coefficient
    double ss = 0, sx = 0, ee = 0;       // s.s, s.x, e.e
    double xx = 0, xe = 0;
    std::vector<std::vector<int>> size;  // rows of each cluster
    std::vector<int> groups;             // clusters with rows
    int rows = 0, rank = 0;
    bool clear = true;
};

class LinearRefits : public Refits {
  public:
    explicit LinearRefits(const LinearTest& test) : t_(test), n_(test.rows), q_(test.controls) {
        level_.resize(1);
        Level& all = level_[0];
        all.basis = t_.basis;
        all.s = t_.s;
        all.x = t_.x;
        all.e = t_.y;
        all.rows = n_;
        all.rank = q_;
        all.clear = t_.error < 1e-9;
        for (std::size_t way = 0; way < t_.cluster.size(); ++way) {
            all.size.emplace_back(static_cast<std::size_t>(t_.clusters[way]), 0);
            int present = 0;
            for (int g : t_.cluster[way]) present += all.size[way][g]++ == 0;
            all.groups.push_back(present);
        }
        finish(all);
        v_.resize(n_);
        rows_.resize(static_cast<std::size_t>(q_) * block);
        chol_.resize(static_cast<std::size_t>(q_) * q_);
        for (auto* d : {&ds_, &dx_, &de_}) d->resize(q_);
        for (int count : t_.clusters) sum_.emplace_back(static_cast<std::size_t>(count), 0.0);
    }

    void remove(int level, std::span<const int> units) override {
        if (static_cast<int>(level_.size()) < level + 2) level_.resize(level + 2);
        const Level& from = level_[level];
        Level& to = level_[level + 1];
        to = from;
        for (int unit : units) clear(to, t_.first[unit], t_.first[unit + 1]);
        orthonormalise(to);
        for (auto* c : {&to.s, &to.x, &to.e}) leave(to, *c);
        finish(to);
    }

    Verdict without(int level, int unit) override {
        const Level& at = level_[level];
        const int begin = t_.first[unit], end = t_.first[unit + 1];
        if (!at.clear) return Verdict::unclear;
        Refit fit;
        if (!solve(at, begin, end, fit)) return Verdict::unclear;
        const int parameters = at.rank + 1 + t_.fixed, kept = at.rows - (end - begin);
        int freedom = kept - parameters;
        if (freedom < 1) return Verdict::holds;
        const double variance = sandwich(at, begin, end, fit, kept, parameters, freedom);
        if (freedom < 1) return Verdict::holds;
        if (!(variance > 0)) return Verdict::unclear;
        return compare(at, fit, std::sqrt(variance), freedom);
    }

  private:
    // Sums of the rows left, and how much rounding may have been magnified.
    struct Refit {
        double ss = 0, sx = 0, se = 0, ee = 0, slope = 0;
        double least = 1;  // pivot
    };

    double* column(Level& l, int j) const {
        return l.basis.data() + static_cast<std::ptrdiff_t>(j) * n_;
    }
    const double* column(const Level& l, int j) const {
        return l.basis.data() + static_cast<std::ptrdiff_t>(j) * n_;
    }

    void clear(Level& l, int begin, int end) const {
        const auto zero = [&](std::vector<double>& c, std::ptrdiff_t at) {
            std::fill(c.begin() + at + begin, c.begin() + at + end, 0.0);
        };
        for (int j = 0; j < q_; ++j) zero(l.basis, static_cast<std::ptrdiff_t>(j) * n_);
        for (auto* c : {&l.s, &l.x, &l.e}) zero(*c, 0);
        l.rows -= end - begin;
        for (std::size_t way = 0; way < t_.cluster.size(); ++way) {
            for (int i = begin; i < end; ++i) {
                if (--l.size[way][t_.cluster[way][i]] == 0) --l.groups[way];
            }
        }
    }

    void leave(const Level& l, std::vector<double>& c) const {
        for (int pass = 0; pass < 2; ++pass) {
            for (int j = 0; j < q_; ++j) {
                const double* b = column(l, j);
                const double along = dot(b, c.data(), n_);
                for (int i = 0; i < n_; ++i) c[i] -= along * b[i];
            }
        }
    }

    void orthonormalise(Level& l) const {
        for (int j = 0; j < q_; ++j) {
            double* c = column(l, j);
            for (int pass = 0; pass < 2; ++pass) {
                for (int i = 0; i < j; ++i) {
                    const double* b = column(l, i);
                    const double along = dot(b, c, n_);
                    for (int r = 0; r < n_; ++r) c[r] -= along * b[r];
                }
            }
            const double length = std::sqrt(dot(c, c, n_));
            if (!(length > dropped)) l.clear = false;
            const double scale = length > dropped ? 1 / length : 0;
            for (int r = 0; r < n_; ++r) c[r] *= scale;
        }
    }

    // e becomes the residuals of this level, and the sums follow.
    void finish(Level& l) const {
        l.ss = dot(l.s.data(), l.s.data(), n_);
        l.sx = dot(l.s.data(), l.x.data(), n_);
        if (!(std::fabs(l.sx) > dropped * dropped * std::sqrt(l.ss))) {
            l.clear = false;
            return;
        }
        const double more = dot(l.s.data(), l.e.data(), n_) / l.sx;
        for (int i = 0; i < n_; ++i) l.e[i] -= more * l.x[i];
        l.slope += more;
        l.ee = dot(l.e.data(), l.e.data(), n_);
        l.xx = dot(l.x.data(), l.x.data(), n_);
        l.xe = dot(l.x.data(), l.e.data(), n_);
    }

    // G and its Cholesky factor; the change of the controls' coefficients; what is left of the
    // sums.
    bool solve(const Level& at, int begin, int end, Refit& fit) {
        for (int i = 0; i < q_; ++i) {
            for (int j = 0; j <= i; ++j) {
                double sum = i == j ? 1 : 0;
                for (int r = begin; r < end; ++r) sum -= column(at, i)[r] * column(at, j)[r];
                chol_[i * q_ + j] = sum;
            }
            ds_[i] = dx_[i] = de_[i] = 0;
            for (int r = begin; r < end; ++r) {
                ds_[i] += column(at, i)[r] * at.s[r];
                dx_[i] += column(at, i)[r] * at.x[r];
                de_[i] += column(at, i)[r] * at.e[r];
            }
        }
        fit.ss = at.ss, fit.sx = at.sx, fit.se = 0, fit.ee = at.ee;
        double xx = at.xx, xe = at.xe;
        for (int r = begin; r < end; ++r) {
            fit.ss -= at.s[r] * at.s[r];
            fit.sx -= at.s[r] * at.x[r];
            fit.se -= at.s[r] * at.e[r];
            fit.ee -= at.e[r] * at.e[r];
            xx -= at.x[r] * at.x[r];
            xe -= at.x[r] * at.e[r];
        }
        const auto counts = [&](double pivot, double) {
            if (pivot > dropped) fit.least = std::min(fit.least, pivot);
            return pivot > dropped;
        };
        if (!cholesky(q_, chol_.data(), q_, counts)) return false;
        for (auto* d : {&ds_, &dx_, &de_}) solve_lower(q_, chol_.data(), q_, d->data());
        fit.ss -= dot(ds_.data(), ds_.data(), q_);
        fit.sx -= dot(ds_.data(), dx_.data(), q_);
        fit.se -= dot(ds_.data(), de_.data(), q_);
        fit.ee -= dot(de_.data(), de_.data(), q_);
        xx -= dot(dx_.data(), dx_.data(), q_);
        xe -= dot(dx_.data(), de_.data(), q_);
        if (!(std::fabs(fit.sx) > dropped * std::fabs(at.sx))) return false;
        const double more = fit.se / fit.sx;
        fit.slope = at.slope + more;
        fit.ee += more * (more * xx - 2 * xe);
        for (auto* d : {&ds_, &dx_, &de_}) solve_upper(q_, chol_.data(), q_, d->data());
        for (int j = 0; j < q_; ++j) de_[j] -= more * dx_[j];
        return true;
    }

    // v on the rows before and after those removed.
    void scores(const Level& at, int begin, int end, const Refit& fit) {
        const double more = fit.slope - at.slope;
        const auto fill = [&](int from, int to) {
            double u[block], e[block];
            for (int start = from; start < to; start += block) {
                const int count = std::min(block, to - start);
                for (int i = 0; i < count; ++i) {
                    u[i] = at.s[start + i];
                    e[i] = at.e[start + i] - more * at.x[start + i];
                }
                for (int j = 0; j < q_; ++j) {
                    const double* b = column(at, j) + start;
                    const double du = ds_[j], de = de_[j];
#pragma omp simd
                    for (int i = 0; i < count; ++i) {
                        u[i] += du * b[i];
                        e[i] += de * b[i];
                    }
                }
                for (int i = 0; i < count; ++i) v_[start + i] = u[i] * e[i];
                if (t_.errors.power > 0) by_leverage(at, fit, u, start, count);
            }
        };
        fill(0, begin);
        fill(end, n_);
    }

    // v over 1 - h, or its root, with h = |L^-1 Q_i|^2 + u^2 / u.u for G = L L'.
    void by_leverage(const Level& at, const Refit& fit, const double* u, int start, int count) {
        double left[block];
        for (int i = 0; i < count; ++i) left[i] = 1 - u[i] * u[i] / fit.ss;
        for (int j = 0; j < q_; ++j) {
            double* row = rows_.data() + j * block;
            const double* b = column(at, j) + start;
            for (int i = 0; i < count; ++i) row[i] = b[i];
            for (int l = 0; l < j; ++l) {
                const double times = chol_[j * q_ + l];
                const double* before = rows_.data() + l * block;
#pragma omp simd
                for (int i = 0; i < count; ++i) row[i] -= times * before[i];
            }
            const double scale = 1 / chol_[j * q_ + j];
#pragma omp simd
            for (int i = 0; i < count; ++i) {
                row[i] *= scale;
                left[i] -= row[i] * row[i];
            }
        }
        for (int i = 0; i < count; ++i) {
            double& v = v_[start + i];
            if (left[i] < explained) {
                v = 0;
                continue;
            }
            least_left_ = std::min(least_left_, left[i]);
            v /= t_.errors.power < 1 ? std::sqrt(left[i]) : left[i];
        }
    }

    // The variance of the coefficient times (u.x)^2; NaN where it is not one.
    double sandwich(const Level& at, int begin, int end, const Refit& fit, int kept, int parameters,
                    int& freedom) {
        const double rows = kept, left = t_.errors.k_adj ? kept - parameters : 0;
        least_left_ = 1;
        if (t_.errors.kind == Variance::classical) {
            return fit.ee / (t_.errors.k_adj ? left : rows - 1) * fit.ss;
        }
        if (t_.errors.kind == Variance::known) return t_.errors.variance * fit.ss;
        scores(at, begin, end, fit);
        if (t_.errors.kind == Variance::clustered) {
            return clustered(at, begin, end, t_.errors.k_adj ? (rows - 1) / left : 1, freedom);
        }
        const double sum =
            dot(v_.data(), v_.data(), begin) + dot(v_.data() + end, v_.data() + end, n_ - end);
        return t_.errors.k_adj ? rows / left * sum : sum;
    }

    double clustered(const Level& at, int begin, int end, double times, int& freedom) {
        std::vector<int> groups;
        for (std::size_t way = 0; way < t_.cluster.size(); ++way) {
            groups.push_back(left_of(at, way, begin, end));
        }
        const int fewest = *std::min_element(groups.begin(), groups.end());
        if (t_.errors.cluster_freedom || fewest < 2) freedom = fewest - 1;
        double total = 0;
        for (std::size_t way = 0; way < t_.cluster.size(); ++way) {
            auto& sum = sum_[way];
            const auto& label = t_.cluster[way];
            std::fill(sum.begin(), sum.end(), 0.0);
            for (int i = 0; i < begin; ++i) sum[label[i]] += v_[i];
            for (int i = end; i < n_; ++i) sum[label[i]] += v_[i];
            const double part = dot(sum.data(), sum.data(), static_cast<int>(sum.size()));
            const double g = t_.errors.g_min ? fewest : groups[way];
            total += (way == 2 ? -1 : 1) * part * (t_.errors.g_adj ? g / (g - 1) : 1);
        }
        return times * total;
    }

    int left_of(const Level& at, std::size_t way, int begin, int end) {
        int groups = at.groups[way];
        for (int i = begin; i < end; ++i) {
            const int g = t_.cluster[way][i];
            int gone = 0;
            for (int j = begin; j <= i; ++j) gone += t_.cluster[way][j] == g;
            if (gone == at.size[way][g]) --groups;
        }
        return groups;
    }

    Verdict compare(const Level& at, const Refit& fit, double root, int freedom) const {
        const double wanted = t_.critical[freedom] * root;
        const double found = fit.slope * fit.sx * (t_.instrument && fit.sx < 0 ? -1 : 1);
        const double past = t_.side == 0 ? wanted - std::fabs(found) : t_.side * found - wanted;
        const double share = std::fabs(fit.sx / at.sx);
        const double size =
            (1 + std::fabs(fit.slope)) / (fit.least * share * least_left_ * least_left_);
        const double margin =
            update_roundings * (t_.error + 1e-15) * size * (1 + t_.critical[freedom]);
        // A residual of nearly nothing has no error to divide by.
        if (!(root > 1e3 * margin)) return Verdict::unclear;
        if (std::fabs(past) <= 1e-9 * wanted + margin) return Verdict::unclear;
        return past > 0 ? Verdict::breaks : Verdict::holds;
    }

    const LinearTest& t_;
    int n_, q_;
    std::vector<Level> level_;
    std::vector<double> v_, rows_, chol_, ds_, dx_, de_;
    std::vector<std::vector<double>> sum_;
    double least_left_ = 1;
};

}  // namespace

std::unique_ptr<Refits> refits_of(const LinearTest& test) {
    return std::make_unique<LinearRefits>(test);
}

}  // namespace quadsweep::estimating
