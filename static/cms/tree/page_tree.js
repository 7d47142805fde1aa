// The tree of pages: opens and closes levels, moves pages by dragging, keyboard or the menu of a row, and undoes moves.
// Roles and keys follow the ARIA tree pattern: the row of a page is the tree item and owns the group of the pages below
// it. Without this file the tree is a list of links to the same pages.

import { announce, fetchJson, fetchPage, notifyAdded, swap, watchFocus } from "../http.js";
import { openTask } from "./page_task.js";

const root = document.querySelector("[data-page-tree]");
const frame = document.querySelector("[data-tree-frame]");
const menu = document.querySelector("[data-row-menu]");
const notice = document.querySelector("[data-said]");
const jobs = document.getElementById("tree-jobs");
const words = root.dataset;
const storageKey = `tree:${words.kind}:${words.locale}`;
const TYPE_AHEAD_MILLISECONDS = 600;
const OPEN_AFTER_MILLISECONDS = 700; // while a drag rests on a closed page
const EDGE = 60; // pixels from the edge of the window within which a drag scrolls

const isWhole = "whole" in words;
const mayEdit = "mayEdit" in words;
const isFlat = "flat" in words;
/**
 * Ids of pages that differ from the initial state: closed if the whole tree is loaded, open if it is loaded by levels.
 */
const toggled = new Set(JSON.parse(localStorage.getItem(storageKey) ?? "[]"));

const tree = () => root.querySelector("[data-tree-root]");
const itemOf = (element) => element?.closest?.("li[data-page], li[data-next]");
/**
 * Return the element with role, focus and name, which excludes the pages below. The row that loads more is its own
 * item.
 */
const rowOf = (item) => item.querySelector(":scope > .tree-row") ?? item;
const listOf = (item) => item.querySelector(":scope > ol");
const aboveOf = (item) => itemOf(item.parentElement);
const siblingsOf = (item) => [...item.parentElement.children].filter((one) => one.matches("li[data-page]"));
const isOpen = (item) => rowOf(item).getAttribute("aria-expanded") === "true";
const hasBelow = (item) => rowOf(item).hasAttribute("aria-expanded");
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
const byId = (id) => root.querySelector(`li[data-page="${CSS.escape(id)}"]`);

function visible() {
  return [...tree().querySelectorAll("li")].filter((item) => !item.parentElement.closest("[data-closed]"));
}

// Roles, and the roving tabindex: Tab reaches only one row

function prepare(list) {
  const isRoot = list === tree();
  list.setAttribute("role", isRoot ? "tree" : "group");
  if (isRoot) {
    list.setAttribute("aria-label", words.treeLabel);
    if (mayEdit) list.setAttribute("aria-multiselectable", "true");
  } else {
    const above = itemOf(list);
    list.id = `below-${above.dataset.page}`;
    rowOf(above).setAttribute("aria-owns", list.id);
  }
  for (const item of list.children) {
    const row = rowOf(item);
    row.setAttribute("role", "treeitem");
    row.tabIndex = -1;
    if (!item.dataset.page) continue;
    item.setAttribute("role", "none");
    row.setAttribute("aria-labelledby", `n-${item.dataset.page} e-${item.dataset.page}`);
    if (mayEdit) row.setAttribute("aria-selected", "false");
    for (const control of row.querySelectorAll("a, button, input")) control.tabIndex = -1;
    if (mayEdit && !isFlat) addGrip(item);
    if (isFlat) { item.querySelector(":scope > .page-tree-open")?.remove(); continue; }
    const below = listOf(item);
    if (Number(item.dataset.below) === 0) continue;
    const begins = toggled.has(item.dataset.page) ? !isWhole : isWhole;
    show(item, Boolean(below) && begins);
    item.querySelector("[data-toggle]").hidden = false;
    if (below) prepare(below);
    else if (begins) open(item, true, { quiet: true });
  }
}

