// The page of one file: setting the focal point and crop on the picture, previewing a replacement file, and showing
// sizes when a worker has made them. Without this file there are number fields and a link.

import { fetchPage } from "../http.js";

function attachFocalPoint(picture, onChange) {
  const across = document.querySelector("[name=focal_x]");
  const down = document.querySelector("[name=focal_y]");
  const mark = picture.querySelector("[data-mark]");
  const shapes = document.querySelector("[data-shapes]");
  if (!across || !down || !mark) return null;
  const image = picture.querySelector("img");
  const isSet = () => across.value !== "" && down.value !== "";
  const at = () => (isSet() ? [Number(across.value), Number(down.value)] : [50, 50]);
  const clamp = (part) => Math.min(100, Math.max(0, part));
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function show() {
    const [x, y] = at();
    mark.hidden = picture.classList.contains("is-cropping");
    mark.style.left = `${x}%`;
    mark.style.top = `${y}%`;
    mark.classList.toggle("is-middle", !isSet());
    mark.setAttribute("aria-valuenow", String(Math.round(x)));
    mark.setAttribute("aria-valuetext", mark.dataset.said.replace("%(x)s", Math.round(x)).replace("%(y)s", Math.round(y)));
    // Pages use the same five steps in each direction.
    const fifth = (part) => Math.round((part / 100) * 4);
    if (shapes) shapes.className = isSet() ? `shapes focal-x${fifth(x)} focal-y${fifth(y)}` : "shapes";
  }

  function set(x, y) {
    across.value = clamp(x).toFixed(1);
    down.value = clamp(y).toFixed(1);
    show();
    onChange();
  }

  function to(event) {
    const box = image.getBoundingClientRect();
    set((100 * (event.clientX - box.left)) / box.width, (100 * (event.clientY - box.top)) / box.height);
  }

  picture.classList.add("is-pickable");
  image.addEventListener("click", (event) => { if (!picture.classList.contains("is-cropping")) to(event); });
  mark.addEventListener("pointerdown", (event) => {
    mark.setPointerCapture(event.pointerId);
    mark.addEventListener("pointermove", to);
    mark.addEventListener("lostpointercapture", () => mark.removeEventListener("pointermove", to), { once: true });
  });
  mark.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [x, y] = at();
    const [right, low] = steps[event.key];
    const stepSize = event.shiftKey ? 10 : 1;
    set(x + right * stepSize, y + low * stepSize);
  });
  document.querySelector("[data-focal-clear]")?.addEventListener("click", () => {
    across.value = "";
    down.value = "";
    show();
    onChange();
  });
  for (const field of [across, down]) field.addEventListener("input", show);
  picture.addEventListener("cms:cropping", show);
  show();
  return mark;
}

const NAMES = ["left", "top", "width", "height"];
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LEAST = 2;

