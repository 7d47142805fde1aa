// The dialog that a new module is picked from: searched by words, walked with arrows.

import { fetchPage } from "../http.js";

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
  const picks = () => [...body.querySelectorAll("[data-pick]:not([hidden]) > .pick")];

  async function load() {
    if (isLoaded) return;
    try {
      body.replaceChildren(...(await fetchPage(dialog.dataset.picker)).body.childNodes);
      isLoaded = true;
      search();
    } catch {
      body.textContent = form.querySelector("[data-modules]").dataset.failed;
    }
  }

  function search() {
    const words = plain(box.value).split(/\s+/).filter(Boolean);
    for (const pick of body.querySelectorAll("[data-pick]")) {
      const text = plain(pick.dataset.words);
      pick.hidden = !words.every((word) => text.includes(word));
    }
    for (const group of body.querySelectorAll("[data-pick-group]")) group.hidden = !group.querySelector("[data-pick]:not([hidden])");
    const number = picks().length;
    none.hidden = !isLoaded || number > 0;
    if (words.length) found.textContent = number === 1 ? found.dataset.one : found.dataset.many.replace("{n}", String(number));
  }

  /** Put what is picked behind `card`; last without one. */
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
    await modules.add(button.value, after);
  }

  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      const [first] = picks();
      if (first && box.value.trim()) pick(first);
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

/** The pick in the next row above or below, nearest to this column. */
function beside(all, at, by) {
  const from = all[at].getBoundingClientRect();
  const rows = all.map((one, index) => ({ index, box: one.getBoundingClientRect() }))
    .filter(({ box }) => (by > 0 ? box.top > from.top + 4 : box.top < from.top - 4));
  if (!rows.length) return by > 0 ? at : -1;
  const top = by > 0 ? Math.min(...rows.map(({ box }) => box.top)) : Math.max(...rows.map(({ box }) => box.top));
  const row = rows.filter(({ box }) => Math.abs(box.top - top) < 4);
  return row.sort((one, other) => Math.abs(one.box.left - from.left) - Math.abs(other.box.left - from.left))[0].index;
}
