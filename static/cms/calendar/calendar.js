// The calendar: moves entries by dragging, by arrow keys on the link of an entry, or by the form that the link opens.
// Without this file the link opens the form as a page.

import { announce, fetchJson, fetchPage, swap } from "../http.js";

const root = document.querySelector("[data-calendar]");
const dialog = document.querySelector("[data-move-dialog]");
const notice = document.querySelector("[data-move-notice]");
const undoButton = notice.querySelector("[data-undo]");
const words = root.dataset;
const DAY_MILLISECONDS = 86_400_000;
/** Days and hours by which a key moves the target: in a month up and down are weeks. */
const STEPS = {
  month: { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [-7, 0], ArrowDown: [7, 0] },
  week: { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] },
};

const slotOf = (element) => element.closest("[data-day]");
const entryOf = (element) => element.closest?.("[data-entry]");
const isWeek = () => root.querySelector(".calendar-week") !== null;

let isMoving = false;

/** Send a move. Returns the message of a refusal that the form can show, else an empty string. */
async function move(values) {
  if (isMoving) return "";
  isMoving = true;
  const body = new FormData();
  for (const [name, value] of Object.entries({ time_zone: words.zone, ...values })) body.set(name, value);
  try {
    const answer = await fetchJson(words.move, { body });
    dialog.close();
    await refresh();
    show(answer.message, values.isUndo ? null : answer.undo);
    return "";
  } catch (error) {
    const message = error.message || words.failed;
    if (error.status === 422 && dialog.open) return message;
    dialog.close();
    // Somebody else may have moved it: show where it is now.
    if ([404, 409].includes(error.status)) await refresh();
    show(message);
    return "";
  } finally {
    isMoving = false;
  }
}

async function refresh() {
  const page = await fetchPage(location.href).catch(() => null);
  if (!page) return;
  drop();
  swap(root, page.getElementById(root.id));
  // The entry may have left the days that are shown.
  if (document.activeElement === document.body) root.querySelector("h2").focus({ preventScroll: true });
}

/** Report a move or a problem, with a button that moves it back. */
function show(text, undo = null) {
  notice.querySelector("[data-text]").textContent = text;
  undoButton.hidden = !undo;
  undoButton.onclick = () => { hideNotice(); move({ ...undo, isUndo: true }); };
  notice.hidden = false;
  announce(text);
}

function hideNotice() {
  const hadFocus = notice.contains(document.activeElement);
  notice.hidden = true;
  if (hadFocus) root.querySelector("h2").focus({ preventScroll: true });
}
notice.querySelector("[data-close]").addEventListener("click", hideNotice);
notice.addEventListener("keydown", (event) => { if (event.key === "Escape") hideNotice(); });

function put(entry, slot) {
  const { day, hour = "" } = slot.dataset;
  if (slot !== slotOf(entry)) move({ entry: entry.dataset.entry, seen: entry.dataset.seen, day, hour });
}

// The target of a drag or of arrow keys

let target = null;

function aim(slot) {
  if (slot === target) return;
  target?.classList.remove("is-target");
  slot?.classList.add("is-target");
  target = slot;
}

/** Forget the drag and the target. */
function drop() {
  aim(null);
  dragged?.classList.remove("is-dragged");
  dragged = null;
  carried = null;
}

// Dragging

let dragged = null;

root.addEventListener("dragstart", (event) => {
  dragged = entryOf(event.target);
  if (!dragged) return;
  dragged.classList.add("is-dragged");
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", dragged.querySelector(".calendar-title").textContent);
});
root.addEventListener("dragover", (event) => {
  if (!dragged) return;
  const slot = slotOf(event.target);
  aim(slot);
  if (slot) event.preventDefault();
});
root.addEventListener("drop", (event) => {
  const [entry, slot] = [dragged, target];
  drop();
  if (!entry || !slot) return;
  event.preventDefault();
  put(entry, slot);
});
root.addEventListener("dragend", drop);

// Keyboard

let carried = null;

root.addEventListener("keydown", (event) => {
  const link = event.target.closest("[data-move-link]");
  if (!link || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const step = STEPS[isWeek() ? "week" : "month"][event.key];
  if (step) carry(entryOf(link), step);
  else if (event.key === "Escape" && target) { drop(); announce(words.saidCancel); }
  else if (event.key === "Enter" && target) { const slot = target; drop(); put(entryOf(link), slot); }
  else return;
  event.preventDefault();
  event.stopPropagation();
});
root.addEventListener("focusout", () => { if (carried) drop(); });

function carry(entry, [days, hours]) {
  const from = (carried === entry && target) || slotOf(entry);
  carried = entry;
  const day = new Date(Date.parse(`${from.dataset.day}T00:00Z`) + days * DAY_MILLISECONDS).toISOString().slice(0, 10);
  const hour = "hour" in from.dataset ? `[data-hour="${Number(from.dataset.hour) + hours}"]` : "";
  const slot = root.querySelector(`[data-day="${day}"]${hour}`);
  if (!slot) return announce(words.saidEdge);
  aim(slot);
  slot.scrollIntoView({ block: "nearest" });
  announce(words.saidTarget.replace("{place}", slot.dataset.place));
}

// The form

root.addEventListener("click", (event) => {
  const link = event.target.closest("[data-move-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link.href);
});

async function open(address) {
  let form;
  try {
    form = (await fetchPage(address)).getElementById("move-form");
  } catch (error) {
    if (error.status === 404) await refresh();
    return show(error.message || words.failed);
  }
  dialog.replaceChildren(form);
  form.addEventListener("click", (event) => {
    if (!event.target.closest("[data-cancel]")) return;
    event.preventDefault();
    dialog.close();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const message = await move(Object.fromEntries(new FormData(form)));
    const problem = form.querySelector("#move-problem");
    problem.textContent = message;
    problem.hidden = !message;
    form.querySelector("#move-at").setAttribute("aria-invalid", String(Boolean(message)));
  });
  dialog.showModal();
}
