// Details of the chosen segment: its text, its score by part, the reason, and the actions for it.

import { get, of } from "./api.js";
import { button, cancellable, coded, el, fill } from "./dom.js";
import { count, counted, moment, percent, sentence } from "./format.js";
import { KIND_NAMES, kindOf, stateOf, title } from "./segments.js";

const MOST = 20; // messages shown at once
const CALM = 80; // milliseconds: moving past a segment sends no request

export class Detail {
  constructor(node, board, { report }) {
    Object.assign(this, { node, board, report, segment: null, turn: 0 });
    this.show(null);
  }

  async focus() {
    await this.reading;
    (this.node.querySelector("button") ?? this.node).focus();
  }

  show(segment) {
    this.reading = this.#show(segment);
    return this.reading;
  }

  async #show(segment) {
    const turn = (this.turn += 1);
    this.segment = segment;
    if (!segment) {
      const hint =
        "Choose a segment, or walk the strip with the arrow keys, for its text, its score and the reason.";
      return fill(
        this.node,
        el("p", { class: "muted hint" }, hint),
        this.board.build && shares(this.board.build),
      );
    }
    const body = el("div", { class: "said" }, el("p", { class: "muted" }, "Reading…"));
    fill(this.node, this.#head(segment), this.#facts(segment), scores(segment.score), body);
    await new Promise((resolve) => setTimeout(resolve, CALM));
    if (turn !== this.turn) return;
    const parts = await this.#read(segment).catch((problem) => [problemNote(problem)]);
    if (turn === this.turn) fill(body, parts);
  }

  #head(segment) {
    const swatch = el("span", { class: "swatch", "data-kind": segment.kind, "data-detail": segment.detail });
    return el("h3", {}, swatch, title(segment));
  }

  #facts(segment) {
    const state = stateOf(segment);
    const share = this.board.build ? percent(segment.tokens / this.board.build.tokens, 1) : "";
    const size =
      segment.verdict === "kept"
        ? `${count(segment.tokens)} (${share} of the window)`
        : count(segment.tokens);
    const rows = [
      ["kind", KIND_NAMES[segment.kind]],
      ["tokens", size],
      ["detail", state],
      ["slot", segment.slot],
    ];
    const facts = rows
      .filter(([, value]) => value)
      .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
    return [
      el("p", { class: "because" }, el("strong", {}, "Why: "), segment.because),
      el("dl", { class: "facts" }, facts),
    ];
  }

  async #read(segment) {
    if (segment.part) return this.#material(segment);
    const from = { first: segment.first, last: Math.min(segment.last, segment.first + MOST - 1) };
    const { chunks } = await get(of(this.board.name, `/builds/${this.board.build.number}/chunks`), from);
    const more = segment.last - segment.first + 1 - chunks.length;
    const rest =
      more > 0
        ? el("p", { class: "muted" }, `and ${counted(more, "more message")}; search finds them`)
        : null;
    return [...chunks.map((chunk) => this.#message(chunk)), rest];
  }

  // The log or the retrieved passages, as the model read them.
  async #notes(segment) {
    const kind = segment.part === "log" ? "log" : "retrieved";
    const { notes } = await get(of(this.board.name, `/builds/${this.board.build.number}/notes`));
    return notes
      .filter((note) => note.text && (note.kind === "log") === (kind === "log"))
      .map((note) => el("pre", { class: "original", tabindex: "0", "aria-label": "Text of the note" }, note.text));
  }

  async #material(segment) {
    if (segment.part === "log") return this.#notes(segment);
    if (!["material", "retrieved"].includes(segment.part)) return [];
    const manifest = await get(of(this.board.name, "/manifest"), { build: this.board.build.number });
    const pieces =
      segment.part === "material"
        ? manifest.contributed.filter((each) => each.verdict === "kept")
        : manifest.retrieved;
    return pieces.map((piece) =>
      el(
        "article",
        { class: "message" },
        el(
          "p",
          { class: "message-head" },
          piece.title || piece.source || `messages ${piece.first + 1}–${piece.last + 1}`,
        ),
        el("p", { class: "muted" }, piece.because),
      ),
    );
  }

  #message(chunk) {
    const original = el("pre", {
      class: "original",
      hidden: true,
      tabindex: "0",
      "aria-label": `Original of ${chunk.id}`,
    });
    const when = moment(chunk.created_at);
    const about = [chunk.id, chunk.role, counted(chunk.tokens, "token"), chunk.mark, when]
      .filter(Boolean)
      .join(" · ");
    const erased = chunk.mark === "erased";
    const tools = erased
      ? []
      : [this.#recall(chunk, original), this.#pin(chunk), this.#out(chunk), this.#why(chunk)];
    return el(
      "article",
      { class: "message", "data-kind": kindOf(chunk.role) },
      el("p", { class: "message-head" }, about),
      el("p", { class: "preview" }, chunk.text || "(no text)"),
      el("div", { class: "tools" }, tools),
      original,
    );
  }

  #recall(chunk, original) {
    return button(
      "Recall original",
      async (event) => {
        if (!original.hidden) {
          original.hidden = true;
          event.target.textContent = "Recall original";
          return;
        }
        try {
          const found = await get(of(this.board.name, `/recall/${encodeURIComponent(chunk.handle)}`));
          original.textContent = readable(found);
          original.hidden = false;
          event.target.textContent = "Hide original";
        } catch (problem) {
          this.report(problem);
        }
      },
      { class: "button small", "data-do": "recall" },
    );
  }

  #pin(chunk) {
    const verb = chunk.mark === "pinned" ? "unpin" : "pin";
    const done =
      verb === "pin" ? "is pinned: it is in every window from the next one on" : "may leave windows again";
    return this.#act(verb, verb === "pin" ? "Pin" : "Unpin", chunk, done);
  }

  #out(chunk) {
    return chunk.mark === "left out"
      ? this.#act("restore", "Restore", chunk, "may be in windows again")
      : null;
  }

  #act(verb, label, chunk, done) {
    return button(
      label,
      async () => {
        try {
          await this.board.act(verb, { id: chunk.id });
          this.report(null, `${chunk.id} ${done}.`);
          await this.show(this.segment);
          this.node.querySelector(`[data-do="${verb}"], [data-do="pin"], [data-do="unpin"]`)?.focus();
        } catch (problem) {
          this.report(problem);
        }
      },
      { class: "button small", "data-do": verb },
    );
  }

  #why(chunk) {
    return button(
      "What would change it?",
      async (event) => {
        const asked = event.target;
        const place = asked.closest(".message");
        await cancellable(asked, async (signal) => {
          const build = this.board.build.number;
          const why = await get(of(this.board.name, `/why/${chunk.id}`), { build }, signal);
          place.append(el("p", { class: "muted" }, why.otherwise));
          asked.remove();
        }).catch(this.report);
      },
      { class: "button small", "data-do": "why" },
    );
  }
}

