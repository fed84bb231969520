// The two pictures. Points are two paths, one of dots and one of crosses, however many there are.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

function element(parent, name, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  parent.appendChild(node);
  return node;
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

const MOST_ROUND = 2000; // points drawn as round dots

class Scatter {
  constructor(svg) {
    this.svg = svg;
  }

  // Axes and empty layers for these points; `draw` fills them.
  lay(points, names) {
    this.xlim = limits(points.map((p) => p.x));
    this.ylim = limits(points.map((p) => p.y));
    this.svg.replaceChildren();
    sized(this.svg, 500, 440);
    this.at = frame(this.svg, this.xlim, this.ylim, names);
    const { box } = this.at;
    const clip = element(element(this.svg, "defs"), "clipPath", { id: "window" });
    element(clip, "rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top });
    const layer = element(this.svg, "g", { "clip-path": "url(#window)" });
    this.region = element(layer, "path", { class: "region" });
    this.curve = element(layer, "path", { class: "curve" });
    this.everything = element(layer, "line", { class: "all" });
    this.fit = element(layer, "line", { class: "fit" });
    this.size = Math.max(1.6, Math.min(5, 90 / Math.sqrt(points.length || 1)));
    this.many = points.length > MOST_ROUND;
    const look = this.many ? { class: "squares" } : { class: "dots", "stroke-width": 2 * this.size };
    this.gone = element(layer, "path", { class: "gone" });
    this.kept = element(layer, "path", look);
    this.dropped = element(layer, "path", { class: "cross" });
    this.marks = element(layer, "g");
    this.focus = element(layer, "circle", { class: "focus", r: this.size + 6, visibility: "hidden" });
    this.box = element(layer, "rect", { class: "brush", visibility: "hidden" });
  }

  straight(node, line) {
    node.setAttribute("visibility", line ? "visible" : "hidden");
    if (!line) return;
    const [x1, x2] = this.xlim, height = (v) => this.at.y(line.slope * v + line.intercept);
    for (const [key, v] of Object.entries({ x1: this.at.x(x1), x2: this.at.x(x2), y1: height(x1), y2: height(x2) })) {
      node.setAttribute(key, v);
    }
  }

  // All points, each kept, dropped or gone.
  draw(points, statusOf) {
    const s = this.size * 1.1, parts = { kept: [], dropped: [], gone: [] };
    // Round ends of lines without length; small squares where there are many, which are far quicker.
    const side = spot(2 * this.size * 0.9), half = this.size * 0.9;
    const dot = this.many
      ? (cx, cy) => `M${spot(cx - half)} ${spot(cy - half)}h${side}v${side}h-${side}z` : (cx, cy) => `M${spot(cx)} ${spot(cy)}h0`;
    points.forEach((p, i) => {
      const cx = this.at.x(p.x), cy = this.at.y(p.y), status = statusOf(i);
      if (status === "kept") parts.kept.push(dot(cx, cy));
      else if (status === "dropped") {
        parts.dropped.push(
          `M${spot(cx - s)} ${spot(cy - s)}L${spot(cx + s)} ${spot(cy + s)}M${spot(cx - s)} ${spot(cy + s)}L${spot(cx + s)} ${spot(cy - s)}`);
      } else parts.gone.push(`M${spot(cx - s)} ${spot(cy)}a${s} ${s} 0 1 0 ${2 * s} 0a${s} ${s} 0 1 0 ${-2 * s} 0`);
    });
    for (const name of Object.keys(parts)) this[name].setAttribute("d", parts[name].join(""));
  }

  lines(all, kept) {
    this.straight(this.everything, all);
    this.straight(this.fit, kept);
  }

  conic(conic) {
    const part = conic ? positivePart(conic.at, this.xlim, this.ylim) : { polygons: [], edges: [] };
    this.region.setAttribute("d", part.polygons.map((ring) => route(ring, this.at, true)).join(""));
    this.curve.setAttribute("d", part.edges.map((edge) => route(edge, this.at)).join(""));
  }

  // Names beside their points: to the right or left, higher or lower, wherever one covers no other
  // name, no cross and the fewest dots; long ones are shortened.
  names(points, everyone) {
    this.marks.replaceChildren();
    const { box } = this.at, taken = points.map((p) => {
      const cx = this.at.x(p.x), cy = this.at.y(p.y);
      return { left: cx - 6, right: cx + 6, top: cy - 6, bottom: cy + 6 };
    });
    const dots = this.many ? [] : everyone.map((p) => [this.at.x(p.x), this.at.y(p.y)]);
    const overlap = (p, q) =>
      Math.max(0, Math.min(p.right, q.right) - Math.max(p.left, q.left)) * Math.max(0, Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top));
    points.forEach((p, at) => {
      const text = p.label.length > 24 ? `${p.label.slice(0, 23)}…` : p.label;
      const node = element(this.marks, "text", { class: "mark" }, text);
      const width = node.getComputedTextLength() || 7 * text.length, height = 15;
      const cx = this.at.x(p.x), cy = this.at.y(p.y);
      let best = null;
      for (const lower of [0, -14, 14, -28, 28, -42, 42]) {
        for (const left of [cx + 9, cx - 9 - width, cx - width / 2]) {
          if (left === cx - width / 2 && lower === 0) continue;
          const place = { left, right: left + width, top: cy + lower - height / 2, bottom: cy + lower + height / 2 };
          const outside = Math.max(0, box.left - left) + Math.max(0, place.right - box.right)
            + Math.max(0, box.top - place.top) + Math.max(0, place.bottom - box.bottom);
          const cost = taken.reduce((sum, other, i) => sum + (i === at ? 0 : overlap(place, other)), 0) + 40 * outside + Math.abs(lower)
            + 25 * dots.filter(([px, py]) => px > left && px < place.right && py > place.top && py < place.bottom).length;
          if (!best || cost < best.cost) best = { ...place, cost };
        }
      }
      taken.push(best);
      node.setAttribute("x", spot(best.left));
      node.setAttribute("y", spot((best.top + best.bottom) / 2 + 4));
    });
  }

  // Where on the picture an event happened, in the picture's own units.
  place(event) {
    const shape = this.svg.getBoundingClientRect(), { width, height } = this.svg.viewBox.baseVal;
    return [((event.clientX - shape.left) * width) / shape.width, ((event.clientY - shape.top) * height) / shape.height];
  }

  nearest(points, [cx, cy], reach) {
    let best = -1, least = reach * reach;
    points.forEach((p, i) => {
      const d = (this.at.x(p.x) - cx) ** 2 + (this.at.y(p.y) - cy) ** 2;
      if (d <= least) (best = i), (least = d);
    });
    return best;
  }
}

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
  if (here <= last) element(svg, "line", { class: "here", x1: on.x(here), x2: on.x(here), y1: on.box.top, y2: on.box.bottom });
}

// The picture by itself: styles that a stylesheet gave it become its own.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const own = [...svg.querySelectorAll("*")], copied = [...copy.querySelectorAll("*")];
  const wanted = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "font-size", "font-family", "paint-order", "visibility", "fill-rule"];
  own.forEach((node, i) => {
    const style = getComputedStyle(node);
    copied[i].setAttribute("style", wanted.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  const { width, height } = svg.viewBox.baseVal;
  const paper = document.createElementNS(SVG, "rect");
  paper.setAttribute("width", width);
  paper.setAttribute("height", height);
  paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(paper);
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return new XMLSerializer().serializeToString(copy);
}
