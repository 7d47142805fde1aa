// A translation beside its source: saves in place like the editor, jumps to the next outdated field, and updates the
// states of the fields after a save or a check.

import { startPresence } from "../editor/presence.js";
import { startRepeaters } from "../editor/repeaters.js";
import { startSaving, watchChanges } from "../editor/saving.js";
import { announce, fetchPage, notifyAdded } from "../http.js";

const page = document.querySelector("[data-beside]");
const form = document.querySelector("form[data-edit]");
const isTyping = (target) =>
  target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]");
const isShown = (row) => row.getClientRects().length > 0;
const rows = () => [...page.querySelectorAll("[data-row]")].filter(isShown);
const openPlaces = () => [...page.querySelectorAll('[data-row]:is([data-state="stale"], [data-state="untranslated"]), [data-open-module]')].filter(isShown);

// Focus the input of a row, or the row itself if it has none.
function goTo(place) {
  if (!place) return;
  const control = place.querySelector(".beside-own :is([contenteditable=true], textarea:not([hidden]), input:not([type=hidden]), select)");
  const target = control && isShown(control) ? control : place;
  target.focus({ preventScroll: true });
  place.scrollIntoView({ block: "start" });
}

function step(places, by) {
  const here = document.activeElement?.closest("[data-row], [data-open-module]");
  const follows = (place) => here.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING;
  const listed = by > 0 ? places : [...places].reverse();
  if (!here) return goTo(listed[0]);
  const next = listed.find((place) => place !== here && Boolean(follows(place)) === by > 0);
  return goTo(next ?? listed[0]);
}

// Update the states from a newer page, leaving typed text unchanged.
function showStates(fresh) {
  for (const row of page.querySelectorAll("[data-row]")) {
    const newer = fresh.getElementById(row.id);
    if (!newer) continue;
    row.dataset.state = newer.dataset.state;
    for (const part of ["[data-source]", "[data-row-state]"]) {
      const [old, now] = [row.querySelector(part), newer.querySelector(part)];
      if (old.innerHTML !== now.innerHTML) {
        old.replaceChildren(...now.childNodes);
        notifyAdded(old);
      }
    }
  }
  // The page now shows the newer source, so the form must refer to it.
  const [sources, read] = [page, fresh].map((one) => one.querySelector("input[name=sources]"));
  if (sources && read) sources.value = read.value;
  for (const group of page.querySelectorAll("[data-group]")) {
    group.toggleAttribute("data-needs-work", Boolean(fresh.getElementById(group.id)?.hasAttribute("data-needs-work")));
  }
  for (const part of ["[data-progress]", "[data-check-all]"]) {
    const [old, now] = [page.querySelector(part), fresh.querySelector(part)];
    if (old && now) old.replaceChildren(...now.childNodes);
  }
  showEmpty();
}

const refresh = () => fetchPage(location.href).then(showStates, () => {});

async function check(button) {
  const place = button.closest("[data-row]");
  const before = openPlaces();
  const next = before[before.indexOf(place) + 1];
  try {
    const fresh = await fetchPage(location.href, { body: new FormData(button.form, button), redirects: true });
    showStates(fresh);
    announce(page.querySelector("[data-progress]").textContent.trim());
    if (document.activeElement === document.body) (next ?? page.querySelector("[data-next]")).focus({ preventScroll: true });
  } catch {
    // Send the form the ordinary way; the server's page explains the problem.
    button.form.requestSubmit(button);
  }
}

function showEmpty() {
  const isFiltered = page.classList.contains("only-stale");
  page.querySelector("[data-all-current]").hidden = !isFiltered || Boolean(page.querySelector("[data-needs-work]"));
}

function startTools(saving) {
  const filter = page.querySelector("[data-only-stale]");
  filter.addEventListener("click", () => {
    const isOn = page.classList.toggle("only-stale");
    filter.setAttribute("aria-pressed", String(isOn));
    showEmpty();
  });
  page.querySelector("[data-next]").addEventListener("click", () => step(openPlaces(), 1));
  let failed = null;
  page.addEventListener("click", (event) => {
    const button = event.target.closest("[data-check]");
    if (!button || failed === button) return;
    event.preventDefault();
    failed = button;
    check(button).finally(() => { failed = null; });
  });
  const shortcuts = { "]": () => step(rows(), 1), "[": () => step(rows(), -1), o: () => step(openPlaces(), 1) };
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "s") {
      event.preventDefault();
      saving?.save();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !shortcuts[event.key]) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    shortcuts[event.key]();
  });
}

document.documentElement.classList.add("editor-scripts");
let saving;
if (form) {
  form.classList.add("is-scripted");
  const changes = watchChanges(form);
  startRepeaters(form, changes);
  saving = startSaving(form, changes, { keep() {} });
  startPresence(form);
  // Rearranging modules saves a newer version of the post, after which this form would be refused, so require a clean
  // form.
  changes.listen((found) => {
    for (const button of page.parentElement.querySelectorAll("[data-needs-clean]")) button.disabled = found.size > 0;
  });
}
startTools(saving);
document.addEventListener("cms:saved", () => {
  const versions = document.querySelectorAll('#translate-structure input[name="version"]');
  for (const input of versions) input.value = form.elements.version.value;
});
for (const name of ["cms:saved", "cms:run-ended"]) document.addEventListener(name, refresh);
page.dataset.ready = "true";
