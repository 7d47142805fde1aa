// Two pictures, one over the other, with a slider between them.

export function startSliders(root) {
  for (const diff of root.querySelectorAll("[data-two-images]")) lay(diff);
}

function lay(diff) {
  const [before, after] = diff.querySelectorAll("figure");
  const captions = [before, after].map((one) => one.querySelector("figcaption"));
  const images = [before, after].map((one) => one.querySelector("img"));
  if (images.some((one) => !one)) return;
  const stage = make("div", "slider-stage", ...images);
  const range = make("input", "");
  Object.assign(range, { type: "range", min: "0", max: "100", value: "50" });
  range.setAttribute("aria-label", diff.dataset.sliderLabel);
  // To the right the old one comes back: what is left of the line is the old picture.
  range.addEventListener("input", () => stage.style.setProperty("--at", `${range.value}%`));
  diff.replaceChildren(make("div", "slider", stage, range, make("div", "slider-captions", ...captions)));
}

function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}
