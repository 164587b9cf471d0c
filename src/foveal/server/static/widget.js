// <context-manager-widget server="http://127.0.0.1:8790" session="fix-auth" token="…">: how full a session's
// window is, live, in any page of an allowed origin. One script, nothing else is loaded.
//
// server: the one this script came from, unless given. session: the newest, unless given.
// Text from the server is never markup. A removed widget neither listens nor sends requests.

(() => {
  const NAME = "context-manager-widget";
  if (customElements.get(NAME)) return;

  const FULL_AT = 0.8; // until the server says another share
  // What the next build does by itself to a history above that share, by the preset.
  const MANAGED = {
    prune: {
      banner: "The next build prunes by itself.",
      note: ": the least important messages are left out before a build",
    },
    compress: {
      banner: "The next build compresses by itself.",
      note: ": old messages are replaced by summaries before a build",
    },
    "": { banner: "Every window stays within its budget by itself.", note: "" },
  };
  const EVERY = 3000; // milliseconds between polls while there is no event stream
  const LOOKS = 5; // polls before the stream is tried again
  const CALM = 150; // milliseconds in which events are collected
  const OWN_SERVER = document.currentScript?.src
    ? new URL(document.currentScript.src).origin
    : location.origin;
  const number = new Intl.NumberFormat("en");

  const STYLE = `
    :host { display: block; max-width: 520px; color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums;
      --text: light-dark(#18202b, #e7ebf1); --muted: light-dark(#535e6c, #a0abb9); --surface: light-dark(#fff, #151a22);
      --line: light-dark(#d8dde5, #2a323e); --track: light-dark(#dfe4ea, #2b3441); --warn: light-dark(#a3460b, #f2ab5c);
      --blue: light-dark(#e8eefc, #1b2740); --green: light-dark(#e3f3ec, #16302a); --amber: light-dark(#fdf1e4, #322615);
      --bar: light-dark(#2458c9, #86aeff); }
    :host([hidden]) { display: none; }
    section { padding: 12px; border: 1px solid var(--line); border-radius: 10px; background: var(--surface); color: var(--text); }
    header { display: flex; align-items: baseline; gap: 8px; margin-bottom: 10px; }
    h2 { margin: 0; font-size: 14px; overflow-wrap: anywhere; }
    .state { margin-left: auto; color: var(--muted); font-size: 12.5px; white-space: nowrap; }
    .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: 8px; margin: 0; }
    .card { padding: 8px 10px; border-radius: 8px; }
    .card:nth-child(1) { background: var(--blue); } .card:nth-child(2) { background: var(--green); } .card:nth-child(3) { background: var(--amber); }
    dt { color: var(--muted); font-size: 12.5px; } dd { margin: 0; font-size: 18px; font-weight: 650; } dd small { font-size: 12.5px; font-weight: 400; color: var(--muted); }
    progress { display: block; width: 100%; height: 8px; margin: 10px 0 0; border: 0; border-radius: 4px; overflow: hidden; background: var(--track); appearance: none; accent-color: var(--bar); }
    progress::-webkit-progress-bar { background: var(--track); } progress::-webkit-progress-value { background: var(--bar); } progress::-moz-progress-bar { background: var(--bar); }
    [data-state="warning"] progress::-webkit-progress-value { background: var(--warn); } [data-state="warning"] progress::-moz-progress-bar { background: var(--warn); }
    .banner { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px; margin-top: 10px; padding: 8px 10px; border-left: 4px solid var(--warn); border-radius: 6px; background: var(--amber); }
    .banner[hidden] { display: none; }
    button { padding: 4px 12px; border: 1px solid currentColor; border-radius: 6px; background: var(--surface); color: var(--text); font: inherit; font-weight: 550; cursor: pointer; }
    button:disabled { opacity: 0.6; cursor: default; }
    button:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
    p { margin: 0; } .note, .said { margin-top: 8px; color: var(--muted); font-size: 12.5px; } .said:empty { display: none; } .said { color: var(--text); }
  `;

  class ContextManagerWidget extends HTMLElement {
    static displayName = "Context Manager";
    static icon = "▤";
    static category = "context";
    static updateInterval = EVERY;
    static observedAttributes = ["server", "session", "token"];

    #stats = null;
    #error = "";
    #lastActivity = null;
    #last = ""; // id of the newest event
    #stop = null;
    #parts = null;
    #offered = null; // the body of a pruning that was shown and not confirmed yet

    connectedCallback() {
      this.#parts ??= this.#make();
      this.#restart();
    }

    disconnectedCallback() {
      this.#stop?.abort();
      this.#stop = null;
    }

    attributeChangedCallback() {
      if (!this.isConnected || !this.#parts) return;
      this.#stats = null;
      this.#last = "";
      this.#offer(null);
      this.#restart();
    }

    getStatus() {
      const { state, tokens, share } = this.#use();
      return {
        state,
        primaryMetric: `${number.format(tokens)} tokens`,
        secondaryMetric: `${Math.round(100 * share)}% used`,
        lastActivity: this.#lastActivity,
        message: state === "warning" ? "Needs pruning" : this.#error || "Healthy",
      };
    }

    // How full the session is, as the server counts it, so that a prune shows at once.
    #use() {
      const stats = this.#stats;
      if (!stats) return { state: this.#error ? "error" : "idle", tokens: 0, limit: 0, share: 0 };
      const [tokens, limit] = [stats.used_tokens, stats.used_limit];
      const share = limit ? tokens / limit : 0;
      const state = this.#error ? "error" : !tokens ? "idle" : stats.needs_pruning ? "warning" : "active";
      return { state, tokens, limit, share };
    }

    #restart() {
      this.#stop?.abort();
      this.#stop = new AbortController();
      this.#draw();
      this.#run(this.#stop.signal);
    }

    async #run(signal) {
      while (!signal.aborted) {
        await this.#look(signal);
        await this.#listen(signal).catch(() => {});
        for (let look = 0; look < LOOKS && !signal.aborted; look += 1) {
          await pause(EVERY, signal);
          if (look < LOOKS - 1) await this.#look(signal);
        }
      }
    }

    async #look(signal) {
      try {
        if (signal.aborted) return;
        const name = this.getAttribute("session") || (await this.#ask("/sessions", signal)).at(-1)?.name;
        const stats = name ? await this.#ask(`/sessions/${encodeURIComponent(name)}/stats`, signal) : null;
        if (signal.aborted) return;
        const changed = JSON.stringify(stats) !== JSON.stringify(this.#stats);
        if (changed && stats) this.#lastActivity = Date.now();
        if (changed && this.#offered) this.#offer(null); // what was shown may have become another pruning
        this.#stats = stats;
        this.#error = "";
      } catch (error) {
        if (signal.aborted) return;
        this.#error = error.words ?? "The server does not answer";
      }
      this.#draw();
    }

    async #listen(signal) {
      const resume = this.#last ? { "Last-Event-ID": this.#last } : {};
      const answer = await this.#fetch("/events", {
        signal,
        headers: { Accept: "text/event-stream", ...resume },
      });
      if (!answer.ok) return;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let [rest, timer, opened] = ["", 0, false];
      signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
      for (;;) {
        const { value, done } = await reader.read();
        if (done || signal.aborted) return;
        const blocks = (rest + value).split(/\r?\n\r?\n/);
        rest = blocks.pop();
        // What changed before the stream opened is announced by no event.
        const news = blocks.filter((block) => this.#heard(block)).length || !opened;
        opened = true;
        if (!news || timer) continue;
        timer = setTimeout(() => {
          timer = 0;
          this.#look(signal);
        }, CALM);
      }
    }

    // Whether the event is about the session shown.
    #heard(block) {
      this.#last = /^id: ?(.*)$/m.exec(block)?.[1] ?? this.#last;
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      const about = data && JSON.parse(data).session;
      return (
        /^event: ?reset/m.test(block) ||
        (data && (!about || !this.#stats || about === this.#stats.session || !this.hasAttribute("session")))
      );
    }

    #fetch(path, options = {}) {
      const server = (this.getAttribute("server") || OWN_SERVER).replace(/\/+$/, "");
      const token = this.getAttribute("token");
      const key = token ? { Authorization: `Bearer ${token}` } : {};
      return fetch(`${server}/api/v1${path}`, {
        cache: "no-store",
        ...options,
        headers: { ...key, ...options.headers },
      });
    }

    async #ask(path, signal, body = null) {
      const sent = body && {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json" },
      };
      const answer = await this.#fetch(path, { signal, ...sent });
      const data = await answer.json();
      if (!answer.ok) throw Object.assign(new Error(), { words: String(data.detail ?? answer.statusText) });
      return data;
    }

    // The first click shows what would be pruned, the second confirms it.
    async #prune() {
      const { prune, said } = this.#parts;
      const signal = this.#stop.signal;
      const confirmed = this.#offered;
      this.#offer(null);
      prune.disabled = true;
      try {
        const { used_limit: limit, full_at: share } = this.#stats;
        const body = confirmed ?? { max_tokens: Math.max(1, Math.floor(share * limit)) };
        const path = `/sessions/${encodeURIComponent(this.#stats.session)}/prune`;
        const { ids } = await this.#ask(path, signal, { ...body, dry_run: !confirmed });
        if (signal.aborted) return;
        const many = `${number.format(ids.length)} message${ids.length === 1 ? "" : "s"}`;
        if (!ids.length) said.textContent = "Nothing to prune: the rest fits already.";
        else if (!confirmed) this.#offer(body, many);
        else {
          said.textContent = `Removed ${many} from the next window on; they can be restored.`;
          this.#lastActivity = Date.now();
          await this.#look(signal);
        }
      } catch (error) {
        if (!signal.aborted) said.textContent = error.words ?? "The server does not answer.";
      } finally {
        prune.disabled = false;
      }
    }

    #offer(body, many = "") {
      const { prune, said } = this.#parts;
      this.#offered = body;
      said.textContent = body ? `${many} would leave the window; they can be restored. Prune?` : "";
      prune.textContent = body ? `Prune ${many}` : "Prune";
    }

    #make() {
      const root = this.attachShadow({ mode: "open" });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
      root.adoptedStyleSheets = [sheet];
      const add = (parent, tag, attributes = {}, text = "") => {
        const node = parent.appendChild(document.createElement(tag));
        for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
        node.textContent = text;
        return node;
      };
      const box = add(root, "section", { "aria-label": "Context window" });
      const header = add(box, "header");
      const title = add(header, "h2");
      const state = add(header, "span", { class: "state" });
      const cards = add(box, "dl", { class: "cards" });
      const card = (name) => {
        const whole = add(cards, "div", { class: "card" });
        add(whole, "dt", {}, name);
        return add(whole, "dd");
      };
      const [messages, tokens, used] = ["Messages", "Tokens", "Utilisation"].map(card);
      const bar = add(box, "progress", { max: "100", value: "0", "aria-label": "Utilisation of the window" });
      const banner = add(box, "div", { class: "banner", role: "status" });
      const warning = add(banner, "p");
      const prune = add(banner, "button", { type: "button" }, "Prune");
      prune.addEventListener("click", () => this.#prune());
      const said = add(box, "p", { class: "said", role: "status" });
      const note = add(box, "p", { class: "note" });
      return { box, title, state, messages, tokens, used, bar, banner, warning, prune, said, note };
    }

    #draw() {
      const { box, title, state, messages, tokens, used, bar, banner, warning, note } = this.#parts;
      const use = this.#use();
      const percent = Math.round(100 * use.share);
      const full = `${Math.round(100 * (this.#stats?.full_at ?? FULL_AT))}%`;
      const managed = MANAGED[this.#stats?.manages] ?? MANAGED[""];
      box.dataset.state = use.state;
      title.textContent = this.#stats?.session ?? this.getAttribute("session") ?? "No session yet";
      state.textContent =
        this.#error || { idle: "idle", active: "active", warning: `over ${full} used` }[use.state];
      messages.textContent = number.format(this.#stats?.messages ?? 0);
      const limit = document.createElement("small");
      limit.textContent = ` of ${number.format(use.limit)}`;
      tokens.replaceChildren(number.format(use.tokens), limit);
      used.textContent = `${percent}%`;
      bar.value = Math.min(100, percent);
      banner.hidden = use.state !== "warning";
      warning.textContent =
        use.state === "warning"
          ? `${percent}% is used, more than ${full}. ${managed.banner} Pruning makes room now.`
          : "";
      note.textContent = `Above ${full} windows are managed automatically${managed.note}.`;
    }
  }

  function pause(milliseconds, signal) {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(finish, milliseconds);
      function finish() {
        clearTimeout(timer);
        signal.removeEventListener("abort", finish);
        resolve();
      }
      signal.addEventListener("abort", finish);
    });
  }

  customElements.define(NAME, ContextManagerWidget);
})();
