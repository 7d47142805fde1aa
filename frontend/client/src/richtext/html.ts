// Renders rich text as a string of HTML, for Astro's `set:html`, Svelte, templates and feeds.

import { render, type Attributes, type Builder, type RichTextInput } from "./tree.js";

const VOID = new Set(["br", "hr", "img"]);
const builder: Builder<string> = {
  text: escape,
  element: (tag, attributes, children) =>
    VOID.has(tag) ? `<${tag}${written(attributes)}>` : `<${tag}${written(attributes)}>${children.join("")}</${tag}>`,
};

/** Returns safe HTML of a document; an empty string for none. */
export function richTextToHtml(document: RichTextInput | null | undefined): string {
  return render(document, builder).join("\n");
}

function written(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escape(String(value))}"`)
    .join("");
}

function escape(text: string): string {
  const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (sign) => signs[sign]!);
}