function show(item, isShown) {
  rowOf(item).setAttribute("aria-expanded", String(isShown));
  item.toggleAttribute("data-closed", !isShown);
  item.querySelector("[data-toggle]").setAttribute("aria-expanded", String(isShown));
}

function remember(item, isShown) {
  if (isShown === isWhole) toggled.delete(item.dataset.page);
  else toggled.add(item.dataset.page);
  localStorage.setItem(storageKey, JSON.stringify([...toggled].slice(-500)));
}

async function open(item, isShown = !isOpen(item), { quiet = false } = {}) {
  if (!hasBelow(item) || isShown === isOpen(item)) return;
  if (isShown && !listOf(item) && !(await load(item))) return;
  show(item, isShown);
  remember(item, isShown);
  if (quiet) return;
  if (!isShown && item.contains(document.activeElement) && document.activeElement !== rowOf(item)) focus(item);
  announce(fill(isShown ? words.saidOpen : words.saidClosed, { label: item.dataset.label }));
}

async function fetchRows(below, number) {
  const query = new URLSearchParams({ type: words.kind, locale: words.locale, part: "rows", below, page: number });
  return (await fetchPage(`?${query}`)).querySelector("ol");
}

/** Fetch the direct children of a page. Returns whether they are loaded. */
async function load(item) {
  item.classList.add("tree-loading");
  try {
    const list = await fetchRows(item.dataset.page, 1);
    if (!list || listOf(item)) return Boolean(list);
    item.querySelector(":scope > .page-tree-open")?.remove();
    item.append(list);
    prepare(list);
    notifyAdded(list);
    return true;
  } catch (error) {
    showNotice(error.message || words.failed, { isProblem: true });
    return false;
  } finally {
    item.classList.remove("tree-loading");
  }
}

async function loadMore(row) {
  const list = row.parentElement;
  const isFocusFree = watchFocus();
  const fresh = await fetchRows(aboveOf(row).dataset.page, row.dataset.next).catch((error) => {
    showNotice(error.message || words.failed, { isProblem: true });
  });
  if (!fresh) return;
  const first = fresh.firstElementChild;
  row.replaceWith(...fresh.children);
  prepare(list);
  if (isFocusFree()) focus(first);
}

function focus(item) {
  reachOnly(item);
  rowOf(item).focus({ preventScroll: true });
  rowOf(item).scrollIntoView({ block: "nearest" });
}

function reachOnly(item) {
  for (const other of root.querySelectorAll("[role=treeitem][tabindex='0']")) reach(itemOf(other), false);
  reach(item, true);
}

/** Add a row and its controls to the tab order, or remove them. */
function reach(item, isReached) {
  rowOf(item).tabIndex = isReached ? 0 : -1;
  for (const control of item.querySelectorAll(":scope > .tree-row :is(a, button, input):not([data-toggle])")) {
    control.tabIndex = isReached ? 0 : -1;
  }
}

// Keyboard

let typed = "";
let typing;

function typeAhead(key, item) {
  clearTimeout(typing);
  typing = setTimeout(() => { typed = ""; }, TYPE_AHEAD_MILLISECONDS);
  typed += key.toLowerCase();
  const items = visible();
  const at = items.indexOf(item);
  const from = [...new Set(typed)].length === 1 ? at + 1 : at; // repeating one letter moves to the next match
  const start = [...new Set(typed)].length === 1 ? typed[0] : typed;
  const found = [...items.slice(from), ...items.slice(0, from)].find((one) => one.dataset.label?.toLowerCase().startsWith(start));
  if (found) focus(found);
}

const KEYS = {
  ArrowDown: (item, items) => items[items.indexOf(item) + 1],
  ArrowUp: (item, items) => items[items.indexOf(item) - 1],
  Home: (_, items) => items[0],
  End: (_, items) => items.at(-1),
  ArrowRight: (item) => {
    if (hasBelow(item) && !isOpen(item)) open(item, true);
    else if (hasBelow(item)) return listOf(item).firstElementChild;
    return null;
  },
  ArrowLeft: (item) => {
    if (hasBelow(item) && isOpen(item)) open(item, false);
    else return aboveOf(item);
    return null;
  },
};

