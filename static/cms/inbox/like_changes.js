// Adds keyboard shortcuts to the page of similar changes, and shows the number of included changes on its buttons.

import { currentRow, moveFocus, isTyping } from "./row_keys.js";

const form = document.querySelector("[data-like]");
const boxes = [...form.querySelectorAll("input[type=checkbox]")];

// Return whether a box can only be rejected here: a change that must be opened to be accepted, or the unlisted rest if
// the page shows all changes instead of similar ones.
const onlyRejects = (box) => box.name.startsWith("x.") || ("all" in form.dataset && box.name === "rest");

function show() {
  for (const place of form.querySelectorAll("[data-count]")) {
    const button = place.closest("button");
    const included = boxes.filter((box) => box.checked && !(button.value !== "reject" && onlyRejects(box)));
    const number = included.reduce((sum, box) => sum + Number(box.dataset.standsFor ?? 1), 0);
    place.textContent = `(${number})`;
    button.disabled = !number;
  }
}

document.addEventListener("keydown", (event) => {
  if (event.target.id === "note" && event.key === "Enter") return event.preventDefault();
  if (isTyping(event)) return;
  const line = currentRow(form);
  const keys = {
    j: () => moveFocus(form, 1),
    k: () => moveFocus(form, -1),
    i: () => line?.querySelector("input[type=checkbox]")?.click(),
    o: () => line?.querySelector("[data-open]").click(),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
const includeAll = form.querySelector("[data-include-all]");
if (includeAll) {
  includeAll.hidden = false;
  includeAll.addEventListener("click", () => {
    for (const box of boxes) if (box.name !== "rest") box.checked = true;
    show();
  });
}
form.addEventListener("change", show);
window.addEventListener("pageshow", show);
show();
