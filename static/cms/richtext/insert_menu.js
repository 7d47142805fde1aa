// What `/` offers on an empty line of rich text: blocks, a picture, a link, a module below. The text keeps the focus; the
// menu filters by what is typed behind the sign. What is typed stays in the text unless something is chosen.

import { announce } from "../http.js";

const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
const GAP = 6;
let number = 0;

/** What is typed behind a `/` that begins the paragraph of the cursor; null where none does. */
function typed({ selection }) {
  const { $from, empty } = selection;
  const { parent } = $from;
  if (!empty || parent.type.name !== "paragraph" || $from.parentOffset !== parent.content.size) return null;
  const text = parent.textBetween(0, parent.content.size, null, "\ufffc");
  return /^\/(?:[^\s/\ufffc]+ ?[^\s/\ufffc]*)?$/u.test(text) ? text.slice(1) : null;
}

export class InsertMenu {
  /** `choose(name)` does what was chosen; `isOffered(name)` says whether it can be. */
  constructor(menu, { choose, isOffered }) {
    Object.assign(this, { menu, choose, isOffered, isOpen: false, at: 0 });
    number += 1;
    this.list = menu.querySelector("[role=listbox]");
    this.list.id = `insert-menu-${number}`;
    this.all = [...menu.querySelectorAll("[data-insert-block]")];
    for (const [at, option] of this.all.entries()) option.id = `${this.list.id}-${at}`;
    // The text keeps the focus, so that a press on the menu is no blur.
    menu.addEventListener("pointerdown", (event) => event.preventDefault());
    menu.addEventListener("click", (event) => {
      const option = event.target.closest("[data-insert-block]");
      if (option) this.pick(option);
    });
  }

  /** The text or the cursor changed. */
  follow(editor) {
    this.editor = editor;
    const words = editor.isFocused ? typed(editor.state) : null;
    const before = this.before;
    this.before = words;
    if (words === null) return this.close();
    // Only a `/` that was just typed opens it: not the cursor that comes to one, and not a longer text that is pasted.
    if (!this.isOpen && words === "" && before === null && this.isTyping) this.open();
    if (this.isOpen) this.filter(words);
    return undefined;
  }

  open() {
    this.isOpen = true;
    this.menu.showPopover();
    const dom = this.editor.view.dom;
    dom.setAttribute("aria-controls", this.list.id);
    this.moved = () => this.place();
    document.addEventListener("scroll", this.moved, true);
    window.addEventListener("resize", this.moved);
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
    document.removeEventListener("scroll", this.moved, true);
    window.removeEventListener("resize", this.moved);
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
    // An address, a date, a pair of words: nothing here is meant, and Enter begins a new line.
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
    const fits = at.bottom + GAP + height <= innerHeight || at.top < innerHeight - at.bottom;
    this.menu.style.left = `${Math.max(GAP, Math.min(at.left, innerWidth - width - GAP))}px`;
    this.menu.style.top = `${fits ? at.bottom + GAP : Math.max(GAP, at.top - GAP - height)}px`;
  }

  /** Whether a key was for the menu. */
  key(event) {
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
