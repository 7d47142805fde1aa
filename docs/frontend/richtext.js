// Turns a rich-text document into elements. Texts stay texts: the script never reads them as markup.

const MARKS = { bold: "strong", italic: "em", strike: "s", superscript: "sup", subscript: "sub", code: "code" };
const BLOCKS = {
  bulletList: "ul",
  orderedList: "ol",
  listItem: "li",
  blockquote: "blockquote",
  table: "table",
  tableRow: "tr",
  tableHeader: "th",
  tableCell: "td",
};

/** Returns the nodes of a document. `link(url, ...children)` makes the links. */
export function richText(document, link) {
  return (document?.content ?? []).map((node) => block(node, link));
}

function block(node, link) {
  switch (node.type) {
    case "text":
    case "image":
    case "hardBreak":
      return inline(node, link);
    case "horizontalRule":
      return window.document.createElement("hr");
    case "heading": {
      const made = filled(`h${Math.min(Math.max(Number(node.attrs?.level) || 2, 2), 6)}`, node, link);
      if (node.attrs?.id) made.id = node.attrs.id;
      return made;
    }
    case "codeBlock": {
      const outer = window.document.createElement("pre");
      outer.append(filled("code", node, link));
      return outer;
    }
    case "paragraph":
      // A figure is no part of a paragraph.
      return filled((node.content ?? []).some(isFigure) ? "div" : "p", node, link);
    default:
      return filled(BLOCKS[node.type] ?? "div", node, link);
  }
}

/** Returns the classes of an image with a place or a size. */
function layout({ attrs = {} }) {
  return ["align", "size"].filter((name) => attrs[name]).map((name) => `${name}-${attrs[name]}`);
}

function isFigure(node) {
  return node.type === "image" && Boolean(node.attrs?.caption || layout(node).length);
}

function filled(name, node, link) {
  const made = window.document.createElement(name);
  made.append(...richText(node, link));
  return made;
}

function inline(node, link) {
  if (node.type === "hardBreak") return window.document.createElement("br");
  if (node.type === "image") {
    const image = window.document.createElement("img");
    image.src = safe(node.attrs?.src) ?? "";
    image.alt = node.attrs?.alt ?? "";
    if (!isFigure(node)) return image;
    const figure = window.document.createElement("figure");
    figure.className = ["rich-figure", ...layout(node)].join(" ");
    figure.append(image);
    if (node.attrs.caption) figure.append(Object.assign(window.document.createElement("figcaption"), { textContent: node.attrs.caption }));
    return figure;
  }
  return (node.marks ?? []).reduceRight((inner, mark) => {
    const url = mark.type === "link" ? safe(mark.attrs?.href) : null;
    if (url) return link(url, inner);
    if (!MARKS[mark.type]) return inner;
    const made = window.document.createElement(MARKS[mark.type]);
    made.append(inner);
    return made;
  }, window.document.createTextNode(node.text ?? ""));
}

/** Returns an address that a link may have: of this site, of the web or of a mailbox. */
function safe(url) {
  return /^(https?:\/\/|mailto:|\/(?!\/)|#)/i.test(url ?? "") ? url : null;
}
