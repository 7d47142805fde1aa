// Suppresses single-letter shortcuts if the account has turned them off, and briefly after the field that the user
// types in disappears, because the next letters were meant for that field.

import { TYPED } from "../http.js";

const REST_MILLISECONDS = 1000; // after the field disappears, and again after each further letter

let field = null; // the field that has the focus, or had it until it disappeared
let isLeaving = false; // true if the last key or pointer press leaves the field
let restUntil = 0;

const isGone = (element) => !element.isConnected || element.disabled || element.getClientRects().length === 0;

/** Return whether a key leaves the field or sends its form, rather than typing into it. */
function leavesField({ key, ctrlKey, metaKey, target }) {
  return ctrlKey || metaKey || key === "Escape" || key === "Tab" || (key === "Enter" && target.matches("input, select"));
}

/** Handle the loss of focus: suppress shortcuts unless the user left the field. */
function endField() {
  if (isGone(field) && !isLeaving) restUntil = performance.now() + REST_MILLISECONDS;
  field = null;
}

function notice() {
  if (field && document.activeElement !== field) endField();
}

export function startLetterKeys() {
  const areOff = document.documentElement.dataset.letterKeys === "off";

  // Capture on the window, to run before the handlers of all other scripts.
  window.addEventListener("keydown", (event) => {
    const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.target.closest?.(TYPED)) {
      isLeaving = leavesField(event);
      return;
    }
    if (!isLetter) return;
    notice();
    if (performance.now() < restUntil) {
      restUntil = performance.now() + REST_MILLISECONDS;
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (areOff && event.key !== " ") event.stopImmediatePropagation();
  }, true);

  window.addEventListener("pointerdown", ({ target }) => { isLeaving = !field?.contains(target); }, true);

  window.addEventListener("focusin", ({ target }) => {
    if (!target.matches?.(TYPED)) {
      notice();
      return;
    }
    field = target;
    isLeaving = false;
    restUntil = 0;
  }, true);

  // A field that is being removed loses the focus just before it leaves the page, so check afterwards.
  window.addEventListener("focusout", () => queueMicrotask(notice), true);
}
