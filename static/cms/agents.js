// Asking an agent on pages of their own, the menus beside fields, and batches that go on.

import { attach } from "./agents/choose.js";

for (const form of document.querySelectorAll("[data-choose]")) attach(form);

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

// A batch that goes on is read again by itself: messages tell of steps and ends, not of beginnings and of words written.
const followed = document.querySelector("[data-follow]");
if (followed) setInterval(again, 3000);

async function again() {
  if (document.hidden || !followed.querySelector("[data-busy]")) return;
  try {
    const answer = await fetch(location.href, { headers: { "X-Live": "1" } });
    if (!answer.ok || answer.redirected) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(followed.id);
    if (fresh && !followed.contains(document.activeElement)) followed.replaceChildren(...fresh.childNodes);
  } catch {
    // The page shows what it showed; the next time it asks again.
  }
}
