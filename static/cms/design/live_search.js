// A search field that filters its list while the user types. Without this script its form loads the page.

import { announce, fetchPage } from "../http.js";

const PAUSE_MILLISECONDS = 250;

/**
 * Filter a list whenever the text of its search form changes, or the user goes back to an earlier search.
 *
 * `show(page)` puts the parts of a newly loaded page in place and returns the text to announce.
 */
export function attachLiveSearch(form, show) {
  const field = form.querySelector("input[type=search]");
  let [waiting, loading, isTyping] = [0, null, false];

  /** Show the list of an address. Drops the answers of earlier requests. */
  async function load(address) {
    loading?.abort();
    const current = loading = new AbortController();
    try {
      const page = await fetchPage(address, { signal: current.signal });
      if (loading !== current) return;
      announce(show(page));
    } catch (error) {
      if (loading !== current || error.name === "AbortError") return;
      // The page itself shows what is wrong, such as the login.
      location.assign(address);
    }
  }

  function search() {
    const address = addressOf(form);
    if (address === location.pathname + location.search) return;
    // One entry of the history for each search, not for each letter.
    history[isTyping ? "replaceState" : "pushState"]({ isSearch: true }, "", address);
    isTyping = true;
    load(address);
  }

  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, PAUSE_MILLISECONDS);
  });
  field.addEventListener("blur", () => { isTyping = false; });
  form.addEventListener("submit", () => {
    clearTimeout(waiting);
    loading?.abort();
  });
  addEventListener("popstate", () => {
    clearTimeout(waiting);
    isTyping = false;
    field.value = new URLSearchParams(location.search).get(field.name) ?? "";
    load(location.pathname + location.search);
  });
}

/** Return the address that the form leads to, without empty fields. */
function addressOf(form) {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  // With all filters cleared, the id of a saved view alone would restore its filters.
  if ([...query.keys()].every((name) => name === "saved") && query.has("saved")) query.set("saved", "all");
  return `${location.pathname}${query.size ? `?${query}` : ""}`;
}
