// Agents in a dialog over the page at hand: chosen, begun, followed, and their answers, without leaving what one types.
// Every link and form in it leads to a page that works without this file; here its content is asked for alone.

import { notifyAdded, readPage, request } from "../http.js";
import { attach } from "./choose.js";
import { begin, covered, described, settle, track, uncovered } from "./following.js";
import { shower } from "./progress.js";

const LINKS = "a[data-agent-dialog], a.ask-agent, a.field-ai, .field-ai a";
const OF_MANY = "run_agent"; // what the list of posts calls the action
const copy = (name) => document.querySelector(`template[data-agent-${name}]`)?.content.cloneNode(true);

let dialog;
let content;
let asked = 0;
let isDirty = false;
let last = ""; // the run that was shown
let opener; // where somebody was before

if (document.querySelector("template[data-agent-frame]")) start();

function start() {
  document.addEventListener("click", onClick);
  document.addEventListener("submit", onSubmit);
  // What somebody typed in the page behind is in no run.
  const typed = ({ target }) => { if (target.closest?.("[data-edit]")) isDirty = true; };
  document.addEventListener("input", typed);
  document.addEventListener("change", typed);
  begin(open);
  // For whoever looks from outside, like tests: from now on links open here.
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
  const isOfMany = form.id === "changelist-form" && form.elements.namedItem("action")?.value === OF_MANY;
  if (event.defaultPrevented || !(isOfMany || form.closest(".agent-dialog"))) return;
  event.preventDefault();
  const sent = new FormData(form, event.submitter);
  const address = form.getAttribute("action") ? form.action : location.href;
  if (event.submitter) event.submitter.disabled = true;
  const told = form.dataset.event;
  load(address, { body: sent, keeps: !isOfMany }).then((isDone) => {
    if (event.submitter) event.submitter.disabled = false;
    if (isDone && told) tell(told);
  });
}

function tell(name) {
  const run = content.querySelector("[data-run]");
  if (!run) return;
  const detail = { runId: run.dataset.id, postId: run.dataset.post || null };
  document.dispatchEvent(new CustomEvent(name, { detail }));
}

function open(address) {
  return load(address);
}

function frame() {
  if (dialog) return;
  document.body.append(copy("frame"));
  dialog = document.querySelector("dialog.agent-dialog");
  content = dialog.querySelector("[data-agent-content]");
  dialog.addEventListener("close", () => {
    asked += 1;
    if (last) uncovered(last);
    last = "";
    content.replaceChildren();
    // The link may stand in a menu that is closed again.
    if (document.activeElement === document.body) opener?.focus();
  });
}

// Show what an address answers, with a body that of a POST. `keeps`: what stands there stays until it comes.
async function load(address, { body, keeps = false } = {}) {
  frame();
  const mine = (asked += 1);
  if (!keeps) content.replaceChildren(copy("loading"));
  content.setAttribute("aria-busy", "true");
  if (!dialog.open) dialog.showModal();
  try {
    // A refusal is a dialog too, with the reason in it.
    const answer = await request(address, { body, headers: { "X-Dialog": "1" }, anyStatus: true, redirects: true });
    const page = await readPage(answer);
    if (mine !== asked) return false;
    if (page.querySelector("#agent-dialog-title")) {
      show([...page.body.childNodes], body !== undefined);
      return answer.ok;
    }
    if (!answer.ok) throw new Error(String(answer.status));
    // A page that stands in no dialog, like that of a batch.
    location.assign(answer.url);
  } catch {
    if (mine === asked) fail(address, body);
  } finally {
    if (mine === asked) content.removeAttribute("aria-busy");
  }
  return false;
}

function fail(address, body) {
  const failing = copy("failing");
  const again = failing.querySelector("[data-again]");
  again.addEventListener("click", () => load(address, { body }));
  const asPage = failing.querySelector("[data-as-page]");
  if (body) asPage.remove();
  else asPage.href = address;
  show([failing]);
}

function show(nodes, isNew = false) {
  content.replaceChildren(...nodes);
  dialog.scrollTop = 0;
  for (const form of content.querySelectorAll("[data-choose]")) attach(form);
  for (const notice of content.querySelectorAll("[data-unsaved]")) notice.hidden = !isDirty;
  if (isDirty) stay();
  const run = content.querySelector("[data-run]");
  if (last && last !== run?.dataset.id) uncovered(last);
  last = run?.dataset.id ?? "";
  if (run) followed(run, isNew);
  (content.querySelector("[data-choose] textarea:enabled") ?? content.querySelector("#agent-dialog-title"))?.focus();
  notifyAdded(content);
}

function followed(run, isNew) {
  const known = described(run);
  if ("finished" in run.dataset) return settle(known, { isNew });
  covered(known.id);
  track(known, { changed: shower(run), ended: () => load(known.page, { keeps: true }) });
}

// Links that lead away open beside the page that somebody has typed in.
function stay() {
  for (const link of content.querySelectorAll("a[href]:not([data-agent-dialog])")) {
    link.target = "_blank";
    link.rel = "noopener";
  }
}
