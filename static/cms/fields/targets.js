// What the server finds for a picker, and what it knows of an address.

import { fetchJson } from "../http.js";
import { words } from "./words.js";

async function ask(parameters) {
  const address = new URL(words("targets"), location.href);
  for (const [name, value] of Object.entries(parameters)) if (value) address.searchParams.set(name, value);
  return fetchJson(address);
}

export async function find(kind, q, among = "") {
  const locale = kind === "link" ? "" : words("locale");
  return (await ask({ kind, q, among, locale, without: kind === "post-reference" ? words("post") : "" })).results;
}

export const stateOf = (address) => ask({ address });
