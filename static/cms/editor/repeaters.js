// Lists inside a module, also nested: items are added, duplicated, moved and removed without a reload. The names of
// fields contain the item's number, so they are renamed when an item moves.

import { notifyAdded } from "../http.js";
import { isMediaList, startMediaList } from "./media_lists.js";
import { sortable } from "../sorting/sorting.js";

const dashed = (name) => name.replaceAll(".", "-");

/** Replace `from` with `to` in every attribute below `root`, except in links and in the values of fields. */
function rename(root, from, to) {
  const [id, newId] = [`f-${dashed(from)}`, `f-${dashed(to)}`];
  const next = (text) =>
    text.split(/(\s+)/).map((word) => {
      for (const [old, fresh] of [[from, to], [id, newId]]) {
        const at = word.indexOf(old);
        const end = word[at + old.length];
        if (at >= 0 && (end === undefined || end === "." || end === "-")) return word.slice(0, at) + fresh + word.slice(at + old.length);
      }
      return word;
    }).join("");
  const within = (part) => {
    for (const element of [part, ...part.querySelectorAll("*")].filter((one) => one.attributes)) {
      for (const { name, value } of [...element.attributes]) {
        if (name === "href" || name === "src" || (name === "value" && element.name !== "do")) continue;
        if (value.includes(from) || value.includes(id)) element.setAttribute(name, next(value));
      }
      if (element instanceof HTMLTemplateElement) within(element.content);
    }
  };
  within(root);
}

