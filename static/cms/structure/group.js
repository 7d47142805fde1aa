// Collects the modules of a group from their cards in the format that the server accepts.

import { attachCards } from "./rows.js";

const form = document.querySelector("[data-rows]");
const part = (card, name) => card.querySelector(`[data-part=${name}]`);

// Return the parsed JSON, or the text itself if it is invalid, so that the server can report the error.
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
