// What the page's worker is asked: the best subset, the path with its band of noise, the audit of
// the sign. Each takes an engine and plain arrays; none knows about messages or documents.

// Sizes of the slider and of the path: as report/content.py.
function dropsFor(n, least, most = Math.min(Math.floor(n / 2), n - least), steps = 60) {
  const last = Math.max(most, 0), count = Math.min(last + 1, steps), found = new Set();
  for (let i = 0; i < count; i++) found.add(count === 1 ? 0 : Math.round((i * last) / (count - 1)));
  return [...found].sort((p, q) => p - q);
}

// The best subset: first within little time, then with more, until the proof is complete. Every
// answer is the engine's own, with its own status and bound.
function* solvings(engine, { x, y, k, objective }, budgets = [0.4, 2, 10, 60, Infinity]) {
  let best = null, bound = NaN;
  const sense = SENSE[objective];
  for (const timeLimit of budgets) {
    const found = engine.solve(x, y, k, objective, { timeLimit });
    // A bound proved once stays proved, and the best subset found once stays found.
    if (Number.isNaN(bound) || sense * (bound - found.bound) > 0) bound = found.bound;
    if (!best || found.status === "optimal" || sense * (found.value - best.value) > 0) best = found;
    const finished = found.status !== "time_limit";
    const gap = Math.max(0, sense * (bound - best.value));
    yield { ...best, status: found.status, bound, gap: Number.isNaN(gap) ? Infinity : gap, finished };
    if (finished) return;
  }
}

// A small generator of our own (mulberry32): the shuffles of a page are the page's, not Python's.
function randomness(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled(values, random) {
  const mixed = Float64Array.from(values);
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
  }
  return mixed;
}

function quantile(sorted, share) {
  const at = share * (sorted.length - 1), low = Math.floor(at), high = Math.ceil(at);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

// p-values along the path, corrected for having looked at every size: Westfall and Young's min-p as
// in choosing/nulls.py. `rows` holds the optima of the data first, then of each shuffle.
// Values within `slack` of each other, twice what an optimum may be off by, count as equal.
function pathSignificance(rows, sense, tol = 1e-9) {
  const total = rows.length, sizes = rows[0].length;
  const p = rows.map(() => new Float64Array(sizes));
  for (let s = 0; s < sizes; s++) {
    const column = rows.map((row) => sense * row[s]).map((v) => (Number.isNaN(v) ? -Infinity : v));
    const sorted = Float64Array.from(column).sort();
    const slack = 2 * tol * Math.max(Math.abs(rows[0][s]) || 0, tol);
    for (let i = 0; i < total; i++) {
      let low = 0, high = total; // the first that is at least as good
      while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle] >= column[i] - slack) high = middle;
        else low = middle + 1;
      }
      p[i][s] = (total - low) / total;
    }
  }
  const least = p.map((row) => Math.min(...row));
  const corrected = [...p[0]].map((own) => least.filter((m) => m <= own + 1e-12).length / total);
  return { p: [...p[0]], corrected, overall: Math.min(...corrected) };
}

function bandOf(rows, sense, drops) {
  const shuffles = rows.slice(1);
  const noise = { low: [], middle: [], high: [] };
  drops.forEach((_, s) => {
    const sorted = Float64Array.from(shuffles.map((row) => row[s])).sort();
    noise.low.push(quantile(sorted, 0.05));
    noise.middle.push(quantile(sorted, 0.5));
    noise.high.push(quantile(sorted, 0.95));
  });
  return { ...noise, shuffles: shuffles.length, ...pathSignificance(rows, sense) };
}

const isProved = (found) => found.status === "optimal";

// The path and, shuffle by shuffle, its band; yields {done, total, path, proved, noise} as it goes.
// A size that takes longer than `seconds` keeps the best found and is not called proved.
function* paths(engine, { x, y, objective, drops, permutations, seed = 0, seconds = 20 }) {
  const optima = (ys) => drops.map((m) => engine.solve(x, ys, x.length - m, objective, { timeLimit: seconds }));
  const own = [];
  for (const m of drops) {
    own.push(engine.solve(x, y, x.length - m, objective, { timeLimit: seconds }));
    yield { done: 0, total: permutations, path: own.map((f) => f.value), proved: own.map(isProved), noise: null };
  }
  const path = own.map((f) => f.value), proved = own.map(isProved), rows = [path];
  const random = randomness(seed);
  let open = 0; // optima of shuffled data that are only the best found
  for (let b = 1; b <= permutations; b++) {
    const found = optima(shuffled(y, random));
    rows.push(found.map((f) => f.value));
    open += found.filter((f) => !isProved(f)).length;
    const last = b === permutations;
    const noise = last || (b >= 9 && b % 5 === 0) ? { ...bandOf(rows, SENSE[objective], drops), open } : null;
    yield { done: b, total: permutations, path, proved, noise };
  }
}

