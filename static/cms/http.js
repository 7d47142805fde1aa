// Requests to the server that this page came from, and the way their answers get into the page.
//
//   const page = await fetchPage(address);                     a document; its parts go to swap()
//   const page = await fetchPage(form.action, { body });       also the page that says what is wrong with the form
//   const data = await fetchJson(address, { body });           FormData, or an object that is sent as JSON
//
// All of them throw HttpError where the server cannot be reached or does not give what was asked for. Its message is
// the server's own sentence, or empty: `error.message || words.failed` is what to show.

const REASONS = { 401: "signed-out", 403: "forbidden", 409: "conflict", 422: "invalid" };

/** `reason` is network, signed-out, forbidden, conflict, invalid or failed; `data` is the JSON that was answered. */
export class HttpError extends Error {
  constructor(reason, { status = 0, data = null, cause } = {}) {
    super(data?.message ?? data?.error ?? "", { cause });
    Object.assign(this, { name: "HttpError", reason, status, data });
  }
}

/** Return the token that Django asks of every unsafe request. A form in a page that was cached may hold an old one. */
export function csrfToken() {
  const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  return cookie?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
}

/**
 * Send a request and return its response. With a body it is a POST.
 *
 * `statuses` are accepted besides those of success; `anyStatus` accepts all. A redirect leads to the page to sign in
 * and is an error, unless `redirects` says that the server may answer with another page. A request that `signal` ends
 * throws AbortError.
 */
export async function request(
  address, { method, body, headers = {}, signal, statuses = [], anyStatus = false, redirects = false } = {},
) {
  const isJson = body !== undefined && !(body instanceof FormData);
  const sent = { ...headers };
  if (isJson) sent["Content-Type"] = "application/json";
  if (body !== undefined || method) sent["X-CSRFToken"] = csrfToken();
  let answer;
  try {
    answer = await fetch(address, {
      method: method ?? (body === undefined ? "GET" : "POST"), body: isJson ? JSON.stringify(body) : body, headers: sent, signal,
    });
  } catch (error) {
    throw error.name === "AbortError" ? error : new HttpError("network", { cause: error });
  }
  const { status } = answer;
  if (answer.redirected && !redirects) throw new HttpError("signed-out", { status });
  if (answer.ok || anyStatus || statuses.includes(status)) return answer;
  throw new HttpError(REASONS[status] ?? "failed", { status, data: await answer.json().catch(() => null) });
}

/** Return the JSON that an address answers. */
export async function fetchJson(address, { headers, ...options } = {}) {
  const answer = await request(address, { ...options, headers: { Accept: "application/json", ...headers } });
  return answer.json().catch(() => { throw new HttpError("failed", { status: answer.status }); });
}

/** Return the page, or the part of one, that an address answers. Messages wait for a page that somebody opens. */
export async function fetchPage(address, { headers, ...options } = {}) {
  const refusals = options.body === undefined ? [] : [409, 422];
  const answer = await request(address, { statuses: refusals, ...options, headers: { "X-Live": "1", ...headers } });
  return readPage(answer);
}

/** Return the document of a response. */
export async function readPage(answer) {
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Put what is in `fresh` in place of what is in `region`, keeping focus and scroll. Returns whether it differs. */
export function swap(region, fresh) {
  if (!fresh || fresh.innerHTML === region.innerHTML) return false;
  const focused = region.contains(document.activeElement) ? selectFocused(document.activeElement) : "";
  const [x, y] = [window.scrollX, window.scrollY];
  region.replaceChildren(...fresh.childNodes);
  if (focused) region.querySelector(focused)?.focus({ preventScroll: true });
  window.scrollTo(x, y);
  notifyAdded(region);
  return true;
}

/** Return a selector that finds the same control in newer HTML, or nothing where none does. */
function selectFocused(element) {
  if (element.hasAttribute("href")) return `[href="${CSS.escape(element.getAttribute("href"))}"]`;
  if (element.id) return `#${CSS.escape(element.id)}`;
  const action = element.form?.getAttribute("action");
  if (!action || !element.matches("button")) return "";
  const value = element.value ? `[value="${CSS.escape(element.value)}"]` : "";
  return `form[action="${CSS.escape(action)}"] button${value}`;
}

/** Tell the other scripts that elements came into the page, so that they attach to those too. */
export function notifyAdded(root) {
  document.dispatchEvent(new CustomEvent("cms:added", { bubbles: true, detail: { root } }));
}

/** Call `attach` with every element that `selector` finds, now and in parts that are added later. */
export function attachEach(selector, attach) {
  const seen = new WeakSet();
  const look = (root) => {
    const found = [...root.querySelectorAll(selector)];
    if (root.matches?.(selector)) found.unshift(root);
    for (const element of found) {
      if (seen.has(element)) continue;
      seen.add(element);
      attach(element);
    }
  };
  look(document);
  document.addEventListener("cms:added", (event) => look(event.detail?.root ?? document));
}

/** A field changed by a script tells the form as if somebody had typed. */
export function notifyChanged(field) {
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Return an address, or a label in the page's language, that the page gives to the scripts of its fields. */
export function pageData(name) {
  return document.getElementById("field-words")?.dataset[name] ?? "";
}

let liveRegion;

/** Have a screen reader read a sentence out. */
export function announce(text) {
  if (!liveRegion) {
    liveRegion = document.createElement("p");
    liveRegion.className = "visually-hidden";
    liveRegion.setAttribute("role", "status");
  }
  // In a dialog only what is inside it is read out.
  const place = document.querySelector("dialog[open]") ?? document.querySelector("main") ?? document.body;
  if (liveRegion.parentNode !== place) place.append(liveRegion);
  liveRegion.textContent = text;
}

let websockets;

/** Return whether the server has websockets: a browser reports one that fails as an error, so it is asked first. */
export function hasWebsockets() {
  websockets ??= fetchJson("/ws/").then((found) => Boolean(found.websockets)).catch(() => false);
  return websockets;
}

/** Open a websocket at a path of this server. */
export function openWebsocket(path, parameters = {}) {
  const address = new URL(path, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return new WebSocket(address);
}
