// The key numbers of the session and its newest build. A full window is normal; only one over its budget is not.

import { el, fill } from "./dom.js";
import { count, counted, dollars, milliseconds, percent, times } from "./format.js";

// How full the session is: of the newest window, less what was left out since, or of a history that is pruned as
// a whole.
export function use(stats) {
  const [tokens, limit] = [stats.used_tokens, stats.used_limit];
  return { tokens, limit, share: limit ? tokens / limit : 0, built: stats.builds > 0 };
}

export function drawNumbers(node, stats, newest) {
  const { tokens, limit, share, built } = use(stats);
  const cost = stats.costs;
  const managed = cost?.managed;
  const saved = stats.saved ?? null;
  fill(
    node,
    tile(
      !built ? "Stored, not built yet" : stats.manages === "prune" ? "History" : "Window",
      count(tokens),
      `of ${count(limit)} tokens, ${percent(share)}`,
      meter(share),
    ),
    tile("Messages", count(stats.messages), messagesWords(stats)),
    tile("Compression", times(stats.ratio), `${count(stats.tokens)} tokens stored`),
    saved === null
      ? tile(
          "Tokens saved",
          cost ? percent(1 - managed.tokens / cost.unmanaged.tokens) : "–",
          cost ? "no prices known for the model" : built ? "no answer to a request yet" : "nothing was built yet",
        )
      : tile(...savings(saved, cost.unmanaged.dollars)),
    tile(
      "Cache hits",
      managed?.tokens ? percent(managed.cached / managed.tokens) : "–",
      "of input tokens, predicted",
    ),
    tile("Build time", milliseconds(newest?.milliseconds ?? NaN), buildWords(stats, newest)),
  );
}

// Windows that change with every build may cost more than a whole history in the provider's cache.
function savings(saved, everything) {
  const share = percent(Math.abs(saved) / everything);
  if (saved < 0) return ["Cost added", dollars(-saved), `${share} more than ${dollars(everything)}`];
  return ["Cost saved", dollars(saved), `${share} of ${dollars(everything)}`];
}

function messagesWords(stats) {
  const words = [counted(stats.turns, "turn")];
  if (stats.pinned) words.push(`${count(stats.pinned)} pinned`);
  if (stats.absent) words.push(`${count(stats.absent)} left out`);
  return words.join(", ");
}

function buildWords(stats, newest) {
  const unmeasured = stats.builds && (newest?.milliseconds ?? null) === null;
  return unmeasured ? `not measured, ${counted(stats.builds, "build")}` : counted(stats.builds, "build");
}

function tile(name, value, note, more = null) {
  return el(
    "div",
    { class: "tile" },
    el("dt", {}, name),
    el("dd", { class: "value" }, value),
    el("dd", { class: "note" }, note, more),
  );
}

function meter(share) {
  const bar = el("span", { class: "meter-bar", "data-warn": share > 1 });
  bar.style.width = `${Math.min(100, 100 * share)}%`;
  return el("span", { class: "meter", "aria-hidden": "true" }, bar);
}
