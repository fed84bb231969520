#include "span.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace quadsweep::regression {
namespace {

constexpr int most_primes = 64;
constexpr int prime_bits = 30;  // each of the primes is above 2^30
using Residues = std::vector<std::uint64_t>;

bool is_prime(std::uint32_t n) {
    for (std::uint32_t d = 3; static_cast<std::uint64_t>(d) * d <= n; d += 2) {
        if (n % d == 0) return false;
    }
    return n % 2 != 0;
}
const std::array<std::uint32_t, most_primes>& primes() {
    static const auto found = [] {
        std::array<std::uint32_t, most_primes> out{};
        std::uint32_t n = 0x7fffffff;
        for (auto& p : out) {
            while (!is_prime(n)) --n;
            p = n--;
        }
        return out;
    }();
    return found;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t prime) {
    std::uint64_t out = 1;
    for (; exponent > 0; exponent /= 2, base = base * base % prime) {
        if (exponent % 2 != 0) out = out * base % prime;
    }
    return out;
}
std::uint64_t inverse(std::uint64_t a, std::uint64_t prime) { return power(a, prime - 2, prime); }

// A double that is not zero is a whole number times two to this.
int exponent_of(double v) { return std::ilogb(v) - 52; }

// Of whole numbers times powers of two, all of them multiples of 2^low.
class Modulo {
  public:
    Modulo(std::uint64_t prime, int range) : prime_(prime), power_{1} {
        for (int e = 0; e < range; ++e) power_.push_back(2 * power_.back() % prime);
    }
    std::uint64_t operator()(const DoubleDouble& v, int low) const {
        return (residue(v.hi, low) + residue(v.lo, low)) % prime_;
    }

  private:
    std::uint64_t residue(double v, int low) const {
        if (v == 0) return 0;
        const int exponent = exponent_of(v);
        const auto number = static_cast<std::uint64_t>(std::ldexp(std::fabs(v), -exponent));
        const std::uint64_t size = number % prime_ * power_[exponent - low] % prime_;
        return v < 0 && size != 0 ? prime_ - size : size;
    }

    std::uint64_t prime_;
    Residues power_;
};

class Rows {
  public:
    Rows(std::span<const Column* const> others, const Column& column, std::span<const int> rows)
        : columns_(others.begin(), others.end()), rows_(rows) {
        columns_.push_back(&column);
        for (int i : rows_) {
            low_.push_back(lowest_of(i));
            range_ = std::max(range_, highest_of(i) - low_.back());
        }
    }
    std::size_t columns() const { return columns_.size(); }

    // Bits of any minor of full width: rows are whole numbers of so many bits, and the determinant
    // is at most the product of their lengths.
    double bits() const {
        const auto width = static_cast<double>(columns());
        return width * (range_ + 53 + std::log2(width) / 2) + 1;
    }

    // By elimination, column after column.
    std::size_t rank(std::uint64_t prime) const {
        std::vector<Residues> basis(columns());  // by the place of the first entry that is not 0
        std::size_t found = 0;
        Residues row(columns());
        const Modulo modulo(prime, range_);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            for (std::size_t j = 0; j < columns(); ++j) {
                row[j] = modulo(columns_[j]->at(rows_[i]), low_[i]);
            }
            for (std::size_t j = 0; j < columns(); ++j) {
                if (row[j] == 0) continue;
                if (basis[j].empty()) {
                    const std::uint64_t unit = inverse(row[j], prime);
                    for (auto& v : row) v = v * unit % prime;
                    basis[j] = row;
                    ++found;
                    break;
                }
                const std::uint64_t times = prime - row[j];
                for (std::size_t l = j; l < columns(); ++l) {
                    row[l] = (row[l] + times * basis[j][l]) % prime;
                }
            }
            if (found == columns()) break;
        }
        return found;
    }

  private:
    int lowest_of(int row) const {
        int low = std::numeric_limits<int>::max();
        for (const Column* c : columns_) {
            const DoubleDouble v = c->at(row);
            if (v.hi != 0) low = std::min(low, exponent_of(v.lo != 0 ? v.lo : v.hi));
        }
        return low;
    }
    int highest_of(int row) const {
        int high = lowest_of(row);
        for (const Column* c : columns_) {
            if (c->at(row).hi != 0) high = std::max(high, exponent_of(c->at(row).hi));
        }
        return high;
    }

    std::vector<const Column*> columns_;
    std::span<const int> rows_;
    std::vector<int> low_;  // of each row: the exponent that all its entries are multiples of
    int range_ = 0;         // of exponents in a row
};

}  // namespace

Span place_in_span(std::span<const Column* const> others, const Column& column,
                   std::span<const int> rows) {
    const Rows table(others, column, rows);
    if (rows.size() < table.columns()) return Span::inside;
    const double bits = table.bits();
    double tried = 0;
    for (const std::uint64_t prime : primes()) {
        if (table.rank(prime) == table.columns()) return Span::outside;
        tried += prime_bits;
        if (tried > bits) return Span::inside;
    }
    return Span::unknown;
}

}  // namespace quadsweep::regression
