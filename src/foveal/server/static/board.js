// Keeps the data that the page shows up to date, and fires a `change` event that names what is new.
// Events only say what to read again: a hundred of them at once cause one read.

import { Problem, get, of, post } from "./api.js";
import { historyModel, windowModel } from "./segments.js";
import { EventStream } from "./stream.js";

const PAGE = 1000;
const MOST_BUILDS = 500;
const CALM = 120; // milliseconds in which events are collected
const SLOW = 2000; // the same for sessions that are not shown
const REST = 3; // after a read, pause this many times as long as it took
const READ_AGAIN = {
  "messages.added": ["sessions", "stats", "messages"],
  "window.built": ["stats", "builds", "build"],
  "message.marked": ["stats", "marks"],
  "history.forked": ["everything"],
  "task.completed": ["stats", "marks"],
};

export class Board extends EventTarget {
  sessions = [];
  name = "";
  stats = null;
  builds = []; // oldest first
  build = null;
  shown = null; // a number; null follows the newest
  messages = [];
  window = null;
  history = null;
  connection = "connecting";
  problem = null;
  #pending = new Set();
  #dirty = new Set();
  #timer = 0;
  #turn = 0;
  #others = 0;
  #pace = CALM;

  constructor() {
    super();
    document.addEventListener("visibilitychange", () => this.#later());
  }

  start(name) {
    this.name = name;
    this.stream = new EventStream("/api/v1/events", {
      onEvent: (event, data) => this.#heard(event, data),
      onState: (state, error) => this.#line(state, error),
    });
    this.stream.start();
    return this.#ask("everything");
  }

  open(name) {
    if (name === this.name && this.stats) return Promise.resolve();
    Object.assign(this, { name, stats: null, builds: [], build: null, shown: null, messages: [] });
    Object.assign(this, { window: null, history: null });
    this.#turn += 1;
    this.#tell("session", "stats", "builds", "build", "messages");
    return this.#ask("everything");
  }

  show(number) {
    this.shown = number;
    return this.#ask("build");
  }

  get newest() {
    return this.builds.at(-1)?.number ?? this.stats?.builds ?? 0;
  }

  get following() {
    return this.shown === null;
  }

  // Calls an action of the session; its changes arrive as events, and are read at once for the caller.
  async act(verb, body = {}) {
    const answer = await post(of(this.name, `/${verb}`), body);
    if (verb === "build") this.shown = null;
    await this.refresh(...(verb === "build" ? ["builds", "build"] : []));
    return answer;
  }

  refresh(...parts) {
    return this.#ask("stats", "marks", ...parts);
  }

  retry() {
    this.stream.stop();
    return this.start(this.name);
  }

  #heard(event, data) {
    if (event === "reset") this.#want("everything");
    else if (event.startsWith("session.")) this.#want("sessions");
    else if (data.session === this.name) this.#want(...(READ_AGAIN[event] ?? []));
    else if (event === "messages.added") this.#others ||= setTimeout(() => this.#countOthers(), SLOW);
    if (event === "message.marked" && data.session === this.name) this.#soil(data.id);
    this.dispatchEvent(new CustomEvent("heard", { detail: { event, data } }));
  }

  #countOthers() {
    this.#others = 0;
    this.#want("sessions");
  }

  #line(state) {
    const back = state === "live" && this.connection === "broken";
    this.connection = state;
    this.#tell("connection");
    if (back) this.#want("everything");
  }

  #soil(id) {
    const place = this.messages.findIndex((message) => message?.id === id);
    this.#dirty.add(place < 0 ? "all" : Math.floor(place / PAGE));
  }

  #want(...parts) {
    parts.forEach((part) => this.#pending.add(part));
    this.#later();
  }

  #later() {
    if (this.#timer || !this.#pending.size || document.hidden) return;
    this.#timer = setTimeout(async () => {
      const parts = [...this.#pending];
      const start = performance.now();
      this.#pending.clear();
      await this.#ask(...parts);
      this.#pace = Math.max(CALM, REST * (performance.now() - start));
      this.#timer = 0;
      this.#later();
    }, this.#pace);
  }

  async #ask(...parts) {
    const turn = this.#turn;
    const asked = (part) => parts.includes(part) || parts.includes("everything");
    try {
      if (asked("sessions")) await this.#readSessions();
      if (!this.name) return this.#tell("ready");
      const reading = [asked("stats") && this.#readStats(turn), asked("builds") && this.#readBuilds(turn)];
      await Promise.all(reading);
      if (asked("build")) await this.#readBuild(turn);
      this.problem = null;
      this.#tell("ready");
      if (asked("messages") || asked("marks"))
        await this.#readMessages(turn, { again: parts.includes("everything") });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (turn === this.#turn) this.problem = error;
      this.#tell("ready");
    }
  }

  async #readSessions() {
    const asked = this.name;
    this.sessions = await get("/sessions");
    const gone = !this.sessions.some((session) => session.name === asked);
    const newest = this.sessions.at(-1)?.name ?? "";
    if (gone && asked === this.name) {
      if (this.stats) this.open(newest); // the session was deleted while it was shown
      else this.name = newest;
    }
    this.#tell("sessions");
  }

  async #readStats(turn) {
    const stats = await get(of(this.name, "/stats"));
    if (turn !== this.#turn) return;
    this.stats = stats;
    this.#tell("stats");
  }

  async #readBuilds(turn) {
    const page = await get(of(this.name, "/builds"), { limit: this.builds.length ? 50 : MOST_BUILDS });
    if (turn !== this.#turn) return;
    const found = page.builds.reverse();
    const first = found[0]?.number ?? 0;
    const older = this.builds.filter((build) => build.number < first);
    const gap = older.length && older.at(-1).number !== first - 1;
    this.builds = [...(gap ? [] : older), ...found].slice(-MOST_BUILDS);
    this.#tell("builds");
  }

  async #readBuild(turn) {
    const number = this.shown ?? "newest";
    const build = this.newest ? await get(of(this.name, `/builds/${number}`)) : null;
    if (turn !== this.#turn || (this.shown ?? "newest") !== number) return;
    this.build = build;
    this.#model();
  }

  async #readMessages(turn, { again }) {
    for (const page of again ? [] : this.#dirty) {
      if (page === "all") continue;
      const { messages } = await get(of(this.name, "/messages"), { after: page * PAGE, limit: PAGE });
      if (turn !== this.#turn) return;
      messages.forEach((message) => (this.messages[message.place] = message));
    }
    const all = again || this.#dirty.has("all");
    this.#dirty.clear();
    let after = all ? 0 : this.messages.length;
    for (let page = 1; after !== null; page += 1) {
      const { messages, next, total } = await get(of(this.name, "/messages"), { after, limit: PAGE });
      if (turn !== this.#turn) return;
      messages.forEach((message) => (this.messages[message.place] = message));
      this.messages.length = Math.min(this.messages.length, total); // a fork may be shorter
      after = next;
      if (page === 1 || page % 5 === 0) this.#model();
    }
    this.#model();
  }

  #model() {
    // A build from before the history was edited has positions of a branch that no longer exists.
    const messages = this.build?.current === false ? [] : this.messages;
    this.window = this.build && windowModel(this.build, messages);
    this.history = this.build && historyModel(this.build, messages);
    this.#tell("build", "messages");
  }

  #tell(...parts) {
    this.dispatchEvent(new CustomEvent("change", { detail: new Set(parts) }));
  }
}
