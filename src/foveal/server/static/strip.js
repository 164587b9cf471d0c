// <window-strip>: draws the window to scale by tokens, with scrolling, zooming and keyboard navigation.
// Fires `choose` and `point` with the index of the segment that is chosen or hovered.
// For a screen reader it is a slider over the segments; the list next to it has the same as rows.

import { el, onNextFrame } from "./dom.js";
import { Painter } from "./painter.js";
import { spoken } from "./segments.js";
import { onChange } from "./theme.js";

const DEEPEST = 12; // pixels per token
const PAGE = 10; // segments

class WindowStrip extends HTMLElement {
  #model = null;
  #zoom = 1;
  #selected = -1;
  #hovered = -1;

  connectedCallback() {
    if (!this.canvas) this.#make();
    this.draw = onNextFrame(() => this.#draw());
    this.watcher = new ResizeObserver(() => this.#fit());
    this.watcher.observe(this.scroller);
    this.unwatch = onChange(() => {
      this.painter.repaint();
      this.draw();
    });
  }

  disconnectedCallback() {
    this.watcher.disconnect();
    this.unwatch();
  }

  get model() {
    return this.#model;
  }

  get selected() {
    return this.#selected;
  }

  get view() {
    return { from: this.scroller.scrollLeft / this.#scale(), scale: this.#scale() };
  }

  get zoom() {
    return this.#zoom;
  }

  show(model, selected = -1) {
    const same = this.#model?.extent === model.extent;
    this.#model = model;
    this.#selected = selected;
    this.#hovered = -1;
    if (!same) this.#zoom = 1;
    this.#speak();
    this.#fit();
  }

  select(index, { tell = false } = {}) {
    if (!this.#model || index === this.#selected) return;
    this.#selected = Math.max(-1, Math.min(index, this.#model.count - 1));
    this.#reveal();
    this.#speak();
    this.draw();
    if (tell) this.#tell("choose", this.#selected);
  }

  zoomBy(factor, at = this.scroller.clientWidth / 2) {
    if (!this.#model) return;
    const token = this.view.from + at / this.#scale();
    const most = Math.max(1, (DEEPEST * this.#model.extent) / this.scroller.clientWidth);
    this.#zoom = Math.max(1, Math.min(most, this.#zoom * factor));
    this.#fit();
    this.scroller.scrollLeft = token * this.#scale() - at;
    this.draw();
  }

  zoomOut() {
    this.#zoom = 1;
    this.#fit();
  }

  #make() {
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.spacer = el("div", { class: "strip-spacer" }, this.canvas);
    this.scroller = el("div", { class: "strip-scroller", tabindex: "0", role: "slider" }, this.spacer);
    this.scroller.setAttribute("aria-label", this.getAttribute("label") ?? "Chunks of the window");
    this.append(this.scroller);
    this.painter = new Painter(this.canvas);
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.#key(event));
    this.scroller.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.spacer.addEventListener("pointermove", (event) => this.#point(this.#under(event), event));
    this.spacer.addEventListener("pointerleave", () => this.#point(-1));
    this.spacer.addEventListener("click", (event) => this.select(this.#under(event), { tell: true }));
  }

  #scale() {
    return (this.scroller.clientWidth * this.#zoom) / Math.max(1, this.#model?.extent ?? 1);
  }

  #fit() {
    const width = this.scroller.clientWidth;
    if (!width || !this.#model) return;
    this.spacer.style.width = `${Math.round(width * this.#zoom)}px`;
    this.painter.resize(width, this.scroller.clientHeight);
    this.draw();
  }

  #draw() {
    if (this.#model && this.isConnected) {
      this.painter.paint(this.#model, this.view, { selected: this.#selected, hovered: this.#hovered });
    }
  }

  #under(event) {
    const x = event.clientX - this.scroller.getBoundingClientRect().left;
    return this.#model ? this.#model.under(this.view.from + x / this.#scale()) : -1;
  }

  #point(index, event) {
    if (index !== this.#hovered) {
      this.#hovered = index;
      this.draw();
    }
    this.#tell("point", index, event && { x: event.clientX, y: event.clientY });
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls: the page, or with Shift the strip
    event.preventDefault();
    this.zoomBy(Math.exp(-event.deltaY / 200), event.clientX - this.scroller.getBoundingClientRect().left);
  }

  #key(event) {
    const last = (this.#model?.count ?? 0) - 1;
    const moves = {
      ArrowRight: this.#selected + 1,
      ArrowUp: this.#selected + 1,
      ArrowLeft: Math.max(0, this.#selected - 1),
      ArrowDown: Math.max(0, this.#selected - 1),
      PageDown: this.#selected + PAGE,
      PageUp: Math.max(0, this.#selected - PAGE),
      Home: 0,
      End: last,
    };
    const zooms = { "+": 1.6, "=": 1.6, "-": 1 / 1.6 };
    if (event.key in moves) this.select(Math.min(last, moves[event.key]), { tell: true });
    else if (event.key in zooms) this.zoomBy(zooms[event.key]);
    else if (event.key === "0") this.zoomOut();
    else if (event.key === "Enter") this.#tell("enter", this.#selected);
    else return;
    event.preventDefault();
  }

  // Scrolls the chosen segment into view.
  #reveal() {
    const { starts, sizes } = this.#model;
    if (this.#selected < 0 || this.#zoom === 1) return;
    const left = starts[this.#selected] * this.#scale();
    const right = left + sizes[this.#selected] * this.#scale();
    const { scrollLeft, clientWidth } = this.scroller;
    if (left < scrollLeft || right > scrollLeft + clientWidth) {
      this.scroller.scrollLeft = (left + Math.min(right, left + clientWidth)) / 2 - clientWidth / 2;
    }
  }

  #speak() {
    const { count, segments } = this.#model;
    const place = Math.max(0, this.#selected);
    this.scroller.setAttribute("aria-valuemin", count ? 1 : 0);
    this.scroller.setAttribute("aria-valuemax", count);
    this.scroller.setAttribute("aria-valuenow", count ? place + 1 : 0);
    const words = count ? `${place + 1} of ${count}: ${spoken(segments[place])}` : "no chunks";
    this.scroller.setAttribute("aria-valuetext", words);
  }

  #tell(name, index, more = {}) {
    this.dispatchEvent(new CustomEvent(name, { detail: { index, ...more } }));
  }
}

if (!customElements.get("window-strip")) customElements.define("window-strip", WindowStrip);
