// Shows agents in a dialog over the current page: choosing, starting and following a run, and its result, without
// leaving the form behind. Every link and form in the dialog also works as a full page without this file; here only its
// content is fetched. Runs that were started in this tab are followed across pages, shown as a chip in the corner while
// no dialog shows them.

import { fetchJson, fetchPage, hasWebsockets, keepTyped, notifyAdded, openWebsocket, readPage, request, swap } from "../http.js";

const LINKS = "a[data-agent-dialog], a.ask-agent, a.field-ai, .field-ai a";
const BATCH_ACTION = "run_agent"; // name of the action in the list of posts
const cloneTemplate = (name) => document.querySelector(`template[data-agent-${name}]`)?.content.cloneNode(true);

let dialog;
let content;
let lastRequest = 0;
let isDirty = false;
let lastRunId = ""; // id of the run shown in the dialog
let opener; // element that gets the focus back

function start() {
  document.addEventListener("click", onClick);
  document.addEventListener("submit", onSubmit);
  // An agent works with the stored post, so text typed in the page behind the dialog is not part of a run.
  const typed = ({ target }) => { if (target.closest?.("[data-edit]")) isDirty = true; };
  document.addEventListener("input", typed);
  document.addEventListener("change", typed);
  resumeRuns(open);
  // Lets tests wait until links open in the dialog.
  document.querySelector("[data-agent-chips]").toggleAttribute("data-ready", true);
}

function onClick(event) {
  const link = event.target.closest?.(LINKS);
  if (link && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    const menu = link.closest("details[data-menu]");
    opener = menu?.querySelector("summary") ?? link;
    menu?.removeAttribute("open");
    open(link.href);
  }
  if (event.target.closest?.(".agent-dialog [data-close]")) dialog.close();
}

function onSubmit(event) {
  const form = event.target;
  const isBatch = form.id === "changelist-form" && event.submitter?.name === "action" && event.submitter.value === BATCH_ACTION;
  if (event.defaultPrevented || !(isBatch || form.closest(".agent-dialog"))) return;
  event.preventDefault();
  const body = new FormData(form, event.submitter);
  const address = form.getAttribute("action") ? form.action : location.href;
  if (event.submitter) event.submitter.disabled = true;
  const eventName = form.dataset.event;
  load(address, { body, keepContent: !isBatch }).then((isDone) => {
    if (event.submitter) event.submitter.disabled = false;
    const run = isDone && eventName && content.querySelector("[data-run]");
    if (run) dispatchRun(eventName, run.dataset);
  });
}

function dispatchRun(name, { id, post }) {
  document.dispatchEvent(new CustomEvent(name, { detail: { runId: id, postId: post || null } }));
}

function open(address) {
  return load(address);
}

function createDialog() {
  if (dialog) return;
  document.body.append(cloneTemplate("frame"));
  dialog = document.querySelector("dialog.agent-dialog");
  content = dialog.querySelector("[data-agent-content]");
  dialog.addEventListener("close", () => {
    lastRequest += 1;
    if (lastRunId) showChip(lastRunId);
    lastRunId = "";
    content.replaceChildren();
    // The link may be in a menu that has been closed, where it cannot take the focus back.
    if (document.activeElement === document.body) opener?.focus();
  });
}

// Load an address into the dialog; with `body` it is a POST. With `keepContent` the old content remains until the
// response arrives.
async function load(address, { body, keepContent = false } = {}) {
  createDialog();
  const thisRequest = (lastRequest += 1);
  if (!keepContent) content.replaceChildren(cloneTemplate("loading"));
  content.setAttribute("aria-busy", "true");
  if (!dialog.open) dialog.showModal();
  try {
    // The server answers a refusal with dialog content as well, which shows the reason.
    const answer = await request(address, { body, headers: { "X-Dialog": "1" }, anyStatus: true, redirects: true });
    const page = await readPage(answer);
    if (thisRequest !== lastRequest) return false;
    if (page.querySelector("#agent-dialog-title")) {
      keepTyped(content, page.body);
      show([...page.body.childNodes], body !== undefined);
      return answer.ok;
    }
    if (!answer.ok) throw new Error(String(answer.status));
    // Some pages, such as that of a batch, are not made for the dialog.
    location.assign(answer.url);
  } catch {
    if (thisRequest === lastRequest) showFailure(address, body);
  } finally {
    if (thisRequest === lastRequest) content.removeAttribute("aria-busy");
  }
  return false;
}

