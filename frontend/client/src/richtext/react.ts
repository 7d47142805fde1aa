// Renders rich text with React: `<RichText document={props.content} />`.

import { createElement, Fragment, type ElementType, type ReactElement, type ReactNode } from "react";
import { render, type Attributes, type RichTextInput } from "./tree.js";

export interface RichTextProps {
  document: RichTextInput | null | undefined;
  /** Other components for elements, such as the framework's link for `a`. */
  components?: Readonly<Record<string, ElementType>>;
}

export function RichText({ document, components = {} }: RichTextProps): ReactElement {
  const nodes = render<ReactNode>(document, {
    text: (text) => text,
    element: (tag, attributes, children) =>
      // Children as arguments need no keys: their order is that of the document.
      createElement(components[tag] ?? tag, named(attributes), ...children),
  });
  return createElement(Fragment, null, ...nodes);
}

function named(attributes: Attributes): Record<string, string | number> {
  const names: Record<string, string> = { class: "className", colspan: "colSpan", rowspan: "rowSpan" };
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [names[name] ?? name, value]));
}
