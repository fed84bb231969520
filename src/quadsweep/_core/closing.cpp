#include "closing.hpp"

#include <algorithm>
#include <numeric>

namespace quadsweep {
namespace {

class Lister {
  public:
    Lister(const Box& box, const Cells& cells, bool at_least,
           const std::function<void(const Moments&, double, const Picks&)>& visit)
        : box_(box), cells_(cells), at_least_(at_least), visit_(visit) {
        // left_[i]: copies available from item i on.
        left_.assign(box.open.point.size() + 1, 0);
        for (std::size_t i = box.open.point.size(); i-- > 0;) {
            left_[i] = left_[i + 1] + box.open.copies[i];
        }
    }
    void run() { descend(0, box_.need, box_.moments, box_.kept); }

  private:
    void descend(std::size_t i, int need, const Moments& s, double kept) {
        if (i == box_.open.point.size()) {
            visit_(s, kept, picks_);
            return;
        }
        const int copies = box_.open.copies[i], p = box_.open.point[i];
        const int least = std::max(0, need - left_[i + 1]);
        const int most = at_least_ ? copies : std::min(copies, need);
        Moments with = s;
        for (int z = 0; z <= most; ++z) {
            if (z > 0) with.add(cells_.x[p], cells_.y[p]);
            if (z < least) continue;
            if (z > 0) picks_.push_back({p, z});
            descend(i + 1, need - z, with, kept + z);
            if (z > 0) picks_.pop_back();
        }
    }

    const Box& box_;
    const Cells& cells_;
    bool at_least_;
    const std::function<void(const Moments&, double, const Picks&)>& visit_;
    std::vector<int> left_;
    Picks picks_;
};

}  // namespace

std::int64_t ways(const Undecided& open, int need, bool at_least, std::int64_t most) {
    const std::int64_t total =
        std::accumulate(open.copies.begin(), open.copies.end(), std::int64_t{0});
    if (need > total || (need < 0 && !at_least)) return 0;
    if (at_least && need < 0) need = 0;
    // Fewer of the two: copies kept and copies left out.
    const std::int64_t side = at_least ? total - need : std::min<std::int64_t>(need, total - need);
    if (side > 4096 || open.point.size() > 4096) return most + 1;
    std::vector<std::int64_t> count(static_cast<std::size_t>(side) + 1, 0);
    count[0] = 1;
    for (int copies : open.copies) {
        for (std::int64_t s = side; s >= 1; --s) {
            for (std::int64_t z = 1; z <= std::min<std::int64_t>(copies, s); ++z) {
                count[s] = std::min(count[s] + count[s - z], most + 1);
            }
        }
        if (count[side] > most) return most + 1;
    }
    if (!at_least) return count[side];
    return std::min(std::accumulate(count.begin(), count.end(), std::int64_t{0}), most + 1);
}

void for_each_way(const Box& box, const Cells& cells, bool at_least,
                  const std::function<void(const Moments&, double, const Picks&)>& visit) {
    if (ways(box.open, box.need, at_least, 1) == 0) return;
    Lister(box, cells, at_least, visit).run();
}

}  // namespace quadsweep
