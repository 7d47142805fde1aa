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
  askedAt.set(answer, started);
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
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  askedAt.set(page, askedAt.get(answer));
  return page;
}

/** Put what is in `fresh` in place of what is in `region`, keeping what is typed, focus and scroll. Returns whether it differs. */
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

// What a page answers was asked for with the words of a moment; what was typed since is newer.

export const TYPED = "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=range]), textarea, select, [contenteditable]";

const askedAt = new WeakMap(); // of responses and their documents
const typedAt = new WeakMap(); // of fields
for (const name of ["input", "change"]) document.addEventListener(name, ({ target }) => typedAt.set(target, performance.now()), true);

/** Give the fields of `fresh`, a part of a document that was fetched, what was typed into those of `old` since it was asked for. */
export function keepTyped(old, fresh) {
  const since = askedAt.get(fresh.ownerDocument) ?? Infinity;
  for (const field of old.querySelectorAll("input:not([type=file]), textarea, select")) {
    const twin = typedAt.get(field) > since ? twinOf(field, fresh) : null;
    if (!twin) continue;
    if (["checkbox", "radio"].includes(field.type)) twin.checked = field.checked;
    else twin.value = field.value;
    // The same text in another form, such as the document beside its Markdown.
    for (const also of old.querySelectorAll(`input[type=hidden][name^="${CSS.escape(`${field.name}~`)}"]`)) {
      const beside = twinOf(also, fresh) ?? also.cloneNode();
      beside.value = also.value;
      if (!beside.parentNode) twin.after(beside);
    }
  }
}

/** Return the same control in newer HTML, or null where there is none. */
function twinOf(element, fresh) {
  const selector = selectTwin(element);
  return selector ? fresh.querySelector(selector) : null;
}

function selectTwin(element) {
  if (element.hasAttribute("href")) return `[href="${CSS.escape(element.getAttribute("href"))}"]`;
  if (element.id) return `#${CSS.escape(element.id)}`;
  const own = element.getAttribute("value");
  const value = own ? `[value="${CSS.escape(own)}"]` : "";
  const action = element.form?.getAttribute("action");
  if (element.matches("button")) return action ? `form[action="${CSS.escape(action)}"] button${value}` : "";
  if (!element.name) return "";
  return `${element.localName}[name="${CSS.escape(element.name)}"]${["checkbox", "radio"].includes(element.type) ? value : ""}`;
}

/**
 * Return a function that says whether the focus may be moved: nobody went on to a field, or typed in one, since this was
 * called. What moves the focus after a wait calls it before.
 */
export function watchFocus() {
  const [from, since] = [document.activeElement, performance.now()];
  return () => {
    const { activeElement: active } = document;
    return !active.matches(TYPED) || (active === from && !(typedAt.get(active) > since));
  };
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

/** Return what a form would send as the server made it, whatever was typed before this script was there. */
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
