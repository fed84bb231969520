// What trades time for time or memory. None of these can make an answer wrong: constants that a
// proof rests on (roundings, slack, tolerances) stand with the proof that needs them.
//
// Figures are points and cells costed, divided by n, or boxes: the best half of uniform points by
// r2 at n = 10^5 ("half"), a tenth of them ("tenth"), half by tv at 30,000 and by lts at 3,000.
// Where a constant has no figure it was set by sight and not measured since.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quadsweep::tuning {

// ---- the tree of moments ----------------------------------------------------------------------

// Twice as many: half 81 from 55, tv 347 from 245; half as many: tenth 7,162 boxes from 5,424.
inline constexpr int leaf_points = 8;
// Below a cell of so many points both columns are sorted. Milliseconds of the tree at n = 10^6:
// none 121, 512 points 72, 2,048 62.
inline constexpr int block_points = 2048;
inline constexpr int crowded_bins = 6;     // pairs in them, by points: then sorting compares
inline constexpr int fork_points = 20000;  // below a cell from which a thread is worth its start
// Up to here a root box holds points, beyond it cells. At n = 300 cells cost half as much (618 for
// 1,147) and as much time.
inline constexpr int whole_points = 512;
inline constexpr std::size_t root_cells = 64;
// Identical points are looked for if so many show a pair, and up to there in any case.
inline constexpr std::size_t sampled_repeats = 16384;

// ---- ranges of means and spreads --------------------------------------------------------------

inline constexpr int sorted_ranges = 50000;  // up to here by sorting, beyond it by bins
inline constexpr int range_bins = 8192;
inline constexpr int threaded_ranges = 10000;  // the two columns at once

// ---- the first subsets ------------------------------------------------------------------------

inline constexpr int sample_points = 1000;  // for the starts, where there are more
inline constexpr int sample_kept = 200;     // points of the sample that a start keeps, at least
inline constexpr int most_sampled = 50000;
// Random lines. Of few points, microseconds a search (40 sets of 30, 60 and 300, half of them
// kept): 12: 188, 298, 1,346; 6: 181, 269, 1,097; 4: 173, 259, 1,023, but 8 of 30 later.
inline constexpr int few_starts = 6, sampled_starts = 24;
inline constexpr std::size_t few_finalists = 3;
// Starts of different kinds that are carried on over all: with one, half of a uniform square at
// n = 10^6 began with the wrong sign of r in one seed of twelve and did not end.
inline constexpr std::size_t finalists = 6;
inline constexpr double nearby = 0.2;  // of a spread: subsets this close lead to the same one
// Starts on two threads: 1.84 times at n = 10^5, from 1.48 one after the other. Not up to here.
inline constexpr int serial_points = 500;
inline constexpr double most_steps = 20;  // like its last one that a walk may have ahead of it
inline constexpr int longest_walk = 100;  // steps
// Half of a uniform square at n = 10^6: each step's rise is six tenths of the last one's, and walks
// of 40 steps become walks of 15.
inline constexpr int steps_before_jumps = 4;

// ---- multipliers and thresholds ---------------------------------------------------------------

// Where flat and steep lines meet, away from slope 1, where good lines of scaled data are. At 1:
// half 662 boxes from 736, lts 979 from 965.
inline constexpr double turn = 1.75;
inline constexpr double most_balance = 64;  // of f to g: its square multiplies a cost's rounding
inline constexpr int ascent_steps = 8;
// Of the bound that a step must promise, times four. 0.6: half 61 from 55.
inline constexpr double ascent_share = 0.15;
inline constexpr int tau_steps = 3;
inline constexpr double tau_share = 0.03;     // of the bound that a better tau must promise
inline constexpr double filled_share = 0.01;  // of a subset: what a choice may be short of

// ---- what becomes of a box --------------------------------------------------------------------

// Cells are opened while they take away this share of the bound (0.1 or 0.5: no difference); from
// `closing_share` on opening them may well close the box, in between only where halving the box
// gains less. At 0.8 the tenth cost 932, at 1.5 770 (lts 778, 696), at 4 745 in a fifth more boxes.
inline constexpr double coarse_share = 0.25;
inline constexpr double closing_share = 1.5;
// A box is tried in parts on a lattice, so many that what they lose by their width is the centre's
// bound over this. Passes over the data at n = 10^5, k = n / 20 ("twentieth"), at n = 300, k = 150
// (10 sets) and at n = 30, k = 15 (20 sets): 3: 1,293, 905, 637; 4: 1,212, 903, 637; 6: 1,302, 973,
// 653; boxes 3,822, 111, 63; 3,164, 97, 54; 2,606, 83, 46.
inline constexpr double spared = 4;
inline constexpr int most_parts = 8;  // along a parameter; 12: twentieth 1,260, 952, 676
// Of what is missing at a node: what opening cells must promise. 1: twentieth 2,185 passes over the
// data, 1.2: 1,469, 1.5: 1,633.
inline constexpr double lattice_share = 1.2;
// Beyond so many cells a box is split all the same: its memory stays small.
inline constexpr std::size_t most_opened = 50000;
inline constexpr std::size_t few_items = 4;  // so little is left that only deciding it helps
// A box whose centre's bound is less than this share of its worst corner's is not stuck.
inline constexpr double stuck_share = 0.5;
// A point that pulls so many times more than all the others is decided at once.
inline constexpr double outweighing = 1;
// Points are decided where the width is less than this share of the bound. With all of it, 51 of
// 60 points of heavy tails were not closed in any time; with less, none.
inline constexpr double width_share = 0.5, width_share_of_cells = 0.1;

