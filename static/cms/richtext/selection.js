// Maps the selection in a Markdown text to the document converted from it: private-use characters are inserted into the
// Markdown at both ends of the selection, and located in the document.

const SIGNS = ["\ue000", "\ue001"];
const SIGN = /[\ue000\ue001]/g;
const UNSEEN = /[\s\ue000\ue001]/g;
// Block syntax at the start of a line. A character inserted before it would change the block, so insert after it.
const BLOCK_SIGNS = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+)*/;

/**
 * Return the Markdown with a marker character at both ends of the selection, or null if the text already contains one.
 */
export function markSelection(markdown, selection) {
  if (SIGNS.some((sign) => markdown.includes(sign))) return null;
  const [start, end] = selection.map((at) => behindBlockSigns(markdown, at));
  return markdown.slice(0, start) + SIGNS[0] + markdown.slice(start, end) + SIGNS[1] + markdown.slice(end);
}

function behindBlockSigns(markdown, at) {
  const lineStart = markdown.slice(0, at).lastIndexOf("\n") + 1;
  const [signs] = BLOCK_SIGNS.exec(markdown.slice(lineStart).split("\n", 1)[0]);
  return Math.max(at, lineStart + signs.length);
}

/**
 * Return whether a document has both marker characters and otherwise equals `plain`, ignoring whitespace and empty
 * paragraphs.
 */
export function isSameText(marked, plain) {
  const text = JSON.stringify(marked);
  return SIGNS.every((sign) => text.split(sign).length === 2) && shapeOf(marked) === shapeOf(plain);
}

function shapeOf(document_) {
  const shape = [];
  function add(node) {
    if (node.type === "text") {
      const text = node.text.replace(UNSEEN, "");
      const marks = JSON.stringify(node.marks ?? []);
      const last = shape.at(-1);
      if (!text) return;
      if (last?.marks === marks) last.text += text;
      else shape.push({ marks, text });
      return;
    }
    const content = node.content ?? [];
    const isEmpty = content.every((child) => child.type === "text" && !child.text.replace(UNSEEN, ""));
    if (node.type === "paragraph" && isEmpty) return;
    shape.push({ type: node.type, attrs: node.attrs });
    content.forEach(add);
  }
  add(document_);
  return JSON.stringify(shape);
}

/** Return the number of characters of a document without whitespace. */
export const lengthOf = (document_) => textOf(document_).replace(UNSEEN, "").length;

/** Return the number of characters before each end of the selection, without whitespace. */
export function lengthsBeforeSigns(marked) {
  const text = textOf(marked);
  return SIGNS.map((sign) => text.slice(0, text.indexOf(sign)).replace(UNSEEN, "").length);
}

const textOf = (node) => node.text ?? (node.content ?? []).map(textOf).join("");

/** Return the position in the editor's document after `count` characters that are not whitespace. */
export function positionOf(document_, count) {
  let left = count;
  let position = null;
  document_.descendants((node, at) => {
    if (position !== null || !node.isText) return;
    for (let index = 0; index < node.text.length; index += 1) {
      if (left === 0) {
        position = at + index;
        return;
      }
      if (/\S/.test(node.text[index])) left -= 1;
    }
    if (left === 0) position = at + node.nodeSize;
  });
  return position ?? document_.content.size;
}

/** Delete the marker characters in a transaction, and return the selection they marked. */
export function takeSignsOut(step) {
  const found = [];
  step.doc.descendants((node, at) => {
    for (const { index, 0: sign } of node.text?.matchAll(SIGN) ?? []) found[SIGNS.indexOf(sign)] = at + index;
  });
  const [start, end] = found;
  // Delete the end first, so that the position of the start remains valid.
  step.delete(end, end + 1).delete(start, start + 1);
  return [start, end - 1];
}
