// Sets the theme from the user's choice or the system, and remembers the choice.

const KEY = "foveal-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

export function current() {
  return remembered() ?? (system.matches ? "dark" : "light");
}

export function apply() {
  document.documentElement.dataset.theme = current();
  for (const listener of listeners) listener();
}

export function toggle() {
  const next = current() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, next);
  } catch {
    document.documentElement.dataset.chosen = next; // no access to storage: the choice lasts as long as the page
  }
  apply();
}

export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return document.documentElement.dataset.chosen ?? null;
  }
}

system.addEventListener("change", apply);
