#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "search/removals.hpp"

namespace quadsweep::many_controls {
namespace {

constexpr int first_rounds = 9, root_rounds = 12;
constexpr int node_rounds = 2;
constexpr double worth_repeating = 0.95;  // of the candidates left, for another look at the node
constexpr double compact = 0.6;

struct Node {
    std::shared_ptr<const State> state;
    std::vector<char> marked;
    int m = 0;
    Sums sums;
    bool is_root = false;
    double upper = infinity, missing = infinity;  // of what is there, what m candidates may take

    int count() const { return std::accumulate(marked.begin(), marked.end(), 0); }
};

// A state is shared by the nodes that differ in what stays.
double bytes(const Node& node) {
    return static_cast<double>(node.marked.size() * (1 + 4 * sizeof(double)) +
                               node.state->bytes() / 2);
}

// Marks only candidates that may be among m that take enough; whether any were left out.
bool narrow(const State& state, const Outcome& outcome, int m, std::vector<char>& marked) {
    std::vector<double> sorted;
    for (int i = 0; i < state.size(); ++i) {
        if (marked[i]) sorted.push_back(std::max(outcome.term[i], 0.0));
    }
    const int others = std::min(m - 1, static_cast<int>(sorted.size()));
    std::nth_element(sorted.begin(), sorted.begin() + others, sorted.end(), std::greater<double>());
    const double with = std::accumulate(sorted.begin(), sorted.begin() + others, 0.0);
    bool any = false;
    for (int i = 0; i < state.size(); ++i) {
        if (marked[i] && with + outcome.term[i] + state.allowed() < state.value) {
            marked[i] = 0;
            any = true;
        }
    }
    return any;
}

void gather(Node& node) {
    const auto pick = [&](std::vector<double>& values) {
        std::size_t to = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (node.marked[i]) values[to++] = values[i];
        }
        values.resize(std::min(to, values.size()));
    };
    for (auto* values : {&node.sums.d, &node.sums.l, &node.sums.plus, &node.sums.minus}) {
        pick(*values);
    }
    node.state = std::make_shared<State>(node.state->only(node.marked));
    node.marked.assign(node.state->item.size(), 1);
}

// What the driver (search/driver.hpp) asks: one node after the other is bounded and branched.
class Rows : public RemovalSearch {
  public:
    using Box = Node;
    class Worker;

    Rows(const Options& given, const Control& control)
        : options(given), deadline{control, given.seconds} {}

    const Options& options;
    const Deadline deadline;
    double ratio = 0;            // at the root
    std::vector<double> root_d;  // likewise
};

class Rows::Worker : public RemovalWorker {
  public:
    explicit Worker(Rows& rows) : rows_(rows) {}

    Ending bound(Node& node) {
        node.m = std::min(node.m, node.count());
        if (node.m == 0) return Ending::closed;
        outcome_ = node.is_root ? bound_root(node) : bound_from(node, node.sums, 0, node_rounds);
        ++evaluations_;
        return outcome_.closed ? Ending::closed : Ending::open;
    }
    double upper(const Node& node) const { return outcome_.total / node.state->value; }
    double missing() const { return outcome_.total; }

    // Candidates that cannot be among m that suffice are kept for good, as long as that helps.
    Ending fix(Node& node) {
        if (rows_.options.most_nodes <= 1) return Ending::deferred;
        for (;;) {
            const int before = node.count();
            narrow(*node.state, outcome_, node.m, node.marked);
            if (node.count() > worth_repeating * before && node.marked[outcome_.worst]) {
                return Ending::open;
            }
            if (node.count() < compact * node.state->size()) gather(node);
            if (bound(node) == Ending::closed) return Ending::closed;
            if (rows_.deadline.over()) return Ending::deferred;
        }
    }

