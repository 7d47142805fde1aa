// The form of a post. Everything here is an enhancement of a form that works without scripts: keyboard shortcuts,
// returning to the last field after a reload, and the preview of a search result.

import { startSuggestedTimes } from "../fields/suggested_times.js";
import { fetchPage, watchFocus } from "../http.js";
import { startComments } from "../comments/editor_comments.js";
import { startClipboard } from "./clipboard.js";
import { startModules, startOutline, startPicker } from "./modules.js";
import { startPresence } from "./presence.js";
import { startRepeaters } from "./repeaters.js";
import { startSaving, watchChanges } from "./saving.js";

const isTyping = (target) =>
  target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]");

function startKeys(form, { modules, picker, saving }) {
  let lastG = 0; // a letter after "g" is a shortcut to another page

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
    "/": () => picker?.open(current() ?? undefined),
    "]": () => go(1),
    "[": () => go(-1),
    o: () => { const card = current(); if (card) modules.foldOf(card).open = !modules.foldOf(card).open; },
    m: () => current()?.querySelector("[data-handle]")?.focus(),
    d: () => { const card = current(); if (card) modules.duplicate(card); },
    x: () => { const card = current(); if (card) modules.remove(card); },
  };

  document.addEventListener("keydown", (event) => {
    // With Shift this shortcut strikes text through.
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "s") {
      event.preventDefault();
      saving.save();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]") || !modules) return;
    const followsG = Date.now() - lastG < 1500;
    lastG = event.key === "g" ? Date.now() : 0;
    // Outside the content this key focuses the search, as on every page.
    if (event.key === "/" && event.target !== document.body && !event.target.closest(".edit-main")) return;
    if (followsG || !form.querySelector("[data-pick-open]") || !acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }, true);
}

function startPlace(form, modules, rail) {
  const key = `cms:place:${form.dataset.post}`;

  function keep() {
    const active = document.activeElement;
    const field = active?.closest(".rt-field")?.querySelector("textarea") ?? active;
    const cards = modules?.cards() ?? [];
    const at = cards.indexOf(field?.closest("[data-module]"));
    const isNew = (card) => card.dataset.module.startsWith("new-") && modules.foldOf(card).open;
    const opened = [...cards.keys()].filter((number) => isNew(cards[number]));
    const place = { y: scrollY, id: field?.id ?? "", at, module: cards[at]?.dataset.module, opened };
    try { sessionStorage.setItem(key, JSON.stringify(place)); } catch { /* the page starts at the top */ }
  }

  async function putBack({ y, id, at, module, opened = [] }) {
    const cards = modules?.cards() ?? [];
    const card = cards[at];
    const isFocusFree = watchFocus();
    await Promise.all([...opened.map((number) => cards[number]), card].filter(Boolean).map(modules.open));
    const field = document.getElementById(card ? id.replace(module, card.dataset.module) : id);
    if (!isFocusFree()) return;
    rail.reveal(field);
    window.scrollTo(0, y);
    (field?.closest(".rt-field")?.querySelector("[contenteditable=true]") ?? field)?.focus({ preventScroll: !card });
  }

  let place;
  try {
    place = JSON.parse(sessionStorage.getItem(key) ?? "null");
    sessionStorage.removeItem(key);
  } catch { /* no storage or invalid data: the page starts at the top */ }
  if (place && !location.hash) putBack(place);
  return { keep };
}

const TITLE_WIDTH = 580; // pixels of a title that a search result shows
const WORDS_MOST = 160;