function showFailure(address, body) {
  const failure = cloneTemplate("failing");
  const again = failure.querySelector("[data-again]");
  again.addEventListener("click", () => load(address, { body }));
  const asPage = failure.querySelector("[data-as-page]");
  if (body) asPage.remove();
  else asPage.href = address;
  show([failure]);
}

function show(nodes, isNew = false) {
  content.replaceChildren(...nodes);
  dialog.scrollTop = 0;
  for (const form of content.querySelectorAll("[data-choose]")) attachRunForm(form);
  for (const notice of content.querySelectorAll("[data-unsaved]")) notice.hidden = !isDirty;
  // Unsaved text in the page must not be lost, so other links open in a new tab.
  for (const link of isDirty ? content.querySelectorAll("a[href]:not([data-agent-dialog])") : []) {
    link.target = "_blank";
    link.rel = "noopener";
  }
  const run = content.querySelector("[data-run]");
  if (lastRunId && lastRunId !== run?.dataset.id) showChip(lastRunId);
  lastRunId = run?.dataset.id ?? "";
  if (run) showRun(run, isNew);
  (content.querySelector("[data-choose] textarea:enabled") ?? content.querySelector("#agent-dialog-title"))?.focus();
  notifyAdded(content);
}

function showRun(run, isNew) {
  const known = describeRun(run);
  if ("finished" in run.dataset) return finishRun(known, { isNew });
  removeChip(runs.get(known.id));
  trackRun(known, { changed: createRunView(run), ended: () => load(known.page, { keepContent: true }) });
}

// Runs that were started in this tab, and their chips

const STORAGE_KEY = "cms-runs";
const runs = new Map(); // entries by run id, each with its chip if it has one
const chips = document.querySelector("[data-agent-chips]");
const pattern = document.querySelector("template[data-agent-chip]")?.content.firstElementChild;
let openRun = () => {};

const isShown = (id) => Boolean(document.querySelector(`dialog[open] [data-run][data-id="${CSS.escape(id)}"]`));

/** Return the data of a run from the element that shows it. */
function describeRun(root) {
  const { id, post, page, run, socket, agent } = root.dataset;
  return { id, post, page, status: run, socket, agent };
}

// Continue to follow the runs of the previous page. A chip calls `open(address)`.
function resumeRuns(open) {
  openRun = open;
  for (const run of loadRuns().filter((one) => !one.isOver)) trackRun(run);
  saveRuns();
  document.addEventListener("live", ({ detail }) => showForeignRun(detail));
}

// Follow a run. The callbacks `changed` and `ended` are called only while a dialog shows it.
function trackRun(run, callbacks = {}) {
  const known = runs.get(run.id) ?? {};
  const entry = Object.assign(known, run, callbacks);
  runs.set(run.id, entry);
  if (!entry.stop) {
    const addresses = { status: run.status, socket: run.socket };
    entry.stop = followRun(addresses, { changed: (news) => updateRun(entry, news), ended: (news) => endRun(entry, news) });
  }
  if (!isShown(run.id)) addChip(entry);
  saveRuns();
}

function showChip(id) {
  const entry = runs.get(id);
  if (entry && !entry.isOver) addChip(entry);
}

// Handle a run that the dialog already shows as finished. `isNew`: it ended before it could be followed.
function finishRun(run, { isNew }) {
  const entry = runs.get(run.id);
  removeChip(entry);
  if (entry?.isOver || (!entry && !isNew)) return;
  if (entry) {
    entry.stop();
    entry.isOver = true;
    saveRuns();
  }
  dispatchRun("cms:run-ended", run);
}

