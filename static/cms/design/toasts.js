// Toasts: read out, closed by a button or Escape, and gone by themselves when there was time to read and to undo them.
// While one of them is pointed at or has the focus, or the page is out of sight, the time stands still.

import { announce } from "../http.js";

const TICK_MILLISECONDS = 250;
const SHORTEST_SECONDS = 6;
const READING_SECONDS = 0.1; // for each character
const ACTION_SECONDS = 30; // at least, where something can be undone or opened

/** Start the time of the toasts that came with the page. */
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
  // After the page itself was read, which begins with its title.
  setTimeout(() => announce([...left.keys()].map((toast) => toast.querySelector(".toast-text").textContent.trim()).join(" ")), 500);
}

function secondsOf(toast) {
  const reading = Math.max(SHORTEST_SECONDS, toast.textContent.length * READING_SECONDS);
  return toast.querySelector(".toast-text :is(a, button)") ? Math.max(ACTION_SECONDS, reading) : reading;
}
