// Updates parts of a page that change on the server, such as the progress of a batch: while one of them contains
// [data-busy], all [data-follow] are fetched and swapped in place, and new sentences in [data-say] are announced. A
// region with data-socket is notified of changes over a websocket. Without this file the page reloads itself.

import { announce, fetchPage, hasWebsockets, openWebsocket, swap } from "../http.js";

const POLL_MILLISECONDS = 2000;
const POLL_BESIDE_SOCKET_MILLISECONDS = 20_000;
const LEAST_PAUSE_MILLISECONDS = 1000; // between two requests, however many changes there are

const regions = [...document.querySelectorAll("[data-follow]")];
const sockets = [];
let pause = POLL_MILLISECONDS;
let requestedAt = Date.now();
let isRequesting = false;
let timer;

const isBusy = () => regions.some((region) => region.querySelector("[data-busy]"));
const sentences = () => regions.flatMap((region) => [...region.querySelectorAll("[data-say]")].map((one) => one.textContent.trim()));

function plan(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(refresh, milliseconds);
  if (!isBusy()) for (const socket of sockets) socket.close();
}

async function refresh() {
  if (isRequesting) return;
  if (document.hidden || !isBusy()) {
    plan(POLL_MILLISECONDS);
    return;
  }
  isRequesting = true;
  requestedAt = Date.now();
  try {
    const page = await fetchPage(location.href);
    const before = sentences();
    for (const region of regions) swap(region, page.getElementById(region.id));
    const news = sentences().filter((text) => !before.includes(text));
    if (news.length) announce(news.join(" "));
  } catch {
    // The page remains unchanged; the next request tries again.
  } finally {
    isRequesting = false;
  }
  plan(pause);
}

function listen(region) {
  const socket = openWebsocket(region.dataset.socket);
  sockets.push(socket);
  socket.addEventListener("open", () => { pause = POLL_BESIDE_SOCKET_MILLISECONDS; });
  socket.addEventListener("message", () => plan(Math.max(0, requestedAt + LEAST_PAUSE_MILLISECONDS - Date.now())));
  // A broken socket is not reopened; polling continues.
  socket.addEventListener("close", () => { pause = POLL_MILLISECONDS; plan(pause); });
}

if (regions.length) {
  announce("");
  plan(pause);
  const withSocket = regions.filter((region) => region.dataset.socket);
  if (withSocket.length && isBusy()) hasWebsockets().then((has) => { if (has) withSocket.forEach(listen); });
}
