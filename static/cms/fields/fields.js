// Enhances the fields of a form by their data attributes, also in parts that are added later. The form still sends the
// controls that the server rendered.

import { announce, attachEach, fetchJson, notifyChanged, pageData } from "../http.js";
import { combobox, findTargets, linkField } from "./combobox.js";

const waiting = new Map();
let planned = false;

/** Return the data of a file. The files of all fields on a page are fetched in one request. */
function fetchFile(id) {
  if (!waiting.has(id)) {
    let answer;
    const promise = new Promise((resolve) => { answer = resolve; });
    waiting.set(id, { promise, answer });
    if (!planned) {
      planned = true;
      queueMicrotask(fetchFiles);
    }
  }
  return waiting.get(id).promise;
}

async function fetchFiles() {
  planned = false;
  const pending = [...waiting].filter(([, one]) => !one.isRequested);
  for (const [, one] of pending) one.isRequested = true;
  let found = {};
  try {
    const address = new URL(pageData("states"), location.href);
    address.searchParams.set("ids", pending.map(([id]) => id).join(","));
    found = await fetchJson(address);
  } catch {
    // The select still has the name of the file.
  }
  for (const [id, one] of pending) one.answer(found[id] ?? null);
}

async function uploadFile(file) {
  const body = new FormData();
  body.append("file", file, file.name);
  const answer = await fetchJson(pageData("upload"), { body });
  // `there` is an identical file that already exists in the library.
  return answer.there ?? answer;
}

class MediaField {
  constructor(select) {
    this.select = select;
    this.box = select.parentElement.querySelector("[data-media-field]");
    if (!this.box) return;
    this.state = this.box.querySelector("[data-state]");
    this.box.hidden = false;
    hide(select, this.part("choose"));
    removeOther(select.parentElement);
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
    const { pickMedia } = await import("../media/picker.js");
    const file = await pickMedia({ kind: this.select.dataset.accepts || "image", language: pageData("locale") });
    if (file) this.set(file);
    this.part("choose").focus();
  }

  set(file) {
    const id = file?.id ?? "";
    if (file) waiting.set(id, { promise: Promise.resolve(file), isRequested: true });
    if (![...this.select.options].some((option) => option.value === id)) this.select.add(new Option(file.title, id));
    this.select.value = id;
    notifyChanged(this.select);
  }

  async show() {
    const id = this.select.value;
    const file = id ? await fetchFile(id) : null;
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
      const { files: [file], files: { length } } = event.dataTransfer;
      // A list of files takes several, each as an item.
      if (!file || (length > 1 && this.box.closest("[data-repeater]"))) return;
      event.preventDefault();
      event.stopPropagation();
      this.upload(file);
    });
  }

  async upload(file) {
    this.uploads = (this.uploads ?? 0) + 1;
    const [mine, before] = [this.uploads, this.select.value];
    this.state.textContent = this.state.dataset.uploading.replace("{name}", file.name);
    let message = "";
    try {
      const stored = await uploadFile(file);
      // A file chosen during the upload is the newer choice. The uploaded file is in the library anyway.
      if (mine === this.uploads && this.select.value === before) this.set(stored);
    } catch (error) {
      message = error.message || this.state.dataset.failed;
    }
    if (mine === this.uploads) this.state.textContent = message;
  }
}

/** Hide a control and move its focus to the replacement. */
function hide(control, replacement) {
  const hadFocus = document.activeElement === control;
  control.hidden = true;
  if (hadFocus) replacement.focus();
}

/** Remove the field for entering an ID by hand, unless it is in use. */
function removeOther(place) {
  const other = place.querySelector("[data-other]");
  const field = other?.querySelector("input");
  if (other && field.value === "" && document.activeElement !== field) other.remove();
}

const MAX_CHECKBOXES = 12;

/** Return the found terms, plus options to create a term with the typed name if it does not exist and the user may. */
async function findOrCreate(field, q, found) {
  const taxonomies = field.dataset.creatable ? JSON.parse(field.dataset.creatable) : [];
  const known = q.toLocaleLowerCase();
  if (!q || found.some((item) => item.title.toLocaleLowerCase() === known)) return found;
  const title = pageData("createTerm").replace("{name}", q);
  return [...found, ...taxonomies.map(({ slug, label }) => ({ title, detail: taxonomies.length > 1 ? label : "", creates: { slug, name: q } }))];
}

