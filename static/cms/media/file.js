// The page of one file: its focal point and a part of it on the picture, the file that is to take its place, and
// sizes that appear when a worker has made them. Without it: fields with numbers, and a link.

import { fetchPage } from "../http.js";
import { cropping } from "./crop.js";
import { focal } from "./focal.js";

const picture = document.querySelector("[data-picture]");
for (const part of document.querySelectorAll("[data-with-script]")) part.hidden = false;
let isTouched = false;
for (const event of ["input", "click"]) {
  document.addEventListener(event, ({ target }) => { if (target.closest("form, [data-picture]")) isTouched = true; });
}
const point = picture && focal(picture, () => { isTouched = true; });
const crop = picture && document.querySelector("[data-crop]") && cropping(picture, document.querySelector("[data-crop]"));
const replace = document.querySelector("[data-replace]");
if (replace) replacing(replace);
if (document.querySelector("[data-waiting]")) setTimeout(look, 1000, 60);
document.addEventListener("keydown", onKey);

// What the new file looks like beside the present one, before anything is sent.
function replacing(form) {
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
    const [was, wasHigh] = [Number(form.dataset.width), Number(form.dataset.height)];
    const said = [];
    if (was && Math.abs(width / height / (was / wasHigh) - 1) > 0.02) said.push(form.dataset.otherShape);
    if (was && width < was * 0.8 && width < 1600) said.push(form.dataset.smaller);
    part("after-warning").hidden = said.length === 0;
    part("after-warning").textContent = said.join(" ");
  });
}

// Reads the page again until it waits no more; what somebody is typing is never lost.
async function look(times) {
  if (times === 0 || isTouched) return;
  const page = await fetchPage(location.href).catch(() => null);
  if (page && !page.querySelector("[data-waiting]") && !isTouched) location.reload();
  else setTimeout(look, 2000, times - 1);
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