// The window by slot for presets that plan in slots, else by part.
function shares({ slots, parts, tokens }) {
  const planned = slots.some((slot) => slot.used > 0);
  const rows = planned
    ? slots.map(({ name, used, allotted }) => [name, used, `${count(used)} of ${count(allotted)}`])
    : Object.entries(parts).map(([name, used]) => [name, used, count(used)]);
  return bars(`The window by ${planned ? "slot" : "part"}`, rows, tokens);
}

function bars(caption, rows, most) {
  const lines = rows.map(([name, value, words]) => {
    const bar = el("span", { class: "score-bar" });
    bar.style.width = `${(100 * Math.abs(value)) / most}%`;
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", {}, bar),
      el("td", { class: "number" }, words),
    );
  });
  return el("table", { class: "scores" }, el("caption", {}, caption), el("tbody", {}, lines));
}

function scores(score) {
  const parts = Object.entries(score?.parts ?? {});
  if (!parts.length) return null;
  const most = Math.max(...parts.map(([, value]) => Math.abs(value)), 1e-9);
  const rows = parts.map(([name, value]) => [name, value, rounded(value)]);
  return bars(`Score ${rounded(score.total)}, by part`, rows, most);
}

function rounded(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function problemNote(problem) {
  const remedy = problem.remedy ? [" Try: ", coded(problem.remedy)] : [];
  return el("p", { class: "muted" }, coded(sentence(problem.message)), remedy);
}

// A message as it was added: its text where it has only text, else its JSON.
function readable(original) {
  const plain = typeof original?.content === "string" && !original.tool_calls;
  return plain ? original.content : JSON.stringify(original, null, 2);
}
