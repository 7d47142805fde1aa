// The rich-text editor of the admin, as one file: static/cms/vendor/richtext.js.

import { Editor } from "@tiptap/core";

import { canonical } from "./canonical.js";
import { cleaned } from "./paste.js";
import { PastedImages } from "./pasted_images.js";
import { extensions } from "./schema.js";

export { safeHref } from "./links.js";
export { replaceMarker } from "./pasted_images.js";

/**
 * An editor in `element` over a stored document. Throws for a document that the schema does not know.
 * `attributes` go to the editable element; `onChange` hears of every change, `onMove` also of the cursor.
 * `onImages` hears of images of other places that were pasted, for each of which `note` returns the words that stand
 * for it until `replaceMarker` is called.
 */
export function createEditor({ element, content, attributes, onChange, onMove, note, onImages }) {
  const images = new PastedImages({ note, onFound: onImages });
  const editor = new Editor({
    element,
    extensions,
    content,
    injectCSS: false,
    enableContentCheck: true,
    editorProps: { ...images.editorProps, attributes, transformPastedHTML: (html) => cleaned(html, images) },
    onUpdate: ({ editor: changed }) => onChange(changed),
    onTransaction: ({ editor: moved }) => onMove(moved),
  });
  return editor;
}

/** What would be stored of the editor's document. */
export function documentOf(editor) {
  return canonical(editor.getJSON());
}
