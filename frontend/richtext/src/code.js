// Code that editors and word processors put on the clipboard as lines in a font for code. The importer has the same rules.

const MONOSPACE = /font-family\s*:[^;]*(?:mono|courier|consolas|menlo|monaco|source code|fira code|lucida console|cascadia code)/i;
const KEEPS_SPACE = /white-space\s*:\s*pre(?![\w-])/i;
const LINES = "p, div";
const NOT_A_LINE = "ul, ol, table, h1, h2, h3, h4, h5, h6, pre, blockquote, hr, img, section, article";

// What plain text writes for a superscript or subscript, as proofroom/definitions/richtext/nodes.py does.
const SCRIPTS = {
  SUP: ["^", "0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ"],
  SUB: ["_", "0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎"],
};

function scriptText(tag, text) {
  if (!SCRIPTS[tag] || !text.trim() || /^\p{L}{2,}$/u.test(text)) return text;
  const [sign, plain, forms] = SCRIPTS[tag];
  const found = [...text].map((char) => forms[plain.indexOf(char)]);
  return found.every(Boolean) ? found.join("") : sign + text;
}

/** The text of an element, a line for each block and break. */
function linesOf(element, keepsSpace) {
  let text = "";
  for (const node of element.childNodes) {
    if (node.nodeType === 3) {
      const isBetween = !node.data.trim() && element.querySelector(LINES) && /[\r\n]/.test(node.data);
      if (!isBetween) text += keepsSpace ? node.data : node.data.replace(/[\r\n][ \t\r\n]*/g, " ");
    } else if (node.nodeType === 1 && node.tagName === "BR") text += "\n";
    else if (node.nodeType === 1 && node.matches(LINES)) {
      if (text && !text.endsWith("\n")) text += "\n";
      text += linesOf(node, keepsSpace);
      if (!text.endsWith("\n")) text += "\n";
    } else if (node.nodeType === 1) text += scriptText(node.tagName, linesOf(node, keepsSpace));
  }
  return text;
}

function isMonospace(element, css) {
  const walk = element.ownerDocument.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode;
    if (!text.data.trim()) continue;
    const styled = text.parentElement.closest(`[${css}*='font-family']`);
    if (!styled || !MONOSPACE.test(styled.getAttribute(css))) return false;
  }
  return true;
}

/** What a line of code is known by: "kept", "font", "blank"; or "" for what is none. */
function kindOf(element, css) {
  if (!element.matches(LINES) || element.querySelector(NOT_A_LINE)) return "";
  if (KEEPS_SPACE.test(element.getAttribute(css) ?? "")) return "kept";
  if (!element.textContent.trim()) return "blank";
  return isMonospace(element, css) ? "font" : "";
}

function preOf(document, text) {
  const pre = document.createElement("pre");
  pre.append(document.createElement("code"));
  pre.firstChild.textContent = text.replace(/\u00a0/g, " ").replace(/^\n+|\n+$/g, "");
  return pre;
}

/** Put a block of code in place of lines that follow one another. Lines in a font alone are code where one is indented. */
function joinRun(run) {
  while (run.length && run.at(-1).kind === "blank") run.pop();
  if (!run.length) return;
  const isKept = run.some(({ kind }) => kind === "kept");
  const text = run.map(({ element, kind }) => linesOf(element, kind === "kept").replace(/\n$/, "")).join("\n").replace(/\u00a0/g, " ");
  if (!isKept && !/^(?: {2}|\t)/m.test(text)) return;
  run[0].element.before(preOf(run[0].element.ownerDocument, text));
  for (const { element } of run) element.remove();
}

function walk(parent, css) {
  let run = [];
  for (const node of [...parent.childNodes]) {
    if (node.nodeType === 3 && !node.data.trim()) continue;
    const kind = node.nodeType === 1 ? kindOf(node, css) : "";
    if (kind && (run.length || kind !== "blank")) {
      run.push({ element: node, kind });
      continue;
    }
    joinRun(run);
    run = [];
    if (node.nodeType === 1 && !kind && node.tagName !== "PRE") walk(node, css);
  }
  joinRun(run);
}

/** Bring code into blocks of code: lines in a font for code, lines of a source on a page, and breaks in what is one. */
export function codeBlocks(root, css) {
  for (const table of root.querySelectorAll("table")) {
    const lines = [...table.querySelectorAll("td.blob-code")];
    if (lines.length) table.replaceWith(preOf(root.ownerDocument, lines.map((one) => one.textContent.replace(/\n$/, "")).join("\n")));
  }
  for (const pre of root.querySelectorAll("pre")) {
    const images = pre.querySelectorAll("img");
    pre.after(...images);
    const words = [pre, ...pre.querySelectorAll("code")].flatMap((one) => [...one.classList]);
    const language = words.map((word) => /^(?:language|lang|brush:?)-?(.+)/.exec(word)?.[1]).find(Boolean);
    const made = preOf(root.ownerDocument, linesOf(pre, true));
    if (language) made.firstChild.className = `language-${language}`;
    pre.replaceWith(made);
  }
  walk(root, css);
}
