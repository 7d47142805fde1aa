// Follows a run until it ends, over a websocket where there are any, else by asking again and again. On the page of a run
// what is new is shown in place, and the page is loaded again at the end.

import { fetchJson, hasWebsockets, openWebsocket } from "../http.js";

const MAX_POLL_MILLISECONDS = 15_000;

// `changed(run)` for each news, `ended(run)` once. Answers a function that stops following.
export function followRun({ status, socket }, { changed, ended }) {
  let isOver = false;
  let wait = 1000;
  let next;
  let line;

  function take(run) {
    if (isOver) return;
    changed(run);
    if (!run.isFinished) return;
    stop();
    ended(run);
  }

  function listen() {
    line = openWebsocket(socket, { lang: document.documentElement.lang });
    line.addEventListener("message", ({ data }) => take(JSON.parse(data)));
    // A line that breaks is not mended: asking goes on where it ended.
    line.addEventListener("close", () => { if (!isOver) plan(wait); });
  }

  async function ask() {
    try {
      take(await fetchJson(status));
      wait = 1000;
    } catch {
      // A server that is away for a moment is asked more slowly, never given up.
      wait = Math.min(wait * 2, MAX_POLL_MILLISECONDS);
    }
    if (!isOver) plan(wait);
  }

  function plan(milliseconds) {
    clearTimeout(next);
    next = setTimeout(ask, milliseconds);
  }

  function stop() {
    isOver = true;
    clearTimeout(next);
    line?.close();
  }

  hasWebsockets().then((are) => {
    if (isOver) return;
    if (are && socket) listen();
    else plan(300);
  });
  return stop;
}

const SIGNS = { queued: "…", running: "▸", succeeded: "✓", failed: "✕", cancelled: "⊘", timed_out: "⧖" };

// Shows the news in the parts of `root` that are there for it. Answers the function for `changed`.
export function createRunView(root) {
  const part = (name) => root.querySelector(`[data-${name}]`);
  const steps = root.querySelector("[data-steps]") ?? document.querySelector("[data-steps]");
  const line = (steps?.parentElement ?? root).querySelector("[data-step-line]")?.content.firstElementChild;
  const write = (name, text) => { const place = part(name); if (place && text) place.textContent = text; };
  let said = "";
  clock(part("elapsed"));

  function stepOf(step) {
    const made = line.cloneNode(true);
    made.className = `${step.kind} ${step.ok ? "ok" : "failed"}`;
    made.querySelector("[data-name]").textContent = step.name;
    made.querySelector("[data-kind]").textContent = `${step.kindLabel} · ${step.took}`;
    made.querySelector("[data-failed]").hidden = step.ok;
    made.querySelector("[data-summary]").textContent = step.summary;
    return made;
  }

  return (run) => {
    // The badge that the server rendered, with the status of now.
    const badge = root.querySelector(".run-state");
    if (badge) {
      badge.className = `badge badge-${run.status} run-state`;
      badge.firstElementChild.textContent = SIGNS[run.status] ?? "";
      badge.lastChild.textContent = ` ${run.label}`;
    }
    write("doing", run.doing);
    root.dataset.standing = run.standing ?? "";
    write("used", run.tokens);
    write("cost", run.cost);
    write("count", String(run.steps.length));
    const elapsed = part("elapsed");
    if (elapsed && run.startedAt) elapsed.dataset.since = run.startedAt;
    if (steps && line && run.steps.length !== steps.children.length) {
      steps.append(...run.steps.slice(steps.children.length).map(stepOf));
      steps.parentElement.querySelector("[data-no-steps]")?.remove();
    }
    // Read out by stations, not by each word that is written.
    const now = `${run.label} ${run.steps.length} ${run.standing}`;
    if (now !== said) write("said", `${run.label}. ${run.doing}`);
    said = now;
  };
}

// How long it goes on already. The unit comes from the browser, in the language of the page.
function clock(place) {
  if (!place) return;
  const format = new Intl.NumberFormat(document.documentElement.lang || "en", { style: "unit", unit: "second" });
  const timer = setInterval(() => {
    if (!place.isConnected) return clearInterval(timer);
    const since = Date.parse(place.dataset.since ?? "");
    if (since) place.textContent = format.format(Math.max(0, Math.round((Date.now() - since) / 1000)));
  }, 1000);
}

const card = document.querySelector("[data-run][data-whole-page]");
if (card) {
  const addresses = { status: card.dataset.run, socket: card.dataset.socket };
  followRun(addresses, { changed: createRunView(card), ended: () => location.reload() });
}