/** Create the term of an option. Returns null on failure, after reporting the error on the page. */
async function createTerm({ slug, name }, place) {
  place.querySelector(".field-errors")?.remove();
  try {
    const term = await fetchJson(`/api/taxonomies/${slug}/terms`, { body: { name, locale: pageData("locale") } });
    announce(pageData("createdTerm").replace("{name}", term.name));
    return { id: term.id, title: term.name, path: "" };
  } catch (error) {
    const line = document.createElement("p");
    line.className = "field-errors";
    line.setAttribute("role", "alert");
    line.textContent = error.data?.message ?? pageData("createFailed");
    place.append(line);
    return null;
  }
}

/** Return the search restrictions of a field, from its attributes or the current values of other fields. */
function boundsOf(select) {
  const { among, amongOf, onlyLocale, onlyLocaleOf, without } = select.dataset;
  const valueOf = (name) => select.form.elements[name].value;
  const more = {};
  if (onlyLocale !== undefined || onlyLocaleOf) more.only_locale = onlyLocale ?? valueOf(onlyLocaleOf);
  if (without) more.without = without;
  return [amongOf ? valueOf(amongOf) : among ?? "", more];
}

function searchInput(label, kind) {
  const input = document.createElement("input");
  input.type = "text";
  input.className = "reference-search";
  input.placeholder = pageData({ "post-reference": "find", people: "findPerson" }[kind] ?? "findTerm");
  input.setAttribute("aria-label", label);
  return input;
}

function labelOf(element) {
  const named = element.id ? document.querySelector(`label[for="${CSS.escape(element.id)}"]`) : null;
  return (named ?? element.closest("fieldset")?.querySelector("legend"))?.textContent.trim() ?? "";
}

function clearButton() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "reference-clear";
  button.textContent = "✕";
  button.setAttribute("aria-label", pageData("clear"));
  return button;
}

/** Add a search input for one post or term. It shows the value of the hidden select. */
function referenceField(select) {
  const kind = select.dataset.reference;
  const place = document.createElement("div");
  place.className = "reference";
  const input = searchInput(labelOf(select), kind);
  const clear = clearButton();
  place.append(input, clear);
  select.before(place);
  hide(select, input);
  removeOther(select.parentElement);
  if (select.getAttribute("aria-describedby")) input.setAttribute("aria-describedby", select.getAttribute("aria-describedby"));
  if (select.getAttribute("aria-invalid")) input.setAttribute("aria-invalid", "true");

  function show() {
    const option = select.selectedOptions[0];
    input.value = option?.value ? option.textContent.trim() : "";
    clear.hidden = !option?.value;
  }
  function choose(item) {
    if (![...select.options].some((option) => option.value === item.id)) {
      select.add(new Option(item.path ? `${item.title} — ${item.path}` : item.title, item.id));
    }
    select.value = item.id;
    notifyChanged(select);
    show();
  }
  combobox(input, {
    search: async (q) => {
      const words = q === shownTitle() ? "" : q;
      return findOrCreate(select, words, await findTargets(kind, words, ...boundsOf(select)));
    },
    onPick: async (item) => {
      const before = select.value;
      const made = item.creates ? await createTerm(item.creates, place) : item;
      // An option chosen while the term was created is the newer choice.
      if (made && select.value === before) choose(made);
    },
  });
  for (const name of [select.dataset.amongOf, select.dataset.onlyLocaleOf]) {
    // A term of another taxonomy or language cannot be the parent.
    if (name) select.form.elements[name].addEventListener("change", () => choose({ id: "", title: "" }));
  }
  const shownTitle = () => select.selectedOptions[0]?.textContent.trim() ?? "";
  input.addEventListener("focus", () => input.select());
  input.addEventListener("blur", show);
  clear.addEventListener("click", () => {
    choose({ id: "", title: "" });
    input.focus();
  });
  select.addEventListener("change", show);
  document.querySelector(`label[for="${CSS.escape(select.id)}"]`)?.addEventListener("click", () => input.focus());
  show();
}

/** Add a button to a chosen person that moves it one place up: the order is the one that readers see. */
function moveUpButton(check) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chosen-up";
  button.textContent = "↑";
  button.setAttribute("aria-label", pageData("moveUp").replace("{name}", check.textContent.trim()));
  button.addEventListener("click", () => {
    check.previousElementSibling?.before(check);
    button.focus();
    announce(pageData("movedUp").replace("{name}", check.querySelector("span").textContent).replace("{n}", String([...check.parentElement.children].indexOf(check) + 1)));
    notifyChanged(check.querySelector("input"));
  });
  check.append(button);
}

