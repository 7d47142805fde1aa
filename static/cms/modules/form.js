// Shows the fields of a form whose conditions are met, and one step at a time. Without this file everything is shown,
// and the server judges the answers by the same rules (forms/conditions.py).

const NUMBER = /^[-+]?\d{1,20}(\.\d{1,20})?$/;
const CHECKED = ["true", "on", "1", "yes"];
const CHOICES = ["select", "radio", "checkboxes"];

/** Return the answer of a field as texts: none for an empty one, several only for checkboxes. */
function textsOf(field) {
  const inputs = [...field.querySelectorAll("input, select, textarea")];
  switch (field.dataset.type) {
    case "checkbox": return inputs[0].checked ? ["true"] : [];
    case "radio":
    case "checkboxes": return inputs.filter((input) => input.checked).map((input) => input.value);
    case "file": return [...inputs[0].files].map((file) => file.name);
    default: return [inputs[0].value.trim()].filter(Boolean);
  }
}

function isEqual(type, texts, wanted) {
  if (type === "checkbox") return (texts.length > 0) === CHECKED.includes(wanted.toLowerCase());
  if (type === "number" && texts.length === 1 && NUMBER.test(texts[0]) && NUMBER.test(wanted)) {
    return Number(texts[0]) === Number(wanted);
  }
  return texts.length === 1 && texts[0] === wanted;
}

function hasPart(type, texts, wanted) {
  return CHOICES.includes(type) ? texts.includes(wanted) : texts.some((text) => text.includes(wanted));
}

function isMet({ operator, value = "" }, type, texts) {
  switch (operator) {
    case "isEmpty": return texts.length === 0;
    case "isNotEmpty": return texts.length > 0;
    case "notEquals": return !isEqual(type, texts, value);
    case "contains": return hasPart(type, texts, value);
    case "notContains": return !hasPart(type, texts, value);
    default: return isEqual(type, texts, value);
  }
}

function attach(form) {
  const fields = new Map([...form.querySelectorAll("[data-field]")].map((field) => [field.dataset.field, field]));
  const steps = [...form.querySelectorAll("[data-step]")];
  const [progress, back, next, send] = ["progress", "back", "next", "send"]
    .map((name) => form.querySelector(`[data-${name}]`));
  let current = steps[0];
  let offered = steps;

  function meets(element, known) {
    if (!element?.dataset.condition) return true;
    const condition = JSON.parse(element.dataset.condition);
    const other = fields.get(condition.field);
    if (!other) return true;
    return isMet(condition, other.dataset.type, isShown(other, known) ? textsOf(other) : []);
  }

  function isShown(field, known) {
    const name = field.dataset.field;
    if (!known.has(name)) {
      known.set(name, false);
      known.set(name, meets(field.closest("[data-step]"), known) && meets(field, known));
    }
    return known.get(name);
  }

  function update() {
    const known = new Map();
    for (const field of fields.values()) {
      const shown = isShown(field, known);
      field.hidden = !shown;
      const inputs = [...field.querySelectorAll("input, select, textarea")];
      for (const input of inputs) {
        // Inputs that are not shown are neither checked nor sent.
        input.disabled = !shown;
        if ("required" in input.dataset) input.required = shown;
      }
      const needsOne = "oneOf" in field.dataset && shown && !inputs.some((input) => input.checked);
      if ("oneOf" in field.dataset) inputs[0].setCustomValidity(needsOne ? field.dataset.oneOf : "");
    }
    offered = steps.filter((step) => meets(step, known));
    showStep(offered.includes(current) ? current : offered[0]);
  }

  function showStep(step) {
    if (steps.length < 2 || !step) return;
    current = step;
    for (const one of steps) one.hidden = one !== step;
    const number = offered.indexOf(step) + 1;
    const text = progress.dataset.progress.replace("{number}", number).replace("{count}", offered.length);
    // Unchanged text would be announced again.
    if (progress.textContent !== text) progress.textContent = text;
    progress.hidden = false;
    const isLast = number === offered.length;
    back.hidden = number === 1;
    next.hidden = isLast;
    send.hidden = !isLast;
    // Otherwise Enter would send the form from the first step.
    send.disabled = !isLast;
  }

  function openStep(step) {
    showStep(step);
    step.querySelector("legend").focus();
  }

  function goNext() {
    const wrong = [...current.querySelectorAll("input, select, textarea")].find((input) => !input.checkValidity());
    if (wrong) { wrong.reportValidity(); return; }
    openStep(offered[offered.indexOf(current) + 1]);
  }

  form.addEventListener("input", update);
  form.addEventListener("change", update);
  // After Back, browsers restore answers without an event.
  window.addEventListener("pageshow", update);
  update();
  if (steps.length < 2) return;

  back.addEventListener("click", () => openStep(offered[offered.indexOf(current) - 1]));
  next.addEventListener("click", goNext);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || next.hidden || !event.target.matches("input, select")) return;
    event.preventDefault();
    goNext();
  });
  send.addEventListener("click", (event) => {
    const wrong = [...form.elements].find((input) => input.willValidate && !input.checkValidity());
    const step = wrong?.closest("[data-step]");
    if (!step || step === current) return;
    event.preventDefault();
    showStep(step);
    wrong.reportValidity();
  });
  form.querySelector(".form-errors")?.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const target = link && document.getElementById(link.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    showStep(target.closest("[data-step]"));
    target.focus();
  });
  const wrong = form.querySelector(".field-wrong:not([hidden])")?.closest("[data-step]");
  if (offered.includes(wrong)) showStep(wrong);
}

for (const form of document.querySelectorAll("form[data-form]")) attach(form);
