// Edits the text of a change in its card, with the form of the page that the edit link leads to.

import { keepTyped, notifyAdded, readPage, request, watchFocus } from "../http.js";

const sentences = JSON.parse(document.getElementById("review-words")?.textContent ?? "{}");

export function say(name, values = {}) {
  const forms = sentences[name] ?? [""];
  const text = forms[values.count === 1 ? 0 : forms.length - 1];
  return text.replace(/%\((\w+)\)s/g, (_, key) => values[key] ?? "");
}

const PART = { headers: { "X-Part": "edit" } };

export function startEditing(root, announce) {
  async function open(link) {
    const card = link.closest("[data-change]");
    const here = card.querySelector("[data-card-edit]");
    if (here) return close(card, link);
    const isFocusFree = watchFocus();
    await busy(card, async () => {
      const answer = await request(link.href, PART).catch((error) => {
        if (error.reason === "network") throw error;
        // The linked page explains the problem.
        location.assign(link.href);
      });
      if (answer) put(card, await readPage(answer), isFocusFree);
    });
  }

  function put(card, page, isFocusFree) {
    const form = page.querySelector("form");
    if (!form) throw new Error("no form");
    const before = card.querySelector("[data-card-edit]");
    if (before) keepTyped(before, form);
    before?.remove();
    card.querySelector("[data-body]").after(form);
    notifyAdded(form);
    if (isFocusFree()) form.querySelector("[aria-invalid=true], textarea:not([hidden]), input:not([type=hidden]), select")?.focus();
  }

  function close(card, link) {
    card.querySelector("[data-card-edit]").remove();
    (link ?? card).focus();
  }

  async function send(form) {
    const card = form.closest("[data-change]");
    const isFocusFree = watchFocus();
    await busy(card, async () => {
      const answer = await request(form.action, { ...PART, body: new FormData(form), statuses: [409, 422] });
      if (answer.status !== 204) return put(card, await readPage(answer), isFocusFree);
      const here = new URL(location.href);
      here.hash = card.id;
      history.replaceState(null, "", here);
      location.reload();
    });
  }

  async function busy(card, work) {
    card.dataset.busy = "";
    try {
      await work();
    } catch {
      announce(say("failed"));
    } finally {
      delete card.dataset.busy;
    }
  }

  root.addEventListener("click", (event) => {
    const link = event.target.closest("[data-edit-link]");
    const cancel = event.target.closest("[data-cancel]");
    if (event.ctrlKey || event.metaKey || event.shiftKey || !(link ?? cancel)) return;
    event.preventDefault();
    if (link) open(link);
    else close(cancel.closest("[data-change]"));
  });
  root.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-card-edit]")) return;
    event.preventDefault();
    send(event.target);
  });
  root.addEventListener("keydown", (event) => {
    const form = event.target.closest("[data-card-edit]");
    if (event.key !== "Escape" || !form || event.defaultPrevented) return;
    event.preventDefault();
    close(form.closest("[data-change]"));
  });
}
