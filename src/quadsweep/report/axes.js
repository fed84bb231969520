// Figures in words, axes, and the picture of the path.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

const count = (v) => v.toLocaleString("en-US");
const number = (v, digits = 6) => (v === null || !Number.isFinite(v) ? "not known" : String(Number(v.toPrecision(digits))));
// As in Python: four digits, or whole from a thousand on; a line by its columns' names.
const figure = (v) => (Math.abs(v) >= 1000 && Math.abs(v) < 1e9 ? Math.round(v).toLocaleString("en-US") : number(v, 4));
const lineText = (line, x, y) =>
  !line ? "none" : `${y} = ${figure(line.slope)} · ${x} ${line.intercept < 0 ? "-" : "+"} ${figure(Math.abs(line.intercept))}`;

function element(parent, name, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  parent.appendChild(node);
  return node;
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

function frame(svg, xlim, ylim, names) {
  const { width, height } = svg.viewBox.baseVal;
  const box = { left: 74, right: width - 15, top: 12, bottom: height - 56 };
  const x = scale(xlim, [box.left, box.right]), y = scale(ylim, [box.bottom, box.top]);
  const axis = element(svg, "g", { class: "axis" });
  element(axis, "path", { d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` });
  for (const [v, label] of ticks(xlim, width / 100)) {
    element(axis, "line", { x1: x(v), x2: x(v), y1: box.bottom, y2: box.bottom + 5 });
    element(axis, "text", { x: x(v), y: box.bottom + 22, "text-anchor": "middle" }, label);
  }
  for (const [v, label] of ticks(ylim, height / 60)) {
    element(axis, "line", { x1: box.left - 5, x2: box.left, y1: y(v), y2: y(v) });
    element(axis, "text", { x: box.left - 9, y: y(v) + 4, "text-anchor": "end" }, label);
  }
  const middle = (box.top + box.bottom) / 2;
  element(svg, "text", { class: "name", x: (box.left + box.right) / 2, y: height - 12, "text-anchor": "middle" }, names[0]);
  element(svg, "text", { class: "name", x: 16, y: middle, "text-anchor": "middle", transform: `rotate(-90 16 ${middle})` }, names[1]);
  return {
    x, y, box,
    dataX: scale([box.left, box.right], xlim),
    dataY: scale([box.bottom, box.top], ylim),
  };
}

// A picture for the width there is: on a phone fewer units across, so that all in it is larger.
function sized(svg, wide, narrow) {
  const phone = document.documentElement.clientWidth < 560;
  svg.setAttribute("viewBox", phone ? `0 0 480 ${narrow}` : `0 0 800 ${wide}`);
}

const spot = (v) => v.toFixed(1);
const route = (points, at, close) =>
  points.map(([px, py], i) => `${i ? "L" : "M"}${spot(at.x(px))} ${spot(at.y(py))}`).join("") + (close ? "Z" : "");

// Names beside their points: to the right or left, higher or lower, wherever one covers no other
// name, no cross and the fewest dots; long ones are shortened.
function nameThem(layer, box, named, dots) {
  layer.replaceChildren();
  const taken = named.map(({ cx, cy }) => ({ left: cx - 6, right: cx + 6, top: cy - 6, bottom: cy + 6 }));
  const near = 5; // of a dot's middle: what a name must keep off
  const overlap = (p, q) =>
    Math.max(0, Math.min(p.right, q.right) - Math.max(p.left, q.left)) * Math.max(0, Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top));
  named.forEach(({ cx, cy, label }, at) => {
    const text = label.length > 24 ? `${label.slice(0, 23)}…` : label;
    const node = element(layer, "text", { class: "mark" }, text);
    const width = node.getComputedTextLength() || 7 * text.length, height = parseFloat(getComputedStyle(node).fontSize) || 15;
    let best = null;
    for (const lower of [0, -16, 16, -32, 32, -48, 48, -64, 64, -80, 80]) {
      for (const left of [cx + 9, cx - 9 - width, cx - width / 2]) {
        if (left === cx - width / 2 && lower === 0) continue;
        const place = { left, right: left + width, top: cy + lower - height / 2, bottom: cy + lower + height / 2 };
        const outside = Math.max(0, box.left - left) + Math.max(0, place.right - box.right)
          + Math.max(0, box.top - place.top) + Math.max(0, place.bottom - box.bottom);
        const cost = taken.reduce((sum, other, i) => sum + (i === at ? 0 : overlap(place, other)), 0) + 40 * outside + Math.abs(lower)
          + 100 * dots.filter((d) => d.cx + near > left && d.cx - near < place.right && d.cy + near > place.top && d.cy - near < place.bottom
            && !(d.cx === cx && d.cy === cy)).length;
        if (!best || cost < best.cost) best = { ...place, lower, cost };
      }
    }
    taken.push(best);
    if (Math.abs(best.lower) > 16) { // far from its point: a line leads there
      const x2 = Math.max(best.left, Math.min(cx, best.right)), y2 = best.lower < 0 ? best.bottom : best.top;
      layer.insertBefore(element(layer, "line", { class: "leader", x1: spot(cx), y1: spot(cy), x2: spot(x2), y2: spot(y2) }), node);
    }
    node.setAttribute("x", spot(best.left));
    node.setAttribute("y", spot((best.top + best.bottom) / 2 + 4));
  });
}

// Value against points dropped, with what noise alone reaches.
function drawPath(svg, { drops, values, proved, noise, here, title }) {
  svg.replaceChildren();
  svg.removeAttribute("hidden");
  sized(svg, 360, 360);
  const known = [...values, ...(noise ? [...noise.low, ...noise.high] : [])].filter(Number.isFinite);
  if (!known.length) return;
  const pad = (Math.max(...known) - Math.min(...known)) * 0.05 || 0.05;
  const last = Math.max(drops[drops.length - 1], 1);
  const on = frame(svg, [0, last], [Math.min(...known) - pad, Math.max(...known) + pad], ["points dropped", title]);
  const pairs = (list) => list.map((v, i) => [drops[i], v]).filter((p) => Number.isFinite(p[1]));
  if (noise) {
    element(svg, "path", { class: "band", d: route([...pairs(noise.high), ...pairs(noise.low).reverse()], on, true) });
    element(svg, "path", { class: "median", d: route(pairs(noise.middle), on) });
  }
  element(svg, "path", { class: "path", d: route(pairs(values), on) });
  pairs(values).forEach(([px, py]) => {
    if (proved && proved[drops.indexOf(px)] === false) element(svg, "circle", { class: "unproved", cx: on.x(px), cy: on.y(py), r: 5 });
  });
  const reached = values[drops.indexOf(here)];
  if (Number.isFinite(reached)) element(svg, "circle", { class: "spot", cx: on.x(here), cy: on.y(reached), r: 6 });
  if (here <= last) element(svg, "line", { class: "here", x1: on.x(here), x2: on.x(here), y1: on.box.top, y2: on.box.bottom });
}
