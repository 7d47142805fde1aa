// Shows other users' changes on an open page. Lists are refreshed in place; on a page where the user may have typed, a
// notice names the user who changed the post. Without websockets or this file, pages are not updated.

import { announce, fetchPage, hasWebsockets, openWebsocket, swap } from "../http.js";

const meta = document.querySelector('meta[name="live"]');
const SILENCE_MILLISECONDS = 60_000; // the server sends a ping every 20 seconds
const HIDDEN_MILLISECONDS = 5 * 60_000;
const MAX_TRIES = 3; // for a websocket that never opened
const CLOSED_FOR_GOOD = [4400, 4401, 4429];

const concerns = (names, event) => names.split(" ").some((name) => event.startsWith(name));
if (meta) start();

function start() {
  const seenIds = new Set();
  let wasOpen = false;
  const { changed, away } = watch();
  let after = meta.content;
  let socket;
  let failures = 0;
  let isOver = false;
  let silenceTimer;
  let reconnectTimer;
  let sleepTimer;

  function open() {
    clearTimeout(reconnectTimer);
    if (isOver || socket) return;
    const current = openWebsocket("/ws/events/", { after, ...(meta.dataset.post && { post: meta.dataset.post }) });
    socket = current;
    restartSilenceTimer(current);
    current.addEventListener("message", ({ data }) => {
      restartSilenceTimer(current);
      handleMessage(JSON.parse(data));
    });
    current.addEventListener("close", ({ code }) => { if (socket === current) closed(code); });
  }

  // The attribute is for other scripts, styles and tests.
  const show = (isConnected) => document.documentElement.toggleAttribute("data-connected", isConnected);

  function restartSilenceTimer(current) {
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(() => { current.close(); if (socket === current) closed(0); }, SILENCE_MILLISECONDS);
  }

  function closed(code) {
    clearTimeout(silenceTimer);
    socket = undefined;
    show(false);
    failures += 1;
    isOver = CLOSED_FOR_GOOD.includes(code) || (!wasOpen && failures >= MAX_TRIES);
    // Randomize the delay, so that not all pages reconnect to a restarted server at the same time.
    const wait = Math.min(60_000, 1000 * 2 ** failures) * (0.5 + Math.random());
    if (!isOver && !document.hidden) reconnectTimer = setTimeout(open, wait);
  }

  function handleMessage(message) {
    if (message.hello) { failures = 0; wasOpen = true; show(true); }
    if (message.hello || message.ping || message.reload) after = message.last ?? after;
    if (message.reload) return away();
    if (message.editing) return document.dispatchEvent(new CustomEvent("live:editing", { detail: message.editing }));
    if (!message.event || seenIds.has(message.id)) return;
    if (seenIds.size > 1000) seenIds.clear();
    seenIds.add(message.id);
    after = message.id;
    document.dispatchEvent(new CustomEvent("live", { detail: message }));
    changed(message);
  }

  document.addEventListener("visibilitychange", () => {
    clearTimeout(sleepTimer);
    if (!document.hidden) return open();
    sleepTimer = setTimeout(() => {
      const current = socket;
      socket = undefined; // so that the close handler does not reconnect
      clearTimeout(silenceTimer);
      current?.close();
    }, HIDDEN_MILLISECONDS);
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) open(); });

  hasWebsockets().then((has) => { if (has) open(); });
}

// Return the handlers for a change, and for a reconnect after too long an absence to get the changes.
function watch() {
  const notice = document.querySelector("[data-live-notice]");
  const regions = [...document.querySelectorAll("[data-live-list]")];
  announce(""); // screen readers announce a live region only if it exists before its text
  let planned;
  let announcement = "";
  let repeatAfter = 0; // milliseconds until one more refresh, for changes with later effects that cause no event

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
      if (replaced.length) announce(announcement);
      if (repeatAfter) plan(repeatAfter);
      repeatAfter = 0;
    } catch {
      // The page remains unchanged; the next event tries again.
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
    repeatAfter = Math.max(...concerned.map((region) => Number(region.dataset.liveAgain ?? 0)));
    announcement = `${message.by}: ${message.label}`;
    // The delay combines events that arrive together, and spreads the requests of all open pages.
    plan(300 + Math.random() * 700);
  }

  function away() {
    if (notice) show("away");
    if (regions.length) plan(Math.random() * 3000);
  }

  return { changed, away };
}
