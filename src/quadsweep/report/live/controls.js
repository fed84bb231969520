// The live page: a table, two of its columns, what the reader did to the points, and the answer.

const titleOf = (objective) => byId("objective").querySelector(`option[value="${objective}"]`).textContent;
const PROOFS = {
  optimal: "proved optimal", time_limit: HAS_ENGINE ? "best so far; the proof goes on" : "best found; the time limit stopped the proof", memory_limit: "best found; memory stopped the proof",
  interrupted: "interrupted",
};
const MOST_NAMED = 15, MOST_ROWS = 200;

const lead = document.querySelector(".lead"), leadGiven = lead.textContent; // about the first answer
const given = JSON.parse(byId("live-data").textContent);
const scatter = new Scatter(byId("scatter"));
const solver = new Asker(), walker = new Asker(), auditor = new Asker();
const nothing = () => ({ moved: new Map(), gone: new Set(), added: [] });
const state = {
  table: null, x: 0, y: 1, logX: false, logY: false, objective: "r2", drop: 0,
  edits: nothing(), history: [], points: [], used: [], answer: null, path: null, focus: -1, brushed: [],
};

const few = (v, one, more) => `${count(v)} ${v === 1 ? one : more}`;
const columnName = (axis) => {
  const name = state.table.names[state[axis]];
  return state[axis === "x" ? "logX" : "logY"] ? `log10(${name})` : name;
};

function complain(sentence) {
  byId("wrong").hidden = !sentence;
  byId("wrong").textContent = sentence || "";
}

// ---- from the table to points -----------------------------------------------------------------

function coordinates() {
  const read = (index, log) => {
    const values = numbers(state.table, index);
    return log ? values.map((v) => (v > 0 ? Math.log10(v) : NaN)) : values;
  };
  return [read(state.x, state.logX), read(state.y, state.logY)];
}

function makePoints() {
  const [xs, ys] = coordinates();
  const named = labelColumn(state.table);
  const label = (i) => (named < 0 ? String(i + 1) : String(state.table.columns[named][i]));
  state.named = named >= 0;
  state.points = [];
  state.left = []; // rows without a value
  xs.forEach((v, row) => {
    const [px, py] = state.edits.moved.get(row) || [v, ys[row]];
    if (Number.isFinite(px) && Number.isFinite(py)) state.points.push({ row, x: px, y: py, label: label(row) });
    else state.left.push(row);
  });
  state.edits.added.forEach(([px, py], i) => {
    const row = xs.length + i, at = state.edits.moved.get(row) || [px, py];
    state.points.push({ row, x: at[0], y: at[1], label: `added ${i + 1}` });
  });
  state.used = state.points.map((_, i) => i).filter((i) => !state.edits.gone.has(state.points[i].row));
}

// Points, axes, slider and answer anew. `keepAxes` while a point is dragged.
function refresh(keepAxes = false) {
  try {
    makePoints();
    complain("");
  } catch (wrong) {
    if (!(wrong instanceof BadInput)) throw wrong;
    complain(wrong.message);
    state.points = [];
    state.used = [];
  }
  state.path = null;
  if (!keepAxes) state.answer = null;
  if (!keepAxes) scatter.lay(state.points, [columnName("x"), columnName("y")]);
  const most = Math.max(0, state.used.length - LEAST_KEPT[state.objective]);
  state.drop = Math.min(state.drop, most);
  byId("slider").max = HAS_ENGINE || !state.table ? most : knownDrops().length - 1;
  byId("undo").disabled = state.history.length === 0;
  byId("restore").disabled = !(state.edits.gone.size || state.edits.moved.size || state.edits.added.length);
  byId("left-out").textContent = state.left.length
    ? `${few(state.left.length, "row is", "rows are")} left out: a value is missing, not finite${state.logX || state.logY ? ", or not positive" : ""}.` : "";
  if (!keepAxes) {
    state.brushed = [];
    byId("brushed").hidden = true;
    walker.cancel();
    auditor.cancel();
    idle("path");
    idle("audit");
    byId("path").setAttribute("hidden", "");
    byId("path-told").textContent = "";
    byId("audit-told").textContent = "";
  }
  solve();
}

