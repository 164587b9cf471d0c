// A tag, attributes and children in → an element.
// Children that are strings become text nodes: nothing that a message says can become markup.

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

// Replaces children only where the element shows something else than before: a reader's place and focus stay.
export function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// What stands in backticks is code.
export function coded(text) {
  return text.split("`").map((part, index) => (index % 2 ? el("code", {}, part) : part));
}

export function button(label, onclick, attributes = {}) {
  return el("button", { type: "button", class: "button", onclick, ...attributes }, label);
}

// Runs `work` once in the next frame, however often it is asked for before.
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
