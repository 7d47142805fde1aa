// Reads a rich-text document once for all renderers. Texts stay texts: nothing of a document is used as markup.

export interface RichTextNode {
  type: string;
  text?: string;
  attrs?: Record<string, unknown>;
  content?: readonly RichTextNode[];
  marks?: readonly RichTextMark[];
}
export interface RichTextMark {
  type: string;
  attrs?: Record<string, unknown>;
}
/** A document of the delivery API, also of generated types. */
export interface RichTextInput {
  type: "doc";
  content?: readonly unknown[];
}

export type Attributes = Record<string, string | number>;

/** Makes the elements of a framework. */
export interface Builder<T> {
  text(text: string): T;
  element(tag: string, attributes: Attributes, children: T[]): T;
}

const MARKS: Record<string, string> = {
  bold: "strong",
  italic: "em",
  strike: "s",
  superscript: "sup",
  subscript: "sub",
  code: "code",
};
/** Marks, outermost first, as the pages of the CMS nest them. */
const ORDER = ["link", "bold", "italic", "strike", "superscript", "subscript", "code"];
const INLINE = new Set(["text", "image", "hardBreak"]);
const DEEPEST = 24;

/** Returns the blocks of a document as elements. */
export function render<T>(document: RichTextInput | null | undefined, builder: Builder<T>): T[] {
  return blocks((document?.content ?? []) as readonly RichTextNode[], builder, 1);
}

function blocks<T>(nodes: readonly RichTextNode[], builder: Builder<T>, depth: number): T[] {
  return nodes.flatMap((node) =>
    INLINE.has(node.type) ? inline([node], builder) : block(node, builder, depth),
  );
}

function block<T>(node: RichTextNode, builder: Builder<T>, depth: number): T[] {
  const content = node.content ?? [];
  const attrs = node.attrs ?? {};
  if (depth > DEEPEST) return [builder.element("p", {}, [builder.text(plain(node))])];
  const filled = (tag: string, attributes: Attributes = {}) => [
    builder.element(tag, attributes, blocks(content, builder, depth + 1)),
  ];
  switch (node.type) {
    case "paragraph":
      return paragraph(content, builder);
    case "heading": {
      const level = Math.min(Math.max(Number(attrs["level"]) || 2, 1), 6);
      const id = typeof attrs["id"] === "string" ? { id: attrs["id"] } : {};
      const figures = content.filter(isFigure);
      const line = figures.length ? content.filter((one) => !isFigure(one)) : content;
      return [builder.element(`h${level}`, id, inline(line, builder)), ...figures.map((one) => figure(one, builder))];
    }
    case "bulletList":
      return filled("ul");
    case "orderedList": {
      const start = Number(attrs["start"] ?? 1);
      const style = attrs["type"];
      return filled("ol", {
        ...(start !== 1 ? { start } : {}),
        ...(typeof style === "string" && style !== "1" ? { type: style } : {}),
      });
    }
    case "listItem":
      return [builder.element("li", {}, compact(content, builder, depth))];
    case "blockquote":
      return filled("blockquote");
    case "codeBlock": {
      const language = attrs["language"];
      const named = typeof language === "string" && language ? { class: `language-${language}` } : {};
      const code = builder.element("code", named, [builder.text(content.map((one) => one.text ?? "").join(""))]);
      return [builder.element("pre", {}, [code])];
    }
    case "horizontalRule":
      return [builder.element("hr", {}, [])];
    case "table":
      return [builder.element("table", {}, [builder.element("tbody", {}, blocks(content, builder, depth + 1))])];
    case "tableRow":
      return filled("tr");
    case "tableHeader":
    case "tableCell":
      return [builder.element(node.type === "tableCell" ? "td" : "th", cell(attrs), compact(content, builder, depth))];
    default:
      return [builder.element("p", {}, [builder.text(plain(node))])];
  }
}

const CHOICES: Record<string, readonly string[]> = {
  align: ["left", "center", "right", "full"],
  size: ["small", "medium", "full"],
};

function layoutOf(node: RichTextNode): string[] {
  return Object.entries(CHOICES).flatMap(([name, values]) => {
    const value = node.attrs?.[name];
    return typeof value === "string" && values.includes(value) ? [`${name}-${value}`] : [];
  });
}

function captionOf(node: RichTextNode): string {
  const caption = node.attrs?.["caption"];
  return typeof caption === "string" ? caption : "";
}

/** An image with a caption or a place stands between paragraphs instead of in a line. */
function isFigure(node: RichTextNode): boolean {
  return node.type === "image" && (captionOf(node) !== "" || layoutOf(node).length > 0);
}

function figure<T>(node: RichTextNode, builder: Builder<T>): T {
  const caption = captionOf(node);
  const below = caption ? [builder.element("figcaption", {}, [builder.text(caption)])] : [];
  const name = ["rich-figure", ...layoutOf(node)].join(" ");
  return builder.element("figure", { class: name }, [...inline([node], builder), ...below]);
}

