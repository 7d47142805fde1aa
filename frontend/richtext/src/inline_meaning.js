// Inline elements that the schema has no mark for, and without which the words would say something else.

const SIGNS = { SUP: "^", SUB: "_" };
const ALIKE = { KBD: "code", SAMP: "code", TT: "code", CITE: "em", DFN: "em", VAR: "em" };
const EMOJI = ["emoji", "wp-smiley", "emojione", "joypixels", "twemoji"];

/** Put signs and marks in place of elements that say something by their tag. The importer has the same rules. */
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
  // Within another one, the sign says what a mark of the same kind cannot.
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