function startSearchPreview(form) {
  const box = form.querySelector("[data-search-preview]");
  if (!box) return;
  const canvas = document.createElement("canvas").getContext("2d");
  const value = (name) => form.elements[`post.${name}`]?.value?.trim() ?? "";
  const put = (name, text) => { for (const place of box.querySelectorAll(`[data-p-${name}]`)) place.textContent = text; };

  function widthOf(text) {
    canvas.font = "20px Arial, sans-serif";
    return Math.round(canvas.measureText(text).width);
  }

  function cut(text) {
    if (widthOf(text) <= TITLE_WIDTH) return text;
    let end = text.length;
    while (end > 1 && widthOf(`${text.slice(0, end)} …`) > TITLE_WIDTH) end -= 1;
    return `${text.slice(0, end).trimEnd()} …`;
  }

  function count(name, text, most, unit) {
    const place = box.querySelector(`[data-count-${name}]`);
    place.textContent = place.dataset.words.replace("{n}", String([...text].length)).replace("{width}", String(unit));
    place.classList.toggle("is-over", most);
  }

  function show() {
    const title = value("metaTitle") || value("title");
    const words = value("metaDescription") || value("excerpt");
    const width = widthOf(title);
    put("title", cut(title));
    put("words", words.length > WORDS_MOST ? `${words.slice(0, WORDS_MOST - 1).trimEnd()} …` : words);
    put("card", title);
    const slug = value("slug");
    const path = box.dataset.path;
    if (slug && path) put("path", path.replace(/[^/]*$/, slug).split("/").filter(Boolean).join(" › "));
    count("title", title, width > TITLE_WIDTH, width);
    count("words", words, words.length > WORDS_MOST, 0);
    for (const note of box.querySelectorAll("[data-note]")) {
      const is = {
        "no-title": !value("metaTitle"),
        "long-title": width > TITLE_WIDTH,
        "no-words": words && !value("metaDescription"),
        nothing: !words,
        "long-words": words.length > WORDS_MOST,
        hidden: Boolean(form.elements["post.robotsJson.noindex"]?.checked),
      }[note.dataset.note];
      note.hidden = !is;
    }
  }

  // Measuring text is slow, so do it only while the panel is visible.
  const panel = box.closest("[data-rail-panel]");
  form.addEventListener("input", ({ target }) => { if (!panel.hidden && target.name?.startsWith("post.")) show(); });
  new MutationObserver(() => { if (!panel.hidden) show(); }).observe(panel, { attributeFilter: ["hidden"] });
  show();
}

// The tabs beside the content: settings, SEO, agents, preview and history. In a narrow window the content is itself the
// first tab.

const YEAR_SECONDS = 31_536_000;
const RAIL_KEY = "cms:rail";
const NARROW = matchMedia("(max-width: 1100px)");

function startRail(form) {
  const columns = form.closest("[data-rail]");
  const list = form.querySelector("[data-rail-tabs]");
  const panels = [...columns.querySelectorAll("[data-rail-panel]")];
  const tabs = () => [...list.querySelectorAll("[data-tab]")].filter((tab) => NARROW.matches || tab.dataset.tab !== "content");
  const nameOf = (panel) => panel.id.replace("rail-", "");
  let opened;

  function open(name, { keep = true } = {}) {
    const chosen = tabs().find((tab) => tab.dataset.tab === name) ?? tabs()[0];
    const isNew = chosen.dataset.tab !== opened;
    opened = chosen.dataset.tab;
    for (const tab of list.querySelectorAll("[data-tab]")) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
    }
    columns.dataset.rail = opened;
    for (const panel of panels) panel.hidden = nameOf(panel) !== opened;
    chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (isNew) {
      for (const panel of panels) panel.dispatchEvent(new CustomEvent("cms:panel", { detail: { isOpen: nameOf(panel) === opened } }));
      if (opened === "history") loadHistory();
    }
    if (!keep) return;
    try { localStorage.setItem(RAIL_KEY, opened); } catch { /* the next page starts with the settings */ }
  }

  const toggle = columns.querySelector("[data-rail-toggle]");

  /** Show or hide the column beside the content. A cookie lets the server render the next page the same way. */
  function setHidden(isHidden) {
    columns.classList.toggle("is-rail-hidden", isHidden);
    toggle.setAttribute("aria-expanded", String(!isHidden));
    document.cookie = `editor_sidebar=${isHidden ? "hidden" : "shown"}; path=/admin/; max-age=${YEAR_SECONDS}; samesite=lax`;
  }

  toggle.addEventListener("click", () => setHidden(!columns.classList.contains("is-rail-hidden")));

  /** Open the tab that an element is in. */
  function reveal(element) {
    const fold = element?.closest("[data-json]");
    if (fold) fold.open = true;
    const panel = element?.closest("[data-rail-panel]");
    if (panel && columns.classList.contains("is-rail-hidden")) setHidden(false);
    if (panel) open(nameOf(panel), { keep: false });
    else if (NARROW.matches && element?.closest("#rail-content")) open("content", { keep: false });
  }

  async function loadHistory() {
    const box = columns.querySelector("[data-history]");
    const failed = box.querySelector("[data-history-failed]");
    box.setAttribute("aria-busy", "true");
    try {
      box.querySelector("[data-history-list]").replaceChildren(...(await fetchPage(box.dataset.history)).body.childNodes);
      failed.hidden = true;
    } catch {
      failed.hidden = false;
    }
    box.removeAttribute("aria-busy");
  }

  list.addEventListener("click", ({ target }) => {
    const tab = target.closest("[data-tab]");
    if (tab) open(tab.dataset.tab);
  });
  list.addEventListener("keydown", (event) => {
    const all = tabs();
    const at = all.indexOf(event.target);
    const forward = document.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
    const back = document.dir === "rtl" ? "ArrowRight" : "ArrowLeft";
    const next = { [forward]: (at + 1) % all.length, [back]: (at - 1 + all.length) % all.length, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    all[next].focus();
    open(all[next].dataset.tab);
  });
  document.addEventListener("cms:saved", () => { if (opened === "history") loadHistory(); });

  form.addEventListener("cms:reveal", ({ target }) => reveal(target));

  const target = () => location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  function follow() {
    const found = target();
    if (!found) return;
    reveal(found);
    if (found.closest("[data-rail-panel]")) {
      found.scrollIntoView({ block: "center" });
      found.focus();
    }
  }
  window.addEventListener("hashchange", follow);
  // A link to the field that is already in the address causes no hashchange event.
  document.addEventListener("click", ({ target: link }) => { if (link.closest("a[href^='#']")) setTimeout(follow); });

  let remembered;
  try { remembered = localStorage.getItem(RAIL_KEY); } catch { /* nothing stored */ }
  const wrong = list.querySelector(".has-errors");
  // A narrow window starts with the content.
  open(wrong?.dataset.tab ?? (NARROW.matches ? "content" : remembered ?? "settings"), { keep: false });
  NARROW.addEventListener("change", () => open(opened, { keep: false }));
  follow();
  return { reveal };
}

