// Runs that were begun in this tab: followed from page to page, shown as a chip in the corner while no dialog shows them.

import { fetchPage } from "../http.js";
import { follow } from "./progress.js";

const KEPT = "cms-runs";
const runs = new Map(); // by id: what is known of a run, and its chip where it has one
const chips = document.querySelector("[data-agent-chips]");
const pattern = document.querySelector("template[data-agent-chip]")?.content.firstElementChild;
let opens = () => {};

const isShown = (id) => Boolean(document.querySelector(`dialog[open] [data-run][data-id="${CSS.escape(id)}"]`));

// What a part of the page that shows a run says of it.
export function described(root) {
  const { id, post, page, run, socket, agent } = root.dataset;
  return { id, post, page, status: run, socket, agent };
}

// `open(address)` is what a chip does. Goes on with what the page before followed.
export function begin(open) {
  opens = open;
  for (const run of kept().filter((one) => !one.isOver)) track(run);
  keep();
  document.addEventListener("live", ({ detail }) => hear(detail));
}

// Follow a run; `changed` and `ended` are told as long as a dialog shows it.
export function track(run, told = {}) {
  const known = runs.get(run.id) ?? {};
  const entry = Object.assign(known, run, told);
  runs.set(run.id, entry);
  if (!entry.stop) {
    const addresses = { status: run.status, socket: run.socket };
    entry.stop = follow(addresses, { changed: (news) => show(entry, news), ended: (news) => end(entry, news) });
  }
  if (!isShown(run.id)) addChip(entry);
  keep();
}

// A dialog shows it, or shows it no longer.
export function covered(id) {
  removeChip(runs.get(id));
}

export function uncovered(id) {
  const entry = runs.get(id);
  if (entry && !entry.isOver) addChip(entry);
}

// A dialog shows that it is over. `isNew`: it was over before it could be followed.
export function settle(run, { isNew }) {
  const entry = runs.get(run.id);
  removeChip(entry);
  if (entry?.isOver || (!entry && !isNew)) return;
  if (entry) {
    entry.stop();
    entry.isOver = true;
    keep();
  }
  tell(run);
}

function tell({ id, post }) {
  const detail = { runId: id, postId: post || null };
  document.dispatchEvent(new CustomEvent("cms:run-ended", { detail }));
}

function show(entry, news) {
  entry.news = news;
  if (isShown(entry.id)) entry.changed?.(news);
  write(entry);
}

function end(entry, news) {
  entry.isOver = true;
  entry.news = news;
  keep();
  tell(entry);
  if (isShown(entry.id)) return entry.ended?.(news);
  addChip(entry);
}

function addChip(entry) {
  if (!chips || !pattern) return;
  if (!entry.chip) {
    entry.chip = pattern.cloneNode(true);
    entry.chip.dataset.id = entry.id;
    entry.chip.querySelector("[data-open]").addEventListener("click", () => opens(entry.page));
    entry.chip.querySelector("[data-dismiss]").addEventListener("click", () => { removeChip(entry); entry.isHidden = true; });
  }
  if (entry.isHidden && !entry.isOver) return;
  if (!entry.chip.isConnected) chips.append(entry.chip);
  write(entry);
}

function removeChip(entry) {
  entry?.chip?.remove();
}

function write({ chip, agent, news, isOver }) {
  if (!chip) return;
  const put = (name, text) => {
    const place = chip.querySelector(`[data-chip-${name}]`);
    if (place.textContent !== text) place.textContent = text;
    return place;
  };
  put("name", agent);
  put("doing", isOver ? "" : (news?.doing ?? ""));
  const label = put("label", news?.label ?? "");
  label.className = `badge badge-${news?.status ?? "queued"}`;
  chip.toggleAttribute("data-over", Boolean(isOver));
}

// Somebody else's run on the post of this page ended: a chip says so, and nothing on the page is touched.
async function hear({ event, runId, postId }) {
  const own = document.querySelector('meta[name="live"]')?.dataset.post;
  if (event !== "agent.run.finished" || !runId || runs.has(runId) || !own || own !== postId) return;
  if (document.querySelector(`[data-run][data-id="${CSS.escape(runId)}"]`)) return;
  const address = chips?.dataset.runPage.replace(chips.dataset.anyId, runId);
  try {
    const page = await fetchPage(address, { headers: { "X-Dialog": "1" } });
    const root = page.querySelector("[data-run]");
    if (root) track(described(root));
  } catch {
    // The lists and the review of the post say it too.
  }
}

function kept() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => one?.id && one.status) : [];
  } catch {
    return [];
  }
}

function keep() {
  const rows = [...runs.values()].map(({ id, post, page, status, socket, agent, isOver }) => ({ id, post, page, status, socket, agent, isOver }));
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(rows.slice(-10)));
  } catch {
    // Without a store, the next page knows nothing of it.
  }
}
