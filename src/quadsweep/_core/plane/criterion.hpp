// When does a subset beat the threshold? The criteria, one a kind of objective.
//
// A subset I scores above t if and only if, for some parameters p of the criterion,
//
//     max over multipliers of   sum over I of cost_i(p, multipliers) + base(p)   <  0
//
//   r > t > 0   e = Y - p1 X - p2,  U = Y + p1 X - gamma:  e^2 - rho U^2,  rho = (1 - t)/(1 + t)
//   cov > t     e = f - g - p2,     U = f + g - gamma:     e^2 - U^2 + 4t,  f ~ x, g ~ y
//   dv > t      the same,                                                  f ~ x - y, g ~ x + y
//   tv < t      (x - p1)^2 + (y - p2)^2 - t
//   lts < t     e = Y - p1 X - p2:  e^2, base = -t (flat lines), -t p1^2 (steep ones, axes swapped)
//   r < t       for the largest r when it is negative: see criteria/below.cpp
//
// Squares of what is searched are linearised at the box's centre (the dropped remainder is >= 0),
// squares of what is maximised are kept: each cost is concave in the parameters, so the sum of the
// k smallest is concave and its least value over the box is at a corner. criteria/ has one a file.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "box.hpp"
#include "cells.hpp"
#include "ranges.hpp"
#include "shared/cost.hpp"

namespace quadsweep {

// The costs at one of a box's corners, or at a node of a lattice.
struct Node {
    Cost cost;
    double base = 0;
};

struct Corners {
    int count = 4;
    Node node[4];

    std::span<const Node> nodes() const { return {node, static_cast<std::size_t>(count)}; }
};

// Into how many parts a box is cut along its two parameters.
struct PartCounts {
    int of[2];
};

struct Place {
    double x, y;
};

// The cheapest subset at the box's centre, as far as the multipliers' search needs to know it.
struct Choice {
    double value = -infinity;  // the bound at the centre
    double lambda = 0;
    double weight = 0;  // kept copies
    Moments moments;    // of them
};

// The mean that is free, at the ends of p1 and in their middle; the tau of r < t.
struct FreeMean {
    double low = 0, high = 0, middle = 0, tau = 0;
};

// Gives the cheapest subset for a cost at the centre. Implemented by the bound.
class Chooser {
  public:
    virtual ~Chooser() = default;
    virtual Choice choose(const Cost& cost, double base, double lambda) = 0;
};

class LineCriterion;

class Criterion {
  public:
    virtual ~Criterion() = default;

    virtual std::vector<Box> roots() const = 0;
    // Sets the score to be beaten.
    virtual void aim(double score) = 0;
    // Chooses good multipliers for the box (kept in it for its children) and gives its corners.
    // The choice made at the centre comes back in `best`.
    virtual Corners corners(Box& box, Chooser& chooser, Choice& best) const = 0;
    // The nodes of a lattice that cuts the box into `parts` along the parameters, for multipliers
    // that corners() has left in it. Where the least sum is below 0 at no node it is nowhere in the
    // box (docs/theory/plane.md). Empty if there is no such thing. One part: the corners, with a
    // better bound than theirs, which is not that of proofs.
    virtual void lattice(const Box&, PartCounts, std::vector<Node>& nodes) const { nodes.clear(); }
    // A score that no subset of the box exceeds, given the bound `value` <= 0 of the sum.
    virtual double upper(const Box& box, double value) const = 0;
    // How much a parameter's half-width costs the bound where it is worst, for choosing which one
    // to split.
    virtual double width_cost(const Box& box, int parameter, const Choice& worst) const = 0;
    // The centre of a child has moved `by` in a parameter: so do good multipliers.
    virtual void inherit(Box&, int /* parameter */, double /* by */) const {}
    // How strongly a copy of `point` in place of one at the mean of the open ones moves the
    // multipliers' optimum.
    virtual double pull(const Box& box, Place point, Place mean) const = 0;
    // What a proof must know of it beyond the threshold: the balance of cov and dv, and the
    // multipliers of a box.
    virtual double constant() const { return 1; }
    virtual FreeMean free_mean(const Box&) const { return {}; }
    // False once the threshold has left the range where this criterion is valid.
    virtual bool valid() const { return true; }

#ifdef QUADSWEEP_DEBUG_SOLUTION
    // The parameters of a subset of k points with these sums, in one of the frames.
    virtual std::optional<Place> own(int frame, const Moments& sums, double k) const = 0;
#endif

    // Itself, if its parameters are those of lines.
    virtual const LineCriterion* lines() const { return nullptr; }

    virtual std::unique_ptr<Criterion> clone() const = 0;
};

// `good` are the centred sums of a good subset; `tol` is added to the score to be beaten.
std::unique_ptr<Criterion> make_criterion(Objective objective, const Ranges& ranges,
                                          const Centred& good, double score, double tol);

}  // namespace quadsweep
