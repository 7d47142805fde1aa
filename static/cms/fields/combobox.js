// An input with a list of search results (ARIA 1.2 combobox), operated with arrows, Enter and Escape.
//
//   combobox(input, { search: async (words) => [{ title, detail, state }], onPick: (item) => {} })

import { fetchJson, notifyChanged, pageData } from "../http.js";
import { DelayedSearch } from "./delayed_search.js";

let number = 0;
const TYPING_PAUSE_MILLISECONDS = 150;

class Combobox {
  constructor(input, { search, onPick, keepsText = false }) {
    Object.assign(this, { input, search, onPick, keepsText, items: [], at: -1 });
    this.delayed = new DelayedSearch(TYPING_PAUSE_MILLISECONDS, (isCurrent) => this.runSearch(isCurrent));
    number += 1;
    this.list = document.createElement("ul");
    this.list.id = `found-${number}`;
    this.list.className = "found";
    this.list.hidden = true;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", pageData("choices"));
    this.statusLine = document.createElement("span");
    this.statusLine.className = "visually-hidden";
    this.statusLine.setAttribute("role", "status");
    input.after(this.list, this.statusLine);
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-expanded": "false", "aria-controls": this.list.id, "aria-autocomplete": "list",
    })) input.setAttribute(name, value);
    input.autocomplete = "off";
    this.listen();
  }

  listen() {
    this.input.addEventListener("input", (event) => {
      // Ignore events that scripts dispatch (notifyChanged).
      if (!event.isTrusted) return;
      // The options shown belong to the previous text.
      this.unmark();
      this.list.setAttribute("aria-busy", "true");
      this.delayed.plan();
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    // In a field that keeps its text, leaving it with an option highlighted chooses that option.
    this.input.addEventListener("blur", () => {
      if (this.keepsText && this.at >= 0 && !this.list.hidden) this.pick(this.at);
      else this.close();
    });
    if (!this.keepsText) this.input.addEventListener("focus", () => this.delayed.start());
    // Keep the focus in the input: a blur would close the list before the click.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.pick(Number(option.dataset.at));
    });
  }

  async runSearch(isCurrent) {
    this.list.setAttribute("aria-busy", "true");
    let found = null;
    try {
      found = await this.search(this.input.value.trim());
    } catch {
      // Reported by show(null).
    }
    if (!isCurrent()) return true;
    this.list.removeAttribute("aria-busy");
    if (document.activeElement !== this.input) return false;
    this.show(found);
    if (this.isEager) this.move(0);
    this.isEager = false;
    return found !== null;
  }

  show(found) {
    this.items = found ?? [];
    this.at = -1;
    this.list.replaceChildren(...this.items.map((item, at) => this.option(item, at)));
    const count = this.items.filter((item) => !item.creates).length;
    const many = count === 1 ? pageData("one") : pageData("many").replace("{n}", String(count));
    const message = found === null ? pageData("failed") : count ? many : pageData("nothing");
    this.statusLine.textContent = message;
    if (!this.items.length) {
      if (this.keepsText && found !== null) return this.close();
      const note = document.createElement("li");
      note.className = "found-none";
      note.setAttribute("role", "presentation");
      note.textContent = message;
      this.list.append(note);
    }
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", String(this.items.length > 0));
  }

  option(item, at) {
    const option = document.createElement("li");
    option.id = `${this.list.id}-${at}`;
    option.dataset.at = at;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    const title = document.createElement("span");
    title.className = "found-title";
    title.textContent = item.title;
    const detail = document.createElement("span");
    detail.className = "found-detail";
    detail.textContent = [item.detail, item.state === "draft" ? item.status : ""].filter(Boolean).join(" · ");
    option.append(title, detail);
    return option;
  }

  unmark() {
    this.at = -1;
    this.isEager = false;
    for (const option of this.list.children) if (option.matches("[role=option]")) option.setAttribute("aria-selected", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  move(to) {
    const options = [...this.list.querySelectorAll("[role=option]")];
    if (!options.length) return;
    this.at = (to + options.length) % options.length;
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === this.at)));
    this.input.setAttribute("aria-activedescendant", options[this.at].id);
    options[this.at].scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const isOpen = !this.list.hidden;
    const steps = { ArrowDown: this.at + 1, ArrowUp: this.at < 0 ? -1 : this.at - 1 };
    if (event.key in steps) {
      event.preventDefault();
      // An arrow key pressed before the results arrive highlights the first of them.
      if (this.delayed.isPending) this.isEager = true;
      else if (isOpen) this.move(steps[event.key]);
      else this.delayed.start();
    } else if (event.key === "Enter" && this.delayed.isPending && (this.isEager || !this.keepsText)) {
      event.preventDefault();
      this.pickWhenFound();
    } else if (event.key === "Enter" && isOpen && this.at >= 0) {
      event.preventDefault();
      this.pick(this.at);
    } else if (event.key === "Enter" && !this.keepsText) {
      // Enter must not submit the surrounding form.
      event.preventDefault();
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    }
  }

  /**
   * Handle Enter before the results: choose the first one if an arrow key was pressed before, else only highlight it.
   */
  async pickWhenFound() {
    const { isEager } = this;
    if (!(await this.delayed.settle()) || !this.items.length) return;
    if (isEager) this.pick(0);
    else this.move(0);
  }

  pick(at) {
    const item = this.items[at];
    this.close();
    if (item) this.onPick(item);
  }

  close() {
    this.delayed.cancel();
    this.unmark();
    this.list.removeAttribute("aria-busy");
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}

