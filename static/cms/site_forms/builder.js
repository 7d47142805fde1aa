// Collects the fields of a form's cards in the format that the server accepts.

import { attachCards } from "../structure/rows.js";

const form = document.querySelector("[data-rows]");
const NUMBERS = ["minLength", "maxLength"];

function value(card, name) {
  const field = card.querySelector(`[data-part=${name}]`);
  if (!field) return undefined;
  if (field.type === "checkbox") return field.checked;
  const text = field.value.trim();
  if (name === "options") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (text === "" && name !== "name" && name !== "label") return undefined;
  return NUMBERS.includes(name) && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function read() {
  const names = ["name", "label", "type", "required", "options", "placeholder", "help", "pattern", ...NUMBERS];
  const cards = [...form.querySelectorAll("[data-card]")];
  // A card shows only the inputs of its type, and JSON omits undefined. Right after a change of type the card still
  // shows the old inputs, so remove those values.
  return JSON.stringify(cards.map((card) => {
    const field = Object.fromEntries(names.map((name) => [name, value(card, name)]));
    if (field.type === "select") field.options ??= [""];
    else delete field.options;
    if (!["text", "email", "textarea", "tel", "url"].includes(field.type)) for (const name of NUMBERS) delete field[name];
    if (!["text", "email", "tel", "url"].includes(field.type)) delete field.pattern;
    return field;
  }));
}

form.addEventListener("input", ({ target }) => {
  if (target.dataset.part !== "label") return;
  const card = target.closest("[data-card]");
  card.dataset.label = card.querySelector("[data-name]").textContent = target.value || "—";
});

attachCards(form, { name: "questions", read, parts: ["preview", "json"] });
