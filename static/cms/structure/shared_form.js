// The form of a global module: edits list items without a reload, and shows whether there are unsaved changes.

import { startRepeaters } from "../editor/repeaters.js";

const form = document.querySelector("form[data-edit]");
const unsaved = form.querySelector("[data-unsaved]");
let isDirty = unsaved.textContent !== "";

function markUnsaved() {
  isDirty = true;
  unsaved.textContent = unsaved.dataset.words;
}

document.documentElement.classList.add("editor-scripts");
startRepeaters(form, { plan: markUnsaved });
form.addEventListener("input", markUnsaved);
form.addEventListener("change", markUnsaved);
form.addEventListener("submit", () => { isDirty = false; });
addEventListener("beforeunload", (event) => { if (isDirty) event.preventDefault(); });
