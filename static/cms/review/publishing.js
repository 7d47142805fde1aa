// "Approve and publish": shows beforehand which changes go live and where, and how many remain.

import { say } from "./edit.js";

export class Publishing {
  constructor(root) {
    this.button = document.querySelector("[data-publish-button]");
    this.box = root.querySelector("[data-goes-live]");
    this.sentence = this.box.querySelector("[data-sentence]");
    this.general = this.sentence.textContent;
    this.heldSentence = this.box.querySelector("[data-held-sentence]");
    this.names = this.box.querySelector("[data-names]");
    this.held = new Set(this.box.dataset.held.split(" ").filter(Boolean));
  }

  labelOf(accept, reject) {
    if (accept && reject) return say("publishAlso", { count: accept, rejected: reject });
    if (accept) return say("publish", { count: accept });
    return reject ? say("publishNone") : say("publishAll");
  }

  show(cards, { accept, reject, leave }) {
    const accepted = cards.filter((card) => card.decision === "accept");
    const affected = accept ? accepted : cards;
    const held = affected.filter((card) => this.held.has(card.path)).length;
    const { address, movedAddress } = this.box.dataset;
    const moves = accepted.some((card) => ["post.slug", "post.parentId"].includes(card.path));
    const parts = [say("goesLive", { count: accept, address: (moves && movedAddress) || address })];
    if (reject) parts.push(say("dropped", { count: reject }));
    if (leave) parts.push(say("stays", { count: leave }));
    this.sentence.textContent = accept ? parts.join(" ") : this.general;
    this.heldSentence.textContent = held ? say("held", { count: held }) : "";
    this.heldSentence.hidden = !held;
    this.names.hidden = !accept;
    this.names.querySelector("ul").replaceChildren(...accepted.map((card) => {
      const item = document.createElement("li");
      item.textContent = card.label;
      return item;
    }));
    this.button.textContent = this.labelOf(accept, reject);
    // Publishing everything is not the default action while a flagged change needs a closer look.
    this.button.classList.toggle("default", accept > 0 || !cards.some((card) => card.isFlagged));
    this.button.disabled = held > 0 || (!accept && reject > 0);
  }
}
