// Shows modules as cards that are loaded when opened, and added from a dialog, duplicated, moved, removed and restored
// without a reload.

import { HttpError, announce, fetchPage, notifyAdded, watchFocus } from "../http.js";
import { embeddableUrl } from "./clipboard.js";
import { sortable } from "../sorting/sorting.js";

const REMEMBERED = 300; // number of cards per post
const COPIES_MOST = 50; // modules that the server inserts at once
const SNIPPET = "snippet:";

/** Report a failed request in `place`, with a button that retries and then focuses the element `again()` returns. */
function showFailure(form, place, error, words, again) {
  const notice = form.querySelector("[data-module-failed]").content.firstElementChild.cloneNode(true);
  notice.querySelector("[data-said]").textContent = (error instanceof HttpError && error.message) || words;
  notice.querySelector("button").addEventListener("click", async () => {
    notice.remove();
    (await again())?.focus();
  });
  place.append(notice);
  return notice;
}

export function startModules(form, changes) {
  const list = form.querySelector("[data-modules]");
  if (!list) return undefined;
  const part = new URL(list.dataset.part, location.href);
  announce(""); // screen readers announce a live region only if it exists before its text
  const cards = () => [...list.children].filter((one) => one.matches("[data-module]"));
  const presentCards = () => cards().filter((card) => !card.hasAttribute("data-removed"));
  const foldOf = (card) => card.querySelector(":scope > details");
  const say = (words, card) => announce(words.replace("{label}", card?.dataset.label ?? ""));

  function changed() {
    const count = form.querySelector("[data-modules-count]");
    if (count) count.textContent = String(presentCards().length);
    const none = form.querySelector("[data-no-modules]");
    if (none) none.hidden = presentCards().length > 0;
    changes.plan();
  }

  const firstField = (card) => card.querySelector("[data-controls] :is(input:not([type=hidden]), textarea, select, [contenteditable=true])");

  // In a long post, closed cards are rendered without fields; fetch them when the card is opened.
  async function load(card) {
    const place = card.querySelector("[data-closed]");
    if (!place || card.dataset.loading) return;
    card.dataset.loading = "true";
    card.querySelector("[data-failure]")?.remove();
    place.hidden = false;
    const url = new URL(part);
    url.searchParams.set("module", card.dataset.module);
    try {
      const controls = (await fetchPage(url)).querySelector("[data-module] [data-controls]");
      if (!controls) throw new HttpError("failed");
      card.querySelector("[data-controls]").replaceWith(controls);
      changes.known(card);
      notifyAdded(controls);
    } catch (error) {
      place.hidden = true; // the notice below has the same button
      showFailure(form, place.parentElement, error, list.dataset.failed, async () => {
        await load(card);
        return card.querySelector("[data-failure] button") ?? firstField(card);
      });
    } finally {
      delete card.dataset.loading;
    }
  }

  let lastNumber = 0; // includes modules that are still being requested

  async function requestCard(verb, target, after) {
    const body = new FormData();
    const entries = [...new FormData(form)];
    for (const [name, value] of entries) {
      if (name === "order" || (target && name.startsWith(`modules.${target}.`))) body.append(name, value);
    }
    for (const input of target ? find(target).querySelectorAll('input[name="was"]') : []) body.append("was", input.value);
    const numbers = cards().map((card) => Number(/^new-(\d+)$/.exec(card.dataset.module)?.[1] ?? 0));
    lastNumber = Math.max(lastNumber, ...numbers) + 1;
    body.append("number", String(lastNumber));
    body.append("do", target ? `duplicate:${target}` : "add");
    if (!target) body.append("add", verb);
    const isFocusFree = watchFocus();
    try {
      const card = (await fetchPage(part, { body, statuses: [] })).querySelector("[data-module]");
      if (!card) throw new HttpError("failed");
      const place = after ?? cards().at(-1);
      if (place) place.after(card);
      else list.prepend(card);
      notifyAdded(card);
      changed();
      foldOf(card).open = true;
      if (isFocusFree()) {
        card.scrollIntoView({ block: "nearest" });
        (firstField(card) ?? foldOf(card).querySelector("summary")).focus();
      }
      say(list.dataset.added, card);
    } catch (error) {
      const place = after ?? cards().at(-1);
      const notice = showFailure(form, place ?? list.parentElement, error, list.dataset.failed, () => requestCard(verb, target, after));
      if (!isFocusFree()) return;
      notice.scrollIntoView({ block: "nearest" });
      notice.querySelector("button").focus({ preventScroll: true });
    }
  }

  /** Insert copied modules (`{ clipboard }`) or those of a `{ snippet }`. Modules the post cannot have are named. */
  async function paste(values, after) {
    const numbers = cards().map((card) => Number(/^new-(\d+)$/.exec(card.dataset.module)?.[1] ?? 0));
    const first = Math.max(lastNumber, ...numbers) + 1;
    lastNumber = first + COPIES_MOST - 1;
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...values, number: String(first) })) body.append(name, value);
    const isFocusFree = watchFocus();
    let place = after ?? cards().at(-1);
    try {
      const page = await fetchPage(list.dataset.pasted, { body, statuses: [] });
      const made = [...page.querySelectorAll("[data-module]")];
      const refused = page.querySelector("[data-refused]");
      for (const card of made) {
        if (place) place.after(card);
        else list.prepend(card);
        place = card;
        notifyAdded(card);
      }
      if (refused) {
        (place ?? list.parentElement).append(refused);
        refused.querySelector("button").addEventListener("click", () => refused.remove());
      }
      if (!made.length) return;
      changed();
      announce(made.length === 1 ? list.dataset.pastedOne : list.dataset.pastedMany.replace("{n}", String(made.length)));
      if (!isFocusFree()) return;
      made[0].scrollIntoView({ block: "nearest" });
      foldOf(made[0]).querySelector("summary").focus({ preventScroll: true });
    } catch (error) {
      const notice = showFailure(form, place ?? list.parentElement, error, list.dataset.failed, () => paste(values, after));
      if (isFocusFree()) notice.scrollIntoView({ block: "nearest" });
    }
  }

  /** Return the fields of modules as the form would send them, for a request about these modules. */
  function dataOf(chosen) {
    const body = new FormData();
    const prefixes = chosen.map((card) => `modules.${card.dataset.module}.`);
    const sent = new Set();
    for (const [name, value] of new FormData(form)) {
      const prefix = prefixes.find((one) => name.startsWith(one));
      if (prefix) sent.add(prefix);
      if (prefix || name === "order") body.append(name, value);
    }
    for (const card of chosen) {
      body.append("module", card.dataset.module);
      // Without its fields, the server takes the stored values of a module.
      if (!sent.has(`modules.${card.dataset.module}.`)) continue;
      for (const input of card.querySelectorAll('input[name="was"]')) body.append("was", input.value);
    }
    return body;
  }

  const find = (id) => cards().find((card) => card.dataset.module === id);

  function remove(card) {
    if (card.hasAttribute("data-fixed")) return;
    card.setAttribute("data-removed", "");
    // The form does not send disabled inputs, so the server removes the module on the next save.
    const inputs = [...card.querySelectorAll("input, textarea, select")].filter((one) => !one.disabled);
    for (const input of inputs) input.disabled = true;
    const line = form.querySelector("[data-undo]").content.firstElementChild.cloneNode(true);
    line.querySelector("[data-said]").textContent = list.dataset.removed.replace("{label}", card.dataset.label);
    const button = line.querySelector("button");
    button.addEventListener("click", () => {
      for (const input of inputs) input.disabled = false;
      card.removeAttribute("data-removed");
      line.remove();
      changed();
      foldOf(card).querySelector("summary").focus();
    });
    card.prepend(line);
    button.focus();
    changed();
  }

  function step(card, offset) {
    const all = cards();
    list.sortTo(card, all.indexOf(card) + offset);
  }

  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const [verb, id] = (button?.name === "do" ? button.value : "").split(":");
    const card = id && find(id);
    if (!card) return;
    const acts = {
      up: () => step(card, -1),
      down: () => step(card, 1),
      duplicate: () => requestCard("", id, card),
      remove: () => remove(card),
      open: () => load(card),
    };
    if (!acts[verb]) return;
    event.preventDefault();
    acts[verb]();
    if (verb === "up" || verb === "down") button.focus({ preventScroll: true });
  });

  // Remember in this browser which cards are open.
  const key = `cms:open:${form.dataset.post}`;
  let openCards = {};
  try { openCards = JSON.parse(localStorage.getItem(key)) ?? {}; } catch { /* nothing stored */ }
  const remember = (card) => {
    const id = card.dataset.module;
    if (id.startsWith("new-")) return;
    openCards = { ...Object.fromEntries(Object.entries(openCards).slice(-REMEMBERED)), [id]: foldOf(card).open };
    try { localStorage.setItem(key, JSON.stringify(openCards)); } catch { /* only a convenience */ }
  };
  // Toggle events do not bubble, so capture them.
  list.addEventListener("toggle", ({ target }) => {
    const card = target.closest("[data-module]");
    if (!card || foldOf(card) !== target) return;
    remember(card);
    if (target.open) load(card);
  }, true);
  for (const card of cards()) {
    const wasOpen = openCards[card.dataset.module];
    const fold = foldOf(card);
    if (wasOpen !== undefined && wasOpen !== fold.open && !card.querySelector(".badge-failed")) fold.open = wasOpen;
    if (fold.open) load(card);
  }

  const open = async (card) => {
    foldOf(card).open = true;
    await load(card);
  };

  // A link to a module or to a field in it opens the card.
  async function follow() {
    const found = /^#(?:m-|f-modules-)((?:new-\d+)|[0-9a-f-]{36})/.exec(location.hash);
    const card = found && find(found[1]);
    if (!card) return;
    const isFocusFree = watchFocus();
    await open(card);
    const target = document.getElementById(location.hash.slice(1)) ?? card;
    if (!isFocusFree()) return;
    target.scrollIntoView({ block: "center" });
    if (target !== card) target.focus();
  }
  window.addEventListener("hashchange", follow);
  follow();

  for (const [name, open] of [["open", true], ["close", false]]) {
    form.querySelector(`[data-${name}-all]`)?.addEventListener("click", () => {
      for (const card of presentCards()) foldOf(card).open = open;
    });
  }

  // Update the summary of a card while the editor types in its first field.
  form.addEventListener("input", ({ target }) => {
    const card = target.closest?.("[data-module]");
    const first = card?.querySelector("[data-controls] :is(input[type=text], textarea)");
    if (card && target === first) card.querySelector("[data-summary]").textContent = first.value.slice(0, 90);
  });
  changes.listen((found) => {
    const ids = new Set([...found].filter((path) => path.startsWith("modules.")).map((path) => path.split(".")[1]));
    for (const card of cards()) card.classList.toggle("is-changed", ids.has(card.dataset.module));
    for (const section of form.querySelectorAll("[data-section]")) {
      const names = [...section.querySelectorAll("[name^='post.']")].map((one) => one.name.split(".").slice(0, 2).join("."));
      section.classList.toggle("is-changed", names.some((name) => found.has(name)));
    }
  });

  sortable(list, { item: "[data-module]", handle: "[data-handle]", onChange: changed });
  return { cards: presentCards, foldOf, open, paste, dataOf, add: (kind, after) => requestCard(kind, "", after), remove, duplicate: (card) => requestCard("", card.dataset.module, card) };
}

