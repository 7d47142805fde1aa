// References to posts and terms: a search instead of a list. The select or the checkboxes stay what the form sends.

import { combobox } from "./combobox.js";
import { find } from "./targets.js";
import { tell, words } from "./words.js";

const FEW = 12;

function searchInput(label, kind) {
  const input = document.createElement("input");
  input.type = "text";
  input.className = "reference-search";
  input.placeholder = words(kind === "post-reference" ? "find" : "findTerm");
  input.setAttribute("aria-label", label);
  return input;
}

function labelOf(element) {
  const named = element.id ? document.querySelector(`label[for="${CSS.escape(element.id)}"]`) : null;
  return (named ?? element.querySelector("legend"))?.textContent.trim() ?? "";
}

function clearButton() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "reference-clear";
  button.textContent = "✕";
  button.setAttribute("aria-label", words("clear"));
  return button;
}

/** One post or term: the input shows what the hidden select has. */
export function referenceField(select) {
  const kind = select.dataset.reference;
  const place = document.createElement("div");
  place.className = "reference";
  const input = searchInput(labelOf(select), kind);
  const clear = clearButton();
  place.append(input, clear);
  select.before(place);
  select.hidden = true;
  select.parentElement.querySelector("[data-other]")?.remove();
  if (select.getAttribute("aria-describedby")) input.setAttribute("aria-describedby", select.getAttribute("aria-describedby"));
  if (select.getAttribute("aria-invalid")) input.setAttribute("aria-invalid", "true");

  function show() {
    const option = select.selectedOptions[0];
    input.value = option?.value ? option.textContent.trim() : "";
    clear.hidden = !option?.value;
  }
  function choose(item) {
    if (![...select.options].some((option) => option.value === item.id)) select.add(new Option(item.title, item.id));
    select.value = item.id;
    tell(select);
    show();
  }
  combobox(input, {
    search: (q) => find(kind, q === shownTitle() ? "" : q, select.dataset.among ?? ""),
    onPick: choose,
  });
  const shownTitle = () => select.selectedOptions[0]?.textContent.trim() ?? "";
  input.addEventListener("focus", () => input.select());
  input.addEventListener("blur", show);
  clear.addEventListener("click", () => {
    choose({ id: "", title: "" });
    input.focus();
  });
  select.addEventListener("change", show);
  document.querySelector(`label[for="${CSS.escape(select.id)}"]`)?.addEventListener("click", () => input.focus());
  show();
}

/** Several: what is chosen stays as checkboxes in sight, the rest is found by the search. */
export function manyReferences(fieldset) {
  const boxes = [...fieldset.querySelectorAll("[data-checks] .check")];
  const isLong = boxes.length > FEW || fieldset.dataset.many !== "terms";
  if (!isLong) return;
  const checks = fieldset.querySelector("[data-checks]");
  fieldset.querySelector("[data-other]")?.remove();
  for (const box of boxes) if (!box.querySelector("input").checked) box.remove();
  for (const group of checks.querySelectorAll(".check-group, .help")) group.remove();
  checks.classList.add("chosen");
  const place = document.createElement("div");
  place.className = "reference";
  const input = searchInput(labelOf(fieldset), fieldset.dataset.many);
  place.append(input);
  checks.after(place);

  function add(item) {
    const there = [...checks.querySelectorAll("input")].find((box) => box.value === item.id);
    if (!there) {
      const label = document.createElement("label");
      label.className = "check";
      const box = document.createElement("input");
      box.type = "checkbox";
      box.name = fieldset.querySelector("[data-checks] input")?.name ?? fieldset.dataset.name;
      box.value = item.id;
      const text = document.createElement("span");
      text.textContent = item.title;
      label.append(box, text);
      checks.append(label);
    }
    const box = there ?? checks.lastElementChild.querySelector("input");
    box.checked = true;
    tell(box);
    input.value = "";
  }
  combobox(input, { search: (q) => find(fieldset.dataset.many, q, fieldset.dataset.among ?? ""), onPick: add });
}