function takeTable(table, options = {}) {
  checkedTable(table);
  document.body.classList.remove("empty");
  const numeric = numericColumns(table), [first, second] = firstColumns(table);
  state.table = table;
  state.x = options.x ?? first;
  state.y = options.y ?? second;
  state.logX = state.logY = false;
  state.objective = options.objective || state.objective;
  state.drop = options.drop || 0;
  state.edits = nothing();
  state.history = [];
  state.focus = -1;
  for (const [id, chosen] of [["x-column", state.x], ["y-column", state.y]]) {
    byId(id).replaceChildren(...numeric.map((i) => new Option(table.names[i], i, false, i === chosen)));
    byId(id).value = String(chosen);
  }
  byId("x-log").checked = byId("y-log").checked = false;
  byId("objective").value = state.objective;
  firstQuestion = firstQuestion ?? question();
  refresh();
}

// Whether the headline that came with the page is about the question now on it.
let firstQuestion = null;
const question = () => JSON.stringify([state.table.source, state.x, state.y, state.logX, state.logY, state.objective, state.drop]);
const isFirstQuestion = () => !edited() && question() === firstQuestion;

function offerTable(text, source) {
  try {
    takeTable(readTable(text, source));
  } catch (wrong) {
    if (!(wrong instanceof BadInput)) throw wrong;
    complain(wrong.message);
  }
}

// ---- the answer -------------------------------------------------------------------------------

const usedColumns = () => [
  Float64Array.from(state.used, (i) => state.points[i].x),
  Float64Array.from(state.used, (i) => state.points[i].y),
];

function undefinedBecause(x, y) {
  const flat = (values) => values.every((v) => v === values[0]);
  const n = x.length, least = LEAST_KEPT[state.objective];
  if (n < least) return `${count(n)} points are too few: ${state.objective} needs ${least} at least.`;
  if (!["r2", "r"].includes(state.objective)) return "";
  for (const [name, values] of [["x", x], ["y", y]]) {
    if (flat(values)) return `${name} is constant (${values[0]} in all ${count(n)} rows), so ${state.objective} is undefined on every subset.`;
  }
  return "";
}

// Without the engine the slider goes from one answer that came with the page to the next.
const knownDrops = () => state.table.known.answers.map((one) => one.drop);
const sliderAt = (drop) => (HAS_ENGINE ? drop : knownDrops().indexOf(drop));
const dropAt = (place) => (HAS_ENGINE ? place : knownDrops()[place]);

// The answer that came with the page, where it is to this very question.
function knownAnswer(x, y) {
  const { known } = state.table;
  if (!known || edited() || state.logX || state.logY || x.length !== known.n) return null;
  if (state.x !== known.x || state.y !== known.y || state.objective !== known.objective) return null;
  const answer = known.answers.find((one) => one.drop === state.drop);
  if (!answer) return null;
  const inside = new Uint8Array(known.n).fill(1);
  for (const i of answer.outliers) inside[i] = 0;
  const inliers = [...inside.keys()].filter((i) => inside[i]);
  return { ...answer, finished: true, inliers, inside, x, y, total: answer.seconds };
}

