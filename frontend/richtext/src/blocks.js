// Rearranges pasted blocks that the schema does not allow, in the order in which a browser shows them. ProseMirror's
// own parser would turn them into different lists and empty items. The importer follows the same rules
// (html_reader.py).

const BLOCKS = "address, article, aside, blockquote, center, dd, details, div, dl, dt, fieldset, figcaption, figure, footer, form, "
  + "h1, h2, h3, h4, h5, h6, header, hr, li, main, nav, ol, p, pre, section, summary, table, ul";
const LISTS = "ul, ol, menu, dir";
const TRANSPARENT = "address, article, aside, center, details, div, fieldset, figure, footer, form, header, main, nav, section";
const NOT_IN_A_HEADING = "ul, ol, table";

const isBlank = (node) => node.nodeType === 3 ? !node.data.trim() : node.nodeType !== 1;
const saysNothing = (element) => !element.textContent.trim() && !element.querySelector("img, hr, table, li");

function wrapped(tag, ...nodes) {
  const made = nodes[0].ownerDocument.createElement(tag);
  made.append(...nodes);
  return made;
}

function whole(text, other) {
  return /^\d{1,9}$/.test(text ?? "") ? Number(text) : other;
}

/** Return whether an item begins with a paragraph, or with text that becomes one. */
function beginsWithText(item) {
  for (const node of item.childNodes) {
    if (isBlank(node) || node.tagName === "BR") continue;
    if (node.nodeType === 1 && node.matches(TRANSPARENT)) {
      if (saysNothing(node)) continue;
      return beginsWithText(node);
    }
    return node.nodeType === 3 || node.tagName === "P" || !node.matches(BLOCKS);
  }
  return false;
}

/**
 * Return the items of a list after wrapping loose content in items and moving nested lists into the item before them.
 */
function itemsOf(list) {
  const isLeading = () => !list.querySelector(":scope > li");
  for (const node of [...list.childNodes]) {
    if (node.parentNode !== list || node.tagName === "LI") continue;
    if (isBlank(node) || node.tagName === "BR") node.remove();
    else if (node.nodeType === 1 && node.matches("ul, ol")) {
      const item = node.previousElementSibling;
      if (item) item.append(node);
      else if (isLeading() || node.tagName !== list.tagName) {
        if (node.tagName === list.tagName) node.replaceWith(...node.childNodes);
        else list.before(node);
      } else node.replaceWith(...node.childNodes);
    } else {
      const item = list.ownerDocument.createElement("li");
      node.replaceWith(item);
      item.append(node);
    }
  }
  return [...list.children];
}

/** Replace a list that counts backwards with a bullet list that has the numbers as text. */
function countBackwards(list, items) {
  let number = whole(list.getAttribute("start"), items.length);
  for (const item of items) {
    number = whole(item.getAttribute("value"), number);
    const first = item.querySelector(":scope > p") ?? item;
    first.prepend(`${number}. `);
    number -= 1;
  }
  const made = list.ownerDocument.createElement("ul");
  made.append(...items);
  list.replaceWith(made);
}

/** Start a new list at each item whose `value` breaks the sequence. */
function splitAtValues(list, items) {
  const start = whole(list.getAttribute("start"), 1);
  let [current, number] = [list, start];
  for (const item of items) {
    const value = whole(item.getAttribute("value"), number);
    if (value !== number && current.firstElementChild !== item) {
      const next = list.cloneNode(false);
      current.after(next);
      current = next;
    }
    if (value !== number) current.setAttribute("start", value);
    if (current !== list) current.append(item);
    number = value + 1;
  }
}

function lists(root) {
  // Innermost lists first, so that the content of an item is already valid when its list is handled.
  for (const found of [...root.querySelectorAll(LISTS)].reverse()) {
    const list = found.matches("ul, ol") ? found : wrapped("ul", ...found.childNodes);
    if (list !== found) found.replaceWith(list);
    if (!/^[aAiI]$/.test(list.getAttribute("type") ?? "")) list.removeAttribute("type");
    const items = itemsOf(list).filter((item) => {
      // Removing an empty item of a numbered list would change the numbers after it.
      const isKept = list.tagName === "OL" || !saysNothing(item);
      if (!isKept) item.remove();
      return isKept;
    });
    if (list.tagName === "OL" && list.hasAttribute("reversed")) countBackwards(list, items);
    else if (list.tagName === "OL") splitAtValues(list, items);
    for (const item of items) {
      if (beginsWithText(item)) continue;
      const nothing = item.ownerDocument.createElement("p");
      item.prepend(nothing);
    }
    if (!items.length) list.remove();
  }
}

/** Turn titles and captions into paragraphs, marked bold or italic to distinguish them from the text around them. */
function titles(root) {
  for (const element of root.querySelectorAll("dt, summary, figcaption, caption")) {
    const tag = { DT: "strong", SUMMARY: "strong", FIGCAPTION: "em" }[element.tagName];
    const words = root.ownerDocument.createElement(tag ?? "span");
    words.append(...element.childNodes);
    const paragraph = wrapped("p", words);
    if (element.tagName === "CAPTION") {
      element.closest("table").before(paragraph);
      element.remove();
    } else element.replaceWith(paragraph);
  }
  for (const heading of root.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (heading.querySelector(NOT_IN_A_HEADING)) heading.replaceWith(...heading.childNodes);
    else heading.querySelectorAll("p, div").forEach((one) => one.replaceWith(...one.childNodes, " "));
  }
}

/** Remove line breaks and space at the edges of a block. */
function trim(block) {
  for (const edge of ["firstChild", "lastChild"]) {
    for (let node = block[edge]; node; node = block[edge]) {
      let leaf = node;
      while (leaf.nodeType === 1 && leaf[edge]) leaf = leaf[edge];
      const isEdge = leaf.tagName === "BR" || (leaf.nodeType === 3 && !/[^ \t\r\n\f]/.test(leaf.data));
      if (!isEdge) break;
      while (leaf !== block && leaf.parentNode !== block && leaf.parentNode.childNodes.length === 1) leaf = leaf.parentNode;
      leaf.remove();
    }
  }
}

const isBlock = (node) => node?.nodeType === 1 && (node.matches(BLOCKS) || Boolean(node.querySelector(BLOCKS)));

function neighbour(node, side) {
  let found = node[side];
  while (found && (isBlank(found) || found.tagName === "BR")) found = found[side];
  return found;
}

/** Remove line breaks and empty blocks that only add space: the schema would make paragraphs of them. */
function blankLines(root) {
  for (const br of root.querySelectorAll("br")) {
    const beside = ["previousSibling", "nextSibling"].map((side) => neighbour(br, side));
    const isBetween = beside.some(isBlock) || (isBlock(br.parentNode) && beside.some((one) => !one) && br.parentNode.querySelector(BLOCKS));
    if (isBetween) br.remove();
  }
  for (const block of [...root.querySelectorAll("p, div, h1, h2, h3, h4, h5, h6, dd, blockquote, section, article")].reverse()) {
    if (block.querySelector(BLOCKS)) continue;
    if (saysNothing(block)) block.remove();
    else trim(block);
  }
  for (const cell of root.querySelectorAll("li, td, th")) if (!cell.querySelector(BLOCKS)) trim(cell);
}

/** Rearrange the blocks of `root` into a form that the schema allows. */
export function orderBlocks(root) {
  titles(root);
  blankLines(root);
  lists(root);
}
