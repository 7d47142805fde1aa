// The rich-text editor for `textarea[data-richtext]`, loaded when the field comes near the viewport.
//
// The textarea contains the text as Markdown. Once the text has changed, the form also sends the document in
// `<name>~doc`, which can express more than Markdown. Without scripts, or if a text cannot be loaded, the textarea is
// used.

import { attachEach, fetchJson, fetchPage, pageData } from "../http.js";

// A disabled field remains a textarea.
const FIELDS = "textarea[data-richtext]:not(:disabled)";
// Combining marks, such as vowel signs, and invisible characters, such as soft hyphens, do not end a word.
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}\p{Default_Ignorable_Code_Point}]*(?:['’-][\p{L}\p{N}][\p{L}\p{N}\p{M}\p{Default_Ignorable_Code_Point}]*)*/gu;
const SIGNS = { bold: ["**", "**"], italic: ["_", "_"], strike: ["~~", "~~"], superscript: ["<sup>", "</sup>"], subscript: ["<sub>", "</sub>"], code: ["`", "`"] };

function layout({ align, size, caption }) {
  const found = Object.entries({ align, size }).filter(([, value]) => value).map(([name, value]) => `${name}=${value}`);
  if (caption) found.push(`caption="${caption.replace(/["\\]/g, "\\$&")}"`);
  return found.length ? `{${found.join(" ")}}` : "";
}

function inline(node) {
  if (node.type === "hardBreak") return "\n";
  if (node.type === "image") return `![${node.attrs.alt}](${node.attrs.src})${layout(node.attrs)}`;
  let text = node.text ?? "";
  for (const mark of [...(node.marks ?? [])].reverse()) {
    text = mark.type === "link" ? `[${text}](${mark.attrs.href})` : SIGNS[mark.type].join(text);
  }
  return text;
}

const line = (node) => (node.content ?? []).map(inline).join("");
const blocks = (node, join = "\n\n") => (node.content ?? []).map((child) => block(child)).join(join);

function list(node) {
  const first = node.attrs?.start ?? 1;
  return (node.content ?? []).map((item, at) => {
    const sign = node.type === "orderedList" ? `${first + at}. ` : "- ";
    return sign + blocks(item).replace(/\n/g, `\n${" ".repeat(sign.length)}`);
  }).join("\n");
}

function table(node) {
  const rows = (node.content ?? []).map((row) => `| ${(row.content ?? []).map((cell) => blocks(cell, " ")).join(" | ")} |`);
  const width = node.content?.[0]?.content?.length ?? 1;
  rows.splice(1, 0, `|${" --- |".repeat(width)}`);
  return rows.join("\n");
}

function block(node) {
  switch (node.type) {
    case "heading": return `${"#".repeat(node.attrs.level)} ${line(node)}`;
    case "bulletList":
    case "orderedList": return list(node);
    case "blockquote": return blocks(node).replace(/^/gm, "> ");
    case "codeBlock": return `\`\`\`${node.attrs?.language ?? ""}\n${line(node)}\n\`\`\``;
    case "horizontalRule": return "---";
    case "table": return table(node);
    default: return line(node);
  }
}

let tools = null;

/** Return the toolbar, footer and dialogs from the server. A failed request is not cached. */
async function fetchTools(address) {
  tools ??= fetchPage(address);
  try {
    return (await tools).body;
  } catch (error) {
    tools = null;
    throw error;
  }
}

async function convert(address, name, value) {
  const body = new FormData();
  body.append(name, value);
  return fetchJson(address, { body });
}

const convertMarkdown = async (address, markdown) => (await convert(address, "markdown", markdown)).document;

/** Return whether the page has comments, and the user may write them. */
const mayComment = () => Boolean(document.querySelector("[data-comments][data-may-comment]"));

const NEAR = "300px";
const EMPTY = { type: "doc", content: [{ type: "paragraph" }] };
// The editor's modules are loaded only when a field needs them.
const loadEditor = () => Promise.all([import("../vendor/richtext.js"), import("./controls.js"), import("./selection.js"), import("./snippets.js"), import("./image_bar.js")]);
const SNIPPET = "snippet:";

class RichField {
  constructor(area) {
    this.area = area;
    this.address = area.dataset.richtext;
    // A field copied together with its editor has only the editor's markup, so remove that.
    if (area.nextElementSibling?.matches(".rt")) area.nextElementSibling.remove();
    area.hidden = false;
    this.written = this.hidden.value;
    this.isTyped = false;
    this.wasWritten = Boolean(this.written);
  }

  get hidden() {
    const name = `${this.area.name}~doc`;
    let found = this.twin ?? [...this.area.parentElement.querySelectorAll("input[type=hidden]")].find((one) => one.name === name);
    if (!found) {
      found = document.createElement("input");
      found.type = "hidden";
      found.name = name;
      this.area.after(found);
    }
    this.twin = found;
    return found;
  }

  async start() {
    if (this.isStarted) return;
    this.isStarted = true;
    let typed;
    try {
      const [[bundle, controls, selection, snippets, { ImageBar }], tools] = await Promise.all([loadEditor(), fetchTools(this.address)]);
      Object.assign(this, { bundle, controls, selection, snippets, ImageBar });
      const stored = await this.storedContent();
      typed = await this.typedContent();
      // No await from here on: the next key press must go to the editor.
      this.build(tools, stored);
      this.takeOver(typed);
    } catch {
      // Offline, logged out, or an outdated document format: the Markdown can still be edited.
      this.editor?.destroy();
      this.editor = undefined;
      this.frame?.remove();
      this.area.hidden = false;
      if (typed?.range) this.area.focus();
    }
  }

  /** Return the document before any input: from a refused form, as stored, or converted from the Markdown. */
  async storedContent() {
    if (this.written) return JSON.parse(this.written);
    const stored = this.area.parentElement.querySelector("template[data-document]")?.dataset.document;
    if (stored) return JSON.parse(stored);
    return this.area.defaultValue.trim() ? convertMarkdown(this.address, this.area.defaultValue) : EMPTY;
  }

  /** Return the converted content of the textarea. Repeats if the text or selection changed during the conversion. */
  async typedContent() {
    for (;;) {
      await this.composing;
      const now = this.readArea();
      const found = await this.convertTyped(now);
      if (!this.composing && JSON.stringify(this.readArea()) === JSON.stringify(now)) return found;
    }
  }

  readArea() {
    const { value, selectionStart, selectionEnd } = this.area;
    const hasFocus = document.activeElement === this.area;
    return { value, document_: this.hidden.value, range: hasFocus ? [selectionStart, selectionEnd] : null };
  }

  /** Return `content` if the text differs from the stored one, and `marked` or `counts` to locate the selection. */
  async convertTyped({ value, document_, range }) {
    const { isSameText, markSelection, lengthOf } = this.selection;
    const toDocument = (markdown) => convertMarkdown(this.address, markdown);
    const isChanged = !document_ && value !== this.area.defaultValue;
    if (!isChanged && !range) return {};
    const withSigns = range && markSelection(value, range);
    const [plain, marked] = await Promise.all([toDocument(value), withSigns && toDocument(withSigns)]);
    const found = { range, content: isChanged ? plain : null };
    if (marked && isSameText(marked, plain)) found.marked = marked;
    // Inside Markdown syntax, such as the address of a link, a selection marker would change the text.
    else if (range) found.counts = await Promise.all(range.map(async (at) => lengthOf(await toDocument(value.slice(0, at)))));
    return found;
  }

  /** Transfer text, selection and focus of the textarea to the editor. Typed text can be undone. */
  takeOver({ content, marked, counts, range }) {
    const { view, schema } = this.editor;
    let selected;
    if (content) {
      const step = view.state.tr.replaceWith(0, view.state.doc.content.size, schema.nodeFromJSON(marked ?? content).content);
      if (marked) selected = this.selection.takeSignsOut(step);
      view.dispatch(step.setMeta("addToHistory", this.isTyped));
    }
    if (!range) return;
    selected ??= (counts ?? this.selection.lengthsBeforeSigns(marked)).map((count) => this.selection.positionOf(view.state.doc, count));
    const [x, y] = [window.scrollX, window.scrollY];
    this.editor.commands.setTextSelection({ from: selected[0], to: selected[1] });
    view.focus();
    window.scrollTo(x, y);
    this.editor.commands.scrollIntoView();
  }

  /** Return whether the hidden document has the same text as the Markdown. */
  hasSameText() {
    return Boolean(this.hidden.value) && blocks(JSON.parse(this.hidden.value)).trim() === this.area.value.trim();
  }

  /** Handle input in the textarea before the editor has loaded. Clears the hidden document, which is now outdated. */
  noteTyped() {
    this.isTyped = true;
    this.hidden.value = "";
  }

  /** Delay the editor while an input method composes a word, since hiding the textarea would interrupt it. */
  waitForComposition() {
    this.composing = new Promise((resolve) => { this.area.addEventListener("compositionend", resolve, { once: true }); });
    this.composing.then(() => { this.composing = undefined; });
  }

  build(tools, content) {
    this.tools = tools;
    this.frame = document.createElement("div");
    this.frame.className = "rt";
    this.bar = document.importNode(tools.querySelector(".rt-tools"), true);
    this.foot = document.importNode(tools.querySelector(".rt-foot"), true);
    this.place = document.createElement("div");
    this.place.className = "rt-text";
    const panel = document.importNode(tools.querySelector(".rt-images"), true);
    const menu = document.importNode(tools.querySelector(".rt-menu"), true);
    const imageBar = document.importNode(tools.querySelector(".rt-image-bar"), true);
    this.frame.append(this.bar, this.place, panel, this.foot, menu, imageBar);
    this.area.after(this.frame);
    this.images = new this.controls.ImageImport(panel, {
      replace: (id, what) => this.bundle.replaceMarker(this.editor, id, what),
      language: () => pageData("locale"),
      onClose: () => this.editor.commands.focus(),
    });
    this.menu = new this.controls.InsertMenu(menu, { choose: (name) => this.insert(name), isOffered: (name) => this.mayInsert(name) });
    this.imageBar = new this.ImageBar(imageBar);
    this.commentButton.hidden = !mayComment();
    this.open(content);
    this.place.addEventListener("paste", (event) => this.notePaste(event), true);
    for (const name of ["copy", "cut"]) this.place.addEventListener(name, this.controls.copyWithoutMarkers);
    this.frame.addEventListener("keydown", (event) => {
      if (this.place.contains(event.target) && !this.menu.key(event)) this.imageBar.key(event);
    }, true);
    this.bar.addEventListener("click", (event) => this.press(event.target.closest("[data-do]")?.dataset.do));
    this.bar.addEventListener("change", (event) => {
      if (event.target.matches("[data-block]")) this.controls.setBlock(this.editor, Number(event.target.value));
    });
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.area.labels[0]?.addEventListener("click", (event) => {
      if (this.isSource) return;
      event.preventDefault();
      this.editor.commands.focus();
    });
    this.showRich(true);
  }

  attributes() {
    const found = { role: "textbox", "aria-multiline": "true", dir: "auto", class: "rt-page" };
    const label = this.area.labels[0];
    if (label) {
      label.id ||= `${this.area.id}-label`;
      found["aria-labelledby"] = label.id;
    }
    const described = (this.area.getAttribute("aria-describedby") ?? "").replace(`${this.area.id}-markdown`, "").trim();
    if (described) found["aria-describedby"] = described;
    if (this.area.getAttribute("aria-invalid")) found["aria-invalid"] = "true";
    return found;
  }

  open(content) {
    const initial = content?.content?.length ? content : EMPTY;
    this.editor?.destroy();
    this.editor = this.bundle.createEditor({
      element: this.place,
      content: initial,
      attributes: this.attributes(),
      onChange: () => this.changed(),
      onMove: (editor) => {
        this.controls.show(this.bar, editor);
        this.menu.follow(editor);
        this.imageBar.follow(editor);
      },
      note: (name) => this.images.note(name),
      onImages: (images) => this.images.add(images),
      passages: { onOpen: (id) => this.tellComment("cms:open-thread", { id }), onComment: () => this.comment() },
    });
    this.markPassages(this.passages ?? []);
    this.first = JSON.stringify(this.stored());
    this.controls.show(this.bar, this.editor);
    this.count();
  }

  /** Return the document to store, without the markers of images that were not imported. */
  stored() {
    return this.bundle.documentOf({ getJSON: () => this.controls.withoutMarkers(this.editor.getJSON()) });
  }

  changed() {
    const document_ = this.stored();
    const text = JSON.stringify(document_);
    this.hidden.value = text === this.first && !this.wasWritten ? "" : text;
    this.sent = this.hidden.value;
    this.area.value = this.hidden.value ? blocks(document_).trim() : this.area.defaultValue;
    // takeWritten ignores the event dispatched here.
    this.isOwn = true;
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
    this.isOwn = false;
    this.count();
  }

  count() {
    const text = this.editor.getText({ blockSeparator: " " });
    const number = (text.match(WORD) ?? []).length;
    const { wordsOne, wordsMany } = this.bar.dataset;
    this.foot.querySelector("[data-words]").textContent = number === 1 ? wordsOne : wordsMany.replace("{n}", String(number));
  }

  get commentButton() {
    return this.bar.querySelector("[data-do=comment]");
  }

  /** Mark passages with comments. They are kept until the editor has loaded. */
  markPassages(passages) {
    this.passages = passages;
    if (this.editor) this.bundle.markPassages(this.editor, passages);
  }

  /** Select a marked passage. Returns whether it is marked. */
  showPassage(id) {
    return Boolean(this.editor) && !this.isSource && this.bundle.showPassage(this.editor, id);
  }

  /** Start a comment on the selected words, or open the thread at the cursor. Returns whether that is possible here. */
  comment() {
    if (!mayComment()) return false;
    const { id, ...passage } = this.bundle.selectedPassage(this.editor);
    this.tellComment(...(id ? ["cms:open-thread", { id }] : ["cms:comment", passage]));
    return true;
  }

  tellComment(name, detail) {
    this.area.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }

  press(name) {
    if (!name) return;
    if (name === "comment") this.comment();
    else if (name === "source") this.toggleSource();
    else if (name === "wide") this.toggleWide();
    else if (name === "snippet") this.saveSnippet();
    else this.controls.run(name, this.editor, { tools: this.tools, bundle: this.bundle, language: pageData("locale") });
  }

  insert(name) {
    if (name === "module") this.moduleButton.click();
    else if (name.startsWith(SNIPPET)) this.insertSnippet(name.slice(SNIPPET.length));
    else if (name.startsWith("heading")) this.controls.setBlock(this.editor, Number(name.at(-1)));
    else this.press(name);
  }

  async insertSnippet(id) {
    try {
      await this.snippets.insertSnippet(this.editor, id);
    } catch (error) {
      this.say(error.message || this.bar.dataset.failed);
    }
  }

  async saveSnippet() {
    const { documentOf } = this.bundle;
    const { withoutMarkers } = this.controls;
    const button = this.bar.querySelector("[data-do=snippet]");
    this.say(await this.snippets.saveSnippet(this.editor, this.tools, { documentOf, withoutMarkers }, button));
  }

  /** Offer to embed an address that is pasted on a line of its own. */
  notePaste({ clipboardData }) {
    const text = clipboardData?.getData("text/plain").trim() ?? "";
    const { $from, empty } = this.editor.state.selection;
    const isOwnLine = empty && $from.parent.type.name === "paragraph" && !$from.parent.content.size;
    const url = isOwnLine && this.moduleButton ? this.snippets.embeddableUrl(text) : "";
    if (!url) return;
    const button = document.createElement("button");
    const { embed, embedAsk } = this.bar.dataset;
    Object.assign(button, { type: "button", className: "small", textContent: embed });
    button.addEventListener("click", () => {
      this.snippets.removeLine(this.editor, url);
      this.say("");
      this.area.dispatchEvent(new CustomEvent("cms:embed", { bubbles: true, detail: { url } }));
    });
    this.say(embedAsk);
    this.foot.querySelector("[data-said]").append(" ", button);
  }

  say(words) {
    this.foot.querySelector("[data-said]").textContent = words;
  }

  mayInsert(name) {
    if (name === "module") return Boolean(this.moduleButton);
    if (name.startsWith(SNIPPET)) return this.snippets.isOffered(this.frame.querySelector(`[data-insert-block="${name}"]`).dataset);
    return name !== "table" || !this.editor.isActive("table");
  }

  /** The button that adds a module below this one, if the text belongs to a module. */
  get moduleButton() {
    return this.area.closest("[data-module]")?.querySelector(":scope > .module-between [data-insert]");
  }

  toggleWide(isOn = !this.frame.classList.contains("is-wide")) {
    this.frame.classList.toggle("is-wide", isOn);
    document.documentElement.classList.toggle("rt-is-wide", isOn);
    this.bar.querySelector("[data-do=wide]").setAttribute("aria-pressed", String(isOn));
    if (!this.isSource) this.editor.commands.focus();
  }

  async toggleSource() {
    if (this.isToggling) return;
    this.isToggling = true;
    const status = this.foot.querySelector("[data-said]");
    status.textContent = "";
    try {
      if (this.isSource) await this.fromSource();
      else await this.toSource();
    } catch (error) {
      status.textContent = error.message || this.bar.dataset.failed;
    } finally {
      this.isToggling = false;
    }
  }

  /** Switch to Markdown. Converts again if the text changed during the conversion. */
  async toSource() {
    while (this.hidden.value) {
      const text = JSON.stringify(this.stored());
      const { markdown } = await convert(this.address, "document", text);
      if (JSON.stringify(this.stored()) !== text) continue;
      this.area.value = markdown;
      break;
    }
    if (!this.hidden.value) this.area.value = this.area.defaultValue;
    this.shownMarkdown = this.area.value;
    this.showRich(false);
    this.area.focus();
  }

  /** Switch back from Markdown. If it is unchanged, so is the document, which may express more than Markdown. */
  async fromSource() {
    while (this.area.value !== this.shownMarkdown) {
      const markdown = this.area.value;
      const content = await convertMarkdown(this.address, markdown);
      if (this.area.value !== markdown) continue;
      this.editor.commands.setContent(content, { emitUpdate: true });
      break;
    }
    this.showRich(true);
    this.editor.commands.focus();
  }

  showRich(isOn) {
    this.isSource = !isOn;
    this.area.hidden = isOn;
    this.place.hidden = !isOn;
    const help = this.area.parentElement.querySelector("[data-markdown-help]");
    if (help) help.hidden = isOn;
    if (isOn) this.bar.after(this.place);
    // The source replaces the text inside the same frame.
    else this.bar.after(this.area);
    if (isOn) this.frame.before(this.area);
    for (const part of this.bar.querySelectorAll("[data-do], [data-block]")) {
      if (!["source", "wide"].includes(part.dataset.do)) part.toggleAttribute("disabled", !isOn);
    }
    this.bar.querySelector("[data-do=source]").textContent = isOn ? this.bar.dataset.source : this.bar.dataset.rich;
    if (isOn) this.controls.show(this.bar, this.editor);
  }

  /** Load text that another script has written into the textarea, such as a restored draft or an agent's text. */
  async takeWritten() {
    if (this.isOwn) return;
    if (this.isSource) {
      this.hidden.value = "";
      return;
    }
    // A restored draft sets the hidden document right after the Markdown, so wait for it.
    await new Promise((resolve) => { setTimeout(resolve); });
    const own = this.hidden.value;
    const content = own && own !== this.sent ? JSON.parse(own) : await convertMarkdown(this.address, this.area.value);
    this.editor.commands.setContent(content, { emitUpdate: true });
  }

  key(event) {
    if (event.key === "Escape" && this.frame.classList.contains("is-wide")) {
      event.preventDefault();
      event.stopPropagation();
      this.toggleWide(false);
    } else if (event.key === "F10" && event.altKey) {
      event.preventDefault();
      this.bar.querySelector("select, button").focus();
    } else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !this.isSource) {
      event.preventDefault();
      event.stopPropagation();
      this.press("link");
    } else if (event.key === "Escape" && this.bar.contains(event.target)) {
      this.editor.commands.focus();
    } else if (["ArrowLeft", "ArrowRight"].includes(event.key) && event.target.matches(".rt-tools button")) {
      event.preventDefault();
      const all = [...this.bar.querySelectorAll("select, button")].filter((one) => !one.disabled && one.offsetParent);
      const at = all.indexOf(event.target) + (event.key === "ArrowRight" ? 1 : -1);
      all.at(at % all.length)?.focus();
    }
  }
}

const fields = new WeakMap();
const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    fields.get(target)?.start();
  }
}, { rootMargin: NEAR });

