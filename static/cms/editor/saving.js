// Saving in place: the page says how many changes wait, when it saved, and why it could not. Whatever the server
// refuses is shown by the server's own page, as without scripts.

import { fetchJson } from "../http.js";

const SAVES = ["save", "save-review"];

export function startSaving(form, changes, draft, place) {
  const state = form.querySelector("[data-save-state]");
  let number = 0;
  let savedAt = 0;
  let problem = "";
  let isSaving = false;

  function show() {
    if (!state) return;
    const words = state.dataset;
    let text = words.none;
    if (isSaving) text = words.saving;
    else if (problem) text = words[problem];
    else if (number) text = number === 1 ? words.one : words.many.replace("{n}", String(number));
    else if (savedAt) text = ago();
    if (state.textContent !== text) state.textContent = text;
    state.dataset.state = isSaving ? "saving" : problem ? "failed" : number ? "dirty" : "clean";
  }

  function ago() {
    const minutes = Math.floor((Date.now() - savedAt) / 60_000);
    if (minutes < 1) return state.dataset.saved;
    const words = new Intl.RelativeTimeFormat(document.documentElement.lang || "en").format(-minutes, "minute");
    return state.dataset.savedAgo.replace("{when}", words);
  }
  setInterval(show, 30_000);

  changes.listen((found) => { number = found.size; if (number) problem = ""; show(); });
  window.addEventListener("beforeunload", (event) => {
    if (!form.dataset.leaving && changes.now().size) event.preventDefault();
  });

  const leave = (url) => {
    form.dataset.leaving = "true";
    draft.clear();
    place.keep();
    location.assign(url);
  };

  async function save(button) {
    if (isSaving) return;
    isSaving = true;
    problem = "";
    show();
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
    changes.settle(body);
    draft.again();
    document.dispatchEvent(new CustomEvent("cms:saved", { detail: { postId: form.dataset.post } }));
    return undefined;
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
    if (!button || !SAVES.includes(button.value)) {
      form.dataset.leaving = "true";
      return;
    }
    event.preventDefault();
    save(button);
  });

  show();
  const press = (value) => {
    const button = form.querySelector(`button[name="do"][value="${value}"]`);
    if (button) form.requestSubmit(button);
    return Boolean(button);
  };
  return { save: () => press("save") || press("save-review"), saveToReview: () => press("save-review") };
}