function solve(changed = true) {
  const [x, y] = usedColumns();
  const trouble = state.table ? undefinedBecause(x, y) : "";
  byId("count").textContent = `${count(state.drop)} of ${count(x.length)} dropped`;
  byId("slider").value = state.table ? sliderAt(state.drop) : 0;
  document.body.dataset.settled = ""; // until the answer to this question is on the screen
  if (trouble) {
    solver.cancel();
    complain(trouble);
    state.answer = null;
    show();
    return;
  }
  const known = knownAnswer(x, y);
  if (known) {
    solver.cancel();
    state.answer = known;
    state.stale = false;
    show();
    return;
  }
  if (!HAS_ENGINE) return;
  const started = performance.now();
  state.stale = true;
  solver.ask("solve", { x, y, k: x.length - state.drop, objective: state.objective }, (heard, last) => {
    if (heard.failed) complain(heard.failed);
    if (heard.tick && last) showTick(heard.tick);
    if (heard.answer) {
      const inside = new Uint8Array(x.length);
      for (const i of heard.answer.inliers) inside[i] = 1;
      state.answer = { ...heard.answer, inside, x, y, total: (performance.now() - started) / 1000 };
      state.stale = !last;
      if (heard.answer.inliers.length === 0 && heard.answer.finished) {
        complain(`${state.objective} is undefined on every subset of ${count(x.length - state.drop)} points: in each of them x or y is constant`);
        state.answer = null;
      }
      show();
    }
  });
  show(changed);
}

function showTick({ value, bound, seconds }) {
  byId("bound").textContent = number(bound);
  byId("time").textContent = `${number(seconds, 3)} s, still proving`;
  if (Number.isFinite(value)) byId("value").textContent = number(value);
  if (Number.isFinite(value)) byId("gap").textContent = number(Math.abs(bound - value), 3);
}

let asked = false, picture = false;
// Drawn at most once a frame, the picture only when something in it has changed.
function show(changed = true) {
  picture = picture || changed;
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    if (state.table) (picture ? paint : paintLooking)();
  });
}

// The next answer is looked for; the one before stays on the picture.
function paintLooking() {
  const n = state.used.length;
  byId("kept").textContent = `${count(n - state.drop)} of ${count(n)}`;
  for (const id of ["value", "bound", "gap", "time"]) byId(id).textContent = "…";
  byId("proof").textContent = "looking";
}

function paint() {
  picture = false;
  const { points, used } = state;
  // While the next answer is looked for, the one before stays on the picture.
  const answer = state.answer && state.answer.x.length === used.length ? state.answer : null;
  const place = new Map(used.map((i, at) => [i, at]));
  scatter.draw(points, (i) => (!place.has(i) ? "gone" : answer && !answer.inside[place.get(i)] ? "dropped" : "kept"));
  const [x, y] = usedColumns();
  const all = used.length ? lineOf(x, y, [...x.keys()]) : null;
  const kept = answer ? lineOf(x, y, answer.inliers) : null;
  scatter.lines(all, kept);
  const { conic, reason } = answer ? boundaryOf(x, y, answer.inside, state.objective) : { conic: null, reason: "…" };
  scatter.conic(conic);
  const out = answer ? used.filter((_, at) => !answer.inside[at]).map((i) => points[i]) : [];
  scatter.names(state.named && out.length <= MOST_NAMED ? out : [], points);
  const at = points[state.focus];
  scatter.focus.setAttribute("visibility", at ? "visible" : "hidden");
  if (at) {
    scatter.focus.setAttribute("cx", scatter.at.x(at.x));
    scatter.focus.setAttribute("cy", scatter.at.y(at.y));
  }
  paintText(answer, out, all, kept, conic ? conic.kind : reason);
  paintPath();
}