/** The paragraphs of a text, and its figures between them. */
function paragraph<T>(content: readonly RichTextNode[], builder: Builder<T>): T[] {
  if (!content.some(isFigure)) return [builder.element("p", {}, inline(content, builder))];
  const made: T[] = [];
  for (let begin = 0; begin < content.length; ) {
    if (isFigure(content[begin]!)) {
      made.push(figure(content[begin++]!, builder));
      continue;
    }
    let end = begin + 1;
    while (end < content.length && !isFigure(content[end]!)) end++;
    const line = content.slice(begin, end);
    while (line[0]?.type === "hardBreak") line.shift();
    while (line.at(-1)?.type === "hardBreak") line.pop();
    const isText = line.some((one) => one.type !== "text" || one.text?.trim());
    if (isText) made.push(builder.element("p", {}, inline(line, builder)));
    begin = end;
  }
  return made;
}

/** A single first paragraph of an item or a cell gets no element. */
function compact<T>(content: readonly RichTextNode[], builder: Builder<T>, depth: number): T[] {
  const [first, ...rest] = content;
  if (first?.type !== "paragraph" || rest.some((one) => one.type === "paragraph") || first.content?.some(isFigure)) {
    return blocks(content, builder, depth + 1);
  }
  return [...inline(first.content ?? [], builder), ...blocks(rest, builder, depth + 1)];
}

function cell(attrs: Record<string, unknown>): Attributes {
  const found: Attributes = {};
  for (const name of ["colspan", "rowspan"]) {
    const span = Number(attrs[name] ?? 1);
    if (span > 1) found[name] = span;
  }
  const align = attrs["align"];
  if (align === "left" || align === "center" || align === "right") found["class"] = `align-${align}`;
  return found;
}

interface Run {
  node: RichTextNode;
  marks: readonly RichTextMark[];
}

function inline<T>(nodes: readonly RichTextNode[], builder: Builder<T>): T[] {
  const runs = nodes.map((node) => ({
    node,
    marks: (node.marks ?? [])
      .filter((mark) => ORDER.includes(mark.type) && (mark.type !== "link" || safe(mark.attrs?.["href"]) !== null))
      .sort((left, right) => ORDER.indexOf(left.type) - ORDER.indexOf(right.type)),
  }));
  return grouped(runs, builder);
}

/** Neighbours with the same mark share one element, so that a link with a bold word stays one link. */
function grouped<T>(runs: readonly Run[], builder: Builder<T>): T[] {
  const made: T[] = [];
  for (let begin = 0; begin < runs.length; ) {
    const run = runs[begin]!;
    const mark = run.marks[0];
    let end = begin + 1;
    if (!mark) {
      made.push(leaf(run.node, builder));
    } else {
      const key = keyOf(mark);
      while (end < runs.length && runs[end]!.marks[0] && keyOf(runs[end]!.marks[0]!) === key) end++;
      const inner = runs.slice(begin, end).map(({ node, marks }) => ({ node, marks: marks.slice(1) }));
      made.push(marked(mark, grouped(inner, builder), builder));
    }
    begin = end;
  }
  return made;
}

function keyOf(mark: RichTextMark): string {
  return mark.type === "link" ? JSON.stringify(mark.attrs) : mark.type;
}

function marked<T>(mark: RichTextMark, children: T[], builder: Builder<T>): T {
  if (mark.type !== "link") return builder.element(MARKS[mark.type]!, {}, children);
  const href = safe(mark.attrs?.["href"])!;
  const title = mark.attrs?.["title"];
  const isNewTab = mark.attrs?.["target"] === "_blank";
  return builder.element(
    "a",
    {
      href,
      ...(typeof title === "string" && title ? { title } : {}),
      ...(isNewTab ? { target: "_blank" } : {}),
      ...(isNewTab || /^https?:/i.test(href) ? { rel: "noopener noreferrer" } : {}),
    },
    children,
  );
}

function leaf<T>(node: RichTextNode, builder: Builder<T>): T {
  if (node.type === "hardBreak") return builder.element("br", {}, []);
  const attrs = node.attrs ?? {};
  const alt = typeof attrs["alt"] === "string" ? attrs["alt"] : "";
  if (node.type === "image") {
    const src = safe(attrs["src"]);
    if (src === null || /^(mailto|tel):|^#/i.test(src)) return builder.text(alt);
    const title = attrs["title"];
    return builder.element(
      "img",
      { src, alt, ...(typeof title === "string" && title ? { title } : {}), loading: "lazy" },
      [],
    );
  }
  return builder.text(node.text ?? plain(node));
}

/** Returns an address that a link may have, or null. The CMS stores no others; this guards against other sources. */
function safe(value: unknown): string | null {
  if (typeof value !== "string" || /[\u0000-\u0020\u007f\\]/.test(value) || value.startsWith("//")) return null;
  const scheme = /^([^/?#]*?):/.exec(value)?.[1]?.toLowerCase();
  if (scheme === undefined) return value === "" ? null : value;
  if (scheme === "http" || scheme === "https") return /^https?:\/\/[^/?#]/i.test(value) ? value : null;
  return scheme === "mailto" || scheme === "tel" ? value : null;
}

function plain(node: RichTextNode): string {
  return [node.text ?? "", ...(node.content ?? []).map(plain)].filter(Boolean).join(" ");
}
