// Asking an agent on pages of their own, and the menus beside fields.

import { attach } from "./choose.js";

for (const form of document.querySelectorAll("[data-choose]")) attach(form);

// The menus beside fields close by themselves, those added later too.
const menu = (target) => target.closest?.("details[data-menu]");
document.addEventListener("click", ({ target }) => {
  for (const open of document.querySelectorAll("details[data-menu][open]")) if (open !== menu(target)) open.open = false;
});
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape" || !menu(target)?.open) return;
  menu(target).open = false;
  menu(target).querySelector("summary").focus();
});
