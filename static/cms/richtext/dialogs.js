// The two dialogs of the rich text, one of each for the whole page: a link, and the words of an image.

import { linkField } from "../fields/link.js";

const dialogs = new Map();

function dialogOf(tools, name) {
  if (!dialogs.has(name)) {
    const dialog = document.importNode(tools.querySelector(`.rt-${name}`), true);
    // Not inside the form around: a form in a form is none.
    document.body.append(dialog);
    const input = dialog.querySelector("input");
    dialogs.set(name, { dialog, input, picker: name === "link" ? linkField(input) : null });
  }
  return dialogs.get(name);
}

function asked({ dialog, input, picker }, value, refuse) {
  input.value = value;
  picker?.check();
  dialog.returnValue = "cancel";
  dialog.showModal();
  input.select();
  return new Promise((resolve) => {
    const send = (event) => {
      if (event.submitter?.value !== "set" || !refuse?.(input.value)) return;
      event.preventDefault();
      input.focus();
    };
    dialog.addEventListener("submit", send);
    dialog.addEventListener("close", () => {
      dialog.removeEventListener("submit", send);
      resolve({ answer: dialog.returnValue, value: input.value.trim() });
    }, { once: true });
  });
}

/** `{ answer: "set" | "remove" | "cancel", value }`. */
export function askLink(tools, href, isSafe) {
  const found = dialogOf(tools, "link");
  const refused = found.dialog.querySelector("[data-refused]");
  refused.hidden = true;
  found.dialog.querySelector("[data-unlink]").hidden = !href;
  return asked(found, href, (value) => {
    refused.hidden = isSafe(value.trim());
    return !refused.hidden;
  });
}

export const askAlt = (tools, alt) => asked(dialogOf(tools, "alt"), alt);
