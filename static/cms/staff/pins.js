// The link to the editor, notes and comments on a page of the site, for logged-in staff. staff.js loads this file;
// visitors never load it. A note belongs to an element: its position is stored in pixels and limited to the element's
// box if the layout has changed. All come from requests of their own, so none is ever part of a page.

import { fetchJson } from "../http.js";
import { selectorOf } from "../track.js";
import { button, make } from "./elements.js";
import { editLink } from "./edit_link.js";
import { PageComments, WORDS as COMMENT_WORDS } from "./page_comments.js";

const WORDS = {
  en: {
    title: "Comments", add: "Add a note", close: "Close", none: "No comments on this page yet.", where: "Show on the page",
    resolve: "Resolve", reopen: "Reopen", resolved: "resolved", pending: "open", gone: "its element is no longer on the page",
    category: "Category", text: "Note", save: "Save", cancel: "Cancel", note: "Note", saved: "The note is saved.",
    comment: "Comment", copy: "Copy", bug: "Bug", feature: "Feature", failed: "That did not work. Try again.",
    more: "Older notes are in the admin.", editPage: "Edit this page",
    aim: "Click where it belongs. Or choose an element with the arrow keys, Enter to select, Escape to leave.",
    ...COMMENT_WORDS.en,
  },
  de: {
    title: "Kommentare", add: "Notiz setzen", close: "Schließen", none: "Noch keine Kommentare auf dieser Seite.",
    where: "Auf der Seite zeigen", resolve: "Erledigt", reopen: "Wieder öffnen", resolved: "erledigt", pending: "offen",
    gone: "die Stelle ist gerade nicht auf der Seite", category: "Art", text: "Notiz", save: "Speichern",
    cancel: "Abbrechen", note: "Notiz", saved: "Die Notiz ist gespeichert.", comment: "Kommentar", copy: "Text",
    bug: "Fehler", feature: "Wunsch", failed: "Das hat nicht geklappt. Bitte noch einmal versuchen.",
    more: "Ältere Notizen stehen in der Verwaltung.", editPage: "Diese Seite bearbeiten",
    aim: "Klicken Sie auf die Stelle. Pfeiltasten wählen ein Element, Eingabe nimmt es, Escape bricht ab.",
    ...COMMENT_WORDS.de,
  },
};
const CATEGORIES = ["comment", "copy", "bug", "feature"];
const TARGETS = ":is(h1, h2, h3, h4, p, li, img, a, button, summary, blockquote, figure, td, th, input, textarea)";
const language = navigator.language.toLowerCase().startsWith("de") ? "de" : "en";
const say = WORDS[language];
const postId = document.body.dataset.postId;

