// Decisions that are being carried out are read again by themselves. Without this file the page reloads.

const said = document.querySelector("[data-said]");
const EVERY = 2000;

const isBusy = () => document.querySelector("[data-again][data-busy]") !== null;
const state = () => document.querySelector("[data-state]").textContent;

function replace(fresh) {
  for (const part of document.querySelectorAll("[data-again]")) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    part.toggleAttribute("data-busy", other.hasAttribute("data-busy"));
    // Who has just come to a link or a button keeps it, unless there is nothing to press any more.
    const isHeld = part.contains(document.activeElement) && isBusy();
    if (!isHeld && part.innerHTML !== other.innerHTML) part.replaceChildren(...other.childNodes);
  }
}

async function again() {
  if (!document.hidden) {
    try {
      const answer = await fetch(location.href, { headers: { "X-Live": "1" } });
      if (answer.ok && !answer.redirected) {
        const before = state();
        replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
        if (state() !== before) said.textContent = state();
      }
    } catch {
      // The page shows what it showed; the next time it asks again.
    }
  }
  if (isBusy()) setTimeout(again, EVERY);
}

if (isBusy()) setTimeout(again, EVERY);
