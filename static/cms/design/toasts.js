// Toasts: announced to screen readers, closed by a button or Escape, and removed after enough time to read or undo. The
// time is paused while one of them is hovered or has the focus, or the page is hidden.

import { announce } from "../http.js";

const TICK_MILLISECONDS = 250;
const SHORTEST_SECONDS = 6;
const READING_SECONDS = 0.1; // for each character
const ACTION_SECONDS = 30; // minimum for a toast with an action such as Undo

/** Announce the page's toasts and start their timers. */
export function startToasts(region) {
  const left = new Map([...region.querySelectorAll(".toast")].map((toast) => [toast, secondsOf(toast)]));

  function dismiss(toast) {
    const hadFocus = toast.contains(document.activeElement);
    left.delete(toast);
    toast.remove();
    if (!left.size) region.remove();
    if (hadFocus) (region.querySelector("button") ?? document.querySelector("main"))?.focus({ preventScroll: true });
  }

  for (const toast of left.keys()) {
    const close = toast.querySelector("[data-dismiss]");
    close.hidden = false;
    close.addEventListener("click", () => dismiss(toast));
  }
  region.addEventListener("keydown", (event) => {
    const toast = event.target.closest(".toast");
    if (event.key !== "Escape" || !toast) return;
    event.preventDefault();
    dismiss(toast);
  });
  const clock = setInterval(() => {
    if (!left.size) return clearInterval(clock);
    if (document.hidden || region.matches(":hover, :focus-within")) return;
    for (const [toast, seconds] of [...left]) {
      left.set(toast, seconds - TICK_MILLISECONDS / 1000);
      if (left.get(toast) <= 0) dismiss(toast);
    }
  }, TICK_MILLISECONDS);
  // Wait a moment, because a screen reader reads the title of the new page first.
  setTimeout(() => announce([...left.keys()].map((toast) => toast.querySelector(".toast-text").textContent.trim()).join(" ")), 500);
}

function secondsOf(toast) {
  const reading = Math.max(SHORTEST_SECONDS, toast.textContent.length * READING_SECONDS);
  return toast.querySelector(".toast-text :is(a, button)") ? Math.max(ACTION_SECONDS, reading) : reading;
}
