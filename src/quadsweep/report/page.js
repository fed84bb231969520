// What was computed, shown; the slider goes from answer to answer.
{
  const data = JSON.parse(document.getElementById("data").textContent);
  // The scatter: drawn once, then only classes and a few paths change.
  const scatter = byId("scatter");
  sized(scatter, 500, 440);
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
  const path = {
    drops: data.frames.map((f) => f.drop), values: data.frames.map((f) => f.value),
    proved: data.frames.map((f) => f.proved), noise: data.noise, title: data.value,
  };

  const show = (index) => {
    const f = data.frames[index];
    const out = new Set(f.out);
    for (const [row, dot] of dots) dot.group.setAttribute("class", out.has(row) ? "out" : "in");
    const conic = f.conic && conicOf(...f.conic, [], [], []);
    const part = conic ? positivePart(conic.at, data.xlim, data.ylim) : { polygons: [], edges: [] };
    region.setAttribute("d", part.polygons.map((ring) => route(ring, at, true)).join(""));
    curve.setAttribute("d", part.edges.map((edge) => route(edge, at)).join(""));
    straight(fit, f.slope, f.intercept);
    straight(everything, data.slope, data.intercept);
    const named = data.named && out.size <= 15 ? [...out].map((row) => dots.get(row)).filter(Boolean) : [];
    nameThem(marks, at.box, named, [...dots.values()]);
    byId("count").textContent = `${count(f.drop)} of ${count(data.n)} dropped`;
    byId("slider").setAttribute("aria-valuetext", `${f.drop} of ${data.n} points dropped, ${data.value} ${number(f.value, 4)}`);
    byId("kept").textContent = `${count(f.k)} of ${count(data.n)}`;
    byId("value").textContent = number(f.value);
    byId("proof").textContent = f.proof;
    byId("line").textContent = lineText(f.slope === null ? null : f, ...data.names);
    byId("boundary").textContent = f.kind;
    byId("surprise").textContent = f.surprise;
    document.querySelector(".lead").textContent = f.lead;
    const rows = byId("rows");
    rows.replaceChildren();
    f.labels.forEach((label, i) => {
      const li = rows.appendChild(document.createElement("li"));
      li.textContent = label;
      li.dataset.values = `${data.names[0]} ${figure(f.at[i][0])}, ${data.names[1]} ${figure(f.at[i][1])}`;
    });
    byId("more").textContent = f.more ? `and ${count(f.more)} more` : out.size || f.labels.length ? "" : "No row is dropped.";
    scatter.setAttribute("aria-label", `Scatter of ${data.names[1]} against ${data.names[0]}: ${f.k} points kept, ${f.drop} dropped, ${data.value} ${number(f.value, 4)}`);
    drawPath(byId("path"), { ...path, here: f.drop });
  };

  const slider = byId("slider");
  slider.max = data.frames.length - 1;
  slider.value = data.start;
  slider.addEventListener("input", () => show(Number(slider.value)));
  show(data.start);
}
