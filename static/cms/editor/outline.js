// The modules as one list of lines, to jump to one and to move them. The cards stay the truth: what is moved here moves
// its card, and the lines are written anew after each change of the cards.

import { sortable } from "../sorting/sorting.js";

export function startOutline(form, modules, changes) {
  const list = document.querySelector("[data-outline]");
  if (!list || !modules) return;
  const cards = form.querySelector("[data-modules]");
  const shape = document.querySelector("[data-outline-item]").content.firstElementChild;
  const none = document.querySelector("[data-outline-none]");

  function lineOf(card) {
    const line = shape.cloneNode(true);
    const { label } = card.dataset;
    line.dataset.outlineOf = card.dataset.module;
    line.dataset.label = label;
    line.toggleAttribute("data-fixed", card.hasAttribute("data-fixed"));
    line.querySelector("a").href = `#${card.id}`;
    line.querySelector("[data-label]").textContent = label;
    const handle = line.querySelector("[data-handle]");
    if (handle) handle.ariaLabel = handle.ariaLabel.replace("{label}", label);
    if (card.hasAttribute("data-fixed")) handle?.remove();
    return line;
  }

  function show() {
    const known = new Map([...list.children].map((line) => [line.dataset.outlineOf, line]));
    const lines = modules.cards().map((card) => {
      const line = known.get(card.dataset.module) ?? lineOf(card);
      const [words, place] = [card.querySelector("[data-summary]").textContent, line.querySelector("[data-words]")];
      // Text that is put in anew has the whole list laid out again.
      if (place.textContent !== words) place.textContent = words;
      return line;
    });
    const isSame = lines.length === list.children.length && lines.every((line, at) => line === list.children[at]);
    if (!isSame) list.replaceChildren(...lines);
    none.hidden = lines.length > 0;
  }

  sortable(list, {
    item: "[data-outline-of]",
    handle: "[data-handle]",
    onChange({ item, to }) {
      const [all, shown] = [[...cards.querySelectorAll(":scope > [data-module]")], modules.cards()];
      const card = shown.find((one) => one.dataset.module === item.dataset.outlineOf);
      // A removed card is still among them, and has no line.
      const others = shown.filter((one) => one !== card);
      const next = others[to];
      const rest = all.filter((one) => one !== card);
      cards.sortTo(card, next ? rest.indexOf(next) : rest.length);
    },
  });
  list.addEventListener("click", (event) => {
    const line = event.target.closest("a")?.closest("[data-outline-of]");
    const card = line && modules.cards().find((one) => one.dataset.module === line.dataset.outlineOf);
    if (!card) return;
    event.preventDefault();
    card.dispatchEvent(new CustomEvent("cms:reveal", { bubbles: true }));
    modules.open(card);
    card.scrollIntoView({ block: "start" });
    modules.foldOf(card).querySelector("summary").focus({ preventScroll: true });
  });
  changes.listen(show);
  show();
}
