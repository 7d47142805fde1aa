// What is typed and not saved, kept in this browser: after a crash or a closed window it is offered again. What holds
// a password or a token is never kept.

const MAX_CHARACTERS = 500_000; // of one form
const MAX_FORMS = 20;
const MAX_AGE_DAYS = 14;
const PREFIX = "cms:typed:";
const SECRET = /csrf|password|token/i;

const read = (key) => {
  try {
    const found = JSON.parse(localStorage.getItem(key));
    const isPair = (one) => Array.isArray(one) && one.length === 2 && one.every((part) => typeof part === "string");
    return found && Array.isArray(found.entries) && found.entries.every(isPair) ? found : undefined;
  } catch {
    return undefined;
  }
};

/** Old ones go, and the oldest where there are many. */
function prune() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  const found = keys.map((key) => [key, read(key)?.at ?? 0]).sort(([, one], [, other]) => other - one);
  found.forEach(([key, at], place) => {
    if (place >= MAX_FORMS || at < Date.now() - MAX_AGE_DAYS * 86_400_000) localStorage.removeItem(key);
  });
}

export function startDraft(form, changes) {
  const key = `${PREFIX}${form.dataset.user}:${form.dataset.post}:${form.dataset.layer || "source"}`;
  let planned;
  let isOver = false;

  function keep(found) {
    clearTimeout(planned);
    // What is saved is forgotten at once: whoever leaves right then is offered nothing.
    planned = setTimeout(() => {
      if (isOver) return;
      try {
        if (!found.size) return localStorage.removeItem(key);
        const entries = [...new FormData(form)].filter(([name, value]) => typeof value === "string" && !SECRET.test(name));
        const text = JSON.stringify({ at: Date.now(), entries });
        if (text.length <= MAX_CHARACTERS) localStorage.setItem(key, text);
        form.dataset.kept = String(found.size);
      } catch {
        prune();
      }
    }, found.size ? 500 : 0);
  }

  const before = form.dataset.sent ? undefined : read(key);
  try {
    prune();
    // What is typed now has a place of its own until somebody has decided about this.
    if (before) {
      localStorage.setItem(`${key}:before`, JSON.stringify(before));
      localStorage.removeItem(key);
    }
  } catch { /* no store, nothing kept */ }
  changes.listen(keep);
  const older = before ?? (form.dataset.sent ? undefined : read(`${key}:before`));
  if (older) offer(older);

  function offer(found) {
    const bar = document.querySelector("template[data-draft]")?.content.firstElementChild.cloneNode(true);
    if (!bar) return;
    const when = new Date(found.at);
    bar.querySelector("[data-when]").textContent = when.toLocaleString(document.documentElement.lang || undefined, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC", hourCycle: "h23" });
    const versionOf = found.entries.find(([name]) => name === "version")?.[1];
    bar.querySelector("[data-moved]").hidden = versionOf === form.elements.version.value;
    bar.addEventListener("click", (event) => {
      const verb = event.target.closest("button")?.dataset.do;
      if (!verb) return;
      if (verb === "drop") {
        localStorage.removeItem(`${key}:before`);
        bar.remove();
        form.querySelector("summary")?.focus();
      } else send(found, verb);
    });
    // Beside the form it would take its column.
    form.parentElement.before(bar);
  }

  // The server puts it over what stands now, field by field.
  function send(found, verb) {
    isOver = true;
    localStorage.removeItem(`${key}:before`);
    localStorage.setItem(key, JSON.stringify(found));
    const sender = document.createElement("form");
    sender.method = "post";
    sender.action = form.action;
    const entries = [...found.entries.filter(([name]) => name !== "do"), ["do", verb], ["csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value]];
    for (const [name, value] of entries) {
      const field = sender.appendChild(document.createElement("textarea"));
      field.name = name;
      field.value = value;
    }
    sender.hidden = true;
    document.body.append(sender);
    form.dataset.leaving = "true";
    sender.submit();
  }

  return {
    clear() {
      isOver = true;
      clearTimeout(planned);
      try { localStorage.removeItem(key); } catch { /* no store, nothing kept */ }
    },
    again() { isOver = false; },
  };
}