function paintText(answer, out, all, kept, boundary) {
  const n = state.used.length, title = titleOf(state.objective);
  byId("value-name").textContent = title;
  byId("kept").textContent = `${count(n - state.drop)} of ${count(n)}`;
  if (answer && !state.stale) {
    byId("value").textContent = number(answer.value);
    byId("bound").textContent = number(answer.bound);
    byId("gap").textContent = number(answer.gap, 3);
    byId("proof").textContent = PROOFS[answer.status] || answer.status;
    byId("time").textContent = `${number(answer.total, 3)} s`;
  } else {
    for (const id of ["value", "bound", "gap", "time"]) byId(id).textContent = "…";
    byId("proof").textContent = solver.busy ? "looking" : "none";
  }
  byId("line").textContent = lineText(kept, columnName("x"), columnName("y"));
  byId("line-all").textContent = lineText(all, columnName("x"), columnName("y"));
  byId("boundary").textContent = boundary;
  byId("rows").replaceChildren(...out.slice(0, MOST_ROWS).map((p) => {
    const li = document.createElement("li");
    li.textContent = p.label;
    li.dataset.values = `${columnName("x")} ${figure(p.x)}, ${columnName("y")} ${figure(p.y)}`;
    return li;
  }));
  byId("more").textContent = out.length > MOST_ROWS ? `and ${count(out.length - MOST_ROWS)} more` : out.length ? "" : "No row is dropped.";
  byId("slider").setAttribute("aria-valuetext",
    `${state.drop} of ${n} points dropped${answer && !state.stale ? `, ${title} ${number(answer.value, 4)}, ${PROOFS[answer.status]}` : ""}`);
  byId("scatter").setAttribute("aria-label",
    `Scatter of ${columnName("y")} against ${columnName("x")}: ${n - state.drop} points kept, ${state.drop} dropped`);
  if (given.path && answer && !state.stale) {
    lead.textContent = isFirstQuestion() ? leadGiven
      : `With ${count(state.drop)} of ${count(n)} points dropped, ${title} is ${number(answer.value, 4)} (${PROOFS[answer.status] || answer.status}).`;
  }
  byId("command").textContent = commandLine();
  byId("python").textContent = pythonLine();
  document.body.dataset.settled = answer && !state.stale && answer.finished ? answer.status : "";
}

function paintPath() {
  if (!state.path) return;
  drawPath(byId("path"), { ...state.path, here: state.drop, title: titleOf(state.objective) });
}

// ---- longer questions -------------------------------------------------------------------------

function idle(name) {
  byId(`run-${name}`).disabled = false;
  byId(`stop-${name}`).hidden = true;
  if (name === "path") byId("path-progress").hidden = true;
}
function busy(name) {
  byId(`run-${name}`).disabled = true;
  byId(`stop-${name}`).hidden = false;
  if (name === "path") byId("path-progress").hidden = false;
}

// What is not proved on the path, in a sentence; the picture has hollow marks for it.
function unproved({ drops, proved, noise }) {
  const open = (proved || []).filter((v) => v === false).length;
  const own = open ? ` ${count(open)} of ${few(drops.length, "size", "sizes")} ${open === 1 ? "is" : "are"} not proved within ${given.seconds} s: hollow marks are the best found.` : "";
  const shuffled = noise && noise.open
    ? ` ${few(noise.open, "optimum of shuffled data is", "optima of shuffled data are")} not proved either, so noise may reach higher than the band.` : "";
  return own + shuffled;
}

const UNREMARKABLE = 0.1, SIGNIFICANT = 0.05; // as choosing/nulls.py

function verdict({ overall, shuffles }, drops) {
  if (shuffles + 1 < 1 / SIGNIFICANT) {
    return `${few(shuffles, "shuffling is", "shufflings are")} too few to say whether the path rises above noise.`;
  }
  const p = `(p = ${number(overall, 3)} from ${count(shuffles)} shufflings, corrected for ${drops.length} sizes)`;
  if (overall > UNREMARKABLE) return `Unremarkable ${p}: with y shuffled the path does as well somewhere.`;
  if (overall > SIGNIFICANT) return `Borderline ${p}: with y shuffled the path does as well now and then.`;
  return `x and y go together, more than noise gives ${p}; how many points to drop is another question.`;
}

