// The keys j and k move the focus from row to row of a form.

export const listRows = (form) => [...form.querySelectorAll("[data-wait]")];
export const currentRow = (form) => listRows(form).find((line) => line.contains(document.activeElement));

/** Return whether a key press belongs to a field, a dialog or the browser. */
export function isTyping(event) {
  return event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented
    || event.target.matches("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]")
    || document.querySelector("dialog[open]") !== null;
}

export function moveFocus(form, step) {
  const lines = listRows(form);
  const from = lines.indexOf(currentRow(form));
  const to = from < 0 ? (step > 0 ? 0 : lines.length - 1) : from + step;
  const line = lines[Math.min(Math.max(to, 0), lines.length - 1)];
  line?.focus({ preventScroll: true });
  line?.scrollIntoView({ block: "nearest" });
}
