// The permissions of a role: search, and how many of each group are selected. Without this script the groups open by hand.

import { announce } from "../http.js";

for (const list of document.querySelectorAll("[data-permission-list]")) {
  const groups = [...list.querySelectorAll("[data-permission-group]")];
  const field = list.querySelector("[data-permission-search]");
  const opened = new Map(); // whether a group was open before the search
  field.parentElement.hidden = false;

  function search() {
    const words = field.value.trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
    let number = 0;
    for (const group of groups) {
      const title = group.firstElementChild.textContent.toLocaleLowerCase();
      let found = 0;
      for (const item of group.querySelectorAll("li")) {
        const text = `${title} ${item.textContent.toLocaleLowerCase()}`;
        item.hidden = !words.every((word) => text.includes(word));
        found += item.hidden ? 0 : 1;
      }
      group.hidden = found === 0;
      number += found;
      if (group.localName !== "details") continue;
      if (words.length && !opened.has(group)) opened.set(group, group.open);
      group.open = words.length ? true : opened.get(group) ?? group.open;
      if (!words.length) opened.delete(group);
    }
    if (words.length) announce(number ? String(number) : field.dataset.none);
  }

  field.addEventListener("input", search);
  // Enter would send the form of the role.
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  list.addEventListener("change", ({ target }) => {
    const group = target.closest("[data-permission-group]");
    const count = group?.querySelector("[data-permission-count]");
    if (!count) return;
    const boxes = [...group.querySelectorAll("input[type=checkbox]")];
    const chosen = boxes.filter((box) => box.checked).length;
    count.textContent = count.dataset.words.replace("{number}", chosen).replace("{all}", boxes.length);
  });
}
