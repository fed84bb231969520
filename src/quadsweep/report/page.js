"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);

  const element = (parent, name, attributes = {}, text = null) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== null) node.textContent = text;
    parent.appendChild(node);
    return node;
  };

  // Straight scales and ticks at round numbers.
  const scale = (from, to) => (v) => to[0] + ((v - from[0]) / (from[1] - from[0])) * (to[1] - to[0]);
  const ticks = ([low, high], about) => {
    const rough = (high - low) / about;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) found.push(i * step);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const small = digits <= 6 && Math.abs(high) < 1e7;
    return found.map((v) => [v, small ? v.toFixed(digits) : v.toPrecision(3)]);
  };

  const frame = (svg, xlim, ylim, names) => {
    const height = svg.viewBox.baseVal.height;
    const box = { left: 74, right: 785, top: 12, bottom: height - 56 };
    const x = scale(xlim, [box.left, box.right]);
    const y = scale(ylim, [box.bottom, box.top]);
    const axis = element(svg, "g", { class: "axis" });
    element(axis, "path", { d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` });
    for (const [v, label] of ticks(xlim, 8)) {
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
    return { x, y, box };
  };

  const route = (points, at, close) =>
    points.map(([px, py], i) => `${i ? "L" : "M"}${at.x(px).toFixed(1)} ${at.y(py).toFixed(1)}`).join("") + (close ? "Z" : "");

  // The scatter: drawn once, then only classes and a few paths change.
  const scatter = byId("scatter");
  const at = frame(scatter, data.xlim, data.ylim, data.names);
  const clip = element(element(scatter, "defs"), "clipPath", { id: "window" });
  element(clip, "rect", {
    x: at.box.left, y: at.box.top, width: at.box.right - at.box.left, height: at.box.bottom - at.box.top,
  });
  const layer = element(scatter, "g", { "clip-path": "url(#window)" });
  const region = element(layer, "path", { class: "region" });
  const curve = element(layer, "path", { class: "curve" });
  const everything = element(layer, "line", { class: "all" });
  const fit = element(layer, "line", { class: "fit" });
  const size = Math.max(2, Math.min(5, 90 / Math.sqrt(data.points.length)));
  const dots = new Map();
  for (const [row, px, py, label] of data.points) {
    const group = element(layer, "g", { class: "in", "data-row": row });
    const cx = at.x(px), cy = at.y(py), s = size * 1.1;
    element(group, "circle", { class: "dot", cx, cy, r: size });
    element(group, "path", {
      class: "cross", d: `M${cx - s} ${cy - s}L${cx + s} ${cy + s}M${cx - s} ${cy + s}L${cx + s} ${cy - s}`,
    });
    element(group, "title", {}, label);
    dots.set(row, { group, cx, cy, label });
  }
  const marks = element(layer, "g");

  const straight = (node, slope, intercept) => {
    const known = slope !== null && intercept !== null;
    node.style.display = known ? "" : "none";
    if (!known) return;
    const [x1, x2] = data.xlim;
    node.setAttribute("x1", at.x(x1));
    node.setAttribute("x2", at.x(x2));
    node.setAttribute("y1", at.y(slope * x1 + intercept));
    node.setAttribute("y2", at.y(slope * x2 + intercept));
  };

  // The path: value against points dropped, with what noise alone reaches.
  const path = byId("path");
  const drops = data.frames.map((f) => f.drop);
  const reached = data.frames.map((f) => f.value).concat(data.noise ? data.noise.high.concat(data.noise.low) : []);
  const known = reached.filter((v) => v !== null);
  const pad = (Math.max(...known) - Math.min(...known)) * 0.05 || 0.05;
  const ylim = [Math.min(...known) - pad, Math.max(...known) + pad];
  const on = frame(path, [Math.min(...drops), Math.max(Math.max(...drops), Math.min(...drops) + 1)], ylim, ["points dropped", data.value]);
  if (data.noise) {
    const up = drops.map((d, i) => [d, data.noise.high[i]]).filter((p) => p[1] !== null);
    const down = drops.map((d, i) => [d, data.noise.low[i]]).filter((p) => p[1] !== null).reverse();
    element(path, "path", { class: "band", d: route(up.concat(down), on, true) });
    element(path, "path", { class: "median", d: route(drops.map((d, i) => [d, data.noise.middle[i]]).filter((p) => p[1] !== null), on) });
  }
  element(path, "path", { class: "path", d: route(data.frames.filter((f) => f.value !== null).map((f) => [f.drop, f.value]), on) });
  for (const f of data.frames) {
    if (!f.proved && f.value !== null) element(path, "circle", { class: "unproved", cx: on.x(f.drop), cy: on.y(f.value), r: 5 });
  }
  const here = element(path, "line", { class: "here", y1: on.box.top, y2: on.box.bottom });
  const spot = element(path, "circle", { class: "spot", r: 6 });

  const count = (v) => v.toLocaleString("en-US");
  const number = (v, digits = 6) => (v === null ? "not known" : String(Number(v.toPrecision(digits))));
  const figure = (v) => (Math.abs(v) >= 1000 && Math.abs(v) < 1e9 ? Math.round(v).toLocaleString("en-US") : number(v, 4));
  const lineText = (f) =>
    f.slope === null ? "none" : `${data.names[1]} = ${figure(f.slope)} · ${data.names[0]} ${f.intercept < 0 ? "-" : "+"} ${figure(Math.abs(f.intercept))}`;

  const show = (index) => {
    const f = data.frames[index];
    const out = new Set(f.out);
    for (const [row, dot] of dots) dot.group.setAttribute("class", out.has(row) ? "out" : "in");
    region.setAttribute("d", f.region.map((ring) => route(ring, at, true)).join(""));
    curve.setAttribute("d", f.curve.map((piece) => route(piece, at)).join(""));
    straight(fit, f.slope, f.intercept);
    straight(everything, data.slope, data.intercept);
    marks.replaceChildren();
    if (data.named && out.size <= 15) {
      for (const row of out) {
        const dot = dots.get(row);
        if (!dot) continue;
        const left = dot.cx > at.box.right - 120;
        element(marks, "text", { class: "mark", x: dot.cx + (left ? -9 : 9), y: dot.cy + 4, "text-anchor": left ? "end" : "start" }, dot.label);
      }
    }
    byId("count").textContent = `${count(f.drop)} of ${count(data.n)} dropped`;
    byId("slider").setAttribute("aria-valuetext", `${f.drop} of ${data.n} points dropped, ${data.value} ${number(f.value, 4)}`);
    byId("kept").textContent = `${count(f.k)} of ${count(data.n)}`;
    byId("value").textContent = number(f.value);
    byId("proof").textContent = f.proof;
    byId("line").textContent = lineText(f);
    byId("boundary").textContent = f.kind;
    byId("surprise").textContent = f.surprise;
    const rows = byId("rows");
    rows.replaceChildren();
    for (const label of f.labels) rows.appendChild(document.createElement("li")).textContent = label;
    byId("more").textContent = f.more ? `and ${count(f.more)} more` : out.size || f.labels.length ? "" : "No row is dropped.";
    scatter.setAttribute("aria-label", `Scatter of ${data.names[1]} against ${data.names[0]}: ${f.k} points kept, ${f.drop} dropped, ${data.value} ${number(f.value, 4)}`);
    here.setAttribute("x1", on.x(f.drop));
    here.setAttribute("x2", on.x(f.drop));
    spot.style.display = f.value === null ? "none" : "";
    if (f.value !== null) {
      spot.setAttribute("cx", on.x(f.drop));
      spot.setAttribute("cy", on.y(f.value));
    }
  };

  const slider = byId("slider");
  slider.max = data.frames.length - 1;
  slider.value = data.start;
  slider.addEventListener("input", () => show(Number(slider.value)));
  show(data.start);
})();
