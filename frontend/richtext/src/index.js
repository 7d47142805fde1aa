// The rich-text editor of the admin, as one file: static/cms/vendor/richtext.js.

import { Editor } from "@tiptap/core";

import { canonical } from "./canonical.js";
import { cleaned } from "./paste.js";
import { Passages } from "./passages.js";
import { PastedImages } from "./pasted_images.js";
import { extensions } from "./schema.js";

export { safeHref } from "./links.js";
export { markPassages, selectedPassage, showPassage } from "./passages.js";
export { replaceMarker } from "./pasted_images.js";

/**
 * Create an editor in `element` for a stored document. Throws if the schema does not allow the document.
 * `attributes` are set on the editable element. `onChange` is called for every change, `onMove` also when the cursor
 * moves. `onImages` receives pasted images from other sites; for each of them `note` returns the text that is shown
 * until `replaceMarker` is called. `passages` are the options of the extension of that name.
 */
export function createEditor({ element, content, attributes, onChange, onMove, note, onImages, passages }) {
  const images = new PastedImages({ note, onFound: onImages });
  const editor = new Editor({
    element,
    extensions: [...extensions, Passages.configure(passages)],
    content,
    injectCSS: false,
    enableContentCheck: true,
    editorProps: { ...images.editorProps, attributes, transformPastedHTML: (html) => cleaned(html, images) },
    onUpdate: ({ editor: changed }) => onChange(changed),
    onTransaction: ({ editor: moved }) => onMove(moved),
  });
  return editor;
}

/** Return the editor's document in the form that is stored. */
export function documentOf(editor) {
  return canonical(editor.getJSON());
}
