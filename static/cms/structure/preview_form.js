// Previews the effect of a form while the user types: sends it with do=preview, and replaces the [data-swap] parts of
// the page with those of the response. Without this file a button does the same by loading the page.

import { fetchPage, swap } from "../http.js";

const form = document.querySelector("[data-looks]");
let request;
let timer;

async function showPreview() {
  request?.abort();
  request = new AbortController();
  const body = new FormData(form);
  body.set("do", "preview");
  try {
    const page = await fetchPage(form.action, { body, signal: request.signal });
    for (const old of form.querySelectorAll("[data-swap]")) swap(old, page.querySelector(`[data-swap=${old.dataset.swap}]`));
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(showPreview, 250);
});