/** Add a search input for several posts, terms or people. Chosen ones remain visible as checkboxes. */
function manyReferences(group) {
  const boxes = [...group.querySelectorAll("[data-checks] .check")];
  const isLong = boxes.length > MAX_CHECKBOXES || group.dataset.many !== "terms";
  if (!isLong && !group.dataset.creatable) return;
  const checks = group.querySelector("[data-checks]");
  const hadFocus = checks.contains(document.activeElement);
  if (isLong) {
    removeOther(group);
    for (const box of boxes) if (!box.querySelector("input").checked) box.remove();
    for (const group of checks.querySelectorAll(".check-group, .help")) group.remove();
    checks.classList.add("chosen");
  }
  const isOrdered = group.dataset.many === "people";
  if (isOrdered) checks.querySelectorAll(".check").forEach(moveUpButton);
  const place = document.createElement("div");
  place.className = "reference";
  const input = searchInput(labelOf(group), group.dataset.many);
  if (group.dataset.creatable) input.placeholder = pageData("findOrCreate");
  place.append(input);
  checks.after(place);
  if (hadFocus && !checks.contains(document.activeElement)) input.focus();

  function add(item) {
    checks.querySelector(".help")?.remove();
    const there = [...checks.querySelectorAll("input")].find((box) => box.value === item.id);
    if (!there) {
      const label = document.createElement("label");
      label.className = "check";
      const box = document.createElement("input");
      box.type = "checkbox";
      box.name = group.querySelector("[data-checks] input")?.name ?? group.dataset.name;
      box.value = item.id;
      const text = document.createElement("span");
      text.textContent = item.title;
      label.append(box, text);
      checks.append(label);
      if (isOrdered) moveUpButton(label);
    }
    const box = there ?? checks.lastElementChild.querySelector("input");
    box.checked = true;
    notifyChanged(box);
  }
  combobox(input, {
    search: async (q) => findOrCreate(group, q, await findTargets(group.dataset.many, q, group.dataset.among ?? "")),
    onPick: async (item) => {
      const typed = input.value;
      const made = item.creates ? await createTerm(item.creates, place) : item;
      if (!made) return;
      add(made);
      // The user may already have typed the next name.
      if (input.value === typed) input.value = "";
    },
  });
}

const COUNTER_THRESHOLD = 0.7;
const JSON_PREVIEW_LENGTH = 90;

/** Show the number of remaining characters once most of them are used. */
function counter(line) {
  const field = document.getElementById(line.dataset.counter);
  if (!field) return;
  const maxLength = Number(line.dataset.most);
  line.setAttribute("role", "status");
  const count = () => {
    const left = maxLength - [...field.value].length;
    line.hidden = left > maxLength * (1 - COUNTER_THRESHOLD);
    line.classList.toggle("is-over", left < 0);
    line.textContent = line.hidden ? "" : (left < 0 ? line.dataset.over : line.dataset.left).replace("{n}", String(Math.abs(left)));
  };
  field.addEventListener("input", count);
  count();
}

/** Show a reset button while a value differs from its default. */
function reset(button) {
  const field = document.getElementById(button.dataset.reset);
  const defaultValue = button.dataset.default;
  if (!field || defaultValue === "") return;
  const update = () => { button.hidden = field.value === defaultValue; };
  field.addEventListener("input", update);
  field.addEventListener("change", update);
  button.addEventListener("click", () => {
    field.value = defaultValue;
    notifyChanged(field);
    field.focus();
  });
  update();
}

/** Update the preview of a folded JSON field, and open it when its label is clicked. */
function jsonFold(fold) {
  const field = fold.querySelector("textarea");
  const preview = fold.querySelector("[data-json-preview]");
  const show = () => { preview.textContent = field.value.trim().replace(/\s+/g, " ").slice(0, JSON_PREVIEW_LENGTH) || preview.dataset.none; };
  field.addEventListener("input", show);
  field.labels[0]?.addEventListener("click", () => { fold.open = true; });
}

attachEach("input[data-link]", linkField);
attachEach("[data-json]", jsonFold);
attachEach("select[data-media]", (select) => new MediaField(select));
attachEach("select[data-reference]", referenceField);
attachEach("fieldset[data-many], div[data-many]", manyReferences);
attachEach("[data-counter]", counter);
attachEach("[data-reset]", reset);
