// Saves the form in place. The page shows the number of unsaved changes, the time of the last save, and why a save
// failed. If the server refuses the form, its own page shows the errors, as without scripts.

import { fetchJson, untouchedEntries } from "../http.js";
import { startAutosave } from "./autosave.js";

const PAUSE_MILLISECONDS = 200;
const LONGEST_WAIT_MILLISECONDS = 1_000; // while the editor types without a pause
const IGNORED = /^(csrfmiddlewaretoken|copy|follows|was|was_order|sources|version|order|add|number|do|take\..*)$/;

const unitOf = (name) => {
  const parts = name.split(".");
  if (parts[0] !== "modules") return parts.slice(0, 2).join(".");
  return parts.slice(0, parts[1].startsWith("new-") ? 2 : 4).join(".");
};

const partOf = (unit) => (unit.startsWith("modules.") ? unit.split(".")[1] : "");

/** Return the entries of a form grouped by module id, with "" for fields outside modules. */
function partsOf(sent) {
  const parts = new Map();
  for (const [name, value] of sent) {
    if (IGNORED.test(name) || value instanceof File) continue;
    // `name~doc` holds the same field in another form, such as a document beside its Markdown. Empty means unchanged.
    if (name.includes("~") && value === "") continue;
    const unit = unitOf(name.replace(/~\w+$/, ""));
    const part = partOf(unit);
    if (!parts.has(part)) parts.set(part, new Map());
    const units = parts.get(part);
    units.set(unit, `${units.get(unit) ?? ""}\n${name}=${value}`);
  }
  return parts;
}

const SENDS_NOTHING = ["button", "file", "image", "reset", "submit"];

/** Return the entries of one module's fields, the same as in FormData of the whole form. */
function entriesIn(card, form) {
  const entries = [];
  for (const field of card.querySelectorAll("input[name], textarea[name], select[name]")) {
    if (field.form !== form || SENDS_NOTHING.includes(field.type) || field.matches(":disabled")) continue;
    if (field instanceof HTMLSelectElement) {
      for (const option of field.selectedOptions) if (!option.disabled) entries.push([field.name, option.value]);
    } else if (!["checkbox", "radio"].includes(field.type) || field.checked) entries.push([field.name, field.value]);
  }
  return entries;
}

const isNew = (id) => id.startsWith("new-");
const NOTHING = new Map();
const SAVE_MILLISECONDS = 60_000;
const textOf = (units) => [...units].join("\n");

/** Block all input with a modal dialog. Returns a function that removes it, which restores the focus. */
function blockInput(text) {
  const dialog = document.createElement("dialog");
  dialog.className = "saving-hold";
  dialog.textContent = text;
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  document.body.append(dialog);
  dialog.showModal();
  return () => {
    dialog.close();
    dialog.remove();
  };
}

/** Return whether two forms have the same entries, apart from the button. */
function sameEntries(one, other) {
  const text = (data) => JSON.stringify([...data].filter(([name]) => name !== "do"));
  return text(one) === text(other);
}

/**
 * Track the unsaved changes of a form. `changes.now()` returns the changed paths; listeners of `changes.listen` receive
 * them when the editor pauses, with a revision that increases with every change. While the editor types, only the
 * fields of that module are read, because a post may have a hundred modules.
 */
