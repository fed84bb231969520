#include "search.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "bound.hpp"
#include "search/removals.hpp"

namespace quadsweep::scores {
namespace {

constexpr std::size_t most_near = 1'000;
constexpr double most_sets = 4e6;
constexpr double share_of_sets = 0.25;  // of the memory of a thread, for the sets of a node

struct Node {
    double upper = infinity, missing = 0;
    std::vector<int> removed, free;
    int m = 0;
};

double bytes(const Node& node) {
    return static_cast<double>(sizeof(Node) +
                               sizeof(int) * (node.removed.capacity() + node.free.capacity()));
}

// The relaxation, as the driver sees it.
class Removals : public RemovalSearch {
  public:
    using Box = Node;
    class Worker;

    Removals(const Question& asked, const Options& options, const Control& stop)
        : question(asked), control(stop) {
        const double width = static_cast<double>(asked.controls + 4) * (asked.controls + 8);
        const double room = share_of_sets * options.memory / options.n_jobs;
        sets = std::min(most_sets, room / (sizeof(double) * width));
    }

    bool offer_near(const std::vector<int>& gone) {
        const Lock lock(mutex_);
        if (verdict.near.size() >= most_near) return false;
        verdict.near.push_back(gone);
        return true;
    }
    void describe_root(const Node& root) {
        if (verdict.free < 0) verdict.free = static_cast<int>(root.free.size());
    }

    const Question& question;
    const Control& control;
    double sets = most_sets;
    Verdict verdict;
};

class Removals::Worker : public RemovalWorker {
  public:
    explicit Worker(Removals& removals) : removals_(removals) {}

    Ending bound(Node& node) {
        ++evaluations_;
        bound_.emplace(removals_.question, node.removed, node.m, removals_.sets, removals_.control);
        const Outcome outcome = bound_->run(node.free);
        if (evaluations_ == 1) removals_.describe_root(node);
        switch (outcome) {
            case Outcome::refuted:
                return Ending::closed;
            case Outcome::found:
                removals_.offer(node.removed);
                return Ending::deferred;
            case Outcome::near:
                return removals_.offer_near(node.removed) ? Ending::closed : Ending::deferred;
            case Outcome::unknown:
                return Ending::deferred;
            default:
                return Ending::open;
        }
    }
    double upper(const Node&) const { return bound_->missing(); }
    double missing() const { return bound_->missing(); }
    Ending fix(const Node&) const { return Ending::open; }  // bound() fixes items

    Ending branch(std::unique_ptr<Node> node, std::vector<std::unique_ptr<Node>>& children) {
        const int worst = bound_->worst();
        const auto at = std::lower_bound(node->free.begin(), node->free.end(), worst);
        if (removals_.control.over() || at == node->free.end()) return Ending::deferred;
        node->free.erase(at);
        auto without = std::make_unique<Node>(*node);
        without->removed.push_back(worst);
        --without->m;
        children.push_back(std::move(node));
        children.push_back(std::move(without));
        return Ending::open;
    }
#ifdef QUADSWEEP_DEBUG_SOLUTION
    double solution_score() const {
        const auto& near = removals_.verdict.near;
        const bool met = std::find(near.begin(), near.end(), debug_solution.rows) != near.end();
        return debug_solution.rows.empty() || met || removals_.finished() ? undefined : -1e300;
    }
    bool holds_solution(const Node& node, bool) const {
        return removes_solution(node.removed, node.m, [&](int item) {
            return std::binary_search(node.free.begin(), node.free.end(), item);
        });
    }
#endif

  private:
    Removals& removals_;
    std::optional<Bound> bound_;
};

}  // namespace

Verdict decide(const Question& question, const Options& options, Control& control) {
    Removals removals(question, options, control);
    removals.verdict.free = -1;
    auto root = std::make_unique<Node>();
    root->m = options.m;
    root->free.resize(question.items());
    std::iota(root->free.begin(), root->free.end(), 0);
    const Limits limits{options.n_jobs, 0, options.most_nodes, options.memory / 4,
                        options.memory / 2};
    const auto [refuted, nodes] = search_removals(removals, std::move(root), limits, control);
    Verdict verdict = std::move(removals.verdict);
    verdict.removal = std::move(removals.removal);
    verdict.proved = refuted;
    verdict.nodes = nodes;
    return verdict;
}

}  // namespace quadsweep::scores