function updateRun(entry, news) {
  entry.news = news;
  if (isShown(entry.id)) entry.changed?.(news);
  updateChip(entry);
}

function endRun(entry, news) {
  entry.isOver = true;
  entry.news = news;
  saveRuns();
  dispatchRun("cms:run-ended", entry);
  if (isShown(entry.id)) return entry.ended?.(news);
  addChip(entry);
}

function addChip(entry) {
  if (!chips || !pattern) return;
  if (!entry.chip) {
    entry.chip = pattern.cloneNode(true);
    entry.chip.dataset.id = entry.id;
    entry.chip.querySelector("[data-open]").addEventListener("click", () => openRun(entry.page));
    entry.chip.querySelector("[data-dismiss]").addEventListener("click", () => { removeChip(entry); entry.isHidden = true; });
  }
  if (entry.isHidden && !entry.isOver) return;
  if (!entry.chip.isConnected) chips.append(entry.chip);
  updateChip(entry);
}

function removeChip(entry) {
  entry?.chip?.remove();
}

function updateChip({ chip, agent, news, isOver }) {
  if (!chip) return;
  const put = (name, text) => {
    const place = chip.querySelector(`[data-chip-${name}]`);
    if (place.textContent !== text) place.textContent = text;
    return place;
  };
  put("name", agent);
  put("doing", isOver ? "" : (news?.doing ?? ""));
  const label = put("label", news?.label ?? "");
  label.className = `badge badge-${news?.outcome ?? "queued"}`;
  chip.toggleAttribute("data-over", Boolean(isOver));
}

// Show a chip when another user's run on this page's post has ended. The page itself is not changed.
async function showForeignRun({ event, runId, postId }) {
  const own = document.querySelector('meta[name="live"]')?.dataset.post;
  if (event !== "agent.run.finished" || !runId || runs.has(runId) || !own || own !== postId) return;
  if (document.querySelector(`[data-run][data-id="${CSS.escape(runId)}"]`)) return;
  const address = chips?.dataset.runPage.replace(chips.dataset.anyId, runId);
  try {
    const page = await fetchPage(address, { headers: { "X-Dialog": "1" } });
    const root = page.querySelector("[data-run]");
    if (root) trackRun(describeRun(root));
  } catch {
    // The lists and the review of the post show it too.
  }
}

function loadRuns() {
  try {
    const found = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => one?.id && one.status) : [];
  } catch {
    return [];
  }
}

function saveRuns() {
  const rows = [...runs.values()].map(({ id, post, page, status, socket, agent, isOver }) => ({ id, post, page, status, socket, agent, isOver }));
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(rows.slice(-10)));
  } catch {
    // Without storage, only the next page loses track of the run.
  }
}

// The form that starts an agent, in the dialog or on a page. The text box and the cost estimate depend on the chosen
// agent.

function attachRunForm(form) {
  followWords(form);
  if (form.hasAttribute("data-estimate")) followEstimate(form);
}

function followWords(form) {
  const words = form.querySelector("[data-choose-words]");
  if (!words) return;
  const box = words.querySelector("textarea");

  function count() {
    words.querySelector("[data-counter]").textContent = `${box.value.length} / ${box.getAttribute("maxlength")}`;
  }

  function choose() {
    const agent = form.querySelector('input[name="agent"]:checked');
    const takesWords = Boolean(agent?.dataset.max);
    words.hidden = !takesWords;
    box.disabled = !takesWords;
    if (!takesWords) return;
    words.querySelector("[data-words-label]").textContent = agent.dataset.label;
    words.querySelector("[data-words-for]")?.setAttribute("hidden", "");
    box.placeholder = agent.dataset.placeholder;
    box.setAttribute("maxlength", agent.dataset.max);
    count();
  }

  form.addEventListener("change", choose);
  box.addEventListener("input", count);
  choose();
}

