// The frame: the width of the navigation, which a cookie tells the server, and menus that close as menus do.

import { csrfToken } from "../http.js";
import { rememberPage } from "./recent_pages.js";
import { startBell } from "./bell.js";

const YEAR_SECONDS = 31_536_000;
const shell = document.querySelector("[data-shell]");

for (const button of document.querySelectorAll("[data-collapse-nav]")) {
  button.addEventListener("click", () => {
    const isCollapsed = shell.classList.toggle("shell-collapsed");
    button.setAttribute("aria-expanded", String(!isCollapsed));
    document.cookie = `admin_navigation=${isCollapsed ? "icons" : "wide"}; path=/admin/; max-age=${YEAR_SECONDS}; samesite=lax`;
  });
}

const toasts = document.querySelector("[data-toasts]");
if (toasts) import("./toasts.js").then(({ startToasts }) => startToasts(toasts));

if (document.querySelector("[data-bell]")) startBell();

// Logging in, in another window too, makes the token in every open page one that is refused.
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

// Arrow keys go through an open menu; one that would leave the window opens to the other side.
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.("details[data-menu][open]");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!menu || !step || event.target.matches("input, select, textarea")) return;
  const items = [...menu.querySelectorAll(":scope > :not(summary) :is(a, button:enabled)")];
  const at = items.indexOf(document.activeElement);
  items[at < 0 && step < 0 ? items.length - 1 : (at + step + items.length) % items.length]?.focus();
  event.preventDefault();
});

document.addEventListener("toggle", ({ target }) => {
  const choices = target.matches?.("details.chip[open]") ? target.querySelector(".chip-choices") : null;
  if (!choices) return;
  choices.classList.remove("at-end");
  choices.classList.toggle("at-end", choices.getBoundingClientRect().right > document.documentElement.clientWidth - 8);
}, true);

// The keys of every page: `?` shows them with those of the page itself, `/` goes to its search, `g` and a letter to a
// part of the admin. A page names its own in a `<template data-page-keys>`; what they do is its own scripts' matter.

const TYPED = "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=range]), textarea, select, [contenteditable]";

// Whoever turned single letters off, or speaks to the computer, gets none of these keys nor those of a page.
if (document.documentElement.dataset.letterKeys === "off") {
  window.addEventListener("keydown", (event) => {
    const isLetter = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isLetter && !event.target.closest?.(TYPED)) event.stopImmediatePropagation();
  }, true);
}

const sheet = document.querySelector("[data-keys-sheet]");
const SEQUENCE_MILLISECONDS = 1500; // between `g` and its letter
if (sheet) start(sheet);

function start(dialog) {
  const places = new Map([...dialog.querySelectorAll("[data-go]")].map((line) => [line.dataset.go, line.dataset.to]));
  const own = dialog.querySelector("[data-page-keys-here]");
  let isGoing = false;
  let forget;

  function show() {
    const parts = [...document.querySelectorAll("template[data-page-keys]")].map((one) => one.content.cloneNode(true));
    own.replaceChildren(...parts);
    own.parentElement.hidden = !own.childElementCount;
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
    const done = isGoing ? go(event.key) : act(event.key);
    if (done) event.preventDefault();
  });

  /** A key does one thing: that of the page goes before that of every page. */
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

// Ctrl or ⌘ K, or the search button, opens the command palette.

const palette = document.querySelector("[data-palette]");
let preparing;

async function openPalette() {
  preparing ??= import("./palette.js").then(({ preparePalette }) => preparePalette(palette));
  (await preparing)();
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
    const isAsked = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    // In rich text the same keys set a link.
    if (!isAsked || event.defaultPrevented || event.target.closest?.("[contenteditable=true]")) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    openPalette();
  });
}
