// A media field: the picture, its words, and buttons to choose another. The select stays what the form sends.

import { fetchJson } from "../http.js";
import { pickMedia } from "../media/picker.js";
import { tell, words } from "./words.js";

const waiting = new Map();
let planned = false;

/** What is known of a file; all fields of a page ask at once. */
function known(id) {
  if (!waiting.has(id)) {
    let answer;
    const promise = new Promise((resolve) => { answer = resolve; });
    waiting.set(id, { promise, answer });
    if (!planned) {
      planned = true;
      queueMicrotask(askAll);
    }
  }
  return waiting.get(id).promise;
}

async function askAll() {
  planned = false;
  const open = [...waiting].filter(([, one]) => !one.isAsked);
  for (const [, one] of open) one.isAsked = true;
  let found = {};
  try {
    const address = new URL(words("states"), location.href);
    address.searchParams.set("ids", open.map(([id]) => id).join(","));
    found = await fetchJson(address);
  } catch {
    // The name in the select still says what is chosen.
  }
  for (const [id, one] of open) one.answer(found[id] ?? null);
}

async function sent(file) {
  const body = new FormData();
  body.append("file", file, file.name);
  const answer = await fetchJson(words("upload"), { body });
  // A file that is there already is as good as a new one.
  return answer.there ?? answer;
}

class MediaField {
  constructor(select) {
    this.select = select;
    this.box = select.parentElement.querySelector("[data-media-field]");
    if (!this.box) return;
    this.state = this.box.querySelector("[data-state]");
    this.box.hidden = false;
    select.hidden = true;
    select.parentElement.querySelector("[data-other]")?.remove();
    this.part("choose").addEventListener("click", () => this.choose());
    this.part("remove").addEventListener("click", () => {
      this.set(null);
      this.part("choose").focus();
    });
    this.drops();
    select.addEventListener("change", () => this.show());
    document.querySelector(`label[for="${CSS.escape(select.id)}"]`)?.addEventListener("click", () => this.part("choose").focus());
    this.show();
  }

  part(name) {
    return this.box.querySelector(`[data-${name}]`);
  }

  async choose() {
    const file = await pickMedia({ kind: "image", language: words("locale") });
    if (file) this.set(file);
    this.part("choose").focus();
  }

  set(file) {
    const id = file?.id ?? "";
    if (file) waiting.set(id, { promise: Promise.resolve(file), isAsked: true });
    if (![...this.select.options].some((option) => option.value === id)) this.select.add(new Option(file.title, id));
    this.select.value = id;
    tell(this.select);
  }

  async show() {
    const id = this.select.value;
    const file = id ? await known(id) : null;
    if (id !== this.select.value) return;
    const isSet = id !== "";
    this.part("none").hidden = isSet;
    this.part("about").hidden = !isSet;
    this.part("remove").hidden = !isSet;
    this.part("title").textContent = file?.title ?? this.select.selectedOptions[0]?.textContent.trim() ?? "";
    this.part("facts").textContent = file?.facts ?? "";
    this.part("alt").textContent = file?.alt ?? "";
    this.part("no-alt").hidden = !isSet || !file || Boolean(file.alt) || Boolean(file.isDecorative) || file.kind !== "image";
    this.part("open").hidden = !file?.address;
    if (file?.address) this.part("open").href = file.address;
    const image = this.part("thumbnail");
    image.hidden = !file?.thumbnail;
    if (file?.thumbnail) image.src = file.thumbnail;
  }

  drops() {
    const over = (is) => this.box.classList.toggle("is-over", is);
    this.box.addEventListener("dragover", (event) => {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      over(true);
    });
    this.box.addEventListener("dragleave", () => over(false));
    this.box.addEventListener("drop", (event) => {
      over(false);
      const [file] = event.dataTransfer.files;
      if (!file) return;
      event.preventDefault();
      this.upload(file);
    });
  }

  async upload(file) {
    this.state.textContent = this.state.dataset.uploading.replace("{name}", file.name);
    try {
      this.set(await sent(file));
      this.state.textContent = "";
    } catch (error) {
      this.state.textContent = error.message || this.state.dataset.failed;
    }
  }
}

export const mediaField = (select) => new MediaField(select);