function runPath() {
  const [x, y] = usedColumns();
  const trouble = undefinedBecause(x, y);
  if (trouble) return complain(trouble);
  const drops = dropsFor(x.length, LEAST_KEPT[state.objective]);
  const permutations = state.objective === "var" ? 0 : Math.max(9, Math.min(9999, Number(byId("shuffles").value) || 99));
  busy("path");
  walker.ask("path", { x, y, objective: state.objective, drops, permutations, seconds: given.seconds }, (heard) => {
    if (heard.failed) complain(heard.failed);
    if (heard.answer) {
      const { path, proved, noise, done, total } = heard.answer;
      byId("path-progress").value = total ? done / total : path.length / drops.length;
      if (!noise && total) byId("path-told").textContent = done ? `${count(done)} of ${count(total)} shufflings` : "";
      const held = noise || (state.path && state.path.noise);
      state.path = { drops, values: path, proved, noise: held };
      if (noise || !total) byId("path-told").textContent = ((noise ? verdict(noise, drops) : "") + unproved(state.path)).trim();
      show();
    }
    if (heard.done || heard.failed) idle("path");
  });
}

const ofRows = (m, n) => `${count(m)} of ${count(n)} rows (${(100 * m) / n >= 0.95 ? ((100 * m) / n).toFixed(0) : ((100 * m) / n).toPrecision(1)}%)`;

// The sentences of quadsweep.audit.
function auditSentence({ none, lower, upper, most, n, outliers, finished }, labels) {
  if (none) return `Nothing need be removed: on all ${count(n)} rows the slope has no sign.`;
  const tail = finished ? "" : " Looking further.";
  if (upper === null) {
    if (lower - 1 === most) return `No removal of up to ${ofRows(most, n)} reverses the sign.`;
    return `No removal that reverses the sign was found; ${lower > 1 ? `no removal of up to ${ofRows(lower - 1, n)} does` : "nothing is proved"}.${tail}`;
  }
  let text = `Removing ${ofRows(upper, n)} reverses the sign.`;
  if (lower > 1) text += lower === 2 ? " No single row does." : ` No set of ${count(lower - 1)} rows does.`;
  if (lower < upper) text += ` Whether ${count(lower)}${upper - 1 > lower ? ` to ${count(upper - 1)}` : ""} would suffice is not known.`;
  const named = outliers.slice(0, 12).map((i) => labels[i]).join(", ");
  return `${text} (${named}${outliers.length > 12 ? `, and ${count(outliers.length - 12)} more` : ""})${tail}`;
}

function runAudit() {
  const [x, y] = usedColumns();
  const labels = state.used.map((i) => state.points[i].label);
  if (x.length < 4) return complain(`${count(x.length)} points are too few for an audit: 4 are needed.`);
  busy("audit");
  auditor.ask("audit", { x, y }, (heard) => {
    if (heard.failed) complain(heard.failed);
    if (heard.answer) byId("audit-told").textContent = auditSentence(heard.answer, labels);
    if (heard.done || heard.failed) idle("audit");
  });
}

// ---- what the reader does to the points -------------------------------------------------------

function remember() {
  const { moved, gone, added } = state.edits;
  state.history.push({ moved: new Map(moved), gone: new Set(gone), added: [...added] });
}
function undo() {
  if (!state.history.length) return;
  state.edits = state.history.pop();
  state.focus = -1;
  refresh();
}
function toggle(index) {
  const { row, label } = state.points[index];
  remember();
  const away = !state.edits.gone.delete(row);
  if (away) state.edits.gone.add(row);
  byId("told").textContent = away ? `${label} taken away` : `${label} put back`;
  refresh();
}
function add(x, y) {
  remember();
  state.edits.added.push([x, y]);
  byId("told").textContent = `a point added at ${number(x, 4)}, ${number(y, 4)}`;
  refresh();
}
function tell(index) {
  const p = state.points[index];
  const at = state.used.indexOf(index);
  const status = at < 0 ? "taken away" : state.answer && !state.answer.inside[at] ? "dropped" : "kept";
  byId("told").textContent = p ? `${p.label}: ${columnName("x")} ${number(p.x, 5)}, ${columnName("y")} ${number(p.y, 5)}, ${status}` : "";
}

const tool = () => document.querySelector("input[name=tool]:checked").value;

