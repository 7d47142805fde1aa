// A list of uploads: three at a time, each with its own progress, cancel and retry. All texts come from the data
// attributes of the list.

import { csrfToken, fetchJson } from "../http.js";

const MAX_PARALLEL_UPLOADS = 3;
const MAX_STATE_REQUESTS = 60;

// `section` is [data-uploads]. `onStored(file)` is called for each uploaded file. With `onUse` the user can use an identical
// file that already exists instead; `takesExisting` uses it without asking. `more()` returns additional fields to send.
// `onIdle()` is called when all are done.
export function uploads(section, { onStored = () => {}, onUse, takesExisting = false, more = () => ({}), onIdle = () => {} } = {}) {
  const words = section.dataset;
  const list = section.querySelector("[data-uploads-list]");
  const template = section.querySelector("[data-upload-item]");
  const summary = section.querySelector("[data-uploads-summary]");
  const items = [];
  const pending = new Map();
  let requestsLeft = 0;

  section.querySelector("[data-uploads-close]").addEventListener("click", () => {
    section.hidden = true;
    for (const item of items.filter(({ state }) => isOver(state))) drop(item);
  });

  function add(files) {
    for (const file of files) items.push(itemFor(file));
    section.hidden = items.length === 0;
    startPending();
  }

  const isTooLarge = (file) => file.size > Number(isRecording(file) ? words.mostRecording : words.most);

  function itemFor(file) {
    const row = template.content.firstElementChild.cloneNode(true);
    const item = { file, row, state: "waiting", again: false };
    const part = (name) => row.querySelector(`[data-${name}]`);
    part("name").textContent = file.name;
    part("progress").setAttribute("aria-label", file.name);
    for (const button of row.querySelectorAll("button")) button.setAttribute("aria-label", `${button.textContent}: ${file.name}`);
    part("cancel").addEventListener("click", () => cancel(item));
    part("again").addEventListener("click", () => retry(item));
    part("anyway").addEventListener("click", () => { item.again = true; retry(item); });
    part("use-there").addEventListener("click", () => onUse?.(item.there));
    list.append(row);
    show(item, "waiting", words.waiting);
    if (isTooLarge(file)) show(item, "failed", isRecording(file) ? words.tooLargeRecording : words.tooLarge);
    return item;
  }

  function picture(place, address) {
    const image = new Image();
    image.alt = "";
    image.addEventListener("error", () => image.remove(), { once: true });
    image.src = address;
    place.replaceChildren(image);
  }

  function startPending() {
    const active = items.filter(({ state }) => state === "sending").length;
    for (const item of items.filter(({ state }) => state === "waiting").slice(0, MAX_PARALLEL_UPLOADS - active)) send(item);
    showSummary();
  }

  function send(item) {
    // fetch() does not report the progress of an upload.
    const request = new XMLHttpRequest();
    item.request = request;
    const data = new FormData();
    for (const [name, value] of Object.entries(more())) data.append(name, value);
    if (item.again) data.append("again", "1");
    data.append("file", item.file, item.file.name);
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      const share = total ? Math.round((100 * loaded) / total) : 0;
      item.row.querySelector("[data-progress]").value = share;
      say(item, share < 100 ? `${words.sending} ${share} %` : words.checking);
    });
    request.addEventListener("load", () => onResponse(item, request));
    request.addEventListener("error", () => { show(item, "failed", words.failed); startPending(); });
    request.addEventListener("abort", () => { show(item, "cancelled", words.cancelled); startPending(); });
    request.open("POST", words.address);
    request.setRequestHeader("X-CSRFToken", csrfToken());
    request.responseType = "text";
    show(item, "sending", words.sending);
    request.send(data);
  }

  function onResponse(item, request) {
    const answer = read(request.response);
    item.there = answer?.there;
    if (request.status === 201 || (item.there && takesExisting)) onUploaded(item, item.there ?? answer);
    else show(item, item.there ? "there" : "failed", answer?.message ?? words.failed);
    startPending();
  }

  function onUploaded(item, asset) {
    const link = item.row.querySelector("[data-open]");
    link.href = asset.address;
    if (asset.thumbnail) picture(item.row.querySelector("[data-picture]"), asset.thumbnail);
    const isProcessing = asset.status === "processing";
    show(item, "done", isProcessing ? words.processing : words.done);
    if (isProcessing) pollSizes(asset.id, item);
    onStored(asset, item);
  }

  function cancel(item) {
    if (item.state === "sending") item.request.abort();
    else show(item, "cancelled", words.cancelled);
    showSummary();
  }

  function retry(item) {
    item.row.querySelector("[data-progress]").value = 0;
    show(item, "waiting", words.waiting);
    startPending();
  }

  function drop(item) {
    item.row.remove();
    items.splice(items.indexOf(item), 1);
  }

  function show(item, state, text) {
    item.state = state;
    item.row.dataset.is = state;
    const visible = {
      cancel: state === "waiting" || state === "sending",
      again: (state === "failed" && !isTooLarge(item.file)) || state === "cancelled",
      anyway: state === "there",
      "use-there": state === "there" && Boolean(onUse),
      open: !onUse && (state === "done" || state === "there"),
      progress: state === "waiting" || state === "sending",
    };
    if (state === "there") item.row.querySelector("[data-open]").href = item.there.address;
    for (const [name, isShown] of Object.entries(visible)) item.row.querySelector(`[data-${name}]`).hidden = !isShown;
    say(item, text);
  }

  function say(item, text) {
    item.row.querySelector("[data-state]").textContent = text;
  }

  function showSummary() {
    const count = (...states) => items.filter(({ state }) => states.includes(state)).length;
    const [done, failed] = [count("done"), count("failed", "there", "cancelled")];
    const text = failed ? words.summaryFailed : words.summary;
    const summaryText = text.replace("%(done)s", done).replace("%(all)s", items.length).replace("%(failed)s", failed);
    if (summary.textContent !== summaryText) summary.textContent = summaryText;
    if (items.length && items.every(({ state }) => isOver(state))) onIdle();
  }

  // A worker makes the sizes, so poll until they exist.
  function pollSizes(id, item) {
    pending.set(id, item);
    if (requestsLeft === 0) setTimeout(fetchStates, 1000);
    requestsLeft = MAX_STATE_REQUESTS;
  }

  async function fetchStates() {
    const found = await fetchJson(`${words.states}?ids=${[...pending.keys()].join(",")}`).catch(() => ({}));
    for (const [id, asset] of Object.entries(found)) {
      if (asset.status === "processing") continue;
      say(pending.get(id), words.done);
      if (asset.thumbnail) picture(pending.get(id).row.querySelector("[data-picture]"), asset.thumbnail);
      pending.delete(id);
    }
    requestsLeft -= 1;
    if (pending.size && requestsLeft > 0) setTimeout(fetchStates, 1500);
    else { pending.clear(); requestsLeft = 0; }
  }

  return { add };
}

// The browser knows the type by the name only. The server checks the content.
const isRecording = (file) => /^(?:video|audio)\//.test(file.type);
const isOver = (state) => state !== "waiting" && state !== "sending";

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // an error or login page
  }
}

// Pass files that are dropped on `area` or pasted into it to `add`, and show the veil while files are dragged over it.
export function acceptFiles(area, veil, add) {
  let depth = 0; // dragenter and dragleave are also dispatched for each element inside the area
  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const over = (isOver) => { if (veil) veil.hidden = !isOver; };
  area.addEventListener("dragenter", (event) => { if (hasFiles(event)) { depth += 1; over(true); } });
  area.addEventListener("dragleave", (event) => { if (hasFiles(event)) { depth -= 1; if (depth <= 0) { depth = 0; over(false); } } });
  area.addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
  area.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    depth = 0;
    over(false);
    add([...event.dataTransfer.files]);
  });
  area.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length) { event.preventDefault(); add(files); }
  });
}
