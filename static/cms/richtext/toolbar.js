// The toolbar of the rich text: what its buttons do and show, and its two dialogs, one of each for the whole page.

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

function openDialog({ dialog, input, picker }, value, refuse) {
  input.value = value;
  delete input.dataset.title;
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
      resolve({ answer: dialog.returnValue, value: input.value.trim(), title: input.dataset.title });
    }, { once: true });
  });
}

/** `{ answer: "set" | "remove" | "cancel", value }`. */
function askLink(tools, href, isSafe) {
  const found = dialogOf(tools, "link");
  const refused = found.dialog.querySelector("[data-refused]");
  refused.hidden = true;
  found.dialog.querySelector("[data-unlink]").hidden = !href;
  return openDialog(found, href, (value) => {
    refused.hidden = isSafe(value.trim());
    return !refused.hidden;
  });
}


const TABLE = { rows: 3, cols: 3, withHeaderRow: true };
const HEADINGS = [1, 2, 3, 4, 5, 6];

const PLAIN = {
  bold: (chain) => chain.toggleBold(),
  italic: (chain) => chain.toggleItalic(),
  strike: (chain) => chain.toggleStrike(),
  code: (chain) => chain.toggleCode(),
  bulletList: (chain) => chain.toggleBulletList(),
  orderedList: (chain) => chain.toggleOrderedList(),
  blockquote: (chain) => chain.toggleBlockquote(),
  codeBlock: (chain) => chain.toggleCodeBlock(),
  rule: (chain) => chain.setHorizontalRule(),
  table: (chain) => chain.insertTable(TABLE),
  undo: (chain) => chain.undo(),
  redo: (chain) => chain.redo(),
  addRowAfter: (chain) => chain.addRowAfter(),
  addColumnAfter: (chain) => chain.addColumnAfter(),
  deleteRow: (chain) => chain.deleteRow(),
  deleteColumn: (chain) => chain.deleteColumn(),
  toggleHeaderRow: (chain) => chain.toggleHeaderRow(),
  deleteTable: (chain) => chain.deleteTable(),
};
const MARKS = ["bold", "italic", "strike", "code", "link", "bulletList", "orderedList", "blockquote", "codeBlock", "table"];

async function link(editor, tools, { safeHref }) {
  const before = editor.getAttributes("link").href ?? "";
  const { answer, value, title } = await askLink(tools, before, (address) => safeHref(address) !== null);
  const chain = editor.chain().focus().extendMarkRange("link");
  if (answer === "remove") chain.unsetLink().run();
  if (answer !== "set") {
    editor.commands.focus();
    return;
  }
  const href = safeHref(value);
  if (!before && editor.state.selection.empty) {
    chain.insertContent({ type: "text", text: title ?? value, marks: [{ type: "link", attrs: { href } }] }).run();
  } else chain.setLink({ href }).run();
}

async function image(editor, tools, language) {
  const { pickMedia } = await import("../media/picker.js");
  const file = await pickMedia({ kind: "image", language });
  if (!file?.url) {
    editor.commands.focus();
    return;
  }
  const { answer, value } = await openDialog(dialogOf(tools, "alt"), file.alt ?? "");
  if (answer === "set") editor.chain().focus().insertContent({ type: "image", attrs: { src: file.url, alt: value } }).run();
  else editor.commands.focus();
}

export function run(name, editor, { tools, bundle, language }) {
  if (name === "link") return link(editor, tools, bundle);
  if (name === "image") return image(editor, tools, language);
  if (PLAIN[name]) PLAIN[name](editor.chain().focus()).run();
  return undefined;
}

export function setBlock(editor, level) {
  const chain = editor.chain().focus();
  (level ? chain.setHeading({ level }) : chain.setParagraph()).run();
}

/** Bring the toolbar in line with where the cursor is. */
export function show(bar, editor) {
  const can = editor.can();
  for (const button of bar.querySelectorAll("[data-do]")) {
    const name = button.dataset.do;
    if (MARKS.includes(name) && name !== "table") button.setAttribute("aria-pressed", String(editor.isActive(name)));
    if (name === "undo" || name === "redo") button.disabled = !can[name]();
  }
  const level = HEADINGS.find((one) => editor.isActive("heading", { level: one })) ?? 0;
  const select = bar.querySelector("[data-block]");
  if (select !== document.activeElement) select.value = String(level);
  bar.querySelector("[data-in-table]").hidden = !editor.isActive("table");
}