// ---- listing ----------------------------------------------------------------------------------

inline constexpr double listable_copies = 64;  // in a box whose ways to be filled are counted
// Where splitting cannot help so many times more are listed: near-ties among clusters close six
// times sooner.
inline constexpr std::int64_t stuck_listing = 20;
// All subsets are listed once the boxes have cost as much: twelve of 25 points with heavy tails
// 25 ms, from more than a second.
inline constexpr double most_listed = 2e9;
inline constexpr double listed_a_box = 1000;  // subsets, in the time of one box
inline constexpr double boxes_before_listing = 1000;

// ---- proposals --------------------------------------------------------------------------------

// Cells and points costed for proposals from open boxes, of all that are costed. Without: tenth
// 5,614 boxes from 5,424; a fifth: 5,388, and a third more time.
inline constexpr double explored_share = 0.02;
inline constexpr double explored_first = 20000;
inline constexpr double coarse_doubt = 1e-3;  // of the score: what cells cut in two may promise
inline constexpr double weight_doubt = 0.5;   // of k: what a choice may be short of

// ---- threads and memory -----------------------------------------------------------------------

inline constexpr int serial_work = 100000;      // points in boxes before threads are asked for help
inline constexpr double most_waiting = 0x1p28;  // bytes of boxes before the search goes depth first

// ---- slopes, before there are boxes ------------------------------------------------------------
//
// Seconds of processor at n = 10^5, r2, where no more is said, one thread.

// Up to this share of the points kept. Boxes alone and with it, a fifth: normal points 0.35, 0.51,
// heavy tails (t3) 0.44, 0.76; a tenth: 0.74, 0.50 and 0.97, 1.0, a line with outliers 1.9, 0.9.
inline constexpr double scanned_share = 0.1;
inline constexpr int least_scanned = 5000, most_scanned = 3000000;  // points
inline constexpr double scanned_bytes = 180;                        // each while it lasts
// Of the square of n over k: lines in a round. At 100 a tenth of a line with outliers took 2.1 s
// from 0.9.
inline constexpr double most_lines = 1000;
// What the first ranges lose by their slopes, of a good subset's residual, unless they are more
// than so many in a frame. A half or an eighth: no difference.
inline constexpr double first_share = 0.25, most_first = 24;
inline constexpr int scan_rounds = 12;
// Of the residual over the root of k: what ranges half as wide would lose by their slopes, as a
// root, for another round. Three times as much, a twentieth of 10^6: normal points 4.8 s from 3.2,
// a line with outliers 9.5 from 4.2, heavy tails 9.9 from 11.1.
inline constexpr double finest = 3.5;
// At least, and beyond it as many as make up for narrower ranges. A twentieth of heavy tails: 20
// rows 2.0, 40 rows 0.8; of uniform points no difference.
inline constexpr double least_rows = 44, rows_by_width = 5, most_rows = 400;
inline constexpr double strip_bin = 0.3;       // of what a range loses, as a root
inline constexpr double strip_reach = 3;       // of a strip's width; 4: heavy tails 1.0 from 0.7
inline constexpr double cell_in_bin = 0.5;     // a cell's width that need not be opened, of a bin's
inline constexpr double most_bins = 0x1p13;    // in a table
inline constexpr int most_cuts = 6;            // pieces of what lambda cuts, on a side of a row
inline constexpr double together = 3;          // half-widths of a range from the slope of its table
inline constexpr int line_trials = 6;          // of multipliers
inline constexpr double line_share = 0.1;      // of what is spared: what better ones must promise
inline constexpr double worth_closing = 0.25;  // of what a range loses: less is left to its halves
inline constexpr std::size_t most_strays = 64;  // farthest along x, by themselves
inline constexpr std::size_t scan_proposals = 6;
inline constexpr double worth_proposing = 0.01;  // of the residual, to be gained

// ---- parts solved by themselves ---------------------------------------------------------------

inline constexpr double largest_part = 0.8;  // of the points
inline constexpr int deepest = 6;            // parts of parts
inline constexpr double near_fit = 1e-3;     // of b: residuals below it get columns of their own
inline constexpr double far_cluster = 1e6;   // squared spreads from the origin: moved there

}  // namespace quadsweep::tuning