// Open and close the dialogs of the menu.
function startDialogs() {
  document.addEventListener("click", ({ target }) => {
    const opener = target.closest("[data-dialog]");
    if (opener) {
      const menu = opener.closest("[data-menu]");
      if (menu) menu.open = false;
      document.getElementById(opener.dataset.dialog).showModal();
    } else target.closest("button[data-close]")?.closest("dialog")?.close();
  });
  document.querySelector("dialog[data-open]")?.showModal();
}

// Report a missing or past time in its dialog. The server checks it too, but answers with another page.
function startDates() {
  for (const dialog of document.querySelectorAll("[data-date-dialog]")) {
    const input = dialog.querySelector("input");
    const line = dialog.querySelector(".field-errors");
    startSuggestedTimes(dialog, input);
    dialog.querySelector("[data-schedule]").addEventListener("click", (event) => {
      line.textContent = !input.value ? line.dataset.none : input.value <= input.dataset.from ? line.dataset.past : "";
      line.hidden = !line.textContent;
      input.setAttribute("aria-invalid", String(!line.hidden));
      if (line.hidden) return;
      event.preventDefault();
      input.focus();
    });
  }
}

const form = document.querySelector("[data-edit]");
if (form) {
  form.classList.add("is-scripted");
  document.documentElement.classList.add("editor-scripts");
  const changes = watchChanges(form);
  const rail = startRail(form);
  const modules = startModules(form, changes);
  const picker = startPicker(form, modules);
  startClipboard(form, modules);
  startOutline(form, modules, changes);
  startRepeaters(form, changes);
  const saving = startSaving(form, changes, startPlace(form, modules, rail));
  startKeys(form, { modules, picker, saving });
  startSearchPreview(form);
  startPresence(form);
  startComments(form, rail);
  startDialogs();
  startDates();
  if (form.dataset.sent) {
    const wrong = form.querySelector("[aria-invalid=true]");
    rail.reveal(wrong);
    wrong?.focus({ preventScroll: true });
    wrong?.scrollIntoView({ block: "center" });
  }
  form.dataset.ready = "true";
}
