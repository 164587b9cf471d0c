// <time-chart>: draws series over builds as SVG, and as a table for screen readers.
// { title, builds: [number], series: [{ name, values, colour }], stacked, unit: value => text, lines: [{ at, label }],
//   marked: [number] } – builds that were refocused

import { el, fill, svg } from "./dom.js";
import { count } from "./format.js";

const [WIDTH, HEIGHT] = [420, 190];
const EDGE = { left: 56, right: 8, top: 10, bottom: 22 };
const MOST_POINTS = 120;
const MOST_ROWS = 50;

class TimeChart extends HTMLElement {
  show(chart) {
    const picked = thinned(chart);
    const { title, builds, series, stacked, unit } = picked;
    const tops = stacked
      ? builds.map((_, index) => series.reduce((sum, each) => sum + (each.values[index] ?? 0), 0))
      : series.flatMap((each) => each.values);
    const lines = picked.lines ?? [];
    const top = niceTop(Math.max(...tops.map((value) => value ?? 0), ...lines.map((line) => line.at), 0));
    const plot = svg("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": summary(picked),
    });
    plot.append(
      ...axis(top, unit, builds),
      ...(stacked ? areas(series, builds, top) : curves(series, builds, top)),
    );
    plot.append(...lines.map((line) => guide(line, top)), ...refocuses(picked));
    fill(
      this,
      el("figure", { class: "chart" }, el("figcaption", {}, title), plot, legend(series, unit, chart.marked), table(chart)),
    );
  }
}

function thinned(chart) {
  const step = Math.ceil(chart.builds.length / MOST_POINTS);
  if (step <= 1) return chart;
  const last = chart.builds.length - 1;
  const keep = (_, index) => (last - index) % step === 0; // the newest always stays
  const series = chart.series.map((each) => ({ ...each, values: each.values.filter(keep) }));
  return { ...chart, builds: chart.builds.filter(keep), series };
}

function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 8, 10].map((factor) => factor * power).find((top) => top >= value * 0.999);
}

function x(index, builds) {
  const room = WIDTH - EDGE.left - EDGE.right;
  return EDGE.left + (builds.length > 1 ? (room * index) / (builds.length - 1) : room);
}

function y(value, top) {
  return HEIGHT - EDGE.bottom - ((HEIGHT - EDGE.top - EDGE.bottom) * Math.max(0, value)) / top;
}

function axis(top, unit, builds) {
  const rules = [0, 0.5, 1].map((share) => {
    const height = y(share * top, top);
    return [
      svg("line", { class: "rule", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: height, y2: height }),
      svg(
        "text",
        { class: "tick", x: EDGE.left - 6, y: height + 4, "text-anchor": "end" },
        unit(share * top),
      ),
    ];
  });
  const ends =
    builds.length > 1
      ? [
          [0, "start"],
          [builds.length - 1, "end"],
        ]
      : [[0, "end"]];
  const names = ends.map(([index, anchor]) =>
    svg(
      "text",
      { class: "tick", x: x(index, builds), y: HEIGHT - 6, "text-anchor": anchor },
      `build ${count(builds[index])}`,
    ),
  );
  return [...rules.flat(), ...names];
}

function areas(series, builds, top) {
  const floor = builds.map(() => 0);
  const line = () => floor.map((value, index) => `${x(index, builds)},${y(value, top)}`);
  return series.map(({ values, colour }) => {
    const below = line().reverse();
    values.forEach((value, index) => (floor[index] += value ?? 0));
    return svg("polygon", {
      points: widened([...line(), ...below], builds),
      "data-colour": colour,
      class: "area",
    });
  });
}

// A single build is drawn as a bar.
function widened(points, builds) {
  if (builds.length > 1) return points.join(" ");
  const [above, below] = points.map((point) => point.split(",").map(Number));
  return `${above[0] - 24},${above[1]} ${above[0]},${above[1]} ${below[0]},${below[1]} ${below[0] - 24},${below[1]}`;
}

function curves(series, builds, top) {
  return series.map(({ values, colour }) => {
    const points = values.map((value, index) => `${x(index, builds)},${y(value ?? 0, top)}`);
    return builds.length > 1
      ? svg("polyline", { points: points.join(" "), class: "curve", "data-colour": colour })
      : svg("circle", {
          cx: x(0, builds),
          cy: y(values[0] ?? 0, top),
          r: 3,
          "data-colour": colour,
          class: "dot",
        });
  });
}

function guide({ at: value, label }, top) {
  const height = y(value, top);
  return svg(
    "g",
    { class: "guide" },
    svg("line", { x1: EDGE.left, x2: WIDTH - EDGE.right, y1: height, y2: height }),
    svg("text", { x: EDGE.left + 4, y: height < EDGE.top + 12 ? height + 12 : height - 4 }, label),
  );
}

// A tick for each build that was refocused, also where the curve leaves that build out.
function refocuses({ builds, marked = [] }) {
  return marked
    .map((build) => [build, builds.findIndex((each) => each >= build)])
    .filter(([, index]) => index >= 0)
    .map(([build, index]) => {
      const at = x(index, builds);
      return svg(
        "g",
        { class: "refocus" },
        svg("title", {}, `build ${count(build)} refocused`),
        svg("line", { x1: at, x2: at, y1: EDGE.top, y2: HEIGHT - EDGE.bottom }),
      );
    });
}

function legend(series, unit, marked = []) {
  const items = series.map(({ name, colour, values }) =>
    el(
      "li",
      {},
      el("span", { class: "swatch", "data-colour": colour }),
      `${name} `,
      el("b", {}, unit(values.at(-1) ?? 0)),
    ),
  );
  if (marked.length) items.push(el("li", {}, el("span", { class: "mark" }), refocusWords(marked)));
  return el("ul", { class: "legend" }, items);
}

function refocusWords(marked) {
  return `refocused ${marked.length === 1 ? "once" : `${count(marked.length)} times`}, last in build ${count(marked.at(-1))}`;
}

function summary({ title, builds, series, unit, marked = [] }) {
  const last = series.map(({ name, values }) => `${name} ${unit(values.at(-1) ?? 0)}`).join(", ");
  const refocused = marked.length ? ` Refocused in builds ${marked.slice(-MOST_ROWS).join(", ")}.` : "";
  return `${title}, builds ${builds[0]} to ${builds.at(-1)}. Now: ${last}.${refocused}`;
}

function table({ builds, series, unit, title, marked = [] }) {
  const head = el(
    "tr",
    {},
    el("th", { scope: "col" }, "build"),
    series.map(({ name }) => el("th", { scope: "col" }, name)),
  );
  const rows = builds
    .map((build, index) => [build, index])
    .slice(-MOST_ROWS)
    .reverse();
  const body = rows.map(([build, index]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, count(build), marked.includes(build) ? " (refocused)" : ""),
      series.map(({ values }) => el("td", {}, unit(values[index] ?? 0))),
    ),
  );
  const whole = el(
    "table",
    { class: "figures" },
    el("caption", { class: "visually-hidden" }, title),
    el("thead", {}, head),
    el("tbody", {}, body),
  );
  const words = builds.length > MOST_ROWS ? `As a table (newest ${MOST_ROWS})` : "As a table";
  return el(
    "details",
    {},
    el("summary", {}, words),
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, whole),
  );
}

if (!customElements.get("time-chart")) customElements.define("time-chart", TimeChart);
