// The server's events in → one call each; reads with fetch, so that a token can go along.
// A broken line is taken up again after the last event that came, later and later while nobody answers.

import { headers, reach } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const SILENCE = 40_000; // the server says something every 15 seconds

export class EventStream {
  #last = "";
  #wait = FIRST_WAIT;
  #stopped = false;
  #abort = null;

  constructor(url, { onEvent, onState }) {
    Object.assign(this, { url, onEvent, onState });
  }

  async start() {
    while (!this.#stopped) {
      try {
        await this.#read();
      } catch (error) {
        if (this.#stopped) return;
        this.onState("broken", error);
        if (error.locked) return;
      }
      await this.#pause();
    }
  }

  stop() {
    this.#stopped = true;
    this.#abort?.abort();
    this.#wake?.();
  }

  // Somebody has reason to believe that the server is back.
  retry() {
    this.#wait = FIRST_WAIT;
    this.#wake?.();
  }

  #wake = null;

  #pause() {
    const wait = this.#wait * (0.75 + Math.random() / 2); // not all pages in the same moment
    this.#wait = Math.min(LONGEST_WAIT, 2 * this.#wait);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #read() {
    this.#abort = new AbortController();
    const resume = this.#last ? { "Last-Event-ID": this.#last } : {};
    const answer = await reach(this.url, {
      signal: this.#abort.signal,
      headers: { Accept: "text/event-stream", ...headers(), ...resume },
    });
    if (!answer.ok) throw Object.assign(new Error(answer.statusText), { locked: answer.status === 401 });
    this.onState("live");
    this.#wait = FIRST_WAIT;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await this.#patiently(reader.read());
      if (done) throw new Error("the stream ended");
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop();
      blocks.forEach((block) => this.#tell(block));
    }
  }

  // A line that is dead without anybody having closed it is given up.
  #patiently(reading) {
    const timer = setTimeout(() => this.#abort.abort(), SILENCE);
    return reading.finally(() => clearTimeout(timer));
  }

  #tell(block) {
    const event = { name: "message", data: "" };
    for (const line of block.split(/\r?\n/)) {
      const [, field, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
      if (field === "id") this.#last = value;
      else if (field === "event") event.name = value;
      else if (field === "data") event.data += value;
    }
    if (event.data || event.name !== "message")
      this.onEvent(event.name, event.data ? JSON.parse(event.data) : {});
  }
}
