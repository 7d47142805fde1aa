// Sortable lists: by pointer with SortableJS, or by keyboard on the handle.
//
//   import { sortable } from "../sorting/sorting.js";
//   sortable(list, { item: "li", handle: "[data-handle]", onChange: ({ item, from, to }) => … });
//
// `item` and `handle` are selectors: items are children of the list, a handle is a <button> in each. An item with
// data-fixed cannot move, and others cannot move past it. On a handle, arrows move the item by one, Home and End move
// it to the ends, and Escape reverts the moves since the handle was focused. `onChange` is called after each move, and
// the list dispatches "input", so that a form notices the change. Announcements come from the list's data-sort-moved
// ("{label} is now {number} of {count}"), data-sort-back ("{label} is back at {number} of {count}") and, for lists with
// fixed items, data-sort-fixed; {label} is the item's data-label. The styles are in design/components.css.

import { announce } from "../http.js";
import Sortable from "../vendor/sortable/sortable.esm.js";

const STEPS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };
const attached = new WeakSet();

/** Move `node` before `next`, or to the end. Restores the focus, which the browser removes from a moved element. */
function move(list, node, next) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  list.insertBefore(node, next);
  if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

export function sortable(list, { item, handle, onChange = () => {} }) {
  if (!list || attached.has(list)) return;
  attached.add(list);
  const items = () => [...list.children].filter((child) => child.matches(item));
  const ownItem = (target) => {
    const found = target.closest(handle)?.closest(item);
    return found?.parentElement === list ? found : null;
  };

  const crossesFixed = (all, from, to) =>
    all.slice(Math.min(from, to), Math.max(from, to) + 1).some((one) => one.hasAttribute("data-fixed"));

  function read(node, to, words) {
    const text = (list.dataset[words] ?? "").replace("{label}", node.dataset.label ?? "")
      .replace("{number}", String(to + 1)).replace("{count}", String(items().length));
    if (text) announce(text);
  }

  function notifyMoved(node, from, to, words) {
    if (from === to) return;
    read(node, to, words);
    onChange({ item: node, from, to });
    list.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function place(node, to, words) {
    const all = items();
    const from = all.indexOf(node);
    const others = all.filter((one) => one !== node);
    const at = Math.max(0, Math.min(to, others.length));
    if (at === from) return;
    if (crossesFixed(all, from, at)) return read(node, from, "sortFixed");
    move(list, node, others[at] ?? others.at(-1)?.nextElementSibling ?? null);
    node.scrollIntoView({ block: "nearest" });
    notifyMoved(node, from, at, words);
  }

  // For move buttons beside the handle: `list.sortTo(item, 2)`.
  list.sortTo = (node, to) => place(node, to, "sortMoved");

  let origin; // the item whose handle has the focus, and its original position
  list.addEventListener("focusin", ({ target }) => {
    const node = ownItem(target);
    if (node && origin?.node !== node) origin = { node, from: items().indexOf(node) };
  });
  list.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && origin && !origin.node.contains(relatedTarget)) origin = undefined;
  });
  list.addEventListener("keydown", (event) => {
    const node = ownItem(event.target);
    if (!node || node.hasAttribute("data-fixed") || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = items().indexOf(node);
    if (event.key in STEPS) place(node, now + STEPS[event.key], "sortMoved");
    else if (event.key === "Home") place(node, 0, "sortMoved");
    else if (event.key === "End") place(node, items().length - 1, "sortMoved");
    else if (event.key === "Escape" && origin?.node === node && origin.from !== now) {
      place(node, origin.from, "sortBack");
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  let before = [];
  function onDrop(node) {
    const [from, to] = [before.indexOf(node), items().indexOf(node)];
    if (!crossesFixed(before, from, to)) return notifyMoved(node, from, to, "sortMoved");
    const others = before.filter((one) => one !== node);
    move(list, node, others[from] ?? others.at(-1)?.nextElementSibling ?? null);
    read(node, from, "sortFixed");
  }
  Sortable.create(list, {
    draggable: item,
    handle,
    // A nested list has its own handles.
    filter: ({ target }, node) => !node || node.hasAttribute("data-fixed") || ownItem(target) !== node,
    // SortableJS would otherwise prevent the default action, such as focusing, of presses that it ignores.
    preventOnFilter: false,
    animation: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 140,
    ghostClass: "sort-ghost",
    chosenClass: "sort-chosen",
    onStart: () => { before = items(); },
    onEnd: ({ item: node }) => onDrop(node),
  });
}
