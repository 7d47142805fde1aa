// Detects code that editors and word processors put on the clipboard as lines in a monospace font. The importer follows
// the same rules.

const MONOSPACE = /font-family\s*:[^;]*(?:mono|courier|consolas|menlo|monaco|source code|fira code|lucida console|cascadia code)/i;
const KEEPS_SPACE = /white-space\s*:\s*pre(?![\w-])/i;
const LINES = "p, div";
const NOT_A_LINE = "ul, ol, table, h1, h2, h3, h4, h5, h6, pre, blockquote, hr, img, section, article";

// Plain-text forms of superscripts and subscripts, the same as in proofroom/definitions/richtext/nodes.py.
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

/** Return the text of an element, with a line for each block and line break. */
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

/** Return why an element is a line of code: "kept" (preserves spaces), "font" or "blank"; "" if it is not one. */
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

/**
 * Replace consecutive lines with a code block. Lines recognized by their font alone count as code only if one of them
 * is indented.
 */
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

/** Turn code into code blocks: monospace lines, source tables such as GitHub's, and `<pre>` with markup inside. */
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
