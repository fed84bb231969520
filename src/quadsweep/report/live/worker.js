// The worker: one question at a time, answers as messages. It is ended from outside to cancel.

let engine = null;

const INQUIRIES = { solve: solvings, path: paths, audit: signAudits };

self.onmessage = ({ data }) => {
  if (data.module) {
    engine = makeEngine(data.module);
    return;
  }
  const { inquiry, asked } = data;
  engine.tick = (value, bound, nodes, seconds) => {
    if (inquiry === "solve") self.postMessage({ inquiry, tick: { value, bound, nodes, seconds } });
  };
  try {
    for (const answer of INQUIRIES[inquiry](engine, asked)) self.postMessage({ inquiry, answer });
    self.postMessage({ inquiry, done: true });
  } catch (wrong) {
    self.postMessage({ inquiry, failed: `the engine stopped: ${wrong.message}` });
  }
};
