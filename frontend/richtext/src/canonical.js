// Writes a document as the server does (proofroom/definitions/richtext/markdown_reader.py), without empty attributes.

import { safeHref, safeSrc } from "./links.js";
import { MARKER } from "./pasted_images.js";

const MARKS = ["link", "bold", "italic", "strike", "superscript", "subscript", "code"];
const LANGUAGE = /^[A-Za-z0-9_+#.-]{1,40}$/;
const ALIGNMENTS = ["left", "center", "right"];
const LAYOUT = { align: ["left", "center", "right", "full"], size: ["small", "medium", "full"] };
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const LONGEST_WORDS = 2000;

function words(value) {
  return value ? String(value).replace(/\n/g, " ").replace(CONTROLS, " ").slice(0, LONGEST_WORDS) : "";
}

function cell(attrs) {
  const kept = {};
  for (const name of ["colspan", "rowspan"]) {
    if (attrs[name] > 1) kept[name] = Math.min(Math.trunc(attrs[name]), 100);
  }
  if (attrs.colwidth) kept.colwidth = attrs.colwidth;
  if (ALIGNMENTS.includes(attrs.align)) kept.align = attrs.align;
  return kept;
}

function image(attrs) {
  const kept = { src: safeSrc(attrs.src), alt: words(attrs.alt) };
  if (attrs.title) kept.title = words(attrs.title);
  if (attrs.caption) kept.caption = words(attrs.caption);
  for (const [name, values] of Object.entries(LAYOUT)) if (values.includes(attrs[name])) kept[name] = attrs[name];
  return kept;
}

function ordered(attrs) {
  return attrs.type ? { start: attrs.start, type: attrs.type } : { start: attrs.start };
}

function link(attrs) {
  const kept = { href: safeHref(attrs.href) };
  if (attrs.title) kept.title = words(attrs.title);
  for (const name of ["target", "rel"]) if (attrs[name]) kept[name] = attrs[name];
  return kept;
}

const ATTRIBUTES = {
  heading: (attrs) => ({ level: attrs.level }),
  orderedList: ordered,
  codeBlock: (attrs) => ({ language: LANGUAGE.test(attrs.language || "") ? attrs.language : null }),
  image,
  tableHeader: cell,
  tableCell: cell,
  link,
};

function withAttributes(node) {
  const attrs = ATTRIBUTES[node.type]?.(node.attrs || {});
  return attrs && Object.keys(attrs).length ? { type: node.type, attrs } : { type: node.type };
}

function marksOf(node) {
  const found = (node.marks || []).filter((mark) => MARKS.includes(mark.type)).map(withAttributes);
  return found.sort((one, other) => MARKS.indexOf(one.type) - MARKS.indexOf(other.type));
}

/** Replace the markers of images that were not imported with text, and join texts that have the same marks. */
function withoutMarkers(content) {
  if (!content.some(({ type }) => type === MARKER)) return content;
  const kept = [];
  for (const node of content) {
    const text = node.type === MARKER ? { type: "text", text: [node.attrs.note, node.attrs.caption].filter(Boolean).join(" "), marks: node.marks ?? [] } : node;
    const last = kept.at(-1);
    const isSame = last?.type === "text" && text.type === "text" && JSON.stringify(last.marks ?? []) === JSON.stringify(text.marks ?? []);
    if (isSame) kept[kept.length - 1] = { ...last, text: last.text + text.text };
    else kept.push(text);
  }
  return kept;
}

/** Return the node as it is stored. Documents that look the same to a reader have the same canonical form. */
export function canonical(node) {
  const kept = withAttributes(node);
  if (node.type === "text") kept.text = node.text.replace(CONTROLS, " ");
  const marks = marksOf(node).filter((mark) => mark.type !== "link" || mark.attrs.href);
  if (marks.length) kept.marks = marks;
  const content = withoutMarkers(node.content || []).filter((child) => child.type !== "image" || safeSrc(child.attrs?.src));
  if (content.length) kept.content = content.map(canonical);
  return kept;
}
