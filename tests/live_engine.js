// Run by live_engine.py behind the page's own scripts: questions in, answers out, as JSON.
const engine = makeEngine(new WebAssembly.Module(require("fs").readFileSync(process.argv[2])));
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const plain = (value) => JSON.parse(JSON.stringify(value, (key, v) =>
  typeof v === "number" && !Number.isFinite(v) ? String(v) : ArrayBuffer.isView(v) ? Array.from(v) : v));
const last = (answers) => [...answers].pop();
const numbersOf = (list) => Float64Array.from(list);
const told = asked.map((q) => {
  try {
    if (q.what === "solve") return plain(engine.solve(numbersOf(q.x), numbersOf(q.y), q.k, q.objective));
    if (q.what === "timed") {
      const spent = [];
      for (let i = 0; i < q.times; i++) spent.push(engine.solve(numbersOf(q.x), numbersOf(q.y), q.k, q.objective).seconds);
      return plain(spent);
    }
    if (q.what === "audit") return plain(last(signAudits(engine, { x: numbersOf(q.x), y: numbersOf(q.y) })));
    if (q.what === "path") return plain(last(paths(engine, { ...q, x: numbersOf(q.x), y: numbersOf(q.y) })));
    if (q.what === "significance") return plain(pathSignificance(q.rows, q.sense));
    if (q.what === "objectives") return plain(OBJECTIVES.map((name) => [name, SENSE[name], LEAST_KEPT[name]]));
    const table = checkedTable(readTable(q.text, q.source));
    return plain({ names: table.names, numeric: numericColumns(table), label: labelColumn(table), first: firstColumns(table).slice(0, 2),
      columns: numericColumns(table).map((i) => numbers(table, i)) });
  } catch (wrong) {
    return { failed: wrong.message };
  }
});
process.stdout.write(JSON.stringify(told));
