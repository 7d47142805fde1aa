// Counts views and clicks, without cookies, storage or typed text. Inactive for staff, in frames, without a required
// consent, and if the browser sends Do Not Track or Global Privacy Control.

const own = [...document.scripts].find((one) => one.src === import.meta.url)?.dataset;
const address = new URL("/api/public/analytics/track", import.meta.url);
const page = document.documentElement;
const waiting = []; // as JSON, to know the sizes
const reached = new Set();
let granted, isSeen, timer, shown, post, settling, stamp;

// Return a CSS selector of the element, from the nearest id.
export function selectorOf(element) {
  const parts = [];
  for (let one = element; one && one !== page && parts.length < 8; one = of(one, "parentElement")) {
    const [id, above] = [of(one, "id"), of(one, "parentElement")];
    if (id) {
      parts.unshift(`#${CSS.escape(id)}`);
      break;
    }
    const alike = above ? [...of(above, "children")].filter((other) => other.localName === one.localName) : [];
    const place = alike.length > 1 ? `:nth-of-type(${alike.indexOf(one) + 1})` : "";
    parts.unshift(one.localName + place);
  }
  return parts.join(" > ").slice(0, 500);
}

function start() {
  const on = (name, listener) => document.addEventListener(name, listener, { capture: true, passive: true });
  on("click", clicked);
  on("visibilitychange", () => document.hidden && flush());
  on("cms:view", () => seen());
  on("cms:goal", ({ detail }) => {
    const goal = goalOf(detail?.name);
    if (goal) add("click", { goal });
  });
  on("cms:consent", ({ detail }) => {
    granted = detail?.granted === true;
    if (granted && !isSeen) seen();
    else flush();
  });
  // The server counts a form, but cannot read the consent in this browser.
  on("submit", ({ target }) => {
    const field = target.querySelector?.("[name=_agreed]");
    if (field) field.value = +may();
  });
  addEventListener("pagehide", flush);
  addEventListener("online", flush);
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    if ("consent" in own && stored()) granted = undefined; // answered in another tab
    seen();
  });
  // The response to a form is the same visit.
  seen(hostOf(document.referrer), "again" in own);
  if ("manual" in own) return;
  new MutationObserver(() => settling && isOther() && seen()).observe(page, {
    subtree: true,
    attributeFilter: ["data-post-id"],
  });
  if (self.navigation) return navigation.addEventListener("navigatesuccess", moved);
  addEventListener("popstate", moved);
  for (const name of ["pushState", "replaceState"]) {
    const original = history[name];
    history[name] = function (...all) {
      original.apply(this, all);
      moved();
    };
  }
}

// A single-page app sets its post id a little later; a page left before that is not counted.
function moved() {
  if (shown === placeOf()) return;
  shown = placeOf();
  clearTimeout(settling);
  settling = setTimeout(seen, 1000);
  if (isOther()) seen();
}

function seen(referrer, isCounted) {
  clearTimeout(settling);
  settling = 0;
  shown = placeOf();
  post = document.body.dataset.postId;
  reached.clear();
  isSeen = may();
  if (!isCounted) add("view", { referrer });
  flush();
}

function clicked({ target, isTrusted, detail, clientX, clientY, timeStamp }) {
  // A label dispatches a second click on its field.
  if (!isTrusted || timeStamp === stamp || !(target instanceof Element) || target.closest("[data-uncounted]")) return;
  stamp = timeStamp;
  const module = target.closest("[data-post-module-id]");
  const box = target.getBoundingClientRect();
  // A click by key has no position.
  const [x, y] = detail ? [clientX, clientY] : [box.x + box.width / 2, box.y + box.height / 2];
  const around = module?.getBoundingClientRect();
  const metadata = {
    selector: selectorOf(target),
    postModuleId: module?.dataset.postModuleId,
    moduleInstanceId: module?.dataset.moduleInstanceId,
    goal: goalOf(target.closest("[data-goal]")?.dataset.goal),
    ...(around?.width && around.height && {
      moduleX: within((x - around.x) / around.width, 1),
      moduleY: within((y - around.y) / around.height, 1),
    }),
  };
  add("click", metadata, { x: within(x + scrollX, 1e6), y: within(y + scrollY, 1e6) });
}

function add(eventType, metadata, place) {
  if (!may() || waiting.length >= 200) return;
  const { postId, postVersion } = document.body.dataset;
  const event = {
    eventType,
    postId: postId || null,
    viewportWidth: page.clientWidth || 1,
    ...place,
    metadata: { path: location.pathname, locale: page.lang || undefined, version: +postVersion || undefined, ...metadata },
  };
  waiting.push(JSON.stringify(event, (name, value) => {
    const text = value?.slice?.(0, 500);
    return text?.toWellFormed?.() ?? text ?? value;
  }));
  if (waiting.length >= (own.batch || 5)) flush();
  else timer ??= setTimeout(flush, (own.seconds || 10) * 1000);
}

function flush() {
  clearTimeout(timer);
  timer = undefined;
  if (!may()) waiting.length = 0;
  while (waiting.length && navigator.onLine) {
    let count = 0;
    // Browsers send at most 64 kB in the background.
    for (let bytes = 0; count < 100 && count < waiting.length; count += 1) {
      bytes += new Blob([waiting[count]]).size + 1;
      if (bytes > 60_000) break;
    }
    send(waiting.splice(0, count));
  }
}

// Send plain text without reading the response, which needs no CORS preflight.
function send(events) {
  const body = `[${events}]`;
  const ask = (keepalive) =>
    fetch(address, { method: "POST", body, keepalive, mode: "no-cors", credentials: "include" });
  if (navigator.sendBeacon?.(address, body)) return;
  ask(true).catch(() => ask(false)).catch(() => waiting.unshift(...events));
}

function may() {
  if (/(?:^|; )cms_staff=1/.test(document.cookie)) return false;
  return granted ?? (!("consent" in own) || stored() === "yes");
}

function stored() {
  try {
    return localStorage.getItem("cms-consent");
  } catch {
    return null;
  }
}

function goalOf(name) {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name ?? "") || reached.has(name)) return undefined;
  reached.add(name);
  return name;
}

function hostOf(text) {
  const host = text && new URL(text).hostname;
  return host && host !== location.hostname ? host : undefined;
}

// A field named "id" or "children" shadows the property of its form.
const of = (element, name) => Reflect.get(Element.prototype, name, element);
const isOther = () => document.body.dataset.postId && document.body.dataset.postId !== post;
const placeOf = () => location.pathname + location.search;
const within = (value, most) => Math.round(1e4 * Math.min(most, Math.max(0, value))) / 1e4;

if (own && self === top && navigator.doNotTrack !== "1" && !navigator.globalPrivacyControl) {
  if (document.prerendering) document.addEventListener("prerenderingchange", start, { once: true });
  else start();
}
