// Shows the page beside the form with the unsaved changes. Clicking a module of the page opens its card, and editing a
// card scrolls to its module. The page in the frame runs no scripts; this script accesses its document.

import { readPage, request } from "../http.js";

const TYPING_PAUSE_MILLISECONDS = 500;
const KEY = "cms.live-preview";
const FORM = "form[data-edit]";

function rememberedWidth() {
  try {
    return JSON.parse(localStorage.getItem(KEY))?.width;
  } catch {
    return undefined;
  }
}

class LivePreview {
  constructor(section) {
    this.section = section;
    this.form = document.querySelector(FORM);
    this.frame = section.querySelector("iframe");
    this.box = section.querySelector("[data-frame]");
    this.state = section.querySelector("[data-state]");
    this.width = 1280;
    this.requestNumber = 0;
    if (!this.form) return;
    // The section is in a panel of the editor's rail, or on other pages in a details element.
    const panel = section.closest("[data-rail-panel]");
    const folded = section.closest("details");
    if (panel) panel.addEventListener("cms:panel", ({ detail }) => this.show(detail.isOpen));
    else folded.addEventListener("toggle", () => this.show(folded.open));
    section.querySelector("[data-widths]").addEventListener("click", (event) => {
      if (event.target.dataset.width) this.resize(Number(event.target.dataset.width));
    });
    for (const name of ["input", "change", "cms:added", "cms:moved"]) document.addEventListener(name, (event) => this.scheduleLoad(event));
    this.form.addEventListener("focusin", (event) => this.follow(event.target));
    for (const pages of section.querySelectorAll("[data-pages]")) {
      for (const name of ["input", "change"]) pages.addEventListener(name, (event) => this.choose(event));
    }
    new ResizeObserver(() => this.fit()).observe(this.box);
    const width = rememberedWidth();
    if (width) this.resize(width);
  }

  /** Preview another page that contains the edited content. Stops the event, because the form has not changed. */
  choose(event) {
    event.stopPropagation();
    if (event.type === "input") return;
    this.section.dataset.livePreview = event.target.value;
    if (this.isOpen) this.load();
  }

  saveWidth() {
    try {
      localStorage.setItem(KEY, JSON.stringify({ width: this.width }));
    } catch {
      // Without storage the width is forgotten.
    }
  }

  show(isOpen) {
    this.isOpen = isOpen;
    document.documentElement.classList.toggle("has-live-preview", isOpen);
    if (isOpen) this.load();
  }

  resize(width) {
    this.width = width;
    for (const button of this.section.querySelectorAll("[data-width]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.width) === width));
    }
    this.saveWidth();
    this.fit();
  }

  /** Scale the page, at its chosen width, to the available space. */
  fit() {
    const room = this.box.clientWidth;
    if (!room) return;
    const scale = Math.min(1, room / this.width);
    Object.assign(this.frame.style, {
      width: `${this.width}px`,
      height: `${this.box.clientHeight / scale}px`,
      transform: `scale(${scale})`,
      marginInlineStart: `${Math.max(0, (room - this.width * scale) / 2)}px`,
    });
  }

  scheduleLoad(event) {
    if (!this.isOpen || (event.target instanceof Element && !event.target.closest(FORM))) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), TYPING_PAUSE_MILLISECONDS);
  }

  async load() {
    this.requestNumber += 1;
    const thisRequest = this.requestNumber;
    this.section.setAttribute("aria-busy", "true");
    this.say(this.state.dataset.busy);
    try {
      const answer = await request(this.section.dataset.livePreview, { body: new FormData(this.form) });
      if (thisRequest !== this.requestNumber) return;
      await this.fill(await readPage(answer), thisRequest);
    } catch ({ reason, message }) {
      const { waits, failed } = this.state.dataset;
      // The server's message explains what must be corrected first.
      const text = reason && message ? waits.replace("{why}", message) : failed;
      if (thisRequest === this.requestNumber) this.say(text, true);
    }
    if (thisRequest === this.requestNumber) this.section.removeAttribute("aria-busy");
  }

  say(words, isProblem = false) {
    this.state.textContent = words;
    this.state.classList.toggle("is-problem", isProblem);
  }

  /** Load the first page into the frame; for later ones replace only the body, to avoid flicker and jumps. */
  async fill(page, thisRequest) {
    const link = page.createElement("link");
    link.rel = "stylesheet";
    link.href = this.frame.dataset.style;
    page.head.append(link);
    const framePage = this.frame.contentDocument;
    if (framePage?.head && framePage.head.querySelector("link") && framePage.head.innerHTML.length && this.styles(framePage) === this.styles(page)) {
      framePage.body.replaceChildren(...[...page.body.childNodes].map((node) => framePage.importNode(node, true)));
    } else {
      await new Promise((resolve) => {
        this.frame.addEventListener("load", resolve, { once: true });
        this.frame.srcdoc = `<!doctype html>${page.documentElement.outerHTML}`;
      });
      this.frame.contentDocument.addEventListener("click", (event) => this.openCard(event));
    }
    if (thisRequest !== this.requestNumber) return;
    this.say(this.state.dataset.fresh);
    this.section.dataset.shown = String(thisRequest);
    this.fit();
    this.follow(document.activeElement, "auto");
  }

  styles(page) {
    return [...page.head.querySelectorAll("link[rel=stylesheet]")].map((one) => new URL(one.getAttribute("href"), location.href).href).join(" ");
  }

  openCard(event) {
    event.preventDefault();
    const id = event.target.closest("[data-post-module-id]")?.dataset.postModuleId;
    const card = id ? document.getElementById(`m-${id}`) : null;
    if (!card) return;
    const details = card.matches("details") ? card : card.querySelector("details");
    if (details) details.open = true;
    card.scrollIntoView({ block: "start" });
    (details?.querySelector("summary") ?? card).focus({ preventScroll: true });
  }

  follow(target, behavior = "smooth") {
    if (!this.isOpen || !(target instanceof Element)) return;
    const card = target.closest("[id^=m-]");
    const framePage = this.frame.contentDocument;
    const part = card && framePage?.getElementById(`module-${card.id.slice(2)}`);
    for (const old of framePage?.querySelectorAll(".live-here") ?? []) old.classList.remove("live-here");
    if (!part) return;
    part.classList.add("live-here");
    const prefersReducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    part.scrollIntoView({ block: "center", behavior: prefersReducedMotion ? "auto" : behavior });
  }
}

for (const section of document.querySelectorAll("[data-live-preview]")) new LivePreview(section);
