// Converts the HTML that word processors put on the clipboard to plain HTML that the schema allows.

import { codeBlocks } from "./code.js";
import { orderBlocks } from "./blocks.js";
import { inlineMeaning } from "./inline_meaning.js";
import { formulasToText } from "./formulas.js";

const CSS_OF = "data-css";
const LEVEL = /level(\d+)/i;

function isWordItem(element) {
  return /mso-list\s*:(?!\s*none)/i.test(element.getAttribute(CSS_OF) || "");
}

function levelOf(element) {
  return Number(LEVEL.exec(element.getAttribute(CSS_OF))?.[1] || 1);
}

/** Remove the bullet or number from the item and return it. */
function withoutMarker(element) {
  const marker = element.querySelector(`[${CSS_OF}*='mso-list:Ignore'], [${CSS_OF}*='mso-list: Ignore']`);
  const text = (marker || element).textContent.trim();
  if (marker) marker.remove();
  else if (element.firstChild?.nodeType === 3) {
    element.firstChild.data = element.firstChild.data.replace(/^\s*(?:[·•◦▪o§]|\w{1,3}[.)])\s+/u, "");
  }
  return text;
}

function lastItem(list) {
  return list.lastElementChild || list.appendChild(list.ownerDocument.createElement("li"));
}

function asItem(element, open) {
  const made = element.ownerDocument;
  const level = Math.min(levelOf(element), open.length + 1, 9);
  const marker = /^(\w{1,3})[.)]/.exec(withoutMarker(element));
  const tag = marker ? "OL" : "UL";
  open.length = Math.min(open.length, level);
  // Numbers after bullets, or bullets after numbers, start a new list.
  if (open.length === level && open.at(-1).tagName !== tag) open.length -= 1;
  if (open.length < level) {
    const list = made.createElement(tag);
    if (/^\d+$/.test(marker?.[1] ?? "") && marker[1] !== "1") list.setAttribute("start", marker[1]);
    if (open.length) lastItem(open.at(-1)).append(list);
    else element.before(list);
    open.push(list);
  }
  const item = made.createElement("li");
  const paragraph = made.createElement("p");
  paragraph.append(...element.childNodes);
  item.append(paragraph);
  open.at(-1).append(item);
  element.remove();
}

function wordLists(root) {
  for (const first of root.querySelectorAll("p, div")) {
    if (!first.isConnected || !isWordItem(first)) continue;
    const open = [];
    let item = first;
    while (item && isWordItem(item)) {
      const next = item.nextElementSibling;
      asItem(item, open);
      item = next;
    }
  }
}

function comments(root) {
  const walk = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_COMMENT);
  const found = [];
  while (walk.nextNode()) found.push(walk.currentNode);
  for (const comment of found) comment.remove();
}

const UNSEEN = /display\s*:\s*none|mso-hide\s*:\s*all|mso-element\s*:\s*comment|mso-special-character\s*:\s*comment/i;

/** Remove hidden elements, comments, and KaTeX's drawing of a formula, whose MathML comes before it. */
function removeUnseen(root) {
  for (const element of root.querySelectorAll(`[${CSS_OF}]`)) if (UNSEEN.test(element.getAttribute(CSS_OF))) element.remove();
  root.querySelectorAll("a.msocomanchor, a[href^='#_msocom_'], hr.msocomoff, .katex-mathml + .katex-html").forEach((one) => one.remove());
}

// Marks that word processors express only as styles. The styles themselves are removed.
const STYLES = [
  ["strong", /font-weight\s*:\s*(?:bold|[6-9]00)/i],
  ["em", /font-style\s*:\s*italic/i],
  ["s", /text-decoration[^;:]*:[^;]*line-through/i],
  ["sup", /vertical-align\s*:\s*super|mso-text-raise\s*:\s*[1-9.]/i],
  ["sub", /vertical-align\s*:\s*sub(?!\w)|mso-text-raise\s*:\s*-/i],
];

function stylesToMarks(root) {
  for (const element of root.querySelectorAll(`[${CSS_OF}]`)) {
    const style = element.getAttribute(CSS_OF);
    if (/^(b|strong)$/i.test(element.tagName) && /font-weight\s*:\s*(?:normal|400)/i.test(style)) {
      element.replaceWith(...element.childNodes);
      continue;
    }
    element.removeAttribute(CSS_OF);
    if (!/^(SPAN|FONT)$/.test(element.tagName)) continue;
    for (const [tag, rule] of STYLES) {
      if (!rule.test(style)) continue;
      const mark = root.ownerDocument.createElement(tag);
      mark.append(...element.childNodes);
      element.append(mark);
    }
  }
}

const LONGEST_CAPTION = 2000;

/** Return the only image of an element that has no text, or null. */
function onlyImage(element) {
  const images = element?.querySelectorAll("img") ?? [];
  return images.length === 1 && !element.textContent.trim() ? images[0] : null;
}

/**
 * Make captions of figures, and of Word's paragraphs of that style, attributes of their images. A caption with links
 * or images stays a paragraph.
 */
function imageCaptions(root) {
  for (const caption of root.querySelectorAll("figcaption, p.MsoCaption, p[class*='MsoCaption']")) {
    const text = caption.textContent.replace(/\s+/g, " ").trim();
    if (!text || text.length > LONGEST_CAPTION || caption.querySelector("a[href], img")) continue;
    const figure = caption.closest("figure");
    let image = onlyImage(caption.previousElementSibling);
    if (figure && caption.tagName === "FIGCAPTION") {
      const images = figure.querySelectorAll("img");
      image = images.length === 1 && figure.querySelectorAll("figcaption").length === 1 ? images[0] : null;
    }
    if (!image || image.hasAttribute("data-caption")) continue;
    image.setAttribute("data-caption", text);
    caption.remove();
  }
}

// The admin's Content-Security-Policy forbids inline styles, even in a document that is never shown, so the attribute
// is renamed before parsing.
function inert(html) {
  return html.replace(/<!\[(?:if|endif)[^>]*>/gi, "").replace(/<style[\s\S]*?<\/style>/gi, "")
    .replace(/<[^>]*>/g, (tag) => tag.replace(/\sstyle(?=\s*=)/gi, ` ${CSS_OF}`));
}

/** The page shows its own title as its only h1, so a title in a text becomes a heading below it. */
function lowerTitles(root) {
  for (const title of root.querySelectorAll("h1")) {
    const heading = root.ownerDocument.createElement("h2");
    heading.append(...title.childNodes);
    title.replaceWith(heading);
  }
}

/**
 * Clean HTML from the clipboard; `images` marks images from other sites. The editor's own HTML is returned unchanged.
 */
export function cleaned(html, images) {
  if (html.includes("data-pm-slice")) return html;
  const page = new DOMParser().parseFromString(inert(html), "text/html");
  page.querySelectorAll("script, style, meta, link, title, object, iframe, template, o\\:p").forEach((one) => one.remove());
  comments(page.body);
  removeUnseen(page.body);
  formulasToText(page.body);
  lowerTitles(page.body);
  wordLists(page.body);
  codeBlocks(page.body, CSS_OF);
  stylesToMarks(page.body);
  inlineMeaning(page.body);
  for (const cell of page.querySelectorAll("[colwidth], colgroup")) {
    if (cell.tagName === "COLGROUP") cell.remove();
    else cell.removeAttribute("colwidth");
  }
  imageCaptions(page.body);
  orderBlocks(page.body);
  images.mark(page);
  return page.body.innerHTML;
}