export function startRepeaters(form, changes) {
  const itemsOf = (list) => [...list.querySelector(":scope > [data-items]").children].filter((one) => one.matches("[data-item]"));

  function number(list) {
    const items = itemsOf(list);
    const name = list.dataset.repeater;
    // Rename in two steps, so that no two items have the same name in between.
    items.forEach((item, at) => { if (item.dataset.item !== `${name}.${at}`) rename(item, item.dataset.item, `${name}.~${at}`); });
    items.forEach((item, at) => { if (item.dataset.item === `${name}.~${at}`) rename(item, `${name}.~${at}`, `${name}.${at}`); });
    items.forEach((item, at) => {
      for (const place of item.querySelectorAll("[data-item-number]")) {
        if (place.closest("[data-item]") === item) place.textContent = String(at + 1);
      }
      const label = list.querySelector(":scope > legend").firstChild.textContent.trim();
      item.dataset.label = `${label} ${at + 1}`;
      button(item, "item-up").disabled = at === 0;
      button(item, "item-down").disabled = at === items.length - 1;
      button(item, "item-remove").disabled = items.length <= Number(list.dataset.least);
      button(item, "item-duplicate").disabled = items.length >= Number(list.dataset.most);
    });
    list.querySelector(":scope > legend [data-number]").textContent = String(items.length);
    list.querySelector(":scope > [data-count]").value = String(items.length);
    list.querySelector(':scope > p > button[value^="item-add"]').disabled = items.length >= Number(list.dataset.most);
    changes.plan();
  }

  const button = (item, verb) =>
    [...item.querySelectorAll(`button[value^="${verb}:"]`)].find((one) => one.closest("[data-item]") === item);

  function put(list, item, before) {
    list.querySelector(":scope > [data-items]").insertBefore(item, before);
    number(list);
    attach(item);
    notifyAdded(item);
    item.querySelector(":scope > details").open = true;
    item.querySelector(".item-body :is(input:not([type=hidden]), textarea, select, [contenteditable=true])")?.focus();
  }

  /** Add blank items and return them, without moving the focus. */
  function append(list, count) {
    const items = Array.from({ length: count }, () => {
      const item = blank(list);
      list.querySelector(":scope > [data-items]").append(item);
      return item;
    });
    number(list);
    for (const item of items) {
      attach(item);
      notifyAdded(item);
    }
    return items;
  }

  function blank(list) {
    const item = list.querySelector(":scope > template[data-blank]").content.firstElementChild.cloneNode(true);
    const at = itemsOf(list).length;
    rename(item, `${list.dataset.repeater}.__n__`, `${list.dataset.repeater}.${at}`);
    return document.importNode(item, true);
  }

  // Fill a blank item with the values instead of cloning, because elements that scripts added would not work in a
  // clone.
  function copy(list, item) {
    const [from, to] = [item.dataset.item, `${list.dataset.repeater}.${itemsOf(list).length}`];
    const fresh = blank(list);
    const values = new Map();
    for (const field of fieldsIn(item)) {
      const name = to + field.name.slice(from.length);
      values.set(name, [...(values.get(name) ?? []), field]);
    }
    const innerLists = [...item.querySelectorAll("[data-repeater]")];
    for (const inner of innerLists) {
      const twin = [...fresh.querySelectorAll("[data-repeater]")].find((one) => one.dataset.repeater === to + inner.dataset.repeater.slice(from.length));
      for (let count = itemsOf(inner).length; twin && count > 0; count -= 1) twin.querySelector(":scope > [data-items]").append(blank(twin));
      if (twin) number(twin);
    }
    for (const field of fieldsIn(fresh)) {
      const typed = values.get(field.name)?.find((one) => one.type !== "checkbox" || one.value === field.value);
      if (!typed) continue;
      if (field.type === "checkbox" || field.type === "radio") field.checked = typed.checked;
      else if (field instanceof HTMLSelectElement) choose(field, typed);
      else if (!field.hasAttribute("data-count")) field.value = typed.value;
    }
    return fresh;
  }

  const fieldsIn = (root) => [...root.querySelectorAll("input[name], textarea[name], select[name]")];

  function choose(field, typed) {
    const has = [...field.options].some((option) => option.value === typed.value);
    if (!has && typed.selectedOptions[0]) field.append(typed.selectedOptions[0].cloneNode(true));
    field.value = typed.value;
  }

  form.addEventListener("click", (event) => {
    const pressed = event.target.closest('button[name="do"][value^="item-"]');
    const list = pressed?.closest("[data-repeater]");
    if (!list) return;
    event.preventDefault();
    const verb = pressed.value.split(":")[0];
    if (verb === "item-add") return put(list, blank(list), null);
    const item = pressed.closest("[data-item]");
    const items = itemsOf(list);
    const at = items.indexOf(item);
    const holder = list.querySelector(":scope > [data-items]");
    if (verb === "item-duplicate") return put(list, copy(list, item), item.nextElementSibling);
    if (verb === "item-remove") {
      item.remove();
      number(list);
      const neighbour = itemsOf(list)[Math.min(at, items.length - 2)];
      const add = list.querySelector(':scope > p > button[value^="item-add"]');
      return (neighbour?.querySelector("summary") ?? add).focus();
    }
    holder.sortTo(item, at + (verb === "item-up" ? -1 : 1));
    if (!pressed.disabled) pressed.focus({ preventScroll: true });
    else button(item, verb === "item-up" ? "item-down" : "item-up").focus({ preventScroll: true });
  });

  form.addEventListener("input", ({ target }) => {
    const item = target.closest?.("[data-item]");
    const first = item && [...item.querySelectorAll(".item-body :is(input[type=text], textarea)")].find((one) => one.closest("[data-item]") === item);
    if (first && first === target) item.querySelector("[data-item-words]").textContent = target.value.slice(0, 90);
  });

  function attach(root) {
    for (const list of [...(root.matches?.("[data-repeater]") ? [root] : []), ...root.querySelectorAll("[data-repeater]")]) {
      const holder = list.querySelector(":scope > [data-items]");
      sortable(holder, { item: "[data-item]", handle: "[data-item-handle]", onChange: () => number(list) });
      if (isMediaList(list)) startMediaList(list, { itemsOf, append });
    }
  }
  attach(form);
  document.addEventListener("cms:added", ({ detail }) => attach(detail.root));
}
