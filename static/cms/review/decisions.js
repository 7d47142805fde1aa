// The cards of a review page, one for each change, and a store for decisions that are not sent yet.

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

  // Return the decision on the whole change, or else the combined decision on its passages.
  get decision() {
    const whole = this.whole;
    if (whole !== "leave") return whole;
    const words = Object.values(this.words);
    return words.includes("accept") ? "accept" : words.includes("reject") ? "reject" : "leave";
  }

  get whole() {
    return this.radios.find((radio) => radio.checked)?.value ?? "leave";
  }

  // Return the decisions on single passages, by input name.
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

  // Set the decision. Returns whether the change is now decided.
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

export function storeDecisions(key) {
  const read = () => {
    try {
      return JSON.parse(sessionStorage.getItem(key)) ?? {};
    } catch {
      return {};
    }
  };
  return {
    save(cards) {
      const decisions = {};
      for (const card of cards) {
        const { path, seen, note, words, whole: decision } = card;
        if (card.decision !== "leave" || note) decisions[path] = { seen, decision, note, words };
      }
      try {
        if (Object.keys(decisions).length) sessionStorage.setItem(key, JSON.stringify(decisions));
        else sessionStorage.removeItem(key);
      } catch { /* The page works without storage. */ }
    },
    // Mark the stored decisions as sent. A card that differs afterwards was changed by its own decision, so restore()
    // does not report it.
    sent() {
      const decisions = read();
      for (const one of Object.values(decisions)) one.sent = true;
      try {
        sessionStorage.setItem(key, JSON.stringify(decisions));
      } catch { /* The page works without storage. */ }
    },
    // Restore the decisions on unchanged cards. Returns the total, the number restored, and the cards that have
    // changed.
    restore(cards) {
      const decisions = read();
      const moved = [];
      let count = 0;
      for (const card of cards) {
        const one = decisions[card.path];
        if (!one) continue;
        if (one.seen !== card.seen) {
          if (!one.sent && (one.decision !== "leave" || Object.keys(one.words ?? {}).length)) moved.push(card);
          continue;
        }
        card.put(one.decision, one.note);
        card.putWords(one.words ?? {});
        if (card.decision !== "leave") count += 1;
      }
      return { total: count + moved.length, count, moved };
    },
  };
}
