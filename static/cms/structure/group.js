// The modules of a group: what stands in their cards, as the server takes it.

import { sortable } from "../sorting/sorting.js";
import { attachRows } from "./rows.js";

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

attachRows(form, {
  name: "modules",
  read,
  parts: [],
  attach: ({ changed }) => {
    const list = form.querySelector("[data-cards]");
    for (const handle of list.querySelectorAll("[data-handle]")) handle.hidden = false;
    sortable(list, { item: "[data-card]", handle: "[data-handle]", onChange: changed });
  },
});