export function watchChanges(form) {
  const listeners = [];
  let before = partsOf(untouchedEntries(form));
  let typed = partsOf(new FormData(form));
  let orders = [[], []];
  const differing = new Map();
  let touched = new Set(JSON.parse(form.dataset.touched || "[]"));
  let stale = null; // modules to read again; null for the whole form
  let revision = 1;
  let planned;
  let waitsSince = 0;

  const idsOf = (data, name) => data.getAll(name).map((token) => token.split(":")[0]);

  const unitsIn = (card) => partsOf(entriesIn(card, form)).get(card.dataset.module) ?? NOTHING;

  function compare(part) {
    const [savedUnits, typedUnits] = [before.get(part) ?? NOTHING, typed.get(part) ?? NOTHING];
    const paths = [...new Set([...savedUnits.keys(), ...typedUnits.keys()])].filter((path) => savedUnits.get(path) !== typedUnits.get(path));
    if (paths.length) differing.set(part, paths);
    else differing.delete(part);
  }

  function update(part, units) {
    if (textOf(typed.get(part) ?? NOTHING) !== textOf(units)) revision += 1;
    typed.set(part, units);
    compare(part);
  }

  function readAll() {
    const data = new FormData(form);
    const parts = partsOf(data);
    for (const part of new Set([...before.keys(), ...typed.keys(), ...parts.keys()])) update(part, parts.get(part) ?? NOTHING);
    const found = [idsOf(data, "order"), idsOf(data, "was_order")];
    if (found[0].join() !== orders[0].join()) revision += 1;
    orders = found;
  }

  function found() {
    const [order, wasOrder] = orders;
    const [currentIds, savedIds] = [new Set(order), new Set(wasOrder)];
    const paths = new Set([...touched].filter((path) => !isNew(partOf(path))));
    for (const some of differing.values()) for (const path of some) paths.add(path);
    const removed = wasOrder.filter((id) => !currentIds.has(id));
    const removedIds = new Set(removed);
    for (const path of paths) if (isNew(partOf(path)) || removedIds.has(partOf(path))) paths.delete(path);
    for (const id of [...order.filter(isNew), ...removed]) paths.add(`modules.${id}`);
    const remaining = wasOrder.filter((id) => currentIds.has(id));
    if (order.filter((id) => savedIds.has(id)).join() !== remaining.join()) paths.add("order");
    return paths;
  }

  function now() {
    readAll();
    stale = new Set();
    return found();
  }

  function notifyListeners() {
    clearTimeout(planned);
    waitsSince = 0;
    if (stale === null) readAll();
    else for (const card of stale) update(card.dataset.module, unitsIn(card));
    stale = new Set();
    const paths = found();
    for (const listener of listeners) listener(paths, revision);
  }

  function schedule() {
    waitsSince ||= Date.now();
    clearTimeout(planned);
    planned = setTimeout(notifyListeners, Math.max(0, Math.min(PAUSE_MILLISECONDS, waitsSince + LONGEST_WAIT_MILLISECONDS - Date.now())));
  }

  const changes = {
    now,
    revision: () => revision,
    listen(listener) { listeners.push(listener); },
    /** Schedule a reading of the whole form. */
    plan() {
      stale = null;
      schedule();
    },
    /** Register the fields of a card that was loaded later as unchanged. */
    known(card) {
      const [part, units] = [card.dataset.module, unitsIn(card)];
      before.set(part, new Map([...(before.get(part) ?? NOTHING), ...units]));
      typed.set(part, units);
      compare(part);
    },
    /** Register the entries that were sent as saved. */
    settle(data) {
      before = partsOf(data);
      touched = new Set();
      stale = null;
      notifyListeners();
    },
  };
  for (const name of ["input", "change"]) {
    form.addEventListener(name, ({ target }) => {
      const card = target.closest("[data-module]");
      if (card && form.contains(card)) stale?.add(card);
      else stale = null;
      schedule();
    });
  }
  changes.plan();
  return changes;
}

