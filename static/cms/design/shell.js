// The admin's frame: collapsing the navigation (stored in a cookie for the server), menus, the bell, keyboard
// shortcuts, and the recently opened pages.

import { TYPED, csrfToken, fetchJson, fetchPage, request } from "../http.js";
import { startLetterKeys } from "./letter_keys.js";

const YEAR_SECONDS = 31_536_000;
const shell = document.querySelector("[data-shell]");

for (const button of document.querySelectorAll("[data-collapse-nav]")) {
  button.addEventListener("click", () => {
    const isCollapsed = shell.classList.toggle("shell-collapsed");
    button.setAttribute("aria-expanded", String(!isCollapsed));
    document.cookie = `admin_navigation=${isCollapsed ? "icons" : "wide"}; path=/admin/; max-age=${YEAR_SECONDS}; samesite=lax`;
  });
}

// Which lists of the navigation are open is stored like its width. A list that is open because it contains this page is
// not stored until the user closes or opens it.
const navigationLists = [...document.querySelectorAll("[data-nav-list]")];
for (const list of navigationLists) {
  list.querySelector("summary").addEventListener("click", () => setTimeout(() => {
    const open = navigationLists.filter((one) => one.open).map((one) => one.dataset.navList);
    document.cookie = `admin_navigation_lists=${open.join(".")}; path=/admin/; max-age=${YEAR_SECONDS}; samesite=lax`;
  }));
}

// Scroll the navigation to this page's entry, which may be far down under More.
document.querySelector(".nav-lists [aria-current]")?.scrollIntoView({ block: "nearest" });

// Scroll a row of tabs to the current one.
for (const tab of document.querySelectorAll(".post-page .tabs [aria-current]")) {
  const row = tab.closest(".tabs");
  const [at, of] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += at.left - of.left - (of.width - at.width) / 2;
}

// A file that is dropped beside a field must not replace the page, and with it unsaved changes.
for (const name of ["dragover", "drop"]) {
  window.addEventListener(name, (event) => {
    const isFile = [...(event.dataTransfer?.types ?? [])].includes("Files");
    if (!isFile || event.defaultPrevented || event.target.closest?.("input[type=file]")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "none";
  });
}

const toasts = document.querySelector("[data-toasts]");
if (toasts) import("./toasts.js").then(({ startToasts }) => startToasts(toasts));

// A login, even in another window, invalidates the CSRF tokens in all open pages.
document.addEventListener("formdata", ({ formData }) => {
  if (formData.has("csrfmiddlewaretoken")) formData.set("csrfmiddlewaretoken", csrfToken());
});

const openMenus = () => document.querySelectorAll("details[data-menu][open]");

document.addEventListener("click", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
    event.preventDefault();
  }
});

// Arrow keys move through an open menu.
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.("details[data-menu][open]");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!menu || !step || event.target.matches("input, select, textarea")) return;
  const items = [...menu.querySelectorAll(":scope > :not(summary) :is(a, button:enabled)")];
  const at = items.indexOf(document.activeElement);
  items[at < 0 && step < 0 ? items.length - 1 : (at + step + items.length) % items.length]?.focus();
  event.preventDefault();
});

// A menu of choices that would leave the window opens to the other side. Toggle events do not bubble, so capture them.
document.addEventListener("toggle", ({ target }) => {
  const choices = target.matches?.("details.chip[open]") ? target.querySelector(".chip-choices") : null;
  if (!choices) return;
  choices.classList.remove("at-end");
  choices.classList.toggle("at-end", choices.getBoundingClientRect().right > document.documentElement.clientWidth - 8);
}, true);

// Keyboard shortcuts of every page: `?` lists them together with the page's own, `/` focuses the search, `g` and a
// letter opens a part of the admin. A page lists its own in `<template data-page-keys>`; its scripts implement them.

startLetterKeys();

const sheet = document.querySelector("[data-keys-sheet]");
const SEQUENCE_MILLISECONDS = 1500; // between `g` and its letter
if (sheet) start(sheet);

function start(dialog) {
  const places = new Map([...dialog.querySelectorAll("[data-go]")].map((line) => [line.dataset.go, line.dataset.to]));
  const pageKeys = dialog.querySelector("[data-page-keys-here]");
  let isGoing = false;
  let forget;

  function show() {
    const parts = [...document.querySelectorAll("template[data-page-keys]")].map((one) => one.content.cloneNode(true));
    pageKeys.replaceChildren(...parts);
    pageKeys.parentElement.hidden = !pageKeys.childElementCount;
    dialog.showModal();
  }

  function go(key) {
    isGoing = false;
    clearTimeout(forget);
    const address = places.get(key);
    if (address) location.assign(address);
    return Boolean(address);
  }

  function search() {
    const box = document.querySelector("#searchbar, main [data-search], main input[type=search]");
    box?.focus();
    box?.select?.();
    return Boolean(box);
  }

  function openNew() {
    const menu = document.querySelector("[data-new-menu]");
    if (!menu) return false;
    menu.open = true;
    menu.querySelector("a")?.focus();
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.(TYPED) || document.querySelector("dialog[open]")) return;
    const isHandled = isGoing ? go(event.key) : act(event.key);
    if (isHandled) event.preventDefault();
  });

  /** Return whether the page has its own shortcut for a key, which takes precedence. */
  function isOfThePage(key) {
    const templates = [...document.querySelectorAll("template[data-page-keys]")];
    return templates.some((one) => [...one.content.querySelectorAll("kbd")].some((name) => name.textContent === key));
  }

  function act(key) {
    if (key === "?") return show(), true;
    if (key === "/") return search();
    if (key === "c" && !isOfThePage(key)) return openNew();
    if (key === "g") {
      isGoing = true;
      clearTimeout(forget);
      forget = setTimeout(() => { isGoing = false; }, SEQUENCE_MILLISECONDS);
    }
    return false;
  }

  for (const button of document.querySelectorAll("[data-show-keys]")) {
    button.hidden = false;
    button.addEventListener("click", show);
  }
}

