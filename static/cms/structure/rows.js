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
  const before = [];
  let isDirty = unsaved.textContent.trim() !== "";
  let now;
  let looking; // aborts the latest preview or search request
  let acting = Promise.resolve(); // actions of buttons run one after the other
  let acts = 0;
  let wantsUndo = false;
  let timer;

  function mark() {
    undo.disabled = before.length === 0 || acts > 0;
    unsaved.textContent = isDirty ? unsaved.dataset.words : "";
  }

  /** Remember the previous state for Undo, if the rows have changed. */
  function keep() {
    const next = read();
    if (next === now) return;
    before.push(now);
    now = next;
    isDirty = true;
    mark();
  }

  /** Send the form with `action` and swap in the given parts of the response. Returns false if aborted or failed. */
  async function ask(action, swapped, text = read(), signal = undefined) {
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
      if (swapped.includes("tree")) attached();
      return true;
    } catch (error) {
      if (error.name === "AbortError") return false;
      form.requestSubmit(form.querySelector("[value=save]"));
      return false;
    }
  }

  function look(action, swapped) {
    looking?.abort();
    looking = new AbortController();
    return ask(action, swapped, read(), looking.signal);
  }

  function showLater() {
    clearTimeout(timer);
    timer = setTimeout(() => { if (acts === 0) look("preview", parts); }, TYPING_PAUSE_MILLISECONDS);
  }

  const found = form.querySelector("[data-search]");
  const search = new DelayedSearch(TYPING_PAUSE_MILLISECONDS, async (isCurrent) => {
    await acting;
    return isCurrent() && look("search", [found.dataset.search]);
  });

  function attached() {
    attach({ changed: () => { keep(); showLater(); } });
    notifyAdded(form.querySelector("[data-swap=tree]"));
  }

  /** Run an action after the previous ones. */
  function act(work) {
    clearTimeout(timer);
    looking?.abort();
    acts += 1;
    form.setAttribute("aria-busy", "true");
    mark();
    acting = acting.then(work).finally(() => {
      acts -= 1;
      if (acts === 0) form.removeAttribute("aria-busy");
      mark();
      // The remove button was removed with its row, so move the focus to Undo.
      if (wantsUndo && !undo.disabled) undo.focus();
      wantsUndo = false;
    });
  }

  async function press(action) {
    keep();
    const isFocusFree = watchFocus();
    const sent = new Map([...form.querySelectorAll("[data-cleared]")].map((field) => [field, field.value]));
    if (!(await ask(action, ["tree", ...parts]))) return;
    keep();
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
    const last = before.pop();
    if (last === undefined || !(await ask("preview", ["tree", ...parts], last))) return;
    now = read();
    if (before.length === 0) form.querySelector("[data-handle]")?.focus();
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
    act(() => press(action));
  });
  form.addEventListener("keydown", (event) => {
    // Enter in the field of a row must not save the form.
    if (event.key !== "Enter" || !event.target.matches("input[data-part], input[data-adds]")) return;
    event.preventDefault();
    const adds = event.target.dataset.adds;
    if (adds) act(() => press(adds));
    else event.target.blur();
  });
  form.addEventListener("input", ({ target }) => {
    if (target.dataset.search) { search.plan(); return; }
    if (target.dataset.part) showLater();
    isDirty = true;
    mark();
  });
  form.addEventListener("change", ({ target }) => {
    if (target.dataset.shapes) act(() => press("preview"));
    // A whole edit of a field is one state for Undo, not each letter.
    else if (target.dataset.part) keep();
  });
  undo.addEventListener("click", () => act(goBack));
  window.addEventListener("beforeunload", (event) => { if (isDirty) event.preventDefault(); });

  undo.hidden = false;
  attached();
  now = read();
  return { search };
}
