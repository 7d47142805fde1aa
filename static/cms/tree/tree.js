// Sortable trees: items are dragged with SortableJS, or moved with arrow keys on the handle.
//
//   import { tree } from "../tree/tree.js";
//   tree(root, { onMove: ({ item, takeBack }) => … });
//
// `root` is an <ol data-tree>; an item is an <li data-item data-label> with a <button data-handle> and an
// <ol data-children>. Up and Down move an item among its siblings, Right makes it a child of the previous item, Left
// moves it after its parent, Home and End move it to the ends, and Escape reverts the moves since the handle was
// focused. data-deepest is the maximum number of levels. Announcements come from data-said-top ("{label}", "{number}",
// "{count}"), data-said-below (also "{parent}"), data-said-back and data-said-deep. A move dispatches "input" on the
// root. The styles are in tree/tree.css; data-closed hides the children of an item, [data-toggle] toggles it.

import Sortable from "../vendor/sortable/sortable.esm.js";

const attached = new WeakSet();
let groups = 0;

export const itemsOf = (list) => [...list.children].filter((child) => child.matches("[data-item]"));
export const listOf = (item) => [...item.children].find((child) => child.matches("[data-children]"));
const aboveOf = (item) => item.parentElement.closest("[data-item]");

function heightOf(item) {
  const below = itemsOf(listOf(item));
  return 1 + Math.max(0, ...below.map(heightOf));
}

function levelOf(list, root) {
  let level = 0;
  for (let item = list.closest("[data-item]"); item && root.contains(item); item = aboveOf(item)) level += 1;
  return level;
}

export function open(item, isOpen = true) {
  item.toggleAttribute("data-closed", !isOpen);
  item.querySelector(":scope > .tree-row [data-toggle]")?.setAttribute("aria-expanded", String(isOpen));
}

/** Show the toggle of an item only if it has children. */
function mark(item) {
  const toggle = item?.querySelector(":scope > .tree-row [data-toggle]");
  if (toggle) toggle.hidden = itemsOf(listOf(item)).length === 0;
}

export function tree(root, { onMove = () => {} } = {}) {
  if (!root || attached.has(root)) return;
  attached.add(root);
  const deepest = Number(root.dataset.deepest) || 1;
  const group = `tree-${(groups += 1)}`;
  const fits = (item, list) => levelOf(list, root) + heightOf(item) <= deepest;

  function say(words, item) {
    const above = aboveOf(item);
    const all = itemsOf(item.parentElement);
    const parts = {
      label: item.dataset.label, parent: above?.dataset.label ?? "",
      number: all.indexOf(item) + 1, count: all.length,
    };
    const text = (root.dataset[words] ?? "").replace(/\{(\w+)\}/g, (whole, name) => parts[name] ?? whole);
    document.getElementById(root.dataset.says).textContent = text;
  }

  function put(item, list, next) {
    const focused = item.contains(document.activeElement) ? document.activeElement : null;
    list.insertBefore(item, next);
    focused?.focus({ preventScroll: true });
  }

  /** Announce a move, update the toggles and notify the form and the caller. */
  function notifyMoved(item, from, words = aboveOf(item) ? "saidBelow" : "saidTop") {
    const above = aboveOf(item);
    mark(from.list.closest("[data-item]"));
    mark(above);
    if (above) open(above);
    say(words, item);
    root.dispatchEvent(new Event("input", { bubbles: true }));
    onMove({ item, takeBack: () => { put(item, from.list, from.next); mark(above); mark(aboveOf(item)); } });
  }

  const placeOf = (item) => ({ list: item.parentElement, next: item.nextElementSibling });

  function go(item, list, next) {
    if (!list || next === item) return;
    if (!fits(item, list)) { say("saidDeep", item); return; }
    const from = placeOf(item);
    put(item, list, next);
    item.scrollIntoView({ block: "nearest" });
    notifyMoved(item, from);
  }

  const KEYS = {
    ArrowUp: (item) => item.previousElementSibling && go(item, item.parentElement, item.previousElementSibling),
    ArrowDown: (item) => item.nextElementSibling && go(item, item.parentElement, item.nextElementSibling.nextElementSibling),
    ArrowLeft: (item) => aboveOf(item) && go(item, aboveOf(item).parentElement, aboveOf(item).nextElementSibling),
    ArrowRight: (item) => item.previousElementSibling && go(item, listOf(item.previousElementSibling), null),
    Home: (item) => item.previousElementSibling && go(item, item.parentElement, item.parentElement.firstElementChild),
    End: (item) => item.nextElementSibling && go(item, item.parentElement, null),
  };

  let origin; // the item whose handle has the focus, and its original position
  const handled = (target) => target.closest("[data-handle]")?.closest("[data-item]");
  root.addEventListener("focusin", ({ target }) => {
    const item = handled(target);
    if (origin?.item !== item) origin = item ? { item, ...placeOf(item) } : undefined;
  });
  root.addEventListener("keydown", (event) => {
    const item = handled(event.target);
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in KEYS) KEYS[event.key](item);
    else if (event.key === "Escape" && origin?.item === item && (origin.list !== item.parentElement || origin.next !== item.nextElementSibling)) {
      const from = placeOf(item);
      put(item, origin.list, origin.next);
      notifyMoved(item, from, "saidBack");
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  root.addEventListener("click", ({ target }) => {
    const item = target.closest("[data-toggle]")?.closest("[data-item]");
    if (item) open(item, item.hasAttribute("data-closed"));
  });

  let start;
  function attach(list) {
    Sortable.create(list, {
      group, handle: "[data-handle]", draggable: "[data-item]", forceFallback: true, fallbackOnBody: true,
      swapThreshold: 0.6, emptyInsertThreshold: 12, ghostClass: "tree-ghost", fallbackClass: "tree-dragged",
      animation: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 140,
      onStart: ({ item }) => { start = placeOf(item); document.body.classList.add("tree-moving"); },
      onMove: ({ dragged, to }) => fits(dragged, to),
      onEnd: ({ item }) => {
        document.body.classList.remove("tree-moving");
        if (start.list !== item.parentElement || start.next !== item.nextElementSibling) notifyMoved(item, start);
      },
    });
  }
  for (const list of [root, ...root.querySelectorAll("[data-children]")]) attach(list);
  for (const part of root.querySelectorAll("[data-handle]")) part.hidden = false;
  for (const item of root.querySelectorAll("[data-item]")) mark(item);
}
