#include "removals.hpp"

#include <algorithm>
#include <atomic>

#include "shared/parallel.hpp"
#include "shared/threads.hpp"

namespace quadsweep::estimating {
namespace {

constexpr int chunk = 64;  // last units that are one task, where there is no other to share a fit

// What all threads have found so far.
class Findings {
  public:
    Findings(std::size_t most_unclear, Control& control)
        : most_unclear_(most_unclear), control_(control) {}

    bool over() const { return over_.load(std::memory_order_relaxed) || control_.stopped(); }
    void note(Verdict verdict, const std::vector<int>& units) {
        ++count_;
        if (verdict == Verdict::holds) return;
        const Lock lock(mutex_);
        if (verdict == Verdict::breaks) {
            if (tried_.breaking.empty()) tried_.breaking = units;
            over_ = true;
        } else if (tried_.unclear.size() < most_unclear_) {
            tried_.unclear.push_back(units);
        } else {
            over_ = true;
        }
    }
    void attend() {
        control_.attend([&] {
            Progress p;
            p.nodes = count_;
            return p;
        });
    }
    Tried result() {
        tried_.count = count_;
        tried_.complete = !over();
        return tried_;
    }

  private:
    std::size_t most_unclear_;
    Control& control_;
    Mutex mutex_;
    Tried tried_;
    std::atomic<std::uint64_t> count_{0};
    std::atomic<bool> over_{false};
};

// Everything without some units, depth first.
class Walk {
  public:
    Walk(Refits& fits, const std::vector<int>& gone, const std::vector<int>& order, int m,
         const Note& note)
        : fits_(fits), order_(order), m_(m), note_(note), units_(gone) {
        if (!gone.empty() && m > 0) fits_.remove(level_++, gone);
    }

    // Removals whose first unit, in the order, is one of these.
    void from(int first, int last) {
        if (m_ == 0) {
            nothing_more();
        } else {
            descend(first, last, m_);
        }
    }

  private:
    bool descend(int first, int last, int left) {
        const int end = std::min<int>(last, static_cast<int>(order_.size()) - left + 1);
        for (int at = first; at < end; ++at) {
            const int unit = order_[at];
            units_.push_back(unit);
            bool on;
            if (left == 1) {
                on = note_(fits_.without(level_, unit), units_);
            } else {
                fits_.remove(level_++, {&unit, 1});
                on = descend(at + 1, static_cast<int>(order_.size()), left - 1);
                --level_;
            }
            units_.pop_back();
            if (!on) return false;
        }
        return true;
    }
    void nothing_more() {
        if (units_.empty()) {
            note_(Verdict::unclear, units_);
            return;
        }
        const std::vector<int> before(units_.begin(), units_.end() - 1);
        if (!before.empty()) fits_.remove(level_++, before);
        note_(fits_.without(level_, units_.back()), units_);
    }

    Refits& fits_;
    const std::vector<int>& order_;
    int m_, level_ = 0;
    const Note& note_;
    std::vector<int> units_;
};

}  // namespace

void list_removals(Refits& fits, const std::vector<int>& gone, const std::vector<int>& order, int m,
                   const Note& note) {
    Walk(fits, gone, order, m, note).from(0, static_cast<int>(order.size()));
}

Tried try_removals(const std::function<std::unique_ptr<Refits>()>& make,
                   const std::vector<int>& order, int m, std::size_t most_unclear, int n_jobs,
                   Control& control) {
    Findings findings(most_unclear, control);
    const auto units = static_cast<int>(order.size());
    const int width = m == 1 ? chunk : 1;  // first units of a task
    std::vector<std::unique_ptr<Refits>> fits(static_cast<std::size_t>(std::max(n_jobs, 1)));
    parallel_for(n_jobs, (units + width - 1) / width, [&](int worker, std::int64_t task) {
        auto& mine = fits[static_cast<std::size_t>(worker)];
        if (!mine) mine = make();
        const Note note = [&](Verdict verdict, const std::vector<int>& removal) {
            findings.note(verdict, removal);
            if (worker == 0) findings.attend();
            return !findings.over();
        };
        const int first = static_cast<int>(task) * width;
        Walk(*mine, {}, order, m, note).from(first, std::min(first + width, units));
        return !findings.over();
    });
    return findings.result();
}

}  // namespace quadsweep::estimating
