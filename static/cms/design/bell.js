// The bell: how many notifications are unread, asked for when the page stands, and the latest in a panel.
// Without this script it is a link to the page of notifications.

import { fetchJson, fetchPage } from "../http.js";

const bell = document.querySelector("[data-bell]");
const panel = document.querySelector("[data-bell-panel]");

async function showCount() {
  try {
    const { count, label } = await fetchJson(bell.dataset.countAddress);
    const badge = bell.querySelector("[data-bell-count]");
    badge.textContent = count;
    badge.hidden = !count;
    if (count) bell.querySelector("[data-bell-label]").textContent = label;
  } catch { /* The bell leads to the page all the same. */ }
}

async function fill() {
  try {
    const page = await fetchPage(bell.dataset.panelAddress);
    panel.replaceChildren(page.querySelector("[data-notifications-panel]"));
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
  showCount();
}
