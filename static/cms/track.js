// Counts views and clicks: without cookies, without names, and not where the visitor's browser refuses. A view is
// sent at once, clicks five at a time or after ten seconds, and what is left when the page is hidden.

const MOST = 5;
const WAIT = 10_000;
const address = new URL("/api/public/analytics/track", import.meta.url);
const waiting = [];
let timer;

// The element in words of CSS: from the nearest id downwards.
export function selectorOf(element) {
  const parts = [];
  for (let one = element; one && one !== document.documentElement && parts.length < 8; one = one.parentElement) {
    if (one.id) {
      parts.unshift(`#${CSS.escape(one.id)}`);
      break;
    }
    const alike = [...(one.parentElement?.children ?? [])].filter((other) => other.localName === one.localName);
    const place = alike.length > 1 ? `:nth-of-type(${alike.indexOf(one) + 1})` : "";
    parts.unshift(one.localName + place);
  }
  return parts.join(" > ").slice(0, 500);
}

const isAsked = navigator.doNotTrack !== "1" && !navigator.globalPrivacyControl;
if (isAsked && !/(?:^|; )cms_staff=1/.test(document.cookie)) start();

function start() {
  if (document.prerendering) document.addEventListener("prerenderingchange", seen, { once: true });
  else seen();
  addEventListener("pageshow", (event) => { if (event.persisted) seen(); });
  document.addEventListener("click", clicked, { capture: true, passive: true });
  document.addEventListener("visibilitychange", () => { if (document.hidden) flush(); });
  addEventListener("pagehide", flush);
}

function seen() {
  waiting.push(told("view", {}));
  flush();
}

function clicked({ target, pageX, pageY }) {
  if (!(target instanceof Element)) return;
  const module = target.closest("[data-post-module-id]")?.dataset.postModuleId;
  const metadata = { selector: selectorOf(target), ...(module && { postModuleId: module }) };
  waiting.push({ ...told("click", metadata), x: inside(pageX), y: inside(pageY) });
  if (waiting.length >= MOST) flush();
  else timer ??= setTimeout(flush, WAIT);
}

const inside = (pixels) => Math.min(1_000_000, Math.max(0, pixels));

function told(eventType, metadata) {
  return {
    eventType,
    postId: document.body.dataset.postId ?? null,
    viewportWidth: document.documentElement.clientWidth || 1,
    metadata: { path: location.pathname.slice(0, 500), ...metadata },
  };
}

function flush() {
  clearTimeout(timer);
  timer = undefined;
  if (!waiting.length) return;
  const body = JSON.stringify(waiting.splice(0));
  // A text needs no question to another origin first.
  if (navigator.sendBeacon?.(address, body)) return;
  fetch(address, { method: "POST", body, keepalive: true, headers: { "Content-Type": "text/plain" } }).catch(() => {});
}
