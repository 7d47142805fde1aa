// Shows the page beside the cards, before or after the changes, at a chosen width, scrolled to the current card's
// module.

const WIDE = matchMedia("(min-width: 64rem)");
const STORAGE_KEY = "review-pane";
const HOVER_MILLISECONDS = 150; // how long the pointer rests on a card before the page scrolls

export function startPane(root) {
  const details = root.querySelector("[data-pane]");
  if (!details) return { show() {}, at() {} };
  const box = details.querySelector("[data-pane-frame]");
  const frame = box.querySelector("iframe");
  let width = 1200;
  let module = "";
  let timer;

  details.querySelector("[data-pane-switches]").hidden = false;
  details.querySelector(".pane-links").hidden = true;

  function fit() {
    if (!details.open || !box.clientWidth) return;
    const scale = Math.min(1, box.clientWidth / width);
    frame.style.width = `${width}px`;
    frame.style.height = `${box.clientHeight / scale}px`;
    frame.style.transform = `scale(${scale})`;
    frame.style.marginInlineStart = `${Math.max(0, (box.clientWidth - width * scale) / 2)}px`;
  }

  function press(group, button) {
    for (const one of details.querySelectorAll(group)) one.setAttribute("aria-pressed", String(one === button));
  }

  function show(version) {
    const button = details.querySelector(`[data-which=${version}]`);
    details.open = true;
    press("[data-which]", button);
    const address = frame.dataset[version];
    if (frame.getAttribute("src") !== address) frame.setAttribute("src", address);
    // In a single column the page comes after the cards.
    if (!WIDE.matches) details.scrollIntoView({ block: "end" });
    scroll();
  }

  function scroll() {
    const page = frame.contentDocument;
    for (const one of page?.querySelectorAll("[data-now-read]") ?? []) one.removeAttribute("data-now-read");
    const place = module && page?.getElementById(`module-${module}`);
    if (!details.open || !page?.documentElement) return;
    if (place) {
      place.setAttribute("data-now-read", "");
      place.scrollIntoView({ block: "center" });
    } else if (module === "") {
      frame.contentWindow.scrollTo(0, 0);
    }
  }

  function at(name) {
    if (name === module) return;
    module = name;
    clearTimeout(timer);
    timer = setTimeout(scroll, HOVER_MILLISECONDS);
  }

  details.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.which) show(button.dataset.which);
    if (button?.dataset.width) {
      width = Number(button.dataset.width);
      press("[data-width]", button);
      fit();
    }
  });
  details.addEventListener("toggle", () => {
    try {
      localStorage.setItem(STORAGE_KEY, details.open ? "open" : "closed");
    } catch { /* Without storage the state is not remembered. */ }
    fit();
    scroll();
  });
  frame.addEventListener("load", scroll);
  new ResizeObserver(fit).observe(box);
  try {
    const wasOpen = localStorage.getItem(STORAGE_KEY) === "open";
    if (wasOpen && matchMedia("(min-width: 80rem)").matches) details.open = true;
  } catch { /* Without storage it remains closed. */ }
  return { show, at };
}
