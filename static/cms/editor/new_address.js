// The form of a new post shows the address that it would get. While the slug is empty it follows the title: the server
// makes it, here for the placeholder and again when the post is created. Without this script the form works the same.

import { DelayedSearch } from "../fields/delayed_search.js";
import { fetchJson } from "../http.js";

const TYPING_PAUSE_MILLISECONDS = 250;
const NAMES = ["title", "slug", "type", "locale", "parent"];

function start(form) {
  const { title, slug } = form.elements;
  const line = form.querySelector("[data-address]");
  const path = line.querySelector("[data-path]");
  const problem = form.querySelector("[data-address-problem]");

  const search = new DelayedSearch(TYPING_PAUSE_MILLISECONDS, async (isCurrent) => {
    const query = new URLSearchParams(NAMES.map((name) => [name, form.elements[name]?.value ?? ""]));
    if (isSuggested()) query.set("slug", "");
    const found = await fetchJson(`${form.dataset.newAddress}?${query}`);
    if (!isCurrent()) return;
    if (isSuggested() && document.activeElement === slug) slug.value = found.slug;
    slug.placeholder = found.slug;
    path.textContent = found.path;
    line.hidden = !found.path;
    problem.textContent = found.problem;
    problem.hidden = !found.problem;
  });

  /** Whether the slug is the one of the title. It is in the field only while somebody is about to edit it. */
  function isSuggested() {
    return !slug.value || slug.value === slug.placeholder;
  }

  form.addEventListener("input", () => search.plan());
  form.addEventListener("change", () => search.plan());
  slug.addEventListener("focus", () => { if (!slug.value) slug.value = slug.placeholder; });
  slug.addEventListener("blur", () => { if (slug.value === slug.placeholder) slug.value = ""; });
  if (title.value || slug.value) search.start();
}

const form = document.querySelector("form[data-new-address]");
if (form) start(form);
