// Sends requests to this page's server, and updates the page with the responses.
//
//   const page = await fetchPage(address);                     returns a document; pass its parts to swap()
//   const page = await fetchPage(form.action, { body });       also returns the page that shows the form's errors
//   const data = await fetchJson(address, { body });           sends FormData, or an object as JSON
//
// All of them throw HttpError if the server cannot be reached or refuses the request. Its message comes from the server
// or is empty, so show `error.message || words.failed`.

const REASONS = { 401: "signed-out", 403: "forbidden", 409: "conflict", 422: "invalid" };

/** `reason` is network, signed-out, forbidden, conflict, invalid or failed; `data` is the JSON of the response. */
export class HttpError extends Error {
  constructor(reason, { status = 0, data = null, cause } = {}) {
    super(data?.message ?? data?.error ?? "", { cause });
    Object.assign(this, { name: "HttpError", reason, status, data });
  }
}

/** Return Django's CSRF token. The cookie comes first, because a form in a cached page may have an old token. */
export function csrfToken() {
  const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  return cookie?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
}

/**
 * Send a request and return its response. With a body it is a POST.
 *
 * `statuses` are accepted in addition to success; `anyStatus` accepts all. A redirect is treated as a redirect to the
 * login page and throws, unless `redirects` allows it. A request aborted by `signal` throws AbortError.
 */
export async function request(
  address, { method, body, headers = {}, signal, statuses = [], anyStatus = false, redirects = false } = {},
) {
  const isJson = body !== undefined && !(body instanceof FormData);
  const sent = { ...headers };
  const started = performance.now();
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
  requestedAt.set(answer, started);
  if (answer.redirected && !redirects) throw new HttpError("signed-out", { status });
  if (answer.ok || anyStatus || statuses.includes(status)) return answer;
  throw new HttpError(REASONS[status] ?? "failed", { status, data: await answer.json().catch(() => null) });
}

/** Send a request and return the JSON of its response. */
export async function fetchJson(address, { headers, ...options } = {}) {
  const answer = await request(address, { ...options, headers: { Accept: "application/json", ...headers } });
  return answer.json().catch(() => { throw new HttpError("failed", { status: answer.status }); });
}

/** Send a request and return the page or fragment. The server keeps its messages for the next full page load. */
export async function fetchPage(address, { headers, ...options } = {}) {
  const refusals = options.body === undefined ? [] : [409, 422];
  const answer = await request(address, { statuses: refusals, ...options, headers: { "X-Live": "1", ...headers } });
  return readPage(answer);
}

/** Return the document of a response. */
export async function readPage(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  requestedAt.set(page, requestedAt.get(answer));
  return page;
}

/** Replace the content of `region`, preserving typed text, focus and scroll. Returns whether it differed. */
export function swap(region, fresh) {
  if (!fresh || fresh.innerHTML === region.innerHTML) return false;
  keepTyped(region, fresh);
  const { activeElement: active } = document;
  const focused = region.contains(active) ? twinOf(active, fresh) : null;
  const selection = active.matches(TYPED) ? [active.selectionStart, active.selectionEnd] : [];
  const [x, y] = [window.scrollX, window.scrollY];
  region.replaceChildren(...fresh.childNodes);
  focused?.focus({ preventScroll: true });
  if (typeof selection[0] === "number" && focused?.setSelectionRange) focused.setSelectionRange(...selection);
  window.scrollTo(x, y);
  notifyAdded(region);
  return true;
}

// Text typed after a page was requested is newer than the page, so record the times of both.

export const TYPED = "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=range]), textarea, select, [contenteditable]";

const requestedAt = new WeakMap(); // request times of responses and their documents
const typedAt = new WeakMap(); // time of the last input in a field
for (const name of ["input", "change"]) document.addEventListener(name, ({ target }) => typedAt.set(target, performance.now()), true);

/** Copy values that were typed into the fields of `old` since `fresh` was requested to the same fields of `fresh`. */
export function keepTyped(old, fresh) {
  const since = requestedAt.get(fresh.ownerDocument) ?? Infinity;
  for (const field of old.querySelectorAll("input:not([type=file]), textarea, select")) {
    const twin = typedAt.get(field) > since ? twinOf(field, fresh) : null;
    if (!twin) continue;
    if (["checkbox", "radio"].includes(field.type)) twin.checked = field.checked;
    else twin.value = field.value;
    // `name~…` holds the same text in another form, such as the document beside its Markdown.
    for (const hidden of old.querySelectorAll(`input[type=hidden][name^="${CSS.escape(`${field.name}~`)}"]`)) {
      const beside = twinOf(hidden, fresh) ?? hidden.cloneNode();
      beside.value = hidden.value;
      if (!beside.parentNode) twin.after(beside);
    }
  }
}

