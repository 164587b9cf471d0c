// Computes the segments of the strip from a build and the messages of the history.
// Their tokens add up to the window's, even before all messages are loaded.

import { count, counted, span } from "./format.js";

export const KINDS = ["system", "user", "assistant", "tool", "note", "retrieved", "material", "frame"];
export const KIND_NAMES = {
  system: "system prompt",
  user: "user",
  assistant: "assistant",
  tool: "tool output",
  note: "note or summary",
  retrieved: "retrieved",
  material: "attached context",
  frame: "framing and tools",
};
export const DETAILS = ["full", "trimmed", "folded", "out"];
export const DETAIL_NAMES = {
  full: "in full",
  trimmed: "trimmed",
  folded: "in a note",
};
const PARTS = [
  ["framing", "frame", "what the provider's format adds"],
  ["tools", "frame", "tool definitions"],
  ["system", "system", "system prompt given for this window"],
  ["material", "material", "attached context"],
  ["retrieved", "retrieved", "retrieved from earlier for this task"],
  ["log", "note", "log of earlier messages"],
  ["notes", "note", "a note about what is left out"],
];

// The content of the window, in its order.
export function windowModel(build, messages) {
  const kept = build.segments.filter((segment) => segment.verdict === "kept" && segment.tokens > 0);
  const turns = kept.flatMap((each) => chunksOf(each, messages, each.tokens));
  const parts = partsOf(build, kept);
  const found = parts.filter((part) => part.part === "retrieved"); // it is placed before the open turn
  const segments = [
    ...parts.filter((part) => !found.includes(part)),
    ...turns.slice(0, -1),
    ...found,
    ...turns.slice(-1),
  ];
  const limit = Math.max(build.budget, build.tokens, 1);
  return laidOut(segments, { limit, used: build.tokens, marks: marksOf(build) });
}

// The whole history at the time of the build, each message at its stored size.
export function historyModel(build, messages) {
  const segments = build.segments.flatMap((each) => chunksOf(each, messages, storedTokens(each, messages)));
  const used = segments.reduce((sum, segment) => sum + segment.tokens, 0);
  return laidOut(segments, { limit: Math.max(used, 1), used, marks: [] });
}

// Messages that are in the window only as part of a note elsewhere in it.
export function inNotes(build) {
  return build.segments
    .filter((each) => each.verdict === "kept" && !each.tokens)
    .map((each) => whole(each, 0));
}

export function leftOut(build) {
  return build.segments.filter((each) => each.verdict === "left out").map((each) => whole(each, each.tokens));
}

export function spoken(segment) {
  const place = segment.part ? segment.because : span(segment.first, segment.last);
  const state = stateOf(segment);
  return `${KIND_NAMES[segment.kind]}, ${place}, ${counted(segment.tokens, "token")}, ${state}`;
}

export function stateOf(segment) {
  if (segment.verdict !== "kept") return "left out";
  return segment.tokens ? DETAIL_NAMES[segment.detail] : "in a note";
}

export function title(segment) {
  return segment.part ? segment.part : span(segment.first, segment.last);
}

export function kindOf(role) {
  return KINDS.includes(role) ? role : "user";
}

// Tokens that belong to no message.
function partsOf(build, kept) {
  const sizes = { ...build.parts };
  const messages = kept.reduce((sum, segment) => sum + segment.tokens, 0);
  const outside = PARTS.filter(([name]) => name !== "system").reduce(
    (sum, [name]) => sum + (sizes[name] ?? 0),
    0,
  );
  sizes.system = Math.max(0, build.tokens - messages - outside);
  return PARTS.filter(([name]) => sizes[name] > 0).map(([name, kind, because]) => ({
    part: name,
    kind,
    because: name === "log" ? aboutLog(build.notes ?? []) || because : because,
    tokens: sizes[name],
    first: -1,
    last: -1,
    verdict: "kept",
    detail: "full",
    slot: "",
    score: null,
    bars: [{ kind, tokens: sizes[name] }],
  }));
}

// Which messages the log is about, and how many lines it has of how many of them.
function aboutLog(notes) {
  return notes
    .filter((note) => note.kind === "log")
    .map((note) => {
      const sources = new Set(note.lines.flat()).size;
      return `log of ${span(note.first, note.last)}: ${counted(note.lines.length, "line")} from ${counted(sources, "message")}`;
    })
    .join("; ");
}

