// Tables from text, by the rules of the command line (cli/tables/ and cli/points.py): the same
// delimiters, decimal marks, headers, dates, missing values and sentences. A table is {source, names,
// columns, decimal}, columns of raw text; `numbers` makes one of them numeric.

const MISSING = new Set(["", "na", "n/a", "n.a.", "<na>", "nan", "nat", "null", "none", ".", "..", "-", "?",
  "#n/a", "#na", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!"]);
const FLOAT = /^[+-]?((\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?|inf(inity)?|nan)$/i;
const GROUPS = { // decimal mark -> numbers with it and with marks between thousands
  ".": /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/,
  ",": /^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d*)?(?:[eE][+-]?\d+)?$/,
};
const ISO_DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:\d\d)?)?$/;
const DATE = /^(\d{1,4})([./])(\d{1,2})\2(\d{1,4})(?:[T ]+(\S.*))?$/;
const ORDERS = [[".", "dmy"], ["/", "ymd"], ["/", "mdy"], ["/", "dmy"]]; // in which dates are written

const SAMPLE = 1000; // rows by which a table is judged

class BadInput extends Error {}

const isMissing = (value) => value === null || value === undefined || MISSING.has(String(value).trim().toLowerCase());

// The number a field says, or null if it says none.
function numberIn(value, decimal = ".") {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return null;
  let text = value.trim();
  const share = text.endsWith("%");
  if (share) text = text.slice(0, -1).trimEnd();
  if (GROUPS[decimal].test(text)) text = text.replaceAll(decimal === "," ? "." : ",", "").replaceAll(",", ".");
  else if (decimal === "," && text.includes(".")) return null;
  if (!FLOAT.test(text)) return null;
  const plain = text.replaceAll("_", "").toLowerCase(), word = plain.replace(/^[+-]/, "");
  const found = word === "nan" ? NaN : word.startsWith("inf") ? (plain.startsWith("-") ? -Infinity : Infinity) : Number(plain);
  return share ? found / 100 : found;
}

// Days since 1970 of a date or a time in ISO 8601.
function dayIn(value) {
  const text = typeof value === "string" ? value.trim() : "";
  const parts = ISO_DATE.exec(/^\d{4}-\d\d$/.test(text) ? `${text}-01` : text);
  if (!parts) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part || 0));
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCFullYear(year);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) return null;
  const zone = /([+-])(\d\d):(\d\d)/.exec(parts[8] || "");
  const ahead = zone ? (zone[1] === "-" ? -1 : 1) * (Number(zone[2]) * 60 + Number(zone[3])) : 0;
  return (date.getTime() / 1000 + hour * 3600 + (minute - ahead) * 60 + second + Number(`0.${parts[7] || 0}`)) / 86400;
}

// Days since 1970 of a date that is not in ISO 8601, its parts in some order.
const dayWritten = (mark, order) => (value) => {
  const parts = typeof value === "string" ? DATE.exec(value.trim()) : null;
  if (!parts || parts[2] !== mark) return null;
  const at = (part) => [parts[1], parts[3], parts[4]][order.indexOf(part)];
  if (at("y").length !== 4) return null;
  return dayIn(`${at("y")}-${at("m").padStart(2, "0")}-${at("d").padStart(2, "0")}${parts[5] ? `T${parts[5]}` : ""}`);
};

// How all values there are can be read, or null for text and where day and month could change places.
function readerOf(values, decimal) {
  const present = values.filter((value) => !isMissing(value));
  if (!present.length) return null;
  const readers = [{ name: "number", read: (v) => numberIn(v, decimal) }, { name: "date", read: dayIn }];
  const fits = (reader) => present.every((value) => reader.read(value) !== null);
  const written = ORDERS.map(([mark, order]) => ({ name: "date", read: dayWritten(mark, order) })).filter(fits);
  return readers.find(fits) || (written.length === 1 ? written[0] : null);
}

// Fields of delimited text, quotes and line ends inside quotes included.
function* fields(text, delimiter) {
  let row = [], field = "", quoted = false, started = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') field += text[++i];
      else quoted = false;
    } else if (c === '"' && !started) {
      quoted = started = true;
    } else if (c === delimiter) {
      row.push(field);
      field = "";
      started = false;
    } else if (c === "\n" || c === "\r") {
      if (c === "\r" && text[i + 1] === "\n") i++;
      row.push(field);
      yield row;
      row = [];
      field = "";
      started = false;
    } else if (c !== " " || started) {
      field += c;
      started = true;
    }
  }
  if (field !== "" || started || row.length) yield [...row, field];
}

