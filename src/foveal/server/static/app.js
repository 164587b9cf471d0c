// The page: the board with the data of the server, and the views that draw it.

import "./chart.js";
import "./chunk-list.js";
import "./slider.js";
import "./strip.js";
import { Actions } from "./actions.js";
import { get, of, post } from "./api.js";
import { Board } from "./board.js";
import { drawCharts } from "./charts.js";
import { Chunks } from "./chunks.js";
import { Diff } from "./diff.js";
import { cancellable, find, setText } from "./dom.js";
import { count, counted, percent } from "./format.js";
import { drawNumbers, use } from "./numbers.js";
import { drawPresets } from "./presets.js";
import { drawResults } from "./results.js";
import { drawSessions, linkTo, placeIn } from "./sessions.js";
import { drawEmpty, drawProblem } from "./states.js";
import * as theme from "./theme.js";

const board = new Board();
const actions = new Actions(
  { actions: find("actions"), banner: find("banner"), outcome: find("outcome") },
  board,
);
const report = (problem, words) => (problem ? actions.fail(problem) : actions.say(words));
const chunks = new Chunks(board, { report, build: () => actions.build() });
const diff = new Diff(find("diff"), board, { choose: (place) => chunks.choosePlace(place) });

const VIEWS = {
  connection: drawConnection,
  sessions: () => drawSessions(find("sessions"), board.sessions, board.name),
  session: () => drawSession(),
  stats: drawStats,
  builds: () => drawCharts(find("charts"), board.builds),
  build: drawBuild,
  ready: drawState,
};

board.addEventListener("change", ({ detail }) => {
  for (const [part, draw] of Object.entries(VIEWS)) if (detail.has(part)) draw();
});
board.addEventListener("heard", ({ detail: { event, data } }) => {
  if (data.session === board.name) setText(find("announcer"), spokenEvent(event, data));
});

function drawConnection() {
  const words = { live: "live", connecting: "connecting", broken: "offline" }[board.connection];
  find("connection").dataset.state = board.connection;
  setText(find("connection"), words);
}

function drawState() {
  const empty = !board.problem && !board.sessions.length;
  find("empty").hidden = !empty;
  if (empty) drawEmpty(find("empty"));
  find("board").hidden = empty || !board.stats;
  drawProblem(find("notice"), board.problem, () => board.retry());
  drawSessions(find("sessions"), board.sessions, board.name);
}

function drawSession() {
  find("results").hidden = true;
  find("outcome").hidden = true;
  find("presets").replaceChildren();
  chunks.clear();
}

function drawStats() {
  const { stats } = board;
  if (!stats) return;
  find("board").hidden = false;
  setText(find("title"), stats.session);
  const counted_by = `${stats.counter}, ${stats.exact ? "exact" : "estimated"}`;
  setText(
    find("about"),
    [stats.model || "model not named", `preset ${stats.preset}`, counted_by].join(" · "),
  );
  drawNumbers(find("numbers"), stats, board.builds.at(-1));
  actions.draw(stats);
  document.title = `${stats.session} ${percent(use(stats).share)} – Foveal`;
}

function drawBuild() {
  const { build } = board;
  if (board.stats) {
    drawNumbers(find("numbers"), board.stats, board.builds.at(-1));
    actions.draw(board.stats);
  }
  chunks.draw();
  find("slider").show(build, board.newest, board.following);
  if (build) drawBefore(build);
  diff.show(build);
  const place = linkTo(board.name, board.shown);
  if (board.name && location.hash !== place) history.replaceState(null, "", place);
}

function drawBefore(build) {
  const kept = build.segments
    .filter((each) => each.verdict === "kept")
    .reduce((sum, each) => sum + each.last - each.first + 1, 0);
  const all = (build.segments.at(-1)?.last ?? -1) + 1;
  setText(find("builds-about"), `The history and the window of build ${count(build.number)}`);
  setText(
    find("history-about"),
    `Before: ${counted(all, "message")}, ${counted(board.history.used, "token")}; grey is left out`,
  );
  setText(
    find("after-about"),
    `After: ${counted(kept, "message")} in ${counted(build.tokens, "token")}`,
  );
  find("history").show({ ...board.history, extent: Math.max(board.history.limit, board.window.limit) });
  find("after").show({
    ...board.window,
    extent: Math.max(board.history.limit, board.window.limit),
    marks: [],
  });
}

function spokenEvent(event, data) {
  if (event === "messages.added") return `${counted(data.ids.length, "message")} added`;
  if (event === "window.built")
    return `Build ${data.build}: ${count(data.tokens)} of ${count(data.budget)} tokens`;
  if (event === "message.marked") return `${data.id} is ${data.mark}`;
  return event === "warning" ? data.text : "";
}

find("slider").addEventListener("choose", ({ detail }) => board.show(detail.number));
for (const name of ["history", "after"]) {
  find(name).addEventListener("choose", ({ detail }) => {
    const model = name === "history" ? board.history : board.window;
    chunks.chooseSegment(model.segments[detail.index]);
  });
}

find("search").addEventListener("submit", async (event) => {
  event.preventDefault();
  const query = find("query").value.trim();
  if (!query || !board.name) return;
  const close = () => {
    find("results").hidden = true;
    find("query").focus();
  };
  try {
    const hits = await get(of(board.name, "/search"), { query, limit: 20 });
    drawResults(find("results"), { query, hits, close, choose: (hit) => chunks.chooseId(hit.id) });
  } catch (problem) {
    report(problem);
  }
});

find("compare").addEventListener("click", async ({ target }) => {
  try {
    await cancellable(target, async (signal) => {
      const budget = board.stats.window_budget;
      const comparison = await post(of(board.name, "/compare"), budget ? { budget } : {}, signal);
      drawPresets(find("presets"), comparison, board.stats.preset);
    });
  } catch (problem) {
    report(problem);
  }
});

function drawTheme() {
  setText(find("theme"), theme.current() === "dark" ? "Light" : "Dark");
  find("theme").setAttribute("aria-label", `Use the ${theme.current() === "dark" ? "light" : "dark"} theme`);
}

find("theme").addEventListener("click", theme.toggle);
theme.onChange(drawTheme);
theme.apply();
addEventListener("hashchange", ({ newURL }) => {
  // Not `location`: a read that was running when the address changed may have reset it.
  const { session, build } = placeIn(new URL(newURL).hash);
  if (session && session !== board.name) board.open(session);
  else if (build !== board.shown) board.show(build);
});
addEventListener("online", () => board.stream.retry());
const asked = placeIn(location.hash);
board.shown = asked.build;
board.start(asked.session);
