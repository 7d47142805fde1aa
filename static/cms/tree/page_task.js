// Shows the form of another page in a dialog, such as choosing where to move pages. Input in it refreshes its parts,
// and the response to sending it is JSON.
//
//   openTask(dialog, address, { onDone: (answer) => {}, onClose: () => {}, onFail: (text) => {}, failed })

import { DelayedSearch } from "../fields/delayed_search.js";
import { fetchJson, fetchPage, swap } from "../http.js";

const PARTS = ["task-choices", "task-plan", "task-buttons"];
const TYPING_PAUSE_MILLISECONDS = 200;

export async function openTask(dialog, address, { onDone, onClose = () => {}, onFail = () => {}, failed = "" }) {
  let form;
  try {
    form = (await fetchPage(address)).getElementById("page-task");
  } catch (error) {
    return onFail(error.message || failed);
  }
  if (!form) return onFail(failed);
  dialog.replaceChildren(form);

  const search = new DelayedSearch(TYPING_PAUSE_MILLISECONDS, async (isCurrent) => {
    const query = new URLSearchParams(new FormData(form));
    query.delete("csrfmiddlewaretoken");
    const page = await fetchPage(`${form.getAttribute("action")}?${query}`).catch(() => null);
    if (!page || !isCurrent()) return Boolean(page);
    for (const id of PARTS) {
      const part = form.querySelector(`#${id}`);
      if (part) swap(part, page.getElementById(id));
    }
    return true;
  });

  form.addEventListener("input", (event) => search.plan(event.target.type === "search" ? TYPING_PAUSE_MILLISECONDS : 0));
  form.addEventListener("keydown", (event) => {
    // Enter in the search field searches instead of sending the form.
    if (event.key !== "Enter" || event.target.type !== "search") return;
    event.preventDefault();
    search.settle();
  });
  form.addEventListener("click", (event) => {
    if (!event.target.closest("[data-cancel]")) return;
    event.preventDefault();
    dialog.close();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button.default");
    button.disabled = true;
    try {
      const answer = await fetchJson(form.getAttribute("action"), { body: new FormData(form) });
      dialog.close();
      onDone(answer);
    } catch (error) {
      const notice = document.createElement("div");
      notice.className = "notice notice-problem";
      const text = document.createElement("p");
      text.textContent = error.message || failed;
      notice.append(text);
      form.querySelector("#task-plan").replaceChildren(notice);
    }
  });
  dialog.addEventListener("close", () => onClose(), { once: true });
  dialog.showModal();
  (form.querySelector("input[type=radio]:checked") ?? form.querySelector("input[type=search]"))?.focus();
}
