// Marks passages with comments. The marks are decorations: they move with the text, and are neither stored nor copied.

import { Extension } from "@tiptap/core";
import { Plugin, PluginKey } from "@tiptap/pm/state";
import { Decoration, DecorationSet } from "@tiptap/pm/view";

const KEY = new PluginKey("passages");
const CONTEXT = 60;
/** Shorter words can stand in a text by chance, so some of their surroundings must match too. */
const SHORT_QUOTE = 25;
const MIN_CONTEXT = 8;
const MOST_PLACES = 1000;
const SPACE = /\s+/gu;

// The words of an image are its description, as in proofroom/definitions/richtext/nodes.py.
const altOf = (node) => (node.type.name === "image" ? node.attrs.alt ?? "" : "");
const bare = (text) => text.replace(SPACE, "");

/** Return the characters of the text without white space, and the position of each in the document. */
function charactersOf(doc) {
  const positions = [];
  let text = "";
  doc.descendants((node, at) => {
    const words = node.text ?? altOf(node);
    for (let index = 0; index < words.length; index += 1) {
      if (/\s/u.test(words[index])) continue;
      text += words[index];
      positions.push(node.isText ? at + index : at);
    }
  });
  return { text, positions };
}

function sharedLength(one, other) {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}

const reversed = (text) => [...text].reverse().join("");

/** Return the start and end of a passage in the document: of several places the one with the most similar surroundings. */
function placeOf({ text, positions }, passage) {
  const [quote, prefix, suffix] = [passage.quote, passage.prefix, passage.suffix].map((part) => bare(part ?? ""));
  if (!quote) return null;
  let best = -1;
  let found = -1;
  let at = text.indexOf(quote);
  for (let tried = 0; at >= 0 && tried < MOST_PLACES; tried += 1) {
    const before = reversed(text.slice(Math.max(0, at - prefix.length), at));
    const score = sharedLength(before, reversed(prefix)) + sharedLength(text.slice(at + quote.length), suffix);
    if (score > best) [best, found] = [score, at];
    at = text.indexOf(quote, at + 1);
  }
  const isUnsure = bare(passage.quote).length < SHORT_QUOTE && best < Math.min(MIN_CONTEXT, prefix.length + suffix.length);
  if (found < 0 || isUnsure) return null;
  return { from: positions[found], to: positions[found + quote.length - 1] + 1 };
}

function decorationsOf(doc, passages) {
  if (!passages.length) return [];
  const characters = charactersOf(doc);
  return passages.flatMap((passage) => {
    const place = placeOf(characters, passage);
    if (!place) return [];
    const attributes = { nodeName: "mark", class: "rt-passage", "data-passage": passage.id, title: passage.title };
    return [Decoration.inline(place.from, place.to, attributes, { id: passage.id })];
  });
}

const EMPTY = { passages: [], marks: DecorationSet.empty };

function apply(tr, value) {
  const passages = tr.getMeta(KEY);
  if (passages) {
    // Marks whose words are being edited stay where they are: only what is stored has their new words.
    const kept = value.marks.find(0, tr.doc.content.size, ({ id }) => passages.some((one) => one.id === id));
    const added = decorationsOf(tr.doc, passages);
    const known = new Set(added.map(({ spec }) => spec.id));
    return { passages, marks: DecorationSet.create(tr.doc, [...added, ...kept.filter(({ spec }) => !known.has(spec.id))]) };
  }
  if (!tr.docChanged) return value;
  const marks = value.marks.map(tr.mapping, tr.doc);
  // Undo, or a new document, can bring back words whose mark was removed with them.
  if (!tr.getMeta("history$") && tr.getMeta("preventUpdate") === undefined) return { ...value, marks };
  const present = new Set(marks.find().map(({ spec }) => spec.id));
  const missing = value.passages.filter(({ id }) => !present.has(id));
  return { ...value, marks: marks.add(tr.doc, decorationsOf(tr.doc, missing)) };
}

/** Ids of the passages at a position. */
const idsAt = (state, at) => KEY.getState(state).marks.find(at, at).map(({ spec }) => spec.id);

/** `onOpen(id)` is called when somebody clicks a marked passage, `onComment()` for the shortcut of a comment. */
export const Passages = Extension.create({
  name: "passages",
  addOptions() {
    return { onOpen: () => {}, onComment: () => false };
  },
  addKeyboardShortcuts() {
    return { "Mod-Alt-m": () => this.options.onComment() };
  },
  addProseMirrorPlugins() {
    const { onOpen } = this.options;
    return [
      new Plugin({
        key: KEY,
        state: { init: () => EMPTY, apply },
        props: {
          decorations: (state) => KEY.getState(state).marks,
          handleClick: (view, at) => {
            // The innermost passage: of marks that overlap the shortest.
            const found = KEY.getState(view.state).marks.find(at, at);
            found.sort((one, other) => one.to - one.from - (other.to - other.from));
            if (found.length && view.state.selection.empty) onOpen(found[0].spec.id);
            return false;
          },
        },
      }),
    ];
  },
});

/** Mark passages: `{id, quote, prefix, suffix, title}`. Passages whose words are not in the text have no mark. */
export function markPassages(editor, passages) {
  editor.view.dispatch(editor.state.tr.setMeta(KEY, passages).setMeta("addToHistory", false));
}

/** Select a marked passage and scroll to it. Returns whether it is marked. */
export function showPassage(editor, id) {
  const mark = KEY.getState(editor.state).marks.find().find(({ spec }) => spec.id === id);
  if (!mark) return false;
  editor.chain().focus().setTextSelection({ from: mark.from, to: mark.to }).scrollIntoView().run();
  return true;
}

/** Return the selected words and the text around them; without a selection `quote` is empty, and `id` the passage there. */
export function selectedPassage({ state }) {
  const { from, to } = state.selection;
  const text = (start, end) => state.doc.textBetween(Math.max(0, start), Math.min(state.doc.content.size, end), " ", (node) => altOf(node) || " ");
  return {
    quote: text(from, to).trim(),
    prefix: text(from - CONTEXT, from).trim(),
    suffix: text(to, to + CONTEXT).trim(),
    id: from === to ? idsAt(state, from)[0] ?? "" : "",
  };
}