export async function start(style) {
  const me = await fetchJson("/api/auth/me");
  const hasPermission = (right) => me.permissions.includes(right);
  const none = { data: [], meta: { total: 0 } };
  const [page, comments, link] = await Promise.all([
    hasPermission("feedback.view") ? fetchJson(`/api/feedbacks?postId=${encodeURIComponent(postId)}&per_page=100`) : none,
    PageComments.load(postId, { say, language, mayRead: hasPermission("comments.view"), mayWrite: hasPermission("comments.write") }),
    editLink(postId, say.editPage),
  ]);
  const hasNotes = hasPermission("feedback.view") || comments;
  if (!hasNotes && !link) return;
  const notes = page.data.reverse();
  const { root, announce } = await frame(style);
  comments?.attach({ root, announce, onChange: (focused) => show(focused) });
  const pins = root.appendChild(make("div", { class: "pins" }));
  const bar = root.appendChild(make("div", { class: "bar" }, [link]));
  if (!hasNotes) return;
  const panel = root.appendChild(make("section", { class: "panel", id: "panel", "aria-label": say.title, hidden: "" }));
  const toggle = bar.appendChild(make("button", { class: "toggle", type: "button", "aria-controls": "panel" }));
  toggle.addEventListener("click", () => open(panel.hidden));
  panel.addEventListener("keydown", (event) => { if (event.key === "Escape") open(false); });
  new ResizeObserver(draw).observe(document.body);
  addEventListener("resize", draw);
  show();
  if (location.hash.startsWith("#note-")) pins.querySelector(`[data-pin="${CSS.escape(location.hash.slice(6))}"]`)?.focus();

  function open(isOpen) {
    panel.hidden = !isOpen;
    show();
    (isOpen ? panel.querySelector("button") : toggle).focus();
  }

  function show(focused) {
    const waiting = notes.filter((note) => note.status === "pending").length + (comments?.openCount ?? 0);
    toggle.textContent = `${say.title} (${waiting})`;
    toggle.setAttribute("aria-expanded", String(!panel.hidden));
    const ofNotes = notes.map((note, place) => ({ at: note.createdAt, element: row(note, place + 1) }));
    const rows = [...ofNotes, ...(comments?.rows() ?? [])].sort((one, other) => (one.at < other.at ? 1 : -1)).map(({ element }) => element);
    const list = rows.length ? make("ol", {}, rows) : make("p", {}, [say.none]);
    const buttons = [
      hasPermission("feedback.create") && button(say.add, add),
      comments?.mayWrite && button(say.addComment, addComment),
      button(say.close, () => open(false)),
    ];
    const more = (page.meta.total > page.data.length || comments?.hasMore) && make("p", { class: "quiet" }, [say.more]);
    panel.replaceChildren(make("h2", {}, [say.title]), make("p", { class: "buttons" }, buttons), list, more || "");
    draw();
    if (focused) panel.querySelector(`[data-note="${focused}"] button:last-of-type`)?.focus();
  }

  function row(note, number) {
    const isOpen = note.status === "pending";
    const at = isOpen && placeOf(note);
    const when = new Date(note.createdAt).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
    const facts = [number, say[note.category], say[note.status], note.author?.username, when, isOpen && !at && say.gone];
    return make("li", { "data-note": note.id, class: note.status }, [
      make("p", { class: "quiet" }, [facts.filter(Boolean).join(" · ")]),
      make("p", { class: "text" }, [note.content]),
      make("p", { class: "buttons" }, [
        at && button(say.where, () => pins.querySelector(`[data-pin="${note.id}"]`)?.focus()),
        hasPermission("feedback.resolve") && button(isOpen ? say.resolve : say.reopen, () => settle(note)),
      ]),
    ]);
  }

  async function settle(note) {
    const status = note.status === "pending" ? "resolved" : "pending";
    try {
      Object.assign(note, await fetchJson(`/api/feedbacks/${note.id}`, { method: "PATCH", body: { status } }));
      announce(`${say.note}: ${say[note.status]}`);
    } catch {
      announce(say.failed);
    }
    show(note.id);
  }

  function draw() {
    const drawn = notes.map((note, place) => {
      const at = note.status === "pending" && placeOf(note);
      return at && pinAt(at, note, place + 1, () => { open(true); show(note.id); });
    });
    const focused = root.activeElement?.dataset?.pin;
    pins.replaceChildren(...drawn.filter(Boolean));
    if (focused) pins.querySelector(`[data-pin="${focused}"]`)?.focus({ preventScroll: true });
  }

  /** Let the user choose an element, and call `save` with its place. */
  async function place(save) {
    panel.hidden = true;
    const spot = await aim(root, announce);
    if (spot) await save(spot);
    panel.hidden = false;
    show();
    panel.querySelector("button").focus();
  }

  function add() {
    return place(async ({ element, ...spot }) => {
      const send = (given) => fetchJson("/api/feedbacks", { body: { postId, ...spot, ...given } });
      const note = await write(root, { title: say.add, label: say.text, choices: CATEGORIES }, send);
      if (!note) return;
      notes.push(note);
      announce(say.saved);
    });
  }

  function addComment() {
    const ask = (send, help) => write(root, { title: say.addComment, label: say.comment, help }, ({ content }) => send(content));
    return place(({ element }) => comments.add(element, ask));
  }
}

// Return the position of a note: the stored one, moved into the current box of its element. Null if there is none.
function placeOf(note) {
  let element = null;
  try {
    element = note.elementSelector ? document.querySelector(note.elementSelector) : document.body;
  } catch {
    return null; // the stored selector is invalid
  }
  const box = element?.getBoundingClientRect();
  if (note.x === null || note.y === null || !box || (!box.width && !box.height)) return null;
  const within = (value, from, size) => Math.min(from + size, Math.max(from, value));
  const x = within(note.x, box.left + scrollX, box.width);
  return { x: within(x, 18, document.documentElement.clientWidth - 36), y: within(note.y, box.top + scrollY, box.height) };
}

