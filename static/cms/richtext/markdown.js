// A short Markdown of a document, for whatever reads the textarea while the editor is open. The document itself
// is what the form sends; the server writes the exact Markdown.

const SIGNS = { bold: "**", italic: "_", strike: "~~", code: "`" };

function inline(node) {
  if (node.type === "hardBreak") return "\n";
  if (node.type === "image") return `![${node.attrs.alt}](${node.attrs.src})`;
  let text = node.text ?? "";
  for (const mark of [...(node.marks ?? [])].reverse()) {
    text = mark.type === "link" ? `[${text}](${mark.attrs.href})` : `${SIGNS[mark.type]}${text}${SIGNS[mark.type]}`;
  }
  return text;
}

const line = (node) => (node.content ?? []).map(inline).join("");
const blocks = (node, join = "\n\n") => (node.content ?? []).map((child) => block(child)).join(join);

function list(node) {
  const first = node.attrs?.start ?? 1;
  return (node.content ?? []).map((item, at) => {
    const sign = node.type === "orderedList" ? `${first + at}. ` : "- ";
    return sign + blocks(item).replace(/\n/g, `\n${" ".repeat(sign.length)}`);
  }).join("\n");
}

function table(node) {
  const rows = (node.content ?? []).map((row) => `| ${(row.content ?? []).map((cell) => blocks(cell, " ")).join(" | ")} |`);
  const width = node.content?.[0]?.content?.length ?? 1;
  rows.splice(1, 0, `|${" --- |".repeat(width)}`);
  return rows.join("\n");
}

function block(node) {
  switch (node.type) {
    case "heading": return `${"#".repeat(node.attrs.level)} ${line(node)}`;
    case "bulletList":
    case "orderedList": return list(node);
    case "blockquote": return blocks(node).replace(/^/gm, "> ");
    case "codeBlock": return `\`\`\`${node.attrs?.language ?? ""}\n${line(node)}\n\`\`\``;
    case "horizontalRule": return "---";
    case "table": return table(node);
    default: return line(node);
  }
}

export const shortMarkdown = (document_) => blocks(document_).trim();
