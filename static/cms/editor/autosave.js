// The draft copy: while somebody types, the form is sent to the server, where only they find it again. It is offered when
// they open the form the next time, on any machine, and goes once they save. Every page writes a copy of its own; one that
// it was restored from goes with the first that holds its content.

import { fetchJson, untouchedEntries } from "../http.js";

const PAUSE_MILLISECONDS = 1_000;
const LONGEST_WAIT_MILLISECONDS = 10_000; // while somebody types without a pause
const RETRY_MILLISECONDS = 15_000;
const SEND_MILLISECONDS = 15_000; // a save waits for the copy that is on its way

/** `onState` hears "pending", "kept" or "failed". `isDirty` says whether there is anything to keep. */
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

  // One after another: an older copy never arrives after a newer one.
  function next() { sending = sending.then(send); }

  window.addEventListener("beforeunload", (event) => {
    if (!form.dataset.leaving && !isCurrent && isDirty()) event.preventDefault();
  });
  // Whoever turns away from the page may not come back to it.
  document.addEventListener("visibilitychange", () => { if (document.hidden && planned) next(); });

  return {
    plan() {
      if (form.dataset.leaving) return;
      revision += 1;
      isCurrent = false;
      onState("pending");
      waitsSince ||= Date.now();
      clearTimeout(planned);
      const left = waitsSince + LONGEST_WAIT_MILLISECONDS - Date.now();
      planned = setTimeout(next, Math.max(0, Math.min(PAUSE_MILLISECONDS, left)));
    },
    /** Nothing is sent any more; resolves once what was on its way has arrived. */
    async stop() {
      clearTimeout(planned);
      planned = undefined;
      waitsSince = 0;
      await sending;
    },
    /** Send what is typed now; resolves once it has arrived or failed. */
    async keep() {
      next();
      await sending;
    },
    /** The server forgot the copy with the save. */
    forget() {
      isKept = false;
      isCurrent = true;
      delete form.dataset.kept;
      dropFollowed();
    },
  };
}

// The form of a new post has nothing but this to it.
const small = document.querySelector("form[data-autosave-new]");
if (small) {
  const textOf = (entries) => JSON.stringify([...entries].filter(([name]) => name !== "csrfmiddlewaretoken"));
  const before = textOf(untouchedEntries(small));
  const isDirty = () => textOf(new FormData(small)) !== before || Boolean(small.dataset.sent);
  const state = document.querySelector("[data-copy-state]");
  const copies = startAutosave(small, { isDirty, onState: (name) => { state.textContent = state.dataset[name] ?? ""; } });
  small.addEventListener("input", () => copies.plan());
  // Words may have been typed before this script was there.
  if (isDirty()) copies.plan();
  small.addEventListener("submit", () => { small.dataset.leaving = "true"; copies.stop(); });
}
