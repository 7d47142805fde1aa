// Adds keyboard shortcuts and live counts to the inbox, which without this file is a form of radio groups.
// live.js may replace the list at any time, so elements are looked up for each event and never stored.

import { currentRow, listRows, moveFocus, isTyping } from "./row_keys.js";

const undo = [];
let last = "";
const form = () => document.querySelector("[data-inbox]");
// A change that must be opened to be accepted has only a checkbox to reject it, and no radio buttons.
const radio = (line, value) => line.querySelector(`.decide input[value=${value}]`);
const decisionOf = (line) => line.querySelector(".decide input:checked")?.value ?? "";

function say(text) {
  document.querySelector("[data-said]").textContent = text;
}

function show() {
  const bar = form()?.querySelector("[data-bar]");
  if (!bar) return;
  const counts = { submit: 0, live: 0, approve: 0, reject: 0 };
  for (const line of listRows(form())) {
    const decision = decisionOf(line);
    // An approved change of a draft goes live only when the draft is published.
    const accepted = line.dataset.layer !== "review" ? "submit" : "unpublished" in line.dataset ? "approve" : "live";
    if (decision === "accept") counts[accepted] += 1;
    if (decision === "reject") counts.reject += 1;
  }
  const all = counts.submit + counts.live + counts.approve + counts.reject;
  for (const [name, number] of Object.entries(counts)) {
    const place = bar.querySelector(`[data-count=${name}]`);
    place.textContent = number;
    place.parentElement.toggleAttribute("data-zero", !number);
  }
  bar.querySelector("[data-counts]").hidden = !all;
  bar.querySelector("[data-count=all]").textContent = all ? `(${all})` : "";
  bar.querySelector("[data-apply]").disabled = !all;
}

function mark(line, value, { remember = true } = {}) {
  const words = form().dataset;
  if (value === "accept" && !radio(line, "accept")) {
    // The focus shows sighted users the link to open.
    line.querySelector(".wait-open")?.focus();
    return say(words.saidOpen);
  }
  const button = radio(line, value || "leave") ?? radio(line, "reject");
  if (!button || button.disabled) return;
  if (remember) undo.push([button.name, decisionOf(line)]);
  // "leave" is stored as nothing checked, because live.js does not refresh a list with checked inputs.
  button.checked = value !== "leave" && value !== "";
  if (!button.checked) for (const other of line.querySelectorAll(".decide input")) other.checked = false;
  show();
  say(words[{ accept: "saidAccept", reject: "saidReject" }[value] ?? "saidLeave"]);
  if (remember && value !== "leave") moveFocus(form(), 1);
}

function takeBack() {
  const [name, value] = undo.pop() ?? [];
  const line = name && form().querySelector(`input[name="${CSS.escape(name)}"]`)?.closest("[data-wait]");
  if (!line) return;
  mark(line, value, { remember: false });
  line.focus();
  say(form().dataset.saidUndone);
}

function key(event) {
  if (!form()) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    const apply = form().querySelector("[data-apply]");
    if (!apply || apply.disabled) return;
    event.preventDefault();
    form().requestSubmit(apply);
    return;
  }
  if (isTyping(event)) return;
  const line = currentRow(form());
  const keys = {
    j: () => moveFocus(form(), 1),
    k: () => moveFocus(form(), -1),
    a: () => line && mark(line, "accept"),
    x: () => line && mark(line, "reject"),
    l: () => line && mark(line, "leave"),
    u: takeBack,
    o: () => line?.querySelector("[data-open]").click(),
    s: () => document.querySelector(".alike a")?.click(),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}

document.addEventListener("keydown", key);
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-filters] select")) event.target.form.requestSubmit();
  if (event.target.matches("[data-wait] input[value=leave]")) event.target.checked = false;
  if (event.target.matches("[data-wait] .decide input")) show();
});
// Enter in the note would submit the form; decisions must be deliberate.
document.addEventListener("keydown", (event) => {
  const isPlain = event.key === "Enter" && !event.ctrlKey && !event.metaKey;
  if (event.target.id === "note" && isPlain) event.preventDefault();
});
// Restore the keyboard focus when live.js replaces the list.
document.addEventListener("focusin", (event) => { last = event.target.closest("[data-wait]")?.id ?? ""; });
new MutationObserver(() => {
  if (last && document.activeElement === document.body) document.getElementById(last)?.focus({ preventScroll: true });
  show();
}).observe(document.getElementById("entries"), { childList: true });
// When the user goes back, the browser restores the radio buttons without an event.
window.addEventListener("pageshow", show);
document.querySelector("[data-filters] button")?.classList.add("visually-hidden");
show();
