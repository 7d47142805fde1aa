// A part of a page that goes on by itself, like a batch: read again in place each time that there is something new.
// Over a websocket where there are any, else every few seconds. Without this file the page reads itself again.

import { areThere } from "./progress.js";

const OFTEN = 3000;
const SELDOM = 20_000; // beside a line that tells by itself
const AT_ONCE = 1000; // between two readings, however much happens

for (const region of document.querySelectorAll("[data-follow]")) follow(region);

function follow(region) {
  let wait = OFTEN;
  let readAt = Date.now();
  let isReading = false;
  let next;
  let line;

  const isBusy = () => Boolean(region.querySelector("[data-busy]"));

  function plan(milliseconds) {
    clearTimeout(next);
    next = setTimeout(again, milliseconds);
    if (!isBusy()) line?.close();
  }

  async function again() {
    if (isReading) return;
    if (document.hidden || !isBusy()) return plan(OFTEN);
    isReading = true;
    readAt = Date.now();
    try {
      const answer = await fetch(location.href, { headers: { "X-Live": "1" } });
      if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(region.id);
      if (fresh) replace(region, fresh);
    } catch {
      // The page shows what it showed; the next time it asks again.
    } finally {
      isReading = false;
    }
    plan(wait);
  }

  function listen() {
    const address = new URL(region.dataset.socket, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    line = new WebSocket(address);
    line.addEventListener("open", () => { wait = SELDOM; });
    line.addEventListener("message", () => plan(Math.max(0, readAt + AT_ONCE - Date.now())));
    // A line that breaks is not mended: asking goes on where it ended.
    line.addEventListener("close", () => { wait = OFTEN; plan(wait); });
  }

  plan(wait);
  if (region.dataset.socket && isBusy()) areThere().then((are) => { if (are) listen(); });
}

function replace(region, fresh) {
  const before = sayings(region);
  const focus = region.contains(document.activeElement) ? place(document.activeElement) : "";
  region.replaceChildren(...fresh.childNodes);
  if (focus) region.querySelector(focus)?.focus({ preventScroll: true });
  const news = sayings(region).filter((text) => !before.includes(text));
  const said = document.querySelector("[data-follow-said]");
  if (said && news.length) said.textContent = news.join(" ");
  document.dispatchEvent(new CustomEvent("cms:added", { bubbles: true, detail: { root: region } }));
}

const sayings = (region) => [...region.querySelectorAll("[data-say]")].map((one) => one.textContent.trim());

// Where the focus is, so that it can be found again among new elements.
function place(element) {
  if (element.hasAttribute("href")) return `[href="${CSS.escape(element.getAttribute("href"))}"]`;
  const action = element.form?.getAttribute("action");
  if (!action) return "";
  const value = element.value ? `[value="${CSS.escape(element.value)}"]` : "";
  return `form[action="${CSS.escape(action)}"] button${value}`;
}
