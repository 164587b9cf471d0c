// Three charts of past builds: tokens by slot, utilisation, managed and unmanaged cost.

import { el, fill } from "./dom.js";
import { dollars, percent, short } from "./format.js";

const COLOURS = ["user", "tool", "assistant", "system", "note", "retrieved", "material", "frame"];
const PART_COLOURS = {
  system: "system",
  "open turn": "user",
  requests: "user",
  pinned: "note",
  history: "tool",
  notes: "retrieved",
  log: "note",
  retrieved: "assistant",
  material: "material",
  framing: "frame",
  tools: "frame",
};

export function drawCharts(node, builds) {
  if (!builds.length) return fill(node, el("p", { class: "muted" }, "Charts begin with the first build."));
  if (node.children.length !== 3) fill(node, el("time-chart"), el("time-chart"), el("time-chart"));
  const numbers = builds.map((build) => build.number);
  [bySlot(builds), utilisation(builds), costs(builds)].forEach((chart, index) =>
    node.children[index].show({ builds: numbers, ...chart }),
  );
}

// Presets without slots report their tokens by part.
function bySlot(builds) {
  const sizes = builds.map((build) => {
    const used = build.slots.filter((slot) => slot.used > 0).map((slot) => [slot.name, slot.used]);
    return new Map(used.length ? used : Object.entries(build.parts));
  });
  const totals = new Map();
  for (const size of sizes)
    size.forEach((tokens, name) => totals.set(name, (totals.get(name) ?? 0) + tokens));
  const names = [...totals]
    .filter(([, tokens]) => tokens > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([name]) => name);
  const series = names.slice(0, COLOURS.length).map((name, index) => ({
    name,
    colour: PART_COLOURS[name] ?? COLOURS[index],
    values: sizes.map((size) => size.get(name) ?? 0),
  }));
  return { title: "Tokens by slot", series, stacked: true, unit: short };
}

function utilisation(builds) {
  const values = builds.map((build) => build.tokens / build.budget);
  const series = [{ name: "of the budget", colour: "user", values }];
  const refocused = builds.filter((build) => build.refocused).map((build) => build.number);
  return { title: "Utilisation", series, unit: percent, lines: [{ at: 1, label: "budget" }], marked: refocused };
}

// Cumulative over the requests among the builds shown; in tokens where the prices are unknown.
function costs(builds) {
  const priced = builds.some((build) => build.managed?.dollars != null && build.unmanaged?.dollars != null);
  const field = priced ? "dollars" : "tokens";
  const summed = (name) => {
    let sum = 0;
    return builds.map((build) => (sum += (build.requested && build[name]?.[field]) || 0));
  };
  const series = [
    { name: "everything each time", colour: "tool", values: summed("unmanaged") },
    { name: "managed", colour: "assistant", values: summed("managed") },
  ];
  const title = priced ? "Cumulative input cost" : "Cumulative input tokens (no prices known)";
  return { title, series, unit: priced ? dollars : short };
}
