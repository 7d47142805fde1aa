// Picks media files in a dialog: `const file = await pickMedia({kind: "image", language: "en"})` returns
// {id, title, alt, isDecorative, thumbnail, width, height, kind, url}, or null if the dialog was closed without a
// choice. `pickSeveral({most: 10})` returns a list in the order of choice. The server renders the content with all its
// texts.

import { fetchJson, readPage, request, watchFocus } from "../http.js";
import { DelayedSearch } from "../fields/delayed_search.js";
import { acceptFiles, uploads } from "./uploads.js";

const ADDRESS = "/admin/media/asset/pick/";
const TYPING_PAUSE_MILLISECONDS = 300;
let open = null;

/** Return the address of the picker's content. */
export function pickerAddress({ kind = "", language = "" }) {
  const address = new URL(ADDRESS, location.href);
  if (kind) address.searchParams.set("kind", kind);
  if (language) address.searchParams.set("language", language);
  return address;
}

export async function pickMedia(options = {}) {
  return (await pickSeveral({ ...options, most: 1 }))[0] ?? null;
}

export async function pickSeveral({ kind = "", language = "", most = 1 } = {}) {
  if (open) return [];
  open = new Picker(kind, language, most);
  try {
    return await open.show();
  } finally {
    open = null;
  }
}

class Picker {
  constructor(kind, language, most) {
    this.most = most;
    this.all = new Map();
    this.kind = kind;
    this.language = language;
    this.chosen = null;
    this.result = [];
    this.dialog = document.createElement("dialog");
    this.dialog.className = "media-dialog";
    this.dialog.setAttribute("aria-busy", "true");
    this.back = document.activeElement;
  }

  show() {
    document.body.append(this.dialog);
    this.dialog.addEventListener("keydown", (event) => this.onKey(event));
    this.dialog.addEventListener("click", (event) => this.onClick(event));
    this.dialog.addEventListener("dblclick", (event) => {
      // Two clicks have chosen the file and taken it back.
      const tile = event.target.closest("[data-pick]");
      if (tile && this.most > 1) this.choose(tile);
      if (tile) this.use();
    });
    this.dialog.showModal();
    return new Promise((resolve) => {
      this.dialog.addEventListener("close", () => {
        this.dialog.remove();
        this.back?.focus();
        resolve(this.result);
      });
      this.load(pickerAddress(this)).then(() => this.part("search [name=q]")?.focus());
    });
  }

  part(name) {
    return this.dialog.querySelector(`[data-picker-${name.split(" ")[0]}]${name.includes(" ") ? ` ${name.split(" ")[1]}` : ""}`);
  }

  async fetchPicker(address) {
    this.dialog.setAttribute("aria-busy", "true");
    try {
      const answer = await request(address, { headers: { "X-Fragment": "1" }, anyStatus: true, redirects: true });
      const page = await readPage(answer);
      if (answer.ok && page.querySelector("[data-picker]")) return page;
      // The login or permission page explains the problem.
      this.problem(page.querySelector("h1, title")?.textContent?.trim() || answer.statusText);
    } catch (error) {
      this.problem(this.dialog.querySelector("[data-picker]")?.dataset.failed ?? String(error.cause ?? error));
    } finally {
      this.dialog.removeAttribute("aria-busy");
    }
    return null;
  }

  problem(text) {
    const line = document.createElement("p");
    line.className = "picker-problem";
    line.setAttribute("role", "alert");
    line.textContent = text;
    this.dialog.querySelector(".picker-problem")?.remove();
    this.dialog.prepend(line);
  }

  async load(address) {
    const page = await this.fetchPicker(address);
    if (!page || !this.dialog.isConnected) return;
    const content = page.querySelector("[data-picker]");
    await loadStyles(content.dataset.style);
    const head = document.createElement("header");
    const title = document.createElement("h2");
    title.textContent = content.dataset.title;
    title.id = "media-dialog-title";
    const close = document.createElement("button");
    close.type = "button";
    close.className = "picker-close";
    close.setAttribute("aria-label", content.dataset.close);
    close.textContent = "×";
    close.addEventListener("click", () => this.dialog.close());
    head.append(title, close);
    this.dialog.setAttribute("aria-labelledby", title.id);
    this.dialog.replaceChildren(head, content);
    content.classList.toggle("is-several", this.most > 1);
    for (const part of content.querySelectorAll("[data-several]")) part.hidden = this.most === 1;
    if (this.most > 1) this.mark();
    this.wire(content);
  }

