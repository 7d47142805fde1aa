// Handles images from other sites in pasted or dropped content: each becomes a marker that can be imported into the
// library.
//
// A marker remains in the text until its image is imported or skipped. It is stored as a text note (canonical.js), so
// an image that was not imported is never loaded from its original site.

import { Node } from "@tiptap/core";
import { safeSrc } from "./links.js";

export const MARKER = "importedImage";

const MOST_IMAGES = 50;
const DATA_URL = /^data:(image\/[a-z0-9.+-]+)((?:;[^;,]*)*),/i;

/** Return the file in a `data:` address, or null if there is none. */
function fileOf(address) {
  const found = DATA_URL.exec(address);
  if (!found) return null;
  const text = address.slice(found[0].length);
  try {
    const plain = /;base64$/i.test(found[2]) ? atob(decodeURIComponent(text).replace(/\s/g, "")) : decodeURIComponent(text);
    const bytes = Uint8Array.from(plain, (char) => char.charCodeAt(0));
    return new File([bytes], `image.${found[1].split("/")[1].replace(/[^a-z0-9]/gi, "").slice(0, 5)}`, { type: found[1] });
  } catch {
    return null;
  }
}

function isOwn(src) {
  return (src.startsWith("/") && !src.startsWith("//")) || src.startsWith(`${location.origin}/`);
}

/** Return whether an image is a tracking pixel. */
function isPixel(element) {
  return ["width", "height"].every((name) => /^[01](px)?$/.test(element.getAttribute(name) ?? ""));
}

/** Return the file name at the end of an address, or an empty string. */
function nameOf(src) {
  const last = src.startsWith("data:") ? "" : src.split(/[?#]/, 1)[0].split(/[/\\]/).pop();
  if (!/\.[a-z]{3,4}$/i.test(last)) return "";
  try {
    return decodeURIComponent(last).slice(-80);
  } catch {
    return last.slice(-80);
  }
}

export class PastedImages {
  /** `note(description)` returns the text shown in place of an image; `onFound(images)` receives the pasted images. */
  constructor({ note, onFound }) {
    this.note = note;
    this.onFound = onFound;
    this.files = [];
  }

  /** Remember the image files of the clipboard while its HTML is read. */
  hold(data) {
    this.files = [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));
    // The HTML is read in the same turn of the event loop; the next paste must not see these files.
    setTimeout(() => { this.files = []; });
  }

  describe({ alt = "", name = "", ...source }) {
    const text = alt.replace(/\s+/g, " ").trim().slice(0, 500);
    return { id: crypto.randomUUID(), alt: text, name: name || text, note: this.note(text || name), ...source };
  }

  tell(images) {
    // After the editor has inserted the text.
    if (images.length) setTimeout(() => this.onFound(images));
  }

  /** Replace each image from another site in the pasted page with a marker. */
  mark(page) {
    const found = [];
    const all = [...page.body.querySelectorAll("img")];
    // Some programs put the images on the clipboard as files too; with equal numbers they are matched by order.
    const isOneToOne = all.length === this.files.length;
    for (const [index, element] of all.entries()) {
      const src = (element.getAttribute("src") ?? "").trim();
      if (isOwn(src) && safeSrc(src)) continue;
      if (!src || isPixel(element) || found.length === MOST_IMAGES) {
        element.remove();
        continue;
      }
      const file = isOneToOne ? this.files[index] : fileOf(src);
      const url = !file && /^https?:\/\//i.test(src) ? src : null;
      const image = this.describe({ alt: element.getAttribute("alt") ?? "", name: nameOf(src), file, url });
      const marker = page.createElement("span");
      marker.setAttribute("data-import-image", image.id);
      marker.setAttribute("data-alt", image.alt);
      marker.setAttribute("data-note", image.note);
      marker.setAttribute("data-caption", element.getAttribute("data-caption") ?? "");
      marker.textContent = image.note;
      element.replaceWith(marker);
      found.push(image);
    }
    this.tell(found);
  }

  /** Insert markers for files at `position`, or at the cursor. Returns whether they are allowed there. */
  insertFiles(view, files, position) {
    const images = files.slice(0, MOST_IMAGES).map((file) => this.describe({ file, name: file.name }));
    const type = view.state.schema.nodes[MARKER];
    const nodes = images.map(({ id, alt, note }) => type.create({ id, alt, note }));
    const { tr } = view.state;
    if (position === undefined) tr.deleteSelection();
    const at = position ?? tr.selection.from;
    const room = tr.doc.resolve(at).parent;
    if (!room.inlineContent || !room.type.contentMatch.matchType(type)) return false;
    view.dispatch(tr.insert(at, nodes).scrollIntoView());
    this.tell(images);
    return true;
  }

  /** Editor properties that handle pasted and dropped images. */
  get editorProps() {
    const taken = (data) => [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));
    return {
      handleDOMEvents: {
        paste: (view, event) => { this.hold(event.clipboardData); return false; },
        drop: (view, event) => { this.hold(event.dataTransfer); return false; },
      },
      handlePaste: (view, event) => {
        const data = event.clipboardData;
        const files = taken(data);
        return files.length > 0 && !data.getData("text/html") && !data.getData("text/plain") && this.insertFiles(view, files);
      },
      handleDrop: (view, event, slice, isMoved) => {
        const files = taken(event.dataTransfer);
        if (isMoved || !files.length || event.dataTransfer.getData("text/html")) return false;
        const found = view.posAtCoords({ left: event.clientX, top: event.clientY });
        if (!found || !this.insertFiles(view, files, found.pos)) return false;
        event.preventDefault();
        return true;
      },
    };
  }
}

export const ImageMarker = Node.create({
  name: MARKER,
  inline: true,
  group: "inline",
  atom: true,
  addAttributes() {
    const read = (name) => ({ default: "", parseHTML: (element) => element.getAttribute(name) ?? "" });
    return { id: read("data-import-image"), alt: read("data-alt"), note: read("data-note"), caption: read("data-caption") };
  },
  parseHTML() {
    return [{ tag: "span[data-import-image]" }];
  },
  // A copied marker becomes its note, because the image belongs to the place where it was pasted.
  renderHTML({ node }) {
    return ["span", { class: "rt-marker" }, node.attrs.note];
  },
  renderText({ node }) {
    return node.attrs.note;
  },
  addNodeView() {
    return ({ node }) => {
      const dom = document.createElement("span");
      dom.className = "rt-marker";
      dom.textContent = node.attrs.note;
      return { dom };
    };
  },
});

/** Replace a marker with an image or text; with neither, remove it. Returns whether the marker was found. */
export function replaceMarker(editor, id, { src, alt, text } = {}) {
  const { state, view } = editor;
  let at = -1;
  state.doc.descendants((node, position) => {
    if (node.type.name === MARKER && node.attrs.id === id) at = position;
    return at < 0;
  });
  if (at < 0) return false;
  const { marks, attrs: { caption } } = state.doc.nodeAt(at);
  // Undo must not bring back a marker whose image was already handled.
  const tr = state.tr.setMeta("addToHistory", false);
  if (src && safeSrc(src)) tr.replaceWith(at, at + 1, state.schema.nodes.image.create({ src: safeSrc(src), alt, caption: caption || null }, null, marks));
  else if (text || caption) tr.replaceWith(at, at + 1, state.schema.text([text, caption].filter(Boolean).join(" "), marks));
  else tr.delete(at, at + 1);
  view.dispatch(tr);
  return true;
}
