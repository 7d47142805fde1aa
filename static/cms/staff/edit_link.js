// The link from a page of the site to the editor of its post, at the module that the user is looking at.

import { fetchJson } from "../http.js";
import { make } from "./elements.js";

/** Where people read, as a share of the window's height. */
const READING_LINE = 0.4;

/** Return the link, or null if the user may not edit the post. */
export async function editLink(postId, label) {
  let address = "";
  try {
    address = (await fetchJson(`/admin/content/post/${encodeURIComponent(postId)}/change/link/`)).url;
  } catch {
    return null; // the post is outside of the user's scopes, or the session has ended
  }
  if (!address) return null;
  const link = make("a", { href: address, class: "edit" }, [label]);
  // Before the browser reads the address: for a click, a key, a new tab and the context menu.
  for (const name of ["pointerenter", "pointerdown", "focus", "click", "contextmenu"]) {
    link.addEventListener(name, () => { link.href = address + moduleHash(); });
  }
  return link;
}

function moduleHash() {
  const line = innerHeight * READING_LINE;
  const distance = (module) => {
    const { top, bottom } = module.getBoundingClientRect();
    return Math.max(top - line, line - bottom, 0);
  };
  const modules = [...document.querySelectorAll("main [data-post-module-id]")];
  const nearest = modules.sort((one, other) => distance(one) - distance(other))[0];
  return nearest ? `#m-${nearest.dataset.postModuleId}` : "";
}