  wire(content) {
    const form = this.part("search");
    this.delayed = new DelayedSearch(TYPING_PAUSE_MILLISECONDS, (isCurrent) => this.search(form, isCurrent));
    form.addEventListener("submit", (event) => { event.preventDefault(); this.delayed.start(); });
    form.addEventListener("change", (event) => { if (event.target.matches("select")) this.delayed.start(); });
    form.elements.q.addEventListener("input", () => this.delayed.plan());
    content.querySelector("[data-chosen-decorative]")?.addEventListener("change", ({ target }) => {
      content.querySelector("[data-chosen-alt]").disabled = target.checked;
    });
    const section = content.querySelector("[data-uploads]");
    if (!section) return;
    const list = uploads(section, {
      onStored: (file) => this.addUploaded(file),
      onUse: (file) => { this.addUploaded(file); section.hidden = true; },
    });
    const input = content.querySelector("[data-upload-input]");
    input.addEventListener("change", () => { list.add([...input.files]); input.value = ""; });
    acceptFiles(this.dialog, content.querySelector("[data-drop-veil]"), list.add);
  }

  // Replace only the list; the search text, uploads and choice remain.
  async search(form, isCurrent) {
    const address = new URL(form.action);
    address.search = new URLSearchParams(new FormData(form));
    const page = await this.fetchPicker(address);
    if (!page || !isCurrent()) return Boolean(page);
    this.dialog.querySelector(".picker-problem")?.remove();
    this.dialog.querySelector(".picker-found").replaceWith(page.querySelector(".picker-found"));
    this.mark();
    this.say();
    return true;
  }

  /** Focus the first file, after the results for the current search text have arrived. */
  async focusFirst() {
    if (await this.delayed.settle()) this.dialog.querySelector("[data-pick]")?.focus();
  }

  async loadMore(link) {
    const isFocusFree = watchFocus();
    const page = await this.fetchPicker(link.href);
    if (!page) return;
    const fresh = [...(page.querySelector("[data-picks]")?.children ?? [])];
    const next = page.querySelector("[data-more]");
    this.dialog.querySelector("[data-picks]").append(...fresh);
    if (next) link.href = next.href;
    else link.parentElement.remove();
    if (isFocusFree()) fresh[0]?.querySelector("[data-pick]").focus();
    this.say();
  }

  say() {
    const all = this.dialog.querySelectorAll("[data-pick]");
    const first = this.dialog.querySelector("[data-picks-empty] strong");
    this.part("status").textContent = first?.textContent ?? String(all.length);
  }

  // Put an uploaded file first and choose it.
  addUploaded(file) {
    const found = this.dialog.querySelector(".picker-found");
    let list = found.querySelector("[data-picks]");
    if (!list) {
      list = document.createElement("ul");
      list.className = "media-picks";
      list.dataset.picks = "";
      found.replaceChildren(list);
    }
    let tile = list.querySelector(`[data-pick*="${file.id}"]`);
    if (!tile) {
      tile = tileFor(file);
      const row = document.createElement("li");
      row.append(tile);
      list.prepend(row);
    }
    const fits = !this.kind || this.kind === file.kind || (this.kind === "recording" && ["video", "audio"].includes(file.kind));
    if (fits) this.choose(tile, { isMore: true });
  }

  /** Choose a file and show it. Where several can be chosen, `isMore` keeps the others, `isRange` adds those between. */
  choose(tile, { isMore = false, isRange = false } = {}) {
    const file = JSON.parse(tile.dataset.pick);
    if (this.most > 1) {
      const tiles = [...this.dialog.querySelectorAll("[data-pick]")];
      const [from, to] = [tiles.findIndex((one) => one.dataset.pick.includes(this.chosen?.id ?? " ")), tiles.indexOf(tile)];
      const between = isRange && from >= 0 ? tiles.slice(Math.min(from, to), Math.max(from, to) + 1) : [tile];
      const added = (from > to ? between.reverse() : between).map((one) => JSON.parse(one.dataset.pick));
      if (isMore && this.all.has(file.id)) this.all.delete(file.id);
      else for (const one of added) if (this.all.size < this.most) this.all.set(one.id, one);
      if (!this.all.has(file.id) && this.chosen?.id === file.id) return this.mark();
    }
    this.chosen = file;
    this.mark();
    const pane = this.dialog.querySelector("[data-chosen]");
    const set = (name) => pane.querySelector(`[data-chosen${name}]`);
    pane.hidden = false;
    set("-title").textContent = file.title;
    set("-facts").textContent = file.facts;
    set("-address").href = file.address;
    set("-error").hidden = true;
    const image = set("-image");
    image.hidden = !file.thumbnail;
    if (file.thumbnail) image.src = file.thumbnail;
    for (const field of pane.querySelectorAll(".field")) field.hidden = file.kind !== "image";
    if (set("-alt-text")) set("-alt-text").textContent = file.alt;
    if (!set("-alt")) return;
    set("-alt").value = file.alt;
    set("-alt").disabled = file.isDecorative;
    set("-decorative").checked = file.isDecorative;
  }