// The bell: shows the number of new notifications, fetched after the page has loaded, and the latest ones in a panel.
// Opening the panel or the notifications page marks them as seen. Without this script it is a link to that page.

const bell = document.querySelector("[data-bell]");
const panel = document.querySelector("[data-bell-panel]");

function drawCount({ count, label }) {
  const badge = bell.querySelector("[data-bell-count]");
  const words = bell.querySelector("[data-bell-label]");
  badge.textContent = count;
  badge.hidden = !count;
  words.textContent = count ? label : words.dataset.none;
}

async function showCount() {
  try {
    drawCount(await fetchJson(bell.dataset.countAddress));
  } catch { /* The bell still links to the page. */ }
}

async function markSeen(list) {
  const body = new FormData();
  body.set("until", list.dataset.notificationsSeen);
  try {
    await request(bell.dataset.seenAddress, { body });
    await showCount();
  } catch { /* They remain new. */ }
}

async function fillPanel() {
  try {
    const page = await fetchPage(bell.dataset.panelAddress);
    const list = page.querySelector("[data-notifications-panel]");
    panel.replaceChildren(list);
    markSeen(list);
  } catch (error) {
    const text = document.createElement("p");
    text.className = "notification-none";
    text.textContent = error.message || bell.dataset.failed;
    panel.replaceChildren(text);
  }
}

function startBell() {
  bell.setAttribute("role", "button");
  bell.setAttribute("aria-expanded", "false");
  bell.setAttribute("aria-controls", panel.id);
  bell.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (panel.matches(":popover-open")) return panel.hidePopover();
    await fillPanel();
    panel.showPopover();
    panel.querySelector("button, a")?.focus();
  });
  bell.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    bell.click();
  });
  panel.addEventListener("toggle", ({ newState }) => bell.setAttribute("aria-expanded", String(newState === "open")));
  const list = document.querySelector("main [data-notifications-seen]");
  if (list) markSeen(list);
  else showCount();
  // A page restored from the back/forward cache shows an old count.
  addEventListener("pageshow", ({ persisted }) => { if (persisted) showCount(); });
}

if (bell) startBell();

// The posts, files and other objects whose pages this browser opened recently

const RECENT_KEY = "admin-recent";
const MAX_RECENT_PAGES = 6;

/** Return the recent pages as `{label, url}`, most recent first. */
function recentPages() {
  try {
    const found = JSON.parse(localStorage.getItem(RECENT_KEY) ?? "[]");
    return found.filter((one) => typeof one?.url === "string" && one.url.startsWith("/admin/") && typeof one.label === "string");
  } catch {
    return [];
  }
}

/** Add this page to the recent pages if it shows an object. Lists are in the navigation anyway. */
function rememberPage() {
  if (!/^\/admin\/.+\/change\/$/.test(location.pathname)) return;
  const label = document.title.split(" | ")[0].trim();
  const others = recentPages().filter((one) => one.url !== location.pathname);
  try {
    localStorage.setItem(RECENT_KEY, JSON.stringify([{ label, url: location.pathname }, ...others].slice(0, MAX_RECENT_PAGES)));
  } catch { /* without storage there are no recent pages */ }
}

// Ctrl or ⌘ K, or the search button, opens the command palette.

const palette = document.querySelector("[data-palette]");
let preparing;

async function openPalette() {
  if (palette.open) return;
  const input = palette.querySelector("input");
  input.value = "";
  // Open the dialog before its script has loaded, so that it receives what the user types meanwhile.
  palette.showModal();
  input.focus();
  let isEntered = false;
  const enter = (event) => { isEntered ||= event.key === "Enter" && !event.isComposing; };
  input.addEventListener("keydown", enter);
  try {
    preparing ??= import("./palette.js").then(({ preparePalette }) => preparePalette(palette, recentPages));
    const start = await preparing;
    if (palette.open) start(isEntered);
  } catch (error) {
    preparing = undefined;
    palette.close();
    throw error;
  } finally {
    input.removeEventListener("keydown", enter);
  }
}

if (palette) {
  rememberPage();
  for (const button of document.querySelectorAll("[data-open-palette]")) {
    button.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      openPalette();
    });
  }
  document.addEventListener("keydown", (event) => {
    const isShortcut = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    // In rich text the same shortcut sets a link.
    if (!isShortcut || event.defaultPrevented || event.target.closest?.("[contenteditable=true]")) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    openPalette();
  });
}
