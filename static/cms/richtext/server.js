// The words of the tools, and Markdown to and from documents: asked of the server, which reads both in one way.

import { fetchJson, fetchPage } from "../http.js";

let tools = null;

/** The toolbar, the line below and the dialogs, as elements that may be put into the page. */
export async function toolsOf(address) {
  tools ??= fetchPage(address);
  try {
    return (await tools).body;
  } catch (error) {
    tools = null;
    throw error;
  }
}

async function converted(address, name, value) {
  const body = new FormData();
  body.append(name, value);
  return fetchJson(address, { body });
}

export const documentFrom = async (address, markdown) => (await converted(address, "markdown", markdown)).document;
export const markdownFrom = async (address, document_) => (await converted(address, "document", JSON.stringify(document_))).markdown;
