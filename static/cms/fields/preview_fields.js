// Finds the field of a text in the preview, and the place of a field in the preview. Templates of a site know nothing of
// fields, so both are found by their words: by the smallest element with exactly the words of one field, else by
// the rich text that contains them. If several fields are equal, the first field is the first on the page.

const CONTROLS = "[data-field] :is(input:not([type=hidden], [type=checkbox], [type=radio]), textarea, select[data-media])";
const LINK_TARGETS = /\]\([^)]*\)/g;
/** The blocks of a rich text, in its editor and on the page. */
export const BLOCKS = "p, li, h1, h2, h3, h4, h5, h6, td, th, pre";
const LEAST_LETTERS = 2;
/** A rich-text editor restores its own selection 20 ms after the focus. */
const AFTER_FOCUS_MILLISECONDS = 60;

const lettersOf = (text) => text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
const isRich = (control) => control.matches("textarea.richtext, .rt-field textarea");
export const editorOf = (control) => control.closest(".rt-field")?.querySelector(".rt-page") ?? null;

function textOf(control) {
  if (control.matches("select")) return "";
  if (isRich(control)) return editorOf(control)?.textContent ?? control.value.replace(LINK_TARGETS, "]");
  return control.value;
}

const controlsIn = (root) => [...root.querySelectorAll(CONTROLS)];
const isMedia = (control) => control.matches("select[data-media]") && control.value !== "";

/** Return the control with the words or the image of an element of the preview, or null. `within` ends the search. */
export function controlOf(element, within, root) {
  const controls = controlsIn(root);
  const image = element.closest("img, picture, video");
  if (image) {
    const images = [...within.querySelectorAll("img, video")];
    const media = controls.filter(isMedia);
    return media[images.indexOf(image.matches("picture") ? image.querySelector("img") : image)] ?? media[0] ?? null;
  }
  const letters = new Map(controls.map((control) => [control, lettersOf(textOf(control))]));
  for (let part = element; part; part = part === within ? null : part.parentElement) {
    const words = lettersOf(part.textContent);
    if (words.length < LEAST_LETTERS) continue;
    const equal = controls.filter((control) => letters.get(control) === words);
    if (equal.length) {
      const alike = [...within.querySelectorAll(part.tagName)].filter((one) => lettersOf(one.textContent) === words);
      return equal[alike.indexOf(part)] ?? equal[0];
    }
    const containing = controls.find((control) => isRich(control) && letters.get(control).includes(words));
    if (containing) return containing;
  }
  return null;
}

/** Return the block of a rich-text editor with the words of an element, or null. */
export function blockOf(editor, element) {
  const words = lettersOf(element.textContent);
  return [...editor.querySelectorAll(BLOCKS)].find((block) => lettersOf(block.textContent) === words) ?? null;
}

/** Return the element of the preview that shows a control, or null. `block` is where the cursor is in a rich text. */
export function elementOf(control, within, root, block = null) {
  if (isMedia(control)) {
    return within.querySelectorAll("img, video")[controlsIn(root).filter(isMedia).indexOf(control)] ?? null;
  }
  const words = lettersOf(block ? block.textContent : textOf(control));
  if (words.length < LEAST_LETTERS) return block ? elementOf(control, within, root) : null;
  const equal = [...within.querySelectorAll("*")].filter((one) => lettersOf(one.textContent) === words);
  const smallest = equal.filter((one) => !equal.some((other) => one !== other && one.contains(other)));
  if (!smallest.length) return block ? elementOf(control, within, root) : null;
  const same = controlsIn(root).filter((one) => lettersOf(textOf(one)) === words);
  // The title of a page also stands in its breadcrumb.
  return smallest.find((one) => one.closest("h1")) ?? smallest[same.indexOf(control)] ?? smallest[0];
}

/** Resolve to the first element that matches, as soon as there is one; to null if none comes in time. */
export function appeared(root, selector, milliseconds = 4000) {
  const found = root.querySelector(selector);
  if (found) return Promise.resolve(found);
  return new Promise((resolve) => {
    const done = (element) => { observer.disconnect(); clearTimeout(timer); resolve(element); };
    const observer = new MutationObserver(() => { const element = root.querySelector(selector); if (element) done(element); });
    const timer = setTimeout(() => done(null), milliseconds);
    observer.observe(root, { childList: true, subtree: true });
  });
}

/** Open all that hides a control, and focus it. Returns after a rich-text editor has loaded. */
export async function focusControl(control, element) {
  control.dispatchEvent(new CustomEvent("cms:reveal", { bubbles: true }));
  for (let fold = control.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const field = control.closest("[data-field]");
  field.scrollIntoView({ block: "center" });
  // Editors load when they are near the viewport.
  const editor = control.matches("textarea.richtext") ? await appeared(field, ".rt-page") : null;
  if (!editor) {
    const shown = [control, ...field.querySelectorAll("button, input, textarea, select")].find((one) => one.getClientRects().length);
    shown?.focus({ preventScroll: true });
    return;
  }
  editor.focus({ preventScroll: true });
  const block = element && blockOf(editor, element);
  if (!block) return;
  block.scrollIntoView({ block: "center" });
  setTimeout(() => { if (editor.contains(document.activeElement)) getSelection().collapse(block, 0); }, AFTER_FOCUS_MILLISECONDS);
}