// Update the estimate when the agent or the post changes. The server asks for confirmation before it starts a run that
// was not estimated.
function followEstimate(form) {
  let lastRequest = 0;
  form.addEventListener("change", async ({ target }) => {
    if (target.name !== "agent" && target.name !== "post") return;
    const sent = new FormData(form);
    sent.set("do", "estimate");
    const mine = (lastRequest += 1);
    try {
      const page = await fetchPage(form.action, { body: sent, headers: { "X-Dialog": "1" }, anyStatus: true });
      const here = form.querySelector("#estimate");
      if (here && mine === lastRequest) swap(here, page.querySelector("#estimate"));
    } catch {
      // The old estimate remains.
    }
  });
}

for (const form of document.querySelectorAll("[data-choose]")) attachRunForm(form);

// Following a run until it ends, over a websocket if available, otherwise by polling

const MAX_POLL_MILLISECONDS = 15_000;

// Call `changed(run)` for each update and `ended(run)` once. Returns a function that stops following.
function followRun({ status, socket }, { changed, ended }) {
  let isOver = false;
  let wait = 1000;
  let next;
  let websocket;

  function update(run) {
    if (isOver) return;
    changed(run);
    if (!run.isFinished) return;
    stop();
    ended(run);
  }

  function openSocket() {
    websocket = openWebsocket(socket, { lang: document.documentElement.lang });
    websocket.addEventListener("message", ({ data }) => update(JSON.parse(data)));
    // A broken websocket is not reopened; polling takes over.
    websocket.addEventListener("close", () => { if (!isOver) plan(wait); });
  }

  async function poll() {
    try {
      update(await fetchJson(status));
      wait = 1000;
    } catch {
      // A server that is unreachable for a moment is polled more slowly, but never given up.
      wait = Math.min(wait * 2, MAX_POLL_MILLISECONDS);
    }
    if (!isOver) plan(wait);
  }

  function plan(milliseconds) {
    clearTimeout(next);
    next = setTimeout(poll, milliseconds);
  }

  function stop() {
    isOver = true;
    clearTimeout(next);
    websocket?.close();
  }

  hasWebsockets().then((isAvailable) => {
    if (isOver) return;
    if (isAvailable && socket) openSocket();
    else plan(300);
  });
  return stop;
}

const SIGNS = { queued: "…", running: "▸", succeeded: "✓", failed: "✕", cancelled: "⊘", timed_out: "⧖", declined: "–" };

// Return a function for `changed` that shows a run's updates in the parts of `root`.
function createRunView(root) {
  const part = (name) => root.querySelector(`[data-${name}]`);
  const steps = root.querySelector("[data-steps]") ?? document.querySelector("[data-steps]");
  const line = (steps?.parentElement ?? root).querySelector("[data-step-line]")?.content.firstElementChild;
  const write = (name, text) => { const place = part(name); if (place && text) place.textContent = text; };
  let announced = "";
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
    // The badge was rendered by the server; only its status changes.
    const badge = root.querySelector(".run-state");
    if (badge) {
      badge.className = `badge badge-${run.outcome} run-state`;
      badge.firstElementChild.textContent = SIGNS[run.outcome] ?? "";
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
    // Announce only a new status or step, since `doing` changes too often for a screen reader.
    const now = `${run.label} ${run.steps.length} ${run.standing}`;
    if (now !== announced) write("said", `${run.label}. ${run.doing}`);
    announced = now;
  };
}

// Show the elapsed time. The browser formats the unit in the language of the page.
function clock(place) {
  if (!place) return;
  const format = new Intl.NumberFormat(document.documentElement.lang || "en", { style: "unit", unit: "second" });
  const timer = setInterval(() => {
    if (!place.isConnected) return clearInterval(timer);
    const since = Date.parse(place.dataset.since ?? "");
    if (since) place.textContent = format.format(Math.max(0, Math.round((Date.now() - since) / 1000)));
  }, 1000);
}

// The page of a run is updated in place and reloaded when the run ends.
const card = document.querySelector("[data-run][data-whole-page]");
if (card) {
  const addresses = { status: card.dataset.run, socket: card.dataset.socket };
  followRun(addresses, { changed: createRunView(card), ended: () => location.reload() });
}

if (document.querySelector("template[data-agent-frame]")) start();
