// The page of a run that goes on: what is new is shown in place, and at the end the page is read again.

import { follow, shower } from "./progress.js";

const card = document.querySelector("[data-run][data-whole-page]");
if (card) {
  const addresses = { status: card.dataset.run, socket: card.dataset.socket };
  follow(addresses, { changed: shower(card), ended: () => location.reload() });
}
