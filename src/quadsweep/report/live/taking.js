// What the reader takes away: the command and the line that reproduce the screen, rows, pictures.

const edited = () => state.edits.gone.size + state.edits.moved.size + state.edits.added.length > 0;
const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);
const source = () => (edited() || state.logX || state.logY || !state.table.path ? "rows.csv" : state.table.path);

function commandLine() {
  const words = ["quadsweep", "solve", source()];
  if (!state.table.builtin || source() === "rows.csv") words.push("--x", columnName("x"), "--y", columnName("y"));
  words.push("--drop", String(state.drop), "--objective", state.objective);
  const note = source() === "rows.csv" ? "   # rows.csv: the rows (CSV) below" : "";
  return words.map(quoted).join(" ") + note;
}

function pythonLine() {
  const { table } = state;
  const ask = `drop=${state.drop}, objective=${JSON.stringify(state.objective)})`;
  if (table.builtin && source() !== "rows.csv") {
    return `data = qs.datasets.load(${JSON.stringify(table.path)}); qs.solve(data.x, data.y, ${ask}`;
  }
  const column = (axis) => `t[${JSON.stringify(columnName(axis))}]`;
  const read = 'pd.read_csv("rows.csv")';
  return `t = ${read}; qs.solve(${column("x")}, ${column("y")}, ${ask.slice(0, -1)}, nan_policy="omit")`;
}

function rowsAsCsv() {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r;|\t]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const { answer } = state, names = [columnName("x"), columnName("y")];
  const own = (name) => (names.includes(name) ? own(`${name}_`) : name);
  const lines = [[own("row"), ...names, own("inlier")].map(cell).join(",")];
  state.used.forEach((i, at) => {
    const p = state.points[i];
    lines.push([p.label, p.x, p.y, answer ? Boolean(answer.inside[at]) : ""].map(cell).join(","));
  });
  return lines.join("\n") + "\n";
}

function resultAsJson() {
  const { answer, used, points } = state;
  const rows = (wanted) => used.filter((_, at) => answer && Boolean(answer.inside[at]) === wanted).map((i) => points[i].row);
  const line = answer ? lineOf(answer.x, answer.y, answer.inliers) : null;
  return JSON.stringify({
    objective: state.objective, method: answer && answer.method, n: used.length, k: used.length - state.drop,
    value: answer && answer.value, bound: answer && answer.bound, gap: answer && answer.gap,
    status: answer && answer.status, success: Boolean(answer && answer.status === "optimal"),
    rows: "index from 0", inliers: rows(true), outliers: rows(false), omitted: state.left,
    slope: line && line.slope, intercept: line && line.intercept, coef: line ? [line.slope] : null,
    names: [columnName("x"), columnName("y")], nodes: answer && answer.nodes, seconds: answer && answer.total,
    edited: edited(),
  }, null, 2);
}

function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function savePng() {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save("points.png", blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(byId("scatter")))}`;
}

async function copy(id, button) {
  const text = byId(id).textContent;
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not allowed here: by a selection, which stays for the reader's own hands
    getSelection().selectAllChildren(byId(id));
    done = document.execCommand("copy");
  }
  button.textContent = done ? "copied" : "press Ctrl+C";
  byId("copied").textContent = button.textContent;
  setTimeout(() => (button.textContent = "copy"), 1500);
}