root.addEventListener("keydown", (event) => {
  const item = itemOf(event.target);
  if (!event.target.matches("[role=treeitem]")) {
    if (event.key === "Escape" && item) focus(item);
    return;
  }
  if ((event.ctrlKey || event.metaKey) && event.shiftKey && event.key.startsWith("Arrow")) {
    if (mayEdit && !isFlat) step(item, event.key);
  } else if (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10")) {
    openMenu(item);
  } else if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (event.key in KEYS) {
    const next = KEYS[event.key](item, visible());
    if (next) focus(next);
  } else if (event.key === "Enter") {
    if (item.dataset.next) loadMore(item);
    else item.querySelector(".tree-name").click();
  } else if (event.key === " ") {
    item.querySelector(":scope > .tree-row > input")?.click();
  } else if (event.key === "*") {
    for (const one of siblingsOf(item)) open(one, true, { quiet: true });
  } else if (event.key.length === 1 && !"?/".includes(event.key)) {
    typeAhead(event.key, item);
  } else return;
  event.preventDefault();
  event.stopPropagation();
});

root.addEventListener("focusin", ({ target }) => {
  const item = itemOf(target);
  if (item && rowOf(item).tabIndex !== 0) reachOnly(item);
});

root.addEventListener("click", (event) => {
  const item = itemOf(event.target);
  if (!item) return;
  if (event.target.closest("[data-toggle], [data-open-level]")) {
    event.preventDefault();
    open(item);
  } else if (item.dataset.next) {
    loadMore(item);
  } else if (event.target.closest("[data-more]")) {
    event.preventDefault();
    openMenu(item);
  }
});

// Selection

const bar = document.querySelector("[data-chosen-bar]");
const boxes = () => [...root.querySelectorAll("input[name=page]")];
const chosen = () => boxes().filter((box) => box.checked).map((box) => box.value);

function showChosen() {
  const number = chosen().length;
  for (const box of boxes()) rowOf(itemOf(box)).setAttribute("aria-selected", String(box.checked));
  bar.hidden = number === 0;
  const move = bar.querySelector("[data-counted]");
  if (number) move.textContent = fill(move.dataset.counted, { number });
  const count = bar.querySelector("[data-chosen-count]");
  count.textContent = number === 1 ? count.dataset.one : fill(count.dataset.many, { number });
}

root.addEventListener("change", showChosen);
bar.querySelector("[data-choose-none]").addEventListener("click", () => {
  for (const box of boxes()) box.checked = false;
  showChosen();
});
bar.querySelector("[data-task=move]").addEventListener("click", (event) => {
  event.preventDefault();
  ask(chosen());
});

// The menu of a row. It is outside the tree, because the content of a row is part of its accessible name.

let menuItem = null;

function openMenu(item) {
  const { page, site } = item.dataset;
  if (!page) return;
  closeMenu({ back: false });
  const find = (act) => menu.querySelector(`[data-act=${act}]`);
  // The URL template has a nil UUID in place of the page's id.
  find("edit").href = words.change.replace(/0{8}-0{4}-0{4}-0{4}-0{12}/, page);
  find("site").hidden = !site;
  if (site) find("site").href = site;
  if (find("add")) {
    find("add").href = `${words.add}?${new URLSearchParams({ type: words.kind, locale: words.locale, parent: page })}`;
  }
  if (find("up")) {
    const all = siblingsOf(item);
    find("up").hidden = isFlat || all[0] === item;
    find("down").hidden = isFlat || all.at(-1) === item;
  }
  menuItem = item;
  rowOf(item).classList.add("has-menu");
  menu.hidden = false;
  placeMenu();
  choices()[0].focus();
}

