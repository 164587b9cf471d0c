// Keeps strip, list and detail of the shown build on the same selection.

import { el, fill, find, setText } from "./dom.js";
import { count, counted, percent } from "./format.js";
import { Detail } from "./detail.js";
import { DETAIL_NAMES, KINDS, KIND_NAMES, leftOut, title, inNotes } from "./segments.js";
import { drawUnbuilt } from "./states.js";

const PREVIEW = 200; // characters

export class Chunks {
  constructor(board, { report, build }) {
    Object.assign(this, { board, build, filter: "kept", chosen: null });
    this.strip = find("strip");
    this.list = find("chunks");
    this.detail = new Detail(find("detail"), board, { report });
    this.strip.addEventListener("choose", ({ detail }) =>
      this.chooseSegment(this.board.window.segments[detail.index], "strip"),
    );
    this.strip.addEventListener("point", ({ detail }) => this.#tip(detail));
    for (const part of [this.strip, this.list]) part.addEventListener("enter", () => this.detail.focus());
    this.list.addEventListener("choose", ({ detail }) => this.chooseSegment(this.rows[detail.index], "list"));
    const zooms = { "zoom-in": 1.6, "zoom-out": 1 / 1.6 };
    for (const [id, factor] of Object.entries(zooms))
      find(id).addEventListener("click", () => this.strip.zoomBy(factor));
    find("zoom-fit").addEventListener("click", () => this.strip.zoomOut());
  }

  clear() {
    this.chosen = null;
    this.filter = "kept";
    this.detail.show(null);
  }

  draw() {
    const { build, window: model } = this.board;
    for (const id of ["strip", "legend", "zoom", "split", "before"]) find(id).hidden = !model;
    find("unbuilt").hidden = Boolean(model);
    if (!model) {
      setText(find("window-about"), "");
      return drawUnbuilt(find("unbuilt"), this.build);
    }
    const free = build.budget - build.tokens;
    const words = `build ${count(build.number)}: ${count(build.tokens)} of ${count(build.budget)} tokens, ${percent(build.tokens / build.budget)}; ${count(free)} free`;
    setText(find("window-about"), words);
    const before = this.chosen;
    this.chosen = before && this.#same(before);
    this.strip.show(model, model.segments.indexOf(this.chosen));
    this.#legend(model);
    this.#list();
    if (before && this.chosen) this.#again(before);
    else this.detail.show(null);
  }

  chooseSegment(segment, by = "") {
    if (!segment) return;
    const there = this.#same(segment) ?? segment;
    this.chosen = there;
    if (by !== "strip") this.strip.select(this.board.window.segments.indexOf(there));
    if (by === "strip" && this.filter === "kept") this.list.select(this.strip.selected);
    else if (by !== "list") this.#list(there);
    this.detail.show(there);
  }

  choosePlace(place) {
    const { build, window: model } = this.board;
    const holds = (segment) => !segment.part && segment.first <= place && place <= segment.last;
    const segment = model.segments.find(holds) ?? [...inNotes(build), ...leftOut(build)].find(holds);
    if (!segment) return;
    this.chooseSegment(
      model.segments.includes(segment) ? segment : { ...segment, first: place, last: place },
    );
    find("detail").scrollIntoView({ block: "nearest" });
    this.detail.focus();
  }

  chooseId(id) {
    const place = this.board.messages.findIndex((message) => message?.id === id);
    if (place >= 0 && this.board.build) this.choosePlace(place);
  }

  // The segment of the shown build with the same messages; null where its decision differs.
  #same(segment) {
    if (segment.part) return this.board.window.segments.find((each) => each.part === segment.part) ?? null;
    const { build, window: model } = this.board;
    const begins = (each) => !each.part && each.first <= segment.first && segment.first <= each.last;
    if (setOf(segment) === "kept") return model.segments.find(begins) ?? null;
    const others = [...inNotes(build), ...leftOut(build)];
    const holds = others.find((each) => each.first <= segment.first && segment.last <= each.last);
    return holds ? { ...holds, first: segment.first, last: segment.last } : null;
  }

