// Going from line to line with j and k.

export const linesOf = (form) => [...form.querySelectorAll("[data-wait]")];
export const lineOf = (form) => linesOf(form).find((line) => line.contains(document.activeElement));
export const firstOf = (selector) => document.querySelector(selector);

/** Whether a key belongs to what somebody types, to a dialog, or to the browser. */
export function typing(event) {
  return event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented
    || event.target.matches("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]")
    || document.querySelector("dialog[open]") !== null;
}

export function move(form, step) {
  const lines = linesOf(form);
  const from = lines.indexOf(lineOf(form));
  const to = from < 0 ? (step > 0 ? 0 : lines.length - 1) : from + step;
  const line = lines[Math.min(Math.max(to, 0), lines.length - 1)];
  line?.focus({ preventScroll: true });
  line?.scrollIntoView({ block: "nearest" });
}
