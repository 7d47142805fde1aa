// The focal point on the picture: by a click, by dragging its mark, or by arrow keys. Its two fields keep the numbers.

export function focal(picture, onChange) {
  const across = document.querySelector("[name=focal_x]");
  const down = document.querySelector("[name=focal_y]");
  const mark = picture.querySelector("[data-mark]");
  const shapes = document.querySelector("[data-shapes]");
  if (!across || !down || !mark) return null;
  const image = picture.querySelector("img");
  const isSet = () => across.value !== "" && down.value !== "";
  const at = () => (isSet() ? [Number(across.value), Number(down.value)] : [50, 50]);
  const kept = (part) => Math.min(100, Math.max(0, part));
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function show() {
    const [x, y] = at();
    mark.hidden = picture.classList.contains("is-cropping");
    mark.style.left = `${x}%`;
    mark.style.top = `${y}%`;
    mark.classList.toggle("is-middle", !isSet());
    mark.setAttribute("aria-valuenow", String(Math.round(x)));
    mark.setAttribute("aria-valuetext", mark.dataset.said.replace("%(x)s", Math.round(x)).replace("%(y)s", Math.round(y)));
    // The same grid of five that pages have.
    const fifth = (part) => Math.round((part / 100) * 4);
    if (shapes) shapes.className = isSet() ? `shapes focal-x${fifth(x)} focal-y${fifth(y)}` : "shapes";
  }

  function set(x, y) {
    across.value = kept(x).toFixed(1);
    down.value = kept(y).toFixed(1);
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
    const far = event.shiftKey ? 10 : 1;
    set(x + right * far, y + low * far);
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
