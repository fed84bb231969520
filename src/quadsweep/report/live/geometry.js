// Sums, lines, conics and scales: what a picture needs to know about points.

// a, b, c about the mean, and the mean, of the points chosen.
function centredSums(x, y, chosen) {
  const k = chosen.length;
  let mx = 0, my = 0;
  for (const i of chosen) (mx += x[i] / k), (my += y[i] / k);
  let a = 0, b = 0, c = 0;
  for (const i of chosen) {
    const u = x[i] - mx, w = y[i] - my;
    a += u * u;
    b += w * w;
    c += u * w;
  }
  return { a, b, c, mx, my, k };
}

function lineOf(x, y, chosen) {
  const { a, c, mx, my } = centredSums(x, y, chosen);
  return a > 0 ? { slope: c / a, intercept: my - (c / a) * mx } : null;
}

// Coefficients of u², uw, w² of the first-order gain from one more point: as objectives.py.
const GRADIENTS = {
  r2: (a, b, c) => [-Math.abs(c) / a, 2 * (c < 0 ? -1 : 1), -Math.abs(c) / b],
  r: (a, b, c) => [-c / a, 2, -c / b],
  cov: () => [0, 1, 0],
  dv: () => [1, 0, -1],
  tv: () => [-1, 0, -1],
  var: () => [-1, 0, 0],
  lts: (a, b, c) => [-((c / a) ** 2), (2 * c) / a, -1],
};

// The gradient's conic, positive on the side of the points kept; null where it does not separate
// them (answers/boundary.py goes on to look for another one there).
function gradientConic(x, y, inside, objective) {
  const kept = [], n = x.length;
  for (let i = 0; i < n; i++) if (inside[i]) kept.push(i);
  if (kept.length === n || kept.length === 0) return null;
  const { a, b, c, mx, my, k } = centredSums(x, y, kept);
  let sx = Math.sqrt(a / k) || 1, sy = Math.sqrt(b / k) || 1;
  if (objective === "tv" || objective === "dv") sx = sy = Math.max(sx, sy);
  const g = GRADIENTS[objective](a / sx / sx, b / sy / sy, c / sx / sy);
  if (!g.every(Number.isFinite)) return null;
  const gain = (px, py) => {
    const u = (px - mx) / sx, w = (py - my) / sy;
    return g[0] * u * u + g[1] * u * w + g[2] * w * w;
  };
  let least = Infinity, most = -Infinity;
  for (let i = 0; i < n; i++) {
    const v = gain(x[i], y[i]);
    if (inside[i]) least = Math.min(least, v);
    else most = Math.max(most, v);
  }
  if (!(least > most)) return null;
  const level = (least + most) / 2, disc = g[1] * g[1] - 4 * g[0] * g[2];
  const circle = g[0] / sx ** 2 === g[2] / sy ** 2 && g[1] === 0;
  const flat = Math.abs(disc) <= 1e-12 * Math.max(...g.map(Math.abs)) ** 2;
  const kind = flat ? "line pair" : disc > 0 ? "hyperbola" : circle ? "circle" : "ellipse";
  return { at: (px, py) => gain(px, py) - level, kind };
}

// Straight scales and ticks at round numbers.
const scale = (from, to) => (v) => to[0] + ((v - from[0]) / (from[1] - from[0])) * (to[1] - to[0]);
function ticks([low, high], about) {
  const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), found = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) found.push(i * step);
  const small = digits <= 6 && Math.max(Math.abs(low), Math.abs(high)) < 1e7;
  return found.map((v) => [v, small ? v.toFixed(digits) : v.toPrecision(3)]);
}

function limits(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) (low = Math.min(low, v)), (high = Math.max(high, v));
  if (low > high) return [0, 1];
  const margin = 0.06 * (high - low) || 0.5 * Math.max(Math.abs(low), 1);
  return [low - margin, high + margin];
}

// The part of a window where f > 0, as polygons, and the pieces of its edge f = 0: every cell of a
// grid is cut where f, taken as linear along its sides, changes sign.
function positivePart(f, xlim, ylim, cells = 90) {
  const xs = Array.from({ length: cells + 1 }, (_, i) => xlim[0] + ((xlim[1] - xlim[0]) * i) / cells);
  const ys = Array.from({ length: cells + 1 }, (_, i) => ylim[0] + ((ylim[1] - ylim[0]) * i) / cells);
  const value = ys.map((py) => xs.map((px) => f(px, py)));
  const polygons = [], edges = [];
  for (let j = 0; j < cells; j++) {
    let run = null; // neighbouring cells that are wholly inside are one polygon
    for (let i = 0; i <= cells; i++) {
      const corners = i < cells
        ? [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(([p, q]) => [xs[p], ys[q], value[q][p]]) : [];
      const full = i < cells && corners.every((p) => p[2] > 0);
      if (full && run === null) run = i;
      if (!full && run !== null) {
        polygons.push([[xs[run], ys[j]], [xs[i], ys[j]], [xs[i], ys[j + 1]], [xs[run], ys[j + 1]]]);
        run = null;
      }
      if (full || !corners.some((p) => p[2] > 0)) continue;
      const ring = [], cut = [];
      corners.forEach((p, at) => {
        const q = corners[(at + 1) % 4];
        if (p[2] > 0) ring.push([p[0], p[1]]);
        if (p[2] > 0 !== q[2] > 0) {
          const t = p[2] / (p[2] - q[2]), middle = [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])];
          ring.push(middle);
          cut.push(middle);
        }
      });
      polygons.push(ring);
      for (let e = 0; e + 1 < cut.length; e += 2) edges.push([cut[e], cut[e + 1]]);
    }
  }
  return { polygons, edges };
}
