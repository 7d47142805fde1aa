// The tree of a menu's items.

import { attachRows } from "../structure/rows.js";
import { itemsOf, listOf, tree } from "../tree/tree.js";

const form = document.querySelector("[data-rows]");
const find = form.querySelector("[name=find]");
const root = () => form.querySelector("[data-tree]");
const part = (item, name) => item.querySelector(`:scope > .tree-row [data-part=${name}]`)?.value ?? "";

function read(list) {
  return itemsOf(list).map((item) => {
    const isPost = part(item, "type") === "post";
    return {
      id: item.dataset.item, label: part(item, "label"), type: isPost ? "post" : "custom",
      ...(isPost ? { postId: part(item, "postId") } : { url: part(item, "url") }),
      children: read(listOf(item)),
    };
  });
}

form.addEventListener("input", ({ target }) => {
  if (target.dataset.part !== "label" && target.dataset.part !== "url") return;
  const item = target.closest("[data-item]");
  const name = item.querySelector("[data-name]");
  name.textContent = part(item, "label") || name.dataset.title || part(item, "url");
  item.dataset.label = name.textContent;
  if (target.dataset.part === "url") item.querySelector("[data-where]").textContent = target.value;
});
find.addEventListener("keydown", async (event) => {
  if (event.isComposing || (event.key !== "Enter" && event.key !== "ArrowDown")) return;
  event.preventDefault();
  if (await search.settle()) form.querySelector(".menu-found button")?.focus();
});

const { search } = attachRows(form, {
  name: "items",
  read: () => JSON.stringify(read(root())),
  attach: ({ changed }) => tree(root(), { onMove: changed }),
});
