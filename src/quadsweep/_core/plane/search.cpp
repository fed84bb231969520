#include "search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "closing.hpp"
#include "shared/methods.hpp"
#include "shared/parallel.hpp"
#include "starts.hpp"
#include "tuning.hpp"

namespace quadsweep {

Search::Search(const Problem& problem, const CertifiedOptions& options, Control& control)
    : problem_(problem),
      options_(options),
      control_(control),
      known_(problem, options, placed_),
      parts_(problem, options, known_, [this] { return halt(); }),
      frontier_(std::min(problem.memory_limit / 2, tuning::most_waiting)) {
    if (options.enumerate < CertifiedOptions{}.enumerate) return;
    double all = 0;
    for (int size = problem.k; size <= largest() && all <= tuning::most_listed; ++size) {
        all += subsets(problem.size(), size);
    }
    if (all <= tuning::most_listed) {
        most_boxes_ = std::min(tuning::boxes_before_listing, all / 10) + all / tuning::listed_a_box;
    }
}

CertifiedAnswer Search::run() {
    if (begin()) search();
    if (too_many_boxes_ && !control_.stopped()) list_all();
    return answer();
}

// The first subsets. False if they already answer the question.
bool Search::begin() {
    if (options_.above) known_.raise(*options_.above);
    known_.set_tolerance();
    offer_starts(problem_, options_, control_, placed_, known_);
    known_.set_tolerance();
    if (problem_.k < problem_.size() && !placed_.ready()) {
        valid_ = false;  // stopped before there was a box
        return false;
    }
    if (known_.target() == undefined) return false;  // no subset has a value
    const double least = problem_.objective == Objective::r2 ? 0 : -1;
    if (is_correlation(problem_.objective) && known_.target() < least) {
        known_.offer_any();  // any subset that has a value is above that
        return false;
    }
    return problem_.k < problem_.size();
}

void Search::search() {
    while (!finished()) {
        if (const auto at = closer(problem_, placed_, known_.best().subset, known_.target())) {
            valid_ = placed_.move(problem_, *at, control_);
            if (!valid_) return;
        }
        criterion_ = make_criterion(problem_.objective, placed_.ranges, known_.sums(),
                                    known_.target() / placed_.unit, known_.tol() / placed_.unit);
        valid_ = criterion_->valid();
        if (!valid_) return;  // nothing is proved
        grow_roots();
        // Again, should an exact fit have halted it that was then surpassed.
        do explore();
        while (!frontier_.empty() && !halt());
        if (control_.stopped() || known_.decided() || too_many_boxes_) return;
        // A better value may ask for a finer proof.
        if (valid_ && known_.tol() <= known_.tolerance()) return;
        known_.set_tolerance();
    }
}

bool Search::finished() const {
    return known_.decided() || known_.exact_fit() || known_.at_limit();
}

bool Search::halt() const {
    return control_.stopped() || known_.decided() || known_.exact_fit() || too_many_boxes_ ||
           !valid_;
}

// The most points a subset may have.
int Search::largest() const { return options_.at_most ? problem_.size() : problem_.k; }

void Search::grow_roots() {
    frontier_.clear();
    const Undecided open = everything();
    for (Box& root : criterion_->roots()) {
        auto box = std::make_unique<Box>(std::move(root));
        box->open = open;
        box->need = problem_.k;
        frontier_.push(std::move(box));
    }
}

Undecided Search::everything() const {
    const Cells& cells = placed_.cells;
    // k copies of one point have no correlation: keep fewer, and the bound sees it.
    const bool capped = is_correlation(problem_.objective) && !options_.at_most &&
                        *std::max_element(cells.weight.begin(), cells.weight.end()) >= problem_.k;
    Undecided open;
    if (capped || !options_.cells || cells.size() <= tuning::whole_points) {
        open.point.resize(cells.size());
        std::iota(open.point.begin(), open.point.end(), 0);
        open.copies = cells.weight;
        if (capped) {
            for (int& c : open.copies) c = std::min(c, problem_.k - 1);
        }
        return open;
    }
    open.cell = {0};
    while (open.cell.size() < tuning::root_cells) {
        std::vector<int> finer;
        for (int at : open.cell) {
            finer.push_back(cells.cell[at].left);
            finer.push_back(cells.cell[at].left + 1);
        }
        open.cell = std::move(finer);
    }
    return open;
}

Worker Search::worker() { return Worker(problem_, options_, placed_, *criterion_, known_, parts_); }

void Search::process(Worker& worker, std::unique_ptr<Box> box, Boxes& children) {
    if (!worker.process(std::move(box), children)) valid_ = false;
}

void Search::count_boxes(Worker& worker) {
    boxes_ += worker.take_count();
    if (static_cast<double>(boxes_) > most_boxes_) too_many_boxes_ = true;
    if (frontier_.bytes() > problem_.memory_limit) control_.out_of_memory();
}

void Search::explore() {
    Worker alone = worker();
    while (alone.looked_at() < tuning::serial_work && !frontier_.empty() && !halt()) {
        Boxes children;
        process(alone, frontier_.pop(), children);
        count_boxes(alone);
        for (auto& child : children) frontier_.push(std::move(child));
        control_.look([&] { return progress(); });
    }
    looked_at_ += alone.looked_at();
    if (frontier_.empty() || halt()) return;
    held_.assign(problem_.n_jobs, undefined);
    parallel_for(problem_.n_jobs, problem_.n_jobs, [&](int id, std::int64_t) {
        work(id);
        return true;
    });
}

void Search::work(int id) {
    Worker mine = worker();
    Boxes children;
    Lock lock(mutex_);
    for (;;) {
        while (frontier_.empty() && active_ > 0 && !halt()) {
            changed_.wait_for(lock, std::chrono::milliseconds(10));
            if (id == 0) attend_unlocked(lock);
        }
        if (frontier_.empty() || halt()) break;
        auto box = frontier_.pop();
        held_[id] = box->upper;
        ++active_;
        lock.unlock();
        children.clear();
        // If it fails the others stop, and the exception goes to the caller.
        or_else([&] { process(mine, std::move(box), children); }, [&] { control_.interrupt(); });
        lock.lock();
        --active_;
        held_[id] = undefined;
        count_boxes(mine);
        for (auto& child : children) frontier_.push(std::move(child));
        changed_.notify_all();
        if (id == 0) attend_unlocked(lock);
    }
    looked_at_ += mine.looked_at();
    changed_.notify_all();
}

// What waits, and what threads hold.
Standing Search::standing() const {
    double open = frontier_.upper();
    for (double upper : held_) open = std::max(open, upper);
    return {valid_, frontier_.empty(), open};
}

Progress Search::progress() const {
    return {known_.target(), live_bound(known_, parts_, standing()), boxes_, 0};
}

// The callback may take its time, or ask for what is locked: it runs outside.
void Search::attend_unlocked(Lock& lock) {
    lock.unlock();
    control_.look([&] {
        const Lock inside(mutex_);
        return progress();
    });
    lock.lock();
}

// The boxes have cost as much as listing all subsets would.
void Search::list_all() {
    Problem sized = problem_;
    for (; sized.k <= largest(); ++sized.k) {
        const Answer best = exhaustive(sized, control_);
        if (!best.inliers.empty()) known_.offer(best.inliers);
        if (control_.stopped()) return;
    }
    frontier_.clear();
    valid_ = true;
    known_.set_tolerance();
}

CertifiedAnswer Search::answer() const {
    CertifiedAnswer a;
    a.nodes = boxes_;
    a.looked_at = looked_at_;
    conclude(problem_, options_, control_, known_, parts_, standing(), a);
    return a;
}

}  // namespace quadsweep
