// Defines the nodes and marks of proofroom/definitions/richtext/schema.py, and the marker of an image that is not
// imported yet.

import { Mark } from "@tiptap/core";
import { Code } from "@tiptap/extension-code";
import { Image } from "@tiptap/extension-image";
import { Link } from "@tiptap/extension-link";
import { Table, TableCell, TableHeader, TableRow } from "@tiptap/extension-table";
import { StarterKit } from "@tiptap/starter-kit";

import { safeHref, safeSrc } from "./links.js";
import { ImageMarker } from "./pasted_images.js";

const address = (rule) => ({ default: null, parseHTML: (element) => rule(element.getAttribute(rule === safeSrc ? "src" : "href")) });
const written = (name) => ({ default: null, parseHTML: (element) => element.getAttribute(name) });

// The layout of an image. Its values are checked when the document is stored.
const layout = (name) => ({
  default: null,
  parseHTML: (element) => element.getAttribute(`data-${name}`) || null,
  renderHTML: (attrs) => (attrs[name] ? { [`data-${name}`]: attrs[name] } : {}),
});

function isOurs(src) {
  return !/^https?:/i.test(src) || src.startsWith(`${location.origin}/`);
}

// An image from another site is not loaded in the editor, because its address may identify the reader.
const OwnImage = Image.extend({
  inline: true,
  group: "inline",
  addOptions() {
    return { ...this.parent?.(), inline: true };
  },
  addAttributes() {
    return { src: address(safeSrc), alt: written("alt"), title: written("title"), caption: layout("caption"), align: layout("align"), size: layout("size") };
  },
  parseHTML() {
    return [{ tag: "img[src]", getAttrs: (element) => (safeSrc(element.getAttribute("src")) === null ? false : null) }];
  },
  renderHTML({ HTMLAttributes }) {
    return ["img", HTMLAttributes];
  },
  addNodeView() {
    return ({ node }) => {
      const { src, alt, title, caption, align, size } = node.attrs;
      const shown = isOurs(src || "");
      const image = document.createElement(shown ? "img" : "span");
      image.className = shown ? "rt-image" : "rt-foreign";
      if (shown) image.src = src;
      if (shown) image.alt = alt || "";
      else image.textContent = `${alt || ""} (${src})`.trim();
      if (title) image.title = title;
      if (!caption && !align && !size) return { dom: image };
      const dom = document.createElement("span");
      dom.className = "rt-figure";
      if (align) dom.dataset.place = align;
      if (size) dom.dataset.size = size;
      const words = document.createElement("span");
      words.className = "rt-caption";
      words.textContent = caption || "";
      dom.append(image, words);
      return { dom };
    };
  },
});

const SafeLink = Link.extend({
  inclusive: false,
  addAttributes() {
    const only = (name, allowed) => ({
      default: null,
      parseHTML: (element) => (allowed.includes(element.getAttribute(name)) ? element.getAttribute(name) : null),
    });
    return { href: address(safeHref), title: written("title"), target: only("target", ["_blank", "_self"]), rel: { default: null, parseHTML: () => null } };
  },
});

const span = (name) => ({
  default: 1,
  parseHTML: (element) => Math.min(Math.max(Number.parseInt(element.getAttribute(name), 10) || 1, 1), 100),
  renderHTML: (attrs) => (attrs[name] > 1 ? { [name]: attrs[name] } : {}),
});
const CELL = {
  colspan: span("colspan"),
  rowspan: span("rowspan"),
  colwidth: { default: null, parseHTML: () => null, renderHTML: () => ({}) },
  align: {
    default: null,
    parseHTML: (element) => {
      const found = (element.getAttribute("data-align") || element.getAttribute("align") || "").toLowerCase();
      return ["left", "center", "right"].includes(found) ? found : null;
    },
    renderHTML: (attrs) => (attrs.align ? { "data-align": attrs.align } : {}),
  },
};

const PlainTable = Table.extend({
  addNodeView: () => null,
  renderHTML: () => ["table", ["tbody", 0]],
});

// Without these marks 10⁶ would become 106 when it is pasted.
const script = (name, tag, key) => Mark.create({
  name,
  parseHTML: () => [{ tag }],
  renderHTML: () => [tag, 0],
  addKeyboardShortcuts() {
    return { [key]: () => this.editor.commands.toggleMark(name) };
  },
});

export const extensions = [
  StarterKit.configure({ code: false, link: false, underline: false, trailingNode: false, heading: { levels: [1, 2, 3, 4, 5, 6] } }),
  script("superscript", "sup", "Mod-."),
  script("subscript", "sub", "Mod-,"),
  Code.extend({ excludes: "" }),
  SafeLink.configure({
    openOnClick: false,
    autolink: true,
    HTMLAttributes: { target: null, rel: null, class: null },
    isAllowedUri: (href) => safeHref(href) !== null,
  }),
  OwnImage,
  ImageMarker,
  PlainTable.configure({ resizable: false }),
  TableRow.extend({ content: "(tableCell | tableHeader)+" }),
  TableHeader.extend({ addAttributes: () => CELL }),
  TableCell.extend({ addAttributes: () => CELL }),
];
