// Reads the server's events with fetch, so that a token can be sent, and calls back for each.
// After a lost connection it resumes after the last event, with growing pauses while the server is away.

import { headers, reach } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const SILENCE = 40_000; // the server sends something every 15 seconds

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

  // Called when the server is probably back.
  retry() {
    this.#wait = FIRST_WAIT;
    this.#wake?.();
  }

  #wake = null;

  #pause() {
    const wait = this.#wait * (0.75 + Math.random() / 2); // so that pages do not reconnect all at once
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

  // A connection that is dead but not closed is abandoned.
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
