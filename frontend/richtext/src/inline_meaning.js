// Handles inline elements that the schema has no mark for, and without which the text would mean something else.

const SIGNS = { SUP: "^", SUB: "_" };
const ALIKE = { KBD: "code", SAMP: "code", TT: "code", CITE: "em", DFN: "em", VAR: "em" };
const EMOJI = ["emoji", "wp-smiley", "emojione", "joypixels", "twemoji"];

/** Replace elements whose tag carries meaning with characters and marks. The importer follows the same rules. */
export function inlineMeaning(root) {
  for (const element of root.querySelectorAll(Object.keys(ALIKE).join())) {
    const mark = root.ownerDocument.createElement(ALIKE[element.tagName]);
    mark.append(...element.childNodes);
    element.replaceWith(mark);
  }
  root.querySelectorAll("rp").forEach((one) => one.remove());
  for (const element of root.querySelectorAll("q, rt")) {
    if (!element.textContent.trim()) continue;
    element.prepend(element.tagName === "Q" ? "“" : "(");
    element.append(element.tagName === "Q" ? "”" : ")");
    element.replaceWith(...element.childNodes);
  }
  // A mark cannot be nested in a mark of the same kind, so the inner level becomes a character.
  for (const element of root.querySelectorAll("sup sup, sub sub")) {
    element.prepend(SIGNS[element.tagName]);
    element.replaceWith(...element.childNodes);
  }
  for (const box of root.querySelectorAll("input")) {
    if (box.type === "checkbox") box.replaceWith(box.hasAttribute("checked") ? "☑ " : "☐ ");
    else box.remove();
  }
  for (const image of root.querySelectorAll("img[alt]")) {
    if (image.alt && EMOJI.some((name) => image.classList.contains(name))) image.replaceWith(image.alt);
  }
}
