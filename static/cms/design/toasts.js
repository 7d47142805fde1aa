// Toasts: one at a time, announced to screen readers, closed by a button or Escape, and removed after enough time to
// read or undo. The time is paused while the toast is hovered or has the focus, or the page is hidden.

import { announce } from "../http.js";

const TICK_MILLISECONDS = 250;
const SHORTEST_SECONDS = 6;
const READING_SECONDS = 0.1; // for each character
const ACTION_SECONDS = 30; // minimum for a toast with an action such as Undo
const GAP = 8; // pixels between a toast and a bar at the lower edge
const BARS = ".editor-actions, .bulk-bar, .matrix-bar, .replace-bar, .waits-bar, .sticky-buttons";

/** Announce the first of the page's toasts and start its timer. Each other one follows when the one before is gone. */
export function startToasts(region) {
  const first = () => region.querySelector(".toast");
  let left = secondsOf(first());

  function dismiss(toast) {
    const hadFocus = toast.contains(document.activeElement);
    toast.remove();
    const next = first();
    if (hadFocus) (next?.querySelector("button") ?? document.querySelector("main"))?.focus({ preventScroll: true });
    if (!next) return region.remove();
    left = secondsOf(next);
    announce(wordsOf(next));
  }

  for (const close of region.querySelectorAll("[data-dismiss]")) {
    close.hidden = false;
    close.addEventListener("click", () => dismiss(close.closest(".toast")));
  }
  region.addEventListener("keydown", (event) => {
    const toast = event.target.closest(".toast");
    if (event.key !== "Escape" || !toast) return;
    event.preventDefault();
    dismiss(toast);
  });
  const clock = setInterval(() => {
    if (!region.isConnected) return clearInterval(clock);
    if (document.hidden || region.matches(":hover, :focus-within")) return;
    left -= TICK_MILLISECONDS / 1000;
    if (left <= 0) dismiss(first());
  }, TICK_MILLISECONDS);
  // Wait a moment, because a screen reader reads the title of the new page first.
  setTimeout(() => { if (first()) announce(wordsOf(first())); }, 500);
  stayAboveBars(region);
}

/** Keep the toasts above the bars of buttons at the lower edge of the window. */
function stayAboveBars(region) {
  const bars = [...document.querySelectorAll(BARS)];
  if (!bars.length) return;
  function place() {
    const below = bars.map((bar) => bar.getBoundingClientRect()).filter(({ top, bottom, height }) => height && top < innerHeight && bottom > innerHeight - region.offsetHeight - 3 * GAP);
    region.style.insetBlockEnd = below.length ? `${innerHeight - Math.min(...below.map(({ top }) => top)) + GAP}px` : "";
  }
  const watch = new ResizeObserver(place);
  for (const each of [region, ...bars]) watch.observe(each);
  for (const name of ["scroll", "resize"]) addEventListener(name, place, { passive: true });
}

const wordsOf = (toast) => toast.querySelector(".toast-text").textContent.trim();

function secondsOf(toast) {
  const reading = Math.max(SHORTEST_SECONDS, toast.textContent.length * READING_SECONDS);
  return toast.querySelector(".toast-text :is(a, button)") ? Math.max(ACTION_SECONDS, reading) : reading;
}
