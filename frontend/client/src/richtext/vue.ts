// Renders rich text with Vue: `<RichText :document="props.content" />`.

import { h, type Component, type FunctionalComponent, type VNode } from "vue";
import { render, type RichTextInput } from "./tree.js";

export interface RichTextProps {
  document: RichTextInput | null | undefined;
  /** Other components for elements, such as the router's link for `a`. */
  components?: Readonly<Record<string, Component>>;
}

export const RichText: FunctionalComponent<RichTextProps> = ({ document, components = {} }) =>
  render<VNode | string>(document, {
    text: (text) => text,
    element: (tag, attributes, children) => {
      const own = components[tag];
      return own ? h(own, attributes, () => children) : h(tag, attributes, children);
    },
  });

RichText.props = ["document", "components"];
