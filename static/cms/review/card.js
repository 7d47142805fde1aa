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
    this.radios = [...element.querySelectorAll(".decide:not(.decide-passage) input[type=radio]")];
    this.passages = [...element.querySelectorAll(".decide-passage input[type=radio]")];
    this.noteField = element.querySelector(".reject-note input");
  }

  // The word on the whole change; where there is none, whether passages of it are decided on.
  get decision() {
    const whole = this.whole;
    if (whole !== "leave") return whole;
    const words = Object.values(this.words);
    return words.includes("accept") ? "accept" : words.includes("reject") ? "reject" : "leave";
  }

  get whole() {
    return this.radios.find((radio) => radio.checked)?.value ?? "leave";
  }

  // The words on single passages, by name.
  get words() {
    const decided = this.passages.filter((radio) => radio.checked && radio.value !== "leave");
    return Object.fromEntries(decided.map((radio) => [radio.name, radio.value]));
  }

  putWords(words) {
    for (const radio of this.passages) {
      if (words[radio.name] === radio.value && !radio.disabled) radio.checked = true;
    }
  }

  get note() {
    return this.noteField?.value ?? "";
  }

  // Whether it could be put.
  put(value, note) {
    const radio = this.radios.find((one) => one.value === value);
    if (!radio || radio.disabled) return false;
    radio.checked = true;
    for (const passage of this.passages) passage.checked = passage.value === "leave";
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
