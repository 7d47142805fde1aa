// What a text shares with the modules around it: snippets of text, and addresses that become embeds.

import { announce, fetchJson, pageData } from "../http.js";
import { embeddableUrl } from "../editor/clipboard.js";
import { dialogOf, openDialog } from "./controls.js";

export { embeddableUrl };

/** Remove the paragraph that has only this text. */
export function removeLine(editor, text) {
  let found;
  editor.state.doc.descendants((node, at) => {
    if (node.type.name === "paragraph" && node.textContent === text) found = { from: at, to: at + node.nodeSize };
    return found === undefined;
  });
  if (found) editor.chain().deleteRange(found).run();
}

/** Insert a copy of a snippet at the cursor. */
export async function insertSnippet(editor, id) {
  const { text } = await fetchJson(`/api/snippets/${id}`);
  editor.chain().focus().insertContent(text.content).run();
}

/** Return whether a snippet of the insert menu is offered in this post. */
export function isOffered({ types = "", locale = "" }) {
  const [type, language] = [pageData("type"), pageData("locale")];
  return (!types || !type || types.split(" ").includes(type)) && (!locale || !language || locale === language);
}

/** Ask for a name and save the selected text. `button` has the words. */
export async function saveSnippet(editor, tools, { documentOf, withoutMarkers }, button) {
  const { selection } = editor.state;
  if (selection.empty) {
    announce(button.dataset.none);
    return button.dataset.none;
  }
  const content = selection.content().content.toJSON() ?? [];
  const text = documentOf({ getJSON: () => withoutMarkers({ type: "doc", content }) });
  const asked = dialogOf(tools, "snippet");
  const problem = asked.dialog.querySelector("[data-refused]");
  problem.hidden = true;
  for (let name = ""; ;) {
    const { answer, value } = await openDialog(asked, name);
    if (answer !== "set") break;
    name = value;
    try {
      await fetchJson("/api/snippets", { body: { name, text } });
      editor.commands.focus();
      return button.dataset.saved.replace("{name}", name);
    } catch (error) {
      problem.textContent = error.data?.details?.name?.join(" ") ?? (error.message || button.dataset.failed);
      problem.hidden = false;
    }
  }
  editor.commands.focus();
  return "";
}
