// Sums, lines and conics: what a picture needs to know about points.

// a, b, c about the mean, and the mean, of the points chosen.
function centredSums(x, y, chosen) {
  const k = chosen.length;
  let mx = 0, my = 0;
  for (let pass = 0; pass < 2; pass++) { // the second takes away what the first rounded
    let sx = 0, sy = 0;
    for (const i of chosen) (sx += x[i] - mx), (sy += y[i] - my);
    (mx += sx / k), (my += sy / k);
  }
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
  mcd: (a, b, c) => [-b, 2 * c, -a],
};

const LARGEST_SEARCH = 5000; // as results/boundary.py

// A conic with the points kept on its positive side and the others on its negative one, or the
// reason why there is none: as results/boundary.py, the gradient's first. Where that one does not
// separate, Python solves a linear program; here it is the conic whose margin is widest by Wolfe's
// method. Both are checked on every point, so where one is shown it separates.
function boundaryOf(x, y, inside, objective) {
  const n = x.length;
  if (inside.every(Boolean)) return { conic: null, reason: "nothing is dropped" };
  const ys = objective === "var" ? new Float64Array(n) : y;
  const conic = gradientConic(x, ys, inside, objective);
  if (conic) return { conic, reason: "" };
  if (twins(x, ys, inside)) return { conic: null, reason: "none: a point kept and one dropped are the same" };
  if (n > LARGEST_SEARCH) return { conic: null, reason: "not looked for: the gradient's does not separate" };
  const widest = widestConic(x, ys, inside);
  return widest ? { conic: widest, reason: "" } : { conic: null, reason: "no conic found that separates" };
}

function twins(x, y, inside) {
  const sides = new Map();
  return x.some((v, i) => {
    const at = `${v},${y[i]}`, before = sides.get(at);
    sides.set(at, inside[i]);
    return before !== undefined && before !== inside[i];
  });
}

// A conic by its coefficients on (u², uw, w², u, w, 1), u = (x - x0) / sx and w = (y - y0) / sy; null
// unless it separates these points.
function conicOf(local, [x0, y0], [sx, sy], x, y, inside) {
  const [a, b, c, d, e, f] = local;
  const at = (px, py) => {
    const u = (px - x0) / sx, w = (py - y0) / sy;
    return a * u * u + b * u * w + c * w * w + d * u + e * w + f;
  };
  for (let i = 0; i < x.length; i++) if (inside[i] ? !(at(x[i], y[i]) > 0) : !(at(x[i], y[i]) < 0)) return null;
  return { at, kind: kindOf(local, sx, sy) };
}

// As Conic.kind in results/conic.py.
function kindOf([a, b, c, d, e, f], sx, sy) {
  const FLAT = 1e-12, most = (...v) => Math.max(...v.map(Math.abs));
  const quadratic = most(a, b, c);
  if (quadratic <= FLAT * most(d, e, f)) return most(d, e) > FLAT * Math.abs(f) ? "line" : "empty";
  const disc = b * b - 4 * a * c;
  const rows = [[a, b / 2, d / 2], [b / 2, c, e / 2], [d / 2, e / 2, f]];
  const det = a * (c * f - (e * e) / 4) - (b / 2) * ((b * f) / 2 - (e * d) / 4) + (d / 2) * ((b * e) / 4 - (c * d) / 2);
  const size = rows.reduce((product, row) => product * Math.max(Math.hypot(...row), 1e-300), 1);
  const degenerate = Math.abs(det) <= FLAT * size;
  if (Math.abs(disc) <= FLAT * quadratic ** 2) {
    if (!degenerate) return "parabola";
    const [q, p] = Math.abs(a) >= Math.abs(c) ? [a, d] : [c, e], two = p * p - 4 * q * f;
    if (Math.abs(two) <= FLAT * Math.max(p * p, Math.abs(4 * q * f), q * q)) return "line";
    return two > 0 ? "line pair" : "empty";
  }
  if (disc > 0) return degenerate ? "line pair" : "hyperbola";
  if (degenerate) return "point";
  if ((a + c) * det > 0) return "empty";
  const [A, B, C] = [a / sx ** 2, b / (sx * sy), c / sy ** 2];
  return most(A - C, B) <= FLAT * Math.abs(A + C) ? "circle" : "ellipse";
}

