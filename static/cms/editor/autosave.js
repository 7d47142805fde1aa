// Stores a draft copy: while the editor types, the form is sent to the server, where only that user can see it. It is
// offered when the user opens the form again, on any device, and deleted when the form is saved. Every open page has
// its own copy; a copy that a page was restored from is deleted with the first new copy that contains it.

import { fetchJson, untouchedEntries } from "../http.js";

const PAUSE_MILLISECONDS = 1_000;
const LONGEST_WAIT_MILLISECONDS = 10_000; // while the editor types without a pause
const RETRY_MILLISECONDS = 15_000;
const SEND_MILLISECONDS = 15_000; // limits how long a save waits for a copy in progress

/**
 * Start to store copies of a form, unless it has no address for them: a form that may only be viewed sends no fields,
 * so its copy would replace a good one by nothing. `isDirty()` returns whether there are unsaved changes; `onState` receives "pending",
 * "kept", "none" or "failed".
 */
export function startAutosave(form, { isDirty, onState = () => {} }) {
  const address = form.dataset.autosave;
  let planned;
  let waitsSince = 0;
  let sending = Promise.resolve();
  let isKept = false;
  let isCurrent = true;
  let revision = 0;

  function body(isDiscard) {
    const data = isDiscard ? new FormData() : new FormData(form);
    if (isDiscard) {
      data.append("copy", form.elements.copy.value);
      data.append("discard", "1");
    }
    data.delete("do");
    return data;
  }

  async function send() {
    clearTimeout(planned);
    planned = undefined;
    waitsSince = 0;
    const isDiscard = !isDirty();
    if (isDiscard && !isKept) {
      isCurrent = true;
      return;
    }
    const mine = revision;
    try {
      await fetchJson(address, { body: body(isDiscard), signal: AbortSignal.timeout(SEND_MILLISECONDS) });
      isKept = !isDiscard;
      isCurrent = mine === revision;
      onState(isKept ? "kept" : "none");
      form.dataset.kept = String(isKept);
      if (isKept) dropFollowed();
    } catch {
      onState("failed");
      planned ??= setTimeout(next, RETRY_MILLISECONDS);
    }
  }

  const dropFollowed = () => { for (const field of form.querySelectorAll('input[name="follows"]')) field.remove(); };

  // Send one at a time, so that an older copy never arrives after a newer one.
  function next() { sending = sending.then(send); }

  window.addEventListener("beforeunload", (event) => {
    if (!form.dataset.leaving && !isCurrent && isDirty()) event.preventDefault();
  });
  // A page that was hidden may be closed without another event.
  document.addEventListener("visibilitychange", () => { if (document.hidden && planned) next(); });

  return {
    plan() {
      if (!address || form.dataset.leaving) return;
      revision += 1;
      isCurrent = false;
      onState("pending");
      waitsSince ||= Date.now();
      clearTimeout(planned);
      const left = waitsSince + LONGEST_WAIT_MILLISECONDS - Date.now();
      planned = setTimeout(next, Math.max(0, Math.min(PAUSE_MILLISECONDS, left)));
    },
    /** Cancel the next copy, and wait for a copy in progress. */
    async stop() {
      clearTimeout(planned);
      planned = undefined;
      waitsSince = 0;
      await sending;
    },
    /** Send a copy now; resolves when it is stored or has failed. */
    async keep() {
      if (!address) return;
      next();
      await sending;
    },
    /** Reset the state after a save, with which the server has deleted the copy. */
    forget() {
      isKept = false;
      isCurrent = true;
      delete form.dataset.kept;
      dropFollowed();
    },
  };
}

// The form of a new post has no other editor scripts.
const small = document.querySelector("form[data-autosave-new]");
if (small) {
  const textOf = (entries) => JSON.stringify([...entries].filter(([name]) => name !== "csrfmiddlewaretoken"));
  const before = textOf(untouchedEntries(small));
  const isDirty = () => textOf(new FormData(small)) !== before || Boolean(small.dataset.sent);
  const state = document.querySelector("[data-copy-state]");
  const copies = startAutosave(small, { isDirty, onState: (name) => { state.textContent = state.dataset[name] ?? ""; } });
  small.addEventListener("input", () => copies.plan());
  // The user may have typed before this script was loaded.
  if (isDirty()) copies.plan();
  small.addEventListener("submit", () => { small.dataset.leaving = "true"; copies.stop(); });
}
