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

function condition(card) {
  const found = { field: value(card, "if-field"), operator: value(card, "if-operator"), value: value(card, "if-value") };
  if (!found.field) return undefined;
  if (["isEmpty", "isNotEmpty"].includes(found.operator)) delete found.value;
  return found;
}

function fileLimits(card) {
  const boxes = [...card.querySelectorAll("[data-part=accept]")];
  const accept = boxes.filter((box) => box.checked).map((box) => box.value);
  const megabytes = value(card, "maxBytes");
  const bytes = Math.max(1, Math.round(Number(megabytes?.replace(",", ".")) * 1024 * 1024));
  return {
    // None and all mean the same, so that types that are added later are accepted too.
    accept: accept.length === 0 || accept.length === boxes.length ? undefined : accept,
    maxBytes: megabytes === undefined || Number.isFinite(bytes) ? bytes || undefined : megabytes,
  };
}

function read() {
  const names = ["name", "label", "type", "required", "options", "placeholder", "help", "pattern", ...NUMBERS];
  const cards = [...form.querySelectorAll("[data-card]")];
  // A card shows only the inputs of its type, and JSON omits undefined. Right after a change of type the card still
  // shows the old inputs, so remove those values.
  return JSON.stringify(cards.map((card) => {
    const field = Object.fromEntries(names.map((name) => [name, value(card, name)]));
    if (["select", "radio", "checkboxes"].includes(field.type)) field.options ??= [""];
    else delete field.options;
    if (!["text", "email", "textarea", "tel", "url"].includes(field.type)) for (const name of NUMBERS) delete field[name];
    if (!["text", "email", "tel", "url"].includes(field.type)) delete field.pattern;
    if (field.type === "file") Object.assign(field, fileLimits(card));
    if (field.type === "step") { field.required = false; delete field.placeholder; }
    return { ...field, showIf: condition(card) };
  }));
}

form.addEventListener("input", ({ target }) => {
  if (target.dataset.part !== "label") return;
  const card = target.closest("[data-card]");
  card.dataset.label = card.querySelector("[data-name]").textContent = target.value || "—";
});

attachCards(form, { name: "questions", read, parts: ["preview", "json"] });