const dot = (p, q) => p.reduce((sum, v, i) => sum + v * q[i], 0);

// The point of a hull nearest to the origin, by Wolfe's method as in separability/hulls/nearest.py, in
// floating point; null where it is the origin itself, as far as that can be told.
function nearestToOrigin(points, steps = 500) {
  let chosen = [points.reduce((best, p, i) => (dot(p, p) < dot(points[best], points[best]) ? i : best), 0)];
  let weights = [1], z = points[chosen[0]];
  for (let step = 0; step < steps; step++) {
    if (dot(z, z) < 1e-22) return null;
    let lowest = -1, least = Infinity;
    points.forEach((p, i) => {
      const v = dot(p, z);
      if (v < least) (least = v), (lowest = i);
    });
    if (least >= dot(z, z) - 1e-12 || chosen.includes(lowest)) return z;
    chosen.push(lowest);
    weights.push(0);
    for (;;) {
      const target = affineNearest(chosen.map((i) => points[i]));
      if (!target) return z;
      if (target.every((t) => t > 1e-12)) {
        weights = target;
        break;
      }
      const reach = Math.min(...target.map((t, i) => (t <= 1e-12 ? weights[i] / (weights[i] - t) : 1)).filter(Number.isFinite), 1);
      const moved = weights.map((v, i) => v + reach * (target[i] - v)), stays = moved.map((v) => v > 1e-12);
      if (stays.every(Boolean)) return z; // rounding: no step can be told from none
      chosen = chosen.filter((_, i) => stays[i]);
      weights = moved.filter((_, i) => stays[i]);
    }
    z = chosen.reduce((sum, i, at) => sum.map((v, c) => v + weights[at] * points[i][c]), new Array(z.length).fill(0));
  }
  return z;
}

// Weights, of any sign, of the nearest point of an affine hull: [0 1'; 1 G] (mu, alpha) = (1, 0).
function affineNearest(members) {
  const m = members.length + 1;
  const rows = Array.from({ length: m }, (_, i) => Array.from({ length: m + 1 }, (_, j) => {
    if (j === m) return i === 0 ? 1 : 0;
    if (i === 0 || j === 0) return i === j ? 0 : 1;
    return dot(members[i - 1], members[j - 1]);
  }));
  for (let c = 0; c < m; c++) {
    let pivot = c;
    for (let r = c; r < m; r++) if (Math.abs(rows[r][c]) > Math.abs(rows[pivot][c])) pivot = r;
    if (Math.abs(rows[pivot][c]) < 1e-14) return null;
    [rows[c], rows[pivot]] = [rows[pivot], rows[c]];
    for (let r = 0; r < m; r++) {
      if (r === c) continue;
      const q = rows[r][c] / rows[c][c];
      for (let j = c; j <= m; j++) rows[r][j] -= q * rows[c][j];
    }
  }
  return rows.slice(1).map((row, i) => row[m] / row[i + 1]);
}

// The conic with the widest margin under L5.
function widestConic(x, y, inside) {
  const n = x.length, everyone = Array.from({ length: n }, (_, i) => i);
  const { a, b, mx, my } = centredSums(x, y, everyone);
  const origin = [mx, my], scale = [Math.sqrt(a / n) || 1, Math.sqrt(b / n) || 1];
  const points = everyone.map((i) => {
    const u = (x[i] - mx) / scale[0], w = (y[i] - my) / scale[1];
    const features = [u * u, u * w, w * w, u, w, 1], size = (inside[i] ? 1 : -1) * Math.hypot(...features);
    return features.map((v) => v / size);
  });
  if (!points.every((p) => p.every(Number.isFinite))) return null;
  const z = nearestToOrigin(points);
  return z ? conicOf(z, origin, scale, x, y, inside) : null;
}

// The gradient's conic, null where it does not separate.
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
  return conicOf([...g, 0, 0, -(least + most) / 2], [mx, my], [sx, sy], x, y, inside);
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