export function combobox(input, settings) {
  return new Combobox(input, settings);
}

/** Query the server for posts, terms or an address. */
export function fetchTargets(parameters) {
  const address = new URL(pageData("targets"), location.href);
  for (const [name, value] of Object.entries(parameters)) if (value || name === "only_locale") address.searchParams.set(name, value);
  return fetchJson(address);
}

/** Return matching posts or terms: for a link in all languages, otherwise in the language of the page. */
export async function findTargets(kind, q, among = "", more = {}) {
  const locale = kind === "link" ? "" : pageData("locale");
  const without = kind === "post-reference" ? pageData("post") : "";
  return (await fetchTargets({ kind, q, among, locale, without, ...more })).results;
}

// A link field: searches pages while the user types, and shows where the address leads.

const LINK_CHECK_PAUSE_MILLISECONDS = 400;
const LOOK_AGAIN_MILLISECONDS = 2000;
const MOST_LOOKS = 10;
const ADDRESS = /^([a-z][a-z0-9+.-]*:|#|\/\/)/i;

/** Turn an input into a link picker that also accepts any address. */
export function linkField(input) {
  const line = document.createElement("span");
  line.className = "link-state";
  line.setAttribute("role", "status");
  const isFull = input.dataset.link === "url";
  input.placeholder ||= isFull ? "https://" : pageData("findLink");
  const module = input.closest("[data-module]")?.dataset.type;
  let lastCheck = 0;
  let looks = 0;
  let timer;

  async function check() {
    lastCheck += 1;
    const request = lastCheck;
    const address = input.value.trim();
    if (!address) {
      line.textContent = "";
      delete line.dataset.state;
      return;
    }
    try {
      const found = await fetchTargets({ address, module });
      if (request !== lastCheck) return;
      show(found, address, request);
    } catch {
      line.textContent = "";
    }
  }

  function show(found, address, request) {
    line.textContent = found.sentence;
    line.dataset.state = found.state;
    if (found.note === "new") ask(address, request);
    // A task of the server is asking the other site.
    else if (found.note === "pending" && looks < MOST_LOOKS) {
      looks += 1;
      timer = setTimeout(check, LOOK_AGAIN_MILLISECONDS);
    } else if (found.note === "failed") {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "small", textContent: pageData("tryAgain") });
      button.addEventListener("click", () => ask(address, request));
      line.append(" ", button);
    }
  }

  async function ask(address, request) {
    looks = 0;
    const body = new FormData();
    body.append("address", address);
    body.append("module", module);
    try {
      const found = await fetchJson(pageData("targets"), { body });
      // A new address is asked about only once, so that nothing repeats without end.
      if (request === lastCheck) show({ ...found, note: found.note === "new" ? "" : found.note }, address, request);
    } catch { /* who may not ask sees what is known */ }
  }

  if (!isFull) {
    combobox(input, {
      keepsText: true,
      search: async (q) => (q === "" || ADDRESS.test(q) ? [] : (await findTargets("link", q)).filter((item) => item.path)),
      onPick: (item) => {
        input.value = item.path;
        input.dataset.title = item.title;
        notifyChanged(input);
        check();
      },
    });
  }
  (input.parentElement.querySelector(":scope > .found + span") ?? input).after(line);
  input.addEventListener("input", (event) => {
    if (event.isTrusted) delete input.dataset.title;
    clearTimeout(timer);
    timer = setTimeout(check, LINK_CHECK_PAUSE_MILLISECONDS);
  });
  // Report immediately if the module cannot show a stored address, without waiting for a focus.
  if (isFull && module && input.value) check();
  else input.addEventListener("focus", check, { once: true });
  return { check };
}
