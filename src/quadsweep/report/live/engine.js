// The compiled engine (_core/wasm/interface.cpp) as a JavaScript object. Used by the page's worker
// and by the tests; it knows nothing of either.

const OBJECTIVES = ["r2", "r", "cov", "dv", "tv", "var", "lts", "mcd"]; // as shared/objectives.hpp
const METHODS = ["certified", "exhaustive", "univariate", "concentrate"];
const STATUSES = ["optimal", "best_separable", "heuristic", "time_limit", "interrupted", "memory_limit"];
const EXHAUSTIVE_LIMIT = 20000; // as methods/choice.py
const EXHAUSTIVE_ROWS = 20;

const SENSE = { r2: 1, r: 1, cov: 1, dv: 1, tv: -1, var: -1, lts: -1, mcd: -1 };
const LEAST_KEPT = { r2: 3, r: 3, cov: 2, dv: 2, tv: 2, var: 2, lts: 3, mcd: 3 };

// The method of `method="auto"`: as methods/choice.py.
function chosenMethod(objective, n, k) {
  if (objective === "var") return "univariate";
  if (n > EXHAUSTIVE_ROWS && objective !== "mcd") return "certified";
  let count = 1n;
  for (let i = 0; i < Math.min(k, n - k); i++) {
    count = (count * BigInt(n - i)) / BigInt(i + 1);
    if (count > EXHAUSTIVE_LIMIT) return "certified";
  }
  return "exhaustive";
}

// From a WebAssembly.Module; `tick(value, bound, nodes, seconds)` may be set at any time.
function makeEngine(module) {
  const engine = { tick: null };
  let memory = null;
  const now = () => BigInt(Math.round(performance.now() * 1e6));
  // What the C library asks for. Only the clock is ever called; nothing is written anywhere.
  const stubs = {
    clock_time_get: (id, precision, at) => {
      new DataView(memory.buffer).setBigUint64(at, now(), true);
      return 0;
    },
  };
  const system = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    if (from === "wasi_snapshot_preview1") system[name] = stubs[name] || (() => 52);
  }
  const instance = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: system,
    page: { tick: (...told) => (engine.tick && engine.tick(...told) === false ? 0 : 1) },
  });
  const core = instance.exports;
  memory = core.memory;
  core._initialize();

  // Columns in, `call(x, y, out, inliers)` -> number of inliers, answer out.
  const answer = (x, y, call) => {
    const n = x.length, started = performance.now();
    const at = core.allocate(8 * (2 * n + 5) + 4 * n);
    if (!at) throw new Error("the data does not fit into memory");
    const place = { x: at, y: at + 8 * n, out: at + 16 * n, inliers: at + 16 * n + 40 };
    new Float64Array(memory.buffer, place.x, n).set(x);
    new Float64Array(memory.buffer, place.y, n).set(y);
    const found = call(place);
    const [value, bound, status, nodes, decided] = new Float64Array(memory.buffer, place.out, 5);
    const inliers = Int32Array.from(new Int32Array(memory.buffer, place.inliers, found));
    core.release(at);
    return {
      inliers, value, bound, status: STATUSES[status], nodes, decided: decided !== 0,
      seconds: (performance.now() - started) / 1000,
    };
  };

  // The best k of the points; tol, timeLimit (seconds) and seed as in quadsweep.solve.
  engine.solve = (x, y, k, objective, { tol = 1e-9, timeLimit = Infinity, seed = 0, method = null } = {}) => {
    const chosen = method || chosenMethod(objective, x.length, k);
    const found = answer(x, y, (at) => core.solve(
      at.x, at.y, x.length, k, OBJECTIVES.indexOf(objective), METHODS.indexOf(chosen),
      tol, timeLimit, seed, at.out, at.inliers));
    const gap = Math.max(0, SENSE[objective] * (found.bound - found.value));
    return { ...found, gap: Number.isNaN(gap) ? Infinity : gap, method: chosen, objective, k };
  };

  // Has some subset of k or more points a value above `above`? Inliers, or none and `decided`.
  engine.decide = (x, y, k, objective, above, { timeLimit = Infinity } = {}) =>
    answer(x, y, (at) => core.decide(
      at.x, at.y, x.length, k, OBJECTIVES.indexOf(objective), above, timeLimit, at.out, at.inliers));

  return engine;
}