const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

export function startPicker(form, modules) {
  const dialog = document.querySelector("[data-picker]");
  if (!dialog || !modules) return undefined;
  const box = dialog.querySelector("[data-picker-words]");
  const body = dialog.querySelector("[data-picker-body]");
  const none = dialog.querySelector("[data-picker-none]");
  const found = dialog.querySelector("[data-picker-found]");
  let after;
  let isLoaded = false;
  let loading;
  const picks = () => [...body.querySelectorAll("[data-pick]:not([hidden]) > .pick")];

  function load() {
    loading ??= fetchPicks().finally(() => { loading = undefined; });
    return loading;
  }

  async function fetchPicks() {
    if (isLoaded) return;
    try {
      const page = await fetchPage(dialog.dataset.picker);
      if (!page.querySelector("[data-pick]")) throw new HttpError("failed");
      body.replaceChildren(...page.body.childNodes);
      isLoaded = true;
      search();
    } catch (error) {
      body.replaceChildren();
      showFailure(form, body, error, dialog.dataset.failed, async () => {
        await load();
        return body.querySelector("[data-failure] button") ?? box;
      });
    }
  }

  // Matches in names rank before matches in descriptions.
  function rank(pick, words) {
    const [name, text] = [plain(pick.dataset.name), plain(pick.dataset.words)];
    if (!words.every((word) => text.includes(word))) return undefined;
    const typed = words.join(" ");
    if (name.startsWith(typed)) return 0;
    if (words.every((word) => name.split(/[\s-]+/).some((one) => one.startsWith(word)))) return 1;
    return words.every((word) => name.includes(word)) ? 2 : 3;
  }

  function search() {
    const words = plain(box.value).split(/\s+/).filter(Boolean);
    const best = new Map();
    for (const group of body.querySelectorAll("[data-pick-group]")) {
      const ranks = new Map([...group.querySelectorAll("[data-pick]")].map((pick) => [pick, words.length ? rank(pick, words) : Number(pick.dataset.at)]));
      // What is often used stands in its own group too, and would be found twice.
      if (words.length && "pickOften" in group.dataset) ranks.forEach((_, pick) => ranks.set(pick, undefined));
      const found = [...ranks].filter(([, one]) => one !== undefined).sort(([, one], [, other]) => one - other);
      for (const pick of ranks.keys()) pick.hidden = ranks.get(pick) === undefined;
      group.querySelector("ul").append(...found.map(([pick]) => pick));
      group.hidden = !found.length;
      best.set(group, words.length ? found[0]?.[1] ?? 9 : Number(group.dataset.pickGroup));
    }
    body.append(...[...best.keys()].sort((one, other) => best.get(one) - best.get(other)));
    const number = picks().length;
    none.hidden = !isLoaded || number > 0;
    none.textContent = embeddableUrl(box.value) ? dialog.dataset.embed : dialog.dataset.none;
    if (words.length) found.textContent = number === 1 ? found.dataset.one : found.dataset.many.replace("{n}", String(number));
  }

  /** Open the picker. The chosen module is added after `card`, or at the end without one. */
  function open(card) {
    after = card;
    box.value = "";
    dialog.showModal();
    box.focus();
    if (isLoaded) search();
    load();
  }

  async function pick(button) {
    dialog.close();
    if (button.value.startsWith(SNIPPET)) await modules.paste({ snippet: button.value.slice(SNIPPET.length) }, after);
    else await modules.add(button.value, after);
  }

  box.addEventListener("input", search);
  /** Add the first result, as soon as the list is loaded. */
  async function pickFirst() {
    const words = box.value;
    const url = embeddableUrl(words);
    if (url) {
      dialog.close();
      await modules.paste({ embed: url }, after);
      return;
    }
    await load();
    const [first] = picks();
    if (first && dialog.open && words.trim() && box.value === words) pick(first);
  }

  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      pickFirst();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      picks()[0]?.focus();
    }
  });
  body.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 };
    const all = picks();
    const at = all.indexOf(event.target);
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    let next = at + steps[event.key];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") next = beside(all, at, steps[event.key]);
    if (next < 0) box.focus();
    else all[Math.min(next, all.length - 1)].focus();
  });
  body.addEventListener("click", (event) => {
    const button = event.target.closest(".pick");
    if (button) pick(button);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  form.addEventListener("click", (event) => {
    if (event.target.closest("[data-pick-open]")) open();
    const insert = event.target.closest("[data-insert]");
    if (insert) open(insert.closest("[data-module]"));
  });
  return { open };
}

/** Return the index of the nearest module in the row above or below. */
function beside(all, at, offset) {
  const from = all[at].getBoundingClientRect();
  const rows = all.map((one, index) => ({ index, box: one.getBoundingClientRect() }))
    .filter(({ box }) => (offset > 0 ? box.top > from.top + 4 : box.top < from.top - 4));
  if (!rows.length) return offset > 0 ? at : -1;
  const top = offset > 0 ? Math.min(...rows.map(({ box }) => box.top)) : Math.max(...rows.map(({ box }) => box.top));
  const row = rows.filter(({ box }) => Math.abs(box.top - top) < 4);
  return row.sort((one, other) => Math.abs(one.box.left - from.left) - Math.abs(other.box.left - from.left))[0].index;
}

// An outline of the modules, to jump to one and to move them. The cards hold the state: moving a line moves its card,
// and the outline is updated after each change of the cards.

export function startOutline(form, modules, changes) {
  const list = document.querySelector("[data-outline]");
  if (!list || !modules) return;
  const cards = form.querySelector("[data-modules]");
  const template = document.querySelector("[data-outline-item]").content.firstElementChild;
  const none = document.querySelector("[data-outline-none]");

  function lineOf(card) {
    const line = template.cloneNode(true);
    const { label } = card.dataset;
    line.dataset.outlineOf = card.dataset.module;
    line.dataset.label = label;
    line.toggleAttribute("data-fixed", card.hasAttribute("data-fixed"));
    line.querySelector("a").href = `#${card.id}`;
    line.querySelector("[data-label]").textContent = label;
    const icon = card.querySelector(".module-icon > .icon");
    if (icon) line.querySelector("[data-icon]").append(icon.cloneNode(true));
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
      // Setting the text, even to the same value, causes a layout of the whole list.
      if (place.textContent !== words) place.textContent = words;
      line.querySelector("[data-changed]").hidden = !card.classList.contains("is-changed");
      line.querySelector("[data-wrong]").hidden = !card.querySelector(".badge-failed");
      return line;
    });
    const isSame = lines.length === list.children.length && lines.every((line, at) => line === list.children[at]);
    if (!isSame) list.replaceChildren(...lines);
    none.hidden = lines.length > 0;
    for (const card of modules.cards()) inView.observe(card);
  }

  // Highlight the lines of the modules that are in view; the first of them is the current location.
  const shown = new Set();
  const inView = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) shown[isIntersecting ? "add" : "delete"](target.dataset.module);
    let isFirst = true;
    for (const line of list.children) {
      const isInView = shown.has(line.dataset.outlineOf);
      line.classList.toggle("is-in-view", isInView);
      line.querySelector("a").ariaCurrent = isInView && isFirst ? "location" : null;
      if (isInView && isFirst) follow(line);
      isFirst &&= !isInView;
    }
  }, { rootMargin: "-112px 0px 0px" });

  /** Scroll the panel to a line, without scrolling the page as scrollIntoView would. */
  function follow(line) {
    const panel = list.closest("[data-rail-panel]");
    if (panel.contains(document.activeElement)) return;
    const [of, at] = [panel.getBoundingClientRect(), line.getBoundingClientRect()];
    if (at.top < of.top || at.bottom > of.bottom) panel.scrollTop += at.top - of.top - of.height / 3;
  }

  sortable(list, {
    item: "[data-outline-of]",
    handle: "[data-handle]",
    onChange({ item, to }) {
      const [all, shown] = [[...cards.querySelectorAll(":scope > [data-module]")], modules.cards()];
      const card = shown.find((one) => one.dataset.module === item.dataset.outlineOf);
      // `cards` still contains removed cards, which have no line, so the positions differ.
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
