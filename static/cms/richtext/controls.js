// The controls of a rich-text field, loaded with the editor: the toolbar with its two dialogs (shared by all fields of
// the page), the menu that `/` opens, and the panel for pasted images.

import { linkField } from "../fields/combobox.js";
import { announce, fetchJson } from "../http.js";

const dialogs = new Map();

export function dialogOf(tools, name) {
  if (!dialogs.has(name)) {
    const dialog = document.importNode(tools.querySelector(`.rt-${name}`), true);
    // The dialog contains a form, and forms cannot be nested.
    document.body.append(dialog);
    const input = dialog.querySelector("input");
    dialogs.set(name, { dialog, input, picker: name === "link" ? linkField(input) : null });
  }
  return dialogs.get(name);
}

export function openDialog({ dialog, input, picker }, value, refuse) {
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

/** Ask for a link. Resolves to `{ answer: "set" | "remove" | "cancel", value, title }`. */
function askLink(tools, href, isSafe) {
  const linkDialog = dialogOf(tools, "link");
  const problem = linkDialog.dialog.querySelector("[data-refused]");
  problem.hidden = true;
  linkDialog.dialog.querySelector("[data-unlink]").hidden = !href;
  return openDialog(linkDialog, href, (value) => {
    problem.hidden = isSafe(value.trim());
    return !problem.hidden;
  });
}

const TABLE = { rows: 3, cols: 3, withHeaderRow: true };
const HEADINGS = [1, 2, 3, 4, 5, 6];

const PLAIN = {
  bold: (chain) => chain.toggleBold(),
  italic: (chain) => chain.toggleItalic(),
  strike: (chain) => chain.toggleStrike(),
  superscript: (chain) => chain.toggleMark("superscript"),
  subscript: (chain) => chain.toggleMark("subscript"),
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
const MARKS = ["bold", "italic", "strike", "superscript", "subscript", "code", "link", "bulletList", "orderedList", "blockquote", "codeBlock", "table"];

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
  // The library has an alt text for most images, and decorative ones need none.
  const isDescribed = Boolean(file.alt) || file.isDecorative;
  const { answer, value } = isDescribed ? { answer: "set", value: file.alt ?? "" } : await openDialog(dialogOf(tools, "alt"), "");
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

/** Update the toolbar for the current selection. */
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

// The menu that `/` opens on an empty line: blocks, a picture, a link, a module below. The focus remains in the text,
// and the text typed after the slash filters the menu. It remains in the document unless an option is chosen.

const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
const MARGIN = 6;
let number = 0;

/** Return the text after a `/` at the start of the cursor's paragraph, or null. */
function typedQuery({ selection }) {
  const { $from, empty } = selection;
  const { parent } = $from;
  if (!empty || parent.type.name !== "paragraph" || $from.parentOffset !== parent.content.size) return null;
  const text = parent.textBetween(0, parent.content.size, null, "\ufffc");
  return /^\/(?:[^\s/\ufffc]+ ?[^\s/\ufffc]*)?$/u.test(text) ? text.slice(1) : null;
}

export class InsertMenu {
  /** `choose(name)` runs the chosen option; `isOffered(name)` returns whether it is available. */
  constructor(menu, { choose, isOffered }) {
    Object.assign(this, { menu, choose, isOffered, isOpen: false, at: 0 });
    number += 1;
    this.list = menu.querySelector("[role=listbox]");
    this.list.id = `insert-menu-${number}`;
    this.all = [...menu.querySelectorAll("[data-insert-block]")];
    for (const [at, option] of this.all.entries()) option.id = `${this.list.id}-${at}`;
    // Keep the focus in the text: a blur would close the menu before the click.
    menu.addEventListener("pointerdown", (event) => event.preventDefault());
    menu.addEventListener("click", (event) => {
      const option = event.target.closest("[data-insert-block]");
      if (option) this.pick(option);
    });
  }

  /** Update the menu after a change of the text or the cursor. */
  follow(editor) {
    this.editor = editor;
    const words = editor.isFocused ? typedQuery(editor.state) : null;
    const before = this.before;
    this.before = words;
    if (words === null) return this.close();
    // Open only for a `/` that was just typed, not when the cursor moves to one or a longer text is pasted.
    if (!this.isOpen && words === "" && before === null && this.isTyping) this.open();
    if (this.isOpen) this.filter(words);
    return undefined;
  }

  open() {
    this.isOpen = true;
    this.menu.showPopover();
    const dom = this.editor.view.dom;
    dom.setAttribute("aria-controls", this.list.id);
    this.onMove = () => this.place();
    document.addEventListener("scroll", this.onMove, true);
    window.addEventListener("resize", this.onMove);
    dom.addEventListener("blur", this.left = () => this.close(), { once: true });
    announce(this.list.dataset.opened);
  }

  close() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.menu.hidePopover();
    const dom = this.editor.view.dom;
    dom.removeAttribute("aria-controls");
    dom.removeAttribute("aria-activedescendant");
    dom.removeEventListener("blur", this.left);
    document.removeEventListener("scroll", this.onMove, true);
    window.removeEventListener("resize", this.onMove);
  }

  filter(words) {
    const parts = plain(words).split(/\s+/).filter(Boolean);
    const rank = (option) => {
      const [name, more] = [plain(option.querySelector(".found-title").textContent), plain(option.dataset.search)];
      if (!parts.every((part) => `${name} ${more}`.split(/[\s-]+/).some((word) => word.startsWith(part)))) return 9;
      return name.startsWith(parts.join(" ")) ? 0 : 1;
    };
    const ranks = new Map(this.all.map((option) => [option, this.isOffered(option.dataset.insertBlock) ? rank(option) : 9]));
    this.shown = this.all.filter((option) => ranks.get(option) < 9).sort((one, other) => ranks.get(one) - ranks.get(other));
    // No option matches, so the text is an address, a date or the like, and Enter should start a new line.
    if (!this.shown.length) return this.close();
    for (const option of this.all) option.hidden = ranks.get(option) === 9;
    this.list.append(...this.shown);
    if (words && words !== this.words) {
      const { foundOne, foundMany } = this.list.dataset;
      announce(this.shown.length === 1 ? foundOne : foundMany.replace("{n}", String(this.shown.length)));
    }
    this.words = words;
    this.move(0);
    return this.place();
  }

  move(to) {
    this.at = (to + this.shown.length) % this.shown.length;
    for (const option of this.all) option.setAttribute("aria-selected", String(option === this.shown[this.at]));
    this.editor.view.dom.setAttribute("aria-activedescendant", this.shown[this.at].id);
    this.shown[this.at].scrollIntoView({ block: "nearest" });
  }

  place() {
    const { $from } = this.editor.state.selection;
    const at = this.editor.view.coordsAtPos($from.start());
    const { innerWidth, innerHeight } = window;
    const { offsetWidth: width, offsetHeight: height } = this.menu;
    const fits = at.bottom + MARGIN + height <= innerHeight || at.top < innerHeight - at.bottom;
    this.menu.style.left = `${Math.max(MARGIN, Math.min(at.left, innerWidth - width - MARGIN))}px`;
    this.menu.style.top = `${fits ? at.bottom + MARGIN : Math.max(MARGIN, at.top - MARGIN - height)}px`;
  }

  /** Handle a key. Returns whether the menu used it. */
  key(event) {
    // Some keyboards and input methods do not report the actual character.
    this.isTyping = event.key === "/" || event.key === "Unidentified" || event.key === "Process" || event.key === "Dead";
    if (!this.isOpen || event.isComposing) return false;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) this.move(this.at + steps[event.key]);
    else if (event.key === "Enter" || event.key === "Tab") this.pick(this.shown[this.at]);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  pick(option) {
    const { $from } = this.editor.state.selection;
    this.close();
    this.before = null;
    this.editor.chain().focus().deleteRange({ from: $from.start(), to: $from.end() }).run();
    this.choose(option.dataset.insertBlock);
  }
}

// Importing images from other sites in pasted text: the panel offers to import them into the library, imports one at a
// time, and reports the result. Each image is a marker in the text (frontend/richtext/src/pasted_images.js) until it is
// imported or skipped. The marker of a failed import remains visible, but is neither stored nor copied. All texts come
// from the data attributes of the panel.

const MARKER = "importedImage";

/** Return a node without markers. Texts with the same marks that a marker separated are joined. */
export function withoutMarkers(node) {
  if (!node.content) return node;
  const content = [];
  let isParted = false;
  for (const child of node.content) {
    if (child.type === MARKER) {
      isParted = true;
      continue;
    }
    const last = content.at(-1);
    const isOneText = isParted && last?.type === "text" && child.type === "text" && JSON.stringify(last.marks) === JSON.stringify(child.marks);
    if (isOneText) content[content.length - 1] = { ...last, text: last.text + child.text };
    else content.push(withoutMarkers(child));
    isParted = false;
  }
  return { ...node, content };
}

/**
 * Remove markers from copied content, where they would become plain text. Runs after the editor has set the clipboard.
 */
export function copyWithoutMarkers({ clipboardData }) {
  const html = clipboardData.getData("text/html");
  if (!html.includes("rt-marker")) return;
  const page = new DOMParser().parseFromString(html, "text/html");
  let text = clipboardData.getData("text/plain");
  for (const marker of page.querySelectorAll(".rt-marker")) {
    text = text.replace(marker.textContent, "");
    marker.remove();
  }
  clipboardData.setData("text/html", page.body.innerHTML);
  clipboardData.setData("text/plain", text);
}

const fill = (words, values) => words.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

export class ImageImport {
  /** `replace(id, what)` replaces a marker and returns whether it still existed. */
  constructor(panel, { replace, language, onClose }) {
    Object.assign(this, { panel, replace, language, onClose, images: [], words: panel.dataset });
    this.mayImport = panel.hasAttribute("data-may-import");
    this.status = panel.querySelector("[data-images-said]");
    this.failures = panel.querySelector("[data-images-failed]");
    this.progress = panel.querySelector("progress");
    const acts = {
      import: () => this.start(this.waiting()),
      leave: () => this.leave(),
      cancel: () => this.cancelling.abort(),
      retry: () => this.start(this.failed()),
      close: () => this.close(),
    };
    panel.addEventListener("click", (event) => acts[event.target.closest("[data-images]")?.dataset.images]?.());
  }

  /** Return the text of an image's marker. */
  note(name) {
    return name ? fill(this.words.note, { name }) : this.words.noteBare;
  }

  waiting() {
    return this.images.filter(({ state }) => state === "waiting");
  }

  failed() {
    return this.images.filter(({ state }) => state === "failed");
  }

  add(images) {
    if (!this.cancelling && !this.waiting().length) this.forget();
    for (const image of images) this.images.push({ ...image, state: "waiting" });
    if (this.cancelling) return; // the running import includes them
    const own = this.waiting();
    this.say(this.mayImport ? "offer" : "forbidden", own.length);
    if (this.mayImport) this.offer(own.length);
    else this.show("close");
  }

  offer(count) {
    this.button("import").textContent = this.words[count === 1 ? "importOne" : "importMany"].replace("{n}", String(count));
    this.button("leave").textContent = this.words[count === 1 ? "leaveOne" : "leaveMany"];
    this.show("import", "leave");
  }

  async start(images) {
    for (const image of images) image.state = "waiting";
    this.cancelling = new AbortController();
    const { signal } = this.cancelling;
    this.failures.hidden = true;
    this.show("cancel");
    this.button("cancel").focus();
    for (let done = 0, all = images.length; done < all && !signal.aborted; done += 1, all = done + this.waiting().length) {
      this.progress.max = all;
      this.progress.value = done;
      this.status.textContent = fill(this.words.importing, { n: String(done + 1), all: String(all) });
      await this.bring(this.waiting()[0], signal);
    }
    this.cancelling = null;
    if (signal.aborted) this.cancelled();
    else this.report();
  }

  async bring(image, signal) {
    try {
      const file = this.reason(image) ? null : await this.send(image, signal);
      if (!file) throw new Error(this.reason(image));
      image.state = "done";
      image.isNew = file.isNew;
      // If the marker was deleted meanwhile, the image is in the library anyway.
      this.replace(image.id, { src: file.url, alt: image.alt || file.alt });
    } catch (error) {
      if (error.name === "AbortError") return;
      image.state = "failed";
      image.reason = error.message || this.words.lost;
    }
  }

  /** Return why an image cannot be sent, or an empty string. */
  reason({ file, url }) {
    if (!file && !url) return this.words.local;
    return file && file.size > Number(this.words.most) ? this.words.tooLarge : "";
  }

  send({ file, url, alt }, signal) {
    const body = new FormData();
    if (file) body.append("file", file, file.name);
    else body.append("url", url);
    body.append("alt_text", alt);
    body.append("language", this.language());
    return fetchJson(this.words.address, { body, signal });
  }

  cancelled() {
    const left = this.waiting().length;
    this.say("cancelled", left);
    this.offer(left);
    this.button("import").focus();
  }

  report() {
    const count = (test) => this.images.filter(test).length;
    const [done, duplicates] = [count(({ state }) => state === "done"), count(({ state, isNew }) => state === "done" && !isNew)];
    const failed = this.failed();
    const parts = [["done", done], ["known", duplicates], ["failed", failed.length]].filter(([, number]) => number);
    this.status.textContent = parts.map(([name, number]) => this.sentence(name, number)).join(" ");
    this.failures.replaceChildren(...failed.map(({ alt, name, reason }, at) => {
      const row = document.createElement("li");
      const title = document.createElement("b");
      title.textContent = name || alt || fill(this.words.unnamed, { n: String(at + 1) });
      row.append(title, ` ${reason}`);
      return row;
    }));
    this.failures.hidden = !failed.length;
    this.show(...(failed.length ? ["retry", "close"] : ["close"]));
    this.button("close").focus();
  }

  leave() {
    for (const image of this.waiting()) this.replace(image.id);
    this.close();
  }

  close() {
    this.forget();
    this.panel.hidden = true;
    this.onClose();
  }

  forget() {
    this.images = [];
    this.failures.hidden = true;
  }

  sentence(name, count) {
    return fill(this.words[count === 1 ? `${name}One` : `${name}Many`], { n: String(count) });
  }

  say(name, count) {
    this.panel.hidden = false;
    this.status.textContent = this.sentence(name, count);
  }

  button(name) {
    return this.panel.querySelector(`[data-images=${name}]`);
  }

  show(...names) {
    for (const button of this.panel.querySelectorAll("[data-images]")) button.hidden = !names.includes(button.dataset.images);
    this.progress.hidden = !names.includes("cancel");
  }
}
