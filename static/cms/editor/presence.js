// Shows who else has this post open. The page reports every few seconds that it is open, and receives the other editors
// over the websocket, or in the responses to its reports.

import { csrfToken, fetchJson } from "../http.js";

const REPORT_MILLISECONDS = 20_000;
const REPORT_WITHOUT_SOCKET_MILLISECONDS = 6_000;

export function startPresence(form) {
  const box = document.querySelector("[data-editing]");
  if (!box) return;
  let key = newKey();
  let timer;
  let lastShown = "";

  function body(isLeaving) {
    const data = new FormData();
    // sendBeacon cannot set headers, so the token is sent as a field.
    data.append("csrfmiddlewaretoken", csrfToken());
    data.append("key", key);
    data.append("layer", form.dataset.layer || "source");
    if (isLeaving) data.append("leave", "1");
    return data;
  }

  function show(all) {
    const others = all.filter((one) => one.key !== key);
    const words = JSON.stringify(others);
    if (words === lastShown) return;
    lastShown = words;
    const lines = others.map((one) => {
      const line = box.querySelector(`template[data-${one.mine ? "mine" : "other"}]`).content.firstElementChild.cloneNode(true);
      const name = line.querySelector("[data-name]");
      if (name) {
        name.textContent = one.name;
        line.querySelector("[data-initials]").textContent = one.name.slice(0, 2).toUpperCase();
      }
      const since = new Date(one.since);
      line.querySelector("[data-since]").textContent = since.toLocaleTimeString(document.documentElement.lang || undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: document.documentElement.dataset.timeZone });
      line.querySelector("[data-review]").hidden = one.layer !== "review";
      line.title = line.textContent.replace(/\s+/g, " ").trim();
      return line;
    });
    box.querySelector("[data-people]").replaceChildren(...lines);
    box.classList.toggle("has-people", lines.length > 0);
  }

  async function report() {
    clearTimeout(timer);
    try {
      show((await fetchJson(box.dataset.editing, { body: body(false) })).editing);
    } catch { /* the next report tries again */ }
    const isConnected = document.documentElement.hasAttribute("data-connected");
    timer = setTimeout(report, isConnected ? REPORT_MILLISECONDS : REPORT_WITHOUT_SOCKET_MILLISECONDS);
  }

  document.addEventListener("live:editing", ({ detail }) => show(detail));
  window.addEventListener("pagehide", () => {
    clearTimeout(timer);
    // The browser may cancel a fetch when the page is unloaded.
    navigator.sendBeacon(box.dataset.editing, body(true));
  });
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    key = newKey(); // the old key was reported as closed on pagehide
    report();
  });
  report();
}

function newKey() {
  return crypto.randomUUID ? crypto.randomUUID() : String(Math.random()).slice(2).padEnd(36, "0").slice(0, 36);
}
