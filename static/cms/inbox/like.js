// The page of like changes by keyboard, with the number of what is included on its buttons.

import { lineOf, move, typing } from "./moving.js";

const form = document.querySelector("[data-like]");
const boxes = [...form.querySelectorAll("input[type=checkbox]")];

function show() {
  const number = boxes.reduce((sum, box) => sum + (box.checked ? Number(box.dataset.standsFor ?? 1) : 0), 0);
  for (const place of form.querySelectorAll("[data-count]")) {
    place.textContent = `(${number})`;
    place.closest("button").disabled = !number;
  }
}

document.addEventListener("keydown", (event) => {
  if (event.target.id === "note" && event.key === "Enter") return event.preventDefault();
  if (typing(event)) return;
  const line = lineOf(form);
  const keys = {
    j: () => move(form, 1),
    k: () => move(form, -1),
    i: () => line?.querySelector("input[type=checkbox]")?.click(),
    o: () => line?.querySelector("[data-open]").click(),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
form.addEventListener("change", show);
window.addEventListener("pageshow", show);
show();
