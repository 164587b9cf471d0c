// <build-slider>: chooses the build to show, and fires `choose` with its number.
// null follows the newest build.

import { el, onNextFrame } from "./dom.js";
import { count, moment } from "./format.js";

class BuildSlider extends HTMLElement {
  connectedCallback() {
    if (this.range) return;
    const tell = (number) => this.#tell(number);
    this.range = el("input", { type: "range", min: 1, max: 1, step: 1, "aria-label": "Build" });
    this.older = el("button", { type: "button", class: "button small", "aria-label": "Older build" }, "‹");
    this.newer = el("button", { type: "button", class: "button small", "aria-label": "Newer build" }, "›");
    this.live = el("button", { type: "button", class: "button small" }, "Newest");
    this.words = el("output", { class: "slider-words" });
    this.append(el("div", { class: "slider" }, this.older, this.range, this.newer, this.live), this.words);
    this.show(null, 0, true);
    this.later = onNextFrame(() => tell(Number(this.range.value)));
    this.range.addEventListener("input", () => this.later());
    this.older.addEventListener("click", () => tell(this.number - 1));
    this.newer.addEventListener("click", () => tell(this.number + 1));
    this.live.addEventListener("click", () => tell(null));
  }

  // `build`: the build shown; `following`: whether it is shown because it is the newest.
  show(build, newest, following) {
    this.newest = newest;
    this.number = build?.number ?? newest;
    this.range.max = Math.max(1, newest);
    if (document.activeElement !== this.range || following) this.range.value = this.number;
    this.range.disabled = newest < 2;
    this.older.disabled = this.number <= 1;
    this.newer.disabled = this.number >= newest;
    this.live.setAttribute("aria-pressed", String(following));
    const when = build ? moment(build.created_at) : "";
    const refocused = build?.metrics?.refocused ? ", refocused" : "";
    const words = `Build ${count(this.number)} of ${count(newest)}${when ? `, ${when}` : ""}${refocused}`;
    this.words.textContent = following ? `${words}; the newest is followed` : words;
    this.range.setAttribute("aria-valuetext", words);
  }

  #tell(number) {
    const chosen = number === null || number >= this.newest ? null : Math.max(1, number);
    this.dispatchEvent(new CustomEvent("choose", { detail: { number: chosen } }));
  }
}

if (!customElements.get("build-slider")) customElements.define("build-slider", BuildSlider);
