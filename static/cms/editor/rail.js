// The tabs beside the content: settings, SEO, agents, preview and history. A narrow window has no room beside the
// content, which is then the first of the tabs.

import { fetchPage } from "../http.js";

const KEY = "cms:rail";
const NARROW = matchMedia("(max-width: 1100px)");

export function startRail(form) {
  const columns = form.closest("[data-rail]");
  const list = form.querySelector("[data-rail-tabs]");
  const panels = [...columns.querySelectorAll("[data-rail-panel]")];
  const tabs = () => [...list.querySelectorAll("[data-tab]")].filter((tab) => NARROW.matches || tab.dataset.tab !== "content");
  const nameOf = (panel) => panel.id.replace("rail-", "");
  let opened;

  function open(name, { keep = true } = {}) {
    const chosen = tabs().find((tab) => tab.dataset.tab === name) ?? tabs()[0];
    const isNew = chosen.dataset.tab !== opened;
    opened = chosen.dataset.tab;
    for (const tab of list.querySelectorAll("[data-tab]")) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
    }
    columns.dataset.rail = opened;
    for (const panel of panels) panel.hidden = nameOf(panel) !== opened;
    chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (isNew) {
      for (const panel of panels) panel.dispatchEvent(new CustomEvent("cms:panel", { detail: { isOpen: nameOf(panel) === opened } }));
      if (opened === "history") loadHistory();
    }
    if (!keep) return;
    try { localStorage.setItem(KEY, opened); } catch { /* it begins with the settings */ }
  }

  /** Open the tab that an element is in. */
  function reveal(element) {
    const panel = element?.closest("[data-rail-panel]");
    if (panel) open(nameOf(panel), { keep: false });
    else if (NARROW.matches && element?.closest("#rail-content")) open("content", { keep: false });
  }

  async function loadHistory() {
    const box = columns.querySelector("[data-history]");
    const failed = box.querySelector("[data-history-failed]");
    box.setAttribute("aria-busy", "true");
    try {
      box.querySelector("[data-history-list]").replaceChildren(...(await fetchPage(box.dataset.history)).body.childNodes);
      failed.hidden = true;
    } catch {
      failed.hidden = false;
    }
    box.removeAttribute("aria-busy");
  }

  list.addEventListener("click", ({ target }) => {
    const tab = target.closest("[data-tab]");
    if (tab) open(tab.dataset.tab);
  });
  list.addEventListener("keydown", (event) => {
    const all = tabs();
    const at = all.indexOf(event.target);
    const forward = document.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
    const back = document.dir === "rtl" ? "ArrowRight" : "ArrowLeft";
    const next = { [forward]: (at + 1) % all.length, [back]: (at - 1 + all.length) % all.length, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    all[next].focus();
    open(all[next].dataset.tab);
  });
  document.addEventListener("cms:saved", () => { if (opened === "history") loadHistory(); });

  form.addEventListener("cms:reveal", ({ target }) => reveal(target));

  const target = () => location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  function follow() {
    const found = target();
    if (!found) return;
    reveal(found);
    if (found.closest("[data-rail-panel]")) {
      found.scrollIntoView({ block: "center" });
      found.focus();
    }
  }
  window.addEventListener("hashchange", follow);
  // A link to the field that is already in the address changes no hash.
  document.addEventListener("click", ({ target: link }) => { if (link.closest("a[href^='#']")) setTimeout(follow); });

  let remembered;
  try { remembered = localStorage.getItem(KEY); } catch { /* nothing kept */ }
  const wrong = list.querySelector(".has-errors");
  // A narrow window begins with what the post says.
  open(wrong?.dataset.tab ?? (NARROW.matches ? "content" : remembered ?? "settings"), { keep: false });
  NARROW.addEventListener("change", () => open(opened, { keep: false }));
  follow();
  return { reveal };
}
