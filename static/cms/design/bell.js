// The bell: how many notifications are new, asked for when the page stands, and the latest in a panel. They are new
// until the panel or their page was looked at.
// Without this script it is a link to the page of notifications.

import { fetchJson, fetchPage, request } from "../http.js";

const bell = document.querySelector("[data-bell]");
const panel = document.querySelector("[data-bell-panel]");

function draw({ count, label }) {
  const badge = bell.querySelector("[data-bell-count]");
  const words = bell.querySelector("[data-bell-label]");
  badge.textContent = count;
  badge.hidden = !count;
  words.textContent = count ? label : words.dataset.none;
}

async function showCount() {
  try {
    draw(await fetchJson(bell.dataset.countAddress));
  } catch { /* The bell leads to the page all the same. */ }
}

async function markSeen(list) {
  const body = new FormData();
  body.set("until", list.dataset.notificationsSeen);
  try {
    await request(bell.dataset.seenAddress, { body });
    await showCount();
  } catch { /* They stay new. */ }
}

async function fill() {
  try {
    const page = await fetchPage(bell.dataset.panelAddress);
    const list = page.querySelector("[data-notifications-panel]");
    panel.replaceChildren(list);
    markSeen(list);
  } catch (error) {
    const text = document.createElement("p");
    text.className = "notification-none";
    text.textContent = error.message || bell.dataset.failed;
    panel.replaceChildren(text);
  }
}

/** Make the bell work. */
export function startBell() {
  bell.setAttribute("role", "button");
  bell.setAttribute("aria-expanded", "false");
  bell.setAttribute("aria-controls", panel.id);
  bell.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (panel.matches(":popover-open")) return panel.hidePopover();
    await fill();
    panel.showPopover();
    panel.querySelector("button, a")?.focus();
  });
  bell.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    bell.click();
  });
  panel.addEventListener("toggle", ({ newState }) => bell.setAttribute("aria-expanded", String(newState === "open")));
  const list = document.querySelector("main [data-notifications-seen]");
  if (list) markSeen(list);
  else showCount();
  // A browser that goes back shows the page as it was.
  addEventListener("pageshow", ({ persisted }) => { if (persisted) showCount(); });
}