function listenToPointer(svg) {
  let held = null;
  // A finger scrolls the page, except where it takes hold of a point or of a tool.
  svg.addEventListener("touchstart", (event) => {
    if (state.table && (tool() !== "move" || scatter.nearest(state.points, scatter.place(event.touches[0]), 22) >= 0)) event.preventDefault();
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    if (!state.table) return;
    const at = scatter.place(event), index = scatter.nearest(state.points, at, event.pointerType === "touch" ? 22 : 12);
    if (tool() === "move" && index < 0) return;
    held = { from: at, index, dragged: false };
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    const at = scatter.place(event);
    if (!held) {
      const index = scatter.nearest(state.points, at, 8);
      if (index >= 0 && index !== state.focus) {
        state.focus = index;
        tell(index);
        show();
      }
      return;
    }
    if (Math.hypot(at[0] - held.from[0], at[1] - held.from[1]) > 4) {
      if (!held.dragged && tool() === "move") remember();
      held.dragged = true;
    }
    if (!held.dragged) return;
    if (tool() === "brush") drawBrush(held.from, at);
    else if (tool() === "move") {
      state.edits.moved.set(state.points[held.index].row, [scatter.at.dataX(at[0]), scatter.at.dataY(at[1])]);
      refresh(true);
    }
  });
  const release = (event) => {
    if (!held) return;
    const { index, dragged, from } = held, at = scatter.place(event);
    held = null;
    if (tool() === "add" && !dragged) add(scatter.at.dataX(at[0]), scatter.at.dataY(at[1]));
    else if (tool() === "brush" && dragged) brush(from, at);
    else if (tool() === "move" && dragged) refresh();
    else if (tool() === "move" && index >= 0) toggle(index);
  };
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", () => (held = null));
}

function drawBrush(from, to) {
  const box = { x: Math.min(from[0], to[0]), y: Math.min(from[1], to[1]), width: Math.abs(from[0] - to[0]), height: Math.abs(from[1] - to[1]) };
  for (const [key, v] of Object.entries(box)) scatter.box.setAttribute(key, v);
  scatter.box.setAttribute("visibility", "visible");
}
function brush(from, to) {
  drawBrush(from, to);
  const [x1, x2] = [from[0], to[0]].sort((p, q) => p - q), [y1, y2] = [from[1], to[1]].sort((p, q) => p - q);
  state.brushed = state.used.filter((i) => {
    const cx = scatter.at.x(state.points[i].x), cy = scatter.at.y(state.points[i].y);
    return cx >= x1 && cx <= x2 && cy >= y1 && cy <= y2;
  });
  byId("brushed").hidden = state.brushed.length === 0;
  byId("brushed-count").textContent = `${few(state.brushed.length, "point", "points")} brushed`;
  byId("told").textContent = byId("brushed-count").textContent;
}
function settleBrush(only) {
  remember();
  const chosen = new Set(state.brushed);
  for (const i of state.used) if (chosen.has(i) !== only) state.edits.gone.add(state.points[i].row);
  refresh();
}

function listenToKeys(svg) {
  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const step = steps[event.key], p = state.points[state.focus];
    if (step && event.shiftKey && p) {
      remember();
      const by = (lim, d) => (d * (lim[1] - lim[0])) / 100;
      state.edits.moved.set(p.row, [p.x + by(scatter.xlim, step[0]), p.y + by(scatter.ylim, step[1])]);
      refresh(true);
      tell(state.focus);
    } else if (step) {
      const order = state.points.map((_, i) => i).sort((i, j) => state.points[i].x - state.points[j].x);
      const at = order.indexOf(state.focus), forward = step[0] + step[1];
      state.focus = order[at < 0 ? 0 : (at + forward + order.length) % order.length];
      tell(state.focus);
      show();
    } else if (event.key === "Insert" && state.table) {
      const middle = (lim) => (lim[0] + lim[1]) / 2;
      const [x, y] = p ? [p.x, p.y] : [middle(scatter.xlim), middle(scatter.ylim)];
      state.focus = state.points.length; // the new one is last, and the next keys are for it
      add(x, y);
    } else if ((event.key === "Delete" || event.key === "Backspace") && p) toggle(state.focus);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !["TEXTAREA", "INPUT"].includes(document.activeElement.tagName)) {
      event.preventDefault();
      undo();
    }
  });
}

