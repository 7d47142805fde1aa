// Adds keyboard shortcuts, live counts and a preview to the review, which without scripts is a form of radio groups.

import { startSuggestedTimes } from "../fields/suggested_times.js";
import { Card, storeDecisions } from "./decisions.js";
import { say, startEditing } from "./edit.js";
import { startPane } from "./pane.js";
import { Publishing } from "./publishing.js";

const TYPED = "input:not([type=radio], [type=checkbox], [type=range]), textarea, select, [contenteditable]";
const WIDE = matchMedia("(min-width: 64rem)");
const root = document.querySelector("[data-review]");
if (root) start(root);
const schedule = document.querySelector("[data-review-schedule]");
if (schedule) startSuggestedTimes(schedule, schedule.querySelector("#schedule-at"));
// When everything is decided, clear the stored decisions, so that they are not applied to later changes.
for (const { dataset } of document.querySelectorAll("[data-decided]")) storeDecisions(dataset.decided).save([]);

function start(root) {
  // Its buttons stand in the header of the page, its fields in the bar and the cards.
  const form = document.getElementById("review-form");
  const cards = [...root.querySelectorAll("[data-change]")].map((element) => new Card(element));
  const byElement = new Map(cards.map((card) => [card.element, card]));
  const live = root.querySelector("[data-live]");
  const take = form?.querySelector("[data-take-button]");
  const reject = form?.querySelector("[data-reject-button]");
  const publishing = root.querySelector("[data-goes-live]") && new Publishing(root);
  const progress = root.querySelector("[data-progress]");
  const store = storeDecisions(root.dataset.key);
  const pane = startPane(root);
  const undo = [];
  const lastDecision = new Map();
  const announce = (text) => { live.textContent = text; };
  const count = (value) => cards.filter((card) => card.decision === value).length;
  const cardOf = (element) => byElement.get(element?.closest?.("[data-change]"));

  function show() {
    const accept = count("accept");
    const rejected = count("reject");
    const numbers = { accept, reject: rejected, leave: cards.length - accept - rejected };
    for (const [value, number] of Object.entries(numbers)) root.querySelector(`[data-count=${value}]`).textContent = number;
    for (const card of cards) card.show();
    progress.value = accept + rejected;
    progress.hidden = !(accept + rejected);
    if (take) {
      const both = rejected ? say("takeAlso", { count: accept, rejected }) : say("take", { count: accept });
      take.textContent = accept ? both : rejected ? say("take", { count: 0 }) : say("takeAll");
      // With only rejections there is nothing to accept; the reject button sends them.
      take.disabled = !accept && rejected > 0;
    }
    if (reject) reject.textContent = rejected ? say("reject", { count: rejected }) : say("rejectAll");
    publishing?.show(cards, numbers);
    return numbers;
  }

  function announceDecision(card, value) {
    const words = { accept: "accept", reject: "refuse", leave: "leave" }[value];
    announce(say(words, { label: card.label, left: say("left", { count: show().leave }) }));
    store.save(cards);
  }

  function decide(card, value, { remember = true } = {}) {
    if (!card || card.decision === value) return;
    const before = card.decision;
    card.put(value);
    if (card.decision !== value) return;
    if (remember) undo.push([[card, before]]);
    lastDecision.set(card, value);
    announceDecision(card, value);
  }

  const current = () => cardOf(document.activeElement);
  function move(step) {
    const from = cards.indexOf(current());
    const to = from < 0 ? (step > 0 ? 0 : cards.length - 1) : from + step;
    cards[Math.min(Math.max(to, 0), cards.length - 1)].focus();
  }

  // As in the inbox, a decision by key moves to the next change, but a rejection first asks for a reason.
  function decideHere(value) {
    const card = current();
    if (!card) return;
    decide(card, value);
    if (card.decision !== value) return;
    if (value !== "reject") return move(1);
    card.noteField?.focus();
  }

  function noteKey(event) {
    preventSubmit(event);
    const sends = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && !sends) move(1);
    if (event.key === "Escape") current().focus();
  }

  function acceptSafe() {
    const open = cards.filter((card) => card.decision === "leave");
    const safe = open.filter((card) => !card.isFlagged);
    // Record them as one step, so that undo reverts all of them.
    undo.push(safe.map((card) => [card, "leave"]));
    safe.forEach((card) => decide(card, "accept", { remember: false }));
    const skipped = open.filter((card) => card.isFlagged);
    const others = skipped.filter((card) => card.hasHands).length;
    const parts = [say("safe", { count: safe.length })];
    if (skipped.length > others) parts.push(say("skippedFacts", { count: skipped.length - others }));
    if (others) parts.push(say("skippedHands", { count: others }));
    notice(parts.join(" "), skipped, { canUndo: safe.length > 0 });
  }

  function takeBack() {
    const step = undo.pop() ?? [];
    if (!step.length) return announce(say("nothing"));
    for (const [card, value] of step) decide(card, value, { remember: false });
    const button = root.querySelector("[data-undo-safe]");
    // The notice about the accepted safe changes is no longer true.
    if (!button.hidden) root.querySelector("[data-restored]").hidden = true;
    button.hidden = true;
    if (step.length > 1) announce(say("undone", { count: step.length }));
    step[0][0].focus();
  }

  function press(card, selector) {
    card?.element.querySelector(selector)?.click();
  }

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    a: () => decideHere("accept"),
    x: () => decideHere("reject"),
    l: () => decideHere("leave"),
    e: () => press(current(), "[data-edit-link]"),
    c: () => press(current(), "[data-again]"),
    u: takeBack,
    A: acceptSafe,
    "[": () => pane.show("before"),
    "]": () => pane.show("after"),
  };

  function key(event) {
    if (document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && take && !event.target.closest?.("[data-card-edit]")) {
      event.preventDefault();
      if (count("accept")) form.requestSubmit(take);
      else announce(say("none"));
      return;
    }
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (!act || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.(TYPED)) return;
    event.preventDefault();
    act();
  }

  function notice(text, linkedCards, { canUndo = false } = {}) {
    const box = root.querySelector("[data-restored]");
    box.hidden = false;
    box.querySelector("[data-undo-safe]").hidden = !canUndo;
    box.querySelector("[data-text]").textContent = text;
    box.querySelector("[data-moved]").replaceChildren(...linkedCards.slice(0, 12).map((card) => {
      const link = document.createElement("a");
      link.href = `#${CSS.escape(card.element.id)}`;
      link.textContent = card.label;
      link.addEventListener("click", (event) => { event.preventDefault(); card.focus(); });
      return link;
    }));
    announce(text);
  }

  function restore() {
    // A refused form comes back with the latest decisions, which replace the stored ones.
    if ("sent" in root.dataset) return store.save(cards);
    const { total, count: restored, moved } = store.restore(cards);
    if (moved.length) notice(say("moved", { count: moved.length, total }), moved);
    else if (restored) announce(say("kept", { count: restored }));
    store.save(cards);
  }

  function changed(event) {
    const card = cardOf(event.target);
    if (!card || event.target.type !== "radio") return;
    if (card.passages.includes(event.target)) return announceDecision(card, event.target.value);
    for (const passage of card.passages) passage.checked = passage.value === "leave";
    undo.push([[card, lastDecision.get(card)]]);
    lastDecision.set(card, event.target.value);
    announceDecision(card, event.target.value);
  }

  function onReading(event) {
    const card = cardOf(event.target);
    if (!card) return;
    pane.at(card.module);
    if (event.type !== "focusin") return;
    for (const one of cards) one.line?.toggleAttribute("aria-current", false);
    card.line?.setAttribute("aria-current", "true");
    card.line?.scrollIntoView({ block: "nearest" });
  }

  function onJump(event) {
    const link = event.target.closest("[data-for]");
    if (!link) return;
    event.preventDefault();
    if (!WIDE.matches) root.querySelector("[data-rail]").open = false;
    cards.find((card) => card.line === link)?.focus();
  }

  restore();
  for (const card of cards) lastDecision.set(card, card.decision);
  root.addEventListener("change", changed);
  root.addEventListener("input", (event) => { if (event.target.closest(".reject-note")) store.save(cards); });
  for (const name of ["focusin", "mouseover"]) root.addEventListener(name, onReading);
  root.addEventListener("click", onJump);
  root.querySelector("#note")?.addEventListener("keydown", preventSubmit);
  for (const card of cards) card.noteField?.addEventListener("keydown", noteKey);
  root.querySelector("[data-accept-safe]")?.addEventListener("click", (event) => { event.preventDefault(); acceptSafe(); });
  root.querySelector("[data-undo-safe]").addEventListener("click", takeBack);
  document.addEventListener("keydown", key);
  form?.addEventListener("submit", () => store.sent());
  // A reply of an agent that was accepted replaces the proposal, so the cards are out of date.
  let isStaged = false;
  document.addEventListener("cms:staged", () => { isStaged = true; });
  // Close events do not bubble, so capture them.
  document.addEventListener("close", () => { if (isStaged) location.reload(); }, true);
  // When the user goes back, the browser restores the radio buttons without an event.
  window.addEventListener("pageshow", show);
  root.querySelector("[data-rail]").open = WIDE.matches;
  startEditing(root, announce);
  for (const diff of root.querySelectorAll("[data-two-images]")) createSlider(diff);
  document.getElementById("problem")?.scrollIntoView({ block: "start" });
  byElement.get(document.getElementById(decodeURIComponent(location.hash.slice(1))))?.focus();
  show();
}

// Prevent Enter in a note from pressing the first button; approving must be deliberate.
function preventSubmit(event) {
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) event.preventDefault();
}

/** Replace two pictures with one on top of the other, and a slider between them. */
function createSlider(diff) {
  const [before, after] = diff.querySelectorAll("figure");
  const captions = [before, after].map((one) => one.querySelector("figcaption"));
  const images = [before, after].map((one) => one.querySelector("img"));
  if (images.some((one) => !one)) return;
  const stage = make("div", "slider-stage", ...images);
  const range = make("input", "");
  Object.assign(range, { type: "range", min: "0", max: "100", value: "50" });
  range.setAttribute("aria-label", diff.dataset.sliderLabel);
  // The old picture is left of the line, so moving the slider to the right reveals more of it.
  range.addEventListener("input", () => stage.style.setProperty("--at", `${range.value}%`));
  diff.replaceChildren(make("div", "slider", stage, range, make("div", "slider-captions", ...captions)));
}

function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}
