// Counts views and clicks. No cookie, nothing stored, nothing that was typed or read out. Not where the browser refuses
// (Do Not Track, Global Privacy Control), for staff, in frames, nor before a consent that the page asks for.

const own = [...document.scripts].find((one) => one.src === import.meta.url)?.dataset;
const address = new URL("/api/public/analytics/track", import.meta.url);
const page = document.documentElement;
const waiting = []; // as JSON, so that sizes are known
const reached = new Set();
let granted, isSeen, timer, shown, post, settling, stamp;

// The element in words of CSS: from the nearest id downwards.
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
  // A form is counted by the server, which knows nothing of what this browser keeps.
  on("submit", ({ target }) => {
    const told = target.querySelector?.("[name=_agreed]");
    if (told) told.value = +may();
  });
  addEventListener("pagehide", flush);
  addEventListener("online", flush);
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    if ("consent" in own && stored()) granted = undefined; // answered elsewhere meanwhile
    seen();
  });
  // The answer to a form is the same visit.
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

// A page that scripts put together names its post a little later; one that is left before was not seen.
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
  // A label hands its click on to its field: that is one click.
  if (!isTrusted || timeStamp === stamp || !(target instanceof Element) || target.closest("[data-uncounted]")) return;
  stamp = timeStamp;
  const module = target.closest("[data-post-module-id]");
  const box = target.getBoundingClientRect();
  // A key has no place.
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
  const told = {
    eventType,
    postId: postId || null,
    viewportWidth: page.clientWidth || 1,
    ...place,
    metadata: { path: location.pathname, locale: page.lang || undefined, version: +postVersion || undefined, ...metadata },
  };
  waiting.push(JSON.stringify(told, (name, value) => {
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
    // Behind the back of a page a browser sends 64 kB.
    for (let bytes = 0; count < 100 && count < waiting.length; count += 1) {
      bytes += new Blob([waiting[count]]).size + 1;
      if (bytes > 60_000) break;
    }
    send(waiting.splice(0, count));
  }
}

// As a text without an answer, so that a browser need not ask another origin first.
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

// A field called "id" or "children" stands in the way of what its form has by that name.
const of = (element, name) => Reflect.get(Element.prototype, name, element);
const isOther = () => document.body.dataset.postId && document.body.dataset.postId !== post;
const placeOf = () => location.pathname + location.search;
const within = (value, most) => Math.round(1e4 * Math.min(most, Math.max(0, value))) / 1e4;

if (own && self === top && navigator.doNotTrack !== "1" && !navigator.globalPrivacyControl) {
  if (document.prerendering) document.addEventListener("prerenderingchange", start, { once: true });
  else start();
}
