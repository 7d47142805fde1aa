// Shows on an open page what others did meanwhile. Lists are fetched again in place; where somebody may have typed, a
// notice says who changed the post. Without websockets, and without this file, pages work as they are.

import { announce, fetchPage, hasWebsockets, openWebsocket, swap } from "../http.js";

const meta = document.querySelector('meta[name="live"]');
const SILENCE_MILLISECONDS = 60_000; // the server says something every 20 seconds
const HIDDEN_MILLISECONDS = 5 * 60_000;
const MAX_TRIES = 3; // of a websocket that never opened: there is none
const CLOSED_FOR_GOOD = [4400, 4401, 4429];

const concerns = (names, event) => names.split(" ").some((name) => event.startsWith(name));
if (meta) start();

function start() {
  const heard = new Set();
  let wasOpen = false;
  const { changed, away } = watch();
  let after = meta.content;
  let socket;
  let failures = 0;
  let isOver = false;
  let silence;
  let again;
  let sleep;

  function open() {
    clearTimeout(again);
    if (isOver || socket) return;
    const mine = openWebsocket("/ws/events/", { after, ...(meta.dataset.post && { post: meta.dataset.post }) });
    socket = mine;
    listenFor(mine);
    mine.addEventListener("message", ({ data }) => { listenFor(mine); take(JSON.parse(data)); });
    mine.addEventListener("close", ({ code }) => { if (socket === mine) closed(code); });
  }

  // For whoever looks from outside, like styles and tests.
  const show = (isConnected) => document.documentElement.toggleAttribute("data-connected", isConnected);

  function listenFor(mine) {
    clearTimeout(silence);
    silence = setTimeout(() => { mine.close(); if (socket === mine) closed(0); }, SILENCE_MILLISECONDS);
  }

  function closed(code) {
    clearTimeout(silence);
    socket = undefined;
    show(false);
    failures += 1;
    isOver = CLOSED_FOR_GOOD.includes(code) || (!wasOpen && failures >= MAX_TRIES);
    // With chance in it: the pages of a server that comes back do not all come at once.
    const wait = Math.min(60_000, 1000 * 2 ** failures) * (0.5 + Math.random());
    if (!isOver && !document.hidden) again = setTimeout(open, wait);
  }

  function take(message) {
    if (message.hello) { failures = 0; wasOpen = true; show(true); }
    if (message.hello || message.ping || message.reload) after = message.last ?? after;
    if (message.reload) return away();
    if (message.editing) return document.dispatchEvent(new CustomEvent("live:editing", { detail: message.editing }));
    if (!message.event || heard.has(message.id)) return;
    if (heard.size > 1000) heard.clear();
    heard.add(message.id);
    after = message.id;
    document.dispatchEvent(new CustomEvent("live", { detail: message }));
    changed(message);
  }

  document.addEventListener("visibilitychange", () => {
    clearTimeout(sleep);
    if (!document.hidden) return open();
    sleep = setTimeout(() => { const mine = socket; socket = undefined; clearTimeout(silence); mine?.close(); }, HIDDEN_MILLISECONDS);
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) open(); });

  hasWebsockets().then((has) => { if (has) open(); });
}

// What a page does when something changed, and when it was away for too long to say what.
function watch() {
  const notice = document.querySelector("[data-live-notice]");
  const regions = [...document.querySelectorAll("[data-live-list]")];
  announce(""); // a live region is read out where it was there before its text
  let planned;
  let words = "";
  let once = 0; // more, after so many milliseconds: where what happened has consequences that nobody is told of

  const isBusy = () =>
    regions.some((region) => region.querySelector("input:focus, textarea:focus, select:focus, :checked:not(option)"));

  function plan(wait) {
    planned ??= setTimeout(refresh, wait);
  }

  async function refresh() {
    planned = undefined;
    if (document.hidden) return document.addEventListener("visibilitychange", () => plan(0), { once: true });
    if (isBusy()) return plan(3000);
    try {
      const fresh = await fetchPage(location.href);
      if (isBusy()) return plan(3000);
      const replaced = regions.filter((region) => swap(region, fresh.getElementById(region.id)));
      if (replaced.length) announce(words);
      if (once) plan(once);
      once = 0;
    } catch {
      // The page shows what it showed; the next event tries again.
    }
  }

  function show(name, message) {
    const shown = notice.querySelector(".notice");
    const who = message?.by ?? "";
    if (shown?.dataset.who === who) return;
    shown?.remove();
    const bar = notice.querySelector(`template[data-${name}]`).content.firstElementChild.cloneNode(true);
    bar.dataset.who = who;
    for (const place of bar.querySelectorAll("[data-by]")) place.textContent = who;
    for (const place of bar.querySelectorAll("[data-label]")) place.textContent = message.label;
    notice.append(bar);
  }

  function changed(message) {
    if (notice && !message.mine && concerns(notice.dataset.liveNotice, message.event)) show("changed", message);
    const concerned = regions.filter((region) => concerns(region.dataset.liveList, message.event));
    if (!concerned.length) return;
    once = Math.max(...concerned.map((region) => Number(region.dataset.liveAgain ?? 0)));
    words = `${message.by}: ${message.label}`;
    // Not all pages at once, and once for what comes together.
    plan(300 + Math.random() * 700);
  }

  function away() {
    if (notice) show("away");
    if (regions.length) plan(Math.random() * 3000);
  }

  return { changed, away };
}
