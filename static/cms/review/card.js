// One change on the page.

export class Card {
  constructor(element) {
    this.element = element;
    this.path = element.dataset.path;
    this.seen = element.dataset.seen;
    this.isFlagged = "flagged" in element.dataset;
    this.hasHands = element.dataset.flagged === "hand";
    this.module = element.dataset.module ?? "";
    this.label = element.querySelector("h3").textContent.trim();
    this.line = document.querySelector(`[data-for="${CSS.escape(this.path)}"]`);
    this.radios = [...element.querySelectorAll(".decide input[type=radio]")];
    this.noteField = element.querySelector(".reject-note input");
  }

  get decision() {
    return this.radios.find((radio) => radio.checked)?.value ?? "leave";
  }

  get note() {
    return this.noteField?.value ?? "";
  }

  // Whether it could be put.
  put(value, note) {
    const radio = this.radios.find((one) => one.value === value);
    if (!radio || radio.disabled) return false;
    radio.checked = true;
    if (note && this.noteField) this.noteField.value = note;
    return value !== "leave";
  }

  show() {
    if (this.line) this.line.dataset.state = this.decision;
  }

  focus() {
    this.element.closest("details.group").open = true;
    this.element.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
  }
}
