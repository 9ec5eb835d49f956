// API: calls an operation from its form and shows the answer. Without this script the page is a reference.
(() => {
  "use strict";

  const LONGEST = 200000;
  const token = document.getElementById("api-token");

  function address(form) {
    const given = (place) => [...form.querySelectorAll(`[data-in=${place}]`)].filter((each) => each.value !== "");
    const path = given("path").reduce(
      (text, each) => text.replace(`{${each.name}}`, encodeURIComponent(each.value)), form.dataset.path);
    const query = new URLSearchParams(given("query").map((each) => [each.name, each.value]));
    return query.size ? `${path}?${query}` : path;
  }

  function request(form) {
    const secret = token.querySelector("input").value;
    const body = form.elements.body?.value;
    const headers = secret ? { Authorization: `Bearer ${secret}` } : {};
    if (body) headers["Content-Type"] = "application/json";
    return { method: form.dataset.method, headers, ...(body ? { body } : {}) };
  }

  // The secret itself is never written to the page.
  function quoted(text) {
    return `'${text.replaceAll("'", "'\\''")}'`;
  }

  function asCurl(where, asked) {
    const parts = ["curl", "-X", asked.method, "-H", '"Authorization: Bearer $TOKEN"'];
    if (asked.body) parts.push("-H", quoted("Content-Type: application/json"), "-d", quoted(asked.body));
    return [...parts, quoted(location.origin + where)].join(" ");
  }

  function pretty(text) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  async function send(form) {
    const where = address(form);
    const asked = request(form);
    const answer = form.querySelector(".answer");
    const [sent, shown] = [answer.querySelector(".sent"), answer.querySelector("pre")];
    answer.hidden = false;
    sent.textContent = "sent…";
    const began = performance.now();
    try {
      const response = await fetch(where, asked);
      const text = pretty(await response.text());
      const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}\n…` : text;
      sent.textContent = `${response.status} ${response.statusText}, ${Math.round(performance.now() - began)} ms`;
      answer.dataset.good = String(response.ok);
      shown.textContent = `${asCurl(where, asked)}\n\n${cut}`;
    } catch (error) {
      sent.textContent = `no answer: ${error.message}`;
      answer.dataset.good = "false";
      shown.textContent = asCurl(where, asked);
    }
  }

  token.hidden = false;
  document.querySelectorAll("form.try").forEach((form) => {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form);
    });
  });

  // An address of an operation or a schema opens it.
  function reveal() {
    const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (named && named.localName === "details") {
      named.open = true;
      named.scrollIntoView();
    }
  }

  window.addEventListener("hashchange", reveal);
  reveal();
})();