export function startSaving(form, changes, place) {
  const header = document.querySelector("[data-editor-header]");
  const state = header.querySelector("[data-save-state]");
  const refusal = header.querySelector("[data-save-problem]");
  let number = 0;
  let savedAt = Date.parse(state.dataset.savedAt);
  let problem = "";
  let problemRevision = 0; // revision of the form when the problem occurred
  let isSaving = false;
  let copy = "";
  let typed = 0;
  const copies = startAutosave(form, { isDirty: () => number > 0, onState(name) { copy = name; show(); } });

  function show() {
    const words = state.dataset;
    let text = "";
    if (isSaving) text = words.saving;
    else if (number) text = unsaved(words);
    else if (savedAt) text = timeSinceSave();
    if (state.textContent !== text) state.textContent = text;
    refusal.hidden = !problem;
    refusal.querySelector("[data-said]").textContent = problem ? refusal.dataset[problem] : "";
    refusal.querySelector("[data-login]").hidden = problem !== "loggedOut";
    for (const part of document.querySelectorAll("[data-when]")) part.hidden = (part.dataset.when === "dirty") !== number > 0;
    for (const button of header.querySelectorAll("[data-needs-changes]")) button.disabled = number === 0;
    state.dataset.state = isSaving ? "saving" : problem ? "failed" : number ? "dirty" : "clean";
  }

  function unsaved(words) {
    const text = number === 1 ? words.one : words.many.replace("{n}", String(number));
    const copyState = problem ? "" : { kept: words.copyKept, failed: words.copyFailed }[copy];
    return copyState ? `${text} · ${copyState}` : text;
  }

  function timeSinceSave() {
    const minutes = Math.floor((Date.now() - savedAt) / 60_000);
    if (minutes < 1) return state.dataset.saved;
    const [amount, unit] = minutes < 60 ? [minutes, "minute"] : minutes < 1440 ? [Math.floor(minutes / 60), "hour"] : [Math.floor(minutes / 1440), "day"];
    const words = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" }).format(-amount, unit);
    return state.dataset.savedAgo.replace("{when}", words);
  }
  setInterval(show, 30_000);

  changes.listen((found, revision) => {
    number = found.size;
    // Pressing a button causes a change event in the field that loses the focus, without a new revision.
    if (revision !== problemRevision) problem = "";
    // The first time there may already be changes: from a refused save, or typed before this script was loaded.
    if ((typed ? typed !== revision : number > 0) && !isSaving) copies.plan();
    typed = revision;
    show();
  });

  const leave = (url) => {
    form.dataset.leaving = "true";
    place.keep();
    location.assign(url);
  };

  async function save(button) {
    if (isSaving) return;
    isSaving = true;
    problem = "";
    show();
    await copies.stop();
    const body = new FormData(form, button);
    // After saving new modules the page reloads with their ids. A draft copy of text typed meanwhile would add the
    // modules a second time, so block typing.
    const unblock = body.getAll("order").some(isNew) ? blockInput(state.dataset.saving) : () => {};
    try {
      const answer = await fetchJson(form.action, { body, signal: AbortSignal.timeout(SAVE_MILLISECONDS) });
      unblock();
      return await applySaved(answer, body);
    } catch ({ reason }) {
      if (reason === "conflict" || reason === "invalid") {
        // The page that answers may not have the fields: somebody may have locked the post.
        await copies.keep();
        return submitForm(button);
      }
      number = changes.now().size;
      problem = reason === "signed-out" || reason === "forbidden" ? "loggedOut" : "failed";
      unblock();
      problemRevision = changes.revision();
      copies.plan();
    } finally {
      isSaving = false;
      show();
    }
  }

  async function applySaved(answer, body) {
    if (!answer.stays) {
      // Text typed during the save is stored as a copy, which the next page offers.
      if (!sameEntries(body, new FormData(form))) await copies.keep();
      return leave(answer.url);
    }
    // The page stays open, and text typed during the save remains unsaved.
    form.elements.version.value = String(answer.version);
    for (const input of form.querySelectorAll('input[name="was"]')) {
      const own = JSON.parse(input.value);
      for (const path of Object.keys(own)) if (path in answer.was) own[path] = answer.was[path];
      input.value = JSON.stringify(own);
    }
    const order = form.querySelectorAll('input[name="was_order"]');
    answer.order.forEach((id, at) => { if (order[at]) order[at].value = id; });
    for (let at = answer.order.length; at < order.length; at += 1) order[at].remove();
    for (const card of form.querySelectorAll("[data-module][data-removed]")) card.remove();
    savedAt = Date.now();
    showAddress(answer);
    copies.forget();
    changes.settle(body);
    if (changes.now().size) copies.plan();
    document.dispatchEvent(new CustomEvent("cms:saved", { detail: { postId: form.dataset.post } }));
    return undefined;
  }

  function showAddress({ path, notice }) {
    const place = header.querySelector("[data-path]");
    if (place) place.textContent = path;
    const preview = form.querySelector("[data-search-preview]");
    if (preview) preview.dataset.path = path;
    const line = form.querySelector("[data-address-notice]");
    line.hidden = !notice;
    line.textContent = notice;
  }

  // Send the form the ordinary way: the server's page shows the errors beside the fields.
  function submitForm(button) {
    form.dataset.leaving = "true";
    // submit() skips the submit handler below, but also leaves out the button, so add its value as a field.
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = "do";
    field.value = button.value;
    form.append(field);
    form.submit();
  }

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button?.hasAttribute("data-save")) {
      form.dataset.leaving = "true";
      return;
    }
    event.preventDefault();
    save(button);
  });

  show();
  /** Press the save button of the header, or the button that saves for review if there is no other. */
  function saveByKey() {
    number = changes.now().size;
    show();
    const button = [header.dataset.keyAction, "save", "save-review"].map((value) => header.querySelector(`button[name="do"][value="${value}"]`)).find(Boolean);
    if (button && !button.disabled) form.requestSubmit(button);
  }
  return { save: saveByKey };
}