  mark() {
    for (const tile of this.dialog.querySelectorAll("[data-pick]")) {
      const { id } = JSON.parse(tile.dataset.pick);
      const isChosen = this.most > 1 ? this.all.has(id) : id === this.chosen?.id;
      tile.setAttribute("aria-pressed", String(isChosen));
    }
    if (this.most === 1) return;
    const use = this.dialog.querySelector("[data-use]");
    const words = use.dataset;
    use.textContent = this.all.size === 1 ? words.one : words.many.replace("{n}", String(this.all.size));
    use.disabled = this.all.size === 0;
    this.part("status").textContent = words.chosen.replace("{n}", String(this.all.size));
  }

  async use() {
    if (!this.chosen || !(await this.saveDescription())) return;
    if (this.all.has(this.chosen.id)) this.all.set(this.chosen.id, this.chosen);
    this.result = this.most > 1 ? [...this.all.values()] : [this.chosen];
    this.dialog.close();
  }

  // Save a changed description before the file is used. Returns whether that succeeded.
  async saveDescription() {
    const text = this.dialog.querySelector("[data-chosen-alt]");
    const box = this.dialog.querySelector("[data-chosen-decorative]");
    const file = this.chosen;
    if (!text || file.kind !== "image") return true;
    if (text.value.trim() === file.alt && box.checked === file.isDecorative) return true;
    const words = this.dialog.querySelector("[data-picker]").dataset;
    const body = new FormData();
    body.set("alt_text", text.value);
    body.set("language", this.language);
    if (box.checked) body.set("is_decorative", "1");
    // The URL template has a nil UUID in place of the file's id.
    const address = words.describe.replace("00000000-0000-0000-0000-000000000000", file.id);
    const problem = this.dialog.querySelector("[data-chosen-error]");
    try {
      const { alt, isDecorative } = await fetchJson(address, { body });
      this.chosen = { ...file, alt, isDecorative };
      problem.hidden = true;
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message || words.failed;
    }
    return problem.hidden;
  }

  onClick(event) {
    const tile = event.target.closest("[data-pick]");
    const link = event.target.closest("[data-more]");
    if (tile) this.choose(tile, { isMore: true, isRange: event.shiftKey });
    else if (link) { event.preventDefault(); this.loadMore(link); }
    else if (event.target.closest("[data-use]")) this.use();
  }

  onKey(event) {
    const tile = event.target.closest("[data-pick]");
    if (event.key === "/" && !event.target.matches("input, textarea, select")) {
      event.preventDefault();
      this.part("search [name=q]").focus();
    } else if (event.key === "ArrowDown" && event.target.matches("[type=search]")) {
      event.preventDefault();
      this.focusFirst();
    } else if (tile && event.key === "Enter") {
      event.preventDefault();
      this.choose(tile);
      this.use();
    } else if (tile && event.key.startsWith("Arrow")) {
      event.preventDefault();
      this.move(tile, event.key);
    }
    // The page below the dialog has its own shortcuts.
    event.stopPropagation();
  }

  move(tile, key) {
    const all = [...this.dialog.querySelectorAll("[data-pick]")];
    const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : columns(all) * (key === "ArrowDown" ? 1 : -1);
    const isRtl = getComputedStyle(tile).direction === "rtl" && Math.abs(step) === 1;
    all[all.indexOf(tile) + (isRtl ? -step : step)]?.focus();
  }
}

function columns(tiles) {
  const top = tiles[0]?.getBoundingClientRect().top;
  return Math.max(1, tiles.findIndex((tile) => tile.getBoundingClientRect().top > top + 4));
}

function tileFor(file) {
  const tile = document.createElement("button");
  tile.type = "button";
  tile.className = "media-pick";
  tile.dataset.pick = JSON.stringify(file);
  tile.title = file.title;
  const span = (name, ...parts) => {
    const made = document.createElement("span");
    made.className = name;
    made.append(...parts);
    return made;
  };
  const image = new Image();
  image.alt = "";
  image.src = file.thumbnail ?? "";
  const name = document.createElement("bdi");
  name.textContent = file.title;
  tile.append(
    span("media-pick-picture", file.thumbnail ? image : span("media-pick-type", file.facts)),
    span("media-pick-name", name),
    span("media-pick-facts", file.facts),
  );
  return tile;
}

export function loadStyles(address) {
  if (document.querySelector(`link[href="${CSS.escape(address)}"]`)) return Promise.resolve();
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = address;
  return new Promise((resolve) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", resolve);
    document.head.append(link);
  });
}
