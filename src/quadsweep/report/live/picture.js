// The picture of the points: two paths, one of dots and one of crosses, however many there are.

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

  names(points, everyone) {
    const placed = (p) => ({ cx: this.at.x(p.x), cy: this.at.y(p.y), label: p.label });
    nameThem(this.marks, this.at.box, points.map(placed), this.many ? [] : everyone.map(placed));
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
