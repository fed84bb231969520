#include "listing.hpp"

#include <limits>
#include <numeric>

namespace quadsweep {

std::int64_t ways(const Undecided& open, std::int64_t need, bool k_or_more, std::int64_t most) {
    if (!open.cell.empty()) return most + 1;
    const std::int64_t total =
        std::accumulate(open.copies.begin(), open.copies.end(), std::int64_t{0});
    if (need > total || (need < 0 && !k_or_more)) return 0;
    if (k_or_more && need < 0) need = 0;
    // Fewer of the two: copies kept and copies left out.
    const std::int64_t side = k_or_more ? total - need : std::min<std::int64_t>(need, total - need);
    if (side > 4096 || open.point.size() > 4096) return side == 0 ? 1 : most + 1;
    if (!k_or_more && total == static_cast<std::int64_t>(open.point.size())) {
        std::int64_t count = 1;  // single copies: a binomial coefficient
        for (std::int64_t i = 1; i <= side && count <= most; ++i) {
            count = count * (total - side + i) / i;
        }
        return std::min(count, most + 1);
    }
    // Coefficients of the product of 1 + z + ... + z^copies. They rise up to half the degree and
    // with every factor, so that any of them above `most` settles it.
    std::vector<std::int64_t> count(static_cast<std::size_t>(side) + 1, 0);
    count[0] = 1;
    for (int copies : open.copies) {
        for (std::int64_t s = side; s >= 1; --s) {
            for (std::int64_t z = 1; z <= std::min<std::int64_t>(copies, s); ++z) {
                count[s] += count[s - z];
            }
            if (count[s] > most) return most + 1;
        }
    }
    if (!k_or_more) return count[side];
    return std::min(std::accumulate(count.begin(), count.end(), std::int64_t{0}), most + 1);
}

double subsets(int n, int k, double most) {
    double count = 1;
    for (int i = 0; i < std::min(k, n - k) && count <= most; ++i) {
        count = count * (n - i) / (i + 1);
    }
    return count <= most ? count : std::numeric_limits<double>::infinity();
}

}  // namespace quadsweep
