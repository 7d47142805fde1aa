// Converts formulas (MathML) to text with superscripts and subscripts, as the importer does
// (proofroom_apps/imports/formulas.py).

const LEFT_OUT = new Set(["annotation", "annotation-xml", "mphantom", "none", "mprescripts"]);
const TOKENS = new Set(["mi", "mn", "mtext", "ms", "mo"]);
const SPACED = new Set("=≠≈≡≅∼∝<>≤≥≪≫+−-–±∓×÷→←↔⇒⇐⇔∈∉⊂⊆∪∩∧∨∥⊥");
const INVISIBLE = /[\u2061-\u2064]/g;

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const grouped = (html) => (/^[\p{L}\p{N}_]+$/u.test(html) ? html : `(${html})`);

/** Join the parts of a row, with spaces around operators between two of them. */
function row(element, inner, parts) {
  if (!inner.length) return escaped(element.textContent.trim());
  return inner.map((part, number) => {
    if (part.localName !== "mo") return parts[number];
    const sign = part.textContent.trim();
    if (sign === ",") return ", ";
    const follows = number > 0 && inner[number - 1].localName !== "mo";
    return follows && SPACED.has(sign) ? ` ${parts[number]} ` : parts[number];
  }).join("");
}

function htmlOf(element) {
  const tag = element.localName;
  if (LEFT_OUT.has(tag)) return "";
  if (TOKENS.has(tag)) return escaped(element.textContent.trim().replace(INVISIBLE, ""));
  const inner = [...element.children];
  const parts = inner.map(htmlOf);
  const [first, second, third] = parts;
  const is = (names, count) => names.includes(tag) && parts.length === count;
  if (tag === "semantics" && parts.length) return first;
  if (is(["msup", "mover"], 2)) return `${first}<sup>${second}</sup>`;
  if (is(["msub", "munder"], 2)) return `${first}<sub>${second}</sub>`;
  if (is(["msubsup", "munderover"], 3)) return `${first}<sub>${second}</sub><sup>${third}</sup>`;
  if (is(["mfrac"], 2)) return `${grouped(first)}/${grouped(second)}`;
  if (is(["mroot"], 2)) return `<sup>${second}</sup>√${grouped(first)}`;
  if (tag === "msqrt") return `√${grouped(row(element, inner, parts))}`;
  if (tag === "mfenced") return `(${parts.join(", ")})`;
  if (tag === "mtable") return `(${parts.join("; ")})`;
  if (tag === "mtr") return parts.join(", ");
  return row(element, inner, parts);
}

/** Replace each formula with its text. */
export function formulasToText(root) {
  for (const formula of root.querySelectorAll("math")) {
    const text = htmlOf(formula).replace(/\s+/g, " ").trim() || escaped(formula.getAttribute("alttext") ?? "");
    const template = root.ownerDocument.createElement("template");
    template.innerHTML = text;
    formula.replaceWith(template.content);
  }
}