// ---- beginning --------------------------------------------------------------------------------

function listen() {
  const on = (id, kind, act) => byId(id).addEventListener(kind, act);
  on("slider", "input", () => {
    state.drop = dropAt(Number(byId("slider").value));
    solve(false);
  });
  on("objective", "change", () => ((state.objective = byId("objective").value), refresh()));
  for (const axis of ["x", "y"]) {
    on(`${axis}-column`, "change", () => {
      state[axis] = Number(byId(`${axis}-column`).value);
      state.edits = nothing();
      state.history = [];
      refresh();
    });
    on(`${axis}-log`, "change", () => {
      state[axis === "x" ? "logX" : "logY"] = byId(`${axis}-log`).checked;
      state.edits = nothing();
      state.history = [];
      refresh();
    });
  }
  on("swap", "click", () => {
    [state.x, state.y, state.logX, state.logY] = [state.y, state.x, state.logY, state.logX];
    state.edits = nothing();
    state.history = [];
    byId("x-column").value = String(state.x);
    byId("y-column").value = String(state.y);
    byId("x-log").checked = state.logX;
    byId("y-log").checked = state.logY;
    refresh();
  });
  on("undo", "click", undo);
  on("restore", "click", () => (remember(), (state.edits = nothing()), refresh()));
  on("brush-away", "click", () => settleBrush(false));
  on("brush-only", "click", () => settleBrush(true));
  on("run-path", "click", runPath);
  on("stop-path", "click", () => (walker.cancel(), idle("path")));
  on("run-audit", "click", runAudit);
  on("stop-audit", "click", () => (auditor.cancel(), idle("audit")));
  on("copy-command", "click", () => copy("command", byId("copy-command")));
  on("copy-python", "click", () => copy("python", byId("copy-python")));
  on("save-svg", "click", () => save("points.svg", standalone(byId("scatter")), "image/svg+xml"));
  on("save-png", "click", savePng);
  on("save-csv", "click", () => save("rows.csv", rowsAsCsv(), "text/csv"));
  on("save-json", "click", () => save("result.json", resultAsJson(), "application/json"));
  on("read-pasted", "click", () => offerTable(byId("pasted").value, "the pasted table"));
  on("file", "change", () => readFile(byId("file").files[0]));
  on("builtin", "change", () => takeBuiltin(given.tables[Number(byId("builtin").value)]));
  if (!HAS_ENGINE) return;
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) readFile(event.dataTransfer.files[0]);
  });
  listenToPointer(byId("scatter"));
  listenToKeys(byId("scatter"));
}

async function readFile(file) {
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : null;
  let text;
  try {
    text = new TextDecoder(wide || "utf-8", { fatal: true }).decode(bytes);
  } catch {
    text = new TextDecoder("windows-1252").decode(bytes); // as the command line: Western European
  }
  offerTable(text, file.name);
}

const takeBuiltin = (one) => takeTable({ ...one, source: one.source || "the table" }, one);

function begin() {
  document.body.classList.toggle("fixed", !HAS_ENGINE);
  listen();
  if (given.tables.length > 1) {
    byId("builtin-label").hidden = false;
    byId("builtin").replaceChildren(...given.tables.map((one, i) => new Option(one.source, i)));
  }
  if (given.tables.length) takeBuiltin(given.tables[0]);
  else document.body.classList.add("empty");
  byId("samples").hidden = !given.samples.length;
  byId("samples").append(...given.samples.map((one) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = one.source;
    button.addEventListener("click", () => takeBuiltin(one));
    return button;
  }));
  if (given.path) {
    state.path = given.path;
    byId("path-told").textContent = given.path.told;
    show();
  }
}
begin();
