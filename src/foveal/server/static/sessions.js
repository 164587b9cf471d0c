// Links to the sessions, newest first.

import { el, fill } from "./dom.js";
import { counted } from "./format.js";

export function drawSessions(node, sessions, chosen) {
  const rows = [...sessions].reverse().map(({ name, messages, model, preset }) => {
    const about = [counted(messages, "message"), model, preset].filter(Boolean).join(" · ");
    const current = name === chosen ? "page" : null;
    const link = el(
      "a",
      { href: linkTo(name), "aria-current": current },
      el("span", { class: "session-name" }, name),
      el("span", { class: "session-about" }, about),
    );
    return el("li", {}, link);
  });
  const focused = node.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  fill(node, rows);
  if (focused) [...node.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
}

export function linkTo(session, build = null) {
  const place = new URLSearchParams({ session, ...(build ? { build } : {}) });
  return `#${place}`;
}

export function placeIn(hash) {
  const place = new URLSearchParams(hash.replace(/^#/, ""));
  return { session: place.get("session") ?? "", build: Number(place.get("build")) || null };
}
