// Runs the action of a button and reports its result.

import { of, post } from "./api.js";
import { button, coded, el, fill } from "./dom.js";
import { count, counted, percent, sentence } from "./format.js";
import { use } from "./numbers.js";

const KEEP = 10; // messages that a summary leaves as they are
const MANAGED = { prune: "prunes the history", compress: "compresses the history" };
const VERBS = {
  prune: {
    label: "Prune",
    hint: "Leave out the least important turns until the rest leaves room to spare",
    done: "Left out",
    would: "leaves out",
  },
  compress: { label: "Compress", hint: "Replace old messages by summaries", done: "Compressed", would: "replaces" },
  summarize: {
    label: "Summarize",
    hint: `Show one note in place of all but the newest ${KEEP} messages`,
    done: "Summarized",
    would: "replaces",
  },
};

export class Actions {
  constructor({ actions, banner, outcome }, board) {
    Object.assign(this, { banner, outcome, board, warned: "" });
    const verbs = Object.entries(VERBS).map(([verb, { label, hint }]) =>
      button(label, () => this.shrink(verb), { title: hint, "data-do": verb }),
    );
    const restore = button("Restore all", () => this.restore(), {
      "data-do": "restore",
      title: "Allow everything that was left out into windows again",
    });
    const build = button("Build now", () => this.build(), {
      "data-do": "build",
      class: "button primary",
      title: "Build a window with the budget of the newest one",
    });
    fill(actions, verbs, restore, build);
    this.buttons = [...actions.children];
    this.restoreButton = restore;
  }

  draw(stats) {
    this.restoreButton.hidden = !stats.absent && !stats.stand_ins;
    const { tokens, limit, share, built } = use(stats);
    const words = [...(this.board.build?.warnings ?? [])];
    const managed = MANAGED[stats.manages];
    if (managed && stats.needs_pruning)
      words.push(`${percent(share)} of ${counted(limit, "token")} are used: the next build ${managed} by itself`);
    else if (built && share > 1)
      words.push(`the newest window has ${count(tokens)} tokens, more than its budget of ${count(limit)}`);
    if (this.warned === words.join()) return;
    this.warned = words.join();
    this.banner.hidden = !words.length;
    fill(
      this.banner,
      words.map((text) => el("p", {}, coded(sentence(text)))),
    );
  }

  // Asks before it changes anything: one click may leave out hundreds of messages.
  async shrink(verb) {
    const { limit, built } = use(this.board.stats);
    const target = Math.max(1, Math.floor((verb === "prune" ? this.board.stats.full_at : 1) * limit));
    const body = verb === "summarize" ? { keep: KEEP } : built ? { max_tokens: target } : {};
    await this.#busy(async () => {
      const { ids, original, final, summary, unreached } = await post(of(this.board.name, `/${verb}`), {
        ...body,
        dry_run: true,
      });
      if (!ids.length)
        return this.say(`Nothing to do: ${unreached || `${counted(original, "token")} fit already`}.`);
      const { label, would } = VERBS[verb];
      const words = `${label} ${would} ${counted(ids.length, "message")} of ${count(this.board.stats.messages)}: ${count(original)} tokens become ${count(final)}. It can be undone.`;
      const go = button(`${label} ${counted(ids.length, "message")}`, () => this.#shrunk(verb, body), {
        class: "button small primary",
        "data-do": "confirm",
      });
      this.say(unreached ? `${words} ${unreached}` : words, [go], noteText(summary));
      go.focus();
    });
  }

  async #shrunk(verb, body) {
    const { done } = VERBS[verb];
    await this.#busy(async () => {
      const { ids, original, final, summary, unreached } = await this.board.act(verb, body);
      const words = `${done} ${counted(ids.length, "message")}: ${count(original)} tokens became ${count(final)}, from the next window on.`;
      const undo = button("Restore", () => this.restore(ids), { class: "button small", "data-do": "undo" });
      const build = button("Build now", () => this.build(), { class: "button small" });
      this.say(unreached ? `${words} ${unreached}` : words, [undo, build], noteText(summary));
    });
  }

  // Restores exactly `ids`, or everything that was left out.
  async restore(ids = null) {
    await this.#busy(async () => {
      const all = ids === null || ids.length >= this.board.stats.absent;
      const back = new Set();
      for (const id of all ? [null] : ids) {
        if (back.has(id)) continue; // restoring one message restores everything that its note covers
        const answer = await post(of(this.board.name, "/restore"), id ? { id } : {});
        answer.ids.forEach((each) => back.add(each));
      }
      await this.board.refresh();
      this.say(`Restored ${counted(back.size, "message")}: windows may show them again.`);
    });
  }

  async build() {
    await this.#busy(async () => {
      const { stats } = this.board;
      const window = await this.board.act(
        "build",
        stats.window_budget ? { budget: stats.window_budget } : {},
      );
      this.say(`Built a window of ${count(window.tokens)} of ${count(window.budget)} tokens.`);
    });
  }

  say(words, tools = [], more = null) {
    this.outcome.hidden = false;
    this.outcome.dataset.state = "done";
    fill(
      this.outcome,
      el("div", {}, el("p", {}, words), more),
      el("div", { class: "tools" }, tools, this.#close()),
    );
  }

  fail(problem) {
    this.outcome.hidden = false;
    this.outcome.dataset.state = "failed";
    const remedy = problem.remedy ? el("p", { class: "muted" }, "Try: ", coded(problem.remedy)) : null;
    fill(this.outcome, el("div", {}, el("p", {}, coded(sentence(problem.message))), remedy), this.#close());
  }

  #close() {
    return button("Dismiss", () => (this.outcome.hidden = true), { class: "button small" });
  }

  async #busy(work) {
    this.buttons.forEach((each) => (each.disabled = true));
    try {
      await work();
    } catch (problem) {
      this.fail(problem);
    } finally {
      this.buttons.forEach((each) => (each.disabled = false));
    }
  }
}

// What windows show in place of the messages.
function noteText(text) {
  if (!text) return null;
  const words = el("pre", { class: "original", tabindex: "0", "aria-label": "The note" }, text);
  return el("details", {}, el("summary", {}, "The note"), words);
}
