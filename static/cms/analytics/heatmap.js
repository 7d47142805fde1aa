// Draws visitors' clicks over the page in the frame, and highlights the module chosen in the list. The frame runs no
// scripts, so everything is done from here. A click in a module is drawn relative to the module's current box, so that
// it remains in place if the page above has changed or is wider; other clicks are drawn by their position on the page.

const MAX_SIDE = 16_384; // pixels; browsers allow no larger canvas
const MAX_AREA = 12_000_000; // pixels, which take 48 MB
const FAINTEST = 0.28;
const COLOURS = { 0.1: "#3b6cf0", 0.35: "#17b4b0", 0.55: "#7ac943", 0.72: "#ffd23f", 0.87: "#ff7a1a", 1: "#d4001a" };
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const stages = [...document.querySelectorAll("[data-heat-cells]")].map(createStage);

function createStage(element) {
  const frame = element.querySelector("iframe");
  const view = frame.parentElement;
  const cells = JSON.parse(document.getElementById(element.dataset.heatCells).textContent);
  // Over the frame and not in it, because a page that may run no scripts shows no canvas.
  const over = view.appendChild(document.createElement("div"));
  const canvas = over.appendChild(document.createElement("canvas"));
  over.className = "heat-over";
  over.setAttribute("aria-hidden", "true");
  const stage = { element, frame, view, cells, over, canvas, watch: null, frameRequest: 0, at: "" };
  view.classList.add("is-fitted");
  new ResizeObserver(() => fit(stage)).observe(view);
  frame.addEventListener("load", () => open(stage));
  setState(stage, "loading");
  if (isLoaded(frame)) open(stage);
  return stage;
}

// Return whether the frame loaded before this script ran, with the page or an error. The browser's own error page has
// no accessible document.
function isLoaded({ contentDocument: page }) {
  return !page || (page.readyState === "complete" && page.URL !== "about:blank");
}

// Return the frame's document, or null if it is an error or login page.
function findPage({ frame }) {
  try {
    const page = frame.contentDocument;
    return page?.querySelector("link[data-heat-page]") ? page : null;
  } catch {
    return null; // the browser's own error page has another origin
  }
}

function setState({ element }, state) {
  if (element.dataset.state === state) return;
  element.dataset.state = state;
  element.querySelector("[data-heat-said]").textContent = element.dataset[state] ?? "";
}

function open(stage) {
  stage.watch?.disconnect();
  const page = findPage(stage);
  if (!page) return setState(stage, "failed");
  fit(stage);
  // Images that load late and details that are opened change the height of the page.
  stage.watch = new ResizeObserver(() => scheduleDraw(stage));
  stage.watch.observe(page.documentElement);
  stage.watch.observe(page.body);
  for (const module of page.querySelectorAll("[data-post-module-id]")) stage.watch.observe(module);
  scheduleDraw(stage);
}

// Make the frame as wide as the device, scaled down to fit. Its scroll bar is added to that width.
function fit(stage) {
  const { frame, over, view } = stage;
  const root = findPage(stage)?.documentElement;
  const bar = root ? Math.max(0, frame.clientWidth - root.clientWidth) : 0;
  const width = Number(frame.dataset.width) + bar;
  const scale = Math.min(1, view.clientWidth / width);
  for (const { style } of [frame, over]) {
    style.width = `${width}px`;
    style.height = `${view.clientHeight / scale}px`;
    style.transform = `translateX(${(view.clientWidth - width * scale) / 2}px) scale(${scale})`;
  }
  over.style.width = `${width - bar}px`;
}

// Poll the scroll position, because not every browser dispatches events of a page that may run no scripts.
function follow() {
  for (const stage of stages) {
    const { scrollX = 0, scrollY = 0 } = findPage(stage)?.defaultView ?? {};
    const at = `translate(${-scrollX}px, ${-scrollY}px)`;
    if (at === stage.at) continue;
    stage.at = at;
    stage.canvas.style.transform = at;
  }
  requestAnimationFrame(follow);
}

function scheduleDraw(stage) {
  cancelAnimationFrame(stage.frameRequest);
  stage.frameRequest = requestAnimationFrame(() => draw(stage));
}

function draw(stage) {
  const page = findPage(stage);
  if (!page) return;
  const { canvas } = stage;
  const width = page.documentElement.clientWidth;
  const height = Math.max(page.documentElement.scrollHeight, 1);
  const factor = Math.min(1, MAX_SIDE / height, MAX_SIDE / width, Math.sqrt(MAX_AREA / (width * height)));
  canvas.width = Math.max(1, Math.floor(width * factor));
  canvas.height = Math.max(1, Math.floor(height * factor));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const maxCount = Number(stage.element.dataset.heatMost);
  const points = placePoints(page, stage.cells, width).map(([x, y, count]) => [
    x * factor,
    y * factor,
    Math.min(1, Math.sqrt(count / maxCount)),
  ]);
  const radius = Math.max(2, (9 + width / 110) * factor);
  window.simpleheat(canvas).data(points).max(1).radius(radius, radius * 0.8).gradient(COLOURS).draw(FAINTEST);
  setState(stage, "ready");
}

// Return every cell as [x, y, count] in pixels of the document.
function placePoints(page, cells, width) {
  const points = cells.page.map(([x, y, count]) => [x * width, (y * width) / 1000, count]);
  const { scrollX, scrollY } = page.defaultView;
  for (const [id, spots] of Object.entries(cells.modules)) {
    const box = findModule(page, id)?.getBoundingClientRect();
    if (!box?.width || !box.height) continue;
    for (const [x, y, count] of spots) {
      points.push([box.left + scrollX + x * box.width, box.top + scrollY + y * box.height, count]);
    }
  }
  return points;
}

function findModule(page, id) {
  return page.querySelector(`[data-post-module-id="${CSS.escape(id)}"]`);
}

function point(id, scrolls) {
  for (const stage of stages) {
    const page = findPage(stage);
    page?.querySelector("[data-heat-shown]")?.removeAttribute("data-heat-shown");
    const module = page && id && findModule(page, id);
    if (!module) continue;
    module.setAttribute("data-heat-shown", "");
    const top = module.getBoundingClientRect().top + page.defaultView.scrollY - 80;
    if (scrolls) page.defaultView.scrollTo({ top, behavior: calm.matches ? "auto" : "smooth" });
  }
}

for (const link of document.querySelectorAll("[data-heat-module]")) {
  const id = link.dataset.heatModule;
  link.addEventListener("pointerenter", () => point(id, true));
  link.addEventListener("pointerleave", () => point(document.activeElement?.dataset.heatModule));
  link.addEventListener("focus", () => point(id, true));
  link.addEventListener("blur", () => point());
  link.addEventListener("click", (event) => {
    event.preventDefault();
    point(id, true);
  });
}

const toggle = document.querySelector("[data-heat-toggle]");
if (toggle) {
  toggle.closest("[hidden]")?.removeAttribute("hidden");
  toggle.addEventListener("change", () => {
    for (const { over } of stages) over.hidden = !toggle.checked;
  });
}

follow();
