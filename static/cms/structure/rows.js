// A form whose rows are added, moved and removed. Every button sends the form, and the [data-swap] parts of the
// response replace those of the page, so that only the server renders rows. Every state is remembered until the user
// leaves the page, for Undo. Without this file the same buttons load the page.
//
//   attachRows(form, { name, read, attach, parts })
//
// `name` is the field that the rows are sent in, `read()` returns its value, and `parts` are the other parts that
// depend on the rows. `attach({ changed })` is called for each new list; code that moves rows itself calls `changed()`.
// Fields with data-part belong to rows and are not sent under their own names.

import { DelayedSearch } from "../fields/delayed_search.js";
import { fetchPage, notifyAdded, swap, watchFocus } from "../http.js";
import { sortable } from "../sorting/sorting.js";

/** Attach to a form whose rows are sortable cards. */
export function attachCards(form, settings) {
  attachRows(form, {
    ...settings,
    attach: ({ changed }) => {
      const list = form.querySelector("[data-cards]");
      for (const handle of list.querySelectorAll("[data-handle]")) handle.hidden = false;
      sortable(list, { item: "[data-card]", handle: "[data-handle]", onChange: changed });
    },
  });
}

const TYPING_PAUSE_MILLISECONDS = 200;

export function attachRows(form, { name, read, attach, parts = ["preview"] }) {
  const undo = form.querySelector("[data-undo]");
  const unsaved = form.querySelector("[data-unsaved]");
  const history = [];
  let isDirty = unsaved.textContent.trim() !== "";
  let current;
  let previewRequest; // aborts the latest preview or search request
  let queue = Promise.resolve(); // actions of buttons run one after the other
  let pendingActions = 0;
  let wantsUndo = false;
  let timer;

  function showStatus() {
    undo.disabled = history.length === 0 || pendingActions > 0;
    unsaved.textContent = isDirty ? unsaved.dataset.words : "";
  }

  /** Remember the previous state for Undo, if the rows have changed. */
  function saveState() {
    const next = read();
    if (next === current) return;
    history.push(current);
    current = next;
    isDirty = true;
    showStatus();
  }

  /** Send the form with `action` and swap in the given parts of the response. Returns false if aborted or failed. */
  async function fetchState(action, swapped, text = read(), signal = undefined) {
    const body = new FormData(form);
    body.set(name, text);
    body.set("do", action);
    try {
      const page = await fetchPage(form.action, { body, signal });
      // Logged out or deleted: saving loads a page that shows the problem.
      if (!page.querySelector("[data-rows]")) { form.requestSubmit(form.querySelector("[value=save]")); return false; }
      for (const part of swapped) {
        const [old, next] = [form, page].map((place) => place.querySelector(`[data-swap=${part}]`));
        swap(old, next);
      }
      if (swapped.includes("tree")) attachList();
      return true;
    } catch (error) {
      if (error.name === "AbortError") return false;
      form.requestSubmit(form.querySelector("[value=save]"));
      return false;
    }
  }

  function fetchPreview(action, swapped) {
    previewRequest?.abort();
    previewRequest = new AbortController();
    return fetchState(action, swapped, read(), previewRequest.signal);
  }

  function showLater() {
    clearTimeout(timer);
    timer = setTimeout(() => { if (pendingActions === 0) fetchPreview("preview", parts); }, TYPING_PAUSE_MILLISECONDS);
  }

  const found = form.querySelector("[data-search]");
  const search = new DelayedSearch(TYPING_PAUSE_MILLISECONDS, async (isCurrent) => {
    await queue;
    return isCurrent() && fetchPreview("search", [found.dataset.search]);
  });

  function attachList() {
    attach({ changed: () => { saveState(); showLater(); } });
    notifyAdded(form.querySelector("[data-swap=tree]"));
  }

  /** Run an action after the previous ones. */
  function enqueue(work) {
    clearTimeout(timer);
    previewRequest?.abort();
    pendingActions += 1;
    form.setAttribute("aria-busy", "true");
    showStatus();
    queue = queue.then(work).finally(() => {
      pendingActions -= 1;
      if (pendingActions === 0) form.removeAttribute("aria-busy");
      showStatus();
      // The remove button was removed with its row, so move the focus to Undo.
      if (wantsUndo && !undo.disabled) undo.focus();
      wantsUndo = false;
    });
  }

  async function press(action) {
    saveState();
    const isFocusFree = watchFocus();
    const sent = new Map([...form.querySelectorAll("[data-cleared]")].map((field) => [field, field.value]));
    if (!(await fetchState(action, ["tree", ...parts]))) return;
    saveState();
    form.querySelector("#rows-say").textContent = form.querySelector("[data-said]")?.textContent ?? "";
    wantsUndo = action.startsWith("remove");
    if (!action.startsWith("add") && !action.startsWith("copy")) return;
    // Text typed meanwhile belongs to the next row, so clear only fields whose text was sent.
    for (const [field, value] of sent) if (field.value === value) field.value = "";
    const opened = form.querySelector("[data-new] .tree-edit[open] :is(input, select, textarea):not([type=hidden])");
    if (!isFocusFree()) return;
    opened?.focus();
    form.querySelector("[data-new]")?.scrollIntoView({ block: "nearest" });
  }

  async function goBack() {
    const last = history.pop();
    if (last === undefined || !(await fetchState("preview", ["tree", ...parts], last))) return;
    current = read();
    if (history.length === 0) form.querySelector("[data-handle]")?.focus();
  }

  form.addEventListener("formdata", ({ formData }) => {
    for (const field of form.querySelectorAll("[data-part]")) formData.delete(field.name);
    formData.delete("row");
    formData.set(name, read());
  });
  form.addEventListener("submit", (event) => {
    const action = event.submitter?.value ?? "save";
    if (action === "save") { isDirty = false; return; }
    event.preventDefault();
    enqueue(() => press(action));
  });
  form.addEventListener("keydown", (event) => {
    // Enter in the field of a row must not save the form.
    if (event.key !== "Enter" || !event.target.matches("input[data-part], input[data-adds]")) return;
    event.preventDefault();
    const adds = event.target.dataset.adds;
    if (adds) enqueue(() => press(adds));
    else event.target.blur();
  });
  form.addEventListener("input", ({ target }) => {
    if (target.dataset.search) { search.plan(); return; }
    if (target.dataset.part) showLater();
    isDirty = true;
    showStatus();
  });
  form.addEventListener("change", ({ target }) => {
    if (target.dataset.shapes) enqueue(() => press("preview"));
    // A whole edit of a field is one state for Undo, not each letter.
    else if (target.dataset.part) saveState();
  });
  undo.addEventListener("click", () => enqueue(goBack));
  window.addEventListener("beforeunload", (event) => { if (isDirty) event.preventDefault(); });

  undo.hidden = false;
  attachList();
  current = read();
  return { search };
}