/** Place the menu below the actions of its row, aligned at the inline end. */
function placeMenu() {
  const actions = rowOf(menuItem).querySelector(".tree-actions").getBoundingClientRect();
  const whole = frame.getBoundingClientRect();
  const isRightToLeft = getComputedStyle(frame).direction === "rtl";
  menu.style.insetBlockStart = `${actions.bottom - whole.top}px`;
  menu.style.insetInlineEnd = `${isRightToLeft ? actions.left - whole.left : whole.right - actions.right}px`;
}
addEventListener("resize", () => { if (!menu.hidden) placeMenu(); });

const choices = () => [...menu.querySelectorAll("[role=menuitem]")].filter((one) => !one.hidden);

function closeMenu({ back = true } = {}) {
  if (menu.hidden) return;
  const item = menuItem;
  menuItem = null;
  rowOf(item).classList.remove("has-menu");
  menu.hidden = true;
  if (back) focus(item);
}

menu.addEventListener("keydown", (event) => {
  const all = choices();
  const at = all.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (next !== undefined) all[(next + all.length) % all.length].focus();
  else if (event.key === "Escape") closeMenu();
  else if (event.key === "Tab") return closeMenu(); // not prevented: the browser moves the focus on from the row
  else return;
  event.preventDefault();
  event.stopPropagation();
});
menu.addEventListener("click", (event) => {
  const { act } = event.target.closest("[data-act]")?.dataset ?? {};
  const item = menuItem;
  if (!act || event.target.closest("a")) return;
  closeMenu();
  if (act === "move") ask([item.dataset.page]);
  else if (act === "copy") task(`${words.copy}?page=${item.dataset.page}`, item.dataset.page);
  else step(item, act === "up" ? "ArrowUp" : "ArrowDown");
});
document.addEventListener("pointerdown", ({ target }) => {
  if (!menu.hidden && !menu.contains(target) && !target.closest?.("[data-more]")) closeMenu({ back: false });
});

// Moving

/** Report an action or a problem, with a button to undo it. */
function showNotice(text, { undo = null, step = "", open = "", follow = false, isProblem = false } = {}) {
  notice.querySelector("[data-said-text]").textContent = text;
  notice.classList.toggle("is-problem", isProblem);
  notice.hidden = false;
  const button = notice.querySelector("[data-undo]");
  button.hidden = !undo;
  const stepButton = notice.querySelector("[data-undo-step]");
  stepButton.hidden = !step;
  stepButton.value = step;
  const link = notice.querySelector("a[data-said-open]");
  link.hidden = !open;
  link.textContent = follow ? words.followWord : words.openWord;
  if (open) link.href = open;
  button.onclick = () => {
    notice.hidden = true;
    move({ pages: [undo.page], versions: [undo.version], to: undo.to, before: undo.before, canUndo: false });
  };
  announce(text);
}
notice.querySelector("[data-said-close]").addEventListener("click", () => { notice.hidden = true; });

let isMoving = false;

async function move({ pages, versions, to, before, canUndo = true }) {
  if (isMoving) return;
  isMoving = true;
  const body = new FormData();
  for (const page of pages) body.append("page", page);
  for (const version of versions) body.append("version", version);
  body.append("to", to);
  body.append("before", before);
  try {
    const answer = await fetchJson(words.move, { body });
    await refresh(pages[0]);
    showNotice(answer.message, { undo: canUndo ? answer.undo : null });
  } catch (error) {
    showNotice(error.message || words.failed, { isProblem: true });
    if (error.status === 409) await refresh(pages[0]);
  } finally {
    isMoving = false;
  }
}

/** Open the dialog that asks where to move pages, or confirms the chosen place. */
function ask(pages, { to = "", before = "" } = {}) {
  if (!pages.length) return;
  const query = new URLSearchParams(pages.map((page) => ["page", page]));
  if (to) query.set("to", to);
  if (before) query.set("before", before);
  task(`${words.move}?${query}`, pages[0]);
}

