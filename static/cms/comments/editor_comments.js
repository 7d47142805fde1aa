// Comments beside the form of a post: the threads in their tab, marks beside fields, and the field and the selected
// words that a new comment is about. Without scripts the tab links to a page that does the same.

import { fetchPage, watchFocus } from "../http.js";

const MAX_QUOTE = 1000;

export function startComments(form, rail) {
  const box = document.querySelector("[data-comments]");
  if (!box) return;
  const panel = box.closest("[data-rail-panel]");
  const list = box.querySelector("[data-comments-list]");
  const failed = box.querySelector("[data-comments-failed]");
  let address = box.dataset.comments;
  let place = { path: "", quote: "" };

  /** Load threads, or send a form and show its answer. */
  async function load(target = address, body) {
    box.setAttribute("aria-busy", "true");
    try {
      const page = await fetchPage(target, body && { body });
      if (!body) address = target;
      list.replaceChildren(...page.body.childNodes);
      failed.hidden = true;
      showMarks();
      showPlace();
    } catch {
      failed.hidden = false;
    }
    box.removeAttribute("aria-busy");
  }

  /** Show the number of open threads beside each field. */
  function showMarks() {
    for (const mark of form.querySelectorAll("[data-comment-mark]")) mark.remove();
    const counts = new Map();
    for (const { dataset } of list.querySelectorAll("[data-thread][data-path]")) {
      counts.set(dataset.path, (counts.get(dataset.path) ?? 0) + 1);
    }
    for (const [path, count] of counts) {
      const label = fieldOf(path)?.querySelector("label, legend");
      if (!label) continue;
      const mark = document.createElement("button");
      mark.type = "button";
      mark.className = "comment-mark";
      mark.dataset.commentMark = path;
      mark.textContent = String(count);
      const words = count === 1 ? box.dataset.markOne : box.dataset.markMany.replace("{n}", count);
      mark.setAttribute("aria-label", words);
      mark.title = words;
      label.after(mark);
    }
  }

  const fieldOf = (path) => form.querySelector(`[data-field="${CSS.escape(path)}"]`);

  /** Fill in the field and the words that the user marked last. */
  function showPlace() {
    const choice = list.querySelector("[data-comment-new] [name=path]");
    if (!choice || !place.path) return;
    // A field in a list belongs to the property that has an option.
    const option = [...choice.options].find(({ value }) => value && (place.path === value || place.path.startsWith(`${value}.`)));
    if (!option) return;
    choice.value = option.value;
    showQuote(place.quote);
  }

  function showQuote(quote) {
    const passage = list.querySelector("[data-comment-passage]");
    passage.querySelector("[data-quote-shown]").textContent = quote;
    passage.querySelector("[name=quote]").value = quote;
    passage.hidden = !quote;
  }

  function selectedIn(field) {
    const { activeElement: active } = document;
    if (active?.matches("textarea, input[type=text]") && field.contains(active)) {
      return active.value.slice(active.selectionStart, active.selectionEnd);
    }
    const selection = document.getSelection();
    return field.contains(selection.anchorNode) && field.contains(selection.focusNode) ? selection.toString() : "";
  }

  document.addEventListener("selectionchange", () => {
    const { activeElement: active } = document;
    const field = form.contains(active) && active.closest("[data-field]");
    if (!field) return;
    const quote = selectedIn(field).trim();
    place = { path: field.dataset.field, quote: quote.length <= MAX_QUOTE ? quote : "" };
    if (!panel.hidden && !list.querySelector("[data-comment-new] textarea")?.value) showPlace();
  });

  panel.addEventListener("cms:panel", ({ detail }) => { if (detail.isOpen) load(); });
  form.addEventListener("click", ({ target }) => {
    const mark = target.closest("[data-comment-mark]");
    if (!mark) return;
    rail.reveal(box);
    const thread = [...list.querySelectorAll("[data-thread]")].find(({ dataset }) => dataset.path === mark.dataset.commentMark);
    thread?.scrollIntoView({ block: "nearest" });
    thread?.querySelector("summary")?.focus({ preventScroll: true });
  });
  list.addEventListener("click", (event) => {
    const link = event.target.closest("[data-comments-show]");
    if (link) {
      event.preventDefault();
      load(link.href);
      return;
    }
    if (event.target.closest("[data-quote-drop]")) showQuote("");
    const go = event.target.closest("[data-comment-go]");
    const field = go && fieldOf(go.dataset.commentGo);
    if (!field) return;
    event.preventDefault();
    rail.reveal(field);
    field.scrollIntoView({ block: "center" });
    field.querySelector("input, textarea, select, [contenteditable=true]")?.focus({ preventScroll: true });
  });
  list.addEventListener("submit", async (event) => {
    event.preventDefault();
    const isFocusFree = watchFocus();
    const isNew = event.target.matches("[data-comment-new]");
    if (isNew) place = { path: "", quote: "" };
    await load(event.target.action, new FormData(event.target, event.submitter));
    if (isNew && isFocusFree()) list.querySelector("[data-comment-new] textarea")?.focus({ preventScroll: true });
  });
  // What others write. Text that is being typed here stays; the next answer brings the rest.
  document.addEventListener("live", ({ detail }) => {
    const isTyping = [...list.querySelectorAll("textarea")].some(({ value }) => value);
    const isOfPost = detail.postId === form.dataset.post;
    if (isOfPost && detail.event?.startsWith("comment.") && !detail.mine && !isTyping && !list.contains(document.activeElement)) load();
  });
  // Marks are of use before the tab is opened.
  if (panel.hidden) load();
}
