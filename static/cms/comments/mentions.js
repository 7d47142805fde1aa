// Completes names after "@" in the boxes of comments: a list of people and agents, operated with arrows, Enter, Escape
// or a tap. The box is a combobox while the list is open, as screen readers expect.

import { announce, fetchJson } from "../http.js";
import { DelayedSearch } from "../fields/delayed_search.js";

const BOX = "textarea[data-mentions]";
const TYPING_PAUSE_MILLISECONDS = 150;
// As in the service: without a character of a name before the "@", so that addresses are left alone.
const BEGUN = /(?<![\p{L}\p{M}\p{N}_.@+-])@([\p{L}\p{M}\p{N}_.+:-]{0,60})$/u;
const boxes = new WeakMap();

class MentionList {
  constructor(box) {
    this.box = box;
    this.choices = [];
    this.at = -1;
    this.delayed = new DelayedSearch(TYPING_PAUSE_MILLISECONDS, (isCurrent) => this.search(isCurrent));
    this.list = document.createElement("ul");
    this.list.id = `${box.id}-mentions`;
    this.list.className = "mention-list";
    this.list.hidden = true;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", box.dataset.mentionsLabel);
    box.after(this.list);
    box.addEventListener("input", () => this.typed());
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("blur", () => this.close());
    // Keep the focus in the box: a blur would close the list before the click.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.pick([...this.list.children].indexOf(option));
    });
  }

  get begun() {
    const { selectionStart, selectionEnd, value } = this.box;
    return selectionStart === selectionEnd ? BEGUN.exec(value.slice(0, selectionStart)) : null;
  }

  typed() {
    if (!this.begun) return this.close();
    this.delayed.plan();
  }

  async search(isCurrent) {
    const { begun } = this;
    if (!begun) return true;
    const found = await fetchJson(`${this.box.dataset.mentions}?search=${encodeURIComponent(begun[1])}`).catch(() => null);
    if (!isCurrent()) return true;
    if (document.activeElement !== this.box || this.begun?.[1] !== begun[1]) return false;
    this.show(found?.data ?? []);
    return found !== null;
  }

  show(choices) {
    this.choices = choices;
    if (!choices.length) return this.close();
    this.list.replaceChildren(...choices.map(({ kind, mention, name }, at) => {
      const option = document.createElement("li");
      option.id = `${this.list.id}-${at}`;
      option.setAttribute("role", "option");
      const written = document.createElement("span");
      written.textContent = kind === "agent" ? name : mention;
      option.append(written);
      if (kind === "agent") {
        const badge = document.createElement("span");
        badge.className = "badge badge-ai-review";
        badge.textContent = this.box.dataset.mentionsAgent;
        option.append(" ", badge);
      }
      return option;
    }));
    this.list.hidden = false;
    for (const [name, value] of Object.entries({ role: "combobox", "aria-expanded": "true", "aria-haspopup": "listbox", "aria-autocomplete": "list", "aria-controls": this.list.id })) this.box.setAttribute(name, value);
    this.mark(0);
    const { mentionsOne: one, mentionsMany: many } = this.box.dataset;
    announce(choices.length === 1 ? one : many.replace("{n}", choices.length));
  }

  mark(at) {
    this.at = (at + this.choices.length) % this.choices.length;
    [...this.list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === this.at)));
    const option = this.list.children[this.at];
    this.box.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (this.list.hidden || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) this.mark(this.at + steps[event.key]);
    else if (event.key === "Enter" || event.key === "Tab") this.pick(this.at);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  pick(at) {
    const { begun, box, choices } = this;
    if (begun && choices[at]) box.setRangeText(`${choices[at].mention} `, begun.index, box.selectionStart, "end");
    this.close();
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  close() {
    this.delayed.cancel();
    this.list.hidden = true;
    for (const name of ["role", "aria-expanded", "aria-haspopup", "aria-autocomplete", "aria-controls", "aria-activedescendant"]) this.box.removeAttribute(name);
  }
}

// Threads are loaded and replaced while the page is open.
document.addEventListener("focusin", ({ target }) => {
  if (target.matches?.(BOX) && !boxes.has(target)) boxes.set(target, new MentionList(target));
});