/** Open a form about a page in the dialog, and report the result. */
function task(address, page) {
  openTask(document.querySelector("[data-task-dialog]"), address, {
    failed: words.failed,
    onDone: async (answer) => {
      await refresh(answer.page ?? page);
      showNotice(answer.message, {
        undo: answer.undo, step: answer.undo_step, open: answer.open, follow: answer.follow,
      });
    },
    onClose: () => { const item = byId(page); if (item) focus(item); },
    onFail: (text) => showNotice(text, { isProblem: true }),
  });
}

/** Move pages. Below another page their addresses change, so that needs a confirmation. */
function put(pages, parent, before) {
  const to = parent?.dataset.page ?? "top";
  const items = pages.map(byId);
  const stays = items.every((item) => (aboveOf(item)?.dataset.page ?? "top") === to);
  if (stays) move({ pages, versions: items.map((item) => item.dataset.version), to, before });
  else ask(pages, { to, before });
}

function step(item, key) {
  const all = siblingsOf(item);
  const at = all.indexOf(item);
  const above = aboveOf(item);
  const page = [item.dataset.page];
  if (!item.dataset.page) return;
  if (key === "ArrowUp" && at > 0) put(page, above, all[at - 1].dataset.page);
  else if (key === "ArrowDown" && at < all.length - 1) put(page, above, all[at + 2]?.dataset.page ?? endOf(item.parentElement));
  else if (key === "ArrowRight" && at > 0) put(page, all[at - 1], "");
  else if (key === "ArrowLeft" && above) put(page, aboveOf(above), above.nextElementSibling?.dataset.page ?? endOf(above.parentElement));
}

/** Return the `before` value for the end of a list; empty (the page's own order) if not all rows are loaded. */
const endOf = (list) => (list.querySelector(":scope > li[data-next]") ? "" : "end");

/** Refresh the tree from the server, with the same levels open. */
async function refresh(id) {
  const hadFocus = root.contains(document.activeElement) || document.activeElement === document.body;
  const selected = new Set(chosen());
  const scroll = window.scrollY;
  closeMenu({ back: false });
  const page = await fetchPage(location.href).catch(() => null);
  const fresh = page?.getElementById(root.id);
  if (!fresh) return;
  swap(root, fresh);
  swap(jobs, page.getElementById(jobs.id));
  if (tree()) prepare(tree());
  for (const box of boxes()) box.checked = selected.has(box.value);
  showChosen();
  window.scrollTo(0, scroll);
  const item = id && byId(id);
  if (item && hadFocus) focus(item);
  else if (tree()) reach(tree().firstElementChild, true);
}

// When the progress of a copy disappears, the worker has finished it.
let hadJobs = jobs.childElementCount > 0;
new MutationObserver(() => {
  const hasJobs = jobs.childElementCount > 0;
  if (hadJobs && !hasJobs) refresh();
  hadJobs = hasJobs;
}).observe(jobs, { childList: true });

// Dragging by the grip

let drag;

function addGrip(item) {
  const actions = item.querySelector(":scope > .tree-row .tree-actions");
  if (actions.querySelector(".tree-grip")) return;
  const grip = document.createElement("button");
  grip.type = "button";
  grip.className = "tree-act tree-grip";
  grip.tabIndex = -1;
  grip.setAttribute("aria-label", fill(words.handleLabel, { label: item.dataset.label }));
  grip.addEventListener("pointerdown", (event) => begin(event, item, grip));
  grip.addEventListener("pointermove", (event) => { if (drag) over(event); });
  grip.addEventListener("pointerup", () => finish(true));
  grip.addEventListener("pointercancel", () => finish(false));
  actions.prepend(grip);
}

