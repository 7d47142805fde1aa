// The form of a post: everything here makes faster what the form does without it.

import { watchChanges } from "./changes.js";
import { startDraft } from "./draft.js";
import { startKeys } from "./keys.js";
import { startModules } from "./modules.js";
import { startPicker } from "./picker.js";
import { startPlace } from "./place.js";
import { startPresence } from "./presence.js";
import { startRepeaters } from "./repeaters.js";
import { startSaving } from "./saving.js";
import { startSearchPreview } from "./search_preview.js";

const form = document.querySelector("[data-edit]");
if (form) {
  form.classList.add("is-scripted");
  document.documentElement.classList.add("editor-scripts");
  const changes = watchChanges(form);
  const modules = startModules(form, changes);
  const picker = startPicker(form, modules);
  startRepeaters(form, changes);
  const draft = startDraft(form, changes);
  const saving = startSaving(form, changes, draft, startPlace(form, modules));
  startKeys(form, { modules, picker, saving });
  startSearchPreview(form);
  startPresence(form);
  if (form.dataset.sent) {
    const wrong = form.querySelector("[aria-invalid=true]");
    wrong?.focus({ preventScroll: true });
    wrong?.scrollIntoView({ block: "center" });
  }
  form.dataset.ready = "true";
}