// The candidate that cuts the first lines into the same number of fields, most of them.
function delimiterOf(text) {
  const some = text.split(/\r\n|\n|\r/, 1000).filter((line) => line.trim()).slice(0, 20);
  let best = ",", most = 1;
  for (const candidate of [";", ",", "\t", "|"]) { // with decimal commas both may cut: semicolons first
    const counts = new Set([...fields(some.join("\n"), candidate)].map((row) => row.length));
    const [count] = counts;
    if (counts.size === 1 && count > most) [best, most] = [candidate, count];
  }
  if (most > 1 || some.some((line) => line.includes(","))) return best;
  return some.every((line) => line.trim().split(/\s+/).length > 1) ? " " : ",";
}

// A comma if that makes numbers of fields that are none with a point, and unmakes none.
function decimalOf(rows, delimiter) {
  if (delimiter === ",") return ".";
  const some = rows.flat().filter((v) => !isMissing(v) && /[.,]/.test(v));
  const readable = (mark) => some.filter((v) => numberIn(v, mark) !== null).length;
  return readable(",") > readable(".") ? "," : ".";
}

function readTable(text, source) {
  let clean = text.replace(/^\ufeff/, "");
  if (!clean.trim()) throw new BadInput(`${source} is empty`);
  if (clean.startsWith("PK\u0003\u0004")) throw new BadInput(`${source} is a workbook or an archive; save the sheet as CSV`);
  if (clean.slice(0, 4096).includes("\0") || clean.startsWith("%PDF") || clean.startsWith("PAR1")) {
    throw new BadInput(`${source} is a binary file; the page reads CSV and TSV`);
  }
  while (clean.startsWith("#")) clean = clean.replace(/^#[^\r\n]*(\r\n|\n|\r|$)/, "");
  const delimiter = /\.(tsv|tab)$/i.test(source) ? "\t" : delimiterOf(clean);
  const rows = [...fields(clean, delimiter)].filter((row) => row.some((value) => value !== ""));
  if (!rows.length) throw new BadInput(`${source} is empty`);
  const decimal = decimalOf(rows.slice(1, SAMPLE), delimiter);
  const titled = !rows[0].every((value) => numberIn(value, decimal) !== null);
  const names = titled ? rows[0].map((title) => title.trim()) : rows[0].map((_, i) => String(i + 1));
  const body = titled ? rows.slice(1) : rows;
  if (!body.length) throw new BadInput(`${source} has a header and no rows`);
  body.forEach((row, i) => {
    if (row.length > names.length) {
      throw new BadInput(`${source}: row ${i + 1} has ${row.length} fields where there are ${names.length} columns`);
    }
  });
  return { source, names, decimal, columns: names.map((_, j) => body.map((row) => (j < row.length ? row[j] : null))) };
}

// How a column is read: by its first rows, or by all where those are empty.
function columnReader(table, index) {
  const column = table.columns[index], sample = column.slice(0, SAMPLE - 1);
  return readerOf(sample.every(isMissing) ? column : sample, table.decimal || ".");
}

const numericColumns = (table) => table.names.map((_, i) => i).filter((i) => i !== table.label && columnReader(table, i));

// The column said to name the rows, the first text column whose values do, or -1.
function labelColumn(table) {
  if (table.label !== undefined) return table.label;
  const numeric = new Set(numericColumns(table));
  return table.names.findIndex((name, i) => {
    if (numeric.has(i) || table.names.filter((other) => other === name).length > 1) return false;
    const texts = table.columns[i].filter((value) => !isMissing(value));
    return texts.length === table.columns[i].length && new Set(texts).size === texts.length;
  });
}

// A column without a name, or one that only counts the rows: not what is meant.
function numbersRows(table, index) {
  if (!table.names[index] || table.names[index].startsWith("Unnamed:")) return true;
  const values = table.columns[index].map((value) => numberIn(value, table.decimal || "."));
  return values.length > 2 && [0, 1].some((start) => values.every((v, i) => v === start + i));
}

// Numeric columns in the order in which they are to be x and y.
const firstColumns = (table) => {
  const numeric = numericColumns(table), counts = numeric.filter((i) => numbersRows(table, i));
  return [...numeric.filter((i) => !counts.includes(i)), ...counts];
};

function brief(text) {
  return text.length <= 40 ? text : `${text.slice(0, 20)}...${text.slice(-5)}`;
}

// A column of numbers, NaN where missing; text is an error that says where.
function numbers(table, index) {
  const reader = columnReader(table, index) || { name: "number", read: numberIn };
  return Float64Array.from(table.columns[index], (value, i) => {
    if (isMissing(value)) return NaN;
    const found = reader.read(value);
    if (found !== null) return found;
    throw new BadInput(
      `${table.source}: column '${table.names[index]}' has ${brief(`'${value}'`)} in row ${i + 1}, not a ${reader.name}`);
  });
}

// A table with two numeric columns at least, or the sentence that says what is missing.
function checkedTable(table) {
  const numeric = numericColumns(table);
  if (numeric.length > 1) return table;
  const listed = numeric.map((i) => table.names[i] || "(no name)").join(", ");
  throw new BadInput(
    `two numeric columns are needed; ${table.source} has ${listed ? `only ${listed}` : "no numeric columns"}`);
}
