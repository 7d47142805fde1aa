// Selects modules, copies them and pastes them in this post, in another one or in another tab.
//
// The server writes and reads what is copied (post_editor/clipboard.py). It goes to the system clipboard, for Ctrl+V, and
// to the storage of this browser, for the button: a page may not read the clipboard without asking.

import { announce, fetchJson } from "../http.js";

const MARK = "proofroom/modules";
const KEY = "cms:copied-modules";
const LARGEST = 1_000_000; // bytes, as the server allows

/** Return the copied modules in a text, or null if it is another text. */
function parse(text) {
  if (!text?.includes(MARK)) return null;
  try {
    const found = JSON.parse(text);
    return found?.type === MARK && Array.isArray(found.modules) ? found.modules : null;
  } catch {
    return null;
  }
}

/** Return the address if a text is only the address of a page that a known provider can describe, else "". */
export function embeddableUrl(text) {
  const hosts = document.querySelector("[data-embed-hosts]")?.dataset.embedHosts.split(" ") ?? [];
  if (!/^https?:\/\/\S{4,2000}$/i.test(text.trim())) return "";
  try {
    return hosts.includes(new URL(text.trim()).hostname) ? text.trim() : "";
  } catch {
    return "";
  }
}

function stored() {
  try { return localStorage.getItem(KEY) ?? ""; } catch { return ""; }
}

const isField = (target) => Boolean(target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]"));

export function startClipboard(form, modules) {
  const bar = form.querySelector("[data-selection]");
  if (!bar || !modules) return;
  const pasteButton = form.querySelector("[data-paste]");
  const failed = bar.querySelector("[data-selection-failed]");
  const dialog = bar.querySelector("[data-snippet-dialog]");
  const words = (name, number) => bar.dataset[name + (number === 1 ? "One" : "Many")].replace("{n}", String(number));
  const boxOf = (card) => card.querySelector("[data-select-module]");
  const selected = () => modules.cards().filter((card) => boxOf(card)?.checked);
  const current = () => document.activeElement?.closest?.("[data-module]");

  function fail(message) {
    failed.textContent = message;
    failed.hidden = !message;
    if (message) bar.hidden = false;
  }

  function show() {
    const { length } = selected();
    bar.hidden = !length;
    failed.hidden = true;
    bar.querySelector("[data-selection-count]").textContent = words("selected", length);
    for (const card of modules.cards()) card.classList.toggle("is-selected", Boolean(boxOf(card)?.checked));
  }

  function clear() {
    for (const card of selected()) boxOf(card).checked = false;
    show();
  }

  function offerPaste() {
    const found = parse(stored());
    if (!pasteButton) return;
    pasteButton.hidden = !found?.length;
    pasteButton.classList.toggle("needs-scripts", Boolean(found?.length));
    if (found?.length) pasteButton.textContent = words("paste", found.length);
  }

  async function copy(cards) {
    if (!cards.length) return;
    const text = fetchJson(bar.dataset.copied, { body: modules.dataOf(cards) }).then((found) => JSON.stringify(found));
    try {
      // Given as a promise, because some browsers allow writing only right after the key.
      const written = navigator.clipboard?.write?.([new ClipboardItem({ "text/plain": text.then((one) => new Blob([one], { type: "text/plain" })) })]);
      // Without HTTPS or permission the button still pastes in this browser.
      await Promise.all([text, written?.catch(() => undefined)]);
      try { localStorage.setItem(KEY, await text); } catch { /* the clipboard has it */ }
      clear();
      offerPaste();
      announce(words("copied", cards.length));
      if (pasteButton) pasteButton.title = words("copied", cards.length);
    } catch (error) {
      fail(error.message || bar.dataset.failed);
    }
  }

  function paste(text, after) {
    if (new Blob([text]).size > LARGEST) fail(bar.dataset.tooLarge);
    else modules.paste({ clipboard: text }, after);
  }

  form.addEventListener("change", ({ target }) => { if (target.matches("[data-select-module]")) show(); });
  bar.querySelector("[data-copy-selected]").addEventListener("click", () => copy(selected()));
  bar.querySelector("[data-selection-clear]").addEventListener("click", clear);
  pasteButton?.addEventListener("click", () => paste(stored()));
  window.addEventListener("storage", ({ key }) => { if (key === KEY) offerPaste(); });
  new MutationObserver(() => { if (!bar.hidden && failed.hidden) show(); }).observe(form.querySelector("[data-modules]"), { childList: true });

  document.addEventListener("keydown", (event) => {
    const isCopy = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "c";
    // Selected words are copied as words.
    if (!isCopy || isField(event.target) || !getSelection().isCollapsed || document.querySelector("dialog[open]")) return;
    const chosen = selected();
    const card = current();
    if (!chosen.length && !card) return;
    event.preventDefault();
    copy(chosen.length ? chosen : [card]);
  });

  document.addEventListener("paste", (event) => {
    if (!pasteButton || isField(event.target) || document.querySelector("dialog[open]")) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const url = embeddableUrl(text);
    if (!text.includes(MARK) && !url) return;
    event.preventDefault();
    if (url) modules.paste({ embed: url }, current() ?? undefined);
    else paste(text, current() ?? undefined);
  });
  // From a text, which offers to embed an address that was pasted on a line of its own.
  form.addEventListener("cms:embed", ({ target, detail }) => modules.paste({ embed: detail.url }, target.closest("[data-module]") ?? undefined));

  if (dialog) startSnippets(bar, dialog, modules, { selected, clear });
  offerPaste();
}

/** Save the selected modules as a snippet. */
function startSnippets(bar, dialog, modules, { selected, clear }) {
  const name = dialog.querySelector("[data-snippet-name]");
  const failed = dialog.querySelector("[data-snippet-failed]");
  const checked = (kind) => {
    const box = dialog.querySelector(`[data-snippet-${kind}]`);
    return box.checked ? box.value : "";
  };

  async function save() {
    failed.hidden = true;
    try {
      const { modules: copies } = await fetchJson(bar.dataset.copied, { body: modules.dataOf(selected()) });
      const type = checked("type");
      const body = { name: name.value, modules: copies, types: type ? [type] : [], locale: checked("locale") || null };
      await fetchJson("/api/snippets", { body });
      dialog.close();
      clear();
      announce(bar.dataset.saved.replace("{name}", name.value));
    } catch (error) {
      failed.textContent = error.data?.details?.name?.join(" ") ?? (error.message || bar.dataset.failed);
      failed.hidden = false;
      name.focus();
    }
  }

  bar.querySelector("[data-snippet-open]").addEventListener("click", () => {
    failed.hidden = true;
    name.value = "";
    dialog.showModal();
    name.focus();
  });
  dialog.querySelector("[data-snippet-save]").addEventListener("click", save);
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    save();
  });
}
