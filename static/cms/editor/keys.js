// The keys of the editor; its list of keys in the page says what they do.

const isTyping = (target) =>
  target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]");

export function startKeys(form, { modules, picker, saving }) {
  let lastG = 0; // what follows "g" leads to another page

  const current = () => document.activeElement?.closest?.("[data-module]");

  function go(by) {
    const cards = modules.cards();
    const at = cards.indexOf(current());
    const next = cards[at < 0 ? (by > 0 ? 0 : cards.length - 1) : Math.max(0, Math.min(cards.length - 1, at + by))];
    const summary = next && modules.foldOf(next).querySelector("summary");
    summary?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  }

  const acts = {
    n: () => picker?.open(current() ?? undefined),
    "]": () => go(1),
    "[": () => go(-1),
    o: () => { const card = current(); if (card) modules.foldOf(card).open = !modules.foldOf(card).open; },
    m: () => current()?.querySelector("[data-handle]")?.focus(),
    d: () => { const card = current(); if (card) modules.duplicate(card); },
    x: () => { const card = current(); if (card) modules.remove(card); },
  };

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "s") {
      event.preventDefault();
      if (event.shiftKey) saving.saveToReview();
      else saving.save();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]") || !modules) return;
    const followsG = Date.now() - lastG < 1500;
    lastG = event.key === "g" ? Date.now() : 0;
    if (followsG || !form.querySelector("[data-pick-open]") || !acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  });
}
