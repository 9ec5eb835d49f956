// Pages: live updates, keyboard navigation, light and dark. Every page works without this script.
(() => {
  "use strict";

  const STREAM = "/api/v1/events/stream?named=false&pulse=true";
  const POLL_MS = 15000;
  const CALM_MS = 700;
  const FAILED_MS = 10000;

  // --- an update keeps what the reader has opened or typed

  if (window.Idiomorph) {
    const callbacks = Idiomorph.defaults.callbacks;
    const kept = (node) => node.matches && node.matches("[data-keep]:not(details:not([open]))");
    callbacks.beforeNodeMorphed = (old, now) => !kept(old) && !isFollowed(old, now);
    callbacks.beforeNodeRemoved = (old) => !kept(old);
    callbacks.beforeAttributeUpdated = (name, node) => !(name === "open" && node.localName === "details");
    callbacks.afterNodeAdded = (node) => {
      if (node.matches && node.matches("tr, li")) node.classList.add("new");
    };
  }

  // --- following

  const link = document.getElementById("link");
  let source = null;
  let waiting = null;
  let asked = 0;

  function say(state, words) {
    if (!link) return;
    link.dataset.state = state;
    link.querySelector(".words").textContent = words;
  }

  function news() {
    if (waiting || document.hidden) return;
    const pause = Math.max(0, CALM_MS - (Date.now() - asked));
    waiting = setTimeout(() => {
      waiting = null;
      asked = Date.now();
      document.body.dispatchEvent(new CustomEvent("news"));
    }, pause);
  }

  function follow() {
    if (!link || source || document.hidden) return;
    source = new EventSource(STREAM);
    source.onopen = () => { say("live", "live"); news(); };
    source.onmessage = news;
    source.addEventListener("pulse", news);
    source.onerror = () => {
      const over = source.readyState === EventSource.CLOSED;
      say("lost", over ? "not live" : "reconnecting");
      if (over) { rest(); news(); setTimeout(follow, FAILED_MS); } // an expired session redirects to the login
    };
  }

  // Background tabs stop updating: browsers allow only six connections per host.
  function rest() {
    if (source) source.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : follow()));
  window.addEventListener("pagehide", rest);
  window.addEventListener("pageshow", follow);
  setInterval(news, POLL_MS);
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status === 401) location.reload();
  });
  document.addEventListener("htmx:sendError", () => say("lost", "not live"));

  // --- the output of a running job

  let output = null;

  // What is being appended to stays, unless the page shows another attempt or stream, or the job has ended.
  function isFollowed(old, now) {
    return output !== null && output.pre === old && now.dataset?.of === old.dataset.of && "follow" in now.dataset;
  }

  function followOutput() {
    const pre = document.getElementById("output");
    const wanted = pre && !document.hidden && pre.dataset.follow ? pre.dataset.of : null;
    if (output && output.pre === pre && output.of === wanted) return;
    leaveOutput();
    if (wanted === null) return;
    const source = new EventSource(pre.dataset.follow);
    output = { pre, of: wanted, source };
    pre.scrollTop = pre.scrollHeight;
    source.onmessage = (message) => append(pre, JSON.parse(message.data).text);
    source.addEventListener("end", () => { leaveOutput(); news(); });
    source.onerror = () => { if (source.readyState === EventSource.CLOSED) leaveOutput(); };
  }

  function leaveOutput() {
    if (output) output.source.close();
    output = null;
  }

  function append(pre, text) {
    if (!text) return;
    const atEnd = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 40;
    const lines = (pre.textContent + text).split("\n");
    const open = lines[lines.length - 1] === "" ? 1 : 0;
    pre.textContent = lines.slice(-Number(pre.dataset.lines) - open).join("\n");
    if (atEnd) pre.scrollTop = pre.scrollHeight;
  }

  document.addEventListener("visibilitychange", followOutput);
  document.addEventListener("htmx:afterSettle", followOutput);
  window.addEventListener("pagehide", leaveOutput);
  window.addEventListener("pageshow", followOutput);

  // --- light or dark

  const theme = document.getElementById("theme");
  if (theme) {
    theme.addEventListener("click", () => {
      const root = document.documentElement;
      const dark = root.dataset.theme
        ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      keep("interlock_theme", root.dataset.theme);
    });
  }

  // --- the zone of instants: the server writes them, so it must know the name of the local zone

  const zone = document.getElementById("zone");
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone;

  function keep(name, value) {
    document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=strict`;
  }

  function showZone() {
    keep("interlock_zone", zone.value === "local" ? `local:${local}` : zone.value);
    location.reload();
  }

  if (zone) {
    zone.hidden = false;
    zone.querySelector("[value=local]").textContent = `local time (${local})`;
    zone.addEventListener("change", showZone);
    const asked = document.cookie.split("; ").find((each) => each.startsWith("interlock_zone=local:"));
    if (asked && asked !== `interlock_zone=local:${local}`) keep("interlock_zone", `local:${local}`);
  }

  // --- since the last look: one who comes back after a while sees what happened in between

  const AWAY_MS = 30 * 60000;

  function look() {
    if (document.hidden) return;
    const last = Number(localStorage.getItem("interlock_active"));
    if (last && Date.now() - last > AWAY_MS) {
      keep("interlock_looked", new Date(last).toISOString());
      news();
    }
    localStorage.setItem("interlock_active", Date.now());
  }

  document.addEventListener("visibilitychange", look);
  window.addEventListener("pagehide", () => localStorage.setItem("interlock_active", Date.now()));
  setInterval(look, POLL_MS);
  look();

  // --- suggestions below the search: a combobox whose options come from the page of results

  const find = document.getElementById("find");
  const SUGGEST_MS = 120;

  function suggestions(input) {
    const list = document.createElement("ul");
    Object.assign(list, { id: "found", className: "found panel", hidden: true });
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Found");
    input.after(list);
    const attributes = { role: "combobox", "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list" };
    Object.entries(attributes).forEach(([name, value]) => input.setAttribute(name, value));
    let typed = null;
    let request = null;

    function close() {
      clearTimeout(typed);
      request?.abort();
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    }

    function choose(option) {
      list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", option.id);
    }

    function offer(page) {
      const results = [...page.querySelectorAll("a.result")];
      list.replaceChildren(...results.map((result, n) => {
        const option = document.createElement("li");
        option.id = `found-${n}`;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        option.dataset.href = result.getAttribute("href");
        for (const [name, text] of [["strong", result.textContent], ["muted", result.dataset.detail], ["tag", result.dataset.kind]]) {
          const part = document.createElement("span");
          part.className = name;
          part.textContent = text;
          option.append(part, " ");
        }
        return option;
      }));
      list.hidden = !results.length;
      input.setAttribute("aria-expanded", String(results.length > 0));
      input.removeAttribute("aria-activedescendant");
    }

    async function suggest() {
      request?.abort();
      request = new AbortController();
      if (!input.value.trim()) return close();
      try {
        const answer = await fetch(`/search?few=1&q=${encodeURIComponent(input.value)}`, { signal: request.signal });
        if (answer.ok && !answer.redirected) offer(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } catch (error) {
        if (error.name !== "AbortError") close(); // the form still finds it
      }
    }

    input.addEventListener("input", () => {
      clearTimeout(typed);
      typed = setTimeout(suggest, SUGGEST_MS);
    });
    input.addEventListener("keydown", (event) => {
      const all = [...list.children];
      const at = all.findIndex((each) => each.getAttribute("aria-selected") === "true");
      if (event.key === "Escape" && !list.hidden) { event.preventDefault(); event.stopPropagation(); close(); } // the text stays
      if (list.hidden) return;
      if (event.key === "ArrowDown") { event.preventDefault(); choose(all[(at + 1) % all.length]); }
      if (event.key === "ArrowUp") { event.preventDefault(); choose(all[(Math.max(at, 0) - 1 + all.length) % all.length]); }
      if (event.key === "Enter" && at >= 0) { event.preventDefault(); location.assign(all[at].dataset.href); }
    });
    input.addEventListener("blur", close);
    list.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus until the click
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) location.assign(option.dataset.href);
    });
  }

  if (find) suggestions(find);

  // --- keys

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") closeForms();
    if (event.key.startsWith("Arrow") && event.target.matches("a.cell")) step(event);
    if (event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
    const place = going && document.querySelector(`.places [data-key="${CSS.escape(event.key)}"]`);
    const act = place ? () => place.click() : going ? null : KEYS[event.key];
    going = !going && event.key === "g";
    if (!act) return;
    event.preventDefault();
    act();
  });

  let going = false; // whether `g` was the last key
  const keys = document.getElementById("keys");
  const KEYS = {
    "/": () => find?.focus(),
    "?": () => keys?.showModal(),
    j: () => walk(1),
    k: () => walk(-1),
    l: () => theme?.click(),
    z: () => {
      if (!zone) return;
      zone.selectedIndex = (zone.selectedIndex + 1) % zone.options.length;
      showZone();
    },
  };

  const showKeys = document.getElementById("show-keys");
  if (showKeys) {
    showKeys.hidden = false;
    showKeys.addEventListener("click", () => keys.showModal());
  }

  // The first link of each entry, from the one that has the focus.
  function walk(by) {
    const entries = [...document.querySelectorAll("main .list tbody tr, main .lines > li")]
      .filter((each) => each.checkVisibility?.() ?? true)
      .map((each) => each.querySelector("a[href]"))
      .filter(Boolean);
    const here = document.activeElement?.closest("tr, li");
    const at = entries.findIndex((each) => here?.contains(each));
    const next = at < 0 ? (by > 0 ? 0 : entries.length - 1) : at + by;
    entries[next]?.focus();
  }

  function closeForms() {
    document.querySelectorAll("details.act[open]").forEach((each) => {
      each.open = false;
      each.querySelector("summary").focus();
    });
  }

  // Arrow keys move between cells; up and down go to the nearest cell of the next row that has one.
  function step(event) {
    const link = event.target;
    const row = link.closest("tr");
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const next = dx ? beside(row, link, dx) : beyond(row, link, dy);
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  function cells(row) {
    return [...row.querySelectorAll("a.cell")];
  }

  function beside(row, link, dx) {
    const all = cells(row);
    return all[all.indexOf(link) + dx];
  }

  function beyond(row, link, dy) {
    const place = (each) => each.getBoundingClientRect().left;
    for (let other = row; (other = dy > 0 ? other.nextElementSibling : other.previousElementSibling); ) {
      const all = cells(other);
      if (all.length) {
        return all.reduce((a, b) => (Math.abs(place(b) - place(link)) < Math.abs(place(a) - place(link)) ? b : a));
      }
    }
    return null;
  }

  // The grid is one tab stop; arrow keys move within it.
  function rove() {
    const all = [...document.querySelectorAll(".grid a.cell")];
    const current = all.includes(document.activeElement) ? document.activeElement : all[0];
    all.forEach((each) => (each.tabIndex = each === current ? 0 : -1));
  }

  document.addEventListener("focusin", (event) => {
    if (event.target.matches(".grid a.cell")) rove();
  });
  document.addEventListener("htmx:afterSettle", rove);
  rove();

  // A timeline wider than the window scrolls to the current time.
  const swim = document.querySelector(".swim");
  const now = document.querySelector(".grid .at-now .now");
  if (swim && now) {
    swim.scrollLeft += now.getBoundingClientRect().left - swim.getBoundingClientRect().right + 160;
  }
  follow();
  followOutput();
})();
