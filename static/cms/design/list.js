// Lists: filtering while the user types, the keys j, k, x and arrows, the checkbox for all rows, ranges with Shift, the
// number of selected rows, and column names beside the cells on a phone.

import { swap } from "../http.js";
import { attachLiveSearch } from "./live_search.js";

const form = document.querySelector("[data-list]");
let rows = [];
let show = () => {};

/** Attach to the rows of the list, which a search replaces. */
function attachRows() {
  const table = form?.querySelector("#result_list");
  rows = [...(table?.tBodies[0]?.rows ?? [])];
  show = table ? attachSelection(table) : () => {};
  const names = [...(table?.tHead?.rows[0]?.cells ?? [])].map((cell) =>
    cell.classList.contains("action-checkbox-column") ? "" : (cell.querySelector("a")?.firstChild ?? cell.firstChild)?.textContent.trim() ?? "",
  );
  for (const row of rows) {
    [...row.cells].forEach((cell, place) => {
      if (cell.tagName === "TD" && names[place]) cell.dataset.label = names[place];
    });
  }
}

/** Return a function that shows what is selected. */
function attachSelection(table) {
  const boxes = [...table.querySelectorAll("input.action-select")];
  const every = table.querySelector("#action-toggle");
  const count = form.querySelector("[data-selected]");
  const across = form.querySelector("[data-across]");
  const acrossButton = form.querySelector("[data-select-across]");
  let last = null;
  let isRange = false;
  if (!boxes.length) return () => {};

  function showSelection() {
    const number = boxes.filter((box) => box.checked).length;
    for (const box of boxes) box.closest("tr").classList.toggle("selected", box.checked);
    if (every) {
      every.checked = number > 0 && number === boxes.length;
      every.indeterminate = number > 0 && number < boxes.length;
    }
    if (!count) return;
    if (number < boxes.length) across.value = "0";
    const isAcross = across.value === "1";
    count.textContent = isAcross ? acrossButton.dataset.all
      : number === 1 ? count.dataset.one : count.dataset.many.replace("{number}", number);
    const chosen = isAcross ? Number(form.querySelector("[name=across_count]").value) : number;
    for (const button of form.querySelectorAll("[data-counted]")) {
      if (chosen) button.textContent = button.dataset.counted.replace("{number}", chosen.toLocaleString(document.documentElement.lang));
    }
    if (acrossButton) acrossButton.hidden = isAcross || number < boxes.length;
  }

  function select(box) {
    const [from, to] = [boxes.indexOf(isRange && last ? last : box), boxes.indexOf(box)].sort((one, other) => one - other);
    for (const each of boxes.slice(from, to + 1)) each.checked = box.checked;
    last = box;
    showSelection();
  }

  table.addEventListener("click", (event) => { isRange = event.shiftKey; }, true);
  table.addEventListener("change", ({ target }) => {
    if (target === every) {
      for (const box of boxes) box.checked = every.checked;
      showSelection();
    } else if (boxes.includes(target)) select(target);
  });
  acrossButton?.addEventListener("click", () => {
    across.value = "1";
    showSelection();
  });
  showSelection();
  return showSelection;
}

attachRows();
// When the user goes back, the browser restores the checkboxes without an event.
addEventListener("pageshow", () => show());

const searchForm = document.querySelector("[data-live-search]");
if (searchForm && form) {
  attachLiveSearch(searchForm, (page) => {
    for (const part of document.querySelectorAll("[data-list-part]")) {
      swap(part, page.querySelector(`[data-list-part="${part.dataset.listPart}"]`));
    }
    attachRows();
    return searchForm.querySelector("[data-list-part=count]").textContent.trim();
  });
}

// j and k, and arrows within the list, move between rows; x selects. Enter needs no code: the row's link has the focus.
const TYPED = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

document.addEventListener("keydown", (event) => {
  if (!rows.length || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.target.closest?.(TYPED) || document.querySelector("dialog[open], details[data-menu][open]")) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const isLetter = event.key.length === 1;
  if (isLetter && document.documentElement.dataset.letterKeys === "off") return;
  const step = { j: 1, k: -1, ...(at < 0 ? {} : { ArrowDown: 1, ArrowUp: -1 }) }[event.key];
  if (step) {
    const row = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)];
    (row.querySelector("th a") ?? row.querySelector("a, input"))?.focus();
    row.scrollIntoView({ block: "nearest" });
  } else if (event.key === "x" && at >= 0 && rows[at].querySelector("input.action-select")) {
    rows[at].querySelector("input.action-select").click();
  } else return;
  event.preventDefault();
});
