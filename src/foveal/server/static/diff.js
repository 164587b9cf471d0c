// What was added to the window since the previous build, what shrank or grew, what was evicted, and why.

import { get, of } from "./api.js";
import { coded, el, fill } from "./dom.js";
import { count, counted, sentence, signed, span } from "./format.js";
import { DETAIL_NAMES } from "./segments.js";

const MOST = 8; // rows before "show all"
const RANK = { full: 2, trimmed: 1, folded: 0 };
const NOTE_NAMES = { log: "The log of earlier messages", retrieved: "Passages retrieved from earlier" };
const EMPTY = { entered: "Nothing was added.", shrank: "Nothing shrank.", left: "Nothing was evicted." };

export class Diff {
  constructor(node, board, { choose }) {
    Object.assign(this, { node, board, choose, shown: "", turn: 0 });
  }

  async show(build) {
    const key = build ? `${this.board.name}/${build.number}` : "";
    if (key === this.shown) return;
    this.shown = key;
    const turn = (this.turn += 1);
    if (!build || build.number < 2) {
      const words = build ? "The first build: everything in it is new." : "";
      return fill(this.node, el("p", { class: "muted" }, words));
    }
    try {
      const diff = await get(of(this.board.name, "/diff"), { a: build.number - 1, b: build.number });
      if (turn === this.turn) this.#draw(diff);
    } catch (problem) {
      if (turn === this.turn)
        fill(this.node, el("p", { class: "muted" }, sentence(problem.message), " ", coded(problem.remedy)));
    }
  }

  #draw({ a, b, entered, left, changed, stayed, beside }) {
    const shrank = changed.filter(({ before, after }) => RANK[after.detail] < RANK[before.detail]);
    const grew = changed.filter((each) => !shrank.includes(each));
    const words = `Since build ${count(a.build)}: ${signed(b.tokens - a.tokens)} tokens, ${counted(stayed, "message")} stayed as they were.`;
    fill(
      this.node,
      el("p", { class: "muted" }, words),
      el("ul", { class: "changes" }, besideMessages(a, b, beside).map((line) => el("li", {}, line))),
      el(
        "div",
        { class: "diff-columns" },
        this.#column("Entered", "entered", entered),
        this.#column("Shrank", "shrank", shrank),
        grew.length ? this.#column("Grew", "grew", grew) : null,
        this.#column("Left", "left", left),
      ),
    );
  }

  #column(heading, name, changes) {
    const messages = changes.reduce((sum, each) => sum + each.last - each.first + 1, 0);
    const list = el("ul", { class: "changes" });
    const draw = (most) => {
      fill(
        list,
        changes.slice(0, most).map((change) => el("li", {}, this.#change(change))),
      );
      if (changes.length > most) {
        const more = el(
          "button",
          { type: "button", class: "button small" },
          `Show all ${count(changes.length)}`,
        );
        more.addEventListener("click", () => draw(changes.length));
        list.append(el("li", {}, more));
      }
    };
    draw(MOST);
    const words = changes.length ? list : el("p", { class: "muted" }, EMPTY[name]);
    return el(
      "section",
      { class: "change", "data-change": name },
      el("h3", {}, `${heading} (${count(messages)})`),
      words,
    );
  }

  #change({ first, last, was, now, before, after }) {
    const decision = after ?? before;
    const both = before?.verdict === "kept" && after?.verdict === "kept";
    const detail =
      both && before.detail !== after.detail
        ? `${DETAIL_NAMES[before.detail]} → ${DETAIL_NAMES[after.detail]}. `
        : "";
    const open = el(
      "button",
      { type: "button", class: "link" },
      `${span(first, last)}, ${signed(now - was)} ${Math.abs(now - was) === 1 ? "token" : "tokens"}`,
    );
    open.addEventListener("click", () => this.choose(first));
    return [open, el("span", { class: "muted" }, detail + (decision?.because ?? ""))];
  }
}

// What changed beside the messages: a note has tokens of its own, which are those of no message.
function besideMessages(a, b, beside) {
  const lines = ["log", "retrieved"]
    .map((kind) => [kind, size(a, kind), size(b, kind)])
    .filter(([, was, now]) => was !== now)
    .map(([kind, was, now]) => `${NOTE_NAMES[kind]}: ${count(was)} → ${count(now)} tokens`);
  return beside ? [...lines, `Everything but messages, notes included: ${signed(beside)} tokens`] : lines;
}

function size({ notes }, kind) {
  return notes
    .filter((note) => (note.kind === "log") === (kind === "log"))
    .reduce((sum, note) => sum + note.tokens, 0);
}