function pinAt(at, note, number, act) {
  const pin = make("button", { class: "pin", type: "button", "data-pin": note.id }, [String(number)]);
  pin.setAttribute("aria-label", `${say.note} ${number}: ${note.content.slice(0, 80)}`);
  pin.style.left = `${at.x}px`;
  pin.style.top = `${at.y}px`;
  pin.addEventListener("click", act);
  return pin;
}

// Let the user choose a position by pointer or keyboard. Resolves to null if they cancel.
function aim(root, announce) {
  const found = [...document.querySelectorAll(`:is(header, main, footer) ${TARGETS}`)];
  const targets = found.filter((one) => one.getClientRects().length);
  const box = make("div", { class: "box", hidden: "" });
  const layer = make("div", { class: "aim", tabindex: "0", role: "application", "aria-label": say.aim });
  layer.append(make("p", { class: "hint" }, [say.aim]), box);
  root.append(layer);
  layer.focus();
  let place = -1;

  function point(element) {
    const { left, top, width, height } = element.getBoundingClientRect();
    box.hidden = false;
    Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  }

  function step(by) {
    if (!targets.length) return;
    place = (place + by + targets.length) % targets.length;
    targets[place].scrollIntoView({ block: "nearest" });
    point(targets[place]);
    announce(`${place + 1}/${targets.length}: ${(targets[place].innerText || targets[place].alt || "").slice(0, 80)}`);
  }

  return new Promise((resolve) => {
    const done = (spot) => { layer.remove(); resolve(spot); };
    const under = ({ clientX, clientY }) =>
      document.elementsFromPoint(clientX, clientY).find((one) => one !== root.host) ?? document.body;
    const spotOf = (element, x, y) => ({ element, x: Math.max(0, x), y: Math.max(0, y), elementSelector: selectorOf(element) });
    layer.addEventListener("pointermove", (event) => point(under(event)));
    layer.addEventListener("click", (event) => done(spotOf(under(event), event.pageX, event.pageY)));
    layer.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Tab: event.shiftKey ? -1 : 1 }[event.key];
      if (by) step(by);
      else if (event.key === "Escape") done(null);
      else if (event.key === "Enter" && place >= 0) {
        const { left, top, width, height } = targets[place].getBoundingClientRect();
        const inside = (size) => Math.min(20, size / 2);
        done(spotOf(targets[place], left + scrollX + inside(width), top + scrollY + inside(height)));
      } else return;
      event.preventDefault();
    });
  });
}

// Show the form of a note or comment. Resolves to the result of `save`, or null if the user cancels.
function write(root, { title, label, help = "", choices = [] }, save) {
  const options = choices.map((name) => make("option", { value: name }, [say[name]]));
  const problem = make("p", { role: "alert", class: "problem" });
  const form = make("form", { method: "dialog" }, [
    make("h2", { id: "write" }, [title]),
    ...(options.length ? [make("label", { for: "category" }, [say.category]), make("select", { id: "category", name: "category" }, options)] : []),
    make("label", { for: "text" }, [label]),
    make("textarea", { id: "text", name: "content", rows: "5", maxlength: "5000", required: "", autofocus: "", "aria-describedby": "help" }),
    make("p", { id: "help", class: "quiet" }, [help]),
    problem,
    make("p", { class: "buttons" }, [make("button", { class: "main" }, [say.save]), button(say.cancel, () => dialog.close())]),
  ]);
  const dialog = root.appendChild(make("dialog", { "aria-labelledby": "write" }, [form]));
  dialog.showModal();
  return new Promise((resolve) => {
    let result = null;
    dialog.addEventListener("close", () => { dialog.remove(); resolve(result); });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      problem.textContent = "";
      try {
        result = await save(Object.fromEntries(new FormData(form)));
        dialog.close();
      } catch (error) {
        problem.textContent = error.message || say.failed;
      }
    });
  });
}

// Create a shadow root, so that the styles of the site and of the notes do not affect each other.
async function frame(style) {
  const host = make("div", { id: "cms-pins", lang: language });
  const root = host.attachShadow({ mode: "open" });
  const sheet = make("link", { rel: "stylesheet", href: style });
  const status = make("p", { class: "hidden", role: "status" });
  root.append(sheet, status);
  const loaded = new Promise((resolve) => { sheet.onload = sheet.onerror = resolve; });
  document.body.append(host);
  await loaded;
  return { root, announce: (text) => { status.textContent = text; } };
}