function begin(event, item, grip) {
  if (event.button !== 0) return;
  event.preventDefault();
  grip.setPointerCapture(event.pointerId);
  const all = chosen();
  const pages = all.includes(item.dataset.page) ? all : [item.dataset.page];
  const hint = document.createElement("div");
  hint.className = "tree-hint";
  drag = { pages, items: pages.map(byId), hint, target: null, way: "" };
  for (const one of drag.items) one.classList.add("is-dragged");
  document.body.append(hint);
  document.body.classList.add("tree-dragging");
  document.addEventListener("keydown", cancelByKey, true);
}

function over({ clientX, clientY }) {
  drag.hint.style.transform = `translate(${clientX + 14}px, ${clientY + 10}px)`;
  if (clientY < EDGE) window.scrollBy(0, -12);
  else if (clientY > window.innerHeight - EDGE) window.scrollBy(0, 12);
  const row = document.elementFromPoint(clientX, clientY)?.closest(".page-tree .tree-row");
  const item = itemOf(row);
  const isInside = item && drag.items.some((one) => one.contains(item));
  if (!item?.dataset.page || isInside) return aim(null, "");
  const { top, height } = row.getBoundingClientRect();
  const part = (clientY - top) / height;
  // The row after an open page is its first child, so "after" is not offered there.
  const way = part < 0.28 ? "before" : part > 0.72 && !isOpen(item) ? "after" : "onto";
  return aim(item, way);
}

function aim(item, way) {
  if (drag.target === item && drag.way === way) return;
  drag.target?.classList.remove("drop-onto", "drop-before", "drop-after");
  clearTimeout(drag.opens);
  Object.assign(drag, { target: item, way });
  item?.classList.add(`drop-${way}`);
  drag.hint.textContent = item ? fill(words[`said${way[0].toUpperCase()}${way.slice(1)}`], { label: item.dataset.label }) : "";
  if (item && way === "onto" && hasBelow(item) && !isOpen(item)) {
    drag.opens = setTimeout(() => open(item, true, { quiet: true }), OPEN_AFTER_MILLISECONDS);
  }
}

function cancelByKey(event) {
  if (event.key !== "Escape") return;
  event.preventDefault();
  event.stopPropagation();
  finish(false);
  announce(words.saidCancel);
}

function finish(isDropped) {
  if (!drag) return;
  const { pages, items, target, way, hint } = drag;
  aim(null, "");
  hint.remove();
  for (const one of items) one.classList.remove("is-dragged");
  document.body.classList.remove("tree-dragging");
  document.removeEventListener("keydown", cancelByKey, true);
  drag = undefined;
  if (!isDropped || !target) return;
  if (way === "onto") return put(pages, target, "");
  const all = siblingsOf(target).filter((one) => !items.includes(one));
  const next = way === "before" ? target : all[all.indexOf(target) + 1];
  return put(pages, aboveOf(target), next?.dataset.page ?? endOf(target.parentElement));
}

// Changes by other users

let planned;
document.addEventListener("live", ({ detail }) => {
  if (!detail.event.startsWith("post.") || detail.mine) return;
  clearTimeout(planned);
  planned = setTimeout(() => {
    const isBusy = drag || isMoving || !menu.hidden || document.querySelector("dialog[open]") || document.hidden;
    if (!isBusy) refresh(itemOf(document.activeElement)?.dataset.page);
  }, 800);
});

if (tree()) {
  prepare(tree());
  reach(tree().firstElementChild, true);
  document.querySelector("[data-tree-keys]").hidden = false;
  const controls = document.querySelector("[data-tree-open]");
  controls.hidden = isFlat || !root.querySelector("[data-toggle]");
  const setAll = (isShown) => { for (const row of root.querySelectorAll("[role=treeitem][aria-expanded]")) open(itemOf(row), isShown, { quiet: true }); };
  controls.querySelector("[data-open-all]").hidden = !isWhole;
  controls.querySelector("[data-open-all]").addEventListener("click", () => setAll(true));
  controls.querySelector("[data-close-all]").addEventListener("click", () => setAll(false));
  // When the user goes back, the browser restores the checkboxes without an event.
  addEventListener("pageshow", showChosen);
}
