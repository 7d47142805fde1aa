// The bar at a selected image of a rich-text field: caption, alt text, alignment and size. The image stays selected
// while the bar has the focus. Enter on the image moves the focus into the bar, Escape moves it back.

import { announce } from "../http.js";

const MARGIN = 6;

export class ImageBar {
  constructor(bar) {
    this.bar = bar;
    this.isOpen = false;
    bar.addEventListener("click", (event) => this.press(event.target.closest("button")));
    for (const name of ["input", "change"]) bar.addEventListener(name, (event) => this.write(event));
    bar.addEventListener("keydown", (event) => this.keyInBar(event));
    for (const name of ["focusin", "pointerdown"]) {
      document.addEventListener(name, ({ target }) => {
        if (this.isOpen && !bar.contains(target) && !this.editor.view.dom.contains(target)) this.close();
      });
    }
  }

  /** Open the bar for a selected image, update it, or close it. */
  follow(editor) {
    this.editor = editor;
    const { selection } = editor.state;
    const isImage = selection.node?.type.name === "image";
    // While the focus moves into the bar, nothing has it.
    if (!isImage || (!editor.isFocused && !this.isOpen)) return this.close();
    this.at = selection.from;
    this.show(selection.node.attrs);
    if (!this.isOpen) this.open();
    return this.place();
  }

  show(attrs) {
    for (const input of this.bar.querySelectorAll("[data-image-text]")) {
      if (input !== document.activeElement) input.value = attrs[input.dataset.imageText] ?? "";
    }
    for (const button of this.bar.querySelectorAll("[data-image-set]")) {
      button.setAttribute("aria-pressed", String(attrs[button.dataset.imageSet] === button.value));
    }
  }

  open() {
    this.isOpen = true;
    this.bar.showPopover();
    this.onMove = () => this.place();
    document.addEventListener("scroll", this.onMove, true);
    window.addEventListener("resize", this.onMove);
    announce(this.bar.dataset.opened);
  }

  close() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.bar.hidePopover();
    document.removeEventListener("scroll", this.onMove, true);
    window.removeEventListener("resize", this.onMove);
  }

  place() {
    // A change of the image draws it again, and an image that is loading has no height yet.
    const image = this.editor.view.nodeDOM(this.at);
    if (!image?.getBoundingClientRect) return;
    const box = image.getBoundingClientRect();
    const { innerWidth, innerHeight } = window;
    const { offsetWidth: width, offsetHeight: height } = this.bar;
    const below = box.bottom + MARGIN;
    const top = below + height <= innerHeight ? below : Math.max(MARGIN, Math.min(box.top - MARGIN - height, innerHeight - height - MARGIN));
    this.bar.style.left = `${Math.max(MARGIN, Math.min(box.left, innerWidth - width - MARGIN))}px`;
    this.bar.style.top = `${top}px`;
  }

  set(name, value) {
    const { state, view } = this.editor;
    view.dispatch(state.tr.setNodeAttribute(this.at, name, value || null));
  }

  /** Press a button. A pressed choice is taken back by a second press. */
  press(button) {
    if (!button) return;
    const { imageSet, imageRemove } = button.dataset;
    if (imageSet) this.set(imageSet, button.getAttribute("aria-pressed") === "true" ? null : button.value);
    if (imageRemove === undefined) return;
    this.close();
    this.editor.chain().focus().deleteSelection().run();
  }

  write(event) {
    // The form must not take these inputs for fields of the post.
    event.stopPropagation();
    const name = event.target.dataset.imageText;
    if (name && event.type === "input") this.set(name, event.target.value);
  }

  keyInBar(event) {
    if (!["Escape", "Enter"].includes(event.key) || (event.key === "Enter" && event.target.matches("button"))) return;
    event.preventDefault();
    event.stopPropagation();
    this.editor.view.focus();
  }

  /** Handle a key in the text. Returns whether the bar used it. */
  key(event) {
    if (!this.isOpen || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "Enter") this.bar.querySelector("[data-image-text]").focus();
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
