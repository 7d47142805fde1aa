// Shows the page beside the form with the unsaved changes. Clicking a text or image of the page leads to its field, and
// the field with the focus is outlined on the page. The page in the frame runs no scripts; this script accesses its
// document. Its links lead nowhere.

import { readPage, request } from "../http.js";
import { BLOCKS, appeared, controlOf, editorOf, elementOf, focusControl } from "./preview_fields.js";

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
    document.addEventListener("keydown", (event) => {
      if (!event.ctrlKey || !event.altKey || event.code !== "KeyP" || !panel) return;
      event.preventDefault();
      this.showField(document.activeElement);
    });
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
      this.frame.contentDocument.addEventListener("click", (event) => {
        event.preventDefault();
        this.openField(event.target);
      });
      this.frame.contentDocument.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !event.target.matches("[data-post-module-id]")) return;
        event.preventDefault();
        this.openField(event.target);
      });
    }
    // Reachable by keyboard: Enter leads to the fields of a module.
    for (const module of this.frame.contentDocument.querySelectorAll("[data-post-module-id]")) module.tabIndex = 0;
    if (thisRequest !== this.requestNumber) return;
    this.say(this.state.dataset.fresh);
    this.section.dataset.shown = String(thisRequest);
    this.fit();
    this.follow(this.wanted ?? document.activeElement, { behavior: "auto", block: this.wanted ? "center" : "nearest" });
    this.wanted = undefined;
  }

  styles(page) {
    return [...page.head.querySelectorAll("link[rel=stylesheet]")].map((one) => new URL(one.getAttribute("href"), location.href).href).join(" ");
  }

  /** Go to the field that the user clicked on the page: of its module, of the post, or at least to the module's card. */
  async openField(element) {
    const page = this.frame.contentDocument;
    const module = element.closest("[data-post-module-id]");
    const card = module ? document.getElementById(`m-${module.dataset.postModuleId}`) : null;
    if (card) {
      const fold = card.matches("details") ? card : card.querySelector("details");
      if (fold) fold.open = true;
      // A closed card has no fields yet.
      await appeared(card, "[data-field]");
      const control = element !== module && controlOf(element, module, card);
      if (control) {
        await focusControl(control, element);
        this.outline(module, element);
        return;
      }
      card.dispatchEvent(new CustomEvent("cms:reveal", { bubbles: true }));
      card.scrollIntoView({ block: "start" });
      (fold?.querySelector("summary") ?? card).focus({ preventScroll: true });
      return;
    }
    const control = controlOf(element, page.body, this.form);
    if (control) await focusControl(control, element);
  }

  /** Open the preview if necessary, and show a field on the page. */
  showField(element) {
    if (this.isOpen) this.follow(element);
    else {
      this.wanted = element;
      document.querySelector("[data-tab=preview]")?.click();
    }
  }

  /** Outline the place of a field on the page, and that of its module. */
  follow(target, { behavior = "smooth", block = "center" } = {}) {
    const page = this.frame.contentDocument;
    if (!this.isOpen || !(target instanceof Element) || !page?.body) return;
    const card = target.closest("[id^=m-]");
    const module = card && page.getElementById(`module-${card.id.slice(2)}`);
    const place = this.placeOf(target, module ?? (card ? null : page.body), card ?? this.form);
    this.outline(module, place);
    const prefersReducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    (place ?? module)?.scrollIntoView({ block, behavior: prefersReducedMotion ? "auto" : behavior });
  }

  outline(module, place) {
    for (const name of ["live-here", "live-field"]) {
      for (const old of this.frame.contentDocument.querySelectorAll(`.${name}`)) old.classList.remove(name);
    }
    module?.classList.add("live-here");
    place?.classList.add("live-field");
  }

  placeOf(target, within, root) {
    const control = target.closest("[data-field]")?.querySelector(".rt-field textarea, select[data-media]") ?? target;
    if (!within || !control.matches("input, textarea, select")) return null;
    const editor = editorOf(control);
    const { anchorNode } = getSelection();
    const isInside = editor?.contains(anchorNode) && anchorNode !== editor;
    const from = isInside && (anchorNode instanceof Element ? anchorNode : anchorNode.parentElement);
    return elementOf(control, within, root, from ? from.closest(BLOCKS) : null);
  }
}

for (const section of document.querySelectorAll("[data-live-preview]")) new LivePreview(section);
