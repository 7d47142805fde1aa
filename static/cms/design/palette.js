// The command palette: finds posts, media, people, admin pages and actions. Without a query it shows recently opened
// pages and the places to go to. `shell.js` loads it when it is first opened.

import { DelayedSearch } from "../fields/delayed_search.js";
import { fetchJson } from "../http.js";

const PAUSE_MILLISECONDS = 120;
const SVG = "http://www.w3.org/2000/svg";

/**
 * Set up the dialog, and return a function that starts the first search once it is open, and opens the first result if
 * Enter was pressed meanwhile. `recentPages()` returns the recently opened pages.
 */
export function preparePalette(palette, recentPages) {
  const input = palette.querySelector("input");
  const list = palette.querySelector("[role=listbox]");
  const status = palette.querySelector("[data-palette-status]");
  const words = palette.dataset;
  const search = new DelayedSearch(PAUSE_MILLISECONDS, ask);

  const options = () => [...list.querySelectorAll("[role=option]")];

  function icon(name) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    svg.append(document.createElementNS(SVG, "use"));
    svg.firstChild.setAttribute("href", `${words.icons}#${name}`);
    return svg;
  }

  // Return the buttons in the header of an open post as options. Choosing one presses the button.
  function headerActions(query) {
    const terms = query.toLocaleLowerCase().split(/\s+/);
    // The header has one set of buttons for an unchanged form and one for a changed form; the other set is hidden.
    const buttons = document.querySelectorAll("[data-editor-header] .editor-actions :is(button:enabled, a):not([hidden])");
    return [...buttons]
      .map((button) => ({ label: button.textContent.trim().replace(/\s+/g, " "), icon: "file", url: "#", button }))
      .filter(({ label }) => label && terms.every((word) => label.toLocaleLowerCase().includes(word)));
  }

  function option({ label, url, icon: name, hint, button }, number) {
    const link = document.createElement("a");
    link.id = `palette-option-${number}`;
    link.href = url;
    link.tabIndex = -1;
    link.setAttribute("role", "option");
    if (button) link.addEventListener("click", (event) => {
      event.preventDefault();
      palette.close();
      button.click();
    });
    const text = document.createElement("span");
    text.textContent = label;
    link.append(icon(name), text);
    if (hint) {
      const small = document.createElement("small");
      small.textContent = hint;
      link.append(small);
    }
    return link;
  }

  function choose(chosen) {
    for (const one of options()) one.setAttribute("aria-selected", String(one === chosen));
    if (chosen) {
      input.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }

  function show(groups) {
    let number = 0;
    const sections = groups.map(({ label, items }) => {
      const section = document.createElement("div");
      section.setAttribute("role", "group");
      section.setAttribute("aria-label", label);
      const head = document.createElement("p");
      head.setAttribute("aria-hidden", "true");
      head.textContent = label;
      section.append(head, ...items.map((item) => option(item, number++)));
      return section;
    });
    list.replaceChildren(...sections);
    if (!number) {
      const none = document.createElement("p");
      none.className = "palette-none";
      none.textContent = words.none;
      list.append(none);
    }
    choose(options()[0] ?? null);
    status.textContent = number ? `${words.found} ${number}` : words.none;
  }

  async function ask(isCurrent) {
    const query = input.value.trim();
    try {
      const { groups: found } = await fetchJson(`${words.address}?${new URLSearchParams({ q: query, post: words.post ?? "" })}`);
      if (!isCurrent()) return true; // the query has changed since
      const recent = query ? [] : recentPages().map((one) => ({ ...one, icon: "file" }));
      const actions = headerActions(query);
      const groups = [{ label: words.actions, items: actions }, { label: words.recent, items: recent }, ...found];
      show(groups.filter(({ items }) => items.length));
      return true;
    } catch (error) {
      if (!isCurrent()) return false;
      // The results shown belong to an older query.
      list.replaceChildren();
      choose(null);
      status.textContent = error.message || words.failed;
      return false;
    }
  }

  function start(isEntered) {
    search.start();
    if (isEntered) openChosen();
  }

  const chosenIn = (all) => all.findIndex((one) => one.getAttribute("aria-selected") === "true");

  async function openChosen() {
    if (search.isPending && !(await search.settle())) return;
    const all = options();
    if (palette.open) all[chosenIn(all)]?.click();
  }

  input.addEventListener("input", () => search.plan());
  palette.addEventListener("close", () => search.cancel());

  input.addEventListener("keydown", (event) => {
    const all = options();
    const at = chosenIn(all);
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1 };
    if (event.key in moves && all.length) {
      choose(all[(moves[event.key] + all.length) % all.length]);
      event.preventDefault();
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      openChosen();
    }
  });

  palette.addEventListener("click", (event) => {
    if (event.target === palette) palette.close();
  });

  return start;
}
