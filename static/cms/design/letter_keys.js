// Single letters are keys of pages only where nobody is typing. They rest where an account turned them off, and for a
// moment after the field that somebody was typing in went away below them: what follows was meant for the field.

import { TYPED } from "../http.js";

const REST_MILLISECONDS = 1000; // after the field, and after each letter of a sentence that goes on

let field = null; // that has the focus, or had it until it went away
let isLeaving = false; // the last key or press was one that leaves a field
let restUntil = 0;

const isGone = (element) => !element.isConnected || element.disabled || element.getClientRects().length === 0;

/** Whether a key leaves the field that it is pressed in, or sends its form, rather than writing into it. */
function leavesField({ key, ctrlKey, metaKey, target }) {
  return ctrlKey || metaKey || key === "Escape" || key === "Tab" || (key === "Enter" && target.matches("input, select"));
}

/** The field has no focus any more: begin the rest unless its user left it. */
function endField() {
  if (isGone(field) && !isLeaving) restUntil = performance.now() + REST_MILLISECONDS;
  field = null;
}

function notice() {
  if (field && document.activeElement !== field) endField();
}

export function startLetterKeys() {
  const areOff = document.documentElement.dataset.letterKeys === "off";

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

  // A field that is taken out of the page loses the focus a moment before.
  window.addEventListener("focusout", () => queueMicrotask(notice), true);
}
