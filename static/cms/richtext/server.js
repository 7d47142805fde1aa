// The words of the tools, and Markdown to and from documents: asked of the server, which reads both in one way.

import { token } from "../fields/words.js";

let tools = null;

/** The toolbar, the line below and the dialogs, as elements that may be put into the page. */
export async function toolsOf(address) {
  tools ??= fetch(address, { credentials: "same-origin" }).then((answer) => {
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.text();
  });
  try {
    return new DOMParser().parseFromString(await tools, "text/html").body;
  } catch (error) {
    tools = null;
    throw error;
  }
}

async function converted(address, name, value) {
  const body = new FormData();
  body.append(name, value);
  const answer = await fetch(address, { method: "POST", body, headers: { "X-CSRFToken": token() }, credentials: "same-origin" });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.message);
  return told;
}

export const documentFrom = async (address, markdown) => (await converted(address, "markdown", markdown)).document;
export const markdownFrom = async (address, document_) => (await converted(address, "document", JSON.stringify(document_))).markdown;
