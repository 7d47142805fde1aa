// The rows of a brief: added and removed without loading the page, also by keys, and previewed while the user types.
// Without this file the same buttons load the page.

import { announce, notifyChanged } from "../http.js";
import "../structure/preview_form.js";

const form = document.querySelector("[data-brief]");
const unsaved = form.querySelector("[data-unsaved]");
const TEMPLATE_KEY = "new-row";
let isDirty = unsaved.textContent.trim() !== "";
let lastKey = 0;

function markUnsaved() {
  isDirty = true;
  unsaved.textContent = unsaved.dataset.words;
}

/** Return a new row of a list, with names of its own. */
function createRow(list) {
  lastKey += 1;
  const row = list.querySelector("[data-list-template]").content.cloneNode(true).querySelector("[data-row]");
  for (const element of row.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      if (value.includes(TEMPLATE_KEY)) element.setAttribute(name, value.replaceAll(TEMPLATE_KEY, `js${lastKey}`));
    }
  }
  return row;
}

const fieldsOf = (row) => [...row.querySelectorAll("input:not([type=hidden]), textarea")];
const isEmpty = (row) => fieldsOf(row).every((field) => (field.type === "checkbox" ? !field.checked : field.value.trim() === ""));

function attachList(list) {
  const rows = list.querySelector("[data-list-rows]");
  const add = list.querySelector("[data-add]");
  const restore = list.querySelector("[data-restore]");
  let removed = null; // the last removed row and the row that followed it

  function showAdd() {
    add.disabled = rows.children.length >= Number(list.dataset.most);
  }

  function changed() {
    showAdd();
    notifyChanged(add); // for the preview
  }

  function addRow(after) {
    if (add.disabled) return;
    const row = createRow(list);
    if (after) after.after(row);
    else rows.append(row);
    changed();
    fieldsOf(row)[0].focus();
  }

  function removeRow(row, near) {
    const wasEmpty = isEmpty(row);
    const beside = near ?? row.nextElementSibling ?? row.previousElementSibling;
    if (!wasEmpty) removed = { row, next: row.nextElementSibling };
    row.remove();
    restore.hidden = removed === null;
    changed();
    announce(list.dataset.saidRemoved);
    if (!wasEmpty) restore.focus();
    else if (beside) fieldsOf(beside)[0].focus();
    else add.focus();
  }

  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button === add) { event.preventDefault(); addRow(null); }
    if (button.hasAttribute("data-remove")) { event.preventDefault(); removeRow(button.closest("[data-row]")); }
    if (button !== restore || removed === null) return;
    if (removed.next?.parentNode === rows) removed.next.before(removed.row);
    else rows.append(removed.row);
    fieldsOf(removed.row)[0].focus();
    removed = null;
    restore.hidden = true;
    changed();
    announce(list.dataset.saidRestored);
  });

  list.addEventListener("keydown", (event) => {
    if (event.isComposing || !event.target.matches("input[type=text]")) return;
    const row = event.target.closest("[data-row]");
    if (event.key === "Enter") {
      // Enter in a row must not save the brief.
      event.preventDefault();
      if (!isEmpty(row)) addRow(row);
    } else if (event.key === "Backspace" && isEmpty(row) && row.previousElementSibling) {
      event.preventDefault();
      removeRow(row, row.previousElementSibling);
    }
  });
  showAdd();
}

for (const list of form.querySelectorAll("[data-list]")) attachList(list);
form.querySelector(".brief-rows [data-row] [name*='-added-']")?.closest("[data-row]").querySelector("input:not([type=hidden]), textarea")?.focus();
form.addEventListener("input", ({ target }) => { if (!target.name?.startsWith("preview")) markUnsaved(); });
form.addEventListener("submit", () => { isDirty = false; });
window.addEventListener("beforeunload", (event) => { if (isDirty) event.preventDefault(); });