// After a save in place the loaded text is no longer the stored one, so the form must send the document even if the
// text returns to its original state.
document.addEventListener("cms:saved", () => {
  for (const area of document.querySelectorAll(FIELDS)) {
    const field = fields.get(area);
    if (field?.hidden.value) field.wasWritten = true;
  }
});

// The passages with comments of each field (static/cms/comments/editor_comments.js).
let passages = new Map();
const pathOf = (area) => area.closest("[data-field]")?.dataset.field;
document.addEventListener("cms:passages", ({ detail }) => {
  passages = detail.passages;
  for (const area of document.querySelectorAll(FIELDS)) fields.get(area)?.markPassages(passages.get(pathOf(area)) ?? []);
});
document.addEventListener("cms:show-passage", (event) => {
  const areas = [...document.querySelectorAll(FIELDS)];
  if (areas.some((area) => fields.get(area)?.showPassage(event.detail.id))) event.preventDefault();
});

// Fields of the initial page can only have been changed by the user, or restored by the browser, not by another script.
let isFirst = true;

attachEach(FIELDS, (area) => {
  const field = new RichField(area);
  fields.set(area, field);
  field.passages = passages.get(pathOf(area)) ?? [];
  if (isFirst && area.value !== area.defaultValue && !field.hasSameText()) field.noteTyped();
  area.addEventListener("focus", () => field.start(), { once: true });
  area.addEventListener("input", ({ isComposing }) => {
    if (field.editor) return field.takeWritten();
    if (isComposing && !field.composing) field.waitForComposition();
    return field.noteTyped();
  });
  if (document.activeElement === area) field.start();
  near.observe(area);
});
isFirst = false;
