// The media library: uploads dropped files, selects several files, and moves between files by keyboard. Without this
// file the page has links, a filter form, and buttons below the list.

import { attachLiveSearch } from "../design/live_search.js";
import { fetchPage, swap } from "../http.js";
import { acceptFiles, uploads } from "./uploads.js";

const page = document.querySelector("[data-library]");
const results = document.getElementById("media-results");
page.classList.add("has-script");
attachFilters(page.querySelector("[data-narrow]"));
const open = attachUploads();
attachSelection();
attachLiveSearch(page.querySelector("[data-narrow]"), (found) => {
  swap(results, found.getElementById("media-results"));
  return results.querySelector(".library-said strong, h2").textContent;
});
document.addEventListener("keydown", onKey);

// Apply a filter as soon as it is set, and leave empty filters out of the address.
function attachFilters(form) {
  form.addEventListener("change", ({ target }) => { if (target.matches("select")) form.requestSubmit(); });
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
    // With all filters cleared, the id of the saved view alone would restore its filters.
    const { saved } = form.elements;
    if (saved && [...new FormData(form).keys()].every((name) => name === "saved")) saved.value = "all";
  });
  // When the user goes back, the browser restores the page with the fields still disabled.
  window.addEventListener("pageshow", () => { for (const field of form.elements) field.disabled = false; });
}

function attachUploads() {
  const section = page.querySelector("[data-uploads]");
  if (!section) return () => {};
  const input = page.querySelector("[data-upload-input]");
  let isFresh = false;
  const list = uploads(section, {
    onStored: () => { isFresh = true; },
    onIdle: () => { if (isFresh) refresh(); isFresh = false; },
  });
  input.addEventListener("change", () => { list.add([...input.files]); input.value = ""; });
  page.addEventListener("click", (event) => {
    if (!event.target.closest("[data-upload]")) return;
    event.preventDefault();
    input.click();
  });
  acceptFiles(document, page.querySelector("[data-drop-veil]"), (files) => {
    if (!document.querySelector("dialog[open]")) list.add(files);
  });
  return () => input.click();
}

async function refresh() {
  const page = await fetchPage(location.href).catch(() => null);
  if (page && !results.querySelector("[data-choose]:checked")) swap(results, page.getElementById("media-results"));
}

function attachSelection() {
  let last = null;
  results.addEventListener("click", (event) => {
    const box = event.target.closest("[data-choose]");
    if (event.target.closest("[data-bulk-all], [data-bulk-none]")) {
      const isAll = event.target.matches("[data-bulk-all]");
      for (const each of boxes()) each.checked = isAll;
    } else if (box) {
      if (event.shiftKey && last?.isConnected) {
        const [from, to] = [boxes().indexOf(last), boxes().indexOf(box)].sort((a, b) => a - b);
        for (const each of boxes().slice(from, to + 1)) each.checked = box.checked;
      }
      last = box;
    } else return;
    count();
  });
  results.addEventListener("change", count);
  new MutationObserver(count).observe(results, { childList: true });
  window.addEventListener("pageshow", count);
  count();
}

function boxes() {
  return [...results.querySelectorAll("[data-choose]")];
}

function count() {
  const bar = results.querySelector("[data-bulk]");
  if (!bar) return;
  const [all, chosen] = [boxes().length, boxes().filter((box) => box.checked).length];
  bar.hidden = chosen === 0;
  bar.querySelector("[data-bulk-count]").textContent = bar.dataset.chosenWords.replace("%(n)s", chosen);
  for (const button of bar.querySelectorAll("[data-counted]")) button.textContent = button.dataset.counted.replace("{number}", chosen);
  bar.querySelector("[data-bulk-all]").hidden = chosen === all;
  bar.querySelector("[data-bulk-none]").hidden = chosen === 0;
}

function onKey(event) {
  const isTyping = event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const links = [...results.querySelectorAll(".tile-link, .row-link")];
  const tile = document.activeElement.closest("[data-tile]");
  const at = tile ? links.indexOf(tile.querySelector("a")) : -1;
  const moves = { j: 1, k: -1 };
  const key = event.key.toLowerCase();
  if (key in moves && links.length) links[Math.min(Math.max(at + moves[key], 0), links.length - 1)].focus();
  else if (key === "x" && tile) tile.querySelector("[data-choose]")?.dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: event.shiftKey }));
  else if (key === "v") page.querySelector("[data-look]:not([aria-current])")?.click();
  else if (key === "u") open();
  else return;
  event.preventDefault();
}
