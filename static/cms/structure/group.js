// The modules of a group: what stands in their cards, as the server takes it.

import { attachCards } from "./rows.js";

const form = document.querySelector("[data-rows]");
const part = (card, name) => card.querySelector(`[data-part=${name}]`);

// What is no JSON is sent as the text that it is: the server says what is wrong with it.
function props(text) {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return text;
  }
}

const read = () => JSON.stringify([...form.querySelectorAll("[data-card]")].map((card) => {
  const slug = part(card, "globalSlug").value;
  return {
    type: part(card, "type").value, scope: slug ? "global" : "local", locked: part(card, "locked").checked,
    props: props(part(card, "props").value), globalSlug: slug || null,
  };
}));

attachCards(form, { name: "modules", read, parts: [] });