/** Return the same control in newer HTML, or null. */
function twinOf(element, fresh) {
  const selector = selectTwin(element);
  return selector ? fresh.querySelector(selector) : null;
}

function selectTwin(element) {
  if (element.hasAttribute("href")) return `[href="${CSS.escape(element.getAttribute("href"))}"]`;
  if (element.id) return `#${CSS.escape(element.id)}`;
  const valueAttribute = element.getAttribute("value");
  const value = valueAttribute ? `[value="${CSS.escape(valueAttribute)}"]` : "";
  const action = element.form?.getAttribute("action");
  if (element.matches("button")) return action ? `form[action="${CSS.escape(action)}"] button${value}` : "";
  if (!element.name) return "";
  return `${element.localName}[name="${CSS.escape(element.name)}"]${["checkbox", "radio"].includes(element.type) ? value : ""}`;
}

/**
 * Return a function that returns whether a script may move the focus. It may not if the user has moved to a field or
 * typed in one since. Call this before waiting for a response, and the returned function afterwards.
 */
export function watchFocus() {
  const [from, since] = [document.activeElement, performance.now()];
  return () => {
    const { activeElement: active } = document;
    return !active.matches(TYPED) || (active === from && !(typedAt.get(active) > since));
  };
}

/** Notify other scripts that elements were added to the page, so that they attach to them. */
export function notifyAdded(root) {
  document.dispatchEvent(new CustomEvent("cms:added", { bubbles: true, detail: { root } }));
}

/** Call `attach` once for every element that matches `selector`, now and in parts that are added later. */
export function attachEach(selector, attach) {
  const seen = new WeakSet();
  const attachIn = (root) => {
    const found = [...root.querySelectorAll(selector)];
    if (root.matches?.(selector)) found.unshift(root);
    for (const element of found) {
      if (seen.has(element)) continue;
      seen.add(element);
      attach(element);
    }
  };
  attachIn(document);
  document.addEventListener("cms:added", (event) => attachIn(event.detail?.root ?? document));
}

/** Return the entries of a form as the server rendered it, ignoring text typed before this script was loaded. */
export function untouchedEntries(form) {
  const entries = [];
  for (const field of form.elements) {
    if (!field.name || field.matches(":disabled, button, fieldset, output, object")) continue;
    const fresh = field.cloneNode(true);
    if (field instanceof HTMLSelectElement) {
      for (const option of fresh.options) option.selected = option.defaultSelected;
      if (!fresh.multiple && fresh.selectedIndex < 0) fresh.selectedIndex = [...fresh.options].findIndex((option) => !option.disabled);
      for (const option of fresh.selectedOptions) if (!option.disabled) entries.push([field.name, option.value]);
    } else if (["checkbox", "radio"].includes(field.type)) {
      if (field.defaultChecked) entries.push([field.name, field.value]);
    } else if (!["file", "image", "reset", "submit", "button"].includes(field.type)) {
      fresh.value = fresh.defaultValue;
      entries.push([field.name, fresh.value]);
    }
  }
  return entries;
}

/** Dispatch the events of a user's input for a field that was changed by a script. */
export function notifyChanged(field) {
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Return an address or translated label from the page's data for its field scripts. */
export function pageData(name) {
  return document.getElementById("field-words")?.dataset[name] ?? "";
}

let liveRegion;

/** Announce a text to screen readers. */
export function announce(text) {
  if (!liveRegion) {
    liveRegion = document.createElement("p");
    liveRegion.className = "visually-hidden";
    liveRegion.setAttribute("role", "status");
  }
  // While a modal dialog is open, screen readers ignore everything outside it.
  const place = document.querySelector("dialog[open]") ?? document.querySelector("main") ?? document.body;
  if (liveRegion.parentNode !== place) place.append(liveRegion);
  liveRegion.textContent = text;
}

let websockets;

/**
 * Return whether the server has websockets. Asking first avoids the browser's console error for a failed connection.
 */
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
