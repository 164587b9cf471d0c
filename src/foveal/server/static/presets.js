// A table that compares the presets: what each keeps, what it costs, how long it takes.

import { el, fill } from "./dom.js";
import { count, dollars, milliseconds, percent } from "./format.js";

export function drawPresets(node, comparison, chosen) {
  const { presets, budget, messages, refused } = comparison;
  const heads = [
    "preset",
    "tokens",
    "messages kept",
    "cost of a request",
    "with the cache",
    "from the cache",
    "time",
  ];
  const rows = presets.map((each) => row(each, { budget, messages, chosen }));
  const none = Object.entries(refused ?? {}).map(([name, why]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", { colspan: heads.length - 1, class: "muted" }, String(why)),
    ),
  );
  const caption = `One window of ${count(budget)} tokens from ${count(messages)} messages; ${count(comparison.tokens)} tokens are stored.`;
  const head = el(
    "tr",
    {},
    heads.map((name) => el("th", { scope: "col" }, name)),
  );
  const table = el(
    "table",
    { class: "figures" },
    el("caption", {}, caption),
    el("thead", {}, head),
    el("tbody", {}, rows, none),
  );
  fill(
    node,
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Presets compared" }, table),
  );
}

function row(each, { budget, messages, chosen }) {
  const bar = el("span", { class: "meter-bar" });
  bar.style.width = `${Math.min(100, (100 * each.tokens) / budget)}%`;
  const name = each.preset === chosen ? `${each.preset} (in use)` : each.preset;
  return el(
    "tr",
    { "data-chosen": each.preset === chosen },
    el("th", { scope: "row" }, name),
    el("td", {}, count(each.tokens), el("span", { class: "meter", "aria-hidden": "true" }, bar)),
    el("td", {}, `${count(each.messages)} of ${count(messages)}`),
    el("td", {}, dollars(each.cost)),
    el("td", {}, dollars(each.cost_cached)),
    el("td", {}, percent(each.tokens ? each.cached / each.tokens : NaN)),
    el("td", {}, milliseconds(each.milliseconds)),
  );
}
