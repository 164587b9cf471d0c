// Creates an element from a tag, attributes and children.
// Strings become text nodes, so the text of a message can never become markup.

export function el(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

export function find(id) {
  return document.getElementById(id);
}

// Replaces the children only if they changed, so that scroll position and focus stay.
export function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Text in backticks becomes code.
export function coded(text) {
  return text.split("`").map((part, index) => (index % 2 ? el("code", {}, part) : part));
}

export function button(label, onclick, attributes = {}) {
  return el("button", { type: "button", class: "button", onclick, ...attributes }, label);
}

// Runs `work` once in the next frame, however often it is requested before.
export function onNextFrame(work) {
  let asked = 0;
  return () => {
    if (asked) return;
    asked = requestAnimationFrame(() => {
      asked = 0;
      work();
    });
  };
}

// Runs slow work of a button: it counts the seconds, and another click cancels the work.
export async function cancellable(node, work) {
  if (node.running) return node.running.abort();
  const [label, start] = [node.textContent, performance.now()];
  const count = () =>
    setText(node, `Cancel (${Math.round((performance.now() - start) / 1000)} s)`);
  node.running = new AbortController();
  const { signal } = node.running;
  count();
  const timer = setInterval(count, 1000);
  try {
    await work(signal);
  } catch (problem) {
    if (!signal.aborted) throw problem;
  } finally {
    clearInterval(timer);
    node.running = null;
    setText(node, label);
  }
}