  // A new build may have decided differently about the selection.
  #again(before) {
    const changed = ["tokens", "detail", "because", "pinned"].some(
      (name) => before[name] !== this.chosen[name],
    );
    if (changed || before.bars.length !== this.chosen.bars.length) this.detail.show(this.chosen);
    else this.detail.segment = this.chosen;
  }

  #list(selected = this.chosen) {
    const sets = {
      kept: this.board.window.segments,
      noted: inNotes(this.board.build),
      out: leftOut(this.board.build),
    };
    if (selected) this.filter = setOf(selected);
    if (!sets[this.filter].length) this.filter = "kept";
    this.rows = sets[this.filter];
    const holds = (row) =>
      row === selected || (!row.part && row.first <= selected.first && selected.last <= row.last);
    const at = selected ? this.rows.findIndex(holds) : -1;
    this.list.show(this.rows, at);
    const names = { kept: "In the window", noted: "In a note", out: "Left out" };
    const filters = Object.keys(names).filter((name) => name === "kept" || sets[name].length);
    fill(
      find("filters"),
      filters.map((name) => this.#filter(name, `${names[name]} (${count(sets[name].length)})`)),
    );
  }

  #filter(name, label) {
    const pressed = String(name === this.filter);
    const choose = () => {
      this.filter = name;
      this.chosen = null;
      this.#list(null);
      find("filters").querySelector('[aria-pressed="true"]').focus();
    };
    return el(
      "button",
      { type: "button", class: "button small", "aria-pressed": pressed, onclick: choose },
      label,
    );
  }

  #legend(model) {
    const there = new Set(model.segments.flatMap((segment) => segment.bars.map((bar) => bar.kind)));
    const details = new Set(
      model.segments.filter((each) => each.detail !== "full" && each.tokens).map((each) => each.detail),
    );
    const key = [...there, ...details, ...model.marks.map((mark) => mark.label)].join();
    if (key === this.key) return;
    this.key = key;
    const kinds = KINDS.filter((kind) => there.has(kind)).map((kind) =>
      el("li", {}, el("span", { class: "swatch", "data-kind": kind }), KIND_NAMES[kind]),
    );
    const hatched = [...details].map((detail) =>
      el(
        "li",
        {},
        el("span", { class: "swatch", "data-kind": "frame", "data-detail": detail }),
        `hatched: ${DETAIL_NAMES[detail]}`,
      ),
    );
    const free = el("li", {}, el("span", { class: "swatch free" }), "free");
    const marks = model.marks.map(({ label, warn }) =>
      el("li", {}, el("span", { class: "mark", "data-warn": warn }), label),
    );
    fill(find("legend"), kinds, hatched, free, marks);
  }

  #tip({ index, x, y }) {
    const tip = find("tip");
    const segment = this.board.window?.segments[index];
    tip.hidden = !segment || x === undefined;
    if (tip.hidden) return;
    if (this.pointed !== segment) fill(tip, tipParts(segment));
    this.pointed = segment;
    const width = Math.min(320, innerWidth - 24);
    tip.style.width = `${width}px`;
    tip.style.left = `${Math.max(12, Math.min(x - width / 2, innerWidth - width - 12))}px`;
    tip.style.top = `${y + 18}px`;
  }
}

function setOf({ verdict, tokens }) {
  if (verdict !== "kept") return "out";
  return tokens ? "kept" : "noted";
}

function tipParts(segment) {
  const text = segment.text ?? "";
  const state = `${KIND_NAMES[segment.kind]}, ${counted(segment.tokens, "token")}, ${DETAIL_NAMES[segment.detail]}`;
  const score = segment.score ? ` Score ${segment.score.total.toFixed(2)}.` : "";
  return [
    el("strong", {}, title(segment)),
    el("p", {}, state),
    el("p", { class: "muted" }, segment.because + score),
    text ? el("p", { class: "preview" }, text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text) : null,
  ];
}