    // Its worst candidate goes, or stays.
    Ending branch(std::unique_ptr<Node> node, std::vector<std::unique_ptr<Node>>& children) {
        const int worst = outcome_.worst;
        const std::vector<char> all = node->marked;
        node->marked[worst] = 0;
        node->is_root = false;
        auto after = node->state->without(worst, node->marked);
        if (!after) return Ending::deferred;
        if (after->value <= after->allowed()) {
            if (after->value < -after->allowed()) rows_.offer(after->gone);
            return Ending::deferred;
        }
        auto without = std::make_unique<Node>();
        without->sums = inherited(*node->state, all, worst, *after, node->sums);
        without->state = std::make_shared<State>(std::move(*after));
        without->marked.assign(without->state->item.size(), 1);
        without->m = node->m - 1;
        without->upper = node->upper;
        if (node->count() < compact * node->state->size()) gather(*node);
        children.push_back(std::move(node));
        children.push_back(std::move(without));
        return Ending::open;
    }
#ifdef QUADSWEEP_DEBUG_SOLUTION
    double solution_score() const {
        return debug_solution.rows.empty() || rows_.finished() ? undefined : -1e300;
    }
    bool holds_solution(const Node& node, bool) const {
        const std::vector<int>& item = node.state->item;
        return removes_solution(node.state->gone, node.m, [&](int unit) {
            const auto at = std::find(item.begin(), item.end(), unit) - item.begin();
            return at < std::ssize(item) && node.marked[at];
        });
    }
#endif

  private:
    Outcome bound_from(const Node& node, Sums& sums, int first, int rounds) {
        return Bound(*node.state, node.marked, node.m, rows_.deadline).run(sums, first, rounds);
    }
    // From the d of the last root that was bounded, for another m, and from the start.
    Outcome bound_root(Node& node) {
        Outcome best;
        Sums kept;
        for (bool again : {true, false}) {
            Sums sums;
            if (again && node.sums.d.empty()) continue;
            if (again) sums.d = node.sums.d;
            Outcome outcome = bound_from(node, sums, again ? 0 : first_rounds, root_rounds);
            if (best.term.empty() || outcome.total < best.total) {
                best = std::move(outcome);
                kept = std::move(sums);
            }
            if (best.closed || rows_.deadline.over()) break;
        }
        node.sums = std::move(kept);
        if (rows_.root_d.empty()) {
            if (std::isfinite(best.total)) rows_.root_d = node.sums.d;
            rows_.ratio = best.total / node.state->value;
        }
        return best;
    }

    Rows& rows_;
    Outcome outcome_;
};

}  // namespace

Prover::Prover(const Form& form) : root_(form) {}

Verdict Prover::refute(const Options& options, Control& control) {
    Verdict out;
    if (root_.value <= root_.allowed()) return out;
    auto root = std::make_unique<Node>();
    root->state = std::make_shared<State>(root_);
    root->marked.assign(root_.item.size(), 1);
    root->m = options.m;
    root->sums.d = d_;
    root->is_root = true;
    Rows rows(options, control);
    const Limits limits{options.n_jobs, 0, static_cast<double>(options.most_nodes),
                        options.memory / 2, options.memory};
    const auto [refuted, nodes] = search_removals(rows, std::move(root), limits, control);
    out.proved = refuted && !rows.deadline.over();
    out.removal = rows.removal;
    out.nodes = nodes;
    out.ratio = rows.ratio;
    if (!rows.root_d.empty()) d_ = rows.root_d;
    return out;
}

double Prover::total(int m, const std::vector<double>& d) const {
    State state = root_;
    state.value = -std::numeric_limits<double>::infinity();
    const std::vector<char> marked(state.item.size(), 1);
    Sums sums;
    sums.d = d;
    const Control control;
    const Deadline deadline{control};
    return Bound(state, marked, m, deadline).run(sums, 0, 1).total;
}

double Prover::least(int m, double seconds) const {
    const Control control;
    const Deadline deadline{control, seconds};
    const std::vector<char> marked(root_.item.size(), 1);
    Sums sums;
    State state = root_;
    state.value = -std::numeric_limits<double>::infinity();
    const Outcome outcome = Bound(state, marked, m, deadline).run(sums, first_rounds, root_rounds);
    if (deadline.over()) return -infinity;
    return root_.value - outcome.total - root_.allowed();
}

}  // namespace quadsweep::many_controls