// The turns of one decision; the result of a call stays with the call. They share the decision's tokens.
function chunksOf(decision, messages, tokens) {
  const known = messages.slice(decision.first, decision.last + 1);
  const complete = known.length === decision.last - decision.first + 1 && known.every(Boolean);
  const stored = complete ? known.reduce((sum, message) => sum + message.tokens, 0) : 0;
  if (!stored || decision.detail !== "full") return [whole(decision, tokens)];
  const turns = [];
  for (const message of known) {
    if (message.role === "tool" && turns.length) turns.at(-1).push(message);
    else turns.push([message]);
  }
  const shares = shared(
    tokens,
    turns.map((turn) => turn.reduce((sum, message) => sum + message.tokens, 0)),
  );
  return turns.map((turn, index) => turnOf(decision, turn, shares[index]));
}

function turnOf(decision, turn, tokens) {
  const shares = shared(
    tokens,
    turn.map((message) => message.tokens),
  );
  const bars = turn.map((message, index) => ({ kind: kindOf(message.role), tokens: shares[index] }));
  const widest = bars.reduce((best, bar) => (bar.tokens > best.tokens ? bar : best));
  return {
    ...decision,
    first: turn[0].place,
    last: turn.at(-1).place,
    tokens,
    bars,
    kind: widest.kind,
    pinned: turn.some((message) => message.mark === "pinned"),
    text: turn[0].text,
    handle: turn[0].handle,
    id: turn[0].id,
  };
}

function whole(decision, tokens) {
  const summary = decision.detail === "folded" && decision.verdict === "kept";
  const kind = summary ? "note" : kindOf(decision.role);
  const pinned = decision.mark === "pinned";
  return { ...decision, tokens, kind, pinned, bars: [{ kind, tokens }] };
}

function storedTokens(decision, messages) {
  const known = messages.slice(decision.first, decision.last + 1);
  const complete = known.length === decision.last - decision.first + 1 && known.every(Boolean);
  return complete ? known.reduce((sum, message) => sum + message.tokens, 0) : decision.tokens;
}

// Integers in the proportion of `weights` that add up to `total`.
function shared(total, weights) {
  const sum = weights.reduce((all, weight) => all + weight, 0) || 1;
  let [passed, given] = [0, 0];
  return weights.map((weight) => {
    passed += weight;
    const until = Math.round((total * passed) / sum);
    const share = until - given;
    given = until;
    return share;
  });
}

// Flat arrays, because the painter reads thousands of entries per frame.
function laidOut(segments, { limit, used, marks }) {
  const starts = new Float64Array(segments.length);
  const sizes = new Float64Array(segments.length);
  const bars = barsFor(segments.reduce((sum, segment) => sum + segment.bars.length, 0));
  let [at, next] = [0, 0];
  segments.forEach((segment, index) => {
    [starts[index], sizes[index]] = [at, segment.tokens];
    segment.bars.forEach((bar, place) => {
      bars.starts[next] = at;
      bars.sizes[next] = bar.tokens;
      bars.kinds[next] = KINDS.indexOf(bar.kind);
      bars.details[next] = DETAILS.indexOf(segment.verdict === "kept" ? segment.detail : "out");
      bars.pins[next] = segment.pinned && place === 0;
      bars.ends[next] = place === segment.bars.length - 1;
      at += bar.tokens;
      next += 1;
    });
  });
  const under = (token) => (token < 0 || token >= at ? -1 : lastAt(starts, token));
  return { segments, count: segments.length, starts, sizes, bars, limit, extent: limit, used, marks, under };
}

function barsFor(length) {
  const [starts, sizes] = [new Float64Array(length), new Float64Array(length)];
  const [kinds, details, pins, ends] = [0, 1, 2, 3].map(() => new Uint8Array(length));
  return { starts, sizes, kinds, details, pins, ends };
}

// The last index whose start is not after `token`; of several with the same start, the one that has tokens.
export function lastAt(starts, token) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Where a stable layout is refocused. A build that does not report it follows the engine's rule:
// the whole budget where the provider's cache prices are known, 90% where they are not.
function marksOf(build) {
  const unpriced = build.preset === "foveal" && (build.costs?.managed?.dollars ?? null) === null;
  const high = build.metrics?.high_water ?? (unpriced ? 0.9 : 1) * build.budget;
  return [{ at: high, label: `refocus point ${count(high)}`, warn: build.tokens > build.budget }];
}
