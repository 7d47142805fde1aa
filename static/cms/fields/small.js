// Small services of a field: how many characters are left, and back to the default.

import { tell } from "./words.js";

const SHOWN_FROM = 0.7;

/** Says how much room is left, once most of it is used. */
export function counter(line) {
  const field = document.getElementById(line.dataset.counter);
  if (!field) return;
  const most = Number(line.dataset.most);
  line.setAttribute("role", "status");
  const count = () => {
    const left = most - [...field.value].length;
    line.hidden = left > most * (1 - SHOWN_FROM);
    line.classList.toggle("is-over", left < 0);
    line.textContent = line.hidden ? "" : (left < 0 ? line.dataset.over : line.dataset.left).replace("{n}", String(Math.abs(left)));
  };
  field.addEventListener("input", count);
  count();
}

/** A button that appears where a value is not the default. */
export function reset(button) {
  const field = document.getElementById(button.dataset.reset);
  const usual = button.dataset.default;
  if (!field || usual === "") return;
  const look = () => { button.hidden = field.value === usual; };
  field.addEventListener("input", look);
  field.addEventListener("change", look);
  button.addEventListener("click", () => {
    field.value = usual;
    tell(field);
    field.focus();
  });
  look();
}
