// A form whose page shows what it would do: after each word that is typed the server is asked (do=preview), and what
// it answers takes the place of the parts data-swap. Without this the button for that shows the page anew.

import { fetchPage, swap } from "../http.js";

const form = document.querySelector("[data-looks]");
let asking;
let timer;

async function showPreview() {
  asking?.abort();
  asking = new AbortController();
  const body = new FormData(form);
  body.set("do", "preview");
  try {
    const page = await fetchPage(form.action, { body, signal: asking.signal });
    for (const old of form.querySelectorAll("[data-swap]")) swap(old, page.querySelector(`[data-swap=${old.dataset.swap}]`));
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(showPreview, 250);
});
