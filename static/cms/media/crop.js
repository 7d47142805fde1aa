// The part of a picture that is kept: drawn over it, moved and resized by pointer or arrow keys. Its four fields keep
// the numbers, in hundredths of the picture.

const NAMES = ["left", "top", "width", "height"];
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LEAST = 2;

export function cropping(picture, details) {
  const image = picture.querySelector("img");
  const box = picture.querySelector("[data-crop-box]");
  const move = box.querySelector("[data-crop-move]");
  const corner = box.querySelector("[data-crop-corner]");
  const ratio = details.querySelector("[data-crop-ratio]");
  const fields = NAMES.map((name) => details.querySelector(`[name=crop-${name}]`));
  const whole = [Number(image.getAttribute("width")), Number(image.getAttribute("height"))];
  let part = fields.every(({ value }) => value !== "") ? fields.map(({ value }) => Number(value)) : [10, 10, 80, 80];

  // Of the part, how high it is for its width, where a shape is chosen.
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
      const far = event.shiftKey ? 10 : 1;
      change(part, ...STEPS[event.key].map((step) => step * far));
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
    const wanted = part.with ? part.with(at, Number(field.value)) : part.map((each, place) => (place === at ? Number(field.value) : each));
    ratio.value = "";
    set(...wanted);
  }));
  details.addEventListener("toggle", toggle);
  if (details.open) toggle();
  return { open: () => { details.open = true; requestAnimationFrame(() => move.focus()); } };
}
