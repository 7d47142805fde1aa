// Comments beside the form of a post: the threads in their tab, marks beside fields and in rich text, and the field and
// the selected words that a new comment is about. Without scripts the tab links to a page that does the same.

import { fetchPage, watchFocus } from "../http.js";
import "./mentions.js";

const MAX_QUOTE = 1000;
const NOWHERE = { path: "", quote: "", prefix: "", suffix: "" };

export function startComments(form, rail) {
  const box = document.querySelector("[data-comments]");
  if (!box) return;
  const panel = box.closest("[data-rail-panel]");
  const list = box.querySelector("[data-comments-list]");
  const failed = box.querySelector("[data-comments-failed]");
  let address = box.dataset.comments;
  let place = NOWHERE;
  let marks = [];
  let loading = Promise.resolve();
  let requests = 0;

  /** Load threads, or send a form and show its answer. */
  function load(target = address, body) {
    loading = swap(target, body, () => false);
    return loading;
  }

  /** Load threads that nobody asked for. Text that is being typed stays; the next answer brings the rest. */
  function refresh() {
    loading = swap(address, undefined, isBusy);
    return loading;
  }

  async function swap(target, body, isInTheWay) {
    requests += 1;
    const request = requests;
    box.setAttribute("aria-busy", "true");
    try {
      const page = await fetchPage(target, body && { body });
      // A later request has the later threads.
      if (request !== requests) return;
      if (isInTheWay()) {
        box.removeAttribute("aria-busy");
        return;
      }
      if (!body) address = target;
      list.replaceChildren(...page.body.childNodes);
      failed.hidden = true;
      marks = JSON.parse(list.querySelector("[data-comment-marks]")?.dataset.commentMarks ?? "[]");
      showMarks();
      showPassages();
      showPlace();
    } catch {
      if (request !== requests) return;
      failed.hidden = false;
    }
    box.removeAttribute("aria-busy");
  }

  /** Show the number of open threads beside each field, and at the head of each module. */
  function showMarks() {
    for (const mark of form.querySelectorAll("[data-comment-mark]")) mark.remove();
    const byPlace = new Map();
    for (const { id, path } of marks) {
      const module = moduleOf(path)?.querySelector(":scope > details > summary h3");
      for (const label of new Set([labelOf(path), module])) {
        if (label) byPlace.set(label, [...(byPlace.get(label) ?? []), id]);
      }
    }
    for (const [label, ids] of byPlace) {
      // The head of a module is a button itself, so its mark is only a number there.
      const isInHead = label.matches("summary *");
      const mark = document.createElement(isInHead ? "span" : "button");
      if (!isInHead) mark.type = "button";
      mark.className = "comment-mark";
      mark.dataset.commentMark = ids[0];
      mark.textContent = String(ids.length);
      const words = ids.length === 1 ? box.dataset.markOne : box.dataset.markMany.replace("{n}", ids.length);
      if (isInHead) mark.textContent = words;
      else mark.setAttribute("aria-label", words);
      mark.title = words;
      label.after(mark);
    }
  }

  /** Mark the passages in rich text. Their fields keep the marks at their words while somebody types. */
  function showPassages() {
    const passages = new Map();
    for (const { path, ...passage } of marks) {
      if (passage.quote) passages.set(path, [...(passages.get(path) ?? []), passage]);
    }
    document.dispatchEvent(new CustomEvent("cms:passages", { detail: { passages } }));
  }

  const moduleOf = (path) => {
    const [kind, id] = path.split(".");
    return kind === "modules" && id ? form.querySelector(`[data-module="${CSS.escape(id)}"]`) : null;
  };

  /** Return the field of a path, or the nearest one that it is in. */
  function fieldOf(path) {
    for (let at = path; at.split(".").length > 1; at = at.slice(0, at.lastIndexOf("."))) {
      const name = CSS.escape(at);
      const found = form.querySelector(`[data-field="${name}"], [data-repeater="${name}"]`);
      if (found) return found;
    }
    return null;
  }

  const labelOf = (path) => fieldOf(path)?.querySelector("label, legend");

  /** Fill in the field and the words that the user marked last. */
  function showPlace() {
    const choice = list.querySelector("[data-comment-new] [name=path]");
    if (!choice || !place.path) return;
    // A field in a list belongs to the property that has an option.
    const option = [...choice.options].find(({ value }) => value && (place.path === value || place.path.startsWith(`${value}.`)));
    if (!option) return;
    choice.value = option.value;
    showQuote(place);
  }

  function showQuote({ quote, prefix, suffix }) {
    const passage = list.querySelector("[data-comment-passage]");
    passage.querySelector("[data-quote-shown]").textContent = quote;
    for (const [name, value] of Object.entries({ quote, prefix, suffix })) passage.querySelector(`[name=${name}]`).value = value;
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

  const isWriting = () => Boolean(list.querySelector("[data-comment-new] textarea")?.value);

  async function openThread(id) {
    rail.reveal(box);
    await loading;
    const find = () => document.getElementById(`comment-${id}`);
    // It is not there while resolved threads are listed.
    if (!find()) await load(box.dataset.comments);
    find()?.scrollIntoView({ block: "nearest" });
    find()?.focus({ preventScroll: true });
  }

  document.addEventListener("selectionchange", () => {
    const { activeElement: active } = document;
    const field = form.contains(active) && active.closest("[data-field]");
    if (!field) return;
    const quote = selectedIn(field).trim();
    if (place.path === field.dataset.field && place.quote === quote) return; // with its surroundings, maybe
    place = { ...NOWHERE, path: field.dataset.field, quote: quote.length <= MAX_QUOTE ? quote : "" };
    if (!panel.hidden && !isWriting()) showPlace();
  });
  form.addEventListener("cms:comment", async ({ target, detail }) => {
    const quote = detail.quote.length <= MAX_QUOTE ? detail.quote : "";
    place = { ...detail, path: target.closest("[data-field]").dataset.field, quote };
    rail.reveal(box);
    await loading;
    if (!list.querySelector("[data-comment-new]")) await load();
    showPlace();
    list.querySelector("[data-comment-new] textarea")?.focus();
  });
  form.addEventListener("cms:open-thread", ({ detail }) => openThread(detail.id));

  panel.addEventListener("cms:panel", ({ detail }) => { if (detail.isOpen) refresh(); });
  form.addEventListener("click", (event) => {
    const mark = event.target.closest("[data-comment-mark]");
    if (!mark) return;
    event.preventDefault(); // the head of a module would open or close
    openThread(mark.dataset.commentMark);
  });
  list.addEventListener("click", (event) => {
    const link = event.target.closest("[data-comments-show]");
    if (link) {
      event.preventDefault();
      load(link.href);
      return;
    }
    if (event.target.closest("[data-quote-drop]")) showQuote(NOWHERE);
    const go = event.target.closest("[data-comment-go]");
    const module = go && moduleOf(go.dataset.commentGo);
    if (!go || !(module || fieldOf(go.dataset.commentGo))) return;
    event.preventDefault();
    if (module) module.querySelector(":scope > details").open = true;
    const field = fieldOf(go.dataset.commentGo) ?? module;
    rail.reveal(field);
    const id = go.closest("[data-thread]").id.slice("comment-".length);
    // Cancelled by the field that has the passage and selects it.
    if (!document.dispatchEvent(new CustomEvent("cms:show-passage", { cancelable: true, detail: { id } }))) return;
    field.scrollIntoView({ block: "center" });
    field.querySelector("input:not([type=hidden]), textarea, select, [contenteditable=true], summary")?.focus({ preventScroll: true });
  });
  list.addEventListener("submit", async (event) => {
    event.preventDefault();
    const isFocusFree = watchFocus();
    const isNew = event.target.matches("[data-comment-new]");
    if (isNew) place = NOWHERE;
    await load(event.target.action, new FormData(event.target, event.submitter));
    if (isNew && isFocusFree()) list.querySelector("[data-comment-new] textarea")?.focus({ preventScroll: true });
  });
  const isBusy = () => [...list.querySelectorAll("textarea")].some(({ value }) => value) || list.contains(document.activeElement);
  // What others write.
  document.addEventListener("live", ({ detail }) => {
    const isOfPost = detail.postId === form.dataset.post;
    if (isOfPost && detail.event?.startsWith("comment.") && !detail.mine && !isBusy()) refresh();
  });
  // Passages have their new words after a save.
  document.addEventListener("cms:saved", () => { if (!isBusy()) refresh(); });
  // Fields of a closed module are loaded when it is opened.
  document.addEventListener("cms:added", ({ detail }) => { if (form.contains(detail?.root)) showMarks(); });
  // Marks are of use before the tab is opened.
  if (panel.hidden) refresh();
}
