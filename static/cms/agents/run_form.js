// The form that asks an agent: the box for words follows the agent that is chosen, and so does the estimate. The menus
// beside fields close by themselves.

import { fetchPage, swap } from "../http.js";

export function attachRunForm(form) {
  followWords(form);
  if (form.hasAttribute("data-estimate")) followEstimate(form);
}

function followWords(form) {
  const words = form.querySelector("[data-choose-words]");
  if (!words) return;
  const box = words.querySelector("textarea");

  function count() {
    words.querySelector("[data-counter]").textContent = `${box.value.length} / ${box.getAttribute("maxlength")}`;
  }

  function choose() {
    const agent = form.querySelector('input[name="agent"]:checked');
    const takesWords = Boolean(agent?.dataset.max);
    words.hidden = !takesWords;
    box.disabled = !takesWords;
    if (!takesWords) return;
    words.querySelector("[data-words-label]").textContent = agent.dataset.label;
    words.querySelector("[data-words-for]")?.setAttribute("hidden", "");
    box.placeholder = agent.dataset.placeholder;
    box.setAttribute("maxlength", agent.dataset.max);
    count();
  }

  form.addEventListener("change", choose);
  box.addEventListener("input", count);
  choose();
}

// Another agent, or another post, is another estimate. The server asks again before it begins what was not estimated.
function followEstimate(form) {
  let asked = 0;
  form.addEventListener("change", async ({ target }) => {
    if (target.name !== "agent" && target.name !== "post") return;
    const sent = new FormData(form);
    sent.set("do", "estimate");
    const mine = (asked += 1);
    try {
      const page = await fetchPage(form.action, { body: sent, headers: { "X-Dialog": "1" }, anyStatus: true });
      const here = form.querySelector("#estimate");
      if (here && mine === asked) swap(here, page.querySelector("#estimate"));
    } catch {
      // What stands there stays.
    }
  });
}

for (const form of document.querySelectorAll("[data-choose]")) attachRunForm(form);

// The menus beside fields close by themselves, those added later too.
const menu = (target) => target.closest?.("details[data-menu]");
document.addEventListener("click", ({ target }) => {
  for (const open of document.querySelectorAll("details[data-menu][open]")) if (open !== menu(target)) open.open = false;
});
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape" || !menu(target)?.open) return;
  menu(target).open = false;
  menu(target).querySelector("summary").focus();
});
