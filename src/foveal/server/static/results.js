// A list of search hits; choosing one shows where it is in the window, if it is.

import { button, el, fill } from "./dom.js";
import { counted, moment } from "./format.js";
import { kindOf } from "./segments.js";

const MOST = 320; // characters of a hit

export function drawResults(node, { query, hits, choose, close }) {
  node.hidden = false;
  const title = el(
    "h2",
    { id: "results-title", tabindex: "-1" },
    `${counted(hits.length, "hit")} for “${query}”`,
  );
  const head = el(
    "div",
    { class: "card-head" },
    title,
    el("div", { class: "tools" }, button("Close", close)),
  );
  const list = el(
    "ol",
    { class: "hits" },
    hits.map((hit) => el("li", {}, row(hit, choose))),
  );
  const none = el("p", { class: "muted" }, "No stored message matches. Try other words, or fewer.");
  fill(node, head, hits.length ? list : none);
  title.focus();
}

function row(hit, choose) {
  const about = [hit.id, hit.role, `score ${hit.score.toFixed(2)}`, moment(hit.created_at), hit.weak && "weak match"]
    .filter(Boolean)
    .join(" · ");
  const open = el("button", { type: "button", class: "hit" });
  open.addEventListener("click", () => choose(hit));
  open.append(
    el("span", { class: "swatch", "data-kind": kindOf(hit.role) }),
    el("span", { class: "hit-about" }, about),
    el("span", { class: "hit-text" }, hit.text.length > MOST ? `${hit.text.slice(0, MOST)}…` : hit.text),
  );
  return open;
}