// ---- the audit of the sign --------------------------------------------------------------------

// A double is a whole number times a power of two: columns as BigInt with one power for all.
function wholeNumbers(values) {
  const view = new DataView(new ArrayBuffer(8));
  const parts = Array.from(values, (v) => {
    view.setFloat64(0, v);
    const bits = view.getBigUint64(0), field = Number((bits >> 52n) & 2047n);
    const fraction = bits & 0xfffffffffffffn;
    const whole = field ? fraction | 0x10000000000000n : fraction;
    return { whole: v < 0 ? -whole : whole, power: (field || 1) - 1075 };
  });
  const used = parts.filter((p) => p.whole !== 0n).map((p) => p.power);
  const least = used.reduce((a, b) => Math.min(a, b), used.length ? used[0] : 0);
  return parts.map((p) => (p.whole === 0n ? 0n : p.whole << BigInt(p.power - least)));
}

// The sign of the covariance of a subset, without rounding.
function exactSign(xs, ys, kept) {
  let sx = 0n, sy = 0n, sxy = 0n;
  for (const i of kept) {
    sx += xs[i];
    sy += ys[i];
    sxy += xs[i] * ys[i];
  }
  const c = BigInt(kept.length) * sxy - sx * sy;
  return c > 0n ? 1 : c < 0n ? -1 : 0;
}

function median(values) {
  return Float64Array.from(values).sort()[(values.length - 1) >> 1];
}

// A number that the sum of squares of no k or more points is below unless all are equal: that of
// the narrowest k, in sorted order.
function leastSquares(engine, values, k) {
  const found = engine.solve(values, new Float64Array(values.length), k, "var");
  return found.value * k * (1 - 1e-9);
}

// A threshold for the covariance that lies below every reversed subset's and above the rounding of
// the engine's columns (each entry is off by less than an ulp of its distance from the median).
// Reversed means r beyond 1e-9 on the other side, as in quadsweep.audit.
function reversalThreshold(engine, x, y, k) {
  const about = (values) => {
    const m = median(values);
    return Math.sqrt(values.reduce((sum, v) => sum + (v - m) ** 2, 0));
  };
  const rounding = (64 * 2 ** -53 * about(x) * about(y)) / k;
  const least = Math.sqrt(leastSquares(engine, x, k)) * Math.sqrt(leastSquares(engine, y, k));
  return (1e-9 * least) / x.length - rounding;
}

// The fewest rows whose removal turns the sign of the slope: yields {lower, upper, outliers}, proved
// at every moment; the last one has `finished`. More removals never make it harder, so the numbers
// are cut in two.
function* signAudits(engine, { x, y, seconds = 60 }) {
  const n = x.length, most = n - 3;
  const xs = wholeNumbers(x), ys = wholeNumbers(y);
  const everyone = Array.from({ length: n }, (_, i) => i);
  const way = exactSign(xs, ys, everyone);
  if (way === 0) {
    yield { none: true, finished: true, n };
    return;
  }
  const turned = Float64Array.from(y, (v) => -way * v);
  let lower = 1, upper = null, outliers = [], limited = false;
  const state = (finished) => ({ lower, upper, outliers, most, n, way, limited, finished });
  let next = 1;
  while (lower <= (upper === null ? most : upper - 1)) {
    yield state(false);
    const k = n - next;
    const found = engine.decide(x, turned, k, "cov", reversalThreshold(engine, x, y, k), { timeLimit: seconds });
    const kept = Array.from(found.inliers);
    if (kept.length && exactSign(xs, ys, kept) === -way) {
      const inside = new Set(kept);
      outliers = everyone.filter((i) => !inside.has(i));
      upper = outliers.length;
    } else if (!kept.length && found.decided) {
      lower = next + 1;
    } else {
      limited = true;
      break;
    }
    next = upper === null ? Math.min(2 * next, most) : Math.floor((lower + upper - 1) / 2);
    next = Math.max(next, lower);
  }
  yield state(true);
}