function attachCrop(picture, details) {
  const image = picture.querySelector("img");
  const box = picture.querySelector("[data-crop-box]");
  const move = box.querySelector("[data-crop-move]");
  const corner = box.querySelector("[data-crop-corner]");
  const ratio = details.querySelector("[data-crop-ratio]");
  const fields = NAMES.map((name) => details.querySelector(`[name=crop-${name}]`));
  const whole = [Number(image.getAttribute("width")), Number(image.getAttribute("height"))];
  let part = fields.every(({ value }) => value !== "") ? fields.map(({ value }) => Number(value)) : [10, 10, 80, 80];

  // Return height divided by width of the crop, both in percent of the image; 0 without a fixed ratio.
  function shape() {
    const [across, down] = ratio.value.split(":").map(Number);
    return down ? (down / across) * (whole[0] / whole[1]) : 0;
  }

  function set(left, top, width, height) {
    const share = shape();
    let [wide, high] = [Math.min(100, Math.max(LEAST, width)), Math.min(100, Math.max(LEAST, height))];
    if (share) high = wide * share;
    if (high > 100) { high = 100; wide = share ? 100 / share : wide; }
    const within = (at, size) => Math.min(100 - size, Math.max(0, at));
    part = [within(left, wide), within(top, high), wide, high];
    show();
  }

  function show() {
    const [left, top, width, height] = part;
    fields.forEach((field, at) => { if (document.activeElement !== field) field.value = part[at].toFixed(1); });
    Object.assign(box.style, { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%` });
    const pixels = [Math.round((width / 100) * whole[0]), Math.round((height / 100) * whole[1])];
    details.querySelector("[data-crop-size]").textContent = `${pixels[0]}\u00a0×\u00a0${pixels[1]}`;
  }

  function toggle() {
    picture.classList.toggle("is-cropping", details.open);
    box.hidden = !details.open;
    if (details.open) show();
    picture.dispatchEvent(new CustomEvent("cms:cropping"));
  }

  function drag(handle, change) {
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      handle.focus();
      handle.setPointerCapture(event.pointerId);
      const [begin, from, size] = [part, [event.clientX, event.clientY], image.getBoundingClientRect()];
      const moved = ({ clientX, clientY }) =>
        change(begin, (100 * (clientX - from[0])) / size.width, (100 * (clientY - from[1])) / size.height);
      handle.addEventListener("pointermove", moved);
      handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", moved), { once: true });
    });
    handle.addEventListener("keydown", (event) => {
      if (!(event.key in STEPS)) return;
      event.preventDefault();
      const stepSize = event.shiftKey ? 10 : 1;
      change(part, ...STEPS[event.key].map((step) => step * stepSize));
    });
  }

  const shifted = ([left, top, width, height], x, y) => set(left + x, top + y, width, height);
  const resized = ([left, top, width, height], x, y) => {
    const share = shape();
    const wide = width + (share && Math.abs(y) > Math.abs(x) ? y / share : x);
    set(left, top, Math.min(100 - left, wide), Math.min(100 - top, height + y));
  };
  drag(move, shifted);
  drag(corner, resized);
  ratio.addEventListener("change", () => set(...part));
  fields.forEach((field, at) => field.addEventListener("input", () => {
    if (field.value === "") return;
    // Older browsers lack Array.prototype.with.
    const wanted = part.with ? part.with(at, Number(field.value)) : part.map((each, place) => (place === at ? Number(field.value) : each));
    ratio.value = "";
    set(...wanted);
  }));
  details.addEventListener("toggle", toggle);
  if (details.open) toggle();
  return { open: () => { details.open = true; requestAnimationFrame(() => move.focus()); } };
}

const picture = document.querySelector("[data-picture]");
for (const part of document.querySelectorAll("[data-with-script]")) part.hidden = false;
let isTouched = false;
for (const event of ["input", "click"]) {
  document.addEventListener(event, ({ target }) => { if (target.closest("form, [data-picture]")) isTouched = true; });
}
const point = picture && attachFocalPoint(picture, () => { isTouched = true; });
const crop = picture && document.querySelector("[data-crop]") && attachCrop(picture, document.querySelector("[data-crop]"));
const replace = document.querySelector("[data-replace]");
if (replace) previewReplacement(replace);
if (document.querySelector("[data-waiting]")) setTimeout(waitForSizes, 1000, 60);
document.addEventListener("keydown", onKey);

// Show the new file beside the current one before it is uploaded.
function previewReplacement(form) {
  const part = (name) => form.querySelector(`[data-${name}]`);
  const input = form.querySelector("input[type=file]");
  const image = part("after-image");
  input.addEventListener("change", () => {
    const [file] = input.files;
    part("before-after").hidden = !file;
    part("after-warning").hidden = true;
    image.hidden = true;
    if (!file) return;
    part("after-name").textContent = file.name;
    part("after-size").textContent = "";
    if (!file.type.startsWith("image/")) return;
    const reader = new FileReader();
    reader.addEventListener("load", () => { image.src = reader.result; });
    reader.readAsDataURL(file);
  });
  image.addEventListener("load", () => {
    image.hidden = false;
    const { naturalWidth: width, naturalHeight: height } = image;
    part("after-size").textContent = `${width}\u00a0×\u00a0${height}`;
    const [oldWidth, oldHeight] = [Number(form.dataset.width), Number(form.dataset.height)];
    const warnings = [];
    const change = Math.abs(width / height / (oldWidth / oldHeight) - 1);
    if (oldWidth && change > 0.02) warnings.push(form.dataset.otherShape);
    if (oldWidth && width < oldWidth * 0.8 && width < 1600) warnings.push(form.dataset.smaller);
    part("after-warning").hidden = warnings.length === 0;
    part("after-warning").textContent = warnings.join(" ");
  });
}

// Reload the page when its sizes are ready, unless the user has changed something.
async function waitForSizes(times) {
  if (times === 0 || isTouched) return;
  const page = await fetchPage(location.href).catch(() => null);
  if (page && !page.querySelector("[data-waiting]") && !isTouched) location.reload();
  else setTimeout(waitForSizes, 2000, times - 1);
}

function onKey(event) {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "f" && point) point.focus();
  else if (event.key === "c" && crop) crop.open();
  else if (event.key === "e") document.querySelector("[name=alt_text]")?.focus();
  else return;
  event.preventDefault();
}

// The poster is chosen in the picker instead of a list of names.
const poster = document.querySelector("[data-poster]");
const choosePoster = document.querySelector("[data-choose-poster]");
choosePoster?.addEventListener("click", async () => {
  const { pickMedia } = await import("./picker.js");
  const file = await pickMedia({ kind: "image" });
  if (!file) return;
  if (![...poster.options].some(({ value }) => value === file.id)) poster.add(new Option(file.title, file.id));
  poster.value = file.id;
});
