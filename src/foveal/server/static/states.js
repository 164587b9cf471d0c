// Says what to do where a session cannot be shown.

import { hasToken, useToken } from "./api.js";
import { button, coded, el, fill } from "./dom.js";
import { sentence } from "./format.js";

const WAYS = [
  ["foveal import chat.jsonl", "stores a conversation, from any provider or agent"],
  ['foveal add user "Fix the login"', "stores one message"],
  ["foveal serve --demo", "opens this page with a bundled session"],
];

export function drawEmpty(node) {
  const ways = WAYS.map(([command, does]) => [el("dt", {}, el("code", {}, command)), el("dd", {}, does)]);
  fill(
    node,
    el("h1", {}, "No session yet"),
    el(
      "p",
      {},
      "A session appears here as soon as the first message is stored, on the command line, over HTTP or from Python:",
    ),
    el("dl", { class: "ways" }, ways),
  );
}

export function drawUnbuilt(node, build) {
  const words = coded("No window has been built for this session yet. Build one here, or with `foveal build`.");
  fill(node, el("p", { class: "muted" }, words), button("Build now", build, { class: "button primary" }));
}

// `problem`: null if there is none. `retry`: called when the problem may be solved.
export function drawProblem(node, problem, retry) {
  node.hidden = !problem;
  if (!problem) return;
  if (problem.locked) return fill(node, lock(retry));
  const heading = coded(sentence(problem.message));
  const remedy = problem.remedy ? el("p", {}, "Try: ", coded(problem.remedy)) : null;
  fill(node, el("div", {}, el("strong", {}, heading), remedy), button("Try again", retry));
}

function lock(retry) {
  const prompt = hasToken() ? "The server does not accept that token; enter another." : "This server needs a token.";
  const input = el("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const form = el(
    "form",
    { class: "lock" },
    el("label", { for: "token" }, `${prompt} It stays in this tab.`),
    input,
    el("button", { class: "button primary", type: "submit" }, "Open"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    useToken(input.value.trim());
    retry();
  });
  return form;
}
