// Saving in place. The page says how many changes are not saved, when it saved, and why it could not. Whatever the server
// refuses is shown by the page that the server answers, as without scripts.

import { fetchJson } from "../http.js";
import { startAutosave } from "./autosave.js";

const PAUSE_MILLISECONDS = 200;
const LONGEST_WAIT_MILLISECONDS = 1_000; // while somebody types without a pause
const IGNORED = /^(csrfmiddlewaretoken|copy|follows|was|was_order|version|order|add|number|do|take\..*)$/;

const unitOf = (name) => {
  const parts = name.split(".");
  if (parts[0] !== "modules") return parts.slice(0, 2).join(".");
  return parts.slice(0, parts[1].startsWith("new-") ? 2 : 4).join(".");
};

function unitsOf(sent) {
  const units = new Map();
  for (const [name, value] of sent) {
    if (IGNORED.test(name) || value instanceof File) continue;
    // A second name of the same field, such as its document beside its Markdown; an empty one says nothing.
    if (name.includes("~") && value === "") continue;
    const unit = unitOf(name.replace(/~\w+$/, ""));
    units.set(unit, `${units.get(unit) ?? ""}\n${name}=${value}`);
  }
  return units;
}

const idsOf = (form, name) => new FormData(form).getAll(name).map((token) => token.split(":")[0]);
const isNew = (id) => id.startsWith("new-");

/** `changes.now()` answers the paths that differ; `changes.listen` is told of them after each. */
export function watchChanges(form) {
  const listeners = [];
  const typed = () => unitsOf(new FormData(form));
  const before = typed();
  let touched = new Set(JSON.parse(form.dataset.touched || "[]"));
  let planned;
  let waitsSince = 0;

  function now() {
    const [units, order, wasOrder] = [typed(), idsOf(form, "order"), idsOf(form, "was_order")];
    const moduleOf = (path) => (path.startsWith("modules.") ? path.split(".")[1] : "");
    const found = new Set([...touched].filter((path) => !isNew(moduleOf(path))));
    for (const path of new Set([...before.keys(), ...units.keys()])) {
      if (before.get(path) !== units.get(path)) found.add(path);
    }
    const removed = wasOrder.filter((id) => !order.includes(id));
    for (const path of found) if (moduleOf(path) && (isNew(moduleOf(path)) || removed.includes(moduleOf(path)))) found.delete(path);
    for (const id of order.filter(isNew)) found.add(`modules.${id}`);
    for (const id of removed) found.add(`modules.${id}`);
    const [one, other] = [order.filter((id) => wasOrder.includes(id)), wasOrder.filter((id) => order.includes(id))];
    if (one.join() !== other.join()) found.add("order");
    return found;
  }

  function tell() {
    clearTimeout(planned);
    waitsSince = 0;
    const found = now();
    const words = `${[...typed()].join("\n")}\n${idsOf(form, "order").join()}`;
    for (const listener of listeners) listener(found, words);
  }

  const changes = {
    now,
    listen(listener) { listeners.push(listener); },
    /** In a pause of the typing, or after a while without one: all of a long form is read for it. */
    plan() {
      waitsSince ||= Date.now();
      clearTimeout(planned);
      planned = setTimeout(tell, Math.max(0, Math.min(PAUSE_MILLISECONDS, waitsSince + LONGEST_WAIT_MILLISECONDS - Date.now())));
    },
    /** Fields that came to the page later stand as they came. */
    known(id) {
      for (const [path, value] of typed()) if (path.startsWith(`modules.${id}.`)) before.set(path, value);
    },
    /** What was sent is what stands. */
    settle(sent) {
      before.clear();
      for (const [path, value] of unitsOf(sent)) before.set(path, value);
      touched = new Set();
      tell();
    },
  };
  for (const name of ["input", "change"]) form.addEventListener(name, changes.plan);
  changes.plan();
  return changes;
}

export function startSaving(form, changes, place) {
  const header = document.querySelector("[data-editor-header]");
  const state = header.querySelector("[data-save-state]");
  let number = 0;
  let savedAt = Date.parse(state.dataset.savedAt);
  let problem = "";
  let isSaving = false;
  let copy = "";
  let typed = "";
  const copies = startAutosave(form, { isDirty: () => changes.now().size > 0, onState(name) { copy = name; show(); } });

  function show() {
    const words = state.dataset;
    let text = "";
    if (isSaving) text = words.saving;
    else if (problem) text = words[problem];
    else if (number) text = unsaved(words);
    else if (savedAt) text = ago();
    if (state.textContent !== text) state.textContent = text;
    for (const part of document.querySelectorAll("[data-when]")) part.hidden = (part.dataset.when === "dirty") !== number > 0;
    for (const button of header.querySelectorAll("[data-needs-changes]")) button.disabled = number === 0;
    state.dataset.state = isSaving ? "saving" : problem ? "failed" : number ? "dirty" : "clean";
  }

  function unsaved(words) {
    const text = number === 1 ? words.one : words.many.replace("{n}", String(number));
    const more = { kept: words.copyKept, failed: words.copyFailed }[copy];
    return more ? `${text} · ${more}` : text;
  }

  function ago() {
    const minutes = Math.floor((Date.now() - savedAt) / 60_000);
    if (minutes < 1) return state.dataset.saved;
    const [amount, unit] = minutes < 60 ? [minutes, "minute"] : minutes < 1440 ? [Math.floor(minutes / 60), "hour"] : [Math.floor(minutes / 1440), "day"];
    const words = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" }).format(-amount, unit);
    return state.dataset.savedAgo.replace("{when}", words);
  }
  setInterval(show, 30_000);

  changes.listen((found, words) => {
    number = found.size;
    if (number) problem = "";
    // The first time there may be something to keep already: what a refused save brought back, or what was typed at once.
    if ((typed ? typed !== words : number > 0) && !isSaving) copies.plan();
    typed = words;
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
    try {
      return saved(await fetchJson(form.action, { body }), body);
    } catch ({ reason }) {
      if (reason === "conflict" || reason === "invalid") return refused(button);
      problem = reason === "signed-out" || reason === "forbidden" ? "loggedOut" : "failed";
    } finally {
      isSaving = false;
      show();
    }
  }

  function saved(answer, body) {
    // Where somebody typed on while it was saved, the page stays as well: only what was sent is settled.
    if (!answer.stays) return leave(answer.url);
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

  // The server's page with its sentences beside the fields.
  function refused(button) {
    form.dataset.leaving = "true";
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
  /** Save as the header offers it; what waits for a review only where nothing else can be saved. */
  function saveByKey() {
    number = changes.now().size;
    show();
    const button = ["save", "save-review"].map((value) => header.querySelector(`button[name="do"][value="${value}"]`)).find(Boolean);
    if (button && !button.disabled) form.requestSubmit(button);
  }
  return { save: saveByKey };
}
