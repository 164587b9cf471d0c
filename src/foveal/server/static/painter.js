// Paints the visible segments onto a canvas.
// The cost of a frame depends on the visible segments: one pass, at most one rectangle per pixel column.

import { short } from "./format.js";
import { DETAILS, KINDS, lastAt } from "./segments.js";
import { colour } from "./theme.js";

export const HEIGHTS = { full: 1, trimmed: 0.78, folded: 0.56, out: 0.16 };
const AXIS = 22;
const HEAD = 20;
const NARROW = 520; // two labels do not fit

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.layer = document.createElement("canvas");
    this.pen = this.layer.getContext("2d");
    this.repaint();
  }

  // Reads the theme's colours again.
  repaint() {
    const kinds = Object.fromEntries(KINDS.map((kind) => [kind, colour(`--kind-${kind}`)]));
    this.colours = { ...kinds, out: colour("--kind-out") };
    for (const name of ["track", "line", "text", "muted", "surface", "warn", "focus"]) {
      this.colours[name] = colour(`--${name}`);
    }
    this.pattern = null;
    this.painted = null;
  }

  resize(width, height) {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    if (this.width === width && this.height === height && this.ratio === ratio) return;
    Object.assign(this, { width, height, ratio });
    this.canvas.width = this.layer.width = Math.round(width * ratio);
    this.canvas.height = this.layer.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  // `view`: { from, scale } in tokens and pixels per token.
  paint(model, view, { selected = -1, hovered = -1 } = {}) {
    const key = [view.from, view.scale, this.width, this.height, this.ratio].join();
    if (this.painted !== model || this.key !== key) this.#ground(model, view);
    Object.assign(this, { painted: model, key });
    const { context } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.layer, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (hovered >= 0 && hovered !== selected) this.#outline(model, view, hovered, this.colours.muted, 1.5);
    if (selected >= 0) this.#outline(model, view, selected, this.colours.text, 2);
  }

  // Everything but the hovered segment; redrawn only when the view moves.
  #ground(model, view) {
    const screen = this.context;
    this.context = this.pen;
    this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.pen.clearRect(0, 0, this.width, this.height);
    this.frame = { top: HEAD, bottom: this.height - AXIS };
    this.#track(model, view);
    this.#segments(model.bars, view);
    this.#axis(model, view);
    for (const mark of model.marks) this.#mark(mark, view);
    this.context = screen;
  }

  #track(model, view) {
    const { context, frame } = this;
    const x = (model.used - view.from) * view.scale;
    const end = Math.min(this.width, (model.limit - view.from) * view.scale);
    const left = Math.max(0, x);
    if (end <= left) return;
    context.fillStyle = this.colours.track;
    context.fillRect(left, frame.top, end - left, frame.bottom - frame.top);
    if (end - left > 90) {
      context.fillStyle = this.colours.muted;
      context.font = "12px system-ui, sans-serif";
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(
        `free: ${short(model.limit - model.used)}`,
        (left + end) / 2,
        (frame.top + frame.bottom) / 2,
      );
    }
  }

  #segments({ starts, sizes, kinds, details, pins, ends }, view) {
    const { from, scale } = view;
    const last = from + this.width / scale;
    const columns = { winners: new Int32Array(this.width + 2).fill(-1), first: this.width, last: -1 };
    for (
      let index = starts.length && lastAt(starts, from);
      index < starts.length && starts[index] < last;
      index += 1
    ) {
      const x = (starts[index] - from) * scale;
      const width = sizes[index] * scale;
      if (width >= 1.5) {
        const gap = ends[index] && width > 4 ? 1 : 0;
        this.#bar(
          Math.max(0, x),
          Math.min(this.width, x + width) - gap,
          KINDS[kinds[index]],
          DETAILS[details[index]],
        );
        if (pins[index]) this.#pin(Math.max(0, x), Math.min(width, 6));
      } else if (width) {
        const here = Math.max(0, Math.floor(x));
        const there = columns.winners[here];
        // Narrower than a pixel: the widest segment of a column represents all of them.
        if (there < 0 || sizes[there] < sizes[index]) columns.winners[here] = index;
        columns.first = Math.min(columns.first, here);
        columns.last = Math.max(columns.last, here);
      }
    }
    this.#columns(columns, kinds, details);
  }

  // Adjacent columns of the same kind become one rectangle.
  #columns({ winners, first, last }, kinds, details) {
    const looks = (column) =>
      winners[column] < 0 ? -1 : 16 * kinds[winners[column]] + details[winners[column]];
    let start = first;
    for (let column = first + 1; column <= last + 1; column += 1) {
      if (looks(column) === looks(start)) continue;
      const winner = winners[start];
      if (winner >= 0) this.#bar(start, column, KINDS[kinds[winner]], DETAILS[details[winner]]);
      start = column;
    }
  }

  #bar(left, right, kind, detail) {
    const { context, frame } = this;
    const room = frame.bottom - frame.top;
    const height = Math.round(room * HEIGHTS[detail]);
    const width = Math.max(0.5, right - left);
    context.fillStyle = detail === "out" ? this.colours.out : this.colours[kind];
    context.fillRect(left, frame.bottom - height, width, height);
    if (detail !== "full" && detail !== "out" && width > 2) {
      context.fillStyle = this.#hatch();
      context.fillRect(left, frame.bottom - height, width, height);
    }
  }

  #pin(x, width) {
    this.context.fillStyle = this.colours.text;
    this.context.fillRect(x, this.frame.top - 4, Math.max(2, width), 3);
  }

  #hatch() {
    if (this.pattern) return this.pattern;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.strokeStyle = this.colours.surface;
    pen.globalAlpha = 0.55;
    pen.lineWidth = 1.6;
    pen.beginPath();
    for (const shift of [-6, 0, 6]) {
      pen.moveTo(shift - 1, 7);
      pen.lineTo(shift + 7, -1);
    }
    pen.stroke();
    this.pattern = this.context.createPattern(tile, "repeat");
    return this.pattern;
  }

  #axis(model, view) {
    const { context, frame } = this;
    const step = stepFor(80 / view.scale);
    const last = Math.min(model.extent, view.from + this.width / view.scale);
    context.fillStyle = this.colours.muted;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "top";
    for (let tick = Math.ceil(view.from / step) * step; tick <= last; tick += step) {
      const x = (tick - view.from) * view.scale;
      context.fillRect(Math.min(x, this.width - 1), frame.bottom + 2, 1, 4);
      context.textAlign = x < 20 ? "left" : x > this.width - 24 ? "right" : "center";
      context.fillText(short(tick), x, frame.bottom + 8);
    }
  }

  #mark(mark, view) {
    const x = Math.round((mark.at - view.from) * view.scale) + 0.5;
    if (x < 0 || x > this.width + 1) return;
    const { context, frame } = this;
    const place = Math.min(x, this.width - 1);
    const ink = mark.warn ? this.colours.warn : this.colours.text;
    this.#rule(place, this.colours.surface, 4, []); // an outline, so that the line is visible on any colour
    this.#rule(place, ink, 1.5, mark.warn ? [4, 3] : []);
    context.fillStyle = ink;
    if (this.width < NARROW && !mark.warn) return; // the legend shows it
    context.font = "600 11px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.textAlign = place > this.width / 2 ? "right" : "left";
    context.fillText(mark.label, place + (place > this.width / 2 ? -4 : 4), frame.top - 7);
  }

  #rule(x, ink, thickness, dash) {
    const { context, frame } = this;
    context.strokeStyle = ink;
    context.lineWidth = thickness;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x, frame.top - 4);
    context.lineTo(x, frame.bottom + 2);
    context.stroke();
    context.setLineDash([]);
  }

  #outline(model, view, index, ink, thickness) {
    const { context, frame } = this;
    const x = (model.starts[index] - view.from) * view.scale;
    const width = Math.max(3, model.sizes[index] * view.scale);
    if (x > this.width || x + width < 0) return;
    context.strokeStyle = ink;
    context.lineWidth = thickness;
    context.strokeRect(x, frame.top - 1, width, frame.bottom - frame.top + 2);
  }
}

// The smallest of 1, 2 or 5 times a power of ten that is at least `least`.
export function stepFor(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}
