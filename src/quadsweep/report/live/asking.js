// The page's side of the worker. One question at a time; the next one ends the one before, but not
// in its first moments: while a reader drags, the answers of the way there are shown too.

const HAS_ENGINE = byId("engine").textContent.trim() !== "";
const ENGINE = HAS_ENGINE && (async () => {
  const bytes = Uint8Array.from(atob(byId("engine").textContent.trim()), (c) => c.charCodeAt(0));
  const module = await WebAssembly.compile(bytes);
  const source = URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));
  return { module, source };
})();

const FIRST_MOMENTS = 150; // milliseconds

class Asker {
  constructor() {
    this.worker = null;
    this.current = null; // the question under way
    this.next = null; // the one that waits for it
  }

  // hear(message, last): answers as they come; `last` unless another question waits already.
  ask(inquiry, asked, hear) {
    const question = { inquiry, asked, hear, since: performance.now() };
    if (!this.current) {
      this.begin(question);
      return;
    }
    const first = this.next === null;
    this.next = question;
    if (first) {
      const overdue = this.current;
      const left = FIRST_MOMENTS - (performance.now() - overdue.since);
      setTimeout(() => {
        if (this.current === overdue && this.next) this.advance(true);
      }, Math.max(0, left));
    }
  }

  get busy() {
    return this.current !== null;
  }

  // Ends what is under way, and the worker with it; the next question gets a new one.
  cancel() {
    this.next = null;
    if (this.current) this.advance(true);
  }

  advance(terminate) {
    if (terminate && this.worker) {
      this.worker.terminate();
      this.worker = null;
    }
    const { next } = this;
    this.current = this.next = null;
    if (next) this.begin(next);
  }

  async begin(question) {
    this.current = question;
    question.since = performance.now();
    const { module, source } = await ENGINE;
    if (this.current !== question) return;
    if (!this.worker) {
      const worker = new Worker(source);
      worker.postMessage({ module });
      worker.onmessage = ({ data }) => {
        if (this.worker === worker) this.heard(data);
      };
      this.worker = worker;
    }
    this.worker.postMessage({ inquiry: question.inquiry, asked: question.asked });
  }

  heard(data) {
    const { current } = this;
    if (!current) return;
    current.hear(data, this.next === null);
    if ((data.done || data.failed) && this.current === current) this.advance(Boolean(data.failed));
  }
}
