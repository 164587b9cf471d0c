// Calls the server; an error becomes a Problem that says what happened and what to do.

const ROOT = "/api/v1";
const KEY = "foveal-token";
const PATIENCE = 130_000; // milliseconds; the server gives up after 120 seconds

export class Problem extends Error {
  constructor({ detail, title, remedy = "", status = 0, field = "" }) {
    super(detail || title || "the server gave no reason");
    Object.assign(this, { remedy, status, field });
  }

  get offline() {
    return this.status === 0;
  }

  get locked() {
    return this.status === 401;
  }
}

export function get(path, query = {}, signal = null) {
  const known = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const words = new URLSearchParams(known).toString();
  return ask(`${ROOT}${path}${words ? `?${words}` : ""}`, cancelledBy(signal));
}

export function post(path, body = {}, signal = null) {
  const text = JSON.stringify(body);
  return ask(`${ROOT}${path}`, {
    method: "POST",
    body: text,
    headers: { "Content-Type": "application/json" },
    ...cancelledBy(signal),
  });
}

function cancelledBy(signal) {
  return signal ? { signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]) } : {};
}

export function of(session, rest = "") {
  return `/sessions/${encodeURIComponent(session)}${rest}`;
}

export function headers() {
  const token = sessionStorage.getItem(KEY);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

export function hasToken() {
  return Boolean(sessionStorage.getItem(KEY));
}

export function useToken(token) {
  sessionStorage.setItem(KEY, token);
}

async function ask(url, options) {
  const answer = await reach(url, { ...options, headers: { ...headers(), ...options.headers } });
  const text = await answer.text();
  const data = parsed(text);
  if (!answer.ok) throw new Problem({ title: answer.statusText, ...data, status: answer.status });
  return data;
}

export async function reach(url, options) {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(PATIENCE), cache: "no-store", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem({
      detail: "the server does not answer",
      remedy:
        "start it with `foveal serve`, or check that this machine can reach it; the page tries again by itself",
    });
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { detail: text.slice(0, 200) };
  }
}
