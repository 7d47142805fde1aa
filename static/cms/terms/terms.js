// The tree of a taxonomy: saves each move and each new name immediately, and reverts a move that the server refuses.

import { fetchJson } from "../http.js";
import { itemsOf, listOf, open, tree } from "../tree/tree.js";

const form = document.querySelector("[data-terms]");
const root = form.querySelector("[data-tree]");
const problem = document.querySelector("[data-problem]");
const find = document.querySelector("[data-find]");
const openAll = document.querySelector("[data-open-all]");

/** Send a change of an item. Returns false if it was refused, after showing the reason on the page. */
async function write(item, values) {
  const body = new FormData();
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  item.toggleAttribute("data-saving", true);
  try {
    await fetchJson(form.action, { body });
    problem.textContent = "";
  } catch (error) {
    problem.textContent = error.message || problem.dataset.words;
  }
  item.toggleAttribute("data-saving", false);
  problem.hidden = problem.textContent === "";
  return problem.hidden;
}

// Send moves one at a time, so that a later one cannot arrive before an earlier one.
let writing = Promise.resolve();
function moved({ item, takeBack }) {
  const values = {
    do: `move:${item.dataset.item}`,
    parent_id: item.parentElement.closest("[data-item]")?.dataset.item ?? "",
    before_id: item.nextElementSibling?.dataset.item ?? "",
  };
  writing = writing.then(async () => { if (!(await write(item, values))) takeBack(); });
}

function rename(item) {
  const name = item.querySelector(":scope > .tree-row [data-name]");
  const handle = item.querySelector(":scope > .tree-row [data-handle]");
  if (name.nextElementSibling?.matches(".terms-rename")) return;
  const box = document.querySelector("template[data-rename]").content.firstElementChild.cloneNode(true);
  const [input, button] = box.children;
  input.value = item.dataset.label;
  const close = () => { box.remove(); handle.focus(); };
  const save = async () => {
    const typed = input.value;
    const next = typed.trim();
    if (next && next !== item.dataset.label) {
      const isWritten = await write(item, { do: `rename:${item.dataset.item}`, name: next });
      if (isWritten) {
        item.dataset.label = name.textContent = next;
        document.getElementById("terms-says").textContent = root.dataset.renamed.replace("{label}", next);
      }
      // The text was changed meanwhile, so leave the box open.
      if (input.value !== typed) return;
      if (!isWritten) { input.focus(); return; }
    }
    close();
  };
  button.addEventListener("click", save);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") save();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  name.after(box);
  input.select();
}

root.addEventListener("click", ({ target }) => {
  if (target.closest("[data-rename]")) rename(target.closest("[data-item]"));
});
root.addEventListener("keydown", (event) => {
  if (event.key !== "F2" || !event.target.matches("[data-handle]")) return;
  event.preventDefault();
  rename(event.target.closest("[data-item]"));
});

/** Show only items that contain the words, and their ancestors. Returns whether any does. */
function filter(list, words) {
  let any = false;
  for (const item of itemsOf(list)) {
    const below = filter(listOf(item), words);
    const isFound = below || item.dataset.label.toLowerCase().includes(words);
    item.toggleAttribute("data-missed", words !== "" && !isFound);
    if (words && below) open(item);
    any ||= isFound;
  }
  return any;
}

find?.addEventListener("input", () => filter(root, find.value.trim().toLowerCase()));
openAll?.addEventListener("click", () => { for (const item of root.querySelectorAll("[data-item]")) open(item); });
for (const part of [find, openAll, ...root.querySelectorAll("[data-rename]")]) if (part) part.hidden = false;
tree(root, { onMove: moved });
