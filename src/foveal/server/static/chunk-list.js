// <chunk-list>: a list box of segments that only creates the visible rows.
// Fires `choose` with the index of the chosen row, and `enter` when the user opens it.

import { el, onNextFrame } from "./dom.js";
import { counted } from "./format.js";
import { KIND_NAMES, stateOf, title } from "./segments.js";

const ROW = 46; // pixels, as in parts.css
const SPARE = 6; // rows beyond each edge
const PAGE = 8;

class ChunkList extends HTMLElement {
  #segments = [];
  #selected = -1;
  #drawn = new Map();

  connectedCallback() {
    if (this.rows) return;
    const label = this.getAttribute("label");
    this.rows = el("div", { class: "rows", role: "listbox", tabindex: "0", "aria-label": label });
    this.space = el("div", { class: "rows-space", role: "presentation" });
    this.rows.append(this.space);
    this.append(this.rows);
    this.draw = onNextFrame(() => this.#draw());
    this.rows.addEventListener("scroll", () => this.draw(), { passive: true });
    this.rows.addEventListener("keydown", (event) => this.#key(event));
    this.rows.addEventListener("click", (event) => this.#click(event));
    new ResizeObserver(() => this.draw()).observe(this.rows);
  }

  show(segments, selected = -1) {
    this.#segments = segments;
    this.#selected = selected;
    this.space.style.height = `${segments.length * ROW}px`;
    this.#reveal();
    this.draw();
  }

  select(index, { tell = false } = {}) {
    if (!tell && index === this.#selected) return;
    this.#selected = Math.min(index, this.#segments.length - 1);
    this.#reveal();
    this.draw();
    if (tell) this.dispatchEvent(new CustomEvent("choose", { detail: { index: this.#selected } }));
  }

  #reveal() {
    const top = this.#selected * ROW;
    const { scrollTop, clientHeight } = this.rows;
    if (this.#selected < 0) return;
    if (top < scrollTop) this.rows.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.rows.scrollTop = top + ROW - clientHeight;
  }

  // An unchanged row stays the same element, so that a click on it is not lost.
  #draw() {
    const first = Math.max(0, Math.floor(this.rows.scrollTop / ROW) - SPARE);
    const last = Math.ceil((this.rows.scrollTop + this.rows.clientHeight) / ROW) + SPARE;
    const shown = this.#segments
      .slice(first, last)
      .map((segment, index) => this.#row(segment, first + index));
    const there = new Set(shown);
    for (const row of [...this.space.children]) if (!there.has(row)) row.remove();
    shown.forEach((row) => row.parentNode ?? this.space.append(row));
    this.#drawn = new Map(shown.map((row) => [row.dataset.key, row]));
    const chosen = shown.find((row) => Number(row.dataset.index) === this.#selected);
    if (chosen) this.rows.setAttribute("aria-activedescendant", chosen.id);
    else this.rows.removeAttribute("aria-activedescendant");
  }

  #row(segment, index) {
    const state = stateOf(segment);
    const name = segment.pinned ? `${title(segment)} · pinned` : title(segment);
    const key = [index, name, segment.tokens, state, segment.because].join();
    const row = this.#drawn.get(key) ?? this.#made(segment, { index, key, name, state });
    row.setAttribute("aria-selected", String(index === this.#selected));
    row.setAttribute("aria-setsize", this.#segments.length);
    return row;
  }

  #made(segment, { index, key, name, state }) {
    const attributes = { class: "row", role: "option", id: this.#idOf(index), "aria-posinset": index + 1 };
    const row = el(
      "div",
      { ...attributes, "data-index": index, "data-key": key, "data-verdict": segment.verdict },
      el("span", { class: "swatch", "data-kind": segment.kind, "data-detail": segment.detail }),
      el("span", { class: "row-title" }, name),
      el("span", { class: "row-tokens" }, counted(segment.tokens, "token")),
      el("span", { class: "row-kind" }, `${KIND_NAMES[segment.kind]} · ${state}`),
      el("span", { class: "row-because" }, segment.because),
    );
    row.style.top = `${index * ROW}px`;
    return row;
  }

  #idOf(index) {
    return `${this.id}-${index}`;
  }

  #click(event) {
    const row = event.target.closest("[data-index]");
    if (row) this.select(Number(row.dataset.index), { tell: true });
  }

  #key(event) {
    const last = this.#segments.length - 1;
    const moves = {
      ArrowDown: this.#selected + 1,
      ArrowUp: Math.max(0, this.#selected - 1),
      PageDown: this.#selected + PAGE,
      PageUp: Math.max(0, this.#selected - PAGE),
      Home: 0,
      End: last,
    };
    if (event.key in moves && last >= 0) this.select(Math.min(last, moves[event.key]), { tell: true });
    else if (event.key === "Enter") this.dispatchEvent(new CustomEvent("enter"));
    else return;
    event.preventDefault();
  }
}

if (!customElements.get("chunk-list")) customElements.define("chunk-list", ChunkList);
